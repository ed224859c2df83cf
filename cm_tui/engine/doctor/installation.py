"""The checks that need no store: installation, settings, trust, memory, journal."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import __version__
from cm_tui.counts import count, noun
from cm_tui.errors import CmError, StoreReadOnlyError
from cm_tui.model import Check

if TYPE_CHECKING:
    from cm_tui.config import EmbeddingConfig

REINSTALL = "Install cm again as you did before, with --force-reinstall"


def examine_project(root: Path) -> Iterator[Check]:
    """Check a project's settings, their embedding model, its memory, and its journal."""
    settings = outcome("configuration", lambda: _settings(root), "Fix the reported file.")
    yield settings
    if settings.state == "ok":
        yield from _chosen_model(root)
        yield from _trust(root)
    yield from _memory(root)
    yield _journal(root)
    yield from _transcripts(root)


def _journal(root: Path) -> Check:
    """Check the project's journal: readers skip torn lines, so they are reported here."""
    from cm_tui.engine.platform.journal import erasure
    from cm_tui.engine.platform.journal.integrity import check as examine_journal
    from cm_tui.engine.platform.journal.journal import Journal

    try:
        found = examine_journal(root)
        interrupted = erasure.ERASING.names(Journal.of(root))
    except CmError as error:
        return failed("journal", error)
    if interrupted:
        said = "; ".join(part for part in ("an erasure was interrupted", found.complaint) if part)
        return Check("journal", "warning", said, "The next erasure finishes it: `cm forget --erase --found`.")
    if found.complaint:
        return Check("journal", "warning", found.complaint, "Nothing else is lost. Fix these lines, or remove them.")
    return Check("journal", "ok", f"{count(found.events, 'event')} in {found.folder}")


def _transcripts(root: Path) -> Iterator[Check]:
    """Whether agents are about to delete transcripts that were not copied."""
    from cm_tui.engine.memory.importers.rescue import SOON_DAYS, plan
    from cm_tui.engine.memory.importers.state import ImportState
    from cm_tui.engine.platform.journal.journal import Journal

    try:
        named, _ = ImportState(Journal.of(root)).environment()
        found = plan({**os.environ, **named})
    except CmError as error:
        yield failed("transcripts", error)
        return
    if found.unsaved:
        said = f"{count(found.unsaved, 'session')} {noun(found.unsaved, 'is', 'are')} deleted by the agent within {SOON_DAYS} days, and not copied"
        yield Check("transcripts", "warning", said, "Run `cm rescue`; `cm rescue --keep-longer` changes the setting.")
    elif number := sum(one.sessions for one in found.sources):
        yield Check(
            "transcripts", "ok", f"{count(number, 'session')}; none is deleted within {SOON_DAYS} days without a copy"
        )


def _chosen_model(root: Path) -> Iterator[Check]:
    """The configured model, unless it is the bundled one, which is always checked."""
    from cm_tui.config import load_config
    from cm_tui.config.endpoints import endpoint_of

    config = load_config(root).embedding
    if config.provider == "none":
        yield Check(
            "chosen model", "warning", "none: search is by keyword only", "Set embedding.provider to change it."
        )
    elif config.provider != "bundled":
        endpoint = endpoint_of(config)
        by = f"; key from {endpoint.key_source}" if endpoint is not None and endpoint.key else ""
        mend = "Fix the embedding section of the configuration."
        yield outcome("chosen model", lambda: f"{_answers(config)}{by}", mend)


def _trust(root: Path) -> Iterator[Check]:
    """Settings of a repository that need trust."""
    from cm_tui.config.held import repository_trust

    found = repository_trust(root)
    if found.state == "trusted":
        yield Check("trust", "ok", f"settings of this repository that you trusted: {', '.join(found.names)}")
    for note in found.notes:
        yield Check("trust", "warning", note)


def _memory(root: Path) -> Iterator[Check]:
    """Whose memory it is: git may name another project now, or others may have the claimed one."""
    from cm_tui.engine.platform.git.identity import claimed, earlier_memories, identify

    mine, said = identify(root), claimed(root).text
    if mine.claims:
        found = f"its own: it claims to be {mine.claims}, whose memory belongs to other checkouts"
        yield Check("memory", "warning", found, "Review with `cm link --show`, then share it with `cm link`.")
    elif mine.text != said:
        yield Check("memory", "ok", f"that of {mine.text}, its original identity; git names {said} now")
    if earlier := earlier_memories(root):
        found = (
            f"this checkout had {noun(len(earlier), 'another memory', 'other memories')} before: {', '.join(earlier)}"
        )
        yield Check("memory", "warning", found, "Review with `cm link --show`, then merge it with `cm link`.")


def examine(root: Path) -> tuple[Check, ...]:
    """Check the installation, a project's settings, and their embedding model."""
    return (*examine_installation(), *examine_project(root))


def examine_installation() -> Iterator[Check]:
    """Check the installed components, and the data folder."""
    yield Check("versions", "ok", _versions())
    for name, check, repair in (
        ("full-text extension", _fts, f"{REINSTALL} (it includes duckdb-extension-fts)."),
        ("model", _model, REINSTALL),
        ("vector graph", _hnswlib, "Install a C++ compiler, then: pip install --force-reinstall hnswlib"),
        ("grammars", _grammars, f"{REINSTALL} (it includes tree-sitter-language-pack)."),
        ("git", _git, "pip install --force-reinstall pygit2"),
        ("data folder", _data_folder, "Set CM_HOME to a folder that you can write."),
    ):
        yield outcome(name, check, repair)


def outcome(name: str, check: Callable[[], str], repair: str) -> Check:
    """Run a check, and turn any error into a finding.

    `check`: returns the words for "ok"; `repair`: the hint for errors without one.
    """
    try:
        return Check(name, "ok", check())
    except CmError as error:
        return failed(name, error, repair)
    except Exception as error:  # noqa: BLE001 - any error of a broken installation is a finding
        return Check(name, "failed", f"{type(error).__name__}: {error}", repair)


def failed(name: str, error: CmError, repair: str = "") -> Check:
    """Return an error as a finding, in the same words as a command's."""
    return Check(name, "failed", error.message, error.hint or repair, error.finding)


def _versions() -> str:
    parts = ["duckdb", "textual", "onnxruntime", "tree-sitter", "pygit2"]
    listing = ", ".join(f"{part} {importlib.metadata.version(part)}" for part in parts)
    return f"cm {__version__}, Python {sys.version.split()[0]}, {listing}"


def _fts() -> str:
    from cm_tui.engine.platform.store.connection import connect_in_memory, load_fts

    connection = connect_in_memory()
    try:
        return load_fts(connection)
    finally:
        connection.close()


def _model() -> str:
    from cm_tui.config import EmbeddingConfig

    return _answers(EmbeddingConfig())


def _answers(config: EmbeddingConfig) -> str:
    from cm_tui.engine.search.embed.choice import provider_for

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

    from cm_tui.engine.code.scan.languages import LANGUAGES

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

    folder = paths.data_dir()
    try:
        with tempfile.TemporaryFile(dir=paths.private_dir(folder)):
            return str(folder)
    except OSError as error:
        raise StoreReadOnlyError(
            f"{folder} cannot be written ({error.strerror or error}): the index can be searched, nothing is saved.",
            hint="Make it writable, or set CM_HOME to a folder you can write.",
            finding="data-read-only",
        ) from error


def _settings(root: Path) -> str:
    from cm_tui.config import load_config

    load_config(root)
    return "settings are valid"
