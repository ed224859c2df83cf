"""Commits of the mainline: list them, and find them by ordinal, sha and words."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cm_tui.engine.code.mainline import commits as stored_mainline
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import NotIndexedError
from cm_tui.model import Cancel, CommitPoint, Page
from cm_tui.model.page import MOST_ROWS, bounded

# --- words that match commits of the mainline: of subject and author, dates, ordinals and shas ---

ORDINAL = re.compile(r"#(\d{1,9})")
"""A commit by its ordinal on the mainline."""
_DAYS = re.compile(r"(\d{4})(?:-(\d{0,2}))?(?:(?<=-\d\d)-(\d{0,2}))?")
"""A date, or a prefix of one."""
_HEX = re.compile(r"[0-9a-f]{4,40}")


def parse_word(word: str) -> tuple[str, list[Any]]:
    """Return the condition for a word on a row of `line_commit`, and its values."""
    conditions = ["contains(lower(subject), ?)", "contains(lower(author), ?)"]
    values: list[Any] = [word, word]
    if (ordinal := ORDINAL.fullmatch(word)) is not None:
        conditions.append("ord = ?")
        values.append(int(ordinal[1]))
    if _HEX.fullmatch(word):
        # Fewer letters begin the sha of some commit or other.
        conditions.append("starts_with(sha, ?)")
        values.append(word)
    if (days := _days(word)) is not None:
        conditions.append("time >= ? AND time < ?")
        values += days
    return f"({' OR '.join(conditions)})", values


def _days(word: str) -> tuple[int, int] | None:
    """Return the seconds from and up to which times have a prefix such as `2024`, `2024-1` or `2024-10-0`."""
    found = _DAYS.fullmatch(word)
    if found is None or int(found[1]) == 0:
        return None
    year = int(found[1])
    months = [month for month in range(1, 13) if f"{month:02}".startswith(found[2] or "")]
    if not months:
        return None
    lengths = {month: monthrange(year, month)[1] for month in months}
    days = [
        datetime(year, month, day, tzinfo=UTC)
        for month in months
        for day in range(1, lengths[month] + 1)
        if f"{day:02}".startswith(found[3] or "")
    ]
    return (int(days[0].timestamp()), int(days[-1].timestamp()) + 86_400) if days else None


# --- commits of the mainline ---

_UNKNOWN = CommitPoint(-1, "", 0, "", "")
_MOST_KEPT = 10_000
_COLUMNS = "ord, sha, time, author, subject"
_MOST_MATCHES = 999_999
"""As many of the largest as the database picks out at once."""


@dataclass
class _LookupCache:
    """Cached lookups of one state of the store."""

    state: int = -1
    head: CommitPoint | None = _UNKNOWN
    by_sha: dict[str, CommitPoint | None] = field(default_factory=dict)


class MainlineCommits:
    """The mainline of one store."""

    def __init__(self, db: Database, repository: Repository) -> None:
        self._db = db
        self._repository = repository
        self._kept = _LookupCache()

    @property
    def is_indexed(self) -> bool:
        """True when there is an index, whose commit the mainline leads to."""
        return self._db.get_meta("indexed_at") is not None

    def ensure(self) -> None:
        """Update the mainline to the indexed commit, as far as this clone has it.

        Raises NotIndexedError if there is no index yet.
        """
        if not self.is_indexed:
            raise NotIndexedError("This project has no index yet.", hint="Run `cm index` first.")
        head = self._db.get_meta("indexed_head") or None
        if head is None or not self._repository.git:
            return
        turn = WriterLock.of(self._db)
        # A store of an older version has no mainline. An index run that is under way looks at its far end itself.
        if self.head() is not None and (turn.is_wanted or not stored_mainline.end_moved(self._db, self._repository)):
            return
        with turn.batch(Cancel()):
            change = stored_mainline.compare(self._db, self._repository, head)
            if change is not None:
                stored_mainline.write(self._db, change)

    def mainline(self, match: str, before: int | None, limit: int) -> Page[CommitPoint]:
        """List commits, newest first; every word of `match` is in subject, author, date or sha."""
        self.ensure()
        note = "" if self._repository.git else self._repository.git_problem or "No git, so no history"
        top = MOST_ROWS if before is None else bounded(before)
        words = match.lower().split()
        if not words:
            total = int(self._db.value("SELECT count(*) FROM line_commit"))
            top = min(top, total + 1)
            found: Sequence[int] = range(max(1, top - max(0, limit)), top)
        else:
            conditions = [parse_word(word) for word in words]
            values = [value for _, some in conditions for value in some]
            # One pass over the narrow columns gives both; sorting whole rows would take longer than finding them.
            total, ordinals = self._db.rows(
                "SELECT count(*), max(ord, ?) FILTER (WHERE ord < ?) FROM line_commit "  # noqa: S608 - our own words
                f"WHERE {' AND '.join(where for where, _ in conditions)}",
                [max(1, min(limit, _MOST_MATCHES)), top, *values],
            )[0]
            found = (ordinals or [])[: max(0, limit)]
        rows = self.many(found)
        return Page(tuple(rows[ordinal] for ordinal in sorted(rows, reverse=True)), total, note)

    def head(self) -> CommitPoint | None:
        """Return the newest commit, as indexed."""
        kept = self._now()
        if kept is not None and kept.head is not _UNKNOWN:
            return kept.head
        head = next(iter(self._select("ord = (SELECT max(ord) FROM line_commit)")), None)
        if kept is not None:
            kept.head = head
        return head

    def at(self, ordinal: int) -> CommitPoint | None:
        """Return the commit of an ordinal."""
        return self.many([ordinal]).get(ordinal)

    def many(self, ordinals: Collection[int]) -> dict[int, CommitPoint]:
        """Return commits by ordinal."""
        found = self._select("ord IN (SELECT unnest(?::INTEGER[]))", sorted(ordinals)) if ordinals else ()
        return {commit.ordinal: commit for commit in found}

    def of_shas(self, shas: Collection[str]) -> dict[str, CommitPoint]:
        """Return the commits on the mainline by sha."""
        kept = self._now()
        if kept is None:
            return self._look_up(shas)
        # Lists ask about the same few commits again and again.
        known, new = kept.by_sha, set(shas) - kept.by_sha.keys()
        if new:
            known = {**known, **dict.fromkeys(new), **self._look_up(new)}
            kept.by_sha = known if len(known) <= _MOST_KEPT else {}
        return {sha: commit for sha in shas if (commit := known[sha]) is not None}

    def _now(self) -> _LookupCache | None:
        """Return the cache for the store's current state; None: this thread reads another state."""
        state, kept = self._db.state, self._kept
        if state is None:
            return None
        if kept.state != state:
            kept = self._kept = _LookupCache(state)
        return kept

    def _look_up(self, shas: Collection[str]) -> dict[str, CommitPoint]:
        return {commit.sha: commit for commit in self._select("sha IN (SELECT unnest(?::VARCHAR[]))", sorted(shas))}

    def _select(self, where: str, *values: Any) -> list[CommitPoint]:
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM line_commit WHERE {where}", [*values])  # noqa: S608 - our own words
        return [CommitPoint(*row) for row in rows]
