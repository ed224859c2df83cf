"""The file of live vectors: its content, and a check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.vectors import cache, lazy_graph
from cm_tui.engine.search.vectors.array_file import Arrays, UnusableFileError, load_arrays, save_arrays
from cm_tui.engine.search.vectors.embedder import Embedder
from cm_tui.engine.search.vectors.live import Rows
from cm_tui.files import remove_left_overs
from cm_tui.paths import private_dir

FILE = "vectors.bin"
PROSE_FOLDER = "prose"
FALLBACK_FOLDER = "fallback"
FOLDERS = ("", PROSE_FOLDER, FALLBACK_FOLDER)
"""Folder of vectors in a store's folder."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The content of the file: rows with the store's generation when they were saved, or the reason why not."""

    rows: Rows
    generation: str | None = None
    damage: str = ""
    other: str = ""
    """The mark of another model."""


def read_rows(folder: Path, mark: str) -> Saved:
    """Read the rows of a model; damage and absence are answers, not errors."""
    try:
        header, arrays = load_arrays(folder / FILE)
    except FileNotFoundError:
        return Saved(Rows.empty())
    except UnusableFileError as error:
        return Saved(Rows.empty(), damage=f"{folder / FILE} could not be used ({error})")
    if header.get("mark") != mark:
        return Saved(Rows.empty(), other=str(header.get("mark")))
    return Saved(Rows.of(arrays["ids"], arrays["keys"], arrays["codes"]), header.get("generation"))


def write_rows(folder: Path, mark: str, generation: str | None, rows: Rows) -> None:
    """Write live rows.

    Raises OSError if the disk is full or the folder cannot be written; an older file is then still there.
    """
    private_dir(folder)
    arrays: Arrays = {"ids": rows.ids, "keys": rows.keys, "codes": rows.codes}
    save_arrays(folder / FILE, {"mark": mark, "generation": generation}, arrays)


def remove_files(folder: Path) -> None:
    """Remove the file of live vectors and the graph; both are rebuilt from the store.

    Raises OSError if one cannot be removed.
    """
    for place in (folder / name for name in FOLDERS):
        for name in (FILE, lazy_graph.ROWS, lazy_graph.GRAPH):
            if place.is_dir():
                remove_left_overs(place / name)
                (place / name).unlink(missing_ok=True)


def differences(db: Database, embedder: Embedder, rows: Rows) -> list[str]:
    """Compare all live rows with the store; return a description of the differences."""
    live = dict(zip(*(array.tolist() for array in cache.live_keys(db)), strict=True))
    strays = sum(live.get(id_) != key for id_, key in zip(rows.ids.tolist(), rows.keys.tolist(), strict=True))
    problems = [f"{count(strays, 'vector')} of removed passages."] if strays else []
    known = cache.needed(db, rows.ids)
    codes, have = embedder.stored(known)
    at = rows.positions(known.ids[have])
    if wrong := int(np.count_nonzero((rows.codes[at] != codes).any(axis=1))) if len(at) else 0:
        problems.append(f"{count(wrong, 'vector')} different from the stored ones.")
    if lost := int(np.count_nonzero(~have)):
        problems.append(f"{count(lost, 'vector')} not stored.")
    return problems
