"""Requests to sources and their results: the interface between assembly and readers of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cm_tui.engine.context.definitions.loaded import Loaded
from cm_tui.engine.context.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.model import AssemblyStep


@dataclass(frozen=True, slots=True)
class Task:
    """An agent's task."""

    text: str
    """The prompt."""
    session: str = ""
    agent: str = ""
    files: tuple[str, ...] = ()
    branch: str = ""
    budget: int = 4_000
    values: Mapping[str, str] = field(default_factory=dict)
    """Of a call by hand: `cm context run NAME key=value`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One source to read: a definition, or the target of a reference."""

    id: str
    """The reference: `definition://release`, `markdown://architecture-notes`."""
    definition: Loaded[RetrievalDefinition] | None = None
    """None: the reference is read by its layer."""
    room: int | None = None
    """Tokens that are of use: its cap or the budget."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a source."""

    text: str = ""
    title: str = ""
    paths: tuple[str, ...] = ()
    steps: tuple[AssemblyStep, ...] = ()
    """With `start_ms` since the reading of all began."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Details for the user, not for the agent."""
    error: str = ""
    """Why there is nothing: it failed, or took too long."""
    ms: float = 0.0


class Reader(Protocol):
    """Reads sources in parallel, each within its time limit, isolated from errors of the others."""

    def read(self, task: Task, wanted: Sequence[Wanted]) -> Mapping[str, Outcome]:
        """Return each source's result by id; one that times out has an error."""
