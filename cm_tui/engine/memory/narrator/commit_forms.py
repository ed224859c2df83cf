"""Messages of the commits that a turn made, and the form that they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cm_tui.engine.memory.narrator.runs import MOST_STEPS, is_shell, simples_of
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

_MOST = 20
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
        if not step.failed and "commit" in step.text and len(found) < _MOST and is_shell(step):
            found += _messages(step.text)
    return found


def _messages(line: str) -> Iterator[str]:
    for simple in simples_of(line):
        if not _is_commit(simple.words):
            continue
        text = next(filter(None, map(_given, simple.words, simple.words[1:])), "")
        first = text.strip().split("\n", 1)[0].strip()
        if first and len(first) <= 200 and not first.startswith("$") and not _NO_FORM.match(first):
            yield first


def _is_commit(words: tuple[str, ...]) -> bool:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-c", "-C") else 1
    return words[0] == "git" and words[at : at + 1] == ("commit",)


def _given(word: str, following: str) -> str:
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
