"""Finding symbols by file, kind, fuzzy match, name, or ending of a qualified name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Page, Symbol, SymbolKey
from cm_tui.model.page import bounded

_SELECT = """
SELECT f.path, s.qualname, s.name, s.kind, b.language, s.signature, s.doc, s.start_line, s.end_line, s.overload,
       p.qualname
FROM {snapshot} f JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
"""
_MATCH = "`cm symbols --match` finds names by a few of their letters."
_RANKED = 500
"""How many matches are ranked in Python; SQL has put the closest first."""
_FLAT_NAME = "replace(replace(lower(s.name), '_', ''), '-', '')"


def list_symbols(db: Database, snapshot: str, file: str | None, kind: str | None, limit: int) -> Page[Symbol]:
    """Symbols in order of path and line. Raises NotFoundError if the file is not in the index."""
    if file is not None:
        check_file(db, snapshot, file)
    where, values = _where(file, kind)
    total = db.value(f"SELECT count(*) FROM {snapshot} f JOIN symbol s ON s.blob = f.blob {where}", values)  # noqa: S608 - likewise
    rows = db.rows(
        _SELECT.format(snapshot=snapshot) + where + " ORDER BY f.path, s.start_line, s.idx LIMIT ?",
        [*values, bounded(limit)],
    )
    return Page(tuple(Symbol(*row) for row in rows), int(total))


def check_file(db: Database, snapshot: str, file: str) -> None:
    """Make sure that a file is in the index. Raises NotFoundError if it is not; close paths are suggested."""
    if not db.value(f"SELECT count(*) FROM {snapshot} WHERE path = ?", [file]):  # noqa: S608 - our own relation
        known = [row[0] for row in db.rows(f"SELECT path FROM {snapshot}")]  # noqa: S608 - likewise
        if any(path.startswith(f"{file.rstrip('/')}/") for path in known):
            raise NotFoundError(f"{file} is a folder.", hint="Give one of its files.")
        raise NotFoundError(f"{file} is not in the index.", hint=suggestion(file, known) or _MATCH)


def match_symbols(
    db: Database, snapshot: str, file: str | None, kind: str | None, match: str, limit: int
) -> Page[Symbol]:
    """Symbols whose qualified name has the letters of `match` in order, the best match first."""
    where, values = _where(file, kind)
    pattern = "%" + "%".join(_escape(c) for c in match if not c.isspace()) + "%"
    where += (" AND " if where else " WHERE ") + "s.qualname ILIKE ? ESCAPE '\\'"
    values = [*values, pattern]
    total = db.value(f"SELECT count(*) FROM {snapshot} f JOIN symbol s ON s.blob = f.blob {where}", values)  # noqa: S608 - our own relation
    lowered, flat = match.lower(), _flat(match)
    order = (f" ORDER BY lower(s.name) <> ?, s.name <> ?, {_FLAT_NAME} <> ?, NOT starts_with({_FLAT_NAME}, ?), "
             f"NOT contains({_FLAT_NAME}, ?), NOT contains(lower(s.qualname), ?), "
             "length(s.qualname), f.path, s.start_line LIMIT ?")  # fmt: skip
    rows = db.rows(
        _SELECT.format(snapshot=snapshot) + where + order,
        [*values, lowered, match, flat, flat, flat, lowered, max(bounded(limit), _RANKED)],
    )
    found = sorted(
        (Symbol(*row) for row in rows),
        key=lambda s: (
            -_fit(s, match),
            match not in (s.name, s.qualname),
            _pieces(s, match),
            len(s.qualname),
            s.path,
            s.start_line,
        ),
    )
    return Page(tuple(found[: bounded(limit)]), int(total))


def find_definitions(db: Database, snapshot: str, name: str | SymbolKey) -> tuple[Symbol, ...]:
    """Definitions of a key, a name, an ending of a qualified name, or an ending of a path and a name.

    Raises NotFoundError if nothing has that name; similar names are suggested.
    """
    if isinstance(name, SymbolKey):
        rows = db.rows(
            _SELECT.format(snapshot=snapshot)
            + " WHERE f.path = ? AND s.qualname = ? AND s.kind = ? AND s.overload = ?",
            [name.path, name.qualname, name.kind, name.overload],
        )
        if rows:
            return tuple(Symbol(*row) for row in rows)
        raise NotFoundError(
            f"{name.qualname} is not defined in {name.path}.", hint="It may have moved: `cm definitions` finds it."
        )
    wanted = QualifiedName(name)
    if not wanted.ends:
        raise NotFoundError("The name is empty.", hint="Give a name, such as `parse` or `Parser.parse`.")
    where, values = "s.name IN (?, ?) OR s.qualname = ?", [wanted.ends[0], wanted.ends[-1], wanted.text]
    if len(set(values)) == 1:
        # A qualified name of one part is the name itself; DuckDB takes a third longer to compare both.
        where, values = "s.name = ?", values[:1]
    sql = f"{_SELECT.format(snapshot=snapshot)} WHERE {where} ORDER BY f.path, s.start_line, s.idx"
    rows = db.rows(sql, values)
    symbols = [Symbol(*row) for row in rows]
    found = [s for s in symbols if wanted.fits(s.qualname, s.kind)]
    found = found or [s for s in symbols if wanted.fits_in(s.path, s.qualname, s.kind)]
    if not found:
        # The relation is our own.
        sql = f"SELECT DISTINCT s.name FROM {snapshot} f JOIN symbol s ON s.blob = f.blob"  # noqa: S608
        names = sorted(row[0] for row in db.rows(sql))
        raise NotFoundError(f"No definition found: {name}.", hint=suggestion(wanted.ends[0], names) or _MATCH)
    return tuple(found)


def _where(file: str | None, kind: str | None) -> tuple[str, list[Any]]:
    parts, values = [], []
    for column, value in (("f.path", file), ("s.kind", kind)):
        if value is not None:
            parts.append(f"{column} = ?")
            values.append(value)
    return (" WHERE " + " AND ".join(parts) if parts else ""), values


def _fit(symbol: Symbol, match: str) -> int:
    """Rate the match of a symbol: exact, prefix, word starts, substring, scattered letters."""
    typed, name, full = match.lower(), symbol.name.lower(), symbol.qualname.lower()
    flat, flat_name = _flat(match), _flat(symbol.name)
    fits = (
        typed in (name, full),
        flat == flat_name,
        name.startswith(typed) or flat_name.startswith(flat),
        _humps(symbol.name).startswith(typed),
        typed in name or flat in flat_name,
        typed in full,
        typed in _humps(symbol.qualname),
    )
    return len(fits) - fits.index(True) if True in fits else 0


def _pieces(symbol: Symbol, match: str) -> int:
    """Return into how many pieces a name tears what was typed: `enqcall` is two of `enqueue_call`."""
    name, rest, pieces = _flat(symbol.qualname), _flat(match), 0
    while rest:
        length = next((n for n in range(len(rest), 1, -1) if rest[:n] in name), 1)
        name, rest, pieces = name.partition(rest[:length])[2], rest[length:], pieces + 1
    return pieces


def _flat(name: str) -> str:
    """Return a name without separators: `urlfor` matches `url_for` and `urlFor`."""
    return name.lower().replace("_", "").replace("-", "")


def _humps(name: str) -> str:
    """First letters of the words of an identifier: phc for `parseHTTPConfig` and `parse_http_config`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return "".join(w[0] for w in words).lower()


def _escape(char: str) -> str:
    return "\\" + char if char in "%_\\" else char


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a question with the nearest of the known names; empty: none is near."""
    lowered = {k.lower(): k for k in known}
    found = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.7)
    close = [lowered[one] for one in found if lowered[one] != name]
    return f"Did you mean {', '.join(close)}?" if close else ""
