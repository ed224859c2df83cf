"""One project's transcripts: list, facts, and positions."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cm_tui.counts import count
from cm_tui.engine.memory.importers.project_folders import Place, ProjectFolders
from cm_tui.engine.memory.importers.state import VERSION, ImportState, ReadFile, TranscriptState
from cm_tui.engine.memory.transcripts.claude_code import ClaudeCode
from cm_tui.engine.memory.transcripts.codex import Codex
from cm_tui.engine.memory.transcripts.copilot import Copilot
from cm_tui.engine.memory.transcripts.cursor import Cursor
from cm_tui.engine.memory.transcripts.format import FolderFormat, Format
from cm_tui.engine.memory.transcripts.gemini import Gemini
from cm_tui.engine.memory.transcripts.lines import as_text, opened_text, read_lines
from cm_tui.engine.memory.transcripts.opencode import OpenCode
from cm_tui.engine.memory.transcripts.transcript import Read, Resume, Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, UsageError
from cm_tui.model import Cancel, TranscriptCounts

# --- a look at the transcripts on this machine: their sessions, and those that cannot be read, with the reasons ---

_log = logging.getLogger(__name__)
_LINES = 200
"""Lines of a transcript by which it is seen why it names no session."""
_FIRST = 4_096
_BLANK = b" \t\r\n\0\xef\xbb\xbf\xff\xfe"
_NAMED, _EACH = 3, 1_000
"""Transcripts of one reason that are named together, and one by one."""
_REASON = 200


class Survey:
    """The transcripts of some formats, counted by what was found out about them."""

    def __init__(self, formats: Sequence[Format]) -> None:
        self._formats = formats
        self.others = Counter[str]()
        """Transcripts of other projects, by the folder of their session or a reason."""
        self._reasons: dict[str, str] = {}
        self._silent: set[str] = set()
        """Transcripts that name no session and need not: they are empty, or hold nothing but titles and the like."""
        self._total = 0

    def transcripts(self) -> Iterator[tuple[Format, Transcript]]:
        """Yield all transcripts; the counts begin again."""
        self.others.clear()
        self._reasons.clear()
        self._silent.clear()
        self._total = 0
        for one in self._formats:
            for transcript in one.transcripts():
                self._total += 1
                yield one, transcript

    def facts(self, format_: Format, transcript: Transcript) -> SessionFacts | None:
        """Return the facts of a transcript; None: unreadable or without facts, with the reason stored."""
        self._reasons.pop(transcript.name, None)
        self._silent.discard(transcript.name)
        try:
            facts = format_.facts(transcript)
            facts = facts if facts is not None and facts.folder else None
            reason = "" if facts is not None else _why_silent(format_, transcript)
        except Exception as error:  # noqa: BLE001 - the reason is stored
            # A bad file must not hide the others.
            self.failed(transcript, error)
            return None
        if reason:
            self._reasons[transcript.name] = reason
        elif facts is None:
            self._silent.add(transcript.name)
        return facts

    def failed(self, transcript: Transcript, error: Exception) -> None:
        """Store why a transcript could not be read."""
        if isinstance(error, OSError):
            self._reasons[transcript.name] = (error.strerror or str(error))[:_REASON]
        else:
            _log.warning("looking at %s", transcript.name, exc_info=error)
            self._reasons[transcript.name] = f"{type(error).__name__} ({str(error)[:100]!r})"

    @property
    def without_session(self) -> int:
        """Return the number of transcripts without facts."""
        return len(self._reasons) + len(self._silent)

    def counts(self) -> TranscriptCounts:
        """Return the number of transcripts, by result."""
        passed_over = sum(len(one.unread) for one in self._formats)
        others, silent, unread = self.others.total(), len(self._silent), len(self._reasons) + passed_over
        total = self._total + passed_over
        return TranscriptCounts(total, total - others - silent - unread, others, silent, unread)

    def notes(self, *, each: bool = False) -> Iterator[str]:
        """Yield a sentence for each reason, and for each folder that was not searched completely.

        `each`: name each transcript, with its reason.
        """
        by_reason: dict[str, list[str]] = {}
        passed_over = {str(file): why for one in self._formats for file, why in one.unread.items()}
        for name, reason in {**passed_over, **self._reasons}.items():
            by_reason.setdefault(reason, []).append(name)
        for reason, names in by_reason.items():
            listed = names[:_EACH] if each and len(names) > _NAMED else []
            yield from (f"{name} could not be read: {reason}" for name in listed)
            left = names[len(listed) :]
            more = len(left) - _NAMED
            rest = f" and {count(more, 'other transcript')}" if more > 0 else ""
            if left:
                yield f"{', '.join(left[:_NAMED])}{rest} could not be read: {reason}"
        for folder in dict.fromkeys(folder for one in self._formats for folder in one.left_out):
            yield f"{folder} has too many files: not all were searched for sessions"


def _why_silent(format_: Format, transcript: Transcript) -> str:
    """Return why a transcript has no session; empty: its content needs none.

    Raises OSError if it cannot be read.
    """
    if transcript.session:
        return "its session record has no folder, or is damaged"
    with opened_text(transcript.file) as stream:
        first = stream.read(_FIRST).strip(_BLANK)
        lines = list(islice(read_lines(stream), _LINES))
    records = [line.record for line in lines if not line.problem]
    if not records:
        # The first line of a session that has just begun may have no end yet.
        is_begun = not lines and (not first or first.startswith(b"{"))
        return "" if is_begun else "no JSON records in UTF-8 or UTF-16"
    if len(records) == len(lines) and all(as_text(record.get("type")) in format_.asides for record in records):
        return ""
    return "no record with a session and a folder: it ended at once, is damaged or has an unknown format"


# --- one project's transcripts ---

FORMATS: tuple[type[Format], ...] = (ClaudeCode, Codex, OpenCode, Gemini, Cursor, Copilot)
"""The supported formats. To add one: a file of its own, and a line here."""

_LOOKED_AT = 20
"""Turns of a session with a missing folder that are searched for files of this project."""


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript of the project."""

    transcript: Transcript
    format: Format
    facts: SessionFacts
    place: Place
    state: TranscriptState
    is_new: bool
    """Whether it has unread parts."""

    @property
    def unread_bytes(self) -> int:
        """Return how much of it is unread; 0 where a database has no size."""
        size, offset = self.transcript.size, self.state.offset
        return size if size < offset else size - offset


def formats_of(agents: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> list[Format]:
    """Return the formats of some agents.

    `agents`: their names; empty: all. `environment`: the agents' own variables, which locate their transcripts; None:
    those of this process. Raises UsageError if an agent is unknown.
    """
    known = [one.agent for one in FORMATS]
    for agent in agents:
        if agent not in known:
            raise UsageError(f"No importer for {agent[:60]!r}.", hint=f"Use one of {', '.join(known)}.")
    where = os.environ if environment is None else environment
    return [one(where) for one in FORMATS if not agents or one.agent in agents]


class ProjectTranscripts:
    """The transcripts of one project.

    `agents`: only theirs; empty: all. `folders`: former places of the project, from the user. `environment`: the
    agents' own variables, which locate their transcripts. Raises UsageError if an agent is unknown; CmError if the
    project's identity cannot be found.
    """

    def __init__(
        self,
        root: Path,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._formats = formats_of(agents, environment)
        for one in self._formats:
            if isinstance(one, FolderFormat):
                one.folders = tuple(dict.fromkeys((str(root), os.path.realpath(root), *folders)))
        self.root = root
        self.journal = Journal.of(root)
        self.state = ImportState(self.journal)
        self._folders = ProjectFolders(root, folders)
        self.survey = Survey(self._formats)

    @property
    def unheld(self) -> list[str]:
        """Return the user's former folders in which no session was found."""
        return self._folders.unheld

    def notes(self, *, each: bool = False) -> tuple[str, ...]:
        """Return messages on skipped and unreadable data. `each`: name each transcript that could not be read."""
        standing = (
            f"{folder} still exists, so its sessions are not imported here" for folder in self._folders.existing
        )
        return (*self.survey.notes(each=each), *standing)

    def found(self, cancel: Cancel | None = None) -> list[Found]:
        """Return those of the project, the first to begin first, so that repetitions come later."""
        found: list[Found] = []
        for format_, transcript in self.survey.transcripts():
            if cancel is not None:
                cancel.check()
            one = self.look_at(format_, transcript)
            if one is not None:
                found.append(one)
        return sorted(
            found,
            key=lambda one: (bool(one.facts.parent), one.facts.began or one.transcript.stamp, one.transcript.name),
        )

    def holds(self, facts: SessionFacts) -> bool:
        """Return whether a session was held in this project."""
        return self._folders.place_of(facts) is not None

    def look_at(self, format_: Format, transcript: Transcript) -> Found | None:
        """Return a transcript with its state; None: another project's, or without facts."""
        facts = self.survey.facts(format_, transcript)
        if facts is None:
            return None
        try:
            place = self._folders.place_of(facts) or self._by_its_files(format_, transcript, facts)
        except CmError:
            raise
        except Exception as error:  # noqa: BLE001 - reported with the others
            self.survey.failed(transcript, error)
            return None
        if place is None:
            self.survey.others[facts.folder] += 1
            return None
        state = self.state.load(transcript.name)
        is_new = has_news(transcript, state) or _was_replaced(transcript, state)
        return Found(transcript, format_, facts, place, state, is_new)

    def _by_its_files(self, format_: Format, transcript: Transcript, facts: SessionFacts) -> Place | None:
        """Return the place of a session in a missing folder of this name, if it wrote files of this project."""
        folder = os.path.normpath(facts.folder)
        if not self._folders.has_name_of(folder):
            return None
        paths: dict[str, bool] = {}
        turns = 0
        try:
            for item in format_.read(transcript, facts, Resume()):
                if isinstance(item, Read):
                    named = [*item.turn.files, *(step.path for step in item.turn.steps)]
                    inside = (path[len(folder) + 1 :] for path in named if path.startswith(folder + os.sep))
                    paths |= {path: os.path.lexists(self.root / path) for path in inside if "\0" not in path}
                    turns += 1
                if turns >= _LOOKED_AT:
                    break
        except OSError:
            return None
        here = sum(paths.values())
        return Place(Path(folder), was_moved=True) if here and here * 2 >= len(paths) else None


def has_news(transcript: Transcript, state: TranscriptState) -> bool:
    """Return whether a transcript has unread parts, by size and time alone."""
    # One that was never read completely has no session in its state.
    if state.waits or not state.session:
        return True
    if transcript.is_copy:
        # It has the time of its original, which may have been read further than it was copied.
        return transcript.stamp > state.stamp
    has_rest = bool(transcript.session) or state.offset < state.size
    if state.version < VERSION and has_rest:
        return True
    return (transcript.size, transcript.stamp) != (state.size, state.stamp)


def _was_replaced(transcript: Transcript, state: TranscriptState) -> bool:
    """Return whether the read part of a file is another one, also where size and time are the same."""
    if transcript.is_copy or not state.offset:
        # It is read as a whole.
        return False
    try:
        with ReadFile.held(transcript.file) as file:
            return not file.is_appended(state)
    except OSError:
        return True
