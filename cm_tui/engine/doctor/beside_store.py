"""The files next to a store: vectors, their graph, marks and the manifest."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.store import seal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import PASSAGE_GENERATION
from cm_tui.engine.search.vectors import in_use
from cm_tui.engine.search.vectors.array_file import UnusableFileError, load_arrays
from cm_tui.engine.search.vectors.hnsw import GRAPH, ROWS
from cm_tui.engine.search.vectors.snapshot import FILE as VECTORS
from cm_tui.engine.search.vectors.snapshot import FOLDERS
from cm_tui.files import read_regular
from cm_tui.model import Check

_LONGEST = 1_000_000
_SMALL = {
    seal.FILE: ("records whether changes were lost, which is unknown until it is written again", "Run `cm index`."),
    in_use.FILE: ("names the model that made the vectors, which is found out again", "Run `cm index`."),
    user_marks.FILE: ("holds where you last looked and where history was pruned; neither is known until set again", ""),
}


def examine_vectors_files(db: Database) -> Iterator[Check]:
    """Check each file of vectors against its checksum, and its rows against their passages."""
    for folder in (db.folder / name for name in FOLDERS):
        yield from _examine_vectors_file(db, folder)


def _examine_vectors_file(db: Database, folder: Path) -> Iterator[Check]:
    try:
        header, arrays = load_arrays(folder / VECTORS)
        ids = set(arrays["ids"].tolist())
    except FileNotFoundError:
        return
    except KeyError as error:
        yield _damaged_vectors(folder, f"it lacks {error}")
        return
    except UnusableFileError as error:
        yield _damaged_vectors(folder, str(error))
        return
    if header.get("generation") == db.get_meta(PASSAGE_GENERATION):
        strays = ids - {row[0] for row in db.rows("SELECT id FROM passage")}
        if strays:
            yield _damaged_vectors(folder, f"{len(strays):,} of its vectors are of passages that the index has not")


def _damaged_vectors(folder: Path, said: str) -> Check:
    consequence = "Answers are not affected: vectors are taken from the store, which takes longer to open."
    return Check(
        "vectors", "warning", f"{folder / VECTORS} is damaged: {said}. {consequence}", "Run `cm index`.",
        "vectors-damaged",
    )  # fmt: skip


def examine_graph_file(folder: Path) -> Iterator[Check]:
    """Check the graph over the vectors against its checksum."""
    try:
        header, _ = load_arrays(folder / ROWS)
        if zlib.crc32((folder / GRAPH).read_bytes()) == header.get("graph"):
            return
        said = "its checksum is wrong"
    except FileNotFoundError:
        return
    except (UnusableFileError, OSError) as error:
        said = str(error)
    consequence = "Answers are not affected: vectors are compared one by one, which takes longer."
    yield Check(
        "vector graph file", "warning", f"{folder / GRAPH} is damaged: {said}. {consequence}", "Run `cm index`.",
        "vector-graph-damaged",
    )  # fmt: skip


def examine_small_files(root: Path, db: Database) -> Iterator[Check]:
    """Check the small files: each is JSON, and the manifest names the right owner."""
    folder, identity, made_from = db.folder, identify(root), db.get_meta("root")
    if made_from is not None and folder == identity.folder and identity.has_other_manifest(made_from):
        yield Check(
            "store", "warning",
            f"{folder / paths.STORE_MANIFEST} does not name the owner of this store: lists of projects lack it, or name another.",
            "Run `cm index`.", "note-damaged",
        )  # fmt: skip
    for name, (use, mend) in _SMALL.items():
        file = folder / name
        data = read_regular(file, _LONGEST)
        if data is None and not file.exists():
            continue
        try:
            whole = data is not None and isinstance(json.loads(data), dict)
        except ValueError:
            whole = False
        if not whole:
            yield Check(
                "store", "warning", f"{file} cannot be read: it {use}.", mend or f"Run `rm -r -- {file}`.",
                "note-damaged",
            )  # fmt: skip
