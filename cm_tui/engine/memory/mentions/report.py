"""Stale items as records: their names, what became of each, and the responsible commit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cm_tui.counts import count, noun
from cm_tui.engine.code.history.commits import MainlineCommits
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.stale import Flag
from cm_tui.errors import NotFoundError
from cm_tui.lru import LRU
from cm_tui.model import CommitPoint, Page
from cm_tui.model.stale import FLAGGED, Mention, MentionKind, MentionState, StaleItem

# --- common parts of the kinds of mentions: request, result, and the known part of history ---

EVER = 2**31 - 1
"""Ordinal beyond all."""
SOON = 10
"""Number of commits after an item's commit in which a name may still be added: work in progress is described before
it is committed."""
UNCOMMITTED = -1
"""In place of an ordinal: the files on disk differ from HEAD, and no commit did it."""


class NameQuery(NamedTuple):
    """A name to be looked up."""

    kinds: tuple[MentionKind, ...]
    text: str
    plain: bool
    """It looks like a word: only a unique, outermost definition matches."""
    at: int
    """Ordinal that its item counts as written at, from which on a commit must have it; -1: not known."""

    @property
    def until(self) -> int:
        """Return the last ordinal of the stretch of the mainline with a commit that must have it."""
        return EVER if self.at < 0 else self.at + SOON


class Finding(NamedTuple):
    """What became of a name of the project."""

    state: MentionState
    path: str = ""
    line: int = 0
    became: str = ""
    ordinal: int = 0
    """Of the commit that did it; 0: not known; `UNCOMMITTED`: none did."""


class Known(NamedTuple):
    """The known part of the mainline."""

    first: int
    """Oldest ordinal whose files are known; 0: none is."""
    last: int
    """Newest one."""
    head: int
    """Ordinal of the indexed commit; 0: none."""

    @classmethod
    def of(cls, db: Database) -> Known:
        """Return the part known to a store."""
        covered = coverage.load(db)
        head = int(db.value("SELECT coalesce(max(ord), 0) FROM line_commit"))
        return cls(covered.from_ord if covered.to_ord else 0, covered.to_ord, head)

    def stretch(self, since: int, until: int) -> tuple[int, int]:
        """Return the known part of a stretch of the mainline."""
        return min(max(since, self.first), self.last), min(max(until, self.first), self.last)

    def tells(self, since: int) -> bool:
        """Return whether history is complete from an ordinal on: a name missing since then did not exist."""
        return bool(self.first) and self.first <= max(since, 1) and self.last <= self.head

    def gone_at(self, last_end: int, *, is_committed: bool) -> int:
        """Return the ordinal of the commit that removed something.

        `last_end`: end of the last span with it; `EVER`: none. `is_committed`: HEAD has it: only the files on disk lack
        it.
        """
        if last_end != EVER:
            return last_end
        if is_committed:
            return UNCOMMITTED
        # Spans end where history was read to: with one commit more it must have been that one.
        return self.head if self.head == self.last + 1 else 0


# --- stale items as records ---

_FIELDS = "i.id, i.source, i.path, i.title, i.time, i.ord, m.kind, m.text, m.line, m.state, m.path, m.start_line, m.became, m.ord"
_ROWS = f"""
SELECT {_FIELDS} FROM mention m JOIN mention_item i ON i.id = m.item
WHERE m.kind <> '' AND i.id IN (SELECT unnest(?::INTEGER[])) ORDER BY i.id, m.line, m.id
"""  # noqa: S608 - our own columns
_COUNT = """
SELECT count(DISTINCT m.item) FROM mention m JOIN mention_item i ON i.id = m.item LEFT JOIN line_commit c ON c.ord = m.ord
WHERE m.kind <> '' AND m.state IN ('gone', 'renamed') AND i.source IN ('entry', 'note') AND NOT EXISTS (
    SELECT 1 FROM mention_confirmed o WHERE o.path = i.path
    AND o.fate = concat_ws(chr(9), m.kind, m.text, m.state, m.became, coalesce(c.sha, ''))
)
"""
_CONFIRMED = "SELECT path, fate FROM mention_confirmed"
_KEPT_FLAGS = 10_000
_SEVERITY = {"gone": 1.0, "renamed": 0.5, "moved": 0.25}
"""How much of the profile's weight each state takes."""


def count_stale(db: Database) -> int:
    """Return the number of entries and notes that name something gone or renamed, and are not confirmed."""
    return int(db.value(_COUNT))


def fate_of(mention: Mention) -> str:
    """Return the id of a state that the user confirmed: a different one is reported again."""
    since = "" if mention.uncommitted or mention.commit is None else mention.commit.sha
    return f"{mention.kind}\t{mention.text}\t{mention.state}\t{mention.became}\t{since}"


class StaleReport:
    """Reports stale items of one store."""

    def __init__(self, db: Database, commits: MainlineCommits) -> None:
        self._db = db
        self._commits = commits
        self._flags: tuple[int, LRU[str, tuple[Flag | None]]] = (-1, LRU(_KEPT_FLAGS))
        """A generation, which is another one when flags differ, and flags by path."""

    def items(self, states: Collection[MentionState], kinds: Collection[str], limit: int) -> Page[StaleItem]:
        """Return items that name something changed, the worst first, then the latest.

        `states`: of at least one of its names. `kinds`: sources to search. `limit`: the most to return; the total
        counts all.
        """
        sql = (
            "SELECT DISTINCT i.id FROM mention m JOIN mention_item i ON i.id = m.item "
            "WHERE m.kind <> '' AND m.state IN (SELECT unnest(?::VARCHAR[])) AND i.source IN (SELECT unnest(?::VARCHAR[]))"
        )
        ids = [row[0] for row in self._db.rows(sql, [list(states), list(kinds)])]
        found = [item for item in self._read(ids) if self._counts(item, states)]
        found.sort(key=lambda item: (_worst(item), -(item.time or 0), item.path))
        shown = (
            replace(item, mentions=tuple(one for one in item.mentions if one.state in states))
            for item in found[: max(0, limit)]
        )
        return Page(tuple(shown), len(found), self._note())

    def of(self, path: str) -> StaleItem:
        """Return one item with all names of the project in it.

        Raises NotFoundError if there is no item with that path.
        """
        rows = self._db.rows("SELECT id, source, path, title, time, ord FROM mention_item WHERE path = ?", [path])
        if not rows:
            raise NotFoundError(
                f"No memory is named {path}.", hint="`cm stale --all` lists memories that mention code."
            )
        found = self._read([rows[0][0]])
        if found:
            return found[0]
        _, source, path, title, time, at = rows[0]
        return StaleItem(source, path.partition("/")[2], path, title, (), time, self._commits.at(at), self._note())

    def flags(self, paths: Iterable[str]) -> Mapping[str, Flag]:
        """Return notes on stale items by path."""
        if self._db.is_writing:
            # What a transaction has written may never be committed.
            return self._read_flags(list(dict.fromkeys(paths)))
        with self._db.reading() as number:
            known, kept = self._flags
            if known != number:
                kept = LRU(_KEPT_FLAGS)
                self._flags = number, kept
            found = {path: kept.get(path) for path in paths}
            if unknown := [path for path, flag in found.items() if flag is None]:
                read = self._read_flags(unknown)
                for path in unknown:
                    found[path] = flag = (read.get(path),)
                    kept.put(path, flag)
        return {path: flag[0] for path, flag in found.items() if flag is not None and flag[0] is not None}

    def _read_flags(self, paths: Sequence[str]) -> Mapping[str, Flag]:
        sql = (
            "SELECT DISTINCT i.id FROM mention m JOIN mention_item i ON i.id = m.item "
            "WHERE m.kind <> '' AND m.state IN (SELECT unnest(?::VARCHAR[])) AND i.path IN (SELECT unnest(?::VARCHAR[]))"
        )
        ids = [row[0] for row in self._db.rows(sql, [list(FLAGGED), paths])]
        flagged = ((item, item.flagged) for item in self._read(ids))
        return {item.path: Flag(_SEVERITY[found[0].state], item.words) for item, found in flagged if found}

    def _read(self, ids: Sequence[int]) -> list[StaleItem]:
        rows = self._db.rows(_ROWS, [list(ids)]) if ids else []
        commits = self._commits.many({ordinal for row in rows for ordinal in (row[5], row[13]) if ordinal > 0})
        confirmed = set(self._db.rows(_CONFIRMED)) if rows else set()
        by_item: dict[tuple[Any, ...], list[Mention]] = defaultdict(list)
        for row in rows:
            mention = _mention(row, commits)
            is_confirmed = (row[2], fate_of(mention)) in confirmed
            by_item[row[:6]].append(replace(mention, confirmed=True) if is_confirmed else mention)
        note = self._note() if rows else ""
        return [
            StaleItem(source, path.partition("/")[2] or path, path, title, tuple(found), time, commits.get(at), note)
            for (_, source, path, title, time, at), found in by_item.items()
        ]

    @staticmethod
    def _counts(item: StaleItem, states: Collection[MentionState]) -> bool:
        return any(one.state in states and not one.confirmed for one in item.mentions)

    def _note(self) -> str:
        """Return a note on what is unknown."""
        known = Known.of(self._db)
        if not known.head:
            return "no history, so earlier names are unknown"
        if not known.first:
            return "history has not been read yet, so earlier names are unknown; `cm history backfill` reads it"
        unread = known.head - known.last
        if unread > 0:
            return f"{count(unread, 'new commit')} {noun(unread, 'is', 'are')} not read yet, so the commit of a removal may be unknown"
        return "" if known.first == 1 else f"history is known back to #{known.first}: older text cannot be checked"


def _mention(row: tuple[Any, ...], commits: Mapping[int, CommitPoint]) -> Mention:
    kind, text, line, state, path, start_line, became, ordinal = row[6:]
    return Mention(kind, text, line, state, path, start_line, became, commits.get(ordinal), ordinal == UNCOMMITTED)


def _worst(item: StaleItem) -> int:
    return min((FLAGGED.index(one.state) for one in item.flagged), default=len(FLAGGED))


# --- replacing old names by new ones in a text, wherever an old one is a separate word ---


def replacements(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return the new name by the old one, for names that have exactly one new one."""
    found: dict[str, set[str]] = {}
    for one in mentions:
        if one.state in ("renamed", "moved") and one.became and (one.kind == "path" or one.state == "renamed"):
            found.setdefault(one.text, set()).add(one.became)
    return {old: next(iter(new)) for old, new in found.items() if len(new) == 1}


def replaced(text: str, names: dict[str, str]) -> str:
    """Return a text with old names replaced; longer names come first, as they may contain shorter ones."""
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, longest))})(?![\w])")
    return pattern.sub(lambda found: names[found[0]], text)
