"""Snapshots: the files of one commit, and differences between two commits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.revisions import Revisions, snapshot_at
from cm_tui.engine.code.history.side_reader import SideReader
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Page, ResolvedRevision, Symbol, SymbolChange, SymbolKey
from cm_tui.model.history import BEFORE_FIRST, SHORT_SHA

# --- differences between the symbols of two snapshots ---

Bodies = dict[SymbolKey, tuple[Symbol, int]]
"""Symbols with the digests of their own lines."""

SYMBOL_COLUMNS = """f.path, s.qualname, s.name, s.kind, b.language, s.signature, s.doc, s.start_line, s.end_line,
       s.overload, p.qualname, coalesce(s.body, 0)"""
"""Fields of `Symbol`, then the digest of its own lines."""
_SYMBOLS = """
SELECT {columns}
FROM (SELECT path, blob FROM {mine} EXCEPT SELECT path, blob FROM {other}) f
JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
WHERE f.path NOT IN (SELECT o.path FROM {other} o JOIN blob a ON a.id = o.blob WHERE a.language = ?)
"""


def changes(db: Database, before: str, after: str, limit: int) -> Page[SymbolChange]:
    """Compare two relations of (path, blob), for a FROM clause."""
    found = compare(_bodies(db, before, after), _bodies(db, after, before))
    counts = Counter(change.change for change in found)
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Page(tuple(found[: max(0, limit)]), len(found), note)


def compare(before: Bodies, after: Bodies) -> list[SymbolChange]:
    """Return changes in order of path and line; a symbol with the same body elsewhere has moved."""
    found: list[SymbolChange] = []
    for key in before.keys() & after.keys():
        (old, old_body), (new, new_body) = before[key], after[key]
        if old.signature != new.signature:
            found.append(SymbolChange("signature", new, old))
        elif old_body != new_body:
            found.append(SymbolChange("changed", new, old))
    gone = {key: before[key] for key in before.keys() - after.keys()}
    came = {key: after[key] for key in after.keys() - before.keys()}
    origins = moves(_sightings(gone), _sightings(came))
    for key, (symbol, _) in came.items():
        origin = origins.get(key)
        found.append(
            SymbolChange("added", symbol) if origin is None else SymbolChange("moved", symbol, before[origin][0])
        )
    moved = set(origins.values())
    found += [SymbolChange("removed", symbol) for key, (symbol, _) in gone.items() if key not in moved]
    return sorted(found, key=lambda c: (c.symbol.path, c.symbol.start_line, c.symbol.qualname, c.change))


class Sighting(NamedTuple):
    """An added or removed symbol, with what identifies it elsewhere."""

    key: SymbolKey
    name: str
    body: int
    line: int


def moves(gone: Iterable[Sighting], came: Iterable[Sighting]) -> dict[SymbolKey, SymbolKey]:
    """Return the former places of added symbols: removed ones with the same body, each used once.

    The same qualified name goes first, then the same name, then any; in order of path and line.
    """
    waiting: defaultdict[tuple[str, int], list[Sighting]] = defaultdict(list)
    for one in sorted(gone, key=_position):
        waiting[one.key.kind, one.body].append(one)
    new = [one for one in sorted(came, key=_position) if (one.key.kind, one.body) in waiting]
    found: dict[SymbolKey, SymbolKey] = {}
    names: list[Callable[[Sighting], str]] = [lambda one: one.key.qualname, lambda one: one.name, lambda _: ""]
    for name in names:
        for one in new:
            left = waiting[one.key.kind, one.body]
            best = next((other for other in left if name(one) == name(other)), None) if one.key not in found else None
            if best is not None:
                found[one.key] = best.key
                left.remove(best)
    return found


def _position(one: Sighting) -> tuple[str, int, str, int]:
    return one.key.path, one.line, one.key.qualname, one.key.overload


def _sightings(bodies: Bodies) -> list[Sighting]:
    return [Sighting(key, symbol.name, body, symbol.start_line) for key, (symbol, body) in bodies.items()]


def _bodies(db: Database, mine: str, other: str) -> Bodies:
    # A file without content cannot be compared.
    rows = db.rows(_SYMBOLS.format(columns=SYMBOL_COLUMNS, mine=mine, other=other), [tree_reader.LANGUAGE])
    pairs = ((Symbol(*row[:-1]), row[-1]) for row in rows)
    return {symbol.key: (symbol, body) for symbol, body in pairs}


# --- snapshots ---

T = TypeVar("T")

_NO_FILES = "(SELECT path, blob FROM file_span WHERE false)"
_PARENT = re.compile(r"(.+)(?:~1?|\^1?)")
_ATTEMPTS = 5


class Snapshots:
    """Finds snapshots in one store; each is a relation of (path, blob), for a FROM clause.

    `revisions`: resolves names; `side`: the files of commits off the mainline.
    """

    def __init__(self, db: Database, repository: Repository, revisions: Revisions, side: SideReader) -> None:
        self._db = db
        self._repository = repository
        self._revisions = revisions
        self._side = side

    def require(self, revision: str) -> ResolvedRevision:
        """Resolve a name to an available revision; one off the mainline is read first.

        Raises NotFoundError if there is no such revision, or its content is unknown.
        """
        resolved = self._revisions.resolve(revision)
        if resolved.moment.ahead and not resolved.known:
            self._side.files(resolved.moment)
            resolved = self._revisions.resolve(revision)
        if not resolved.sha:
            raise NotFoundError(f"Nothing existed yet: {resolved.note}.", hint="`cm at '#1'` shows the first commit.")
        if not resolved.known:
            raise NotFoundError(
                f"{revision} cannot be shown: {resolved.note}.",
                hint="`cm history backfill` reads the mainline as far back as git has it.",
            )
        return resolved

    def at(self, ordinal: int) -> str:
        """Return the snapshot at an ordinal that is known."""
        return snapshot_at(ordinal) if coverage.load(self._db).covers(ordinal) else "head_file"

    def of(self, resolved: ResolvedRevision) -> str:
        """Return the snapshot of a revision that is known, or lies off the mainline.

        Raises NotFoundError if it lies off the mainline and cannot be read.
        """
        commit = resolved.moment
        return self._side.files(commit) if commit.ahead else self.at(commit.ordinal)

    def steadily(self, question: Callable[[], T]) -> T:
        """Run a query on a past state; repeat it once if the mainline has changed meanwhile."""
        for _ in range(_ATTEMPTS):
            version = coverage.load(self._db).version
            answer = question()
            if coverage.load(self._db).version == version:
                break
        return answer

    def changes(self, before: str, after: str, limit: int) -> Page[SymbolChange]:
        """Compare the symbols of two revisions.

        Raises NotFoundError if there is no such revision, or it is not known.
        """
        older, note = self._before(before)
        newer = self.require(after)
        page = changes(self._db, older, self.of(newer), limit)
        return replace(page, note="; ".join(filter(None, (page.note, note, newer.said))))

    def _before(self, revision: str) -> tuple[str, str]:
        """Return the snapshot to compare with, and a note about it; empty before the first commit."""
        first_one = self._without_parent(revision)
        if first_one is not None:
            return _NO_FILES, self._cut_off(first_one, first_one[:SHORT_SHA])
        if revision.strip() != BEFORE_FIRST and self._revisions.resolve(revision).sha:
            resolved = self.require(revision)
            return self.of(resolved), resolved.said
        commits = self._revisions.commits
        commits.ensure()
        first = commits.at(1)
        return _NO_FILES, self._cut_off(first.sha, "#1") if first is not None else ""

    def _without_parent(self, revision: str) -> str | None:
        """Return the commit of a name such as `v0.1~1` whose missing parent it asks for."""
        found = _PARENT.fullmatch(revision.strip())
        if found is None:
            return None
        try:
            resolved = self._revisions.resolve(found[1])
        except CmError:
            return None
        commit = resolved.moment
        return commit.sha if commit.ahead and not self._repository.parents(commit.sha) else None

    def _cut_off(self, sha: str, name: str) -> str:
        is_cut = self._repository.missing_parent(sha) is not None
        return f"{name} has parents that are not in this clone: their content counts as added" if is_cut else ""
