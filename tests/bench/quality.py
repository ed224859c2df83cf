"""Retrieval quality: NDCG@10 on questions with known answers, by corpus and category, with ablations."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

from cm_tui.config import Config
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import UsageError
from cm_tui.model import Candidates, Hit, Mode, Profile
from cm_tui.model.text import one_line
from tests.bench import rankings
from tests.bench.corpora import QUERIES, Corpus, Question, read
from tests.bench.rankings import PASSAGES, best_of_files, ranks_of


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its candidates: ranked again as often as the numbers change."""

    corpus: str
    question: Question
    candidates: Candidates


@dataclass(frozen=True, slots=True)
class Score:
    """NDCG@10 of every question."""

    rows: tuple[tuple[str, Question, float], ...]

    def by_corpus(self) -> dict[str, float]:
        """Mean over the questions of each corpus."""
        return _means((corpus, value) for corpus, _, value in self.rows)

    def by_category(self) -> dict[str, float]:
        """Mean over the questions of each category."""
        return _means((question.category, value) for _, question, value in self.rows)

    @property
    def mean(self) -> float:
        """Mean over corpora."""
        return mean(self.by_corpus().values())


def _means(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for name, value in pairs:
        groups[name].append(value)
    return {name: mean(values) for name, values in groups.items()}


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    from cm_tui.engine.search.ranking.profiles import load

    options = _parser().parse_args(list(argv))
    if options.profile not in (known := load({})):
        raise UsageError(f"There is no profile {options.profile!r}.", hint=f"Known are {', '.join(known)}.")
    with own_home():
        corpora = list(read(options.queries, options.corpus))
        asked: dict[Mode, list[Asked]] = {mode: [] for mode in _modes(options)}
        profile = None
        for corpus in corpora:
            with indexed(corpus) as engine:
                profile = engine.profiles()[options.profile]
                for mode, rows in asked.items():
                    rows += [
                        Asked(corpus.name, question, engine.retrieve(question.text, profile=profile, mode=mode))
                        for question in corpus.questions
                    ]
    assert profile is not None
    _report(asked, profile, options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="just bench quality", description=__doc__)
    parser.add_argument("--queries", type=Path, default=QUERIES, help="file of questions (default: the nine corpora)")
    parser.add_argument("--corpus", action="append", default=[], help="only this corpus; may be given again")
    parser.add_argument("--profile", default="code")
    parser.add_argument("--mode", choices=["hybrid", "keyword", "vector"], help="only this mode")
    parser.add_argument("--files", action="store_true", help="show everything for the ten best files, lines left out")
    parser.add_argument("--ablation", action="store_true", help="the worth of every number, one switched off at a time")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="show the N worst questions")
    parser.add_argument("--json", action="store_true")
    return parser


def _modes(options: argparse.Namespace) -> list[Mode]:
    return [options.mode] if options.mode else ["hybrid", "keyword"]


@contextmanager
def own_home() -> Iterator[None]:
    """Stores and settings of the measurement alone; downloaded corpora stay where they always are."""
    from cm_tui import paths

    before = os.environ.get("CM_HOME")
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as home:
        cached = paths.state_dir() / "bench"
        cached.mkdir(parents=True, exist_ok=True)
        state = Path(home) / "state"
        state.mkdir()
        (state / "bench").symlink_to(cached, target_is_directory=True)
        os.environ["CM_HOME"] = home
        try:
            yield
        finally:
            if before is None:
                del os.environ["CM_HOME"]
            else:
                os.environ["CM_HOME"] = before


@contextmanager
def indexed(corpus: Corpus) -> Iterator[Engine]:
    """A corpus in a store of its own, with default settings, whatever lies above its folder."""
    with tempfile.TemporaryDirectory(prefix="cm-corpus-") as store:
        engine = Engine(corpus.folder.resolve(), Path(store), Config())
        try:
            for step in engine.index(full=True):
                print(f"\r{corpus.name}: {step.stage} {step.done}/{step.total}\x1b[K", end="", file=sys.stderr)
            yield engine
        finally:
            print(file=sys.stderr)
            engine.close()


def score(asked: Sequence[Asked], profile: Profile, *, files: bool = False) -> Score:
    """Rank every question's candidates by a profile.

    Args:
        asked: questions with candidates.
        profile: the numbers.
        files: compare the ten best files, without lines; else the ten best passages.
    """
    from cm_tui.engine.search.ranking.rank import rank

    rows = []
    for row in asked:
        hits = rank(row.candidates, profile, limit=PASSAGES).hits
        shown = best_of_files(hits) if files else hits
        rows.append((row.corpus, row.question, ndcg(row.question, shown, files=files)))
    return Score(tuple(rows))


def ndcg(question: Question, hits: Sequence[Hit], *, files: bool = False) -> float:
    """NDCG@10: a target counts at the first hit that shows it; 1 is a perfect order."""
    targets = [replace(target, start_line=None) for target in question.targets] if files else question.targets
    return rankings.ndcg(ranks_of(targets, hits), len(targets))


def variants(profile: Profile) -> Iterator[tuple[str, Profile]]:
    """The profile with one number switched off at a time."""
    for name, weight in profile.adjustments.items():
        if weight:
            yield f"without {name}", replace(profile, adjustments={**profile.adjustments, name: 0.0})
    if profile.diversity != "none":
        yield "without diversity", replace(profile, diversity="none")
    yield "rrf instead of weighted", replace(profile, fusion="rrf")
    off = dict.fromkeys(profile.adjustments, 0.0)
    yield "no adjustments at all", replace(profile, adjustments=off)
    if profile.diversity != "none":
        yield "neither adjustments nor diversity", replace(profile, adjustments=off, diversity="none")


def _report(asked: dict[Mode, list[Asked]], profile: Profile, options: argparse.Namespace) -> None:
    scores = {mode: score(rows, profile, files=options.files) for mode, rows in asked.items()}
    ablation = {
        mode: {name: score(rows, other, files=options.files) for name, other in variants(profile)}
        for mode, rows in asked.items()
        if options.ablation
    }
    if options.json:
        also = {mode: score(rows, profile, files=not options.files) for mode, rows in asked.items()}
        both = "by_passage" if options.files else "by_file"
        found = {mode: {**_as_json(scores[mode], ablation.get(mode, {})), both: also[mode].mean} for mode in scores}
        print(json.dumps(found, indent=1))
        return
    for mode, result in scores.items():
        _table(f"{mode}, by {'file' if options.files else 'passage'}", result)
        other = score(asked[mode], profile, files=not options.files)
        print(f"  by {'passage' if options.files else 'file'}: {other.mean:.4f}")
        for name, without in ablation.get(mode, {}).items():
            print(f"  {name:36} {without.mean:.3f}  {without.mean - result.mean:+.3f}  {_spread(result, without)}")
        _worst(result, options.worst)


def _spread(result: Score, other: Score) -> str:
    """In how many corpora it helps or hurts, and the change when each corpus in turn is left out."""
    changes = [after - before for before, after in _pairs(result, other)]
    left_out = [mean(changes[:i] + changes[i + 1 :]) for i in range(len(changes))] if len(changes) > 1 else changes
    worse, better = sum(change < -1e-9 for change in changes), sum(change > 1e-9 for change in changes)
    return f"worse in {worse}, better in {better} corpora; one left out {min(left_out):+.3f} to {max(left_out):+.3f}"


def _pairs(result: Score, other: Score) -> list[tuple[float, float]]:
    after = other.by_corpus()
    return [(value, after[name]) for name, value in result.by_corpus().items()]


def _table(mode: str, result: Score) -> None:
    corpora = result.by_corpus()
    deviation = f" ± {stdev(corpora.values()):.3f} over corpora" if len(corpora) > 1 else ""
    print(f"{mode}: {result.mean:.4f}{deviation}")
    for groups in (corpora, result.by_category()):
        print("  " + "  ".join(f"{name} {value:.3f}" for name, value in groups.items()))


def _worst(result: Score, count: int) -> None:
    for corpus, question, value in sorted(result.rows, key=lambda row: row[2])[:count]:
        targets = ", ".join(target.path for target in question.targets)
        print(one_line(f"  {value:.2f}  {corpus}: {question.text}  ({targets})"))


def _as_json(result: Score, ablation: dict[str, Score]) -> dict[str, object]:
    return {
        "mean": result.mean,
        "corpora": result.by_corpus(),
        "categories": result.by_category(),
        "ablation": {name: other.mean for name, other in ablation.items()},
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
