"""Assemblies as lines: of a list, of a comparison, and the trace of how one came to be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cm_tui import model
from cm_tui.counts import count
from cm_tui.model.dates import local_minute

_PROMPT = 60
_BAR = 24
_NAME = 36


def head_line(one: model.AssemblyHead) -> str:
    """Return a snapshot as a line of a list."""
    marks = [f"{one.cut} cut" if one.cut else "", count(one.warnings, "warning") if one.warnings else ""]
    marked = "".join(f", {mark}" for mark in marks if mark)
    who = "".join(f"  {word}" for word in (one.agent, one.session) if word)
    ran = f"  ran {one.definition}" if one.definition else ""
    return (
        f"{one.id}  {local_minute(one.time)}  {one.tokens:,} of {one.budget:,} tokens, "
        f"{count(one.sources, 'source')}{marked}{who}{ran}  {_short(one.prompt, _PROMPT)}"
    )


def change_line(one: model.SourceChange) -> str:
    """Return what became of a source between two assemblies."""
    signs = {"added": "+", "removed": "-", "changed": "~", "same": " "}
    cuts = [f"{when}: {cut}" for when, cut in (("then", one.first_cut), ("now", one.second_cut)) if cut]
    cut = f"  (cut {', '.join(cuts)})" if cuts else ""
    return f"{signs[one.what]} {one.id}  {one.first_tokens:,} → {one.second_tokens:,} tokens{cut}"


def summary(one: model.Assembly) -> Iterator[str]:
    """Yield the summary lines of an assembly."""
    given = [source for source in one.sources if source.text]
    cut = sum(1 for source in one.sources if source.cut not in ("", "empty", "off"))
    told = [count(len(given), "source"), f"{cut} cut" if cut else "", f"{one.ms:.0f} ms"]
    kept = f", snapshot {one.id}" if one.id else ""
    if not one.text.strip():
        yield "the context is empty"
    yield f"{one.tokens:,} of {one.budget:,} tokens, {', '.join(word for word in told if word)}{kept}"
    yield from (f"warning: {text}" for text in one.warnings)
    yield from (f"note: {text}" for text in one.notes)


def trace(one: model.Assembly) -> Iterator[str]:
    """Yield the trace of an assembly: sources by section, omissions, rules, and a waterfall of the steps."""
    given = [source for source in one.sources if source.text]
    for section, sources in groupby(given, key=lambda source: source.section):
        yield section
        yield from (source_line(source) for source in sources)
    left = [source for source in one.sources if not source.text]
    if left:
        yield "not handed over"
        yield from (source_line(source) for source in left)
    if one.rules:
        yield "rules"
        yield from (_rule_line(rule) for rule in one.rules)
    if one.steps:
        yield "steps"
        yield from _waterfall(one)
    if one.without:
        yield f"switched off: {', '.join(one.without)}"
    if one.tokenizer:
        yield f"tokens by {one.tokenizer}"


def source_line(one: model.AssemblySource) -> str:
    """Return a source with its tokens, what was cut of it and why."""
    tokens = f"{one.tokens:>7,}" if one.text else f"{'–':>7}"
    of = f" of {one.found_tokens:,}" if one.found_tokens > one.tokens else ""
    cut = f"  {one.cut}: {one.why_cut}" if one.cut else ""
    facts = [f"priority {one.priority}" if one.priority else "", f"cap {one.cap:,}" if one.cap is not None else ""]
    facts += [f"by {', '.join(one.rules)}" if one.rules else "", one.file]
    about = "".join(f", {fact}" for fact in facts if fact)
    return f"{tokens}{of}  {one.id}  {one.ms:.1f} ms{about}{cut}"


def _rule_line(one: model.AppliedRule) -> str:
    counted = "" if one.counted else "  (an earlier rule had decided)"
    return f"  {one.rule}: {one.action} → {one.reference}  {one.file}{counted}"


def _waterfall(one: model.Assembly) -> Iterator[str]:
    end = max(0.001, *(step.start_ms + step.ms for step in one.steps))
    width = min(max(len(f"{step.source} {step.name}") for step in one.steps), _NAME)
    for step in one.steps:
        yield f"  {_short(f'{step.source} {step.name}', width):<{width}} {_bar(step, end)} {step.ms:7.1f} ms{_told(step)}"


def _bar(step: model.AssemblyStep, end: float) -> str:
    begin = min(round(step.start_ms / end * _BAR), _BAR - 1)
    length = min(max(round(step.ms / end * _BAR), 1), _BAR - begin)
    return f"{'·' * begin}{'━' * length}{'·' * (_BAR - begin - length)}"


def _told(step: model.AssemblyStep) -> str:
    outcome = f", {step.outcome}" if step.outcome != "ok" else ""
    detail = f", {step.detail}" if step.detail else ""
    return f", {count(step.found, 'item')}{outcome}{detail}"


def _short(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
