"""Records of an assembly: the context that an agent received for a prompt, its sources, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cm_tui.model.note import NOTES
from cm_tui.model.search import ENTRIES, EPISODES

Section = Literal["state", "warnings", "constraints", "knowledge", "history", "suggestions", "working_memory"]
SECTIONS: tuple[Section, ...] = get_args(Section)
"""In the order in which they are handed over; what stands last is cut first."""

SourceKind = Literal["definition", "reference", "mention"]
"""`definition`: a retrieval definition; `reference`: a rule includes it; `mention`: the prompt names it."""

Cut = Literal["", "rule", "off", "duplicate", "empty", "cap", "budget", "failed", "held"]
"""Why a source is not handed over whole: a rule, switched off for this assembly, another source has it, nothing was found,
its cap, the budget, it failed, it waits for trust; empty: it is whole."""

_REMEMBERED = frozenset({ENTRIES, EPISODES, NOTES})

StepOutcome = Literal["ok", "cached", "shared", "failed", "timeout"]
"""`cached`: an answer of a moment ago; `shared`: another definition asked the same at the same time."""


@dataclass(frozen=True, slots=True)
class AssemblyStep:
    """One step of a source, for the waterfall of an assembly."""

    source: str
    """Id of the source."""
    name: str
    """Such as `vector_search`; for what is no definition, `read`."""
    start_ms: float
    """Since the assembly began."""
    ms: float
    found: int = 0
    """Items after it."""
    outcome: StepOutcome = "ok"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AssemblySource:
    """One source of an assembly, and what became of it."""

    id: str
    """What it is called in rules and when it is switched off: `definition://release`, `markdown://architecture-notes`."""
    kind: SourceKind
    title: str
    section: Section
    text: str = ""
    """What of it is handed over."""
    tokens: int = 0
    """Of what is handed over, without its heading."""
    found_tokens: int = 0
    """Of all that was found, before caps and the budget."""
    priority: int = 0
    """Within the section, higher ones come first and are cut last."""
    cap: int | None = None
    """Tokens at most, by its definition or a rule."""
    cut: Cut = ""
    why_cut: str = ""
    """In a sentence; empty: it is whole."""
    rules: tuple[str, ...] = ()
    """Names of the rules that decided over it."""
    file: str = ""
    """The definition's file, relative to the project; empty: it has none, or is shipped."""
    paths: tuple[str, ...] = ()
    """Of what is remembered, or is source, in what was found: `episode/…`, `entry/…`, `src/a.py`."""
    digest: str = ""
    """Of what was found."""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """What a rule said to one memory reference."""

    rule: str
    file: str
    reference: str
    action: str
    """Such as `include`, `exclude`, `cap 200`, `priority 5`."""
    counted: bool = True
    """False: an earlier rule had decided over this reference."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What is handed over for a prompt, and the trace of how it came to be."""

    id: str
    """Of its snapshot; empty: none was kept."""
    time: float
    """Seconds since the epoch."""
    prompt: str
    budget: int
    tokens: int
    """Of the text, by the tokenizer that is named."""
    text: str
    """Markdown, ready to be handed over."""
    sources: tuple[AssemblySource, ...]
    """Those that are handed over in their order, then those that are not."""
    rules: tuple[AppliedRule, ...] = ()
    steps: tuple[AssemblyStep, ...] = ()
    warnings: tuple[str, ...] = ()
    """What was wrong with mentions, definitions and rules; everything else was assembled."""
    ms: float = 0.0
    session: str = ""
    agent: str = ""
    files: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Ids of sources and names of rules that were switched off for this assembly."""
    definition: str = ""
    """The one definition that was run; empty: all."""
    tokenizer: str = ""
    head: str | None = None
    generation: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def recalled(self) -> tuple[str, ...]:
        """Return the paths of what is remembered and in what is handed over, each once."""
        given = dict.fromkeys(path for source in self.sources if source.text for path in source.paths)
        return tuple(path for path in given if path.partition("/")[0] in _REMEMBERED)


@dataclass(frozen=True, slots=True)
class AssemblyHead:
    """A snapshot of an assembly in a list."""

    id: str
    time: float
    prompt: str
    budget: int
    tokens: int
    sources: int
    """Those that were handed over."""
    cut: int
    """Those that were not, or not whole."""
    warnings: int
    ms: float
    session: str = ""
    agent: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One source in two assemblies."""

    id: str
    what: Literal["added", "removed", "changed", "same"]
    first_tokens: int = 0
    second_tokens: int = 0
    first_cut: str = ""
    """Why it was not whole there."""
    second_cut: str = ""
    diff: str = ""
    """Unified, of what was handed over; empty where nothing differs."""


@dataclass(frozen=True, slots=True)
class AssemblyDiff:
    """What differs between two assemblies."""

    first: AssemblyHead
    second: AssemblyHead
    changes: tuple[SourceChange, ...]
    """In the order of the second one, then what only the first had."""
    rules: tuple[str, ...] = ()
    """Rules that counted in one of the two alone, with a sign before: `+ architecture`."""
    warnings: tuple[str, ...] = ()
    """The same of warnings."""
