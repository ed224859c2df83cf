"""Records of search: what was found, and how each score came to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["hybrid", "keyword", "vector"]
By = Literal["passage", "file"]
"""What an answer lists: passages, or files with their best passages."""
CODE = "code"
"""The source that every project has: its files. Passages of other sources belong to no file and no symbol."""
EPISODES = "episode"
"""The source of what agents' sessions recorded."""
ENTRIES = "entry"
"""The source of what people and agents wrote down."""
HOLDS_NONE = "the index holds none."
"""End of the note where a profile searches what the index has nothing of."""
RECALL = "recall"
"""The profile that questions about what is remembered are ranked by."""
State = Literal[
    "shown", "ranked", "below", "piece", "quota", "no candidate", "filtered", "not searched", "not indexed", "unknown"
]
"""Shown; ranked behind the shown results; below the minimum score; another piece of the same function is shown instead;
over its source's quota; found by neither keywords nor vectors; excluded by a filter; searched by another profile; its
file is not in the index; no such name."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A named share of a hit's score.

    The contributions of a hit's parts add up to its score. `value` is what was measured, `weight` what the
    profile makes of it, `contribution` what it adds (negative for penalties; a factor is shown as the difference
    it makes), `detail` says the rest in words: terms and their BM25, ranks on both sides, the hit that a
    diversity penalty is against.
    """

    name: str
    value: float
    weight: float
    contribution: float
    detail: str = ""
    group: str = ""
    """keyword, vector, adjust, decay, diversity, rerank or scale: what a stacked bar colours by."""
    term: str = ""
    """Of a keyword: the index term that it was looked up by, which its relatives share; `name` has it as written."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a query. Lines are 1-based, inclusive; `path` is relative with `/`."""

    rank: int
    source: str
    path: str
    start_line: int
    end_line: int
    symbol: str | None
    """Qualname of the symbol that the passage belongs to."""
    kind: str | None
    language: str
    score: float
    """From 0 to below 1, in every profile."""
    snippet: str
    """The matching lines."""
    snippet_line: int
    """Line of the file at which the snippet starts."""
    parts: tuple[ScorePart, ...]
    passage: int
    """Id of the passage in this store."""
    time: int | None = None
    """When it was written, where that is known: seconds since the epoch; code is undated."""
    stale: str = ""
    """Of what is remembered: which name it says that is gone or has moved, and since when; empty: none."""
    relevance: float | None = None
    """How likely it is in the right place: the share of hits with such a score and cosine that were; None: not known."""


@dataclass(frozen=True, slots=True)
class FileHits:
    """A file that answers a query, with its best passages. What is remembered counts as a file by its name."""

    rank: int
    """Its place among files."""
    path: str
    score: float
    """That of its best passage."""
    hits: tuple[Hit, ...]
    """Its best passages, best first, at least one; each has its rank among all passages."""
    more: int = 0
    """How many further passages of it were ranked."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A symbol that a query may mean by a name that is nowhere in the project."""

    name: str
    query: str
    """The query with it."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A ranked answer."""

    query: str
    mode: Mode
    """What was really used."""
    profile: str
    took_ms: float
    hits: tuple[Hit, ...]
    """Passages, best first; none where files were asked for: `files` has them."""
    total: int
    """How many candidates were ranked; `hits` are the first of them."""
    notes: tuple[str, ...] = ()
    """Why a side is off, what is still filling in, what is stale."""
    generation: int | None = None
    """State of the index that it was answered from."""
    beside: tuple[Hit, ...] = ()
    """What another profile found for the same query: never in the place of a hit, and however many of those are asked for."""
    beside_first: bool = False
    """Whether these are shown above the hits: the query asks for what was decided and why."""
    files: tuple[FileHits, ...] = ()
    """Files, in the order of their best passages; none where passages were asked for."""
    total_files: int = 0
    """How many files these candidates come from, where files were asked for."""
    filters: tuple[str, ...] = ()
    """The filters of the query that were in force, such as `lang:rust`."""
    suggestions: tuple[Suggestion, ...] = ()
    """What was meant, the likeliest first, where the query has a name that is nowhere."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What retrieval found, before any ranking: re-rank it as often as the profile changes.

    `table` is opaque to callers: the search room's own columns.
    """

    query: str
    mode: Mode
    table: Any
    took_ms: float
    notes: tuple[str, ...] = ()
    generation: int | None = None
    """State of the index that they were found in."""
    filters: tuple[str, ...] = ()
    """The filters of the query that were in force."""
    suggestions: tuple[Suggestion, ...] = ()
    """What was meant, where the query has a name that is nowhere."""


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
