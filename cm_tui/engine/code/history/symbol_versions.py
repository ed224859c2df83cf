"""Versions of symbols in a store, and the commits that added, removed and moved them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.snapshots import Sighting, moves
from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import UsageError
from cm_tui.model import SymbolKey

_VERSIONS = """
SELECT f.path, s.qualname, s.kind, s.overload, f.from_ord, f.to_ord, coalesce(s.body, 0), s.signature, s.start_line,
       s.name
FROM {spans} f JOIN symbol s ON s.blob = f.blob
WHERE s.name IN (SELECT unnest(?::VARCHAR[])) ORDER BY f.from_ord
"""
_NOW = "(SELECT path, blob, 0 AS from_ord, NULL::INTEGER AS to_ord FROM head_file)"
_SAME_BODIES = """
SELECT DISTINCT s.name FROM file_span f JOIN symbol s ON s.blob = f.blob
WHERE s.body IN (SELECT unnest(?::BIGINT[]))
  AND (f.from_ord IN (SELECT unnest(?::INTEGER[])) OR f.to_ord IN (SELECT unnest(?::INTEGER[])))
"""


class Version(NamedTuple):
    """A symbol in one version of its file, from one ordinal up to another."""

    start: int
    end: int | None
    body: int
    signature: str
    line: int
    name: str


class Gap(NamedTuple):
    """A stretch in which the content of a symbol's file is not in this clone."""

    start: int
    end: int | None


_Passage = tuple[str, int, int]
"""Kind, ordinal and body of an addition or removal."""


class SymbolVersions:
    """Versions of symbols, loaded by name.

    `with_spans`: whether history was read; otherwise there is only the current state.
    """

    def __init__(self, db: Database, *, with_spans: bool) -> None:
        self._db = db
        self._spans = "file_span" if with_spans else _NOW
        self._versions: dict[SymbolKey, list[Version]] = {}
        self._gaps: defaultdict[str, list[Gap]] = defaultdict(list)
        self._loaded: set[str] = set()
        """Names whose symbols are in `_versions`."""
        self._went: defaultdict[_Passage, list[Sighting]] = defaultdict(list)
        self._came: defaultdict[_Passage, list[Sighting]] = defaultdict(list)
        self._moved: dict[_Passage, dict[SymbolKey, SymbolKey]] = {}

    def __getitem__(self, key: SymbolKey) -> list[Version]:
        """Return the versions of a symbol that was found, oldest first."""
        return self._versions[key]

    def gaps(self, path: str) -> list[Gap]:
        """Return where the content of a file is not in this clone, oldest first."""
        return self._gaps.get(path, [])

    def find(self, name: str | SymbolKey) -> list[SymbolKey]:
        """Return the symbols that bear a name, with their versions loaded.

        Raises UsageError if the name is empty.
        """
        if isinstance(name, SymbolKey):
            sql = "SELECT DISTINCT name FROM symbol WHERE qualname = ? AND kind = ?"
            self._load([row[0] for row in self._db.rows(sql, [name.qualname, name.kind])])
            return [key for key in self._versions if key == name]
        wanted = QualifiedName(name)
        if not wanted.ends:
            raise UsageError("No symbol given.", hint="Give a name, or any ending of a qualified one.")
        self._load(wanted.ends)
        return [
            key
            for key in self._versions
            if wanted.fits(key.qualname, key.kind) or wanted.fits_in(key.path, key.qualname, key.kind)
        ]

    def names(self) -> list[str]:
        """Return the names of all symbols that the store has or had."""
        return [row[0] for row in self._db.rows("SELECT DISTINCT name FROM symbol ORDER BY name")]

    def load_of(self, keys: Iterable[SymbolKey]) -> None:
        """Load the versions of symbols, and of all that bear the same names."""
        self._load({end for key in keys for end in QualifiedName(key.qualname).ends})

    def knows(self, key: SymbolKey) -> bool:
        """Return whether a symbol has versions that are loaded."""
        return key in self._versions

    def load_same_bodies(self, keys: Collection[SymbolKey]) -> None:
        """Also load other names added or removed with the same bodies in the same commits."""
        wanted = set(keys)
        passages = {
            passage
            for side in (self._went, self._came)
            for passage, sightings in side.items()
            if any(sighting.key in wanted for sighting in sightings)
        }
        if passages:
            ordinals = sorted({ordinal for _, ordinal, _ in passages})
            bodies = sorted({body for _, _, body in passages})
            self._load([row[0] for row in self._db.rows(_SAME_BODIES, [bodies, ordinals, ordinals])])

    def _load(self, names: Collection[str]) -> None:
        """Read the versions of all symbols with these names, and their additions and removals."""
        new = sorted(set(names) - self._loaded)
        if not new:
            return
        self._loaded.update(new)
        found: defaultdict[SymbolKey, list[Version]] = defaultdict(list)
        for path, qualname, kind, overload, *values in self._db.rows(_VERSIONS.format(spans=self._spans), [new]):
            found[SymbolKey(path, qualname, kind, overload)].append(Version(*values))
        self._versions.update(found)
        self._load_gaps({key.path for key in found} - self._gaps.keys())
        for key, versions in found.items():
            self._note_passages(key, versions)

    def _load_gaps(self, paths: Collection[str]) -> None:
        for path, start, end in tree_reader.spans_of(self._db, sorted(paths)):
            gaps = self._gaps[path]
            since = gaps.pop().start if gaps and gaps[-1].end == start else start
            gaps.append(Gap(since, end))

    def _note_passages(self, key: SymbolKey, versions: list[Version]) -> None:
        """Record a symbol's addition and removal, unless its file has no content here at that point."""
        for one, after in zip(versions, [*versions[1:], None], strict=True):
            gone = one.end is not None and (after is None or after.start != one.end)
            if one.end is not None and gone and not self.gap_begins(key, one.end):
                self._went[key.kind, one.end, one.body].append(Sighting(key, one.name, one.body, one.line))
        for one, before in zip(versions, [None, *versions[:-1]], strict=True):
            came = one.start and (before is None or before.end != one.start)
            if came and not self.gap_ends(key, one.start):
                self._came[key.kind, one.start, one.body].append(Sighting(key, one.name, one.body, one.line))

    def gap_begins(self, key: SymbolKey, ordinal: int) -> bool:
        """True when from a commit on the symbol's file has no content here."""
        return any(gap.start == ordinal for gap in self.gaps(key.path))

    def gap_ends(self, key: SymbolKey, ordinal: int) -> bool:
        """True when up to a commit the symbol's file had no content here."""
        return any(gap.end == ordinal for gap in self.gaps(key.path))

    # --- moves ---

    def origin(self, key: SymbolKey, came: Version) -> SymbolKey | None:
        """Return the symbol removed by the commit that added another, with the same body."""
        return self._moves(key, came.start, came.body).get(key)

    def destination(self, key: SymbolKey, left: Version) -> SymbolKey | None:
        """Return where a symbol went by the commit that took it away."""
        assert left.end is not None
        moved = self._moves(key, left.end, left.body)
        return next((there for there, here in moved.items() if here == key), None)

    def last_destination(self, key: SymbolKey) -> SymbolKey | None:
        """Return the last destination of a symbol; None: it exists, or did not move."""
        last = self._versions[key][-1]
        return None if last.end is None else self.destination(key, last)

    def _moves(self, key: SymbolKey, ordinal: int, body: int) -> dict[SymbolKey, SymbolKey]:
        """Return where each came from that came by a commit with a body."""
        passage = key.kind, ordinal, body
        if passage not in self._moved:
            self._moved[passage] = moves(self._went.get(passage, ()), self._came.get(passage, ()))
        return self._moved[passage]
