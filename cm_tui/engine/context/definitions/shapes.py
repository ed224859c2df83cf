"""Definitions as typed records: retrieval definitions, rules and ingestion pipelines; a JSON Schema of each is copied to the project."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from cm_tui.model import Section, Trigger
from cm_tui.model.dates import LENGTH

# --- common base of all definitions: both spellings of a key, no unknown keys, frozen ---

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""Valid names of definitions, rules and pipelines."""

Name = Annotated[str, StringConstraints(pattern=NAME)]
Text = Annotated[str, StringConstraints(max_length=4_000)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]
Scalar = str | int | float | bool | None


class Shape(BaseModel):
    """A part of a definition; keys are written in camelCase, and accepted in snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        strict=True,
    )


class File(Shape):
    """A whole file, which may name its JSON Schema."""

    schema_: Annotated[str, Field(alias="$schema", max_length=1_000)] = ""


# --- conditions of rules, filters and routes: a field, an operator and a value ---

Operator = Literal[
    "contains", "not_contains", "startsWith", "endsWith", "matches", "equals", "not_equals", "in", "not_in",
    "gt", "lt", "gte", "lte", "exists",
]  # fmt: skip

OPERATORS: tuple[str, ...] = get_args(Operator)


def spellings(name: str) -> tuple[str, str]:
    """Return both spellings of a name: `session_id` and `sessionId`."""
    head, *rest = name.split("_")
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return snake, head + "".join(one.capitalize() for one in rest)


def _spelt(value: Any) -> Any:
    """Return an operator as it is called, however its words are put together."""
    if not isinstance(value, str) or value in OPERATORS:
        return value
    plain = value.replace("_", "").lower()
    return next((one for one in OPERATORS if one.replace("_", "").lower() == plain), value)


FIELD = r"^[A-Za-z_][\w-]*(\.[\w-]+)*$"
FieldName = Annotated[str, StringConstraints(pattern=FIELD, max_length=200)]


class Condition(Shape):
    """A test of a field's current value."""

    field: FieldName
    """Such as `task.text` or `reference.scheme`."""
    op: Annotated[Operator, BeforeValidator(_spelt)]
    value: Text | int | float | bool | Annotated[tuple[Scalar, ...], Field(max_length=1000)] | None = None
    """The value to compare with; a list for `in` and `not_in`; for `exists` true (default) or false."""


# --- retrieval definitions: steps that find a class of knowledge and render it ---

Limit = Annotated[int, Field(ge=1, le=1_000)]
SINCE = f"^{LENGTH}$"
Since = Annotated[str, Field(pattern=SINCE)]
"""A time before now: `-7d`, `-3h`, `-30m`."""


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


# --- rules: conditions, and actions on memory references ---

Reference = Annotated[str, Field(min_length=1, max_length=500)]
"""Such as `markdown://architecture-notes`; except in `include`, `*` and `?` match any characters."""
References = Reference | Annotated[tuple[Reference, ...], Field(min_length=1, max_length=1_000)]


class Action(Shape):
    """Actions on the named memory references; without names, on all that satisfy the conditions."""

    include: References | None = None
    """References to add to the active ones; a definition that is not enabled is run, too."""
    exclude: References | bool | None = None
    cap: Tokens | None = None
    """Tokens at most, of each of `for`."""
    priority: Annotated[int, Field(ge=-1_000, le=1_000)] | None = None
    section: Section | None = None
    for_: Annotated[References | None, Field(alias="for")] = None
    """References for `cap`, `priority` and `section`; default: those of `include`."""

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if all(one is None for one in (self.include, self.exclude, self.cap, self.priority, self.section)):
            raise ValueError("an action needs one of include, exclude, cap, priority and section")
        return self


class Rule(Shape):
    """Conditions that all have to hold, and actions."""

    name: Name = ""
    """Empty: that of its file, and its number there."""
    description: Text = ""
    enabled: bool = True
    condition: Condition | Annotated[tuple[Condition, ...], Field(max_length=50)] = ()
    """None: it always holds."""
    action: Action | Annotated[tuple[Action, ...], Field(min_length=1, max_length=50)]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions, however many were written."""
        return self.condition if isinstance(self.condition, tuple) else (self.condition,)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return the actions, however many were written."""
        return self.action if isinstance(self.action, tuple) else (self.action,)


class RuleFile(File):
    """Rules, in the order in which they count."""

    rules: Annotated[tuple[Rule, ...], Field(max_length=5_000)]


class SingleRule(File, Rule):
    """A file that is one rule."""


# --- ingestion pipelines: triggers, processors, and targets ---

When = (
    Condition
    | Annotated[str, Field(min_length=1, max_length=500)]
    | Annotated[tuple[Condition, ...], Field(max_length=50)]
)
"""A condition, several, or one as `score > 0.7`."""


class TriggerWhen(Shape):
    """A trigger with a condition on what happened."""

    type: Trigger
    condition: When | None = None


class Chunker(Shape):
    """Splits large inputs into overlapping chunks."""

    type: Literal["chunker"]
    size: Annotated[int, Field(ge=8, le=100_000)] = 512
    """Tokens."""
    overlap: Annotated[int, Field(ge=0, le=50_000)] = 64
    """Tokens that a chunk shares with the one before it."""

    @model_validator(mode="after")
    def _goes_on(self) -> Self:
        if self.overlap >= self.size:
            raise ValueError("overlap must be less than size")
        return self


class Normalizer(Shape):
    """Cleans text."""

    type: Literal["normalizer"]
    whitespace: bool = True
    encoding: bool = True
    """Unicode NFC, without control characters."""
    pii: bool = True
    """Mail addresses, telephone numbers, addresses of machines and numbers of cards become marks; secrets always do."""


class Parser(Shape):
    """Parses text into records."""

    type: Literal["parser"]
    format: Literal["auto", "code", "json", "markdown"] = "auto"
    language: Annotated[str, Field(max_length=40)] = ""
    """Of code; empty: by the file's name."""


class VectorEmbed(Shape):
    """Makes items findable by meaning, in an index of that name."""

    type: Literal["vector_embed"]
    index: Name = "ingested"


class LlmExtract(Shape):
    """Extracts entities and relations with a language model; off unless the user's settings name one."""

    type: Literal["llm_extract"]
    instructions: Text = ""
    entity_types: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    relation_types: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    max_tokens: Annotated[int, Field(ge=16, le=32_000)] = 1_000


class Custom(Shape):
    """Calls a processor of an installed Python package, an entry point of the group `cm_tui.processors`."""

    type: Literal["custom"]
    entry_point: Name
    options: dict[str, Any] = Field(default_factory=dict)


Processor = Annotated[Chunker | Normalizer | Parser | VectorEmbed | LlmExtract | Custom, Field(discriminator="type")]

DESTINATION = r"^(graph|vector|kv|log|blob)://"
Destination = Annotated[str, Field(pattern=DESTINATION, max_length=500)]


class Route(Shape):
    """Where items are written."""

    foreach: Annotated[str, Field(max_length=200)] = "items"
    """`items`, `chunks`, `records`, `entities`, `relations`, or `input` for the whole of it."""
    condition: When | None = None
    write_to: Destination
    """A destination; may be a template: `kv://sessions/{{sessionId}}`."""
    value: Text = ""
    """A template of the written text; empty: the item."""
    ttl: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Seconds that a value of `kv://` lives."""


class Pipeline(File):
    """What starts it, the processors in their order, and the routes."""

    name: Name
    description: Text = ""
    enabled: bool = True
    triggers: Annotated[tuple[Trigger | TriggerWhen, ...], Field(min_length=1, max_length=20)]
    processors: Annotated[tuple[Processor, ...], Field(max_length=50)] = ()
    routes: Annotated[tuple[Route, ...], Field(min_length=1, max_length=50)]
