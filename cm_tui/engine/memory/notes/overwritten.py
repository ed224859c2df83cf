"""Lines that an earlier version kept because another program had overwritten them: shown once, then left in a file.

That version wrote one JSON file for each note that it could not merge. `export` turns each into a Markdown file in the
same folder and removes the JSON, so that no line is lost.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.memory.notes.hunks import merge
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import StoreError
from cm_tui.files import read_regular, write_atomically
from cm_tui.model import NoteConflict
from cm_tui.state_file import read_object, reported

_MOST_BYTES = 16_000_000
_FIELDS = ("id", "file", "base", "lost")


def count_below(root: Path) -> int:
    """Return how many notes of a project and of its user have such lines."""
    return len({found["file"] for _, found in _waiting(root)})


def export(root: Path) -> tuple[NoteConflict, ...]:
    """Write the lines of a project and of its user into files for the user, and return them, the oldest first.

    Each is returned once: afterwards only its file holds it. Raises StoreError if a file cannot be written.
    """
    shown = []
    for file, found in sorted(_waiting(root), key=lambda one: one[0].stat().st_mtime):
        target = file.with_suffix(".md")
        now = (read_regular(found["file"], _MOST_BYTES) or b"").decode("utf-8-sig", "replace")
        with reported(target):
            write_atomically(target, merge(found["base"], found["lost"], now).text, durable=True)
        base, lost, now = (redact(text).text for text in (found["base"], found["lost"], now))
        shown.append(NoteConflict(base, lost, now, merge(base, lost, now).text, found["id"], str(target)))
        with suppress(OSError):
            file.unlink()
    return tuple(shown)


def remove_last_texts() -> None:
    """Remove the texts of notes and entries that an earlier version kept for an hour each.

    Raises StoreError if they cannot be removed.
    """
    folder = paths.state_dir() / "last-texts"
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise StoreError(
            f"Cannot remove {folder}, which contains earlier versions of notes.", hint="Check its permissions."
        )


def _waiting(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    below = tuple(f"{folder}{os.sep}" for folder in (root, paths.data_dir()))
    for file in sorted((paths.data_dir() / "note-conflicts").glob("*.json")):
        found = read_object(file)
        if all(isinstance(found.get(name), str) for name in _FIELDS) and found["file"].startswith(below):
            yield file, found
