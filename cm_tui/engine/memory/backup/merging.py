"""Merging events of a backup into a journal and its archive; existing and erased ones are skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple, Self

from cm_tui.engine.memory.backup.reading import Record, Section
from cm_tui.engine.memory.episodes.edits import append_of_many
from cm_tui.engine.memory.projection.visibility import PURGED, ids_of
from cm_tui.engine.platform.journal.archive import ARCHIVED, Archive
from cm_tui.engine.platform.journal.cleaning import Cleaner, Raw
from cm_tui.engine.platform.journal.erasure import alone
from cm_tui.engine.platform.journal.event import ERASURE, MAX_BYTES, MOVED, RESTORED
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.found import PATTERNS_VERSION
from cm_tui.errors import StoreError
from cm_tui.state_file import reported

_BATCH = 2_000_000
"""Bytes that are written to the journal at once."""
_FILE = 4_000_000
"""Bytes of a file of the archive: one episode of it is read by reading the file."""


class ExistingIds(NamedTuple):
    """Ids in a journal and its archive, including erased ones."""

    events: set[str]
    """Ids of events, including those of turns in the archive."""
    archived: set[str]
    """Ids that are not new to the archive."""
    named: set[int]
    """Files of the archive that the journal names."""

    @classmethod
    def of(cls, journal: Journal) -> Self:
        """Read them. Raises StoreError if the journal cannot be read."""
        events, archived, named = set[str](), set[str](), set[int]()
        moved: set[str] = set()
        for event in journal.read(START):
            events.add(event.id)
            if event.kind == ARCHIVED:
                moved |= ids_of(event)
                if isinstance(event.data.get("file"), int):
                    named.add(event.data["file"])
            elif event.kind != MOVED:
                archived.add(event.id)
            if event.kind in (ERASURE, PURGED):
                archived |= ids_of(event)
                events |= ids_of(event)
        archive = Archive(journal)
        for episode, turn in (one for number in sorted(named) for one in _readable(archive, number)):
            if episode in moved:
                archived.add(episode)
                events |= {episode, *turn}
        return cls(events, archived, named)

    def takes(self, record: Record) -> bool:
        """Note a record of a backup; return whether it is new."""
        known, id_ = self.events if record.turn is None else self.archived, record.fields["id"]
        if id_ in known:
            return False
        # No event of the journal is new to the archive.
        known.add(id_)
        self.archived.add(id_)
        return True


def _readable(archive: Archive, number: int) -> Iterator[tuple[str, list[str]]]:
    """Yield ids of an archive file; unreadable ones count as missing: a backup may restore them."""
    try:
        for episode, turn in archive.whole(number):
            yield episode.id, [one.id for one in turn]
    except StoreError:
        return


class Merge(AbstractContextManager["Merge"]):
    """Adds events to one project's journal, while other restores and erasures of it are blocked.

    `section`: counts added events; `cleaner`: redacts secrets, as the file may come from elsewhere with other rules;
    `trusting`: accept the file's claim that it was redacted by the current rules.
    """

    def __init__(self, journal: Journal, section: Section, cleaner: Cleaner, *, trusting: bool = False) -> None:
        self._trusting = trusting
        self._journal = journal
        self._section = section
        self._cleaner = cleaner
        self._archive = Archive(journal)
        self._held = ExitStack()
        self._known = ExistingIds(set(), set(), set())
        self._lines: list[bytes] = []
        self._bytes = 0
        self._episodes: list[tuple[str, str, Sequence[str]]] = []
        self._episode_bytes = 0
        self._left: dict[str, int] = {}
        """Files that a killed restore left without a word of them, by the ids of their episodes."""
        self._again: dict[int, list[str]] = {}
        """Ids of existing events that the backup has, too."""

    def __enter__(self) -> Self:
        self._held.enter_context(alone(self._journal))
        self._known = ExistingIds.of(self._journal)
        for number in self._archive.files():
            if number not in self._known.named:
                self._left |= {episode: number for episode, _ in _readable(self._archive, number)}
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def all(self, records: Iterator[Record]) -> Iterator[int]:
        """Merge records; yield the number read, now and then.

        Raises CmError if something of it cannot be written.
        """
        turn: list[bytes] = []
        for done, (record, line) in enumerate(self._cleaner.clean(self._raw(records)), 1):
            if len(line) > MAX_BYTES:
                # No reader of a journal would take it for an event.
                self._section.too_long += 1
            elif record is _OF_A_TURN:
                turn.append(line)
            elif record.turn is None:
                self._add(line)
            else:
                self._add_archived(record.fields["id"], line, turn)
                turn = []
            yield done
        self._write_events()
        self._write_archive()
        self._name_what_was_left()

    def _raw(self, records: Iterator[Record]) -> Iterator[Raw]:
        for record in filter(self._known.takes, records):
            if record.turn is None:
                yield self._one(record, _harmless(record.fields))
                continue
            for one in record.turn:
                yield self._one(_OF_A_TURN, _harmless(one))
            yield self._one(record, record.fields)

    def _one(self, record: Record, fields: Mapping[str, Any]) -> Raw:
        return Raw(record, fields, self._trusting and fields.get("rules") == PATTERNS_VERSION)

    # --- the journal ---

    def _add(self, line: bytes) -> None:
        self._section.new += 1
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes >= _BATCH:
            self._write_events()

    def _write_events(self) -> None:
        if self._lines:
            self._journal.append_line(b"".join(self._lines))
        self._lines, self._bytes = [], 0

    # --- the archive ---

    def _add_archived(self, id_: str, line: bytes, turn: list[bytes]) -> None:
        self._section.new_archived += 1
        if id_ in self._left:
            self._again.setdefault(self._left[id_], []).append(id_)
            return
        texts = [one.decode("ascii").strip() for one in turn]
        self._episodes.append((id_, line.decode("ascii").strip(), texts))
        self._episode_bytes += len(line) + sum(map(len, turn))
        if self._episode_bytes >= _FILE:
            self._write_archive()

    def _write_archive(self) -> None:
        """Write a file of the archive, and then the word of it in the journal."""
        if not self._episodes:
            return
        with reported(self._archive.folder), self._journal.held():
            number = self._archive.add(self._episodes)
            append_of_many(self._journal, ARCHIVED, {"file": number}, [id_ for id_, _, _ in self._episodes])
        self._episodes, self._episode_bytes = [], 0

    def _name_what_was_left(self) -> None:
        for number, ids in self._again.items():
            with self._journal.held():
                append_of_many(self._journal, ARCHIVED, {"file": number}, ids)
        self._again = {}


_OF_A_TURN = Record({}, None)
"""Placeholder for an event of a turn, whose episode follows."""


def _harmless(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event that triggers nothing, and is not the last change here."""
    return {**event, "data": {**event["data"], RESTORED: True}}
