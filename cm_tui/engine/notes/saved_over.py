"""Notes that another program saved over: lines that it never saw are put back, and where that cannot be both sides are kept."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

from cm_tui import paths
from cm_tui.engine.notes.merging import merge
from cm_tui.engine.shared_files.last_texts import LastTexts
from cm_tui.files import read_regular, write_atomically

_MOST_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class SavedOver:
    """Lines of a note that were overwritten, and that cannot be put back without a person."""

    id: str
    file: str
    time: float
    base: str
    """What both began with."""
    lost: str
    """All of the note as it was before it was saved over."""


class Settled(NamedTuple):
    """What is to be done after another program saved a note.

    Attributes:
        text: that the file should have, with all that can be put back; None: what it has.
        conflict: lines that cannot be put back; None: there are none.
    """

    text: str | None = None
    conflict: SavedOver | None = None


def settled(file: Path, id_: str, text: str) -> Settled:
    """Return what is to be done about a text that another program has saved, perhaps over lines that it never saw.

    Args:
        file: of the note.
        id_: the note's.
        text: that the file has now.
    """
    last_texts = LastTexts(file)
    base = last_texts.base_of(text)
    if base is None:
        return Settled()
    last = last_texts.last() or ""
    merged = merge(base.text, text, last, "mine")
    conflict = SavedOver(id_, str(file), time.time(), base.text, last) if merged.conflicts else None
    return Settled(merged.text if merged.text != text else None, conflict)


def keep(found: SavedOver) -> None:
    """Keep a conflict until a person decides.

    Raises:
        OSError: it cannot be written.
    """
    paths.private_dir(_folder())
    write_atomically(_file_of(found), json.dumps(asdict(found)), durable=True)


def kept_of(file: Path) -> list[SavedOver]:
    """Return the conflicts of a note, the oldest first."""
    return [one for one in all_kept() if one.file == str(file)]


def move(file: Path, id_: str, target: Path) -> None:
    """Have the conflicts of a note follow it to another name.

    Args:
        file: of the note before.
        id_: the note's afterwards.
        target: its file afterwards.
    """
    for one in kept_of(file):
        with suppress(OSError):
            keep(replace(one, id=id_, file=str(target)))
            remove(one)


def remove(found: SavedOver) -> None:
    """Forget a conflict: a person has decided; that it cannot be removed is told with the next list."""
    with suppress(OSError):
        _file_of(found).unlink()


def all_kept() -> list[SavedOver]:
    """Return the conflicts of all notes, the oldest first."""
    try:
        files = [*_folder().iterdir()]
    except OSError:
        return []
    return sorted((one for file in files if (one := _read(file)) is not None), key=lambda one: one.time)


def count_below(root: Path) -> int:
    """Return how many notes of a project and of its user have such conflicts."""
    folders = tuple(f"{folder}{os.sep}" for folder in (root, paths.data_dir()))
    return len({one.file for one in all_kept() if one.file.startswith(folders)})


def _folder() -> Path:
    return paths.data_dir() / "note-conflicts"


def _file_of(found: SavedOver) -> Path:
    digest = hashlib.blake2b(found.file.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return _folder() / f"{digest}-{int(found.time * 1000)}.json"


def _read(file: Path) -> SavedOver | None:
    data = read_regular(file, _MOST_BYTES)
    try:
        found = json.loads(data) if data is not None else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {field.name for field in fields(SavedOver)}:
        return None
    when = found.pop("time")
    if not all(isinstance(text, str) for text in found.values()) or not isinstance(when, int | float):
        return None
    return SavedOver(time=float(when), **found)
