"""A synthetic journal: sessions of made-up work over two years, in the words of a real tree."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.event import line_of
from cm_tui.engine.platform.journal.journal import SEGMENT_BYTES, Journal
from cm_tui.model import Step

_DAYS = 730
_A_DAY = 86_400.0
_AGENTS = ("claude-code", "codex", "opencode")
_TOOLS = ("Bash", "Read", "Edit", "Grep", "Write", "WebFetch", "Task")
_OUTCOMES = ("ok", "ok", "ok", "failed", "interrupted", "")
_TAGS = ("bug", "release", "refactor", "flaky", "question")
_WORD = re.compile(r"\w+|[^\w\s]+")


def vocabulary() -> list[str]:
    """Return the words of some modules of Python's own library, in their order."""
    folder = Path(sysconfig.get_path("stdlib"))
    names = (
        "argparse",
        "asyncio/base_events",
        "subprocess",
        "tempfile",
        "typing",
        "zipfile/__init__",
        "logging/__init__",
    )
    texts = ((folder / f"{name}.py") for name in names)
    return [word for file in texts if file.is_file() for word in file.read_text(encoding="utf-8").split()]


def write(journal: Journal, count: int, *, shas: Sequence[str], root: Path, now: float, seed: int = 1) -> int:
    """Write a journal of so many episodes, all at once; returns its bytes.

    Args:
        journal: an empty one.
        count: how many episodes.
        shas: commits that the agents saw.
        root: of the checkout.
        now: when the last one ended: seconds since the epoch.
        seed: of all that is made up.
    """
    with journal.held():
        size = segment = 0
        stream = None
        for line in _lines(count, shas, root, now, random.Random(seed)):
            if stream is None or stream.tell() >= SEGMENT_BYTES:
                if stream is not None:
                    stream.close()
                segment += 1
                stream = journal.file(segment).open("wb")
            size += stream.write(line)
        if stream is not None:
            stream.close()
    return size


def _lines(count: int, shas: Sequence[str], root: Path, now: float, chance: random.Random) -> Iterator[bytes]:
    words, begun = vocabulary(), now - _DAYS * _A_DAY
    paths = [f"package_{number % 40}/module_{number}.py" for number in range(1_500)]
    session = turn = 0
    for number in range(count):
        at = begun + (now - begun) * number / count
        if turn <= 0:
            session, turn = session + 1, chance.randrange(1, 20)
        turn -= 1
        record = _record(chance, words, paths, f"{session:08x}-bench", root, shas[number * len(shas) // count])
        fields: dict[str, Any] = {"id": f"{int(at * 1e9):016x}{chance.getrandbits(32):08x}", "time": at}
        fields |= {"kind": "episode", "head": record.base, "data": record.to_event_data()}
        # As a journal's own writer does: by the rules of today there is nothing to take out.
        yield line_of(fields)


def _record(
    chance: random.Random, words: Sequence[str], paths: Sequence[str], session: str, root: Path, base: str
) -> EpisodeRecord:
    def said(most: int) -> str:
        first = chance.randrange(len(words) - most)
        return " ".join(words[first : first + chance.randrange(most // 5, most)])

    tools = tuple(chance.sample(_TOOLS, chance.randrange(1, 5)))
    files = tuple(chance.sample(paths, chance.randrange(0, 8)))
    steps = tuple(Step("tool", said(20), tool, said(30)) for tool in tools)
    return EpisodeRecord(
        type="task" if chance.random() < 0.9 else "command", agent=chance.choice(_AGENTS), session=session,
        root=str(root), prompts=(said(60),), answer=said(200), files=files, base=base, patch="\n".join(said(8) for _ in files),
        outcome=chance.choice(_OUTCOMES), steps=steps, tools=tools, tokens=chance.randrange(200, 60_000),  # type: ignore[arg-type]
        tags=(chance.choice(_TAGS),) if chance.random() < 0.1 else (),
    )  # fmt: skip
