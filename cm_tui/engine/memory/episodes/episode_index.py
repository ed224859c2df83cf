"""Updating the tables of episodes from the journal: each event is read once, another journal from its beginning."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from cm_tui.engine.memory.episodes import changes, word_index
from cm_tui.engine.memory.episodes.episode_rows import columns_of, shown_of, storable, words_of
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.episodes.event_batch import EventBatch, NewEpisode
from cm_tui.engine.memory.projection.waiting_turns import WaitingTurns
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import StoreError

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
            if self._tables.position is None and at != self._begin:
                self._tables.position = (*at, event, events, waiting.text)
            rebuild = not self._journal.holds(at, event)
            if rebuild:
                at, event, events, waiting = START, "", 0, WaitingTurns()
            elif at == self._journal.end():
                return waiting
            batch, begun, written = EventBatch(), at, 0
            for found in self._journal.read(at):
                events += batch.take_in(found, at, events)
                waiting.follow(found)
                at, event = found.position, found.id
                if batch.is_full:
                    self._write(batch, (at, event, events, waiting), rebuild=rebuild)
                    batch, rebuild, begun, written = EventBatch(), False, at, written + 1
                    if written % _KEPT == 0:
                        self._tables.let_go_of_blocks()
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

    def read_again(self) -> None:
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
            self._tables.insert("episode_edit", _columns(_EDIT_COLUMNS, batch.edits))
            self._tables.insert("change", _columns(_CHANGE_COLUMNS, batch.changes))
            self._tables.insert("narrator_event", _columns(_NARRATED_COLUMNS, batch.narrated))
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
        known = {
            row[0]
            for row in self._tables.rows(
                "SELECT id FROM episode WHERE id IN (SELECT unnest(?))", [list(batch.episodes)]
            )
        }
        new = {id_: found for id_, found in batch.episodes.items() if id_ not in known}
        if not new:
            return
        first = self._tables.row("SELECT coalesce(max(seq), 0) + 1 FROM episode")[0]
        whole = {first + number: found.episode for number, found in enumerate(new.values())}
        rows = [
            columns_of(seq, found.episode, found.origin, found.at, found.size)
            for seq, found in zip(whole, new.values(), strict=True)
        ]
        self._tables.insert("episode", {name: [row[name] for row in rows] for name in rows[0]})
        self._tables.insert("episode_shown", {"seq": list(whole), "row": list(map(shown_of, whole.values()))})
        for table, column in (("episode_file", "files"), ("episode_tool", "tools"), ("episode_tag", "tags")):
            values = [
                (seq, storable(value)) for seq, one in whole.items() for value in dict.fromkeys(getattr(one, column))
            ]
            self._tables.insert(table, _columns(("seq", column[:-1].replace("file", "path")), values))
        word_index.add(self._tables, {seq: words_of(one) for seq, one in whole.items()})
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
        with self._tables.given("moved_episodes", _columns(tuple(kinds), rows), kinds):
            self._tables.cursor.execute(
                "UPDATE episode SET segment = m.segment, place = m.place FROM moved_episodes m WHERE episode.id = m.id"
            )

    def _undo(self, change: str, number: int) -> set[str]:
        """Mark a change as undone; return its episodes."""
        sql = "SELECT DISTINCT episode FROM episode_edit WHERE change = ? AND event < ?"
        about = {row[0] for row in self._tables.rows(sql, [change, number])}
        for table in ("episode_edit", "change", "narrator_event"):
            self._tables.cursor.execute(
                f"UPDATE {table} SET undone = true WHERE change = ? AND event < ?",  # noqa: S608 - our own names
                [change, number],
            )
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
        word_index.remove(self._tables, gone)

    def _settle(self, touched: Collection[str]) -> None:
        """Update the net results of episodes from all their events."""
        if not touched:
            return
        names = list(touched)
        found = self._tables.rows(
            "SELECT id, seq, own_tags, actor, segment FROM episode WHERE id IN (SELECT unnest(?))", [names]
        )
        said: dict[str, list[tuple[str, str]]] = {}
        for id_, edit, actor in self._tables.rows(
            "SELECT episode, edit, actor FROM episode_edit WHERE NOT undone AND episode IN (SELECT unnest(?)) "
            "ORDER BY event",
            [names],
        ):
            said.setdefault(id_, []).append((edit, actor))
        rows, tags = [], []
        for id_, seq, own, actor, segment in found:
            now = changes.standing(json.loads(own), by_person=actor == "person", said=said.get(id_, ()))
            state = now.state(in_archive=segment <= 0)
            kept = list(dict.fromkeys(map(storable, now.tags)))
            rows.append((seq, now.pinned, now.rating, now.guarded, now.settled, now.evidence, state, json.dumps(kept)))
            tags += [(seq, tag) for tag in kept]
        self._replace(rows, tags)

    def _replace(self, rows: Sequence[tuple[Any, ...]], tags: Sequence[tuple[int, str]]) -> None:
        if not rows:
            return
        with self._tables.given("standing", _columns(tuple(_STANDING), rows), _STANDING):
            changed = ", ".join(f"{name} = standing.{name}" for name in _STANDING if name != "seq")
            sql = f"UPDATE episode SET {changed} FROM standing WHERE episode.seq = standing.seq"  # noqa: S608 - our own names
            self._tables.cursor.execute(sql)
            self._tables.cursor.execute("DELETE FROM episode_tag WHERE seq IN (SELECT seq FROM standing)")
        self._tables.insert("episode_tag", _columns(("seq", "tag"), tags))


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    columns = list(zip(*rows, strict=True))
    return dict(zip(names, columns, strict=True)) if columns else {}
