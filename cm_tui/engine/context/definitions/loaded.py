"""A definition with its place and the permissions that it requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from cm_tui.engine.context.definitions.shapes import (
    Custom,
    DeriveQuery,
    LlmExtract,
    Pipeline,
    RetrievalDefinition,
    Rule,
    VectorEmbed,
)

T = TypeVar("T", RetrievalDefinition, Rule, Pipeline)

SHIPPED = "shipped:"
"""How the names of files begin that come with cm."""


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """A definition, a rule or a pipeline, and where it was read."""

    value: T
    file: str
    """Relative to the root, with `/`; a shipped one begins with `shipped:`."""
    line: int
    digest: str
    """Of the file's content."""
    asks: tuple[str, ...] = ()
    """Permissions that need the user's trust: endings of a sentence that begins with `It wants to`."""
    is_held: bool = False
    """It requests permissions, and exactly this file is not trusted."""


def required_permissions(one: RetrievalDefinition | Pipeline) -> tuple[str, ...]:
    """Return the permissions that need the user's trust: to send data, run code, or write outside `.cm`."""
    return tuple(dict.fromkeys(_of_pipeline(one) if isinstance(one, Pipeline) else _of_retrieval(one)))


def _of_retrieval(one: RetrievalDefinition) -> Iterator[str]:
    if any(isinstance(step, DeriveQuery) and step.method == "llm_rephrase" for step in one.steps):
        yield "send prompts to the language model of your settings"


def _of_pipeline(pipeline: Pipeline) -> Iterator[str]:
    for processor in pipeline.processors:
        if isinstance(processor, LlmExtract):
            yield "send what it ingests to the language model of your settings"
        elif isinstance(processor, Custom):
            yield f"run the processor {processor.entry_point}"
        elif isinstance(processor, VectorEmbed):
            yield f"write into the memory of this project: vector://{processor.index}"
    for route in pipeline.routes:
        if not route.write_to.startswith("kv://"):
            yield f"write into the memory of this project: {route.write_to[:80]}"
