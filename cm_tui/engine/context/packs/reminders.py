"""What is known about an action that an agent is about to take; it is silent about most actions.

A memory names a file by its path, by a file name that the project has once, or (Rules only) by a folder above it, such
as `migrations/`. It names a command by a code span whose words all are the command's, by program and first argument, or
by a program that is used or run.

- Rules and lessons: entries that agents are given.
- Notes: lines that name it, with a word of a lasting statement (never, always, decided, turned down) or an error.
- Earlier turns of other sessions: a change of the file that the user did not want, and the command's failure, if its
  last run failed by itself and for a reason other than a failed test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from cm_tui.engine.context.packs.injection import line_of
from cm_tui.engine.context.packs.work_state import EXPECTED, clean_line, has_failed
from cm_tui.engine.memory.narrator.cues import STRONG, cues_of
from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.miners.fixes import sign_of
from cm_tui.engine.memory.narrator.runs import Command, commands_of
from cm_tui.engine.memory.narrator.shell import MOST_CHARACTERS, core_of
from cm_tui.engine.memory.narrator.turn import Turn, rejects
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import ENTRIES, EPISODES, Entry, Reminder
from cm_tui.model.dates import local_day
from cm_tui.model.text import unapproved

MOST = 4
"""Reminders of an action."""
_GIVEN: dict[str, Literal["rule", "lesson"]] = {"Rule": "rule", "Experience": "lesson"}
_NOT_WANTED = STRONG | {"do not", "not wanted", "superseded"}
_WRITING = {("git", "commit"), ("git", "add"), ("git", "stash")}
"""Commands that are no habit to learn, but that memories are about."""
_OPENING, _FEW = 200, 5
_UNWANTED = pattern("turn", "unwanted")
_FIX = re.compile(r"^When [`\"].*(?:fails with|comes up)")
_WAY = re.compile(r"^[^\n]*\b(?:is|are) \w+ with `[^`\n]+`\.?$", re.MULTILINE)
"""How something is done: who runs that command knows it."""
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_BEFORE, _AFTER = r"(?<![\w./-])(?:\./)?", r"(?![\w/-]|\.\w)"
_USED = r"\b(?i:us(?:e|es|ing)|run(?:s|ning)?|call|via|with|prefer|invoke)\s+"


class Action:
    """An action, and its names as patterns, each behind a word that a text must have.

    Args:
        line: would be given to a shell; empty: none.
        root: of the project, where the shell is.
        paths: files that would be edited, below the root.
        unique: their names without a folder, as far as no other file has them.
        session: of the agent.
    """

    def __init__(self, line: str, root: str, paths: Sequence[str], unique: Collection[str], session: str) -> None:
        self.paths, self.session = paths, session
        # A longer one is a script, and would only take room in the cache.
        found = commands_of(line, root, looking=True) if 0 < len(line) <= MOST_CHARACTERS else ()
        self.commands = [one for one in found if one.kind != "looking" or one.words[:2] in _WRITING]
        wholes = [PurePosixPath(path) for path in paths]
        programs = (word for one in self.commands for word in (one.words[0], core_of(one.words)[0]))
        self.words = {*(path.name for path in wholes), *programs}
        """Names of which each text has one that names the action; for Rules also a folder."""
        names = {*paths, *(path.name for path in wholes if path.name in unique)}
        folders = {f"{one}/" for path in wholes for up in path.parents for one in (str(up), up.name) if up.name}
        self._files = [(one, re.compile(f"{_BEFORE}{re.escape(one)}{_AFTER}")) for one in names]
        ending = r"(?:\*{1,2})?(?![\w./*-]*\w)"
        self._folders = [(one, re.compile(f"{_BEFORE}{re.escape(one)}{ending}")) for one in folders]

    def is_named(self, text: str, *, with_folders: bool = False) -> bool:
        """Return whether a text names it. `with_folders`: a folder of a file counts too."""
        paths = (*self._files, *self._folders) if with_folders else self._files
        return any(one in text and pattern.search(text) for one, pattern in paths) or any(
            _names_command(text, command) for command in self.commands
        )


class Past(NamedTuple):
    """An earlier turn: the last run of each command with its error (empty: none that lasts), and a rejected change."""

    id: str
    session: str
    time: float
    errors: Mapping[str, str]
    rejected: frozenset[str]
    words: str


def reminders(
    action: Action, entries: Sequence[Entry], lines: Iterable[tuple[str, str]], past: Sequence[Past]
) -> tuple[Reminder, ...]:
    """Return what is known about an action, Rules first.

    `entries`: those that agents are given. `lines`: of notes, each behind its note's path. `past`: the newest turns, the last one first.
    """
    by_text: dict[str, Reminder] = {}
    for one in _found(action, entries, lines, past):
        # An entry's line is safe already; nothing else may look like an approved Rule.
        text = clean_line(one.text if one.path.startswith(ENTRIES) else unapproved(one.text))
        by_text.setdefault(text, Reminder(one.kind, one.path, text))
        if len(by_text) == MOST:
            break
    return tuple(by_text.values())


def _found(
    action: Action, entries: Sequence[Entry], lines: Iterable[tuple[str, str]], past: Sequence[Past]
) -> Iterator[Reminder]:
    """Yield the reminders; no text is looked at longer than it takes to see that it names nothing of the action."""
    for category, kind in _GIVEN.items():
        for one in (one for one in entries if one.category == category):
            if action.is_named(f"{one.title}\n{one.content}", with_folders=kind == "rule"):
                yield Reminder(kind, f"{ENTRIES}/{one.id}", line_of(one)[2:])
    for path, line in lines:
        if action.is_named(line) and (_FIX.search(line) or not _NOT_WANTED.isdisjoint(cues_of(line))):
            yield Reminder("note", path, line)
    yield from _rejected(action, past)
    yield from _failed(action, past)


def past_of(episodes: Iterable[tuple[str, float, EpisodeRecord]]) -> list[Past]:
    """Return what a reminder may need of turns: the last one first.

    `episodes`: id, time and record of each, the oldest first.
    """
    found: list[Past] = []
    last: dict[str, Turn] = {}
    for id_, ended, record in episodes:
        turn = Turn(id_, ended, record, last.get(record.session))
        last[record.session] = Turn(id_, ended, record)
        # Of several commands in one line, it is not known which one failed.
        of_step = Counter(run.step for run in turn.runs)
        errors = {
            run.command.text: _error(run.output) if has_failed(run) and of_step[run.step] == 1 else ""
            for run in turn.runs
        }
        files = _unwanted(turn)
        # What follows the first paragraph is mostly pasted.
        words = clean_line(record.prompts[0].strip().partition("\n\n")[0]) if files else ""
        found.append(Past(id_, record.session, ended, errors, files, words))
    found.reverse()
    return found


def _unwanted(turn: Turn) -> frozenset[str]:
    """Return the files whose change the user wants undone; one that did not work yet was made again.

    Of many files it is not known which are meant.
    """
    files = turn.before.record.files if turn.before is not None and rejects(turn) else ()
    is_unwanted = 0 < len(files) <= _FEW and _UNWANTED.search(turn.record.prompts[0][:_OPENING].replace("’", "'"))
    return frozenset(files) if is_unwanted else frozenset()


def _error(output: str) -> str:
    """Return the cause of a failure; empty: unknown, or a failed test, which is a reason to run the tests again."""
    sign = sign_of(output)
    return "" if sign is None or EXPECTED.search(sign.words) else sign.words


def _rejected(action: Action, past: Sequence[Past]) -> Iterator[Reminder]:
    for path in action.paths:
        one = next((one for one in past if path in one.rejected and one.session != action.session), None)
        if one is not None:
            # With a date, and not an age: what was shown in a session is known again by its text.
            words = f"The user rejected a change of {path} on {local_day(one.time)}: {one.words}"
            yield Reminder("rejected", f"{EPISODES}/{one.id}", words)


def _failed(action: Action, past: Sequence[Past]) -> Iterator[Reminder]:
    for command in action.commands:
        last = next((one for one in past if command.text in one.errors), None)
        if last is not None and last.session != action.session and (error := last.errors[command.text]):
            words = f"`{command.text}` failed when it was last run, on {local_day(last.time)}: {error}"
            yield Reminder("failure", f"{EPISODES}/{last.id}", words)


def _names_command(text: str, command: Command) -> bool:
    words = core_of(command.words)
    if words[0] not in text and command.words[0] not in text:
        return False
    text, own = _WAY.sub(" ", text), frozenset((*words, *command.words))
    spans = [span.split() for span in _SPAN.findall(text)]
    if any(span and span[0] in (words[0], command.words[0]) and own.issuperset(span) for span in spans):
        return True
    plain, program = _SPAN.sub(" ", text), re.escape(words[0])
    first = next((one for one in words[1:] if not one.startswith("-")), "")
    return re.search(f"{_USED}{program}{_AFTER}", plain) is not None or (
        bool(first) and re.search(f"{_BEFORE}{program} {re.escape(first)}{_AFTER}", plain) is not None
    )
