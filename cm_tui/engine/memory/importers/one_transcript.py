"""Import of one transcript: its new turns, and the position reached."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.memory.importers.known import (
    KINDS,
    NAMED_IN_SESSION,
    OTHERS,
    UNKNOWN,
    Counts,
    Memory,
    Seen,
    Unanswered,
    naming_session,
    origin_of,
    origin_of_turn,
)
from cm_tui.engine.memory.importers.project import Found
from cm_tui.engine.memory.importers.record import Session, record_of, shortened
from cm_tui.engine.memory.importers.state import VERSION, ReadFile, TranscriptState
from cm_tui.engine.memory.importers.unknown import data_of
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.transcripts.lines import as_text, is_recoded
from cm_tui.engine.memory.transcripts.transcript import Item, Named, Read, Resume, Skipped, parse_time
from cm_tui.engine.memory.transcripts.turn import Turn
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import UsageError

QUIET_SECONDS = 600.0
"""A turn without an end counts as ended after so long without additions."""
_BATCH = 64
_KIND = 70
"""Characters that are shown of the kind of a record that is not known."""


class OneTranscript:
    """The import of one transcript.

    `memory`: what is imported already; `done`: counts the results; `check`: raises on cancellation.
    """

    def __init__(self, memory: Memory, found: Found, done: Counts, check: Callable[[], None]) -> None:
        self._memory = memory
        self._found = found
        self._done = done
        self._state = state = found.state
        self._own = set(state.origins)
        self._resume = Resume(state.offset, state.turns, dict(state.marks), check)
        self._story = state.session or memory.story_of(found)
        self._title = found.facts.title or memory.known.titles.get(self._story, "")
        self._batch: list[tuple[EpisodeRecord, str]] = []
        self._again: list[Read] = []
        """Turns that are read again the next time."""
        self._waiting = 0
        self._unanswered = Unanswered(memory, found.transcript.agent)
        self._raw: list[tuple[Mapping[str, Any], str | None]] = []
        self._kinds: dict[str, str] = {}
        self._elsewhere = Counter[str]()
        """Turns that were held in other projects, by their folders."""

    def run(self) -> Iterator[None]:
        """Import its turns, and store the position; can stop between batches.

        Raises OSError if it was removed, or cannot be read; StoreError if the journal cannot be written.
        """
        self._done.transcripts += 1
        if self._is_recorded():
            self._keep(None)
            return
        with self._opened() as file:
            yield from self._read(file)

    def would_record(self) -> bool:
        """Return whether `run` would record a turn: reads up to the first such turn, and writes nothing.

        Raises OSError if it cannot be read.
        """
        if self._is_recorded():
            return False
        with self._opened():
            for item in self._items():
                if isinstance(item, Read):
                    self._take(item)
                    if self._batch:
                        return True
        self._done.waiting += self._waiting
        return False

    def _items(self) -> Iterator[Item]:
        found = self._found
        return found.format.read(found.transcript, found.facts, self._resume)

    def _is_recorded(self) -> bool:
        """Return whether the journal has turns of a session of which only prompts are left here."""
        found = self._found
        if not (found.transcript.session and found.transcript.is_copy):
            return False
        reads = found.format.read(found.transcript, found.facts, Resume(check=self._resume.check))
        own = {self._origin(item.turn, self._story) for item in reads if isinstance(item, Read)}
        return not self._memory.known.by_session.get(self._story, set()) <= own

    @contextmanager
    def _opened(self) -> Iterator[ReadFile | None]:
        """Hold the file open; None: it is read as a whole each time, and no place in it counts."""
        transcript = self._found.transcript
        if transcript.session or transcript.is_copy or is_recoded(transcript.file):
            yield None
            return
        with ReadFile.held(transcript.file) as file:
            if not file.is_appended(self._state):
                self._restart()
            yield file

    def _restart(self) -> None:
        state = self._state
        self._state = TranscriptState(state.name, origins=state.origins)
        self._resume = Resume(check=self._resume.check)
        self._story = self._memory.story_of(self._found)
        self._done.note(f"{state.name} was truncated or replaced: it is read from its beginning")

    def _read(self, file: ReadFile | None) -> Iterator[None]:
        transcript, began = self._found.transcript, self._resume.offset
        try:
            for item in self._items():
                if isinstance(item, Named):
                    self._title = item.title
                elif isinstance(item, Skipped):
                    self._skip(item)
                else:
                    self._take(item)
                if len(self._batch) + len(self._raw) >= _BATCH:
                    if not self._write(file):
                        break
                    yield
        finally:
            # Turns that count as imported are written, even if the rest is unreadable or the import is cancelled.
            self._write(file)
        self._done.bytes += transcript.size if file is None else max(0, self._resume.offset - began)
        self._done.waiting += self._waiting
        self._keep(file)
        for folder, number in self._elsewhere.items():
            self._done.note(
                f"{transcript.name} repeats {count(number, 'turn')} of a session in {folder}: not recorded here"
            )

    def _skip(self, item: Skipped) -> None:
        if item.at >= self._state.counted:
            kind = self._kind_of(item)
            self._done.skip(f"{self._found.transcript.agent}: {kind}", broken=item.is_broken)
            folder = as_text(item.record.get("cwd")) or self._found.facts.folder
            if item.record and not self._why_not((item.time, item.time), folder):
                self._keep_raw(item)

    def _keep_raw(self, item: Skipped) -> None:
        """Store an unknown record, unless it is stored already: copies of sessions repeat them."""
        origin, data = data_of(item, self._found.transcript, self._found.facts.session, self._state)
        if not data:
            self._done.note(
                f"{self._found.transcript.name} has more records of unknown kinds than are kept; all are counted"
            )
        elif not self._memory.is_imported(origin):
            self._remember(origin)
            self._raw.append((data, None))

    def _kind_of(self, item: Skipped) -> str:
        """Return the kind to count a record as; unknown kinds are merged, as they may contain secrets and vary."""
        if item.kind not in self._kinds:
            if len(self._kinds) >= KINDS:
                return OTHERS
            self._kinds[item.kind] = redact(item.kind, _KIND).text
        return self._kinds[item.kind]

    # --- one turn ---

    def _take(self, item: Read) -> None:
        """Import a new turn; one that may continue, or be answered, is read again the next time."""
        turn, is_over = item.turn, not item.is_last or self._is_over(item.turn)
        if turn.is_empty and not turn.is_asked:
            # Commands of the agent's program itself: they are combined with the next prompt.
            self._again += [item] * item.is_last
        elif not is_over and self._turn_state(turn) != "recorded":
            self._wait_for(item)
        elif not self._is_elsewhere(turn):
            # A prompt without an answer is recorded, and read again: it may be answered after all. So is a turn of
            # which a hook reported the end, and the transcript does not.
            self._again += [item] * (item.is_last and (turn.is_empty or not is_over))
            self._take_ended(item)

    def _wait_for(self, item: Read) -> None:
        self._again.append(item)
        self._waiting += 1

    def _take_ended(self, item: Read) -> None:
        turn = item.turn
        session, parent = self._sessions_of(item)
        origin, asked = self._origin(turn, session), self._unanswered.origins(turn, session)
        if turn.is_empty:
            if self._unanswered.is_answered(turn, session, origin):
                return
            origin = asked[-1]
        elif asked and turn.asked_key and (mark := self._unanswered.mark(turn, session)) not in self._own:
            self._remember(mark)
        self._unanswered.replace(turn, session, asked, origin)
        earlier = self._memory.known.sessions.get(origin)
        if earlier is not None and not parent:
            # A repetition was imported from elsewhere: the rest continues that session.
            self._story = earlier
        if earlier is not None:
            # Also after an import that was killed before it stored the position.
            self._memory.reach(earlier, self._memory.known.numbers.get(origin, 0))
        is_erased = bool(asked) and not turn.prompts
        if earlier is not None or is_erased or self._memory.has_imported(origin) or self._is_of_parent(turn, parent):
            self._pass_by(origin)
            return
        seen = "" if parent else self._turn_state(turn)
        if seen == "waiting" and time.time() - (turn.ended or self._found.transcript.stamp) < QUIET_SECONDS:
            # The daemon is about to record it, with its patch.
            self._wait_for(item)
        elif seen in {"recorded", "erased"}:
            self._memory.numbers[session] = self._memory.numbers.get(session, 0) + 1
            self._pass_by(origin)
        elif self._why_not((turn.began, turn.ended), turn.folder or self._found.facts.folder):
            self._done.withheld += 1
        else:
            self._record(turn, session, parent, origin, self._unanswered.number_of(asked))

    def _is_elsewhere(self, turn: Turn) -> bool:
        """Return whether a fork repeats a turn of another project's session, and count it."""
        if turn.held is None or self._memory.project.holds(turn.held):
            return False
        self._elsewhere[turn.held.folder] += 1
        if self._found.facts.continues not in self._memory.stories:
            # The session that it continues is not of this project.
            self._story = self._found.facts.session
        return True

    def _why_not(self, times: tuple[float | None, float | None], folder: str) -> str:
        """Return why a turn or a record may not be recorded; empty: it may."""
        if times[0] is None:
            # Some time of the session: where its beginning is not known either, any time up to its last change.
            times = (self._found.facts.began or 0.0, self._found.transcript.stamp)
        gate = self._memory.gate
        return next((why for one in self._names() if (why := gate.why_not(one, times, folder=folder))), "")

    def _names(self) -> list[str]:
        """Return the names of a session: its own, that of the continued one, and its parent's."""
        facts, stories = self._found.facts, self._memory.stories
        names = (facts.session, self._story, facts.parent, stories.get(facts.parent, ""))
        return [name for name in dict.fromkeys(names) if name]

    def _is_over(self, turn: Turn) -> bool:
        return (turn.is_over and not turn.is_empty) or time.time() - self._found.transcript.stamp > QUIET_SECONDS

    def _sessions_of(self, item: Read) -> tuple[str, str]:
        """Return the session of a turn, and its parent."""
        if item.session:
            return item.session, self._story
        parent = self._found.facts.parent
        return self._story, self._memory.stories.get(parent, parent) if parent else ""

    def _origin(self, turn: Turn, session: str) -> str:
        agent = self._found.transcript.agent
        if turn.earlier_key:
            earlier = origin_of(agent, naming_session(agent, session), turn.earlier_key)
            if self._memory.is_imported(earlier):
                return earlier
        return origin_of_turn(agent, session, turn)

    def _is_of_parent(self, turn: Turn, parent: str) -> bool:
        """Return whether a sub-agent's transcript begins with its parent's prompt."""
        is_named = bool(parent) and self._found.transcript.agent in NAMED_IN_SESSION
        return is_named and self._memory.is_imported(self._origin(turn, parent))

    def _turn_state(self, turn: Turn) -> Seen:
        if not turn.prompts:
            return ""
        return self._memory.known.recorded_turn(self._found.facts.session, turn.prompts[0].text, turn.began)

    def _pass_by(self, origin: str) -> None:
        if origin not in self._own:
            self._remember(origin)
            self._done.known += 1

    def _remember(self, origin: str) -> None:
        self._memory.taken.add(origin)
        self._own.add(origin)
        self._state.origins.append(origin)

    def _record(self, turn: Turn, session: str, parent: str, origin: str, number: int) -> None:
        """Record a turn; one that replaces another has its number."""
        memory, place = self._memory, self._found.place
        number = number or memory.numbers.get(session, 0) + 1
        memory.reach(session, number)
        root = memory.project.root if place.was_moved else place.root
        transcript = self._found.transcript
        time_of_session = self._found.facts.began or parse_time(transcript.stamp)
        facts = Session(transcript.agent, session, parent, self._title, place.root, root, time_of_session)
        never, heads = memory.gate.never, memory.heads(root)
        self._batch.append(record_of(turn, facts, origin=origin, number=number, heads=heads, never=never))
        self._remember(origin)
        memory.known.sessions[origin] = session

    # --- writing ---

    def _write(self, file: ReadFile | None) -> bool:
        """Append the batch to the journal, shortening records that are too long.

        Discards the batch and returns False if the file was replaced or rewritten since it was opened: a line could
        begin in the old file and end in the new one.
        """
        batch, self._batch = self._batch, []
        raw, self._raw = self._raw, []
        if file is not None and not file.is_unchanged():
            self._discard(batch, raw)
            return False
        try:
            kept = self._append(UNKNOWN, raw)
            try:
                events = self._append(episode_record.KIND, _data(batch))
            except UsageError:
                events = self._append(episode_record.KIND, _data(self._fitting(batch)))
        except BaseException:
            # The next import takes them.
            for origin in _origins(batch, raw):
                self._memory.forget(origin)
            raise
        self._done.kept += len(kept)
        self._unanswered.hide(events)
        self._done.episodes += len(events)
        self._done.unanswered += sum(event.data.get("outcome") == "unanswered" for event in events)
        self._done.sessions.update(record.session for record, _ in batch)
        self._done.redacted += sum(int(event.data.get("redacted", 0)) for event in events)
        return True

    def _append(self, kind: str, rows: list[tuple[Mapping[str, Any], str | None]]) -> list[Event]:
        events = self._memory.project.journal.append_all(kind, rows) if rows else []
        if events:
            self._memory.written = (events[-1].position, events[-1].id)
        return events

    def _discard(self, batch: list[tuple[EpisodeRecord, str]], raw: list[tuple[Mapping[str, Any], str | None]]) -> None:
        """Undo the state changes of a batch, so that the next import reads its turns and records again."""
        gone = _origins(batch, raw)
        for origin in gone:
            self._memory.forget(origin)
        for record, _ in reversed(batch):
            self._memory.numbers[record.session] = record.turn - 1
        self._state.origins = [origin for origin in self._state.origins if origin not in gone]

    def _keep(self, file: ReadFile | None) -> None:
        """Store the position: up to the first turn that has to be read again."""
        state, memory, found = self._state, self._memory, self._found
        first = min(self._again, key=lambda item: item.start, default=None)
        state.offset = self._resume.offset if first is None else first.start
        state.turns = self._resume.turns if first is None else first.number
        state.counted = max(state.counted, self._resume.offset)
        state.waits, state.version = self._waiting > 0, VERSION
        state.marks, state.leaf = self._resume.marks, str(self._resume.marks.get("last", ""))
        state.session, state.own = self._story, found.facts.session
        state.recorded = memory.numbers.get(self._story, 0)
        state.size, state.stamp = found.transcript.size, found.transcript.stamp
        if file is None:
            state.offset, state.turns, state.marks = 0, 0, {}
        elif not file.keep(state):
            self._done.note(f"{state.name} was replaced while it was read: it is read again the next time")
        memory.add_state(state)
        memory.project.state.save(state, memory.written or memory.known.last)

    def _fitting(self, batch: list[tuple[EpisodeRecord, str]]) -> Iterator[tuple[EpisodeRecord, str]]:
        """Yield records that fit into the journal: long ones shortened, without those that are still too long."""
        for record, head in batch:
            short = shortened(record)
            if short is not None:
                yield short, head
                continue
            transcript = self._found.transcript
            self._done.skip(f"{transcript.agent}: turn too long for the journal", broken=True)
            self._done.note(f"{transcript.name}: a turn is too long for the journal even when it is shortened")


def _data(batch: Iterable[tuple[EpisodeRecord, str]]) -> list[tuple[Mapping[str, Any], str | None]]:
    return [(record.to_event_data(), head or None) for record, head in batch]


def _origins(
    batch: Iterable[tuple[EpisodeRecord, str]], raw: Iterable[tuple[Mapping[str, Any], str | None]]
) -> set[str]:
    return {record.origin for record, _ in batch} | {str(data["origin"]) for data, _ in raw}
