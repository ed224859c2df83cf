"""Coding sessions, read by the importer as an agent writes them: how much of an answer the first turns show, and in how many characters."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from tests.bench.memory import words_of
from tests.bench.quality import own_home
from tests.engine.importers.transcripts import Claude
from tests.gitrepo import Repo

FILE = Path(__file__).parents[1] / "data" / "bench" / "coding_sessions.txt"
_NOISE = [
    "collecting",
    "checking",
    "resolving",
    "cached",
    "step",
    "module",
    "fixture",
    "object",
    "buffer",
    "thread",
    "handler",
    "loading",
    "entry",
    "node",
    "pool",
]
_HEAD = """============================= test session starts ==============================
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0
configfile: pyproject.toml
plugins: repeat-0.9.3, cov-5.0.0"""
_STATES = {"x": "completed", "~": "in_progress", " ": "pending"}
_OTHERS = "scheduler billing,redis kafka,worker gateway,cron webhook,cluster tenant,queue invoice,retry refund,dashboard console"
_TOP = 5


def measure_sessions(times: int = 1) -> dict[str, Any]:
    """Return the mean share of the answers' words in the first five turns, by half of the questions.

    `times`: so many times as many sessions; the further ones are the same with other names and numbers.
    """
    text = FILE.read_text(encoding="utf-8")
    asked = [line[2:].split("|") for line in text.splitlines() if line.startswith("? ")]
    chance = random.Random(7)
    texts = [text, *(_other(text, chance) for _ in range(times - 1))]
    with (
        own_home(),
        tempfile.TemporaryDirectory(prefix="cm-sessions-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        repo = Repo(Path(folder).resolve() / "repo")
        repo.write("README.md", "# Jobs\n")
        repo.commit()
        patch.setenv("CLAUDE_CONFIG_DIR", f"{folder}/agent")
        for number, one in enumerate(texts):
            write(one, Path(folder) / "agent", repo.root, number, chance)
        with Engine.open(repo.root) as engine:
            for steps in (engine.import_sessions(), engine.index()):
                for _ in steps:
                    pass
            rows = [_figures(engine, question, answer) for question, answer in asked]
    halves = {"first half": rows[::2], "second half": rows[1::2]}
    ways = {name: {key: round(mean(row[key] for row in half), 4) for key in half[0]} for name, half in halves.items()}
    return {"sessions": text.count("\n= ") * times, "questions": len(rows), "ways": ways, "kinds": {}}


def _figures(engine: Engine, question: str, answer: str) -> dict[str, float]:
    wanted = words_of(answer) - words_of(question)
    turns = list(dict.fromkeys(hit.path for hit in engine.recall(question, limit=50).hits))[:_TOP]
    texts = [engine.source(turn).text for turn in turns]
    shares = {k: len(wanted & frozenset().union(*map(words_of, texts[:k]))) / len(wanted) for k in (1, _TOP)}
    characters = sum(map(len, texts))
    return {
        "answer words@1": shares[1],
        "answer words@5": shares[_TOP],
        "characters": characters,
        "words@5 per 1,000 characters": 1_000 * shares[_TOP] / max(1, characters),
    }


def _other(text: str, chance: random.Random) -> str:
    """The same sessions about other things."""
    for pair in _OTHERS.split(","):
        word, other = pair.split()
        if chance.random() < 0.75:
            text = text.replace(word, other).replace(word.capitalize(), other.capitalize())
    return re.sub(r"(?<!fill )\b\d{2,}\b", lambda _: str(chance.randrange(10, 9_999)), text)


def write(text: str, home: Path, root: Path, number: int, chance: random.Random) -> None:
    """Write the transcripts of a file's sessions."""
    for place, session in enumerate(re.split(r"^= ", text, flags=re.MULTILINE)[1:], start=1):
        head, *lines = session.splitlines()
        day, _, title = head.partition(" ")
        one = Claude(home, root, f"{number:04x}{place:04x}-aaaa-4aaa-8aaa-{place:012x}")
        one.clock = float(day) % 60 * 86_400
        named = {"type": "ai-title", "aiTitle": title, "sessionId": one.session}
        one.write([named, *_records(one, lines, root, chance)])


def _records(one: Claude, lines: list[str], root: Path, chance: random.Random) -> Iterator[dict[str, Any]]:
    while lines:
        line = lines.pop(0)
        mark, rest, call = line[:1], line[2:], f"toolu_{one.number}"
        if mark == ">":
            yield one.asked(rest)
        elif mark in ("~", "<"):
            yield one.said(rest, over=mark == "<")
        elif mark == "$":
            output = [
                lines.pop(0) for _ in range(next((n for n, row in enumerate(lines) if row[:1] not in "|!"), len(lines)))
            ]
            yield one.used("Bash", {"command": rest, "description": "Run"}, call)
            shown = "\n".join(_expanded(row[2:], chance) for row in output) or "ok"
            yield one.got(call, shown, failed=any(row.startswith("!") for row in output))
        elif mark == "E":
            path, _, change = rest.partition(" :: ")
            old, _, new = change.partition(" => ")
            yield one.used("Edit", {"file_path": f"{root}/{path}", "old_string": old, "new_string": new}, call)
            yield one.got(call, f"The file {root}/{path} has been updated.")
        elif mark == "P":
            items = [
                {"content": item[4:], "status": _STATES[item[1]], "activeForm": item[4:]} for item in rest.split("; ")
            ]
            yield one.used("TodoWrite", {"todos": items}, call)
            yield one.got(call, "Todos have been modified successfully.")


def _expanded(line: str, chance: random.Random) -> str:
    """A line of output; `{fill 20}` stands for so many lines that say nothing, `{pytesthead}` for the head of a test run."""

    def noise(found: re.Match[str]) -> str:
        return "\n".join(
            f"{chance.choice(_NOISE)} {chance.choice(_NOISE)}_{chance.randrange(999)} ... ok"
            for _ in range(int(found[1]))
        )

    return re.sub(r"\{fill (\d+)\}", noise, line).replace("{pytesthead}", _HEAD)
