"""The steps of retrieval definitions: what each type does with the state of a run."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cm_tui.engine.context.assembly.sections import MARK, longest
from cm_tui.engine.context.definitions import shapes
from cm_tui.engine.context.definitions.library import Loaded
from cm_tui.engine.context.definitions.lint import reference_of
from cm_tui.engine.context.definitions.operators import number, prepared
from cm_tui.engine.context.definitions.shapes import Condition, RetrievalDefinition
from cm_tui.engine.context.definitions.template import MISSING, lookup, plain, render, variables
from cm_tui.engine.context.layers.layers import Layers, search_items, value_item
from cm_tui.engine.context.layers.ports import Item, MemoryPorts, text_of
from cm_tui.engine.platform import tokenizer
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.engine.search.ranking.tokens import STOP_WORDS
from cm_tui.errors import CmError
from cm_tui.model import AssemblyStep, Pack, StepOutcome

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


# --- the steps of retrieval definitions: what each type does with the state of a run ---

_DETAIL = 120
"""Characters of a detail in the trace."""
_WORD = re.compile(r"[A-Za-z_][\w.:-]*[\w]|\w+")
_MOST_WORDS = 16
_SHORTEST = 3
_LONGEST = 4_000
_REPHRASE = (
    "Rewrite what a developer asks a coding agent as one short search query for code and notes. "
    "Answer with the query alone: no quotes, no explanation, at most 20 words."
)
HALF_LIFE_S = 14 * 86_400.0
_PLACES = 10


# --- the query ---


def _derive_query(step: shapes.DeriveQuery, state: RunState) -> None:
    """Set the query: as it is, its words that matter, or as a language model puts it."""
    text = _source(step, state)
    if step.method == "keyword_extract":
        state.query = " ".join(keywords(text)) or text
    elif step.method == "llm_rephrase":
        state.query = _rephrased(text, state)
    else:
        state.query = text
    state.query = state.query[:_LONGEST]
    state.detail = " ".join(state.query.split())[:_DETAIL]


def _source(step: shapes.DeriveQuery, state: RunState) -> str:
    name = reference_of(step.from_)
    if name is not None:
        return state.means.text_of(name)
    found = lookup(state.scope, step.from_)
    if found is MISSING:
        found = lookup(state.scope["task"], step.from_)
    if found is MISSING:
        state.warnings.append(f"{state.name}: unknown field {step.from_!r}; the prompt was used.")
        return state.task.text
    return " ".join(map(str, found)) if isinstance(found, list) else plain(found)


def keywords(text: str) -> list[str]:
    """Return the content words, each once, in order.

    Names are unchanged; of other words those with three letters or more that are not stop words; at most sixteen, names
    first if there are more.
    """
    found: dict[str, bool] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        is_name = bool(re.search(r"[_.:\d]|[a-z][A-Z]", word))
        if is_name or (len(word) >= _SHORTEST and word.lower() not in STOP_WORDS):
            found.setdefault(word, is_name)
    chosen = sorted(found, key=lambda word: not found[word])[:_MOST_WORDS]
    return [word for word in found if word in chosen]


def _rephrased(text: str, state: RunState) -> str:
    try:
        answer = state.shared(("rephrase", text), lambda: state.means.ask_model(_REPHRASE, text))
    except CmError as error:
        state.warnings.append(f"{state.name}: the prompt was used unchanged. {error.message}")
        state.outcome = "failed"
        return text
    said = " ".join(str(answer).split()).strip("\"'` ")
    if not said or len(said) > 400 or "<" in said:
        state.warnings.append(f"{state.name}: the model returned no query; the prompt was used unchanged.")
        return text
    return said


# --- items ---


def _vector_search(step: shapes.VectorSearch, state: RunState) -> None:
    """Add passages of an index, the best first."""
    query = state.filled(step.query) if step.query else state.query or state.task.text
    key = ("vector_search", step.index, query, step.top_k, step.min_score)
    items, notes = state.shared(
        key, lambda: search_items(state.means.ports, query, step.index, step.top_k, step.min_score)
    )
    state.items += items
    state.notes += [f"{state.name}: {note}" for note in notes]
    state.detail = f"{step.index}, {len(items)} of at most {step.top_k}, score {step.min_score:g} and more"


def _graph_view_read(step: shapes.GraphViewRead, state: RunState) -> None:
    """Add the rows of a view of the graph."""
    params = {
        name: state.filled(value) if isinstance(value, str) else plain(value) for name, value in step.params.items()
    }
    key = ("graph_view_read", step.view, frozen(params))
    state.items += state.shared(key, lambda: state.means.layers.graph.read(step.view, params))
    state.detail = f"{step.view} {' '.join(params.values())}".strip()[:_DETAIL]


def _kv_get(step: shapes.KvGet, state: RunState) -> None:
    """Add values: templates name them by their keys; missing keys are skipped."""
    kv = state.means.layers.kv
    keys = [state.filled(key) if "{{" in key else key for key in step.keys]
    read = [kv.matching(key) if set(key) & set("*?") else [kv.get(key)] for key in keys]
    found = [one for some in read for one in some if one is not None]
    state.values |= {one.key: one.value for one in found}
    state.items += map(value_item, found)
    state.detail = ", ".join(one.key for one in found)[:_DETAIL] or "no such key"


def _log_search(step: shapes.LogSearch, state: RunState) -> None:
    """Add events, the newest first."""
    key = ("log_search", step.event_type, step.since, step.fields, step.limit)
    items, note = state.shared(
        key,
        lambda: state.means.layers.log.search(step.event_type, since=step.since, fields=step.fields, limit=step.limit),
    )
    state.items += items
    state.notes += [f"{state.name}: {note}"] if note else []
    state.detail = f"{step.event_type or 'all'} since {step.since}"


def _filter(step: shapes.Filter, state: RunState) -> None:
    """Keep the items that satisfy all conditions; fields are those of the item, then those of the task."""
    conditions = (step.where,) if isinstance(step.where, Condition) else step.where
    holds, scope, before = prepared(conditions), state.scope, len(state.items)
    state.items = [item for item in state.items if holds({**scope, **item})]
    state.detail = f"{len(state.items)} of {before}"


def _rank(step: shapes.Rank, state: RunState) -> None:
    """Sort the best first; equal ones keep their order.

    Relevance is the item's score, from 0 to 1; an item without a score uses its place: `1 / (1 + place / 10)`. Recency
    is `0.5 ^ (age / 14 days)`; 0 without a time. `combined` is the mean of both, weighted.
    """
    now = time.time()
    scored = [(score(step, item, place, now), -place, item) for place, item in enumerate(state.items)]
    scored.sort(key=lambda one: one[:2], reverse=True)
    state.items = [{**item, "rank_score": round(value, 6)} for value, _, item in scored]
    state.detail = step.by


def score(step: shapes.Rank, item: Item, place: int, now: float) -> float:
    """Return the sort key of an item, from 0 to 1."""
    found = number(item.get("score"))
    relevance = found if found is not None else 1 / (1 + place / _PLACES)
    at = number(item.get("time"))
    recency = 0.0 if at is None else float(0.5 ** (max(0.0, now - at) / HALF_LIFE_S))
    if step.by != "combined":
        return relevance if step.by == "relevance" else recency
    near, new = step.weights.get("relevance", 1.0), step.weights.get("recency", 1.0)
    return (near * relevance + new * recency) / (near + new) if near + new else 0.0


def _code_pack(step: shapes.CodePack, state: RunState) -> None:
    """Add the pieces of a pack that fit into the room."""
    query = state.query or state.task.text
    key = ("code_pack", query, state.room, step.neighbours, step.profile)
    pack: Pack = state.shared(
        key,
        lambda: state.means.ports.pack_within(query, state.room, neighbours=step.neighbours, profile=step.profile),
    )
    state.items += [
        {
            "text": item.text, "path": item.path, "title": item.title, "why": item.why, "line": item.start_line,
            "start_line": item.start_line, "end_line": item.end_line, "language": item.language,
        }
        for item in pack.items
        if item.included
    ]  # fmt: skip
    # The reader has asked the question at its beginning.
    text = pack.markdown.removeprefix(query.strip()).lstrip("\n")
    state.text = text if any(item.included for item in pack.items) else ""
    state.notes += [f"{state.name}: {note}" for note in pack.notes]
    state.detail = f"{pack.tokens:,} of {pack.budget:,} tokens, estimated"


# --- text ---


def _format(step: shapes.Format, state: RunState) -> None:
    """Render the template for each item in turn, or once where it names values read by key.

    An item that lacks a field of the template is skipped, and that is reported.
    """
    scope = state.scope
    if not step.template:
        parts = [text_of(item).strip() for item in state.items]
    elif _is_of_values(step.template, state):
        parts = [] if not state.items else [_rendered(step.template, scope, state)]
    else:
        parts = [_rendered(step.template, {**scope, **item}, state) for item in state.items]
    joint = "\n" if step.template and "\n" not in step.template else "\n\n"
    text = joint.join(part for part in parts if part)
    state.text = within(text, step.max_tokens) if step.max_tokens is not None else text
    state.detail = f"{len([part for part in parts if part])} of {len(state.items)}"


def _is_of_values(template: str, state: RunState) -> bool:
    """Return whether all that a template names is known without an item."""
    names = [name for name, _ in variables(template)]
    if not names:
        return True
    own = {key for item in state.items for key in item}
    first = {name.split(".")[0] for name in names} | set(names)
    if first & own and not first & set(state.values):
        return False
    return bool(state.values) or all(lookup(state.scope, name) is not MISSING for name in names)


def _rendered(template: str, scope: dict[str, object], state: RunState) -> str:
    rendered = render(template, scope)
    state.warn_missing(rendered.missing)
    return "" if rendered.missing else rendered.text


def within(text: str, most: int) -> str:
    """Return the whole lines of a text within a number of tokens, with a mark where lines are omitted."""
    if tokenizer.count(text) <= most:
        return text
    lines = text.split("\n")
    kept = longest(lambda number: "\n".join([*lines[:number], MARK]), len(lines) - 1, most)
    return kept or (tokenizer.cut(text, most - 1) + MARK if most > 1 else "")


RUN: Mapping[str, Callable[[Any, RunState], None]] = {
    "derive_query": _derive_query,
    "vector_search": _vector_search,
    "graph_view_read": _graph_view_read,
    "kv_get": _kv_get,
    "log_search": _log_search,
    "filter": _filter,
    "rank": _rank,
    "format": _format,
    "code_pack": _code_pack,
}
"""What each type of step does with the state of a run. To add one: its shape, a function, and a line here.

Each raises CmError where it cannot be done.
"""
