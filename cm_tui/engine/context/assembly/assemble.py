"""Assembly: mentions, rules, definitions, merge, caps, budget, in this order; every decision is in the trace.

1. look up mentions of the prompt; bad ones are warnings; 2. rules switch references on, with caps, priorities and
sections; 3. read all that are on at once; 4. drop duplicates between sources, by a digest of the content; 5. cut each
to its cap; 6. cut all to the budget, the last section first; 7. return the result.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cm_tui.engine.context.assembly.fitting import LONGEST, Source, fit
from cm_tui.engine.context.assembly.mentions import Names, found_in
from cm_tui.engine.context.assembly.rules import Candidate, RuleSet, Ruling, canonical
from cm_tui.engine.context.assembly.run_state import Outcome, Reader, SourceRequest, Task
from cm_tui.engine.context.assembly.sections import digest, within, without_known
from cm_tui.engine.context.definitions.library import Library
from cm_tui.engine.context.definitions.shapes.retrieval import CodePack
from cm_tui.engine.platform import tokenizer
from cm_tui.model import SECTIONS, Assembly, Section
from cm_tui.model.text import unapproved

WARNINGS = "assembly://warnings"
"""Id of the source that warns an agent of missing context."""
_WARNINGS_TOKENS = 400
_HEADING_TOKENS, _LEAST_ROOM = 12, 100
"""Approximate size of a heading, and the least size of a pack."""
_SECTIONS: Mapping[str, Section] = {
    "kv": "state", "json": "state", "log": "history", "episodic": "history", "episode": "history",
    "working": "working_memory",
}  # fmt: skip
"""Default section of a scheme's references; all others are knowledge."""


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
        source.leave_out("off", "It is switched off for this assembly.")
    elif source.verdict.included is False:
        source.leave_out("rule", f"The rule {source.verdict.rule} excludes it.")
    elif source.definition is not None and source.definition.is_held:
        source.leave_out("held", f"It wants to {source.definition.asks[0]}, and waits for trust: `cm trust`.")
    elif source.cap == 0:
        source.leave_out("cap", "It may have no tokens.")


def section_of(reference: str) -> Section:
    """Return the default section of a reference."""
    scheme, _, path = canonical(reference).partition("://")
    return "constraints" if scheme == "entries" and path == "Rule" else _SECTIONS.get(scheme, "knowledge")


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
        source.leave_out("empty", "Nothing was found.")
    else:
        source.text = unapproved(outcome.text).strip("\n")
        if len(source.text) > LONGEST:
            source.text = source.text[: source.text.rfind("\n", 0, LONGEST)]
            source.cut, source.why_cut = "budget", f"It has {len(outcome.text):,} letters; {LONGEST:,} were looked at."


def _dedupe(ordered: Sequence[Source]) -> None:
    """Drop duplicates of several sources, except in the first one."""
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    for one in ordered:
        if not one.text:
            continue
        same = whole.setdefault(digest(one.text), one.id)
        if same != one.id:
            one.leave_out("duplicate", f"{same} has the same.")
            continue
        text, gone, other = without_known(one.text, parts, one.id)
        if gone:
            one.cut, one.why_cut = (
                "duplicate",
                f"{gone} {'part' if gone == 1 else 'parts'} of it: {other} has the same.",
            )
            one.text = text if text.strip() else ""


def _cap(ordered: Sequence[Source]) -> None:
    for one in ordered:
        if one.text and one.cap is not None and tokenizer.count(one.text) > one.cap:
            why = f"It may have {one.cap:,} tokens" + (
                f", by the rule {one.verdict.rule}." if one.verdict.cap is not None else "."
            )
            kept = within(one.text, one.cap)
            if kept:
                one.text, one.cut, one.why_cut = kept, "cap", why
            else:
                one.leave_out("cap", why)
