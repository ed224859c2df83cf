"""Retrieval definitions: steps that find a class of knowledge and render it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cm_tui.engine.context.definitions.shapes.base import Condition, FieldName, File, Name, Scalar, Shape, Text, Tokens
from cm_tui.model import Section
from cm_tui.model.dates import LENGTH

Limit = Annotated[int, Field(ge=1, le=1_000)]
SINCE = f"^{LENGTH}$"
Since = Annotated[str, Field(pattern=SINCE)]
"""How far back: `-7d`, `-3h`, `-30m`."""


class DeriveQuery(Shape):
    """Makes the query that later steps ask with."""

    type: Literal["derive_query"]
    from_: Annotated[str, Field(alias="from", max_length=200)] = "task.text"
    """A field of the task, a value of the call, or `definition://NAME`: what that one hands over."""
    method: Literal["passthrough", "keyword_extract", "llm_rephrase"] = "passthrough"


class VectorSearch(Shape):
    """Finds items by meaning."""

    type: Literal["vector_search"]
    index: Name = "code"
    """`code`, `episodes`, `entries`, `notes`, or an index that a pipeline writes."""
    top_k: Limit = 8
    min_score: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.5
    query: Text = ""
    """A template; empty: the query that was derived, else the prompt."""


class GraphViewRead(Shape):
    """Reads a named view of the graph."""

    type: Literal["graph_view_read"]
    view: Name
    params: dict[str, Scalar] = Field(default_factory=dict)
    """Values may be templates."""


class KvGet(Shape):
    """Reads values by their keys."""

    type: Literal["kv_get"]
    keys: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(min_length=1, max_length=100)
    ]


class LogSearch(Shape):
    """Reads events of the log, the newest first."""

    type: Literal["log_search"]
    event_type: Annotated[str, Field(max_length=100)] = ""
    """Such as `hook.prompt`, a prefix such as `hook.*`, or a type that a pipeline writes; empty: all."""
    since: Since = "-7d"
    fields: Annotated[tuple[FieldName, ...], Field(max_length=50)] = ()
    """Fields of each event to return; empty: all."""
    limit: Limit = 20


class Filter(Shape):
    """Drops items for which a condition does not hold."""

    type: Literal["filter"]
    where: Condition | Annotated[tuple[Condition, ...], Field(min_length=1, max_length=50)]


class Rank(Shape):
    """Orders items."""

    type: Literal["rank"]
    by: Literal["recency", "relevance", "combined"] = "relevance"
    weights: dict[Literal["recency", "relevance"], Annotated[float, Field(ge=0, le=1_000, strict=False)]] = Field(
        default_factory=dict
    )
    """For `combined`; default for both: 1."""


class Format(Shape):
    """Renders items as text."""

    type: Literal["format"]
    template: Text = ""
    """`{{field}}` of each item, or of the keys that were read; empty: each item as it is."""
    max_tokens: Tokens | None = None


class CodePack(Shape):
    """Chooses code, and conversations about it, as `cm pack` does: ranked, extended to whole symbols, with neighbours."""

    type: Literal["code_pack"]
    neighbours: bool = True
    profile: Name = "code"


Step = Annotated[
    DeriveQuery | VectorSearch | GraphViewRead | KvGet | LogSearch | Filter | Rank | Format | CodePack,
    Field(discriminator="type"),
]


class RetrievalDefinition(File):
    """A class of knowledge, and the steps that find it."""

    name: Name
    description: Text = ""
    enabled: bool = True
    max_contribution: Tokens | None = None
    """Tokens at most; None: as the budget allows."""
    section: Section = "knowledge"
    priority: Annotated[int, Field(ge=-1_000, le=1_000)] = 0
    timeout_seconds: Annotated[float, Field(gt=0, le=60, strict=False)] = 2.0
    params: dict[Name, Scalar] = Field(default_factory=dict)
    """What `cm context run NAME key=value` may set, with the values that hold otherwise."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=50)]
