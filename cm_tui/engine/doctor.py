"""`cm doctor`: does everything that cm stands on work here, and how is it repaired if not."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import __version__
from cm_tui.errors import CmError
from cm_tui.model import Check

if TYPE_CHECKING:
    from cm_tui.config import EmbeddingConfig
    from cm_tui.engine.store.database import Database
    from cm_tui.engine.vectors import VectorIndex

REINSTALL = "Install cm again as you did before, with --force-reinstall"


def examine(root: Path) -> tuple[Check, ...]:
    """Check the installation, a project's settings, and the embedding model that they ask for."""
    settings = _outcome("configuration", lambda: _settings(root), "Mend the file that is named.")
    chosen = tuple(_chosen_model(root)) if settings.state == "ok" else ()
    return (*_installation(), settings, *chosen, _journal(root))


def examine_store(db: Database, vectors: VectorIndex) -> Iterator[Check]:
    """Check a project's store, and its vectors against it."""
    yield Check("store", "ok", f"{db.folder}, schema {db.get_meta('schema')}")
    found = vectors.verify()
    if found:
        yield Check("vectors", "warning", "; ".join(found), "They are mended from the store with the next index run.")
    else:
        embedded, passages = vectors.coverage()
        yield Check("vectors", "ok", f"{embedded:,} of {passages:,} passages, {vectors.state}")


def _journal(root: Path) -> Check:
    """The project's journal; what of it is torn is left out by all that read it, and must not be so in silence."""
    from cm_tui.engine.journal.integrity import check as examine_journal

    try:
        found = examine_journal(root)
    except CmError as error:
        return Check("journal", "failed", error.message, error.hint)
    if found.complaint:
        return Check("journal", "warning", found.complaint, "Nothing else is lost. Mend these lines, or remove them.")
    return Check("journal", "ok", f"{found.events:,} events in {found.folder}")


def _chosen_model(root: Path) -> Iterator[Check]:
    """The model of the configuration, where it is not the bundled one that is always checked."""
    from cm_tui.config import load_config

    config = load_config(root).embedding
    if config.provider == "none":
        yield Check(
            "chosen model", "warning", "none: search is by keyword only", "Set embedding.provider to change it."
        )
    elif config.provider != "bundled":
        yield _outcome("chosen model", lambda: _answers(config), "Mend the embedding section of the configuration.")


def _installation() -> Iterator[Check]:
    yield Check("versions", "ok", _versions())
    for name, check, repair in (
        ("full-text extension", _fts, f"{REINSTALL} (it brings duckdb-extension-fts)."),
        ("model", _model, REINSTALL),
        ("vector graph", _hnswlib, "Install a C++ compiler, then: pip install --force-reinstall hnswlib"),
        ("grammars", _grammars, f"{REINSTALL} (it brings tree-sitter-language-pack)."),
        ("git", _git, "pip install --force-reinstall pygit2"),
        ("data folder", _data_folder, "Set CM_HOME to a folder that you can write."),
    ):
        yield _outcome(name, check, repair)


def _outcome(name: str, check: Callable[[], str], repair: str) -> Check:
    try:
        return Check(name, "ok", check())
    except CmError as error:
        return Check(name, "failed", error.message, error.hint or repair)
    except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
        return Check(name, "failed", f"{type(error).__name__}: {error}", repair)


def _versions() -> str:
    parts = ["duckdb", "textual", "onnxruntime", "tree-sitter", "pygit2"]
    listing = ", ".join(f"{part} {importlib.metadata.version(part)}" for part in parts)
    return f"cm {__version__}, Python {sys.version.split()[0]}, {listing}"


def _fts() -> str:
    import duckdb

    from cm_tui.engine.store.fts_extension import load_fts

    connection = duckdb.connect()
    try:
        return load_fts(connection)
    finally:
        connection.close()


def _model() -> str:
    from cm_tui.config import EmbeddingConfig

    return _answers(EmbeddingConfig())


def _answers(config: EmbeddingConfig) -> str:
    from cm_tui.engine.embed import provider_for

    provider = provider_for(config)
    vector = provider.embed_query("parse the configuration file")
    return f"{provider.fingerprint}, {len(vector)} dimensions"


def _hnswlib() -> str:
    import hnswlib
    import numpy as np

    index = hnswlib.Index(space="cosine", dim=4)
    index.init_index(max_elements=2)
    index.add_items(np.eye(2, 4, dtype=np.float32), [0, 1])
    labels, _ = index.knn_query(np.eye(1, 4, dtype=np.float32), k=1)
    if int(labels[0][0]) != 0:
        raise CmError("hnswlib found the wrong neighbour.")
    return "hnswlib finds its neighbours"


def _grammars() -> str:
    from tree_sitter_language_pack import get_language

    from cm_tui.engine.scan.languages import LANGUAGES

    names = sorted({language.grammar for language in LANGUAGES.values() if language.grammar})
    for name in names:
        get_language(name)  # type: ignore[arg-type]
    return f"{len(names)} grammars, all in the installation"


def _git() -> str:
    import pygit2

    return f"libgit2 {pygit2.LIBGIT2_VERSION}"


def _data_folder() -> str:
    import tempfile

    from cm_tui import paths

    folder = paths.private_dir(paths.data_dir())
    with tempfile.TemporaryFile(dir=folder):
        return str(folder)


def _settings(root: Path) -> str:
    from cm_tui.config import load_config

    load_config(root)
    return "settings are valid"
