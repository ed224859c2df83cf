"""Records of ingestion: what pipelines wrote into the memory when something happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Trigger = Literal["onConversationEnd", "onTaskCompleted", "onTaskFailure", "onAction", "manual"]
INGESTED = "ingested"
"""The source of what pipelines wrote to be found by meaning."""
IngestOutcome = Literal["done", "nothing", "failed", "known"]
"""`nothing`: no route wrote; `known`: the same was ingested before, and nothing was written again."""


@dataclass(frozen=True, slots=True)
class IngestedInto:
    """What a run wrote to one destination."""

    destination: str
    """With its variables filled in: `kv://sessions/s1`."""
    items: int


@dataclass(frozen=True, slots=True)
class IngestRun:
    """One run of a pipeline over one input."""

    id: str
    pipeline: str
    trigger: Trigger
    time: float
    outcome: IngestOutcome
    input: str
    """The beginning of what came in, in one line."""
    written: tuple[IngestedInto, ...] = ()
    failed_step: str = ""
    """Such as `processors[2] llm_extract`; its input is kept, and it can be run again."""
    error: str = ""
    ms: float = 0.0
    attempts: int = 1
    event: str = ""
    """The event of the journal that it came from."""


@dataclass(frozen=True, slots=True)
class MemoryValue:
    """What one memory reference leads to."""

    reference: str
    text: str
    """As it would be handed over."""
    value: str = ""
    """As JSON, where the layer keeps values."""
    expires: float | None = None
    """Seconds since the epoch; None: never."""
    paths: tuple[str, ...] = ()
