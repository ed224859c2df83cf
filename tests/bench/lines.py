"""Whether the right lines are shown first: questions made of repositories' histories, comments, tests, documents and names."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from cm_tui.model import Hit, Profile
from tests.bench.corpora import Question
from tests.bench.quality import Asked, indexed, own_home, variants
from tests.bench.questions.build import SEED, build
from tests.bench.rankings import DEPTH, PASSAGES, best_of_files, ndcg, ranks_of

KINDS = ("commit", "comment", "test", "document", "section", "name", "qualified name", "half a name")
_LEAST = 3
"""Questions of a kind that a repository must have to be counted for it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How well one question is answered: by the ten best passages against lines, and by the ten best files."""

    ndcg: float
    rank: int
    """Of the first passage that shows a target's lines; 0: none of the first ten does."""
    file_ndcg: float
    file_rank: int


def read_lines(question: Question, hits: Sequence[Hit]) -> Reading:
    """Judge a ranking by lines and by files.

    Args:
        question: with the lines that answer it.
        hits: best first, deeper than ten passages so that ten files are among them.
    """
    whole = tuple({target.path: replace(target, start_line=None) for target in question.targets}.values())
    ranks, file_ranks = ranks_of(question.targets, hits), ranks_of(whole, best_of_files(hits))
    return Reading(
        ndcg(ranks, len(question.targets)),
        min(ranks, default=0),
        ndcg(file_ranks, len(whole)),
        min(file_ranks, default=0),
    )


def ask(repositories: Sequence[Path], *, most: int, seed: int) -> Iterator[tuple[str, str, list[Asked]]]:
    """Make the questions of repositories and retrieve their candidates.

    Yields:
        name, language and questions of each repository.
    """
    for repository in repositories:
        with tempfile.TemporaryDirectory(prefix="cm-lines-") as folder:
            corpus = build(repository, Path(folder), most=most, seed=seed)
            with indexed(corpus) as engine:
                profile = engine.profiles()["code"]
                yield corpus.name, corpus.language, [
                    Asked(corpus.name, question, engine.retrieve(question.text, profile=profile, mode="hybrid"))
                    for question in corpus.questions
                ]  # fmt: skip


def judge(asked: Sequence[Asked], profile: Profile, *, depth: int = PASSAGES) -> dict[str, list[Reading]]:
    """Rank every question's candidates by a profile, and read the rankings by kind of question.

    Args:
        asked: questions with candidates.
        profile: the numbers.
        depth: passages that are looked at; ten tell nothing of ten files.
    """
    from cm_tui.engine.search.ranking.rank import rank

    found: dict[str, list[Reading]] = defaultdict(list)
    for one in asked:
        hits = rank(one.candidates, profile, limit=depth).hits
        found[one.question.category].append(read_lines(one.question, hits))
    return found


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    from cm_tui.engine.search.ranking.profiles import load

    options = _options(argv)
    profile = load({})["code"]
    by_repository: dict[str, dict[str, list[Reading]]] = {}
    changed: dict[str, list[dict[str, float]]] = defaultdict(list)
    with own_home():
        for name, language, asked in ask(options.repositories, most=options.most, seed=options.seed):
            by_repository[name] = judge(asked, profile)
            print(f"{name} ({language}): {len(asked)} questions", file=sys.stderr)
            for without, other in variants(profile) if options.ablation else ():
                changed[without].append(changes(by_repository[name], judge(asked, other, depth=DEPTH)))
    table = {kind: row for kind in KINDS if (row := _row(by_repository, kind))}
    worth = {without: _mean_by_kind(rows) for without, rows in changed.items()}
    if options.json:
        print(json.dumps({**table, "without": worth} if worth else table, indent=1))
        return 0
    _print(table)
    if worth:
        _print_worth(worth)
    return 0


def changes(before: dict[str, list[Reading]], after: dict[str, list[Reading]]) -> dict[str, float]:
    """Return how much NDCG@10 by lines changes for each kind with enough questions."""
    return {
        kind: mean(one.ndcg for one in after[kind]) - mean(one.ndcg for one in readings)
        for kind, readings in before.items()
        if len(readings) >= _LEAST
    }


def _mean_by_kind(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Mean over the repositories that have a kind."""
    return {kind: mean(found) for kind in KINDS if (found := [row[kind] for row in rows if kind in row])}


def parser(name: str, about: str | None) -> argparse.ArgumentParser:
    """Return the options of a measurement that makes its questions of repositories."""
    found = argparse.ArgumentParser(prog=f"just bench {name}", description=about)
    found.add_argument("repositories", type=Path, nargs="+", help="git repositories with some history")
    found.add_argument("--most", type=int, default=40, metavar="N", help="questions of each kind and repository (40)")
    found.add_argument("--seed", type=int, default=SEED, help="of what is chosen")
    found.add_argument("--json", action="store_true")
    return found


def _options(argv: Sequence[str]) -> argparse.Namespace:
    found = parser("lines", __doc__)
    found.add_argument("--ablation", action="store_true", help="the worth of every number, one switched off at a time")
    return found.parse_args(list(argv))


_COLUMNS: dict[str, Callable[[Reading], float]] = {
    "hit@1": lambda one: one.rank == 1,
    "hit@5": lambda one: 0 < one.rank <= 5,
    "hit@10": lambda one: one.rank > 0,
    "MRR": lambda one: 1 / one.rank if one.rank else 0.0,
    "NDCG@10": lambda one: one.ndcg,
    "file hit@1": lambda one: one.file_rank == 1,
    "file NDCG@10": lambda one: one.file_ndcg,
}


def _row(by_repository: dict[str, dict[str, list[Reading]]], kind: str) -> dict[str, float]:
    """Mean over repositories of each measure, of one kind of question."""
    groups = [found[kind] for found in by_repository.values() if len(found.get(kind, ())) >= _LEAST]
    if not groups:
        return {}
    means = {name: mean(mean(map(measure, group)) for group in groups) for name, measure in _COLUMNS.items()}
    return {"questions": sum(map(len, groups)), "repositories": len(groups), **means}


def _print(table: dict[str, dict[str, float]]) -> None:
    print(f"{'':15}{'asked':>7}{'repos':>7}" + "".join(f"{name:>14}" for name in _COLUMNS))
    for kind, row in table.items():
        numbers = "".join(f"{row[name]:14.3f}" for name in _COLUMNS)
        print(f"{kind:15}{row['questions']:7.0f}{row['repositories']:7.0f}{numbers}")


def _print_worth(worth: dict[str, dict[str, float]]) -> None:
    kinds = [kind for kind in KINDS if any(kind in row for row in worth.values())]
    print(f"\n{'NDCG@10':24}" + "".join(f"{kind:>15}" for kind in kinds))
    for without, row in worth.items():
        print(f"{without:24}" + "".join(f"{row[kind]:+15.3f}" if kind in row else f"{'':15}" for kind in kinds))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
