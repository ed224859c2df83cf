"""Weights of the profile `code`, learned from questions with known lines; what they do on languages left out."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import mean

import numpy as np

from cm_tui.engine.search.ranking.candidate_table import CandidateTable
from cm_tui.engine.search.ranking.lifts import SIDES
from cm_tui.model import Profile
from tests.bench.learner import Example, example, learn, with_weights
from tests.bench.lines import ask, judge, parser
from tests.bench.quality import Asked, own_home

KINDS = {"commit": 1.0, "comment": 1.0, "test": 0.7, "document": 0.7, "section": 0.7}
"""Kinds of questions that are learned from, and how much a repository's questions of each count together."""


def examples(asked: Sequence[Asked]) -> list[Example]:
    """Return what can be learned from one repository's questions: those with an answer among the candidates."""
    count = Counter(one.question.category for one in asked)
    found = []
    for one in asked:
        table: CandidateTable = one.candidates.table
        category = one.question.category
        if category not in KINDS or not len(table) or not table.terms:
            continue
        places = list(zip(table.paths, table.start_lines, table.end_lines, strict=True))
        answers = np.array([any(target.found_at(*place) for target in one.question.targets) for place in places])
        if answers.any():
            found.append(example(table, answers, KINDS[category] / count[category]))
    return found


def main(argv: Sequence[str]) -> int:
    """Learn and print weights beside those of the profile, and the figures by language, learned without it.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    from cm_tui.engine.search.ranking.profiles import load

    options = parser("weights", __doc__).parse_args(list(argv))
    profile = load({})["code"]
    by_language: dict[str, list[tuple[list[Asked], list[Example]]]] = defaultdict(list)
    with own_home():
        for name, language, asked in ask(options.repositories, most=options.most, seed=options.seed):
            by_language[language].append((asked, examples(asked)))
            print(f"{name} ({language}): {len(asked)} questions", file=sys.stderr)
    whole = learn([one for pairs in by_language.values() for _, found in pairs for one in found])
    table = {}
    for language, pairs in by_language.items():
        rest = [one for other, pairs in by_language.items() if other != language for _, found in pairs for one in found]
        chosen = {"profile": profile, "learned": with_weights(profile, whole.weights)}
        if rest:
            chosen["learned without it"] = with_weights(profile, learn(rest).weights)
        table[language] = {name: mean(_ndcg(asked, one) for asked, _ in pairs) for name, one in chosen.items()}
    if options.json:
        print(json.dumps({"weights": whole.weights, "loss": whole.loss, "languages": table}, indent=1))
        return 0
    now = {**profile.adjustments, SIDES[0]: profile.keyword_weight, SIDES[1]: profile.vector_weight}
    for name, weight in whole.weights.items():
        print(f"{name:16} {weight:6.3f}   in the profile {now.get(name, 0.0):6.3f}")
    for language, row in table.items():
        print(f"{language:12}" + "".join(f"  {name} {value:.3f}" for name, value in row.items()))
    return 0


def _ndcg(asked: Sequence[Asked], profile: Profile) -> float:
    """Mean over the kinds that are learned from of NDCG@10 by lines."""
    readings = judge([one for one in asked if one.question.category in KINDS], profile)
    return mean(mean(one.ndcg for one in found) for found in readings.values()) if readings else 0.0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
