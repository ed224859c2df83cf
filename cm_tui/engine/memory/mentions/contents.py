"""Contents of current files and of earlier commits, within a budget, for looking up commands and settings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from cm_tui.engine.code.history.revisions import snapshot_at
from cm_tui.engine.platform.git.encodings import decode
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError

BUDGET = 96_000_000
"""Bytes of earlier contents to read at once; the rest is looked up the next time."""
_MOST_OF_FILE = 2_000_000
_FILES = "SELECT f.path, b.oid, b.language FROM {files} f JOIN blob b ON b.id = f.blob"
_EVERY_VERSION = "SELECT f.path, b.oid, f.from_ord, f.to_ord FROM file_span f JOIN blob b ON b.id = f.blob"


class File(NamedTuple):
    """A file at some commit, or now."""

    path: str
    oid: str
    language: str


class PathVersion(NamedTuple):
    """A content of some file, and the stretch of the mainline that had it."""

    path: str
    oid: str
    since: int
    until: int | None


class Contents:
    """Reads files of one store's past and present.

    `read_now`: reads a current file by path and object id; `seconds`: time limit for reading earlier contents.
    """

    def __init__(
        self, db: Database, repository: Repository, read_now: Callable[[str, str], str], seconds: float
    ) -> None:
        self._db = db
        self._repository = repository
        self._read_now = read_now
        self._left = BUDGET
        self._until = time.monotonic() + seconds
        self._at: dict[int, list[File]] = {}

    @property
    def is_exhausted(self) -> bool:
        """Return whether the budget is spent."""
        return self._left <= 0 or time.monotonic() > self._until

    def now(self) -> list[File]:
        """Return the current files."""
        return [File(*row) for row in self._db.rows(_FILES.format(files="now_file"))]

    def at(self, ordinal: int) -> list[File]:
        """Return the files at an ordinal that is known."""
        if ordinal not in self._at:
            self._at = {ordinal: [File(*row) for row in self._db.rows(_FILES.format(files=snapshot_at(ordinal)))]}
        return self._at[ordinal]

    def every_version(self) -> list[PathVersion]:
        """Return the contents that all files had."""
        return [PathVersion(*row) for row in self._db.rows(_EVERY_VERSION)]

    def versions(self, path: str) -> list[PathVersion]:
        """Return the contents that a file had, oldest first."""
        return [
            PathVersion(*row) for row in self._db.rows(f"{_EVERY_VERSION} WHERE f.path = ? ORDER BY f.from_ord", [path])
        ]

    def text_now(self, file: File) -> bytes:
        """Return the content of a current file; empty where it cannot be read."""
        try:
            return self._read_now(file.path, file.oid).encode("utf-8", "replace")
        except CmError:
            return b""

    def then(self, oid: str) -> bytes | None:
        """Return an earlier content; None: the budget is spent; empty: not in this clone, or too long."""
        if self._left <= 0:
            return None
        size = self._repository.size(oid) if self._repository.git else None
        if size is None or size > _MOST_OF_FILE:
            return b""
        self._left -= size
        return decode(self._repository.read(oid) or b"").text.encode()
