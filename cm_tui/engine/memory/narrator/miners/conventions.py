"""Conventions in accepted changes: how new files begin, how they are numbered, and the form of commit messages.

The first six lines of each new file are claims about files with its ending in its folder, in the folder above, and
anywhere; the form of a commit message is one about commit messages. Each new file and each message is counted too: the
share of those that follow a convention (`support / (support + opposed)`) is its confidence. Of the possible folders of
a line, the narrowest with nearly all of them is proposed (`overlaps.py`).

Messages of the commits that a turn made, and the form that they have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.runs import MOST_STEPS, is_shell, simples_of
from cm_tui.engine.memory.narrator.turn import NewFile, Observation, Turn, is_accepted, rejects
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

MESSAGES = "commit messages"
_MOST = 10
"""Most new files of a turn: more were made by a program."""
_LINE = 120
_ENDING = pattern("conventions", "ending", 0)
_TEST = re.compile(r"(?:Tests?|Spec|IT)\.(?:java|kt|cs|swift|scala|groovy|php)$")
_TRIVIAL = pattern("conventions", "trivial")
"""Lines that are common to a kind of file anywhere, or that name the file itself."""
_COMMENT = pattern("conventions", "comment")
_YEAR = re.compile(r"\b(?:19|20)\d\d(?:\s*[-–]\s*(?:(?:19|20)\d\d|present))?\b")
_NUMBERED = (
    (re.compile(r"\d{14}[_-]\w"), "a time of 14 digits", "20240131120000_words"),
    (re.compile(r"\d{4}-?\d\d-?\d\d[_-]\w"), "a date", "2024-01-31-words"),
    (re.compile(r"\d{3,5}[_-]\w"), "a number", "0042-words"),
    (re.compile(r"V\d+(?:[._]\d+)*__\w"), "a version", "V42__words"),
)


def mine_conventions(turn: Turn) -> Iterable[Observation]:
    """Return the conventions of the turn's new files and commits."""
    if is_accepted(turn.record):
        yield from _of_files(turn.changes.new, opposes=False)
    if turn.before is not None and rejects(turn):
        yield from _of_files(turn.before.changes.new, opposes=True)
    for message in messages_in(turn.record):
        yield Observation("convention", MESSAGES, "", "A commit message", message, 0.0)
        form = form_of(message)
        if form is not None:
            yield Observation("convention", MESSAGES, form.claim, form.text, message, form.weight)


def _of_files(new: Sequence[NewFile], *, opposes: bool) -> Iterator[Observation]:
    if not 1 <= len(new) <= _MOST:
        return
    seen: dict[tuple[str, str], Observation] = {}
    for file in new:
        lines = [line for line in map(str.strip, file.lines) if _is_specific(line)]
        for folder, files in _subjects(file.path):
            subject = f"{folder}\t{files}"
            if not opposes:
                seen.setdefault((subject, ""), Observation("convention", subject, "", "A new file", file.path, 0.0))
            for line in lines:
                made = Observation(
                    "convention", subject, _YEAR.sub("#", line), f"{_of(folder, files)} have `{line}` at the top",
                    f"{file.path}: {line}", opposes=opposes,
                )  # fmt: skip
                seen.setdefault((subject, made.claim), made)
            scheme = _scheme(file.path)
            if scheme is not None and folder and "*/" not in files:
                said = f"{_of(folder, files)} are named after {scheme[0]}, as `{scheme[1]}`"
                seen.setdefault(
                    (subject, scheme[0]),
                    Observation("convention", subject, scheme[0], said, file.path, opposes=opposes),
                )
    yield from seen.values()


def _is_specific(line: str) -> bool:
    if not 4 <= len(line) <= _LINE or "`" in line:
        return False
    return _TRIVIAL.fullmatch(line) is None or _COMMENT.match(line) is not None


def _subjects(path: str) -> Iterator[tuple[str, str]]:
    """Yield the folders that a file represents, from its own to all, each with the ending of their files."""
    folder, _, name = path.rpartition("/")
    ending = ending_of(name)
    if not ending:
        return
    yield folder, f"*{ending}"
    above = folder.rpartition("/")[0]
    if above:
        yield above, f"**/*{ending}"
    if folder:
        yield "", f"**/*{ending}"


def ending_of(name: str) -> str:
    """Return the ending of a file's name that identifies its kind, such as `_test.go`; empty: none."""
    found = _TEST.search(name) or _ENDING.search(name)
    return found[0] if found is not None and found.start() > 0 else ""


def _of(folder: str, files: str) -> str:
    where = (
        f"in `{folder}`"
        if folder and "**" not in files
        else f"below `{folder}`"
        if folder
        else "anywhere"
        if "**" in files
        else "at the top"
    )
    return f"New `{files.removeprefix('**/')}` files {where}"


def _scheme(path: str) -> tuple[str, str] | None:
    name = path.rpartition("/")[2]
    return next(((what, such) for pattern, what, such in _NUMBERED if pattern.match(name)), None)


_MOST_MESSAGES = 20
_TYPES = (
    "feat|fix|docs|style|refactor|perf|test|tests|build|ci|chore|revert|wip|deps|security|release|hotfix|improvement"
)
_CONVENTIONAL = re.compile(rf"(?:{_TYPES})(\([^()\n]{{1,40}}\))?!?: \S", re.IGNORECASE)
_TICKET = re.compile(r"\[?([A-Z][A-Z0-9]{1,9})-\d+\]?(:)?[ ]\S")
_ISSUE = re.compile(r"(?:#|GH-|gh-)\d+:? \S")
_BRACKET = re.compile(r"\[([A-Za-z][\w ./-]{0,30})\]:? \S")
_PREFIX = re.compile(r"([A-Za-z][\w.-]{0,20}(?:[/,][\w.-]{1,20}){0,3}): \S")
_EMOJI = re.compile(r"(?::[a-z0-9_+-]{2,30}:|[\U0001F300-\U0001FAFF\u2600-\u27BF]\uFE0F?) ?\S")
_NO_FORM = re.compile(r"merge |revert \"|fixup!|squash!|amend!|wip\b|initial commit", re.IGNORECASE)
_TRAILING = re.compile(r".*\S \((?:#|GH-)\d+\)$")


class Form(NamedTuple):
    """A form of commit messages."""

    claim: str
    text: str
    weight: float = 1.0


def messages_in(record: EpisodeRecord) -> list[str]:
    """Return the subjects of a turn's commits; failed ones are skipped."""
    found: list[str] = []
    for step in record.steps[:MOST_STEPS]:
        if not step.failed and "commit" in step.text and len(found) < _MOST_MESSAGES and is_shell(step):
            found += _messages(step.text)
    return found


def _messages(line: str) -> Iterator[str]:
    for simple in simples_of(line):
        if not _is_commit(simple.words):
            continue
        text = next(filter(None, map(_commit_message, simple.words, simple.words[1:])), "")
        first = text.strip().split("\n", 1)[0].strip()
        if first and len(first) <= 200 and not first.startswith("$") and not _NO_FORM.match(first):
            yield first


def _is_commit(words: tuple[str, ...]) -> bool:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-c", "-C") else 1
    return words[0] == "git" and words[at : at + 1] == ("commit",)


def _commit_message(word: str, following: str) -> str:
    """Return the message in an option."""
    if word in ("-m", "--message", "-am", "-sm", "-asm", "-sam"):
        return following
    return following.partition("=")[2] if following.startswith("--message=") else ""


def form_of(message: str) -> Form | None:
    """Return the form that a message has; None: that of a plain sentence."""
    return next((made(found) for pattern, made in _FORMS if (found := pattern.match(message)) is not None), None)


def _conventional(found: re.Match[str]) -> Form:
    shown = "type(scope): what" if found[1] else "type: what"
    kind = found[0].partition("(")[0].partition(":")[0].rstrip("!").lower()
    text = f"Commit messages are conventional commits, `{shown}`, as `{kind}{'(…)' if found[1] else ''}: …`"
    return Form("conventional", text, 1.0 if found[1] else 0.95)


def _ticket(found: re.Match[str]) -> Form:
    such = f"{found[1]}-123{':' if found[2] else ''} what"
    return Form(f"ticket {found[1]}", f"Commit messages begin with the ticket, as `{such}`")


def _prefix(found: re.Match[str]) -> Form:
    return Form("prefix", f"Commit messages begin with the area as a prefix, `area: what`, as `{found[1]}: …`")


def _always(claim: str, text: str, weight: float = 1.0) -> Callable[[re.Match[str]], Form]:
    form = Form(claim, text, weight)
    return lambda _: form


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Form]], ...] = (
    (_CONVENTIONAL, _conventional),
    (_TICKET, _ticket),
    (_ISSUE, _always("issue", "Commit messages begin with the number of the issue, as `#123: what`")),
    (_BRACKET, _always("bracket", "Commit messages begin with the area in brackets, as `[area] what`")),
    (_PREFIX, _prefix),
    (_EMOJI, _always("emoji", "Commit messages begin with an emoji that says what kind of change it is")),
    (_TRAILING, _always("issue at end", "Commit messages end with the number of the issue, as `what (#123)`", 0.9)),
)
