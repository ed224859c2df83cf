"""A profile: every number of the search pipeline, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cm_tui.model.search import CODE


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
