"""Scores the narrator on made-up histories: `python -m tests.bench.narrator_histories --seeds 1-10`."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Sequence

from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories.history import build
from tests.bench.narrator_histories.running import POLICIES, described, score
from tests.bench.narrator_histories.scoring import Score


def main() -> int:
    """Score the seeds that are asked for, or check a bank."""
    given = _given()
    name = "heldout" if given.held_out else given.bank
    if not banks.exists(name):
        print(f"There is no bank {name}.")
        return 2
    bank = banks.load(name)
    problems = list(banks.problems(bank))
    if given.check or problems:
        print("\n".join(problems) or f"{name}: {len(bank.facts)} facts, {len(bank.traps)} traps, nothing wrong.")
        return 1 if problems else 0
    if given.show:
        return _show(bank, given.seeds[0])
    policies = tuple(given.policies.split(","))
    scores: list[Score] = []
    print(
        f"{'seed':>5} {'project':<8}{'episodes':>9}{'precision':>10}{'recall':>8}{'scope':>7}  wrong (repeat trap carries long leak unknown)  approved: all/wrong/traps  seconds"
    )
    for seed in given.seeds:
        found = score(build(bank, seed, given.episodes), policies)
        scores.append(found)
        _row(found)
        if given.verbose:
            _details(found)
    _summary(scores)
    return 0


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.narrator_histories", description=__doc__)
    parser.add_argument(
        "--seeds", type=_seeds, default=None, help="1-10, or 3, or 1,4,7; 1-5 when not given, 101-105 held out"
    )
    parser.add_argument("--held-out", action="store_true", help="the bank that was kept aside")
    parser.add_argument("--bank", default="dev")
    parser.add_argument(
        "--episodes", type=int, default=None, help="ordinary episodes of each history; 300 to 520 when not given"
    )
    parser.add_argument(
        "--policies",
        default=",".join(POLICIES),
        help="of by-hand, careful, custom; proposals are judged under the first",
    )
    parser.add_argument("--check", action="store_true", help="only look whether the bank keeps to its rules")
    parser.add_argument("--show", action="store_true", help="print the prompts and commands of a seed, and run nothing")
    parser.add_argument("--verbose", action="store_true", help="print every wrong proposal and every missed fact")
    given = parser.parse_args()
    given.seeds = given.seeds or (range(101, 106) if given.held_out else range(1, 6))
    return given


def _seeds(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _row(found: Score) -> None:
    counts = found.counts
    wrong = " ".join(str(counts[name]) for name in ("repeat", "trap", "carries", "long", "leak", "unknown"))
    approved = [f"{name} {len(items)}/{sum(item.is_wrong for item in items)}" for name, items in found.approved.items()]
    print(
        f"{found.seed:>5} {found.ecosystem:<8}{found.episodes:>9}{found.precision:>10.3f}{found.recall:>8.3f}{found.scope_share:>7.2f}  "
        f"{wrong:<20} {', '.join(approved)}; traps {len(found.traps_approved())}  {found.seconds:.1f}s"
    )
    sys.stdout.flush()


def _details(found: Score) -> None:
    for item in found.judged:
        if item.is_wrong or item.verdict == "incidental":
            print(f"      {described(item)}")
    for policy, item in found.traps_approved():
        print(f"      APPROVED by {policy}: {described(item)}")
    for fact in found.missed:
        told = (
            fact.more.get("run")
            or fact.more.get("runs")
            or fact.more.get("files")
            or fact.more.get("lines")
            or fact.say[:1]
        )
        print(f"      missed     {fact.kind:<10} [{fact.id}] {told}")


def _summary(scores: Sequence[Score]) -> None:
    for name in ("precision", "recall", "scope_share"):
        values = [getattr(found, name) for found in scores]
        spread = statistics.pstdev(values)
        print(
            f"{name:<12} mean {statistics.mean(values):.3f}  from {min(values):.3f} to {max(values):.3f}  spread {spread:.3f}"
        )
    found, wanted, wrong = Counter[str](), Counter[str](), Counter[str]()
    for one in scores:
        for kind, (right, count, bad) in one.per_kind().items():
            found[kind] += right
            wanted[kind] += count
            wrong[kind] += bad
    print("kind          recall  found/planted  wrong proposals of that kind")
    for kind in wanted:
        print(f"{kind:<12} {found[kind] / wanted[kind]:>7.3f}  {found[kind]}/{wanted[kind]}  {wrong[kind]}")
    types = Counter(item.about.split(":")[0] for one in scores for item in one.judged if item.verdict == "trap")
    print(
        f"traps proposed {sum(types.values())}: {dict(types)}; traps approved {sum(len(one.traps_approved()) for one in scores)}"
    )


def _show(bank: banks.Bank, seed: int) -> int:
    history = build(bank, seed)
    for session in history.sessions:
        print(f"=== {session.agent} {session.id}{' of ' + session.parent if session.parent else ''}")
        for turn in session.turns:
            print(f"> {turn.prompt}".replace("\n", "\n  "))
            for step in turn.steps:
                if step.tool == "Bash":
                    print(f"    $ {step.text}{'   FAILED' if step.failed else ''}")
    print(f"facts: {[fact.id for fact in history.facts]}\ntraps: {[trap.id for trap in history.traps]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
