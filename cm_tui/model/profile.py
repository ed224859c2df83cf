"""A profile: every number of the search pipeline, as data; marks of results, and undo of a saved profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cm_tui.model.search import CODE, Hit

# --- A profile: every number of the search pipeline, as data ---


@dataclass(frozen=True, slots=True)
class Profile:
    """The numbers of one ranking; the pipeline is the same code for all profiles.

    Adjustments are named weights: the search room documents each name. A weight of 0 turns one off.
    """

    name: str
    description: str = ""
    sources: tuple[str, ...] = (CODE,)
    """What is searched; each source is counted and measured by itself."""
    quotas: Mapping[str, int] = field(default_factory=dict)
    """Most hits by source, so that none crowds out another; a source that is not named here has no such limit."""
    fusion: Literal["weighted", "rrf"] = "weighted"
    keyword_weight: float = 0.5
    vector_weight: float = 0.5
    coordination: float = 0.0
    """Share of the keyword side that counts only as far as a passage says all of the question's words."""
    rrf_k: int = 60
    pool: int = 200
    """Candidates taken from each side; fixed, so that asking for more results never changes the first ones."""
    adjustments: Mapping[str, float] = field(default_factory=dict)
    report: Mapping[str, float] = field(default_factory=dict)
    """Factors of adjustments, by name, where the query is a report; 1 where it has none."""
    thread: float = 0.0
    """Share that the best turns of a passage's thread, such as its session, lend to its score."""
    neighbours: float = 0.0
    """Share that the turn before and the turn after lend each."""
    reply: float = 0.0
    """Share of the score of a question that its reply, the next turn, receives in addition."""
    half_life_days: float | None = None
    """Decay `e^(-λ·age)` with λ = ln 2 / half-life; None: none."""
    stale: float = 0.0
    """Share of its score that is taken from what names something that is gone; what was renamed or moved loses less."""
    diversity: Literal["none", "file", "mmr"] = "none"
    diversity_lambda: float = 0.5
    """mmr: share of relevance against novelty. file: factor for each further hit of one file."""
    limit: int = 10
    """Hits when nothing else is asked for; as many as the quotas add up to, where that is more."""
    beside: str = ""
    """Profile whose hits come beside its own, such as what was said beside code; empty: none do."""
    beside_limit: int = 5
    beside_min_score: float = 0.0
    """From 0 to 1, as scores of that profile are."""
    min_score: float = 0.0
    """From 0 to 1, as scores are, or as relevance is where there is one; compared before diversity takes its share."""
    calibrated: bool = False
    """Whether hits have a relevance, where words and vectors both took part: it was counted for this profile's numbers."""
    weak_relevance: float = 0.0
    """A best hit below it is called weak; 0: none is."""
    snippet_chars: int = 700
    rerank: Literal["auto", "on", "off"] = "auto"
    rerank_alpha: float = 0.5
    rerank_depth: int = 20


# --- marks of results as right or wrong, and undo of a saved profile ---

Place = tuple[str, str | None, int, int]
"""Path, symbol, first and last line."""
_SHARED = 0.5
"""Share of the shorter of two stretches of lines that both must have to be taken for the same."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's word that a result is right or wrong for a question."""

    question: str
    path: str
    symbol: str | None
    """Qualified name; it finds the place again when lines have moved. None: the lines count."""
    start_line: int
    end_line: int
    right: bool

    @property
    def place(self) -> str:
        """Path and lines."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


def mark_of(question: str, hit: Hit, *, right: bool) -> Mark:
    """Return the mark of a hit."""
    return Mark(normal(question), hit.path, hit.symbol, hit.start_line, hit.end_line, right)


def normal(question: str) -> str:
    """Return a question as it is kept: what differs in spaces alone is one question."""
    return " ".join(question.split())


def is_same(one: Mark, other: Mark) -> bool:
    """Return whether two marks are of one result and one question, whatever they say of it."""
    if (one.question, one.path, one.symbol) != (other.question, other.path, other.symbol):
        return False
    return one.symbol is not None or _share(one, other.start_line, other.end_line) >= _SHARED


def places_of(mark: Mark, places: Sequence[Place]) -> list[int]:
    """Return which of some places a mark means: the same symbol of the file, else most of the same lines."""
    inside = [number for number, (path, *_) in enumerate(places) if path == mark.path]
    same = [number for number in inside if mark.symbol is not None and places[number][1] == mark.symbol]
    # All pieces of a long function are one thing, whichever of them is shown.
    return same or [number for number in inside if _share(mark, *places[number][2:]) >= _SHARED]


def marks_of_hits(marks: Sequence[Mark], question: str, hits: Sequence[Hit]) -> dict[int, bool]:
    """Return whether hits are marked right or wrong for a question, by the id of their passage."""
    asked = normal(question)
    places = [(hit.path, hit.symbol, hit.start_line, hit.end_line) for hit in hits]
    own = [mark for mark in marks if mark.question == asked]
    return {hits[number].passage: mark.right for mark in own for number in places_of(mark, places)}


def _share(mark: Mark, start: int, end: int) -> float:
    both = min(mark.end_line, end) - max(mark.start_line, start) + 1
    return max(0, both) / min(mark.end_line - mark.start_line + 1, end - start + 1)


@dataclass(frozen=True, slots=True)
class ProfileReset:
    """A profile without what the project's configuration changed of it."""

    name: str
    file: Path
    removed: tuple[str, ...]
    """Settings that were removed; none: the file changed nothing of it."""
