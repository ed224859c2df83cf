"""Moved ranks: where each result stands by the tuned numbers against where it stood by the saved ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cm_tui.model import By, Profile, SearchResult

LEAST_BEFORE = 120
"""Ranks that are known of the order before, at least; what stood behind them is new."""


@dataclass(frozen=True)
class Before:
    """An order by the saved numbers."""

    profile: Profile
    by: By
    ranks: Mapping[tuple[str, str] | int, int]
    """By passage, or by source and path of a file."""


@dataclass(frozen=True)
class Moves:
    """How far results moved."""

    by: Mapping[int, int]
    """How many places each went up, by the id of its passage; below 0: down. What did not move is not in it."""
    new: frozenset[int]
    """Which had no rank before."""

    @property
    def count(self) -> int:
        """How many are not where they were."""
        return len(self.by) + len(self.new)


def before(result: SearchResult, profile: Profile, by: By) -> Before:
    """Return the order of an answer by the saved numbers."""
    ranks: dict[tuple[str, str] | int, int] = {(file.hits[0].source, file.path): file.rank for file in result.files}
    return Before(profile, by, ranks | {hit.passage: hit.rank for hit in result.hits})


def moves(result: SearchResult, known: Before) -> Moves:
    """Return how far what is listed moved; of a file its best passage stands for it."""
    listed: list[tuple[tuple[str, str] | int, int, int]] = [
        ((file.hits[0].source, file.path), file.rank, file.hits[0].passage) for file in result.files
    ]
    listed += [(hit.passage, hit.rank, hit.passage) for hit in result.hits]
    new = frozenset(passage for key, _, passage in listed if key not in known.ranks)
    up = {passage: known.ranks[key] - rank for key, rank, passage in listed if key in known.ranks}
    return Moves({passage: places for passage, places in up.items() if places}, new)
