"""Whether the lines that answer are inside a pack: questions of `just bench lines`, at four budgets, beside a plain list."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from cm_tui.engine.api.engine import Engine
from tests.bench.corpora import Question
from tests.bench.lines import KINDS, parser
from tests.bench.plain_list import BUDGETS, Shown, plain_list, text_of
from tests.bench.quality import indexed, own_home
from tests.bench.questions.build import build
from tests.bench.rankings import PASSAGES

ALL = "all kinds"
_HALF = 0.5
_LEAST = 3
"""Questions of a kind that a repository must have to be counted for it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a question's answers is inside a selection."""

    half: bool
    """At least half of the lines of one answer."""
    file: bool
    share: float
    """Of all lines of all answers."""
    tokens: float
    ms: float = 0.0


Readings = dict[tuple[str, int], list[Reading]]
"""By `pack` or `list`, and by budget."""


def read_lines(question: Question, shown: Iterable[Shown], tokens: float, ms: float = 0.0) -> Reading:
    """Judge a selection of lines.

    Args:
        question: with the lines that answer it.
        shown: the selection.
        tokens: what it costs.
        ms: how long it took to make.
    """
    places = list(shown)
    lines = {(place.path, line) for place in places for line in range(place.start_line, place.end_line + 1)}
    answers = [
        {(target.path, line) for line in range(target.start_line, target.end_line + 1)}
        for target in question.targets
        if target.start_line is not None and target.end_line is not None
    ]
    everything = set().union(*answers)
    return Reading(
        half=any(len(answer & lines) >= _HALF * len(answer) for answer in answers),
        file=any(place.path == target.path for place in places for target in question.targets),
        share=len(everything & lines) / len(everything) if everything else 0.0,
        tokens=tokens,
        ms=ms,
    )


def ask(engine: Engine, question: Question, *, neighbours: bool = True) -> Iterator[tuple[tuple[str, int], Reading]]:
    """Make packs and plain lists for a question.

    Yields:
        which selection and budget, and how it is read.
    """
    hits = engine.search(question.text, limit=PASSAGES).hits
    for budget in BUDGETS:
        began = time.perf_counter()
        pack = engine.pack(question.text, budget=budget, neighbours=neighbours)
        ms = (time.perf_counter() - began) * 1000
        shown = [Shown(item.path, item.start_line, item.end_line) for item in pack.items if item.included]
        yield ("pack", budget), read_lines(question, shown, pack.tokens, ms)
        places, spent = plain_list(question.text, hits, budget, lambda hit: text_of(engine, hit))
        yield ("list", budget), read_lines(question, places, spent)


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    if "--corpora" in argv:
        from tests.bench import pack_corpora

        return pack_corpora.main(argv)
    options = parser(
        "packs", f"{__doc__} With --corpora: by file, on the questions of `just bench quality`; see `--corpora -h`."
    )
    options.add_argument("--no-neighbours", action="store_true", help="packs of hits alone")
    chosen = options.parse_args(list(argv))
    by_repository: dict[str, dict[str, Readings]] = {}
    with own_home():
        for repository in chosen.repositories:
            with tempfile.TemporaryDirectory(prefix="cm-packs-") as folder:
                corpus = build(repository, Path(folder), most=chosen.most, seed=chosen.seed)
                with indexed(corpus) as engine:
                    by_repository[corpus.name] = _read_all(
                        engine, corpus.questions, neighbours=not chosen.no_neighbours
                    )
            print(f"{corpus.name} ({corpus.language}): {len(corpus.questions)} questions", file=sys.stderr)
    table = {kind: row for kind in (*KINDS, ALL) if (row := _row(by_repository, kind))}
    if chosen.json:
        print(json.dumps(table, indent=1))
    else:
        _print(table)
    return 0


def _read_all(engine: Engine, questions: Iterable[Question], *, neighbours: bool) -> dict[str, Readings]:
    """Readings by kind of question, and of all kinds."""
    found: dict[str, Readings] = defaultdict(lambda: defaultdict(list))
    for question in questions:
        for what, reading in ask(engine, question, neighbours=neighbours):
            found[question.category][what].append(reading)
            found[ALL][what].append(reading)
    return found


_COLUMNS: dict[str, Callable[[Reading], float]] = {
    "half": lambda one: one.half,
    "file": lambda one: one.file,
    "share": lambda one: one.share,
    "tokens": lambda one: one.tokens,
    "ms": lambda one: one.ms,
}


def _row(by_repository: dict[str, dict[str, Readings]], kind: str) -> dict[str, Any]:
    """Mean over repositories of each measure, of one kind of question."""
    groups = [found[kind] for found in by_repository.values() if kind in found]
    groups = [group for group in groups if len(group["list", BUDGETS[0]]) >= _LEAST]
    if not groups:
        return {}
    row: dict[str, Any] = {
        "questions": sum(len(group["list", BUDGETS[0]]) for group in groups),
        "repositories": len(groups),
    }
    for what in ("pack", "list"):
        row[what] = {
            str(budget): {
                name: mean(mean(map(read, group[what, budget])) for group in groups) for name, read in _COLUMNS.items()
            }
            for budget in BUDGETS
        }
    return row


def _print(table: dict[str, dict[str, Any]]) -> None:
    print(
        f"{'':15}{'asked':>6}{'repos':>6}{'':>6}" + "".join(f"{budget:>9,} {' '.join(_COLUMNS)}" for budget in BUDGETS)
    )
    for kind, row in table.items():
        for what in ("pack", "list"):
            cells = "".join(_cell(row[what][str(budget)]) for budget in BUDGETS)
            head = f"{kind:15}{row['questions']:6}{row['repositories']:6}" if what == "pack" else " " * 27
            print(f"{head}  {what:4}{cells}")


def _cell(one: dict[str, float]) -> str:
    return f"{one['half']:9.3f}{one['file']:6.3f}{one['share']:6.3f}{one['tokens']:6.0f}{one['ms']:5.0f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
