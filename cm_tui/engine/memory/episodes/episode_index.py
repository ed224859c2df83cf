"""Updating the tables of episodes from the journal: each event is read once, another journal from its beginning."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.episode_tables import (
    HEXADECIMAL,
    EpisodeTables,
    columns_of,
    shown_of,
    storable,
    words_of,
)
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import origin_of, read_episode
from cm_tui.engine.memory.projection.narrated import FAMILY
from cm_tui.engine.memory.projection.turns import WaitingTurns
from cm_tui.engine.memory.projection.visibility import PURGED, UNDONE, change_of, ids_of
from cm_tui.engine.platform.journal.archive import ARCHIVED, Archive
from cm_tui.engine.platform.journal.event import ERASURE, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.store import bulk
from cm_tui.errors import StoreError
from cm_tui.model import Episode

# --- the word index: which episodes have a text within one of their words ---

PART = 8_192
"""Episodes that are searched as text, at most; then their words become rows."""
_HAVING = """
seq IN (SELECT seq FROM (
    SELECT unnest(seqs) AS seq, found FROM (SELECT seqs, {in_word} AS found FROM episode_word) WHERE found <> 0
    UNION ALL SELECT seq, found FROM (SELECT seq, {in_words} AS found FROM episode_text) WHERE found <> 0{in_episode}
) GROUP BY seq HAVING bit_or(found) = {every})
"""
_IN_EPISODE = """
    UNION ALL SELECT seq, found FROM (SELECT seq, {} AS found FROM episode) WHERE found <> 0"""
_AT_ONCE = 32
"""Texts that are looked for in one pass over all words, a bit each."""
_WORDS = (
    "INSERT INTO episode_word SELECT word, list(seq) FROM "
    "(SELECT seq, unnest(string_split(words, chr(10))) AS word FROM episode_text) WHERE word <> '' GROUP BY word"
)


def add(tables: EpisodeTables, texts: Mapping[int, str]) -> None:
    """Add the words of new episodes, a line each, by their numbers; the caller writes."""
    bulk.insert(tables, "episode_text", {"seq": list(texts), "words": list(texts.values())})
    if tables.row("SELECT count(*) FROM episode_text")[0] >= PART:
        tables.cursor.execute(_WORDS)
        tables.cursor.execute("DELETE FROM episode_text")


def having(texts: Mapping[str, str | None]) -> tuple[str, list[str]]:
    """Return the condition, and its values, that an episode has all of some texts, each within one of its words.

    `texts`: in lower case and without blanks; each with the commit that counts as well.
    """
    pieces = [dict(list(texts.items())[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
    conditions, values = list[str](), list[str]()
    for piece in pieces:
        of_words = [f"(contains({{0}}, ?)::BIGINT << {bit})" for bit in range(len(piece))]
        in_words = " + ".join(of_words)
        # Ids are no words of their own: they would be as many as all others.
        ids = [(of_words[bit].format("id"), text) for bit, text in enumerate(piece) if HEXADECIMAL.fullmatch(text)]
        commits = [(f"((sha = ?)::BIGINT << {bit})", sha) for bit, sha in enumerate(piece.values()) if sha]
        in_episode = " | ".join(sql for sql, _ in (*ids, *commits))
        conditions.append(
            _HAVING.format(
                in_word=in_words.format("word"), in_words=in_words.format("words"),
                in_episode=_IN_EPISODE.format(in_episode) if in_episode else "", every=(1 << len(piece)) - 1,
            )
        )  # fmt: skip
        values += [*piece, *piece, *(value for _, value in (*ids, *commits))]
    return " AND ".join(conditions), values


def remove(tables: EpisodeTables, numbers: Collection[int]) -> None:
    """Remove all words of episodes; the caller writes."""
    gone = [list(numbers)]
    tables.cursor.execute("DELETE FROM episode_text WHERE seq IN (SELECT unnest(?::INTEGER[]))", gone)
    left = "list_filter(seqs, lambda seq: NOT list_contains($1::INTEGER[], seq))"
    tables.cursor.execute(f"UPDATE episode_word SET seqs = {left} WHERE list_has_any(seqs, $1::INTEGER[])", gone)  # noqa: S608 - our own columns
    tables.cursor.execute("DELETE FROM episode_word WHERE len(seqs) = 0")


# --- edits of episodes in a batch of events, gathered before they are written into the tables ---

_EVENTS, _EPISODES = 20_000, 2_048
"""Most events, and most episodes, that are written at once."""


class NewEpisode(NamedTuple):
    """A new episode, without its patch and steps, which are not kept in memory."""

    episode: Episode
    origin: str
    at: Position
    """End of its event in the journal."""
    size: int

    @classmethod
    def of(cls, event: Event, at: Position, size: int) -> Self:
        """Return the recorded episode of an event."""
        return cls(read_episode(event, patch=False), origin_of(event), at, size)


@dataclass
class EventBatch:
    """The edits in some events, before they are written."""

    episodes: dict[str, NewEpisode] = field(default_factory=dict)
    edits: list[tuple[Any, ...]] = field(default_factory=list)
    changes: list[tuple[Any, ...]] = field(default_factory=list)
    undone: list[tuple[str, int]] = field(default_factory=list)
    narrated: list[tuple[Any, ...]] = field(default_factory=list)
    """Events about proposals of the narrator."""
    erased: set[str] = field(default_factory=set)
    moved: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    """Files of the archive, and ids of what moved there."""
    touched: set[str] = field(default_factory=set)
    """Ids of edited episodes."""
    events: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it should be written before reading on."""
        return self.events >= _EVENTS or len(self.episodes) >= _EPISODES

    def take_in(self, event: Event, at: Position, events: int) -> int:
        """Add an event; return how many numbers it takes: only relevant events are numbered.

        `event`: the next one of the journal; `events`: the number of the last counted event.
        """
        self.events += 1
        number = events + 1
        name = storable(change_of(event))
        if event.kind == episode_record.KIND:
            begin = at.offset if at.segment == event.position.segment else 0
            self.episodes.setdefault(storable(event.id), NewEpisode.of(event, at, event.position.offset - begin))
        elif event.kind in (ERASURE, PURGED):
            self.erased |= {storable(one) for one in ids_of(event)}
        elif event.kind == ARCHIVED and isinstance(event.data.get("file"), int):
            self.moved.append((event.data["file"], frozenset(map(storable, ids_of(event)))))
        said = changes.edit_of(event)
        if said is not None:
            ids = {storable(one) for one in changes.named_by(event)}
            self.touched |= ids
            text = json.dumps(said.edit)
            own = storable(event.id) if event.kind == UNDONE else name
            self.edits += [(number, own, one, text, said.actor, False) for one in sorted(ids)]
        if event.kind == UNDONE:
            self.undone.append((name, number))
        if changes.is_undoable(event):
            place = (event.position.segment, at.offset if at.segment == event.position.segment else 0)
            self.changes.append((number, name, event.kind, changes.actor_of(event), *place, False))
        is_narrated = event.kind.startswith(FAMILY)
        if is_narrated:
            data = json.dumps(event.data)
            self.narrated.append((number, storable(event.id), name, storable(event.kind), event.time, data, False))
        return int(said is not None or changes.is_undoable(event) or is_narrated)


# --- updating the tables of episodes from the journal ---

_log = logging.getLogger(__name__)
_KEPT = 2
"""After so many writes, the store's cached blocks of them are released."""
_TABLES = (
    "episode", "episode_shown", "episode_file", "episode_tool", "episode_tag", "episode_text", "episode_word",
    "episode_edit", "change", "narrator_event", "episode_position",
    # Derived from these: a full reading recreates them too.
    "narrator_turn", "narrator_fact", "narrator_seen", "narrator_group", "narrator_touched", "narrator_position",
    "narrator_vector", "narrator_near", "narrator_phrasing",
)  # fmt: skip
_EDIT_COLUMNS = ("event", "change", "episode", "edit", "actor", "undone")
_CHANGE_COLUMNS = ("event", "change", "kind", "actor", "segment", "place", "undone")
_NARRATED_COLUMNS = ("event", "id", "change", "kind", "time", "data", "undone")
_STANDING = {
    "seq": "INTEGER", "pinned": "BOOLEAN", "rating": "INTEGER", "guarded": "BOOLEAN", "settled": "BOOLEAN",
    "evidence": "BOOLEAN", "state": "VARCHAR", "tags": "VARCHAR",
}  # fmt: skip


class EpisodeIndex:
    """Reads one journal into the tables of a store.

    `begin`: position to read from; earlier events are skipped.
    """

    def __init__(self, tables: EpisodeTables, journal: Journal, begin: Position = START) -> None:
        self._begin = begin
        self._tables = tables
        self._journal = journal
        self._archive = Archive(journal)

    def follow(self, go_on: Callable[[], bool] = lambda: True) -> WaitingTurns:
        """Read new events; return the turns that wait for their episode.

        `go_on`: called after each event; False: stop. Raises StoreError if the journal cannot be read, or the store
        cannot be written.
        """
        with self._tables.writer:
            at, event, events, waiting = self._position()
            if self._tables.position is None:
                self._tables.position = (*at, event, events, waiting.text)
            rebuild = not self._journal.holds(at, event)
            if rebuild:
                at, event, events, waiting = START, "", 0, WaitingTurns()
            elif at == self._journal.end():
                return waiting
            batch, begun, written = EventBatch(), at, 0
            for found in self._journal.read(at):
                events += batch.take_in(found, at, events)
                waiting.follow(found, at)
                at, event = found.position, found.id
                if batch.is_full:
                    self._write(batch, (at, event, events, waiting), rebuild=rebuild)
                    batch, rebuild, begun, written = EventBatch(), False, at, written + 1
                    if written % _KEPT == 0:
                        self._tables.release_blocks()
                if not go_on():
                    break
            if at != begun or rebuild:
                self._write(batch, (at, event, events, waiting), rebuild=rebuild)
            if written:
                self._tables.settle()
            return waiting

    def read_to(self) -> Position:
        """Return how far the journal was read; its beginning where that was another one."""
        at, event, _, _ = self._position()
        return at if self._journal.holds(at, event) else self._begin

    def open_turns_since(self) -> Position:
        """Return where the first turn that may be under way began; the journal's beginning if that is not known."""
        at, event, _, waiting = self._position()
        return waiting.begin or at if self._journal.holds(at, event) else START

    def drop(self) -> None:
        """Drop everything and read the whole journal next time.

        Raises StoreError if the store cannot be written.
        """
        with self._tables.writer, self._tables.writing():
            self._clear()

    def _position(self) -> tuple[Position, str, int, WaitingTurns]:
        row = self._tables.position
        if row is None:
            rows = self._tables.rows("SELECT segment, place, event, events, waiting FROM episode_position")
            if not rows:
                return self._begin, "", 0, WaitingTurns()
            row = rows[0]
        segment, place, event, events, waiting = row
        return Position(segment, place), event, events, WaitingTurns(waiting)

    # --- writing ---

    def _write(self, batch: EventBatch, position: tuple[Position, str, int, WaitingTurns], *, rebuild: bool) -> None:
        self._tables.position = None
        at, event, events, waiting = position
        row = (at.segment, at.offset, storable(event), events, waiting.text)
        with self._tables.writing():
            if rebuild:
                self._clear()
            moved = self._moved(batch)
            self._add_episodes(batch)
            self._move(moved)
            bulk.insert(self._tables, "episode_edit", bulk.transpose(_EDIT_COLUMNS, batch.edits))
            bulk.insert(self._tables, "change", bulk.transpose(_CHANGE_COLUMNS, batch.changes))
            bulk.insert(self._tables, "narrator_event", bulk.transpose(_NARRATED_COLUMNS, batch.narrated))
            for change, number in batch.undone:
                batch.touched |= self._undo(change, number)
            if batch.erased:
                self._erase(batch.erased)
            self._settle(batch.touched)
            self._tables.cursor.execute("DELETE FROM episode_position")
            self._tables.cursor.execute("INSERT INTO episode_position VALUES (?, ?, ?, ?, ?)", list(row))
        self._tables.position = row

    def _clear(self) -> None:
        self._tables.position = None
        for table in _TABLES:
            self._tables.cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names

    def _add_episodes(self, batch: EventBatch) -> None:
        if not batch.episodes:
            return
        there = self._tables.rows("SELECT id FROM episode WHERE id IN (SELECT unnest(?))", [list(batch.episodes)])
        known = {row[0] for row in there}
        new = {id_: found for id_, found in batch.episodes.items() if id_ not in known}
        if not new:
            return
        first = self._tables.row("SELECT coalesce(max(seq), 0) + 1 FROM episode")[0]
        whole = {first + number: found.episode for number, found in enumerate(new.values())}
        rows = [
            columns_of(seq, found.episode, found.origin, found.at, found.size)
            for seq, found in zip(whole, new.values(), strict=True)
        ]
        bulk.insert(self._tables, "episode", {name: [row[name] for row in rows] for name in rows[0]})
        bulk.insert(self._tables, "episode_shown", {"seq": list(whole), "row": list(map(shown_of, whole.values()))})
        for table, column in (("episode_file", "files"), ("episode_tool", "tools"), ("episode_tag", "tags")):
            values = [
                (seq, storable(value)) for seq, one in whole.items() for value in dict.fromkeys(getattr(one, column))
            ]
            bulk.insert(self._tables, table, bulk.transpose(("seq", column[:-1].replace("file", "path")), values))
        add(self._tables, {seq: words_of(one) for seq, one in whole.items()})
        said = "SELECT DISTINCT episode FROM episode_edit WHERE episode IN (SELECT unnest(?))"
        batch.touched |= {row[0] for row in self._tables.rows(said, [list(new)])}

    def _moved(self, batch: EventBatch) -> dict[str, Position]:
        """Return the places of episodes in the archive; those not seen in the journal are added from there."""
        places: dict[str, Position] = {}
        for number, ids in batch.moved:
            try:
                for place, event in self._archive.read(number):
                    id_ = storable(event.id)
                    if id_ in ids:
                        places[id_] = Position(-number, place)
                        batch.episodes.setdefault(id_, NewEpisode.of(event, places[id_], 0))
            except StoreError as error:
                # The store's rows stay; retention reports the file.
                _log.warning("%s", error)
        batch.touched |= places.keys()
        return places

    def _move(self, places: Mapping[str, Position]) -> None:
        if not places:
            return
        rows = [(id_, at.segment, at.offset) for id_, at in places.items()]
        kinds = {"id": "VARCHAR", "segment": "INTEGER", "place": "BIGINT"}
        with bulk.given(self._tables, "moved_episodes", bulk.transpose(tuple(kinds), rows), kinds):
            self._tables.cursor.execute(
                "UPDATE episode SET segment = m.segment, place = m.place FROM moved_episodes m WHERE episode.id = m.id"
            )

    def _undo(self, change: str, number: int) -> set[str]:
        """Mark a change as undone; return its episodes."""
        sql = "SELECT DISTINCT episode FROM episode_edit WHERE change = ? AND event < ?"
        about = {row[0] for row in self._tables.rows(sql, [change, number])}
        for table in ("episode_edit", "change", "narrator_event"):
            sql = f"UPDATE {table} SET undone = true WHERE change = ? AND event < ?"  # noqa: S608 - our own names
            self._tables.cursor.execute(sql, [change, number])
        return about

    def _erase(self, ids: Collection[str]) -> None:
        names = list(ids)
        gone = [row[0] for row in self._tables.rows("SELECT seq FROM episode WHERE id IN (SELECT unnest(?))", [names])]
        self._tables.cursor.execute("DELETE FROM episode_edit WHERE episode IN (SELECT unnest(?))", [names])
        self._tables.cursor.execute("DELETE FROM change WHERE change IN (SELECT unnest(?))", [names])
        self._tables.cursor.execute("DELETE FROM narrator_event WHERE id IN (SELECT unnest(?))", [names])
        if not gone:
            return
        for table in ("episode", "episode_shown", "episode_file", "episode_tool", "episode_tag"):
            sql = f"DELETE FROM {table} WHERE seq IN (SELECT unnest(?::INTEGER[]))"  # noqa: S608 - our own names
            self._tables.cursor.execute(sql, [gone])
        remove(self._tables, gone)

    def _settle(self, touched: Collection[str]) -> None:
        """Update the net results of episodes from all their events."""
        if not touched:
            return
        names = list(touched)
        sql = "SELECT id, seq, own_tags, actor, segment FROM episode WHERE id IN (SELECT unnest(?))"
        found = self._tables.rows(sql, [names])
        edits = "FROM episode_edit WHERE NOT undone AND episode IN (SELECT unnest(?)) ORDER BY event"
        said: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for id_, edit, actor in self._tables.rows(f"SELECT episode, edit, actor {edits}", [names]):
            said[id_].append((edit, actor))
        rows, tags = [], []
        for id_, seq, own, actor, segment in found:
            now = changes.edited_state(json.loads(own), by_person=actor == "person", said=said.get(id_, ()))
            state = now.state(in_archive=segment <= 0)
            kept = list(dict.fromkeys(map(storable, now.tags)))
            rows.append((seq, now.pinned, now.rating, now.guarded, now.settled, now.evidence, state, json.dumps(kept)))
            tags += [(seq, tag) for tag in kept]
        self._replace(rows, tags)

    def _replace(self, rows: Sequence[tuple[Any, ...]], tags: Sequence[tuple[int, str]]) -> None:
        if not rows:
            return
        with bulk.given(self._tables, "standing", bulk.transpose(tuple(_STANDING), rows), _STANDING):
            changed = ", ".join(f"{name} = standing.{name}" for name in _STANDING if name != "seq")
            sql = f"UPDATE episode SET {changed} FROM standing WHERE episode.seq = standing.seq"  # noqa: S608 - our own names
            self._tables.cursor.execute(sql)
            self._tables.cursor.execute("DELETE FROM episode_tag WHERE seq IN (SELECT seq FROM standing)")
        bulk.insert(self._tables, "episode_tag", bulk.transpose(("seq", "tag"), tags))
