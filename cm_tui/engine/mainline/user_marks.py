"""The user's marks in history, which cannot be recreated: next to the store, so that they outlive it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from cm_tui.errors import StoreError
from cm_tui.files import write_atomically

FILE = "marks.json"

Mark = Literal["last_seen", "vacuumed_to"]
"""Commit at which the user last looked; the first one that pruning kept."""

_FORMER: dict[str, Mark] = {"looked": "last_seen", "removed": "vacuumed_to"}
"""Marks as files of older versions call them."""


def read(folder: Path) -> dict[str, str]:
    """Return commits by mark; empty if unreadable."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Never written, or damaged: then "not remembered" is reported, correctly.
        return {}
    if not isinstance(found, dict):
        return {}
    marks = {key: sha for key, sha in found.items() if isinstance(sha, str)}
    former = {mark: marks.pop(key) for key, mark in _FORMER.items() if key in marks}
    return {**former, **marks}


def set_mark(folder: Path, mark: Mark, sha: str | None) -> None:
    """Set a mark, or take it away.

    Raises:
        StoreError: the file cannot be written.
    """
    before = read(folder)
    after = {key: value for key, value in {**before, mark: sha}.items() if value is not None}
    if after == before:
        return
    try:
        write_atomically(folder / FILE, json.dumps(after))
    except OSError as error:
        raise StoreError(
            f"Cannot write {folder / FILE}: {error}", hint="Check its permissions and free space."
        ) from error
