"""Saving transcripts before their agents delete them: list, and private copies."""

from __future__ import annotations

import io
import json
import os
import re
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.importers.project import ProjectTranscripts, Survey, formats_of
from cm_tui.engine.memory.importers.withheld import ERASED_HERE, Withheld
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.recording.gate import NEVER
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.claude_code import ClaudeCode
from cm_tui.engine.memory.transcripts.claude_prompts import PROMPTS, listed_prompt, session_of
from cm_tui.engine.memory.transcripts.files import FoundFile
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import Line, as_text, read_lines
from cm_tui.engine.memory.transcripts.opencode import OpenCode
from cm_tui.engine.memory.transcripts.transcript import Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.errors import StoreError
from cm_tui.files import opened_below
from cm_tui.model import Cancel, Progress, RescuePlan, RescueSource, RescueSummary

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
    def name(self) -> str:
        """Return its name as a transcript."""
        return str(self.file.path)

    def opened(self) -> AbstractContextManager[io.FileIO]:
        """Open it. Raises OSError if it cannot be read, or a link leads to it."""
        return opened_below(self.place, self.file.path.relative_to(self.place).as_posix())


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
    found = list(_originals(format_, wanted))
    if not found and not (isinstance(format_, OpenCode) and format_.has_store()):
        return None
    kept = {place: days for place in format_.places if (days := format_.days_kept(place)) is not None}
    new = {one.name: one.file.size for one in found if not copies.is_current(format_.agent, one.file)}
    sessions = [one for one in found if not one.file.path.name.startswith("agent-")]
    until = now + SOON_DAYS * _DAY
    soon = [one for one in sessions if one.place in kept and one.file.changed + kept[one.place] * _DAY <= until]
    return RescueSource(
        format_.agent, len(sessions), len(found), sum(one.file.size for one in found),
        min((kept[one.place] for one in found if one.place in kept), default=None), len(soon),
        sum(one.name in new for one in soon), len(new), sum(new.values()),
    )  # fmt: skip


def _originals(format_: Format, wanted: frozenset[str] | None) -> Iterator[Original]:
    """Yield the transcripts that can be copied. `wanted`: names of those; None: all."""
    found = (Original(format_, place, file) for place in format_.places for file in format_.originals(place))
    return (one for one in found if wanted is None or one.name in wanted)


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
                yield Progress(STAGE, number, len(originals), f"{work.done['bytes'] / 1e6:,.0f} MB copied")
                work.take(one)
            for _ in work.take_prompts():
                cancel.check()
    except OSError as error:
        raise StoreError(
            f"{copies.folder()} cannot be used: {error}", hint="Check the disk and its permissions."
        ) from error
    yield Progress(STAGE, len(originals), len(originals), rescued=work.summary(time.monotonic() - began))


def refused(environment: Mapping[str, str], root: Path | None = None) -> dict[str, int]:
    """Return how many transcripts a rescue would not copy, by reason; reads them, and writes nothing.

    `environment`, `root`: as for `plan`. Raises ConfigError and StoreError as `rescue`.
    """
    work = _Work(environment, root)
    return dict(sorted(Counter(filter(None, map(work.refusal, work.originals()))).items()))


class _Work:
    """Copies one transcript after the other. `environment`: as for `plan`; `root`: as for `plan`."""

    def __init__(self, environment: Mapping[str, str], root: Path | None) -> None:
        self.done = Counter[str]()
        """Fields of the summary that are numbers."""
        self._refused = Counter[str]()
        self._notes: list[str] = []
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
            yield from _originals(one, self._wanted)

    def take(self, one: Original) -> None:
        """Copy a transcript unless its copy is up to date, or it must not be copied."""
        if copies.mark_of("erased", one.name).exists():
            self._refused[ERASED_HERE] += 1
        elif copies.is_complete(one.format.agent, one.file):
            self.done["kept"] += 1
        else:
            try:
                with copies.changing():
                    self._copy(one)
            except OSError as error:
                self._notes.append(f"{one.name} could not be copied: {error.strerror or error}")

    def refusal(self, one: Original) -> str:
        """Return why `take` would not copy a transcript; empty: it would, or its copy is up to date."""
        if copies.mark_of("erased", one.name).exists():
            return ERASED_HERE
        if copies.is_complete(one.format.agent, one.file):
            return ""
        try:
            why, never = self._why(one), self._withheld.never()
            if never and not why:
                with one.opened() as source:
                    deque(_pieces(source, one.file.size, never), maxlen=0)
        except _NeverRecordedError:
            return NEVER
        except OSError:
            # A rescue says so in a note.
            return ""
        return why

    def _checks(self) -> Withheld:
        """Return the test for withheld transcripts, including concurrent erasures."""
        now = copies.erasures()
        if now != self._seen:
            self._seen, self._withheld = now, Withheld()
        return self._withheld

    def _why(self, one: Original) -> str:
        """Return why a transcript is not copied, but for folders that its records name."""
        transcript = Transcript(one.format.agent, one.name, *one.file)
        facts = self._survey.facts(one.format, transcript)
        return _SILENT if facts is None else self._checks().why(one.format, transcript, facts)

    def _copy(self, one: Original) -> None:
        copy, why, size = copies.copy_of(one.format.agent, one.file.path), self._why(one), 0
        try:
            size = 0 if why else _write(one, copy, self._checks().never())
        except _NeverRecordedError:
            why = NEVER
        if why:
            self._refused[why] += 1
            if why != _SILENT:
                copies.remove(copy)
                copies.write_mark("withheld", one.name, one.file.changed)
            return
        copies.mark_of("withheld", one.name).unlink(missing_ok=True)
        self.done.update(copied=1, bytes=size, stored=copy.stat().st_size)

    def take_prompts(self) -> Iterator[None]:
        """Copy the prompts of sessions whose transcripts Claude Code deleted, from its list of prompts."""
        for format_ in self._formats:
            if isinstance(format_, ClaudeCode):
                present = {one.file.name.partition(".")[0] for one in format_.transcripts() if not one.session}
                for place in format_.places:
                    file = place.parent / PROMPTS
                    try:
                        yield from self._lost_prompts(file, present)
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        self._notes.append(f"{file} could not be copied: {error.strerror or error}")

    def _lost_prompts(self, file: Path, present: set[str]) -> Iterator[None]:
        """Copy the allowed prompts, one file per session. `present`: sessions with a transcript, or a copy of one."""

        def copy_of(session: str) -> Path:
            return copies.copy_of(ClaudeCode.agent, file / f"{session}.jsonl")

        @cache
        def is_lost(session: str) -> bool:
            done = (copies.mark_of("erased", f"{file}#{session}"), copy_of(session))
            return session not in present and not any(one.exists() for one in done)

        lost: dict[str, list[Line]] = {}
        with opened_below(file.parent, file.name) as raw, io.BufferedReader(raw) as stream:
            for line in read_lines(stream):
                if (session := session_of(line.record)) and is_lost(session):
                    lost.setdefault(session, []).append(line)
        for session, lines in lost.items():
            with copies.changing():
                may = [line for line in lines if self._may_be_copied(session, line)]
                if not any(listed_prompt(line.record) for line in may):
                    continue
                changed = max(parse_time(line.record.get("timestamp")) or 0.0 for line in may)
                with copies.writing(copy_of(session), int(changed * 1e9)) as packed:
                    packed.writelines(line.data.rstrip() + b"\n" for line in may)
                self.done["prompts"] += 1
                yield

    def _may_be_copied(self, session: str, line: Line) -> bool:
        folder, time = as_text(line.record.get("project")), parse_time(line.record.get("timestamp"))
        facts = SessionFacts(ClaudeCode.agent, session, folder)
        if not folder or not (self._project is None or self._project.holds(facts)):
            return False
        return not self._checks().why_prompt(session, folder, as_text(line.record.get("display")), time)

    def summary(self, seconds: float) -> RescueSummary:
        """Return the results."""
        done, notes = self.done, [*self._notes[:_NOTES], *self._survey.notes()]
        if len(self._notes) > _NOTES:
            notes.append(f"{count(len(self._notes) - _NOTES, 'more file')} could not be copied")
        return RescueSummary(
            done["copied"], done["kept"], done["prompts"], done["bytes"], done["stored"], seconds, str(copies.folder()),
            dict(sorted(self._refused.items())), tuple(notes),
        )  # fmt: skip


class _NeverRecordedError(Exception):
    """A record of a transcript names a folder that is never recorded."""


def _write(one: Original, copy: Path, never: tuple[str, ...]) -> int:
    """Write the copy of a transcript, and return the size of its content.

    Raises OSError if one of them cannot be read or written, or a link leads to it; _NeverRecordedError if nothing of it
    may be copied.
    """
    copies.keep_longer(copy, one.file.size)
    with one.opened() as source:
        before = os.fstat(source.fileno())
        with copies.writing(copy, before.st_mtime_ns) as packed:
            return sum(packed.write(piece) for piece in _pieces(source, before.st_size, never))


def _pieces(source: io.FileIO, size: int, never: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the first bytes of a transcript, piece by piece, each once its records name no folder of some patterns.

    `size`: most bytes. Raises _NeverRecordedError if a record names one.
    """
    looked_at = b""
    while size and (piece := source.read(min(size, _PIECE))):
        size -= len(piece)
        # UTF-16 without its zeros is near enough to ASCII.
        looked_at = looked_at[-_LONGEST:] + piece.replace(b"\0", b"")
        for name in set(_FOLDER.findall(looked_at)) if never else ():
            try:
                folder = json.loads(name.decode("utf-8", "replace"), strict=False)
            except ValueError as error:
                # It may be one of them.
                raise _NeverRecordedError from error
            if os.path.isabs(folder) and "\0" not in folder and gate.is_below(folder, never):  # noqa: PTH117
                raise _NeverRecordedError
        yield piece
