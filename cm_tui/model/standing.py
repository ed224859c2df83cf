"""Where something stands for a question: its rank, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.model.search import Hit, Mode

State = Literal[
    "shown", "ranked", "below", "piece", "quota", "no candidate", "filtered", "not searched", "not indexed", "unknown"
]
"""Shown; ranked behind the shown results; below the minimum score; another piece of the same function is shown instead;
over its source's quota; found by neither keywords nor vectors; excluded by a filter; searched by another profile; its
file is not in the index; no such name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The answer to "why not this one?"."""

    query: str
    name: str
    """What was asked about, as it was typed."""
    state: State
    said: str
    """In a sentence."""
    mode: Mode
    profile: str
    hit: Hit | None = None
    """Its best passage: `rank` is its own, or the one that it would have; 0: none. None: it is not in the index."""
    first: Hit | None = None
    """The first hit."""
    last: Hit | None = None
    """The last one that is shown."""
    instead: Hit | None = None
    """The piece of the same function that is shown in its place."""
    lacks: tuple[str, ...] = ()
    """Sentences on what it lacks against the first and the last shown hit."""
    lifts: tuple[str, ...] = ()
    """Sentences on what would lift it."""
    nearest: tuple[str, ...] = ()
    """Names that may be meant instead."""
    passages: int = 0
    """How many passages the name stands for."""
    shown: int = 0
    """How many hits are shown."""
    total: int = 0
    """How many candidates were ranked."""
    took_ms: float = 0.0
    notes: tuple[str, ...] = ()
    generation: int | None = None
