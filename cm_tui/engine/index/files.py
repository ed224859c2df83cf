"""Files of the index: what is in it, what was left out, source, and the symbol at a line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath

from cm_tui.engine.scan.content_reader import ChangedError, ContentReader
from cm_tui.engine.search.passages import text_at
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.model import FileEntry, Page, SkippedFile, Source, Symbol

_FILES = """
SELECT f.path, b.language, b.lines, b.bytes, (SELECT count(*) FROM symbol s WHERE s.blob = b.id), b.generated, b.error,
    CASE WHEN w.path IS NULL THEN 'head' WHEN s.path IS NULL THEN 'untracked' ELSE 'modified' END
FROM now_file f JOIN blob b ON b.id = f.blob
LEFT JOIN worktree w ON w.path = f.path
LEFT JOIN head_file s ON s.path = f.path
WHERE starts_with(f.path, ?)
ORDER BY f.path
"""

_SYMBOL_AT = """
SELECT f.path, s.qualname, s.name, s.kind, b.language, s.signature, s.doc, s.start_line, s.end_line, s.overload, p.qualname
FROM now_file f JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = b.id
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
WHERE f.path = ? AND ? BETWEEN s.start_line AND s.end_line
ORDER BY s.end_line - s.start_line, s.start_line DESC LIMIT 1
"""


def files(db: Database, folder: str) -> Page[FileEntry]:
    """Files below a folder, all levels, sorted by path."""
    prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
    rows = tuple(FileEntry(*row) for row in db.rows(_FILES, [prefix]))
    return Page(rows, len(rows))


def skipped(db: Database) -> Page[SkippedFile]:
    """Files that the scan left out, sorted by path."""
    rows = tuple(SkippedFile(*row) for row in db.rows("SELECT path, reason FROM skipped ORDER BY path"))
    return Page(rows, len(rows))


def symbol_at(db: Database, path: str, line: int) -> Symbol | None:
    """Return the innermost symbol around a line."""
    rows = db.rows(_SYMBOL_AT, [path, line])
    return Symbol(*rows[0]) if rows else None


def relative(root: Path, path: str) -> str:
    """Return a path as the index has it: relative to the root, with `/`.

    Args:
        root: the project's root.
        path: absolute, relative to the root, or relative to the current folder where that names a file.

    Raises:
        RefusedError: it leads out of the project.
    """
    given = Path(path).expanduser()
    absolute = given if given.is_absolute() else root / given
    if not given.is_absolute() and not absolute.exists() and given.exists():
        absolute = Path.cwd() / given
    inside = os.path.normpath(absolute)
    if not Path(inside).is_relative_to(root) and not Path(inside).resolve().is_relative_to(root):
        raise RefusedError(f"{path} is outside the project {root}.", hint="Name a file below the project's root.")
    below = Path(inside) if Path(inside).is_relative_to(root) else Path(inside).resolve()
    return PurePosixPath(below.relative_to(root).as_posix()).as_posix()


def lines_of(text: str) -> list[str]:
    """Lines as the index counts them: a form feed or a Unicode separator ends none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def source(db: Database, contents: ContentReader, path: str, start_line: int, end_line: int | None) -> Source:
    """Lines of an indexed file, as it is on disk; as it was indexed when it has vanished or a link is in its place.

    What is remembered and is no file, such as an episode, has lines too: a file of the same path comes first.

    Raises:
        NotFoundError: the file is not in the index, or nothing holds its text any more.
    """
    rows = db.rows("SELECT b.oid, b.language FROM now_file f JOIN blob b ON b.id = f.blob WHERE f.path = ?", [path])
    if not rows:
        remembered = text_at(db, path)
        if remembered is not None:
            return slice_lines(path, remembered, "markdown", start_line, end_line)
        raise NotFoundError(
            f"{path} is not in the index.", hint="`cm skipped` lists what was left out; `cm index` looks again."
        )
    oid, language = rows[0]
    try:
        found, data = contents.from_disk(path)
    except OSError as error:
        try:
            kept = contents.text(path, oid)
        except ChangedError:
            raise NotFoundError(f"{path} has gone: {error.strerror}.", hint="Run `cm index`.") from error
        return replace(slice_lines(path, kept, language, start_line, end_line, stale=True), kept=True)
    return slice_lines(path, data.decode("utf-8", "replace"), language, start_line, end_line, stale=found != oid)


def slice_lines(
    path: str, text: str, language: str, start_line: int, end_line: int | None, *, stale: bool = False
) -> Source:
    """Lines of a text as a record."""
    lines = lines_of(text)
    first = min(max(1, start_line), len(lines) + 1)
    return Source(path, first, "\n".join(lines[first - 1 : end_line]), language, stale=stale)
