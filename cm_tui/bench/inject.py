"""How long it takes to choose what an agent is given of many entries: once they were read, and from nothing."""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cm_tui.bench.quality import own_home
from cm_tui.engine.entries.entries import Entries
from cm_tui.engine.entries.entry_file import writing
from cm_tui.engine.entries.entry_record import digest, entry_data, new_id
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.model.author import Author

_WORDS = 3_000
_FILES = 200
_CATEGORIES = ("Rule", "Knowledge", "Experience")
_QUESTIONS = 30
TARGET_MS = 20.0


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(prog="cm bench inject", description=__doc__)
    parser.add_argument("--entries", type=int, default=5_000, help="how many entries there are (5000)")
    parser.add_argument("--budget", type=int, default=2_000, help="tokens of an injection (2000)")
    given = parser.parse_args(words)
    with own_home(), tempfile.TemporaryDirectory(prefix="cm-inject-") as folder:
        root = Path(folder).resolve()
        print(f"writing {given.entries:,} entries …", file=sys.stderr)
        _write(Entries(root), given.entries)
        cold = [_once(root, given.budget) for _ in range(3)]
        with LocalEngine.open(root) as engine:
            engine.inject(budget=given.budget, prompt="w1")
            plain = _timed(lambda _: engine.inject(budget=given.budget))
            asked = _timed(
                lambda n: engine.inject(
                    budget=given.budget, prompt=f"where is w{n} tested with w{n * 7}", files=(f"src/app/file{n}.py",)
                )
            )
    print(f"{given.entries:,} entries, {given.budget:,} tokens; target at most {TARGET_MS:g} ms\n")
    print("| | median | p95 |\n|---|---|---|")
    for name, times in (("no question", plain), ("a prompt and a file", asked), ("files read first", cold)):
        print(f"| {name} | {statistics.median(times):.1f} ms | {_p95(times):.1f} ms |")
    return 0


def _write(entries: Entries, number: int) -> None:
    """Write entries as one change of the file: each by itself would take minutes."""
    chance = random.Random(7)
    words = [f"w{n}" for n in range(_WORDS)]
    with writing():
        ledger, content = entries.ledger.read(), entries.files["project"].read()
        for _ in range(number):
            text = f"{' '.join(chance.choices(words, k=30))} src/app/file{chance.randrange(_FILES)}.py"
            draft = entries.draft(text, Author(), category=chance.choice(_CATEGORIES))
            entry = replace(draft, id=new_id(content.entries))
            content.items.append(entry_data(entry))
            ledger.note_written(digest(entry))
        entries.ledger.write(ledger)
        entries.files["project"].write(content, lambda _: None)


def _once(root: Path, budget: int) -> float:
    with LocalEngine.open(root) as engine:
        began = time.perf_counter()
        engine.inject(budget=budget)
        return (time.perf_counter() - began) * 1000


def _timed(ask: Callable[[int], object]) -> list[float]:
    times = []
    for number in range(_QUESTIONS):
        began = time.perf_counter()
        ask(number)
        times.append((time.perf_counter() - began) * 1000)
    return times


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]
