"""Records of definition files: retrieval definitions, rules, ingestion pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DefinitionKind = Literal["retrieval", "rule", "ingestion"]
SCHEMES: dict[DefinitionKind, str] = {"retrieval": "definition", "rule": "rule", "ingestion": "pipeline"}
"""How the ids of a kind begin, and what it is called."""
DefinitionState = Literal["counts", "off", "held", "broken"]
"""`held`: a person has to trust it first; `broken`: it has an error and does not count."""
Trigger = Literal["onConversationEnd", "onTaskCompleted", "onTaskFailure", "onAction", "manual"]
INGESTED = "ingested"
"""The source of what pipelines wrote to be found by meaning."""
IngestOutcome = Literal["done", "nothing", "failed", "known"]
"""`nothing`: no route wrote; `known`: the same was ingested before, and nothing was written again."""


@dataclass(frozen=True, slots=True)
class DefinitionProblem:
    """Something wrong in a file, with its place."""

    file: str
    """Relative to the project's root; a shipped one begins with `shipped:`."""
    line: int
    column: int
    message: str
    hint: str = ""
    """What was meant, or what to do."""
    severity: Literal["error", "warning"] = "error"

    @property
    def text(self) -> str:
        """Return it in one line, as compilers do."""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}{hint}"


@dataclass(frozen=True, slots=True)
class DefinitionInfo:
    """A definition, a rule or a pipeline, as it stands."""

    id: str
    """Such as `definition://release`, `rule://architecture`, `pipeline://sessions`."""
    kind: DefinitionKind
    name: str
    file: str
    line: int
    state: DefinitionState
    summary: str
    """What it does, in one line."""
    asks: tuple[str, ...] = ()
    """What needs a person's trust: ends of a sentence that begins with `It wants to`."""
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class Definitions:
    """All of a project, in the order in which they count, and what is wrong with their files."""

    items: tuple[DefinitionInfo, ...]
    problems: tuple[DefinitionProblem, ...]
    files: int
    """Files that were read."""


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
