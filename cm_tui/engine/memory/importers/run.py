"""An import: transcripts in, episodes out; turns that were recorded in any way are not recorded again."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cm_tui.clock import SYSTEM, Clock
from cm_tui.counts import count
from cm_tui.engine.memory.importers.counts import Counts
from cm_tui.engine.memory.importers.known import JournalContent
from cm_tui.engine.memory.importers.memory import Memory
from cm_tui.engine.memory.importers.one_transcript import OneTranscript
from cm_tui.engine.memory.importers.project import Found, ProjectTranscripts
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.platform.journal.event import Position
from cm_tui.errors import CmError
from cm_tui.lru import LRU
from cm_tui.model import Cancel, ImportSummary, Progress
from cm_tui.model.progress import WAIT

STAGE = "import"
_PAUSE_S = 0.05

_WITHOUT_NEWS = LRU[tuple[Path, str, int, float], tuple[Position, str]](10_000)
"""Transcripts that hold nothing but recorded turns, by journal and file; each with the last event of the journal then."""

_log = logging.getLogger(__name__)


class Import:
    """Imports transcripts of one project; reusable.

    `clock`: measures how often another import is looked for.
    """

    def __init__(self, project: ProjectTranscripts, clock: Clock = SYSTEM) -> None:
        self._project = project
        self._clock = clock
        self._memory = Memory(
            project.root,
            project.journal,
            project.state,
            JournalContent(project.journal),
            PastGate(project.root),
            project.holds,
        )
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
            key = (journal.folder, one.transcript.name, one.transcript.size, one.transcript.stamp)
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
