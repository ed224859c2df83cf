"""Assembly: mentions, rules, definitions, merge, caps, budget, in this order; every decision is in the trace.

1. look up mentions of the prompt; bad ones are warnings; 2. rules switch references on, with caps, priorities and
sections; 3. read all that are on at once; 4. drop duplicates between sources, by a digest of the content; 5. cut each
to its cap; 6. cut all to the budget, the last section first; 7. return the result.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cm_tui.engine.context.assembly.mentions import Names, found_in
from cm_tui.engine.context.assembly.rules import Candidate, RuleSet, Ruling, Verdict, canonical
from cm_tui.engine.context.assembly.sections import digest, within, without_known
from cm_tui.engine.context.assembly.steps import Outcome, Reader, SourceRequest, Task
from cm_tui.engine.context.definitions.library import SHIPPED, Library, Loaded
from cm_tui.engine.context.definitions.lint import SCHEMES
from cm_tui.engine.context.definitions.shapes import CodePack, RetrievalDefinition
from cm_tui.engine.platform import tokenizer
from cm_tui.model import SECTIONS, Assembly, AssemblySource, Section
from cm_tui.model.text import one_line, unapproved

# --- fitting sources into a budget, in order: the last ones are cut first, at the ends of their parts ---

_LEAST = 24
"""Least remaining tokens for a partial source."""
_TITLE = 100
LONGEST = 400_000
"""Letters of one source that are looked at."""
_MENTIONED = 100
"""Priority of mentioned sources."""


@dataclass(slots=True)
class Source:
    """A source in progress."""

    id: str
    kind: str
    section: Section
    order: int
    definition: Loaded[RetrievalDefinition] | None = None
    verdict: Verdict = field(default_factory=Verdict)
    outcome: Outcome | None = None
    text: str = ""
    cut: str = ""
    why_cut: str = ""
    most: int | None = None
    """Tokens at most, where neither a rule nor a definition sets a cap."""

    @property
    def priority(self) -> int:
        """Return what orders it within its section."""
        if self.verdict.priority is not None:
            return self.verdict.priority
        own = self.definition.value.priority if self.definition is not None else 0
        return _MENTIONED if self.kind == "mention" else own

    @property
    def cap(self) -> int | None:
        """Return the most tokens that it may have."""
        if self.verdict.cap is not None:
            return self.verdict.cap
        return self.definition.value.max_contribution if self.definition is not None else self.most

    @property
    def title(self) -> str:
        """Return its heading."""
        if self.outcome is not None and self.outcome.title:
            return self.outcome.title
        return self.definition.value.name if self.definition is not None else self.id

    def leave_out(self, cut: str, why: str) -> None:
        """Hand nothing of it over."""
        self.text, self.cut, self.why_cut = "", cut, why

    def record(self) -> AssemblySource:
        """Return the source's part of the trace."""
        outcome = self.outcome or Outcome()
        named: Any = {"kind": self.kind, "cut": self.cut}
        return AssemblySource(
            id=self.id, title=self.title, section=self.section, text=self.text, tokens=tokenizer.count(self.text),
            found_tokens=tokenizer.count(outcome.text[:LONGEST]), priority=self.priority, cap=self.cap,
            why_cut=self.why_cut, rules=(self.verdict.rule,) if self.verdict.rule else (),
            file=_file(self.definition), paths=outcome.paths, digest=digest(outcome.text) if outcome.text else "",
            ms=outcome.ms, **named,
        )  # fmt: skip


def fit(ordered: Sequence[Source], budget: int) -> tuple[str, int]:
    """Return the text that fits, with a heading for each source, and its cost.

    Each source gets the remainder of those before it. The text never exceeds the budget, by the tokenizer.

    Args:
        ordered: sources in order; cut ones are marked as such.
        budget: tokens.
    """
    # Texts are counted one by one, as counting the whole for each would be slow. Joined at a line break they have
    # nearly the same tokens as the whole; any difference only leaves less room.
    room = budget
    while True:
        text = _fitted(ordered, room, budget)
        tokens = tokenizer.count(text)
        if tokens <= budget:
            return text, tokens
        room -= tokens - budget


def _fitted(ordered: Sequence[Source], room: int, budget: int) -> str:
    parts: list[str] = []
    section = ""
    left = room
    for one in ordered:
        if not one.text:
            continue
        head = _heading(one, section, is_first=not parts)
        kept, cost = _fit_source(head, one, left, budget)
        if not kept:
            one.leave_out("budget", f"The budget of {budget:,} tokens was used up before it.")
            continue
        parts.append(kept)
        section, left = one.section, left - cost
    return "".join(parts)


def _fit_source(head: str, one: Source, room: int, budget: int) -> tuple[str, int]:
    """Return a source with its heading, whole or cut, and its cost; empty: no room."""
    whole = f"{head}{one.text}\n"
    cost = tokenizer.count(whole)
    if cost <= room:
        return whole, cost
    found = tokenizer.count(one.text)
    most = room - tokenizer.count(head)
    while most >= _LEAST:
        text = within(one.text, most)
        if not text:
            break
        part = f"{head}{text}\n"
        cost = tokenizer.count(part)
        if cost <= room:
            one.text, one.cut = text, "budget"
            one.why_cut = f"The budget of {budget:,} tokens left room for {tokenizer.count(text):,} of {found:,}."
            return part, cost
        # Tokens of texts do not add up to the last one.
        most -= max(1, cost - room)
    return "", 0


def _heading(one: Source, section: str, *, is_first: bool) -> str:
    title = one_line(" ".join(one.title.split()))[:_TITLE]
    before = "" if is_first else "\n"
    if section != one.section:
        return f"{before}## {one.section.replace('_', ' ').capitalize()}\n\n### {title}\n\n"
    return f"{before}### {title}\n\n"


def _file(definition: Loaded[RetrievalDefinition] | None) -> str:
    return "" if definition is None or definition.file.startswith(SHIPPED) else definition.file


# --- assembly: mentions, rules, definitions, merge, caps, budget, in this order; every decision is in the trace ---

WARNINGS = "assembly://warnings"
"""Id of the source that warns an agent of missing context."""
_WARNINGS_TOKENS = 400
_HEADING_TOKENS, _LEAST_ROOM = 12, 100
"""Approximate size of a heading, and the least size of a pack."""


def assemble(
    task: Task,
    library: Library,
    rules: RuleSet,
    names: Names,
    reader: Reader,
    without: frozenset[str] = frozenset(),
    only: str = "",
) -> Assembly:
    """Return the context for a task, and the trace of its assembly.

    Args:
        task: the prompt and its context.
        library: the definitions.
        rules: those of the library, compiled.
        names: what mentions may name.
        reader: reads sources.
        without: ids of sources and `rule://NAME` to exclude this time.
        only: run only this definition, without rules and mentions; empty: all.
    """
    begun = time.perf_counter()
    warnings: list[str] = []
    if only:
        sources, ruling = [_of_definition(library, only)], Ruling()
    else:
        sources, ruling, warnings = _chosen(task, library, rules, names, without)
        warnings += [f"{one.file}:{one.line}: {one.message}" for one in library.problems if one.severity == "error"]
    _read_all(task, sources, reader)
    warnings += [warning for one in sources if one.outcome for warning in one.outcome.warnings]
    warnings += [f"{one.id}: {one.why_cut}" for one in sources if one.cut == "failed"]
    if warnings and not only:
        told = _of_warnings(warnings, len(sources))
        _switch(told, without)
        sources.append(told)
    ordered = sorted(sources, key=lambda one: (SECTIONS.index(one.section), -one.priority, one.order))
    _dedupe(ordered)
    _cap(ordered)
    text, tokens = fit(ordered, task.budget)
    shown = [one for one in ordered if one.text]
    left = [one for one in ordered if not one.text]
    steps = tuple(step for one in sources if one.outcome for step in one.outcome.steps)
    return Assembly(
        id="", time=time.time(), prompt=task.text, budget=task.budget, tokens=tokens, text=text,
        sources=tuple(one.record() for one in (*shown, *left)), rules=tuple(ruling.applied),
        steps=tuple(sorted(steps, key=lambda step: step.start_ms)), warnings=tuple(dict.fromkeys(warnings)),
        ms=(time.perf_counter() - begun) * 1_000, session=task.session, agent=task.agent, files=task.files,
        without=tuple(sorted(without)), definition=only, tokenizer=tokenizer.NAME,
        notes=tuple(note for one in sources if one.outcome for note in one.outcome.notes),
    )  # fmt: skip


def _of_definition(library: Library, name: str) -> Source:
    found = library.definition(name)
    assert found is not None  # the caller has checked
    return Source(f"definition://{name}", "definition", found.value.section, 0, found)


def _of_warnings(warnings: Sequence[str], order: int) -> Source:
    """Return the source that warns an agent of missing context."""
    lines = "\n".join(f"- {' '.join(one.split())}" for one in dict.fromkeys(warnings))
    text = within(lines, _WARNINGS_TOKENS)
    return Source(WARNINGS, "reference", "warnings", order, outcome=Outcome(text, "What is missing here"), text=text)


def _chosen(
    task: Task, library: Library, rules: RuleSet, names: Names, without: frozenset[str]
) -> tuple[list[Source], Ruling, list[str]]:
    """Return every possible source, with the decisions of rules."""
    mentioned, warnings = found_in(task.text, names)
    sources: dict[str, Source] = {}
    files = {one.reference for one in mentioned if one.reference.startswith("file://") and "#" not in one.reference}
    for one in mentioned:
        # Whole files get half of the budget: the lines that answer are rarely the first ones.
        most = task.budget // (2 * len(files)) if one.reference in files else None
        source = Source(one.reference, "mention", section_of(one.reference), len(sources), most=most)
        sources.setdefault(one.reference, source)
    definitions = {f"definition://{one.value.name}": one for one in library.retrieval}
    for id_, loaded in definitions.items():
        if loaded.value.enabled:
            sources[id_] = Source(id_, "definition", loaded.value.section, len(sources), loaded)

    def made(reference: str) -> Candidate:
        found = definitions.get(reference)
        if found is not None:
            return Candidate(reference, "definition", found.value.section, found.value.enabled)
        return Candidate(reference, "reference", section_of(reference), False)

    candidates = [Candidate(one.id, one.kind, one.section, True) for one in sources.values()]
    ruling = rules.judge(_fields(task, [one.reference for one in mentioned]), candidates, without, made)
    for reference in ruling.included:
        loaded_one = definitions.get(reference)
        kind = "definition" if loaded_one is not None else "reference"
        sources[reference] = Source(reference, kind, made(reference).section, len(sources), loaded_one)
    chosen = []
    for source in sources.values():
        verdict = ruling.verdicts.get(source.id)
        if verdict is not None:
            source.verdict = verdict
            source.section = verdict.section or source.section
        is_brought = source.id in ruling.included
        if is_brought and (verdict is None or verdict.included is None):
            continue  # The rule that names it does not apply, and nothing else requests it.
        _switch(source, without)
        chosen.append(source)
    return chosen, ruling, warnings


def _switch(source: Source, without: frozenset[str]) -> None:
    if source.id in without:
        source.leave_out("off", "It is disabled for this assembly.")
    elif source.verdict.included is False:
        source.leave_out("rule", f"The rule {source.verdict.rule} excludes it.")
    elif source.definition is not None and source.definition.is_held:
        source.leave_out("held", f"It wants to {source.definition.asks[0]}; held until it is trusted: `cm trust`.")
    elif source.cap == 0:
        source.leave_out("cap", "It is limited to 0 tokens.")


def section_of(reference: str) -> Section:
    """Return the default section of a reference."""
    scheme, _, path = canonical(reference).partition("://")
    return "constraints" if scheme == "entries" and path == "Rule" else SCHEMES.get(scheme, "knowledge")


def _fields(task: Task, mentions: list[str]) -> dict[str, Any]:
    return {
        "task.text": task.text, "task.session": task.session, "task.agent": task.agent, "task.files": list(task.files),
        "task.branch": task.branch, "task.mentions": mentions, "task.budget": task.budget,
    }  # fmt: skip


def _read_all(task: Task, sources: Sequence[Source], reader: Reader) -> None:
    """Read active sources: a pack last, as it fills the remaining room."""
    waves = [[one for one in sources if not one.cut and _fills(one) == last] for last in (False, True)]
    _read(task, waves[0], task.budget, reader, 0.0)
    found = [one for one in waves[0] if one.text]
    taken = sum(min(tokenizer.count(one.text), task.budget if one.cap is None else one.cap) for one in found)
    begun = max((step.start_ms + step.ms for one in waves[0] if one.outcome for step in one.outcome.steps), default=0.0)
    room = task.budget - taken - _HEADING_TOKENS * (len(found) + 1)
    _read(task, waves[1], max(room, _LEAST_ROOM), reader, begun)


def _fills(source: Source) -> bool:
    """Return whether a source takes as much as there is."""
    definition = source.definition
    return definition is not None and any(isinstance(step, CodePack) for step in definition.value.steps)


def _read(task: Task, sources: Sequence[Source], room: int, reader: Reader, begun: float) -> None:
    if not sources:
        return
    outcomes = reader.read(
        task, [SourceRequest(one.id, one.definition, _remaining_tokens(one, room)) for one in sources]
    )
    for one in sources:
        outcome = outcomes[one.id]
        steps = tuple(replace(step, start_ms=step.start_ms + begun) for step in outcome.steps)
        _take(one, replace(outcome, steps=steps))


def _remaining_tokens(source: Source, budget: int) -> int:
    return budget if source.cap is None else min(budget, source.cap)


def _take(source: Source, outcome: Outcome) -> None:
    source.outcome = outcome
    if outcome.error:
        source.leave_out("failed", outcome.error)
    elif not outcome.text.strip():
        source.leave_out("empty", "No results.")
    else:
        source.text = unapproved(outcome.text).strip("\n")
        if len(source.text) > LONGEST:
            source.text = source.text[: source.text.rfind("\n", 0, LONGEST)]
            source.cut, source.why_cut = "budget", f"It has {len(outcome.text):,} characters; {LONGEST:,} were read."


def _dedupe(ordered: Sequence[Source]) -> None:
    """Drop duplicates of several sources, except in the first one."""
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    for one in ordered:
        if not one.text:
            continue
        same = whole.setdefault(digest(one.text), one.id)
        if same != one.id:
            one.leave_out("duplicate", f"Same as {same}.")
            continue
        text, gone, other = without_known(one.text, parts, one.id)
        if gone:
            one.cut, one.why_cut = (
                "duplicate",
                f"{gone} {'part' if gone == 1 else 'parts'} of it: same as {other}.",
            )
            one.text = text if text.strip() else ""


def _cap(ordered: Sequence[Source]) -> None:
    for one in ordered:
        if one.text and one.cap is not None and tokenizer.count(one.text) > one.cap:
            why = f"It is limited to {one.cap:,} tokens" + (
                f", by the rule {one.verdict.rule}." if one.verdict.cap is not None else "."
            )
            kept = within(one.text, one.cap)
            if kept:
                one.text, one.cut, one.why_cut = kept, "cap", why
            else:
                one.leave_out("cap", why)
