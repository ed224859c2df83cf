"""What a pack is worth by file: share of the answers to the questions of `just bench quality` that are inside it, beside a plain list."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from cm_tui.engine.api.engine import Engine
from tests.bench.corpora import QUERIES, Question, read
from tests.bench.plain_list import BUDGETS, Shown, plain_list, text_of
from tests.bench.quality import indexed, own_home
from tests.bench.rankings import PASSAGES

MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Inside:
    """What of a question's answers is inside a selection."""

    files: float
    """Share of the answers whose file is."""
    lines: float | None
    """Share of the answers with lines of which any is; None: no answer has lines."""
    any: bool
    """At least one answer's file."""
    tokens: float
    ms: float = 0.0


Found = dict[tuple[str, int], list[Inside]]
"""By `pack` or `list`, and by budget."""


def inside(question: Question, shown: Iterable[Shown], tokens: float, ms: float = 0.0) -> Inside:
    """Judge a selection of lines, as the benchmark finds an answer: by the end of its path, and any of its lines.

    Args:
        question: with the places that answer it.
        shown: the selection.
        tokens: what it costs.
        ms: how long it took to make.
    """
    places = list(shown)
    files = [any(_same_file(target.path, place.path) for place in places) for target in question.targets]
    lines = [
        any(target.found_at(place.path, place.start_line, place.end_line) for place in places)
        for target in question.targets
        if target.start_line is not None
    ]
    return Inside(mean(files) if files else 0.0, mean(lines) if lines else None, any(files), tokens, ms)


def _same_file(one: str, other: str) -> bool:
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def ask(engine: Engine, questions: Iterable[Question]) -> Found:
    """Make packs and plain lists for questions, at every budget."""
    found: Found = defaultdict(list)
    for question in questions:
        hits = engine.search(question.text, limit=PASSAGES).hits
        for budget in BUDGETS:
            began = time.perf_counter()
            pack = engine.pack(question.text, budget=budget)
            ms = (time.perf_counter() - began) * 1000
            shown = [Shown(item.path, item.start_line, item.end_line) for item in pack.items if item.included]
            found["pack", budget].append(inside(question, shown, pack.tokens, ms))
            places, spent = plain_list(question.text, hits, budget, lambda hit: text_of(engine, hit))
            found["list", budget].append(inside(question, places, spent))
    return found


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    options = argparse.ArgumentParser(prog="just bench packs --corpora", description=__doc__)
    options.add_argument(
        "--corpora", action="store_true", help="questions of just bench quality, instead of repositories"
    )
    options.add_argument("--queries", type=Path, default=QUERIES, help="file of questions (default: the nine corpora)")
    options.add_argument("--corpus", action="append", default=[], help="only this corpus; may be given again")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args(list(argv))
    table: dict[str, dict[str, Any]] = {}
    with own_home():
        for corpus in read(chosen.queries, chosen.corpus):
            with indexed(corpus) as engine:
                table[corpus.name] = _row(ask(engine, corpus.questions))
            print(f"{corpus.name} ({corpus.language}): {len(corpus.questions)} questions", file=sys.stderr)
    table[MEAN] = _mean(list(table.values()))
    if chosen.json:
        print(json.dumps(table, indent=1))
    else:
        _print(table)
    return 0


_COLUMNS = ("files", "lines", "any", "tokens", "ms")


def _row(found: Mapping[tuple[str, int], Sequence[Inside]]) -> dict[str, Any]:
    """Mean over the questions of a corpus."""
    return {
        "questions": len(found["list", BUDGETS[0]]),
        **{
            what: {
                str(budget): {name: _over([getattr(one, name) for one in found[what, budget]]) for name in _COLUMNS}
                for budget in BUDGETS
            }
            for what in ("pack", "list")
        },
    }


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean over corpora."""
    return {
        "questions": sum(row["questions"] for row in rows),
        **{
            what: {
                str(budget): {name: _over([row[what][str(budget)][name] for row in rows]) for name in _COLUMNS}
                for budget in BUDGETS
            }
            for what in ("pack", "list")
        },
    }


def _over(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return mean(known) if known else None


def _print(table: Mapping[str, Mapping[str, Any]]) -> None:
    print(f"{'':12}{'asked':>6}{'':>6}" + "".join(f"{budget:>9,} {' '.join(_COLUMNS)}" for budget in BUDGETS))
    for name, row in table.items():
        for what in ("pack", "list"):
            cells = "".join(_cell(row[what][str(budget)]) for budget in BUDGETS)
            head = f"{name:12}{row['questions']:6}" if what == "pack" else " " * 18
            print(f"{head}  {what:4}{cells}")


def _cell(one: Mapping[str, float | None]) -> str:
    shares = "".join(f"{'–' if one[name] is None else f'{one[name]:.3f}':>6}" for name in ("files", "lines", "any"))
    return f"{'':>3}{shares}{one['tokens']:7.0f}{one['ms']:4.0f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
