"""Repeated commands.

Each command of a shell line counts separately, as `runs.py` writes it; its words are the claim. Excluded are commands
that only look around, that every project uses (`git push`, `mkdir`), programs given with the command, and what depends
on the moment (variables, folders elsewhere, hashes).

Arguments of the task at hand (a test file, a test's name, `-k …`) are dropped: the command without them is observed
with the weight 0.5 instead of 1. A failed run counts against the command, unless it succeeded in the same turn, or is a
check (tests, linters, types, builds: to fail is a valid result); output that reports an unknown command always does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from cm_tui.engine.memory.narrator.lists import pairs, pattern, words
from cm_tui.engine.memory.narrator.runs import Command, written
from cm_tui.engine.memory.narrator.shell import core_of
from cm_tui.engine.memory.narrator.turn import Observation, Turn

_MOST = 60
"""Different commands of one turn."""
_BARE, _SHORTENED = 1.0, 0.5
_CHOOSING = words("choosing")
_CHOOSING_HERE = pattern("commands", "choosing_here", 0)
_ALONE = frozenset(("--lf", "--ff", "--last-failed"))
_TESTING = pattern("commands", "testing", 0)
_TEST_FILE = pattern("commands", "test_file", 0)
_SOURCE = pattern("commands", "source", 0)
_INTERPRETERS = words("interpreters")


def mine_commands(turn: Turn) -> Iterable[Observation]:
    """Return the commands that the turn ran."""
    found: dict[str, Observation] = {}
    runs = [run for run in turn.runs if run.command.kind == "own" and run.command.is_lasting]
    fine = {run.command.text for run in runs if run.state in ("ok", "unsure")}
    for run in runs:
        if len(found) >= _MOST:
            break
        words = bare(run.command.words)
        opposes = run.state in ("failed", "missing")
        is_answer = run.state == "failed" and (run.command.text in fine or role_of(words) in _CHECKS)
        if run.state == "unknown" or is_answer or not _is_plain(words):
            continue
        is_bare = words == run.command.words
        text = run.command.text if is_bare else _with(run.command, words)
        seen = found.get(text)
        if seen is None or (is_bare and seen.weight < _BARE):
            found[text] = Observation(
                "command", " ".join(core_of(words)[:1]), text, wording(text, words), run.line,
                _BARE if is_bare else _SHORTENED, opposes=opposes,
            )  # fmt: skip
    return found.values()


def is_fact(command: Command) -> bool:
    """Return whether a command is one of the project that could be run again as it is."""
    return command.kind == "own" and command.is_lasting and _is_plain(command.words)


def _is_plain(words: Sequence[str]) -> bool:
    return len(words) <= _MOST_WORDS and not any(map(_ODD.search, words))


_MOST_WORDS = 16
_ODD = re.compile(r"[\\^|(){};<>\"]|\s.*\s.*\s|[^\x20-\x7e]")


def _with(command: Command, words: Sequence[str]) -> str:
    before = f"cd {command.place} && " if command.place else ""
    return before + " ".join((*command.env, written(words)))


@lru_cache(maxsize=8_192)
def bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without the arguments of the task at hand."""
    head = len(words) - len(core_of(words))
    core = words[head:]
    if len(core) < 2:
        return words
    program = core[0].rpartition("/")[2]
    # Options before it belong to another program: `make -k check`.
    testing = next((at for at, word in enumerate((program, *core[1:3])) if _TESTING.fullmatch(word)), len(core))
    kept, is_script = list(words[: head + 1]), program in _INTERPRETERS
    skip = False
    for at, word in enumerate(core[1:], 1):
        if skip:
            skip = False
        elif at > testing and word in _CHOOSING:
            skip = word not in _ALONE
        elif at > testing and _CHOOSING_HERE.fullmatch(word):
            continue
        elif word.startswith("-") or not (_TEST_FILE.search(word) or _SOURCE.search(word)):
            kept.append(word)
        elif is_script and not _TEST_FILE.search(word):
            is_script = False
            kept.append(word)
        elif kept[-1] in _FILE_OPTIONS:
            kept.append(word)
    while kept[-1] == "--":
        kept.pop()
    return tuple(kept) if len(kept) > 1 or len(words) == 1 else words[: head + 1]


_FILE_OPTIONS = words("file_options")
_ROLES = tuple((re.compile(rf"(?:[\w.:]*[.:])?(?:{form})"), said) for said, form in pairs("roles").items())


_CHECKS = frozenset(words for _, words in _ROLES[:5]) | {_ROLES[8][1]}
"""What fails where the code is not right."""


@lru_cache(maxsize=8_192)
def role_of(words: tuple[str, ...]) -> str:
    """Return the purpose of a command, as the beginning of a sentence; empty: unknown."""
    core = [word.rpartition("/")[2] for word in core_of(words)[:4] if not word.startswith("-")]
    # The second word is a plainer description than the program: `ruff format`.
    for word in (*core[1:], *core[:1]):
        for form, said in _ROLES:
            if form.fullmatch(word):
                return said
    return ""


def wording(text: str, words: tuple[str, ...]) -> str:
    """Return a fact about a command, as it would be written."""
    role = role_of(words)
    return f"{role} `{text}`" if role else f"`{text}` is run again and again"
