"""State and interface of the steps of one definition."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cm_tui.engine.context.definitions.loaded import Loaded
from cm_tui.engine.context.definitions.shapes import RetrievalDefinition
from cm_tui.engine.context.definitions.template import render
from cm_tui.engine.context.layers.layers import Layers
from cm_tui.engine.context.layers.ports import Item, MemoryPorts
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.model import AssemblyStep, StepOutcome

# --- requests to sources and their results: the interface between assembly and readers of memory ---


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
class SourceRequest:
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

    def read(self, task: Task, wanted: Sequence[SourceRequest]) -> Mapping[str, Outcome]:
        """Return each source's result by id; one that times out has an error."""


# --- the steps of one definition ---


@dataclass(frozen=True, slots=True)
class Means:
    """What steps may ask: the same for all definitions of an assembly."""

    layers: Layers
    ports: MemoryPorts
    cache: SharedResults
    stamp: str
    """Stamp of the data: the generation of the index, the end of the journal."""
    ask_model: Callable[[str, str], str]
    """Calls the configured language model with an instruction and input; raises a CmError."""
    text_of: Callable[[str], str]
    """Returns the output of another definition; raises a CmError."""


@dataclass(slots=True)
class RunState:
    """One run of one definition: each step reads and changes it."""

    definition: Loaded[RetrievalDefinition]
    task: Task
    means: Means
    room: int
    """Tokens that are of use."""
    query: str = ""
    items: list[Item] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    """Values read by key."""
    text: str | None = None
    """Rendered text; None: not yet."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outcome: StepOutcome = "ok"
    """Of the step that runs."""
    detail: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the request was cancelled."""

    @property
    def name(self) -> str:
        """Return the definition's name."""
        return self.definition.value.name

    @property
    def scope(self) -> dict[str, Any]:
        """Return the names for templates besides an item: task, query, parameters and values by key."""
        task = self.task
        about = {
            "text": task.text, "session": task.session, "agent": task.agent, "files": list(task.files),
            "branch": task.branch, "budget": task.budget,
        }  # fmt: skip
        return {**self.definition.value.params, **task.values, **self.values, "task": about, "query": self.query}

    def filled(self, template: str) -> str:
        """Return a template with its variables filled in; a missing one is a warning."""
        rendered = render(template, self.scope)
        self.warn_missing(rendered.missing)
        return rendered.text

    def warn_missing(self, names: tuple[str, ...]) -> None:
        """Report, once, missing fields that a template names."""
        for name in names:
            warning = f"{self.name}: the template uses an unknown field: {name!r}."
            if warning not in self.warnings:
                self.warnings.append(warning)

    def shared(self, key: object, make: Callable[[], Any]) -> Any:
        """Return a result, which other requests may share."""
        found, self.outcome = self.means.cache.get((self.means.stamp, key), make)
        return found


def frozen(value: Any) -> Any:
    """Return plain values in a hashable form."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(key), frozen(one)) for key, one in value.items()))
    return tuple(frozen(one) for one in value) if isinstance(value, list | tuple) else value
