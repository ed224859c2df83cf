"""Saving transcripts before their agents delete them: list, and private copies."""

from __future__ import annotations

import io
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.importers.project import ProjectTranscripts, Survey, formats_of
from cm_tui.engine.memory.importers.withheld import ERASED_HERE, Withheld
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.recording.gate import NEVER
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.claude_code import ClaudeCode
from cm_tui.engine.memory.transcripts.claude_home import PROMPTS, prompt_of, session_of
from cm_tui.engine.memory.transcripts.files import FoundFile
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import Line, as_text, read_lines
from cm_tui.engine.memory.transcripts.opencode import OpenCode
from cm_tui.engine.memory.transcripts.transcript import Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.errors import StoreError
from cm_tui.files import opened_below
from cm_tui.model import Cancel, Progress, RescuePlan, RescueSource, RescueSummary

# --- saving the prompts of sessions whose transcripts Claude Code deleted, from its list of prompts ---


@dataclass
class LostPrompts:
    """Copies the prompts of such sessions, one file per session.

    `agent`: Claude Code's name; `present`: sessions with a transcript, or a copy of one; `withheld`: returns the test
    for prompts that are not copied; `wanted`: returns whether to copy a session.
    """

    agent: str
    home: Path
    present: set[str]
    withheld: Callable[[], Withheld]
    wanted: Callable[[SessionFacts], bool]
    notes: list[str] = field(default_factory=list)

    @property
    def _file(self) -> Path:
        return self.home / PROMPTS

    def copy(self) -> Iterator[str]:
        """Yield each session whose prompts were copied."""
        try:
            lost: dict[str, list[Line]] = {}
            present = set(self.present)
            for session, line in self._lines():
                if session not in lost and session not in present and not self._is_lost(session):
                    present.add(session)
                if session not in present:
                    lost.setdefault(session, []).append(line)
            for session, found in lost.items():
                with copies.changing():
                    if self._keep(session, found):
                        yield session
        except FileNotFoundError:
            return
        except OSError as error:
            self.notes.append(f"{self._file} could not be copied: {error.strerror or error}")

    def _is_lost(self, session: str) -> bool:
        is_erased = copies.mark_of("erased", f"{self._file}#{session}").exists()
        return not (is_erased or self._copy_of(session).exists())

    def _copy_of(self, session: str) -> Path:
        return copies.copy_of(self.agent, self._file / f"{session}.jsonl")

    def _lines(self) -> Iterator[tuple[str, Line]]:
        with opened_below(self._file.parent, self._file.name) as raw, io.BufferedReader(raw) as stream:
            for line in read_lines(stream):
                if session := session_of(line.record):
                    yield session, line

    def _keep(self, session: str, lines: list[Line]) -> bool:
        """Write the allowed prompts of a session; return whether there were any."""
        may = [line for line in lines if self._may_be_kept(session, line)]
        if not any(prompt_of(line.record) for line in may):
            return False
        changed = max((parse_time(line.record.get("timestamp")) or 0.0 for line in may), default=0.0)
        with copies.writing(self._copy_of(session), int(changed * 1e9)) as packed:
            for line in may:
                packed.write(line.data.rstrip() + b"\n")
        return True

    def _may_be_kept(self, session: str, line: Line) -> bool:
        folder = as_text(line.record.get("project"))
        if not folder or not self.wanted(SessionFacts(self.agent, session, folder)):
            return False
        time = parse_time(line.record.get("timestamp"))
        return not self.withheld().why_prompt(session, folder, as_text(line.record.get("display")), time)


# --- saving transcripts before their agents delete them ---

STAGE = "rescue"
SOON_DAYS = 5
"""Sessions that are deleted within so many days are reported."""
_DAY = 86_400.0
_PIECE = 1_000_000
_NOTES = 20
_SILENT = "it has no session and folder"
_FOLDER = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.){1,4000}")')
"""Where an agent worked, as each record has it."""
_LONGEST = 5_000


class Original(NamedTuple):
    """A transcript that can be copied."""

    format: Format
    place: Path
    file: FoundFile

    @property
    def transcript(self) -> Transcript:
        """Return it as a transcript."""
        return Transcript(self.format.agent, str(self.file.path), *self.file)

    @property
    def inside(self) -> str:
        """Return its path below its place."""
        return self.file.path.relative_to(self.place).as_posix()


@dataclass
class _Done:
    """Results of a rescue so far."""

    copied: int = 0
    kept: int = 0
    prompts: int = 0
    bytes: int = 0
    stored: int = 0
    withheld: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def plan(environment: Mapping[str, str], root: Path | None = None, *, now: float | None = None) -> RescuePlan:
    """Return what a rescue would copy, by names, sizes and times of files alone.

    `environment`: the agents' own variables, which locate their transcripts. `root`: of a project; only its
    transcripts, by their first records. None: all. `now`: seconds since the epoch. Raises CmError if the project's
    identity cannot be found.
    """
    now = time.time() if now is None else now
    formats = formats_of((), environment)
    wanted = _of_project(root, environment)
    sources = (_source(one, wanted, now) for one in formats)
    return RescuePlan(tuple(one for one in sources if one is not None), str(copies.folder()))


def unsaved(environment: Mapping[str, str], *, now: float | None = None) -> int:
    """Return how many sessions on this machine are deleted within five days without an up-to-date copy."""
    return plan(environment, now=now).unsaved


def _source(format_: Format, wanted: frozenset[str] | None, now: float) -> RescueSource | None:
    days: int | None = None
    sessions = files = size = expiring = at_risk = new = new_bytes = 0
    for place in format_.places:
        kept = format_.days_kept(place)
        for found in format_.originals(place):
            if wanted is not None and str(found.path) not in wanted:
                continue
            days = kept if days is None or kept is None else min(days, kept)
            is_session = not found.path.name.startswith("agent-")
            is_saved = copies.is_current(format_.agent, found)
            soon = kept is not None and found.changed + kept * _DAY <= now + SOON_DAYS * _DAY
            sessions, files, size = sessions + is_session, files + 1, size + found.size
            expiring, at_risk = expiring + (is_session and soon), at_risk + (is_session and soon and not is_saved)
            new, new_bytes = new + (not is_saved), new_bytes + (0 if is_saved else found.size)
    if not files and not (isinstance(format_, OpenCode) and format_.has_store()):
        return None
    return RescueSource(format_.agent, sessions, files, size, days, expiring, at_risk, new, new_bytes)


def _of_project(root: Path | None, environment: Mapping[str, str]) -> frozenset[str] | None:
    """Return the names of a project's transcripts; None: those of all projects."""
    if root is None:
        return None
    project = ProjectTranscripts(root, (), (), environment)
    return frozenset(found.transcript.name for found in project.found() if not found.transcript.is_copy)


def rescue(environment: Mapping[str, str], root: Path | None, cancel: Cancel) -> Iterator[Progress]:
    """Copy all transcripts that are new or changed since; the last step has the summary.

    `environment`: as for `plan`. `root`: as for `plan`. `cancel`: set to stop; finished copies are kept. Raises
    StoreError if the folder of the copies cannot be used, or another rescue is running; ConfigError if the list of
    folders that are never recorded cannot be read; CancelledError if it was cancelled.
    """
    began, work = time.monotonic(), _Work(environment, root)
    yield Progress(STAGE, 0, 0, "looking for transcripts")
    originals = list(work.originals())
    try:
        with copies.alone():
            for number, one in enumerate(originals):
                cancel.check()
                yield Progress(STAGE, number, len(originals), f"{work.done.bytes / 1e6:,.0f} MB copied")
                work.take(one)
            for _ in work.take_prompts():
                cancel.check()
    except OSError as error:
        raise StoreError(
            f"{copies.folder()} cannot be used: {error}", hint="Check the disk and its permissions."
        ) from error
    yield Progress(STAGE, len(originals), len(originals), rescued=work.summary(time.monotonic() - began))


class _Work:
    """Copies one transcript after the other. `environment`: as for `plan`; `root`: as for `plan`."""

    def __init__(self, environment: Mapping[str, str], root: Path | None) -> None:
        self.done = _Done()
        self._formats = formats_of((), environment)
        self._survey = Survey(self._formats)
        self._project = ProjectTranscripts(root, (), (), environment) if root is not None else None
        self._wanted = _of_project(root, environment)
        self._seen = copies.erasures()
        self._withheld = Withheld()
        # Where the settings cannot be read nothing is copied.
        self._withheld.never()

    def originals(self) -> Iterator[Original]:
        """Yield the transcripts that can be copied."""
        for one in self._formats:
            for place in one.places:
                for found in one.originals(place):
                    if self._wanted is None or str(found.path) in self._wanted:
                        yield Original(one, place, found)

    def take(self, one: Original) -> None:
        """Copy a transcript unless its copy is up to date, or it must not be copied."""
        name = str(one.file.path)
        if copies.mark_of("erased", name).exists():
            self.done.withheld[ERASED_HERE] += 1
        elif copies.is_complete(one.format.agent, one.file):
            self.done.kept += 1
        else:
            try:
                with copies.changing():
                    self._copy(one, self._checks())
            except OSError as error:
                self.done.notes.append(f"{name} could not be copied: {error.strerror or error}")

    def _checks(self) -> Withheld:
        """Return the test for withheld transcripts, including concurrent erasures."""
        now = copies.erasures()
        if now != self._seen:
            self._seen, self._withheld = now, Withheld()
        return self._withheld

    def refused(self) -> dict[str, int]:
        """Return how many transcripts would not be copied, by reason; writes nothing."""
        for one in self.originals():
            if why := self._refusal(one):
                self.done.withheld[why] += 1
        return dict(sorted(self.done.withheld.items()))

    def _refusal(self, one: Original) -> str:
        if copies.mark_of("erased", str(one.file.path)).exists():
            return ERASED_HERE
        if copies.is_complete(one.format.agent, one.file):
            return ""
        try:
            why, never = self._why(one, self._withheld), self._withheld.never()
            for piece in _pieces(one) if never and not why else ():
                _check_folders(piece, never)
        except _NeverRecordedError:
            return NEVER
        except OSError:
            # A rescue says so in a note.
            return ""
        return why

    def _why(self, one: Original, withheld: Withheld) -> str:
        """Return why a transcript is not copied, but for folders that its records name."""
        facts = self._survey.facts(one.format, one.transcript)
        return _SILENT if facts is None else withheld.why(one.format, one.transcript, facts)

    def _copy(self, one: Original, withheld: Withheld) -> None:
        why = self._why(one, withheld)
        if why == _SILENT:
            self.done.withheld[_SILENT] += 1
            return
        name, copy = str(one.file.path), copies.copy_of(one.format.agent, one.file.path)
        try:
            size = 0 if why else _write(one, copy, withheld.never())
        except _NeverRecordedError:
            why = NEVER
        if why:
            self.done.withheld[why] += 1
            copies.remove(copy)
            copies.write_mark("withheld", name, one.file.changed)
            return
        copies.mark_of("withheld", name).unlink(missing_ok=True)
        self.done.copied += 1
        self.done.bytes += size
        self.done.stored += copy.stat().st_size

    def take_prompts(self) -> Iterator[None]:
        """Copy the prompts of sessions without a transcript."""
        for format_ in self._formats:
            if not isinstance(format_, ClaudeCode):
                continue
            found = [one for one in format_.transcripts() if not one.session]
            present = {one.file.name.partition(".")[0] for one in found}
            for place in format_.places:
                lost = LostPrompts(format_.agent, place.parent, present, self._checks, self._is_due)
                for _ in lost.copy():
                    self.done.prompts += 1
                    yield
                self.done.notes += lost.notes

    def _is_due(self, facts: SessionFacts) -> bool:
        return self._project is None or self._project.holds(facts)

    def summary(self, seconds: float) -> RescueSummary:
        """Return the results."""
        done, notes = self.done, [*self.done.notes[:_NOTES], *self._survey.notes()]
        if len(done.notes) > _NOTES:
            notes.append(f"{count(len(done.notes) - _NOTES, 'more file')} could not be copied")
        return RescueSummary(
            done.copied, done.kept, done.prompts, done.bytes, done.stored, seconds, str(copies.folder()),
            dict(sorted(done.withheld.items())), tuple(notes),
        )  # fmt: skip


def refused(environment: Mapping[str, str], root: Path | None = None) -> dict[str, int]:
    """Return how many transcripts a rescue would not copy, by reason; reads them, and writes nothing.

    `environment`, `root`: as for `plan`. Raises ConfigError and StoreError as `rescue`.
    """
    return _Work(environment, root).refused()


class _NeverRecordedError(Exception):
    """A record of a transcript names a folder that is never recorded."""


def _write(one: Original, copy: Path, never: tuple[str, ...]) -> int:
    """Write the copy of a transcript, and return the size of its content.

    Raises OSError if one of them cannot be read or written, or a link leads to it; _NeverRecordedError if nothing of it
    may be copied.
    """
    copies.keep_longer(copy, one.file.size)
    with opened_below(one.place, one.inside) as source:
        before = os.fstat(source.fileno())
        left, looked_at = before.st_size, b""
        with copies.writing(copy, before.st_mtime_ns) as packed:
            while left and (piece := source.read(min(left, _PIECE))):
                left -= len(piece)
                if never:
                    looked_at = _next_look(looked_at, piece)
                    _check_folders(looked_at, never)
                packed.write(piece)
    return before.st_size - left


def _pieces(one: Original) -> Iterator[bytes]:
    """Yield what of a transcript is searched for folders, piece by piece."""
    looked_at = b""
    with opened_below(one.place, one.inside) as source:
        while piece := source.read(_PIECE):
            looked_at = _next_look(looked_at, piece)
            yield looked_at


def _next_look(looked_at: bytes, piece: bytes) -> bytes:
    # UTF-16 without its zeros is near enough to ASCII.
    return looked_at[-_LONGEST:] + piece.replace(b"\0", b"")


def _check_folders(text: bytes, never: tuple[str, ...]) -> None:
    for name in set(_FOLDER.findall(text)):
        try:
            folder = json.loads(name.decode("utf-8", "replace"), strict=False)
        except ValueError as error:
            # It may be one of them.
            raise _NeverRecordedError from error
        if os.path.isabs(folder) and "\0" not in folder and gate.is_below(folder, never):  # noqa: PTH117
            raise _NeverRecordedError
