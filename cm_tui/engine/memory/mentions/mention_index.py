"""The mentions of a project, updated incrementally."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.memory.episodes.changes import CONFIRMED
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.mentions import mention_rows
from cm_tui.engine.memory.mentions.check import Checker
from cm_tui.engine.memory.mentions.mention_rows import Changed, CommitsOf, Row, WrittenAt
from cm_tui.engine.memory.mentions.recognise import named_in
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import GENERATION, PASSAGE_GENERATION
from cm_tui.errors import CmError
from cm_tui.model import EPISODES

# --- the user's confirmations that stale items are true: events of the journal, which `undo` undoes ---

Confirmed = frozenset[tuple[str, str]]
"""Path of an item, and the confirmed state of one of its names."""


class Confirmations:
    """The confirmations of one project. `episodes`: of the project; their tables exclude undone changes."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes = episodes
        self._read: tuple[list[tuple[int, int]], Confirmed] = ([], frozenset())
        self._state: tuple[Any, ...] | None = None
        """State of the tables when these were read."""

    def all(self) -> Confirmed:
        """Return all current ones; if the journal is unreadable, the previous ones."""
        try:
            self._episodes.index.follow()
            state = self._episodes.tables.state()
            if state == self._state:
                return self._read[1]
            sql = "SELECT segment, place FROM change WHERE kind = ? AND NOT undone ORDER BY event"
            places = self._episodes.tables.rows(sql, [CONFIRMED])
            if places != self._read[0]:
                self._read = places, frozenset(one for place in places for one in self._at(Position(*place)))
            self._state = state
        except CmError:
            return self._read[1]
        return self._read[1]

    def add(self, path: str, fates: Sequence[str], head: str | None) -> str:
        """Record that an item is still true; return the id of the change.

        `fates`: the states of its names; `head`: the commit that is checked out. Raises StoreError if the journal
        cannot be written.
        """
        data = {"path": path, "fates": list(fates), "actor": "person"}
        event = self._episodes.journal.append(CONFIRMED, data, head=head)
        self._episodes.index.follow()
        return event.id

    def _at(self, position: Position) -> list[tuple[str, str]]:
        event = next(self._episodes.journal.read(position), None)
        return [(path, fate) for fate in event.texts("fates")] if event and (path := event.text("path")) else []


# --- the mentions of a project, updated incrementally ---

_VERSION = 6
"""Counted up when names are recognised or checked in another way: all items are read again then."""
_STATE = "mentions"
_PIECE, _FEW = 100, 25
"""Items to read in one transaction: by background work, and by a request, for which the user waits."""
_READING_S, _LEAST_S = 5.0, 1.0
"""Seconds per step for reading earlier contents; with less than the second value, names that need it are skipped."""
_PRINT = "SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0) FROM passage WHERE source <> 'code'"
"""Ids are never reused: other passages have another sum."""


_LISTED = 5_000
"""Items to read that are listed at once."""
_MOST_AT_ONCE = 200
"""With more to read, a short request does not begin."""


class _State(NamedTuple):
    """The state that the mentions were compared with."""

    version: int = 0
    passages: str = ""
    code: str = ""
    first: int = 0
    last: int = 0
    spans: int = 0
    """Version of the coverage: it rises when spans change other than by reading on."""
    head: int = 0
    sha: str = ""
    confirmed: str = ""
    """Digest of the user's confirmations."""

    @property
    def history(self) -> tuple[int, int, int, int, str]:
        """Return what of it is about the mainline."""
        return self.first, self.last, self.spans, self.head, self.sha


class _Backlog(NamedTuple):
    """New and changed items that are not read yet."""

    passages: str
    """Print of the passages that these were listed by."""
    items: list[Changed]
    """The last written first."""
    is_all: bool
    """Whether there are no more."""


_NO_BACKLOG = _Backlog("", [], is_all=False)


class MentionIndex:
    """Keeps the mentions of one store.

    `revisions`: places commits; `read_now`: reads a current file by path and object id; `commits_of`: returns the
    commits at which items were written; `confirmed`: returns what the user confirmed as still true.
    """

    def __init__(
        self, db: Database, repository: Repository, revisions: Revisions, read_now: Callable[[str, str], str],
        commits_of: CommitsOf, confirmed: Callable[[], Confirmed] = frozenset,
    ) -> None:  # fmt: skip
        self._db = db
        self._repository = repository
        self._revisions = revisions
        self._read_now = read_now
        self._commits_of = commits_of
        self._confirmed = confirmed
        self._settled: tuple[int, Confirmed] | None = None
        """The state of the store, and what was confirmed, when there was nothing to look at."""
        self._backlog = _NO_BACKLOG
        self._pruned = ""
        """Print of the passages when items that are no longer remembered were removed."""

    def has_changed(self) -> bool:
        """Return whether there may be something to update."""
        state, confirmed = self._db.state, self._confirmed()
        if state is not None and (state, confirmed) == self._settled:
            return False
        has_changed = self._now() != self._stored()
        self._settled = None if has_changed or state is None else (state, confirmed)
        return has_changed

    def sync(self, seconds: float | None = None) -> bool:
        """Update the mentions from the memory, the files and the history; the caller holds the writer lock.

        `seconds`: time limit, after which the rest is left for the next time; by default, everything is done. Returns
        whether everything is done.
        """
        until = None if seconds is None else time.monotonic() + seconds
        reading = _READING_S if seconds is None else min(_READING_S, seconds / 2)
        while True:
            is_whole = self._write_step(reading, _PIECE if seconds is None else _FEW)
            if is_whole or (until is not None and time.monotonic() > until):
                return is_whole

    def sync_some(self) -> bool:
        """Do part of the update, for background work; return whether everything is done."""
        return self._write_step(_READING_S, _PIECE)

    def is_far_behind(self) -> bool:
        """Return whether more is to be read than a short request can: background work does it."""
        before, now = self._stored(), self._now()
        return before.passages != now.passages and len(self._listed(now, _MOST_AT_ONCE).items) > _MOST_AT_ONCE

    def _write_step(self, reading: float, piece: int) -> bool:
        try:
            with self._db.generations.changing(), self._db.transaction():
                is_whole = self._step(reading, piece)
        except BaseException:
            self._backlog, self._pruned = _NO_BACKLOG, ""
            raise
        return is_whole

    def _listed(self, now: _State, piece: int) -> _Backlog:
        """Return what is to be read, with more than a piece of it if there is more."""
        known = self._backlog
        if known.passages != now.passages or not (known.is_all or len(known.items) > piece):
            # Finding it takes all passages, and must not be done again for each piece.
            found = mention_rows.changed_items(self._db, _LISTED)
            self._backlog = _Backlog(now.passages, found, len(found) < _LISTED)
        return self._backlog

    def clear(self) -> None:
        """Remove all mentions: the next update reads every item again; the caller holds the transaction."""
        for table in ("mention", "mention_item", "mention_file"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        self._db.set_meta(_STATE, "")
        self._backlog = _NO_BACKLOG

    def _step(self, reading: float, piece: int) -> bool:
        """Do part of the update; return whether everything is done.

        `reading`: seconds for earlier contents of files, which some names need; `piece`: most items to read.
        """
        before, now = self._stored(), self._now()
        if before == now:
            return True
        if before.version != now.version:
            self.clear()
            before = _State()
        has_passages = before.passages != now.passages
        gone = mention_rows.drop_forgotten(self._db) if has_passages and self._pruned != now.passages else 0
        self._pruned = now.passages
        changed = self._listed(now, piece).items if has_passages else []
        again = self._due_names(before, now, with_postponed=reading >= _LEAST_S)
        rows = self._read(changed[:piece])
        done = set(changed[:piece])
        self._backlog = self._backlog._replace(items=[one for one in self._backlog.items if one not in done])
        rows += mention_rows.names_to_look_up(self._db, set(again) - {row.id for row in rows})
        different = self._look_up(rows, reading) + self._keep_confirmed()
        mention_rows.remember_files(self._db)
        left = mention_rows.postponed(self._db)
        is_whole = len(changed) <= piece and not left
        kept = now if is_whole else now._replace(passages="")
        self._db.set_meta(_STATE, json.dumps(kept))
        if different or gone:
            # Flags of hits are part of responses, which are cached as long as the passages are the same.
            self._db.set_meta(PASSAGE_GENERATION, str(self._db.number(PASSAGE_GENERATION) + 1))
        # What a short request cannot do is left for one with more time.
        return is_whole or (len(changed) <= piece and reading < _LEAST_S)

    def _due_names(self, before: _State, now: _State, *, with_postponed: bool) -> list[int]:
        """The names to look up again."""
        if before.history != now.history and not self._is_continuation(before, now):
            self._update_ordinals()
            return mention_rows.every(self._db)
        found = set(mention_rows.postponed(self._db) if with_postponed else ())
        if before.code != now.code:
            found.update(mention_rows.touched(self._db))
        if before.history != now.history:
            found.update(mention_rows.waiting(self._db, before.last))
        return sorted(found)

    def _is_continuation(self, before: _State, now: _State) -> bool:
        """Whether the mainline only has additional commits at its end, all of them newer than the items."""
        if (before.first, before.spans) != (now.first, now.spans) or not before.sha:
            return False
        rows = self._db.rows("SELECT sha FROM line_commit WHERE ord = ?", [before.head])
        if not rows or rows[0][0] != before.sha:
            return False
        oldest = self._db.value("SELECT min(time) FROM line_commit WHERE ord > ?", [before.head])
        late = "SELECT count(*) FROM mention_item WHERE time >= ? AND sha = ''"
        soon = "SELECT count(*) FROM mention_item WHERE ord > ?"
        return (oldest is None or not self._db.value(late, [oldest])) and not self._db.value(soon, [before.head])

    def _update_ordinals(self) -> None:
        """Update the ordinals of all items on the current mainline."""
        placed = WrittenAt(self._db, self._revisions)
        rows = self._db.rows("SELECT id, sha, time, ord FROM mention_item")
        moved = [(id_, at) for id_, sha, when, old in rows if (at := placed.ordinal(sha, when)) != old]
        if moved:
            ids, ordinals = map(list, zip(*moved, strict=True))
            sql = "UPDATE mention_item SET ord = v.ord FROM (SELECT unnest(?::INTEGER[]) AS id, unnest(?::INTEGER[]) AS ord) v WHERE v.id = mention_item.id"
            self._db.execute(sql, [ids, ordinals])

    def _read(self, changed: Sequence[Changed]) -> list[Row]:
        """Read new and changed items, and store their names."""
        if not changed:
            return []
        by_path = {one.path: one for one in changed}
        placed = WrittenAt(self._db, self._revisions)
        found = mention_rows.read(self._db, list(by_path), self._commits_of)
        kept = [(by_path[item.path], item, placed.ordinal(item.commit, item.time)) for item in found]
        # A session mentions much that is not the project's: only its files are looked up.
        names = [named_in(item.text, files_only=item.kind == EPISODES) for item in found]
        return mention_rows.write_items(self._db, kept, names)

    def _look_up(self, rows: Sequence[Row], reading: float) -> int:
        if not rows:
            return 0
        answers = Checker(self._db, self._repository, self._read_now, reading).check({row.asked for row in rows})
        return mention_rows.write_answers(self._db, rows, answers)

    def _keep_confirmed(self) -> int:
        """Store the user's confirmations; return the number of changes."""
        now, before = self._confirmed(), frozenset(self._db.rows("SELECT path, fate FROM mention_confirmed"))
        if now == before:
            return 0
        self._db.execute("DELETE FROM mention_confirmed")
        pairs = [[path for path, _ in now], [fate for _, fate in now]]
        self._db.execute("INSERT INTO mention_confirmed SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])", pairs)
        return len(now ^ before)

    # --- state ---

    def _now(self) -> _State:
        covered = coverage.load(self._db)
        head = self._db.rows("SELECT ord, sha FROM line_commit WHERE ord = (SELECT max(ord) FROM line_commit)")
        number, sha = head[0] if head else (0, "")
        first, last = (covered.from_ord, covered.to_ord) if covered.to_ord else (0, 0)
        return _State(
            _VERSION, str(self._db.rows(_PRINT)[0]), self._db.get_meta(GENERATION) or "", first, last, covered.version,
            number, sha, _digest(self._confirmed()),
        )  # fmt: skip

    def _stored(self) -> _State:
        text = self._db.get_meta(_STATE)
        try:
            found: Any = json.loads(text) if text else []
            return _State(*found)
        except (ValueError, TypeError) as error:
            raise self._db.unreadable(_STATE, text) from error


def _digest(confirmed: Confirmed) -> str:
    return (
        blake2b(repr(sorted(confirmed)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        if confirmed
        else ""
    )
