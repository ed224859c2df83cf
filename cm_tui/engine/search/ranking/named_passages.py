"""Passages by name: a path, a path and a line, a file name, a symbol."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database

_PLACE = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?$", re.DOTALL)
_SEPARATORS = re.compile(r"::|->|\\|#")
_MOST = 5_000
"""The most passages to consider for a name."""
_MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Named:
    """Meaning of a name."""

    ids: tuple[int, ...] = ()
    """Of passages; empty: nothing in the index is called so."""
    path: str = ""
    """Of the file, where the name is one of a file."""
    note: str = ""
    """A message on how the name was understood."""


class NamedPassages:
    """Finds passages by name.

    Args:
        db: the project's store.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, name: str) -> Named:
        """Return the meaning of a name: a path first, then an ending of one or a folder, then a symbol, qualified or not."""
        asked = _storable(name.strip()[:_MOST_CHARS])
        asked = asked.removeprefix("./")
        if not asked:
            return Named()
        return self._of_file(asked) or self._of_place(asked) or self._of_symbol(asked) or Named()

    def _of_file(self, asked: str) -> Named | None:
        paths = self._paths(asked)
        if not paths:
            return None
        rows = self._db.rows(
            "SELECT id FROM passage WHERE path IN (SELECT unnest(?::VARCHAR[])) ORDER BY id LIMIT ?", [paths, _MOST]
        )
        note = "" if len(paths) == 1 else f"{asked}: {count(len(paths), 'file')} match; their best passage is used."
        return Named(tuple(row[0] for row in rows), paths[0] if len(paths) == 1 else "", note)

    def _of_place(self, asked: str) -> Named | None:
        """Lines of a file: the passage that contains them, else the nearest one before or after."""
        place = _PLACE.fullmatch(asked)
        paths = self._paths(place["path"]) if place else []
        if not place or not paths:
            return None
        first = int(place["first"])
        last = int(place["last"] or first)
        rows = self._db.rows(
            "SELECT id, start_line, end_line FROM passage WHERE path IN (SELECT unnest(?::VARCHAR[])) "
            "ORDER BY greatest(start_line - ?, ? - end_line, 0), abs(start_line - ?) + abs(end_line - ?), id LIMIT ?",
            [paths, last, first, first, last, _MOST],
        )
        if (first, last) in [row[1:] for row in rows]:
            rows = [row for row in rows if row[1:] == (first, last)]
        elif inside := [row for row in rows if row[1] <= last and row[2] >= first]:
            rows = inside if last == first else inside[:1]
        else:
            _, start, end = rows[0]
            return Named(
                (rows[0][0],), paths[0], f"No passage contains line {first}; the nearest one, {start}-{end}, is used."
            )
        return Named(tuple(row[0] for row in rows), paths[0] if len(paths) == 1 else "")

    def _of_symbol(self, asked: str) -> Named | None:
        name = _SEPARATORS.sub(".", asked.removesuffix("()"))
        last = name.rpartition(".")[2]
        for exactly in (True, False):
            # Ignoring case, if nothing has the name as typed.
            rows = self._db.rows(_SYMBOL if exactly else _FOLDED, [last, asked, _MOST])
            found = [row for row in rows if _is_called(row[1], name, exactly=exactly) or row[1] == asked]
            if found:
                called = list(dict.fromkeys(row[1] for row in found))
                some = f"{', '.join(called[:4])}{' …' if len(called) > 4 else ''}"
                several = f"{asked}: {count(len(called), 'symbol')} match: {some}."
                return Named(tuple(dict.fromkeys(row[0] for row in found)), note=several if len(called) > 1 else "")
        return None

    def _paths(self, asked: str) -> list[str]:
        """The file with that path; else those whose path ends with it, and those below it."""
        exact = self._db.rows("SELECT 1 FROM passage WHERE path = ? LIMIT 1", [asked])
        if exact:
            return [asked]
        rows = self._db.rows(
            "SELECT DISTINCT path FROM passage WHERE ends_with(path, ?) OR starts_with(path, ?) ORDER BY length(path), path",
            [f"/{asked}", f"{asked.rstrip('/')}/"],
        )
        return [row[0] for row in rows]

    def near_paths(self, asked: str, most: int) -> tuple[str, ...]:
        """Return the paths of files with names similar to that of a missing path."""
        plain = _storable(asked)[:_MOST_CHARS].rpartition("/")[2].partition(":")[0]
        if not plain:
            return ()
        rows = self._db.rows(
            "SELECT path FROM (SELECT DISTINCT path FROM passage WHERE source = 'code') "
            "WHERE damerau_levenshtein(lower(split_part(path, '/', -1)), lower(?)) <= ? "
            "ORDER BY damerau_levenshtein(lower(split_part(path, '/', -1)), lower(?)), path LIMIT ?",
            [plain, 1 if len(plain) < 6 else 2, plain, most],
        )
        return tuple(row[0] for row in rows)


_SYMBOL = """
SELECT p.id, s.qualname FROM symbol s
JOIN passage p ON p.blob = s.blob AND (p.symbol = s.idx OR s.start_line BETWEEN p.start_line AND p.end_line)
WHERE s.name = ? OR s.qualname = ? ORDER BY s.qualname, p.id LIMIT ?
"""
_FOLDED = _SYMBOL.replace("s.name = ? OR s.qualname = ?", "lower(s.name) = lower(?) OR lower(s.qualname) = lower(?)")


def _is_called(qualname: str, name: str, *, exactly: bool) -> bool:
    """Whether a name means a symbol: all of its name, or the last parts."""
    one, other = (qualname, name) if exactly else (qualname.lower(), name.lower())
    return one == other or one.endswith(f".{other}")


def _storable(text: str) -> str:
    """Text as a parameter: without lone surrogates and zero bytes."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
