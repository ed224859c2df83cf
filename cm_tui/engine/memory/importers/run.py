"""An import: transcripts in, episodes out; and following running sessions."""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cm_tui.clock import SYSTEM, Clock
from cm_tui.counts import count
from cm_tui.engine.memory.importers.known import Counts, JournalContent, Memory
from cm_tui.engine.memory.importers.one_transcript import QUIET_SECONDS, OneTranscript
from cm_tui.engine.memory.importers.project import Found, ProjectTranscripts
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.memory.transcripts.lines import opened
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError
from cm_tui.lru import LRU
from cm_tui.model import Cancel, ImportSummary, Progress
from cm_tui.model.progress import WAIT
from cm_tui.paths import AGENT_VARIABLES

# --- an import: transcripts in, episodes out; turns that were recorded in any way are not recorded again ---

STAGE = "import"
_PAUSE_S = 0.05

_WITHOUT_NEWS = LRU[tuple[object, ...], tuple[Position, str]](10_000)
"""Transcripts that hold nothing but recorded turns, by journal and file; each with the last event of the journal then."""

_log = logging.getLogger(__name__)


class Import:
    """Imports transcripts of one project; reusable.

    `clock`: measures how often another import is looked for.
    """

    def __init__(self, project: ProjectTranscripts, clock: Clock = SYSTEM) -> None:
        self._project = project
        self._clock = clock
        self._memory = Memory(project, JournalContent(project.journal), PastGate(project.root))
        self._has_states = False

    def run(self, cancel: Cancel) -> Iterator[Progress]:
        """Import everything new; the last step carries the summary.

        Raises StoreError if the journal cannot be read or written, or another import is running. CancelledError if it
        was cancelled; finished work is kept.
        """
        began, done = time.monotonic(), Counts()
        yield Progress("find", 0, 0, "looking for sessions")
        yield from self._wait(cancel)
        with self._project.state.held():
            self._prepare()
            found = [one for one in self._project.found(cancel) if one.is_new]
            yield from self._steps(found, done, cancel)
        self._report_unreadable(done)
        for note in self._project.notes():
            done.note(note)
        done.looked_at = self._project.survey.counts()
        yield Progress(STAGE, len(found), len(found), imported=done.summary(time.monotonic() - began))

    def additions(self, found: Iterable[Found]) -> Iterator[Found]:
        """Yield the transcripts of which an import would record a turn; writes nothing, and reads up to such a turn.

        Raises StoreError if the journal cannot be read.
        """
        journal, known, is_prepared = self._project.journal, self._memory.known, False
        for one in found:
            key = (journal.folder, one.transcript, _version(one.transcript.file))
            last = _WITHOUT_NEWS.get(key)
            if not one.is_new or (last is not None and journal.holds(*last)):
                continue
            if not is_prepared:
                is_prepared = True
                self._prepare()
            done = Counts()
            try:
                is_addition = OneTranscript(self._memory, one, done, lambda: None).would_record()
            except CmError:
                raise
            except Exception as error:  # noqa: BLE001 - reported with the others
                self._project.survey.failed(one.transcript, error)
                continue
            if is_addition:
                yield one
            elif known.last is not None and not (done.waiting or done.withheld):
                _WITHOUT_NEWS.put(key, known.last)

    def _wait(self, cancel: Cancel) -> Iterator[Progress]:
        """Wait until no other import of the project goes on; reports which one that is."""
        told = ""
        for attempt in itertools.count():
            holder = self._project.state.holder()
            if not holder:
                return
            cancel.check()
            # What follows sessions holds them for a moment only.
            if attempt and holder != told:
                told = holder
                yield Progress(WAIT, 0, 0, f"{holder}; waiting for it to finish")
            self._clock.sleep(_PAUSE_S)

    def take(self, found: Sequence[Found], cancel: Cancel) -> ImportSummary:
        """Import new parts of some transcripts, for following them.

        Raises StoreError as `run`; CancelledError as `run`.
        """
        began, done = time.monotonic(), Counts()
        with self._project.state.held():
            self._prepare()
            for _ in self._steps(found, done, cancel):
                pass
        self._report_unreadable(done)
        return done.summary(time.monotonic() - began)

    def _prepare(self) -> None:
        """Read new events of the journal, and on the first call the transcripts' positions."""
        self._memory.known.refresh()
        # Pauses come and go while transcripts are followed.
        self._memory.gate = PastGate(self._project.root)
        if not self._has_states:
            self._has_states = True
            for state in self._project.state.all():
                self._memory.add_state(state)

    def _report_unreadable(self, done: Counts) -> None:
        """Report what was read again because its position is unknown."""
        unreadable = self._project.state.unreadable
        if unreadable:
            done.note(
                f"{count(len(unreadable), 'file')} in {self._project.state.folder} could not be read: those transcripts "
                "are read from their beginning, and recorded or erased turns are skipped"
            )
            unreadable.clear()

    def _steps(self, found: Sequence[Found], done: Counts, cancel: Cancel) -> Iterator[Progress]:
        for number, one in enumerate(found):
            cancel.check()
            yield self._step(number, found, done)
            try:
                for _ in OneTranscript(self._memory, one, done, cancel.check).run():
                    cancel.check()
                    yield self._step(number, found, done)
            except OSError as error:
                done.note(f"{one.transcript.name} could not be read to its end: {error.strerror or error}")
            except CmError:
                raise
            except Exception as error:  # noqa: BLE001 - reported and logged
                # A bad transcript must not block the others.
                _log.warning("importing %s", one.transcript.name, exc_info=True)
                done.note(f"{one.transcript.name} could not be read: {type(error).__name__} ({str(error)[:100]!r})")

    def _step(self, number: int, found: Sequence[Found], done: Counts) -> Progress:
        told = f"{found[number].transcript.agent}, {count(done.episodes, 'episode')} so far"
        return Progress(STAGE, number, len(found), told)


def _version(file: Path) -> tuple[int, int] | None:
    """Return inode and ctime of a file, which differ after a replacement of the same size and mtime; None: missing."""
    with suppress(OSError):
        found = file.stat()
        return found.st_ino, found.st_ctime_ns
    return None


# --- following transcripts of running sessions: additions are imported when large enough, or after a pause ---

BYTES = 100_000
LINES = 50
"""So much more of a transcript is taken at once."""
REST_SECONDS = 30.0
"""Less is taken when nothing was added for so long."""
_PIECE = 65_536


def is_wanted(root: Path) -> bool:
    """Return whether the user has imported sessions of a project: only then are new ones followed.

    Raises RefusedError if git's data cannot be opened.
    """
    return ImportState(Journal.of(root)).has_any()


class Follower:
    """Follows the transcripts of one project. Raises CmError if the project's identity cannot be found."""

    def __init__(self, root: Path) -> None:
        named, folders = ImportState(Journal.of(root)).environment()
        usual = {name: os.environ[name] for name in AGENT_VARIABLES if name in os.environ}
        self._project = ProjectTranscripts(root, (), folders, {**usual, **named})
        self._import = Import(self._project)
        self._others: set[str] = set()
        self._seen: dict[str, tuple[int, float]] = {}
        """Size and time of the transcripts that have nothing new."""

    def look(self, cancel: Cancel) -> ImportSummary | None:
        """Import what is due; None: nothing.

        Raises StoreError if the journal cannot be read or written, or another import is running; CancelledError if it
        was cancelled.
        """
        due = [found for found in self._news() if _is_due(found)]
        if not due:
            return None
        summary = self._import.take(due, cancel)
        for found in due:
            self._seen.pop(found.transcript.name, None)
        return summary

    def _news(self) -> list[Found]:
        """Return the transcripts of the project with unread parts."""
        news: list[Found] = []
        for format_, transcript in self._project.survey.transcripts():
            name, now = transcript.name, (transcript.size, transcript.stamp)
            if name in self._others or self._seen.get(name) == now:
                continue
            found = self._project.look_at(format_, transcript)
            if found is None:
                # A file without facts may get them later; one of another project stays that.
                if transcript.size > BYTES:
                    self._others.add(name)
                self._seen[name] = now
            elif found.is_new:
                news.append(found)
            else:
                self._seen[name] = now
        return news


def _is_due(found: Found) -> bool:
    transcript, state = found.transcript, found.state
    rested = time.time() - transcript.stamp
    if (transcript.size, transcript.stamp) == (state.size, state.stamp):
        # Nothing was added: a turn waits for its end.
        return rested > QUIET_SECONDS
    if transcript.size < state.size or rested > REST_SECONDS:
        return True
    return transcript.size - state.size >= BYTES or _lines_after(transcript.file, state.size) >= LINES


def _lines_after(file: Path, offset: int) -> int:
    """Return the number of lines after a place, counted up to the relevant number."""
    lines = 0
    with suppress(OSError), opened(file) as stream:
        stream.seek(offset)
        while lines < LINES and (piece := stream.read(_PIECE)):
            lines += piece.count(b"\n")
    return lines
