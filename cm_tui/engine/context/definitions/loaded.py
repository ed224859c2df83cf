"""A definition with its place and the permissions that it requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from cm_tui.engine.context.definitions.shapes.ingestion import Pipeline
from cm_tui.engine.context.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.engine.context.definitions.shapes.rules import Rule

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
