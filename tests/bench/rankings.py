"""Judging one ranking by its ten best places, whether these are passages or files."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cm_tui.engine.search.ranking.grouping import by_file
from cm_tui.model import Hit
from tests.bench.corpora import Target

DEPTH = 10
PASSAGES = 10 * DEPTH
"""Passages to rank so that ten files are among them."""


def best_of_files(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best passage of each file, in the order in which files are listed."""
    return [file.hits[0] for file in by_file(hits, most_inside=1)]


def ranks_of(targets: Sequence[Target], hits: Sequence[Hit]) -> list[int]:
    """Return the rank of the first of ten hits that shows each target, for those that are shown."""
    places = list(enumerate(hits[:DEPTH], start=1))
    ranks = (next((rank for rank, hit in places if _shows(hit, target)), 0) for target in targets)
    return [rank for rank in ranks if rank]


def ndcg(ranks: Sequence[int], targets: int) -> float:
    """Discounted gain of targets at their ranks, as a share of that of a perfect order: Σ 1/log2(rank + 1)."""
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, targets) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / best if best else 0.0


def _shows(hit: Hit, target: Target) -> bool:
    return target.found_at(hit.path, hit.start_line, hit.end_line)
