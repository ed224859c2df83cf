"""What is known about an action that an agent is about to take; it is silent about most actions.

A memory names a file by its path, by a file name that the project has once, or (Rules only) by a folder above it, such
as `migrations/`. It names a command by a code span whose words all are the command's, by program and first argument, or
by a program that is used or run.

- Rules and lessons: entries that agents are given.
- Notes: lines that name it, with a word of a lasting statement (never, always, decided, turned down) or an error.
- Earlier turns of other sessions: a change of the file that the user rejected, and the command's failure, if its
  last run failed for a reason other than a failed test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cm_tui.engine.context.packs.injection import line_of
from cm_tui.engine.context.packs.work_state import EXPECTED, clean_line, has_failed
from cm_tui.engine.memory.narrator.cues import STRONG, cues_of
from cm_tui.engine.memory.narrator.miners.fixes import sign_of
from cm_tui.engine.memory.narrator.runs import Command, commands_of
from cm_tui.engine.memory.narrator.shell import core_of
from cm_tui.engine.memory.narrator.turn import Turn, rejects
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import ENTRIES, EPISODES, Entry, Reminder
from cm_tui.model.dates import age
from cm_tui.model.text import unapproved

MOST = 4
"""Reminders of an action."""
_GIVEN = ("Rule", "Experience")
_NOT_WANTED = STRONG | {"do not", "not wanted", "superseded"}
_FIX = re.compile(r"^When [`\"].*(?:fails with|comes up)")
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_BEFORE, _AFTER = r"(?<![\w./-])(?:\./)?", r"(?![\w/-]|\.\w)"
_USED = r"\b(?i:us(?:e|es|ing)|run(?:s|ning)?|call|via|with|prefer|invoke)\s+"


class Action(NamedTuple):
    """An action.

    Attributes:
        paths: files that would be edited, below the project's root.
        unique: their names without a folder, as far as no other file has them.
        commands: that would be run, in normal form.
        session: of the agent.
    """

    paths: tuple[str, ...]
    unique: frozenset[str]
    commands: tuple[Command, ...]
    session: str

    @property
    def words(self) -> set[str]:
        """Return names of which each text has one that names the action."""
        programs = (word for one in self.commands for word in (one.words[0], core_of(one.words)[0]))
        return {*(path.rpartition("/")[2] for path in self.paths), *programs}


class NoteLine(NamedTuple):
    """A line of a note, by the path of its passage."""

    path: str
    text: str


class Past(NamedTuple):
    """An earlier turn: the last run of each command with its error (empty: it went well), and a rejected change."""

    id: str
    session: str
    time: float
    errors: Mapping[str, str]
    rejected: frozenset[str]
    words: str


def action_of(line: str, root: str, paths: Sequence[str], unique: Iterable[str], session: str) -> Action:
    """Return the action of editing files, or of running a line in a shell at the root."""
    return Action(tuple(paths), frozenset(unique), commands_of(line, root) if line else (), session)


def reminders(
    action: Action, entries: Sequence[Entry], lines: Iterable[NoteLine], past: Sequence[Past], now: float
) -> tuple[Reminder, ...]:
    """Return what is known about an action, Rules first.

    `entries`: those that agents are given. `lines`: of notes. `past`: the newest turns, the last one first. `now`:
    seconds since the epoch.
    """
    given = sorted((one for one in entries if one.category in _GIVEN), key=lambda one: one.category != "Rule")
    found = [
        *(
            Reminder("rule" if one.category == "Rule" else "lesson", f"{ENTRIES}/{one.id}", line_of(one)[2:])
            for one in given
            if _names(f"{one.title}\n{one.content}", action, with_folders=one.category == "Rule")
        ),
        *(Reminder("note", one.path, one.text) for one in lines if _is_telling(one.text) and _names(one.text, action)),
        *_rejected(action, past, now),
        *_failed(action, past, now),
    ]
    by_text: dict[str, Reminder] = {}
    for one in found:
        # An entry's line is safe already; nothing else may look like an approved Rule.
        text = clean_line(one.text if one.path.startswith(ENTRIES) else unapproved(one.text))
        by_text.setdefault(text, Reminder(one.kind, one.path, text))
    return tuple(by_text.values())[:MOST]


def past_of(episodes: Iterable[tuple[str, float, EpisodeRecord]]) -> list[Past]:
    """Return what a reminder may need of turns: the last one first.

    `episodes`: id, time and record of each, the oldest first.
    """
    found: list[Past] = []
    last: dict[str, Turn] = {}
    for id_, ended, record in episodes:
        turn = Turn(id_, ended, record, last.get(record.session))
        last[record.session] = Turn(id_, ended, record)
        errors = {run.command.text: _error(run.output) if has_failed(run) else "" for run in turn.runs}
        files = frozenset(turn.before.record.files) if turn.before is not None and rejects(turn) else frozenset()
        words = clean_line(record.prompts[0]) if files else ""
        found.append(Past(id_, record.session, ended, errors, files, words))
    found.reverse()
    return found


def _error(output: str) -> str:
    """Return the cause of a failure; a failed test is a reason to run the tests again."""
    sign = sign_of(output)
    return "a failed test" if sign is None or EXPECTED.search(sign.words) else sign.words


def _rejected(action: Action, past: Sequence[Past], now: float) -> Iterator[Reminder]:
    for one in past:
        for path in action.paths:
            if path in one.rejected and one.session != action.session:
                words = f"The user rejected a change of {path}, {age(now - one.time)}: {one.words}"
                yield Reminder("rejected", f"{EPISODES}/{one.id}", words)


def _failed(action: Action, past: Sequence[Past], now: float) -> Iterator[Reminder]:
    for command in action.commands:
        last = next((one for one in past if command.text in one.errors), None)
        error = last.errors[command.text] if last is not None else ""
        if last is not None and error not in ("", "a failed test") and last.session != action.session:
            words = f"`{command.text}` failed when it was last run, {age(now - last.time)}: {error}"
            yield Reminder("failure", f"{EPISODES}/{last.id}", words)


def _is_telling(line: str) -> bool:
    return _FIX.search(line) is not None or not _NOT_WANTED.isdisjoint(cues_of(line))


def _names(text: str, action: Action, *, with_folders: bool = False) -> bool:
    return any(_names_file(text, path, action.unique, with_folders=with_folders) for path in action.paths) or any(
        _names_command(text, command) for command in action.commands
    )


def _names_file(text: str, path: str, unique: frozenset[str], *, with_folders: bool) -> bool:
    whole = PurePosixPath(path)
    names = {path, whole.name} if whole.name in unique else {path}
    if any(one in text and re.search(f"{_BEFORE}{re.escape(one)}{_AFTER}", text) for one in names):
        return True
    folders = {f"{one}/" for parent in whole.parents for one in (parent.as_posix(), parent.name) if parent.name}
    return with_folders and any(
        one in text and re.search(rf"{_BEFORE}{re.escape(one)}(?:\*{{1,2}})?(?![\w./*-]*\w)", text) for one in folders
    )


def _names_command(text: str, command: Command) -> bool:
    words = core_of(command.words)
    own = frozenset((*words, *command.words))
    spans = [span.split() for span in _SPAN.findall(text)]
    if any(span and span[0] in (words[0], command.words[0]) and own.issuperset(span) for span in spans):
        return True
    plain, program = _SPAN.sub(" ", text), re.escape(words[0])
    first = next((one for one in words[1:] if not one.startswith("-")), "")
    return re.search(f"{_USED}{program}{_AFTER}", plain) is not None or (
        bool(first) and re.search(f"{_BEFORE}{program} {re.escape(first)}{_AFTER}", plain) is not None
    )
