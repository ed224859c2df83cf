"""Permissions that a definition requests and the user has to trust: send data, run code, or write outside `.cm`."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.context.definitions.shapes.ingestion import Custom, LlmExtract, Pipeline, VectorEmbed
from cm_tui.engine.context.definitions.shapes.retrieval import DeriveQuery, RetrievalDefinition


def of_retrieval(one: RetrievalDefinition) -> tuple[str, ...]:
    """Return endings of a sentence that begins with `It wants to`."""
    if any(isinstance(step, DeriveQuery) and step.method == "llm_rephrase" for step in one.steps):
        return ("send prompts to the language model of your settings",)
    return ()


def of_pipeline(pipeline: Pipeline) -> tuple[str, ...]:
    """Return unique endings of a sentence that begins with `It wants to`."""
    return tuple(dict.fromkeys(_each(pipeline)))


def _each(pipeline: Pipeline) -> Iterator[str]:
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
