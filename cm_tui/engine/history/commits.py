"""Moments of the line: listing them, and finding the one that a name means."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history import missing_blobs
from cm_tui.engine.history.commit_filter import ORDINAL, ways_of
from cm_tui.engine.mainline import commits as stored_line
from cm_tui.engine.mainline.coverage import Coverage, load
from cm_tui.engine.store.database import Database
from cm_tui.engine.store.writer_lock import WriterLock
from cm_tui.errors import NotFoundError, NotIndexedError, UsageError
from cm_tui.model import Cancel, CommitPoint, HistoryStatus, Page, ResolvedRevision

_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""Seconds between which a time is a date of the years 1 to 9999; git takes any."""
_COLUMNS = "ord, sha, time, author, subject"
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:?\d\d)?)?")
_BACK = re.compile(r"([^~^]+)~(\d{0,9})")
_LONGEST_NAME = 1000
_A_DAY = 86_400


class MainlineCommits:
    """The line of one store.

    Args:
        db: the store.
        repository: the checkout.
    """

    def __init__(self, db: Database, repository: Repository) -> None:
        self._db = db
        self._repository = repository
        self._counted: tuple[tuple[Coverage, str | None] | None, tuple[int, int]] = (None, (0, 0))

    def mainline(self, match: str, before: int | None, limit: int) -> Page[CommitPoint]:
        """Commits of the line, newest first; every word of `match` is in subject, author, date or sha."""
        self.ensure()
        note = "" if self._repository.git else "No git: no history"
        top = 2**31 - 1 if before is None else before
        words = match.lower().split()
        if not words:
            total = int(self._db.value("SELECT count(*) FROM line_commit"))
            top = min(top, total + 1)
            found: Sequence[int] = range(max(1, top - max(0, limit)), top)
        else:
            ways = [ways_of(word) for word in words]
            values = [value for _, some in ways for value in some]
            # One look at the narrow columns gives both; sorting whole rows would take longer than finding them.
            total, ordinals = self._db.rows(
                "SELECT count(*), max(ord, ?) FILTER (WHERE ord < ?) FROM line_commit "  # noqa: S608 - our own words
                f"WHERE {' AND '.join(where for where, _ in ways)}",
                [max(1, limit), top, *values],
            )[0]
            found = (ordinals or [])[: max(0, limit)]
        rows = self.many(found)
        return Page(tuple(rows[ordinal] for ordinal in sorted(rows, reverse=True)), total, note)

    def at(self, ordinal: int) -> CommitPoint | None:
        """The commit of an ordinal."""
        return self.many([ordinal]).get(ordinal)

    def many(self, ordinals: Collection[int]) -> dict[int, CommitPoint]:
        """Commits by ordinal."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM line_commit WHERE ord IN (SELECT unnest(?::INTEGER[]))",  # noqa: S608 - our own words
            [sorted(ordinals)],
        )
        return {row[0]: CommitPoint(*row) for row in rows}

    def of_shas(self, shas: Collection[str]) -> dict[str, CommitPoint]:
        """Commits by sha, those of them that are on the line."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM line_commit WHERE sha IN (SELECT unnest(?::VARCHAR[]))",  # noqa: S608 - our own words
            [sorted(shas)],
        )
        return {row[1]: CommitPoint(*row) for row in rows}

    def head(self) -> CommitPoint | None:
        """The newest commit, as indexed."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM line_commit WHERE ord = (SELECT max(ord) FROM line_commit)")  # noqa: S608 - our own words
        return CommitPoint(*rows[0]) if rows else None

    def resolve(self, ref: str) -> ResolvedRevision:
        """The moment that a name means.

        Raises:
            NotFoundError: nothing is called so, or nothing of it is on the line.
            UsageError: the name is ambiguous or malformed, or there is no git.
        """
        self.ensure()
        name = ref.strip()
        _refuse_odd(name)
        if not self._repository.git:
            raise UsageError("This project has no git: there is no history.", hint="`git init` begins one.")
        head = self.head()
        if head is None:
            raise NotFoundError("There is no commit yet.", hint="History begins with the first one.")
        ordinal = ORDINAL.fullmatch(name)
        if ordinal is not None:
            found = self.at(int(ordinal[1]))
            if found is None:
                raise NotFoundError(f"There is no commit {name} on the line.", hint=f"It has #1 to #{head.ordinal}.")
            return self._placed(found, ref, found.sha, head)
        back = _BACK.fullmatch(name)
        if back is not None and (place := self._back(ref, back[1], int(back[2] or 1), head)) is not None:
            return place
        try:
            sha = self._repository.resolve(name)
        except NotFoundError:
            if not _DATE.fullmatch(name):
                raise
            return self._dated(ref, name, head)
        return self._named(ref, sha, head)

    def status(self) -> HistoryStatus:
        """How much of the line is known."""
        if self.is_indexed:
            self.ensure()
        head, known = self.head(), load(self._db)
        ends = self.many([known.from_ord, known.to_ord])
        length = head.ordinal if head else 0
        first = ends.get(known.from_ord)
        blobs, missing = self._counts(known)
        count = known.to_ord - known.from_ord + 1 if first else 0
        complete = known.rooted and known.to_ord == length and not missing
        return HistoryStatus(
            head=head,
            length=length,
            known=count,
            known_from=first,
            known_to=ends.get(known.to_ord),
            complete=complete,
            running=WriterLock.of(self._db).readers > 0,
            blobs=blobs - missing,
            missing=missing,
            vacuumed=self.vacuumed(known),
            text=self._sentence(head, first, count, missing),
            notes=tuple(self._notes(known, length, missing)),
        )

    def _counts(self, known: Coverage) -> tuple[int, int]:
        """Blobs of the past alone, and those of them that are not there; counted again when something has changed."""
        state = (known, self._db.get_meta("generation"))
        if self._counted[0] != state:
            sql = "SELECT count(DISTINCT blob) FROM file_span WHERE blob NOT IN (SELECT blob FROM head_file)"
            self._counted = (state, (int(self._db.value(sql)), missing_blobs.count(self._db)))
        return self._counted[1]

    def vacuumed(self, known: Coverage) -> str:
        """What was removed and cannot be answered, or nothing."""
        if not known.floor or (known.to_ord and known.from_ord < known.floor):
            return ""
        kept = self.at(known.floor)
        return f"history before {kept.sha[:10]} ({day_of(kept.time)}) was removed" if kept else ""

    @property
    def is_indexed(self) -> bool:
        """True when there is an index, whose commit the line leads to."""
        return self._db.get_meta("indexed_at") is not None

    def more(self) -> str:
        """How much is known, and what can be done to know more: the hint where nothing was found."""
        status, removed = self.status(), self.vacuumed(load(self._db))
        if removed:
            return f"{removed}; `cm history backfill` reads it again."
        if status.complete or status.head is None:
            return f"{status.text}."
        if status.missing:
            return f"{status.text}; once git has them, `cm history backfill` reads them."
        if status.known == status.length:
            return f"{status.text}; what came before is not in this clone, or damaged."
        return f"{status.text}; `cm history backfill` reads further back."

    def ensure(self) -> None:
        """Make sure that the line is that of the indexed commit, as far as this clone has it by now.

        Raises:
            NotIndexedError: there is no index yet.
        """
        if not self.is_indexed:
            raise NotIndexedError("This project has no index yet.", hint="Run `cm index` first.")
        head = self._db.get_meta("indexed_head") or None
        if head is None or not self._repository.git:
            return
        turn = WriterLock.of(self._db)
        # A store of an older version has no line. An index run that is under way looks at its far end itself.
        if self._db.value("SELECT count(*) FROM line_commit") and (
            turn.is_wanted or not stored_line.end_moved(self._db, self._repository)
        ):
            return
        with turn.batch(Cancel()):
            change = stored_line.compare(self._db, self._repository, head)
            if change is not None:
                stored_line.write(self._db, change)

    def _back(self, ref: str, name: str, steps: int, head: CommitPoint) -> ResolvedRevision | None:
        """So many first parents before a commit of the line: those are counted already, however many they are."""
        start = self.of_shas([self._repository.resolve(name)])
        found = next((self.at(moment.ordinal - steps) for moment in start.values()), None)
        return self._placed(found, ref, found.sha, head) if found is not None else None

    def _named(self, ref: str, sha: str, head: CommitPoint) -> ResolvedRevision:
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM line_commit WHERE sha = ?", [sha])  # noqa: S608 - our own words
        if rows:
            return self._placed(CommitPoint(*rows[0]), ref, sha, head)
        ordinal = self._nearest(sha)
        found = self.at(ordinal) if ordinal else None
        if found is None:
            raise NotFoundError(
                f"{ref} shares no commit with the line of HEAD.", hint="`cm history line` lists its commits."
            )
        name = sha[:10] if sha.startswith(ref) else f"{ref} ({sha[:10]})"
        note = (
            f"{name} is not on the first-parent line of HEAD; its nearest ancestor there is "
            f"#{found.ordinal} {found.sha[:10]}"
        )
        return self._placed(found, ref, sha, head, note)

    def _nearest(self, sha: str) -> int:
        """Ordinal of the nearest ancestor on the line; 0: none.

        Whatever way leads from a commit to the line, it meets the line first at an ancestor: the highest of those is it.
        """
        ordinals = dict(self._db.rows("SELECT sha, ord FROM line_commit"))
        seen, waiting, best = {sha}, [sha], 0
        while waiting:
            for parent in self._repository.parents(waiting.pop()):
                if parent in ordinals:
                    best = max(best, ordinals[parent])
                elif parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return best

    def _dated(self, ref: str, text: str, head: CommitPoint) -> ResolvedRevision:
        """The last commit before everything that was made from a time on."""
        try:
            when = datetime.fromisoformat(text)
        except ValueError as error:
            raise UsageError(f"{ref!r} is no date: {error}.", hint="Write it as 2024-05-01.") from error
        seconds = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
        ordinal = self._split(seconds)
        found = self.at(max(1, ordinal))
        assert found is not None
        if ordinal:
            return self._placed(found, ref, found.sha, head)
        note = f"the line has no commit before {text}; its first one is #1 of {day_of(found.time)}"
        return self._placed(found, ref, "", head, note)

    def _split(self, seconds: int) -> int:
        """The last commit before everything that was made from a time on; 0: there is none.

        Times need not rise along a line: it is split where the fewest commits stand on the wrong side. Those from before
        there were computers and from the future say nothing.
        """
        sql = """
        SELECT ord, sum(CASE WHEN time NOT BETWEEN 0 AND ? THEN 0 WHEN time < ? THEN 1 ELSE -1 END) OVER (ORDER BY ord) AS ahead
        FROM line_commit QUALIFY ahead > 0 ORDER BY ahead DESC, ord DESC LIMIT 1
        """
        rows = self._db.rows(sql, [int(time.time()) + _A_DAY, seconds])
        return int(rows[0][0]) if rows else 0

    def _placed(self, moment: CommitPoint, asked: str, sha: str, head: CommitPoint, note: str = "") -> ResolvedRevision:
        known = load(self._db)
        is_known = moment.ordinal == head.ordinal or known.covers(moment.ordinal)
        if not is_known:
            note = "; ".join(filter(None, (note, self.why_unknown(moment.ordinal, known))))
        elif known.covers(moment.ordinal) and sha:
            note = "; ".join(filter(None, (note, missing_blobs.note(self._db, alive_at(moment.ordinal)))))
        return ResolvedRevision(moment, asked, sha, exact=sha == moment.sha, known=is_known, note=note)

    def why_unknown(self, ordinal: int, known: Coverage) -> str:
        """Why a moment cannot be answered."""
        removed = self.vacuumed(known)
        if removed and ordinal < known.floor:
            return removed
        if ordinal > known.to_ord > 0:
            return f"history has not been read beyond #{known.to_ord} yet"
        first = self.at(known.from_ord) if known.to_ord else None
        return f"history is known back to {day_of(first.time)} (#{first.ordinal}) so far" if first else (
            "history has not been read yet"
        )  # fmt: skip

    def _notes(self, known: Coverage, length: int, missing: int) -> Sequence[str]:
        notes = []
        if not self._repository.git:
            notes.append("This project has no git: there is no history.")
        if self._repository.is_shallow:
            notes.append("This clone is shallow: what lies before its first commit is not here.")
        elif (lost := self._lost_parent()) is not None:
            notes.append(f"The line ends at #1: the commit before it, {lost[:10]}, is missing or cannot be read.")
        if known.broken:
            notes.append(known.broken)
        if missing:
            notes.append(
                f"{missing:,} file version{' is' if missing == 1 else 's are'} not in this clone: what was in there is not "
                "known. Once git has them (a partial clone gets all by `git fetch --refetch --no-filter`), "
                "`cm history backfill` reads them."
            )
        if 0 < known.to_ord < length:
            notes.append(f"The newest {length - known.to_ord:,} commits have not been read yet.")
        return notes

    def _sentence(self, head: CommitPoint | None, first: CommitPoint | None, count: int, missing: int) -> str:
        if head is None:
            return "no history: there is no commit" if self._repository.git else "no history: this project has no git"
        if first is None:
            return f"history not read yet, {head.ordinal:,} commits on the line"
        lacking = f", without {missing:,} file version{'s' * (missing != 1)} not in this clone" if missing else ""
        if count == head.ordinal and load(self._db).rooted:
            whole = "the whole line is read" if missing else "the whole history is known"
            return f"{whole}, {count:,} commits since {day_of(first.time)}{lacking}"
        ends = ", where this clone ends" if count == head.ordinal and self._lost_parent() is not None else ""
        return f"history known back to {day_of(first.time)}{ends}, {count:,} of {head.ordinal:,} commits{lacking}"

    def _lost_parent(self) -> str | None:
        """What came before the line's first commit and is not here; None: nothing did."""
        first = self.at(1)
        return self._repository.missing_parent(first.sha) if first is not None and self._repository.git else None


def alive_at(ordinal: int) -> str:
    """The relation of (path, blob) that was alive at an ordinal, as it may stand after FROM."""
    where = f"from_ord <= {ordinal:d} AND (to_ord IS NULL OR to_ord > {ordinal:d})"
    return f"(SELECT path, blob FROM file_span WHERE {where})"  # noqa: S608 - a number


def _refuse_odd(name: str) -> None:
    if not name:
        raise UsageError(
            "No moment is named.", hint="Name a branch, a tag, a commit, #17 or a date such as 2024-05-01."
        )
    if len(name) > _LONGEST_NAME or not name.isprintable() or "{/" in name or name.startswith((":", "-")):
        shown = name[:60].encode("ascii", "backslashreplace").decode()
        raise UsageError(
            f"{shown!r} is no name of a moment.",
            hint="Name a branch, a tag, a commit, #17 or a date such as 2024-05-01.",
        )


def day_of(seconds: Any) -> str:
    """A time as a date, in UTC; as it is when it is none."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}" if _FIRST <= seconds <= _LAST else f"time {seconds}"
