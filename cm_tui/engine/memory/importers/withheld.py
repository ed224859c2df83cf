"""Transcripts that are not copied: those that must not be recorded, and those with an erased turn, whose copies go."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cm_tui.config import load_config
from cm_tui.engine.memory.importers.known import JournalContent, naming_session, origin_of, origin_of_turn
from cm_tui.engine.memory.importers.project import formats_of
from cm_tui.engine.memory.importers.project_folders import left_of
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.recording.gate import PAUSED, PastGate
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.claude_prompts import PROMPTS
from cm_tui.engine.memory.transcripts.files import UNKNOWN, FoundFile
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import is_packed
from cm_tui.engine.memory.transcripts.transcript import Read, Resume, Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.git.markers import marked_around
from cm_tui.engine.platform.journal.event import ERASED
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, ConfigError, StoreError

OFF = "recording of the project is off"
UNREADABLE = "the settings of the project cannot be read"
ERASED_HERE = "one of its turns was erased"
NOT_KNOWN = "its folder is unknown, and some folders are never recorded"
_DAY = 86_400.0
_MARK = f'"kind":"{ERASED}"'.encode()
"""In a line of a journal that was erased."""
_PIECE = 1_000_000


@dataclass(frozen=True, slots=True)
class _Project:
    """Data on the project of a session."""

    gate: PastGate
    why: str = ""
    """Why nothing of it is copied."""
    state: ImportState | None = None
    known: JournalContent | None = None
    """Its journal, if something was erased from it."""
    erased: frozenset[str] = frozenset()
    """Sessions with an erased imported turn."""


def was_erased(session: str) -> bool:
    """Return whether something of a session was erased: its transcripts are then marked by its name."""
    return copies.mark_of("erased", session).exists()


class Withheld:
    """Returns why transcripts are not copied; data on projects is read once."""

    def __init__(self) -> None:
        self._project_of = cache(self._find)
        self._by_journal: dict[Path, _Project] = {}

    def never(self) -> tuple[str, ...]:
        """Return the patterns of folders that are never recorded.

        Raises ConfigError if they cannot be read; StoreError if the pauses cannot be read.
        """
        return self._project_of("").gate.never

    def why(self, format_: Format, transcript: Transcript, facts: SessionFacts) -> str:
        """Return why a transcript is not copied; empty where it may be.

        Raises OSError if it cannot be read; ConfigError as `never`; StoreError as `never`, or a journal cannot be read.
        """
        if facts.folder.startswith(UNKNOWN) and self.never():
            return NOT_KNOWN
        project = self._project_of(facts.folder)
        story = project.state.load(transcript.name).session if project.state else ""
        names = {facts.session, facts.parent, story} - {""}
        if not project.erased.isdisjoint(names) or any(map(was_erased, names)):
            return ERASED_HERE
        # A pause during the session: its turns have to be checked.
        times = (facts.began or 0.0, transcript.stamp + _DAY)
        reasons = {project.gate.why_not(name, times, folder=facts.folder) for name in names} - {""}
        if project.why or reasons - {PAUSED}:
            return project.why or min(reasons - {PAUSED})
        if not (reasons or project.known or (project.gate.never and is_packed(transcript.file))):
            return ""
        for item in format_.read(transcript, facts, Resume()):
            if isinstance(item, Read) and (why := _why_turn(project, item, facts, names, transcript.stamp)):
                return why
        return ""

    def why_prompt(self, session: str, folder: str, prompt: str, time: float | None) -> str:
        """Return why a prompt of a session without a transcript is not copied; empty: it is.

        Raises ConfigError as `never`; StoreError as `never`, or a journal cannot be read.
        """
        project = self._project_of(folder)
        is_known = project.known is not None and project.known.recorded_turn(session, prompt, time) == "erased"
        if is_known or session in project.erased or was_erased(session):
            return ERASED_HERE
        return project.why or project.gate.why_not(session, (time,), folder=folder)

    def _find(self, folder: str) -> _Project:
        try:
            left = left_of(folder) if folder else None
            root = marked_around(left) if left is not None else None
            journal = Journal.of(root) if root is not None else None
        except (CmError, OSError, ValueError):
            # What cannot be opened is not a project.
            root = journal = None
        if root is None or journal is None:
            # Any pause counts where it is not known whose session it is.
            return self._by_journal.setdefault(Path(), _Project(PastGate(None)))
        if journal.folder not in self._by_journal:
            self._by_journal[journal.folder] = _project_at(root, journal)
        return self._by_journal[journal.folder]


def _project_at(root: Path, journal: Journal) -> _Project:
    try:
        why = "" if load_config(root).agents.record else OFF
    except ConfigError:
        why = UNREADABLE
    gate, state = PastGate(root), ImportState(journal)
    if not _has_erased(journal):
        return _Project(gate, why, state)
    known = JournalContent(journal)
    known.refresh()
    return _Project(gate, why, state, known, frozenset(_erased_sessions(state, known)))


def _has_erased(journal: Journal) -> bool:
    """Return whether anything was erased from a journal, without reading its events."""
    for segment in journal.segments():
        with journal.file(segment).open("rb") as file:
            before = b""
            while piece := file.read(_PIECE):
                if _MARK in before + piece:
                    return True
                before = piece[-len(_MARK) :]
    return False


def _erased_sessions(state: ImportState, known: JournalContent) -> Iterator[str]:
    for one in state.all():
        if not known.erased.isdisjoint(one.origins):
            yield from {one.session, one.own} - {""}


def _why_turn(project: _Project, item: Read, facts: SessionFacts, names: set[str], stamp: float) -> str:
    turn, known = item.turn, project.known
    if known is not None and is_erased(known, item, facts, names):
        return ERASED_HERE
    times = (turn.began, turn.ended) if turn.began is not None else (facts.began or 0.0, stamp)
    folder = turn.folder or facts.folder
    reasons = (project.gate.why_not(name, times, folder=folder) for name in (*names, item.session))
    return next(filter(None, reasons), "")


def is_erased(
    known: JournalContent, item: Read, facts: SessionFacts, names: set[str], also: frozenset[str] = frozenset()
) -> bool:
    """Return whether a turn was erased from a journal.

    `item`: the turn, as a transcript has it; `names`: of the session that its turns may be of; `also`: digests of other
    turns that count as erased.
    """
    if any(origin in also or origin in known.erased for origin in _origins(item, facts, names)):
        return True
    prompts = item.turn.prompts
    return bool(prompts) and known.recorded_turn(facts.session, prompts[0].text, item.turn.began) == "erased"


def _origins(item: Read, facts: SessionFacts, names: set[str]) -> Iterator[str]:
    """Yield the digests of a turn: an import may name it by the continuing session."""
    agent, turn = facts.agent, item.turn
    sessions = {item.session} if item.session else {*names, facts.continues}
    for name in {naming_session(agent, one) for one in sessions}:
        yield origin_of_turn(agent, name, turn)
        if turn.earlier_key:
            yield origin_of(agent, name, turn.earlier_key)


# --- erasing copies of transcripts: a copy with an erased turn is deleted as a whole ---


def remove_copies(
    journal: Journal, sessions: Collection[str], origins: Collection[str], *, interrupted: bool = False
) -> int:
    """Remove the copies of transcripts with turns erased from a journal, and mark these transcripts.

    All copies are checked: another session, even of another project, may repeat a turn. `journal`: of the project; it
    already lists the erased events. `origins`: digests of erased imported turns. `interrupted`: an earlier erasure was
    interrupted before this step: only the journal knows what it erased. Returns how many copies were removed. Raises
    StoreError if one cannot be removed, or the journal cannot be read.
    """
    try:
        with copies.changing():
            # A concurrent rescue must see the same erasures.
            copies.note_erasure()
            removal = _Removal(journal, frozenset(sessions) - {""}, frozenset(origins) - {""})
            return sum(1 for _ in removal.run(interrupted=interrupted))
    except OSError as error:
        raise StoreError(
            f"A copy below {copies.folder()} cannot be removed: {error}", hint="Check its permissions, and erase again."
        ) from error


class _Removal:
    def __init__(self, journal: Journal, sessions: frozenset[str], origins: frozenset[str]) -> None:
        self._journal = journal
        self._sessions = sessions
        self._origins = origins
        self._state = ImportState(journal)

    @cached_property
    def _known(self) -> JournalContent:
        """The journal's data, which takes a while to read."""
        known = JournalContent(self._journal)
        known.refresh()
        return known

    def run(self, *, interrupted: bool) -> Iterator[None]:
        """Mark and remove; yields for each copy that was removed."""
        for session in self._sessions:
            copies.write_mark("erased", session)
        for state in self._state.all():
            if any(one in self._origins or (interrupted and one in self._known.erased) for one in state.origins):
                copies.write_mark("erased", state.name)
        for format_ in formats_of((), os.environ):
            for found in copies.all_copies(format_.agent):
                transcript = _transcript_of(format_, found)
                marked = copies.mark_of("erased", transcript.name).exists()
                if marked or self._holds_erased(format_, transcript):
                    copies.write_mark("erased", transcript.name)
                    found.path.unlink(missing_ok=True)
                    yield

    def _holds_erased(self, format_: Format, transcript: Transcript) -> bool:
        try:
            facts = format_.facts(transcript)
            if facts is None:
                return False
            names = {facts.session, facts.parent, self._state.load(transcript.name).session} - {""}
            if not self._sessions.isdisjoint(names):
                return True
            return any(
                isinstance(item, Read) and is_erased(self._known, item, facts, names, self._origins)
                for item in format_.read(transcript, facts, Resume())
            )
        except OSError:
            # An unreadable one may contain it.
            return True


def _transcript_of(format_: Format, found: FoundFile) -> Transcript:
    original = copies.original_of(format_.agent, found.path)
    name, session = str(original), ""
    if original.parent.name == PROMPTS:
        session = original.name.partition(".")[0]
        name = f"{original.parent}#{session}"
    return Transcript(format_.agent, name, found.path, found.size, found.changed, session, is_copy=True)
