"""Ingestion pipelines: triggers, processors, and targets."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from cm_tui.engine.context.definitions.shapes.base import Condition, File, Name, Shape, Text
from cm_tui.model import Trigger

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
