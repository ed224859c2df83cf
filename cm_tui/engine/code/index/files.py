"""Files of the index: list, excluded files, source, and the symbol at a line."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cm_tui.counts import count, noun
from cm_tui.engine.code.scan.content_reader import ChangedError, ContentReader
from cm_tui.engine.code.scan.skip_rules import NOT_CHECKED_OUT, NOT_HERE
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.passages import text_at
from cm_tui.errors import CmError, NotFoundError, RefusedError
from cm_tui.model import CODE, FileEntry, Page, SkippedFile, Source, Symbol

_SHOWN = 200
"""Characters of a path that cannot be one in a message."""

_FILES = """
SELECT f.path, b.language, b.lines, b.bytes, (SELECT count(*) FROM symbol s WHERE s.blob = b.id), b.generated, b.error,
    CASE WHEN w.path IS NULL THEN 'head' WHEN s.path IS NULL THEN 'untracked' ELSE 'modified' END
FROM now_file f JOIN blob b ON b.id = f.blob
LEFT JOIN worktree w ON w.path = f.path
LEFT JOIN head_file s ON s.path = f.path
WHERE starts_with(f.path, ?)
ORDER BY f.path
"""

_BLOBS = """
SELECT f.path, f.blob, b.oid, b.language FROM now_file f JOIN blob b ON b.id = f.blob
WHERE f.path IN (SELECT unnest(?::VARCHAR[]))
"""
# Joined to the ids, DuckDB reads only the texts of these blobs; compared with them, those of whole blocks.
_SYMBOLS = """
SELECT blob, idx, parent, qualname, name, kind, signature, doc, start_line, end_line, overload FROM symbol
WHERE blob IN (SELECT unnest(?::INTEGER[])) ORDER BY end_line - start_line, start_line DESC
"""


def files(db: Database, folder: str) -> Page[FileEntry]:
    """Files below a folder, all levels, sorted by path."""
    prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
    rows = tuple(FileEntry(*row) for row in db.rows(_FILES, [prefix]))
    return Page(rows, len(rows))


def skipped(db: Database) -> Page[SkippedFile]:
    """Files that the scan excluded, sorted by path."""
    rows = tuple(SkippedFile(*row) for row in db.rows("SELECT path, reason FROM skipped ORDER BY path"))
    absent = sum(row.reason == NOT_CHECKED_OUT for row in rows)
    note = f"{count(absent, 'file')} of HEAD {noun(absent, 'is', 'are')} not checked out here: the checkout is sparse."
    return Page(rows, len(rows), note if absent else "")


def relative(root: Path, path: str) -> str:
    """Return a path as the index has it: relative to the root, with `/`.

    `path`: absolute, relative to the root, or relative to the current folder where that names a file. Raises
    RefusedError if it leads out of the project; NotFoundError if no system has such a path.
    """
    given = Path(path)
    with contextlib.suppress(RuntimeError):
        # With no user of that name, `~name` is an ordinary path.
        given = given.expanduser()
    absolute = given if given.is_absolute() else root / given
    try:
        if not given.is_absolute() and not absolute.exists() and given.exists():
            absolute = Path.cwd() / given
        inside = Path(os.path.normpath(absolute))
        below = inside if inside.is_relative_to(root) else inside.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise NotFoundError(f"Not a path: {path[:_SHOWN]}: {said or error}.", hint="Check the spelling.") from error
    if not below.is_relative_to(root):
        raise RefusedError(f"{path} is outside the project {root}.", hint="Give a file below the project's root.")
    return PurePosixPath(below.relative_to(root).as_posix()).as_posix()


def lines_of(text: str) -> list[str]:
    """Lines as the index counts them: a form feed or a Unicode separator ends none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


class _Blob(NamedTuple):
    """Indexed data of a path."""

    id: int
    oid: str
    language: str


@dataclass(frozen=True)
class _File:
    """A file's text as one question sees it."""

    text: str
    language: str
    stale: bool = False
    kept: bool = False
    source: str = CODE
    time: int | None = None

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text: many pieces of one file are read."""
        return lines_of(self.text)


class FileView:
    """Files of the index for one request: each is read once, and the symbols of many at a time.

    `contents`: reads files on disk and in git.
    """

    def __init__(self, db: Database, contents: ContentReader) -> None:
        self._db = db
        self._contents = contents
        self._blobs: dict[str, _Blob | None] = {}
        self._files: dict[str, _File] = {}
        self._symbols: dict[str, list[Symbol]] = {}

    def prepare(self, paths: Iterable[str]) -> None:
        """Read several files at once for later calls."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self._symbols]
        self._look_up(wanted)
        new = {path: blob for path in wanted if (blob := self._blobs[path])}
        self._symbols |= {path: [] for path in new}
        if not new:
            return
        rows = self._db.rows(_SYMBOLS, [list({blob.id for blob in new.values()})])
        names = {(blob, idx): qualname for blob, idx, _, qualname, *_ in rows}
        at: dict[int, list[str]] = {}
        for path, blob in new.items():
            at.setdefault(blob.id, []).append(path)
        for blob, _, parent, qualname, name, kind, *rest in rows:
            outer = names.get((blob, parent))
            for path in at[blob]:
                self._symbols[path].append(Symbol(*(path, qualname, name, kind, new[path].language, *rest, outer)))

    def source(self, path: str, start_line: int = 1, end_line: int | None = None) -> Source:
        """Lines of an indexed file, from disk; from the index if it was removed or replaced by a link.

        A memory that is not a file, such as an episode, has lines, too; a file with the same path comes first. Raises
        NotFoundError if the file is not in the index, or its text no longer exists.
        """
        if path not in self._files:
            self._files[path] = self._read(path)
        file = self._files[path]
        found = _slice(path, file.lines, file.language, start_line, end_line, stale=file.stale)
        return replace(found, kept=file.kept, source=file.source, time=file.time)

    def symbol_at(self, path: str, line: int) -> Symbol | None:
        """Return the innermost symbol around a line."""
        if path not in self._symbols:
            self.prepare([path])
        return next((one for one in self._symbols.get(path, ()) if one.start_line <= line <= one.end_line), None)

    def _look_up(self, paths: Iterable[str]) -> None:
        new = [path for path in dict.fromkeys(paths) if path not in self._blobs]
        if new:
            self._blobs |= dict.fromkeys(new)
            self._blobs |= {path: _Blob(*rest) for path, *rest in self._db.rows(_BLOBS, [new])}

    def _read(self, path: str) -> _File:
        self._look_up([path])
        blob = self._blobs[path]
        if blob is None:
            remembered = text_at(self._db, path)
            if remembered is not None:
                return _File(remembered.text, "markdown", source=remembered.source, time=remembered.time)
            raise NotFoundError(
                f"{path} is not in the index.", hint="`cm skipped` lists excluded files; `cm index` looks again."
            )
        try:
            found, data = self._contents.from_disk(path)
        except OSError as error:
            try:
                kept = self._contents.text(path, blob.oid)
            except ChangedError:
                raise NotFoundError(f"{path} no longer exists: {error.strerror}.", hint="Run `cm index`.") from error
            return _File(kept, blob.language, stale=True, kept=True)
        return _File(self._contents.decoded(path, data), blob.language, stale=found != blob.oid)


def slice_lines(path: str, text: str, language: str, start_line: int, end_line: int | None) -> Source:
    """Lines of a text as a record."""
    return _slice(path, lines_of(text), language, start_line, end_line, stale=False)


def _slice(path: str, lines: list[str], language: str, start_line: int, end_line: int | None, *, stale: bool) -> Source:
    first = min(max(1, start_line), len(lines) + 1)
    return Source(path, first, "\n".join(lines[first - 1 : end_line]), language, stale=stale)


# --- why a file that the user names is not in the index ---

_LINES = re.compile(r":\d+(-\d+)?$")
_BY_CONFIGURATION = "excluded by configuration"
_FINAL = ("binary", "folder of cm itself", NOT_HERE)
"""Reasons that no setting changes."""


class LeftOut(NamedTuple):
    """A file that is not in the index."""

    path: str
    reason: str
    lift: str
    """How to include it; empty: impossible."""


def left_out(db: Database, repository: Repository, root: Path, name: str) -> LeftOut | None:
    """Return why a file is not in the index; None: no such file.

    `name`: a path or an ending of one, with or without lines after it.
    """
    plain = _LINES.sub("", name.strip())
    path = _inside(root, plain)
    if not path:
        return None
    rows = db.rows(
        "SELECT path, reason FROM skipped WHERE path = ? OR starts_with(?, path || '/') OR ends_with(path, ?) "
        "ORDER BY path <> ?, length(path), path LIMIT 1",
        [path, path, f"/{plain}", path],
    )
    if rows:
        return LeftOut(rows[0][0], rows[0][1], _lift(rows[0][1]))
    return _missed_file(db, repository, path) if os.path.lexists(root / path) else None


def _inside(root: Path, name: str) -> str:
    """The path of a name below the root; empty: invalid."""
    try:
        path = relative(root, name) if name and "\0" not in name else ""
    except CmError:
        return ""
    return "" if path == "." else path


def _missed_file(db: Database, repository: Repository, path: str) -> LeftOut:
    """An existing path that the scan did not exclude."""
    if db.rows("SELECT 1 FROM now_file WHERE path = ?", [path]):
        return LeftOut(path, "it has no lines to search", "")
    if repository.ignored(path):
        return LeftOut(path, "git ignores it", "Remove it from .gitignore, or add it with `git add -f`.")
    return LeftOut(path, "it is not in the index yet", "Run `cm index`.")


def _lift(reason: str) -> str:
    if reason in _FINAL:
        return ""
    if reason == NOT_CHECKED_OUT:
        return "`git sparse-checkout add FOLDER` checks it out."
    setting = "index.exclude" if reason == _BY_CONFIGURATION else "index.include"
    verb = "excludes it" if reason == _BY_CONFIGURATION else "includes it"
    return f"{setting} in .cm/config.toml {verb}."
