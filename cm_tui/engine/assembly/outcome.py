"""What is asked for and what a source finds: between the assembly and whatever reads memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cm_tui.engine.definitions.loaded import Loaded
from cm_tui.engine.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.model import AssemblyStep


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is about to do."""

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
    """One source to be read: a definition, or whatever a reference leads to."""

    id: str
    """The reference: `definition://release`, `markdown://architecture-notes`."""
    definition: Loaded[RetrievalDefinition] | None = None
    """None: the reference is read by its layer."""
    room: int | None = None
    """Tokens that are of use: its cap or the budget."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a source found."""

    text: str = ""
    title: str = ""
    paths: tuple[str, ...] = ()
    steps: tuple[AssemblyStep, ...] = ()
    """With `start_ms` since the reading of all began."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person may want to know, and no agent needs to."""
    error: str = ""
    """Why there is nothing: it failed, or took too long."""
    ms: float = 0.0


class Reader(Protocol):
    """Reads sources: all at once, each within its time, none of them able to fail the others."""

    def read(self, task: Task, wanted: Sequence[Wanted]) -> Mapping[str, Outcome]:
        """Return what each source found, by id; what does not answer in its time has an error."""
