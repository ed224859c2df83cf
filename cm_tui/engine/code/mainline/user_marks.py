"""The user's marks in history, which cannot be recreated: next to the project's store, so that they outlive it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from cm_tui.files import write_atomically
from cm_tui.paths import project_store
from cm_tui.state_file import read_object, reported

FILE = "marks.json"

Mark = Literal["last_seen", "vacuumed_to"]
"""Commit at which the user last looked; the first one that pruning kept."""

_FORMER: dict[str, Mark] = {"looked": "last_seen", "removed": "vacuumed_to"}
"""Marks as files of older versions call them."""


def read(folder: Path) -> dict[str, str]:
    """Return commits by mark; what cannot be read marks nothing."""
    marks = {key: sha for key, sha in read_object(_file(folder)).items() if isinstance(sha, str)}
    former: dict[str, str] = {mark: marks.pop(key) for key, mark in _FORMER.items() if key in marks}
    return {**former, **marks}


def set_mark(folder: Path, mark: Mark, sha: str | None) -> None:
    """Set a mark, or take it away. Raises StoreError if the file cannot be written."""
    before = read(folder)
    after = {key: value for key, value in {**before, mark: sha}.items() if value is not None}
    if after != before:
        with reported(file := _file(folder)):
            write_atomically(file, json.dumps(after))


def _file(store: Path) -> Path:
    """Return the file of a store, which worktrees with their own store share."""
    return project_store(store) / FILE


def add(folder: Path, marks: Mapping[str, str]) -> None:
    """Set the marks that a store lacks, if there is a store. Raises StoreError if the file cannot be written."""
    for mark in get_args(Mark):
        if mark in marks and mark not in read(folder) and folder.is_dir():
            set_mark(folder, mark, marks[mark])
