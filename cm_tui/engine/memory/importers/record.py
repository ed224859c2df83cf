"""The record of an imported turn: cut, redacted, with paths of the project."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.counts import count
from cm_tui.engine.code.scan.credential_files import is_credential_file
from cm_tui.engine.memory.projection.episode_record import KIND, EpisodeRecord
from cm_tui.engine.memory.projection.recorder import is_agent_settings, without_credentials, without_files
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts import patches
from cm_tui.engine.memory.transcripts.turn import ANSWER_CHARACTERS, STEP_CHARACTERS, Piece, Turn, TurnStep, piece
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.engine.platform.journal.event import new_line
from cm_tui.engine.platform.redaction.records import SplitKeys
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, UsageError
from cm_tui.model import Step

# --- the commit of a checkout at a time: from git's log of HEAD, else from the times of commits ---

_COMMITS = 100_000
NEWEST = "at the commit that was the newest then: git's log of HEAD does not go back so far"
UNTIMED = "at the commit of its transcript's time: its own is not recorded"


class HeadAt(NamedTuple):
    """The commit of a time."""

    sha: str = ""
    """Empty: not known."""
    note: str = ""
    """A message for the user."""


class Heads:
    """Commits of one checkout by time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._moves: tuple[list[int], list[str]] | None = None
        self._commits: tuple[list[int], list[str]] | None = None

    def at(self, time: float | None, otherwise: float | None = None) -> HeadAt:
        """Return the commit that was checked out at a time; without one, at another time, with a note."""
        if time is None:
            found = self.at(otherwise) if otherwise is not None else HeadAt()
            return HeadAt(found.sha, UNTIMED) if found.sha else found
        if self._moves is None:
            self._moves = self._read(_log)
        times, shas = self._moves
        place = bisect_right(times, time)
        if place:
            return HeadAt(shas[place - 1])
        if self._commits is None:
            self._commits = self._read(_first_parents)
        times, shas = self._commits
        place = bisect_right(times, time)
        return HeadAt(shas[place - 1], NEWEST) if place else HeadAt()

    def _read(self, commits: Callable[[pygit2.Repository], Iterable[tuple[int, str]]]) -> tuple[list[int], list[str]]:
        """Return times and commits, the oldest first; empty: git cannot be read."""
        try:
            found = list(commits(self._repository))[::-1] if self._repository is not None else []
        except (CmError, pygit2.GitError, KeyError, ValueError, OSError):
            return [], []
        # A clock that was set back must not hide later entries.
        return list(accumulate((time for time, _ in found), max)), [sha for _, sha in found]

    @cached_property
    def _repository(self) -> pygit2.Repository | None:
        return repository_around(self._root)


def _log(repository: pygit2.Repository) -> Iterator[tuple[int, str]]:
    """Yield the moves of HEAD, the newest first."""
    for entry in repository.references["HEAD"].log():
        if (sha := str(entry.oid_new)).strip("0"):
            yield entry.committer.time, sha


def _first_parents(repository: pygit2.Repository) -> Iterator[tuple[int, str]]:
    if not repository.head_is_unborn:
        walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
        walker.simplify_first_parent()
        yield from ((commit.commit_time, str(commit.id)) for commit in islice(walker, _COMMITS))


# --- the record of an imported turn ---

_TITLE = 200
_HIDDEN = "[omitted: it is a file for credentials]"
_NEVER = "is in a folder that is never recorded"
_RUN = 200
_MAY_GO_ON = re.compile(r"[\w+/=.-]{12}[\s\"'\\]{0,8}$")
"""A word so long at the end of a line that it may be broken there."""
_SHORTENED = "steps and patch are omitted: the turn was too long for the journal"
_SHORTER = (4_000, 1_000, 200)
"""Characters to keep of its texts, if it is too long even without steps and patch."""


class Session(NamedTuple):
    """Common data of a session's turns."""

    agent: str
    session: str
    parent: str
    title: str
    worked_in: Path
    """Root of the checkout, where the session knew it."""
    root: Path
    """Root of the current checkout for it."""
    time: float | None = None
    """Time for turns without one."""


def record_of(
    turn: Turn, session: Session, *, origin: str, number: int, heads: Heads, never: Sequence[str] = ()
) -> tuple[EpisodeRecord, str]:
    """Return the record of a turn, and HEAD when it ended (empty: not known).

    `turn`: as it was read; `number`: its place in the session; `heads`: the commits of the checkout by time; `never`:
    patterns of folders that are never recorded: files in them leave no content here.
    """
    base, head, recorder = (
        heads.at(turn.began, session.time),
        heads.at(turn.ended, session.time),
        _Recorder(turn, session, never),
    )
    record = recorder.record(base)
    return replace(record, origin=origin, turn=number, redacted=recorder.secrets), head.sha


def shortened(record: EpisodeRecord) -> EpisodeRecord | None:
    """Return a record that fits into the journal, shortened if necessary; None: impossible."""
    if _fits(record):
        return record
    note = "; ".join(filter(None, (record.note, _SHORTENED)))
    record = replace(record, steps=(), patch="", patch_cut=True, note=note)
    for most in _SHORTER:
        if _fits(record):
            return record
        record = replace(
            record,
            prompts=tuple(redact(prompt, most).text for prompt in record.prompts),
            answer=redact(record.answer, most).text,
            plan=redact(record.plan, most).text,
            files=record.files[: most // 10],
            tools=record.tools[: most // 10],
        )
    return record if _fits(record) else None


def _fits(record: EpisodeRecord) -> bool:
    """Return whether the journal takes a record."""
    try:
        new_line(KIND, record.to_event_data(), None)
    except UsageError:
        return False
    return True


class _Recorder:
    """Makes the record of a turn: texts are cut so that no part of a secret remains, paths are those of the project.

    `never`: patterns of folders that are never recorded.
    """

    def __init__(self, turn: Turn, session: Session, never: Sequence[str]) -> None:
        self.secrets = 0
        self._turn = turn
        self._session = session
        self._never = never
        self._keys = SplitKeys()

    def record(self, base: HeadAt) -> EpisodeRecord:
        """Return the record; `secrets` counts those that were redacted."""
        turn, session = self._turn, self._session
        # In their order: what begins in one text may go on in the next.
        prompts = tuple(self._text(prompt) for prompt in turn.prompts)
        steps = tuple(self._step(step) for step in turn.steps)
        patch, is_cut = self._patch()
        more = f"{count(turn.unkept_prompts, 'more prompt')} not kept" if turn.unkept_prompts else ""
        return EpisodeRecord(
            agent=session.agent,
            session=session.session,
            root=str(session.root),
            prompts=prompts,
            answer=self._text(piece("\n\n".join(turn.answer), ANSWER_CHARACTERS)),
            files=tuple(self._files()),
            base=base.sha,
            patch=patch,
            patch_cut=is_cut,
            note="; ".join(filter(None, (patches.NOTE if patch else "", base.note, more))),
            actor="import",
            at=_end_of(turn, session.time),
            title=self._text(piece(session.title, _TITLE)),
            parent=session.parent,
            plan=self._text(piece(turn.plan, STEP_CHARACTERS["plan"])),
            verdict=turn.verdict,
            outcome="unanswered" if turn.is_empty else turn.outcome,
            steps=steps,
            step_count=turn.step_count,
            tools=tuple(turn.tools)[:50],
            tokens=turn.tokens,
        )

    # --- texts ---

    def _text(self, found: Piece) -> str:
        """Return the part of a text to keep; a short one is redacted when it is written."""
        known = self._keys.secrets
        found = found._replace(text=self._keys.without(found.text))
        self.secrets += self._keys.secrets - known
        if len(found.text) <= found.limit:
            return found.text
        # Between two lines nothing is cut that is seen by itself; looking far beyond each of many cuts takes its time.
        end = -1 if found.is_end else found.text.rfind("\n", found.limit // 2, found.limit)
        if end > 0 and not _MAY_GO_ON.search(found.text, max(0, end - _RUN), end):
            return found.text[:end]
        clean = redact(found.text) if found.is_end else redact(found.text, found.limit)
        self.secrets += clean.secrets
        if not found.is_end:
            return clean.text
        # From the beginning of a line where one is near.
        start = max(0, len(clean.text) - found.limit)
        line = clean.text.find("\n", start, start + found.limit // 2)
        return clean.text[line + 1 if line >= 0 else start :]

    def _step(self, step: TurnStep) -> Step:
        if self._why_hidden(step.path):
            return Step(step.kind, f"[omitted: it {_NEVER}]", step.tool, failed=step.failed)
        path = self._inside(step.path) or step.path
        text, result, error = map(self._text, (step.text, step.result, step.error))
        result = f"{result}\n[…]\n{error}" if error else result
        if result and is_credential_file(path.replace(os.sep, "/")):
            result = _HIDDEN
        return Step(step.kind, text, step.tool, result, path, step.failed)

    def _patch(self) -> tuple[str, bool]:
        """Return the patch with the paths of the project, and whether it was cut."""
        text, session = self._turn.patch.text, self._session
        for root in {session.worked_in.as_posix(), session.root.as_posix()}:
            text = text.replace(f" a/{root}/", " a/").replace(f" b/{root}/", " b/")
        text = without_files(without_credentials(text), self._why_hidden)
        is_cut = self._turn.patch.is_cut or len(text) > patches.PATCH_BYTES
        return self._text(Piece(text, patches.PATCH_BYTES)), is_cut

    # --- files ---

    def _files(self) -> Iterator[str]:
        """Yield the files of the project that were written, as the project names them."""
        paths = (self._inside(path) for path in self._turn.files if not self._why_hidden(path))
        yield from dict.fromkeys(path for path in paths if path and not is_agent_settings(path))

    def _inside(self, path: str) -> str:
        """Return a path below the checkout, as the agent names it; empty: elsewhere."""
        if not path or "\0" in path:
            return ""
        session = self._session
        whole = os.path.normpath(Path(self._turn.folder or session.worked_in) / path)
        for root in (session.worked_in, session.root):
            if whole.startswith(f"{root}{os.sep}"):
                return whole[len(str(root)) + 1 :].replace(os.sep, "/")
        return ""

    def _why_hidden(self, path: str) -> str:
        """Return why a file leaves no content: it is in a folder that is never recorded; empty: it does."""
        if not self._never or not path or "\0" in path:
            return ""
        inside = self._inside(path) or path
        places = {os.path.join(root, inside) for root in (self._session.worked_in, self._session.root)}  # noqa: PTH118
        return _NEVER if any(gate.is_below(place, self._never) for place in places) else ""


def _end_of(turn: Turn, otherwise: float | None) -> float | None:
    """Return when it ended, corrected if the clock was set back."""
    if turn.ended is None or turn.began is None:
        return otherwise
    return max(turn.ended, turn.began)
