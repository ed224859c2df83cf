"""A synthetic journal for the narrator: sessions in which people state, correct and decide, and agents run, fail and mend."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.event import line_of
from cm_tui.engine.platform.journal.journal import SEGMENT_BYTES, Journal
from cm_tui.model import Step
from tests.bench import episode_journal

_A_DAY = 86_400.0
_DAYS = 730
_LASTING = ("Always", "Never", "From now on", "Please remember:", "We decided to", "I prefer to", "Don't")
_RULES = (
    "run the linter before a commit", "write tests for each change", "use blanks instead of tabs", "keep functions short",
    "store times in UTC", "squash commits before a merge", "pin the versions of dependencies", "log with the shared logger",
    "name branches by their ticket", "use the factory for fixtures", "check migrations by hand", "avoid global state",
)  # fmt: skip
_COMMANDS = (
    "pytest -q", "ruff check .", "npm test", "npm run build", "cargo test", "make lint", "git status", "git diff",
    "docker compose up -d", "python manage.py migrate", "mypy .", "uv sync",
)  # fmt: skip
_ERRORS = (
    "ModuleNotFoundError: No module named 'yaml'", "error: linking with `cc` failed: exit status 1",
    "FAILED tests/test_{n}.py::test_sum - AssertionError", 'npm ERR! Missing script: "test"',
    "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
)  # fmt: skip


def write(journal: Journal, count: int, *, root: Path, now: float, seed: int = 1) -> int:
    """Write a journal of so many episodes, all at once; returns its bytes.

    Args:
        journal: an empty one.
        count: how many episodes.
        root: of the checkout.
        now: when the last one ended: seconds since the epoch.
        seed: of all that is made up.
    """
    with journal.held():
        size = segment = 0
        stream = None
        for line in _lines(count, root, now, random.Random(seed)):
            if stream is None or stream.tell() >= SEGMENT_BYTES:
                if stream is not None:
                    stream.close()
                segment += 1
                stream = journal.file(segment).open("wb")
            size += stream.write(line)
        if stream is not None:
            stream.close()
    return size


def append_session(journal: Journal, number: int, turns: int, *, root: Path) -> None:
    """Append a session of so many turns that has just ended.

    Args:
        journal: an existing one.
        number: of the session, by which it is made up.
        turns: how many.
        root: of the checkout.
    """
    chance, words = random.Random(number), episode_journal.vocabulary()
    made = (_record(chance, words, f"more-{number}", root) for _ in range(turns))
    journal.append_all("episode", [(replace(one, at=time.time()).to_event_data(), None) for one in made])


def _lines(count: int, root: Path, now: float, chance: random.Random) -> Iterator[bytes]:
    words, begun = episode_journal.vocabulary(), now - _DAYS * _A_DAY
    conversation = turns = 0
    for number in range(count):
        at = begun + (now - begun) * number / count
        if turns <= 0:
            conversation, turns = conversation + 1, chance.randrange(1, 20)
        turns -= 1
        fields: dict[str, Any] = {"id": f"{int(at * 1e9):016x}{chance.getrandbits(32):08x}", "time": at}
        record = _record(chance, words, f"{conversation:08x}-bench", root)
        fields |= {"kind": "episode", "head": None, "data": record.to_event_data()}
        # As a journal's own writer does: by the rules of today there is nothing to take out.
        yield line_of(fields)


def _record(chance: random.Random, words: Sequence[str], conversation: str, root: Path) -> EpisodeRecord:
    def some(most: int) -> str:
        first = chance.randrange(len(words) - most)
        return " ".join(words[first : first + chance.randrange(most // 5, most)])

    prompt = some(60)
    if chance.random() < 0.15:
        rule = chance.choice(_RULES) if chance.random() < 0.7 else some(12)
        prompt = f"{prompt}. {chance.choice(_LASTING)} {rule}."
    files = tuple(f"package_{n % 40}/module_{n}.py" for n in chance.sample(range(400), chance.randrange(0, 6)))
    steps = tuple(_steps(chance, some, files))
    patch = "".join(_diff(path, some(8), some(8)) for path in files)
    return EpisodeRecord(
        type="task", agent=chance.choice(("claude-code", "codex", "opencode")), session=conversation, root=str(root),
        prompts=(prompt,), answer=some(200), files=files, patch=patch, outcome=chance.choice(("ok", "ok", "failed", "")),
        steps=steps, step_count=len(steps), tools=tuple(dict.fromkeys(step.tool for step in steps if step.tool)),
        tokens=chance.randrange(200, 60_000),
    )  # fmt: skip


def _steps(chance: random.Random, some: Any, files: Sequence[str]) -> Iterator[Step]:
    for path in files:
        yield Step("tool", some(20), "Edit", some(30), path)
    for _ in range(chance.randrange(0, 6)):
        command = chance.choice(_COMMANDS) if chance.random() < 0.7 else f"python {chance.choice(files or ('a.py',))}"
        if chance.random() < 0.25:
            yield Step(
                "tool", command, "Bash", chance.choice(_ERRORS).replace("{n}", str(chance.randrange(50))), failed=True
            )
            yield Step("tool", chance.choice(_COMMANDS), "Bash", some(30))
        yield Step("tool", command, "Bash", some(30))


def _diff(path: str, old: str, new: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-{old}\n+{new}\n"
