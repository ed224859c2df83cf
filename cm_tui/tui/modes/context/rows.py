"""Rows of the list: sources of an assembly, disabled ones, and snapshots."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual.content import Content

from cm_tui.counts import count
from cm_tui.model import Assembly, AssemblyDiff, AssemblyHead, AssemblySource, AssemblyStep, Definitions
from cm_tui.model.dates import local_minute, short_age
from cm_tui.tui.theme.highlight import highlighted_lines
from cm_tui.tui.widgets.bars import budget_bar, cell_bar
from cm_tui.tui.widgets.patches import DIFF_STYLES
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_middle, one_line, wrapped

_SECTION = 11
"""Cells of the section's name."""
_BAR, _AGE = 8, 7
_WIDE = 56
"""Cells from which on a row has a bar."""
_CUTS = {
    "": " ", "rule": "⊘", "off": "○", "duplicate": "=", "empty": "∅", "cap": "✂", "budget": "✂", "failed": "✗", "held": "⏸",
}  # fmt: skip


@dataclass(frozen=True)
class SourceRow:
    """A source, or a rule that is switched off."""

    id: str
    source: AssemblySource | None
    section: str
    """Said where it differs from that of the row above."""
    budget: int
    off: bool = False


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot, and whether it was marked to be compared."""

    head: AssemblyHead
    marked: bool


def source_rows(one: Assembly, off: Iterable[str], titles: Mapping[str, str]) -> list[SourceRow]:
    """Return the sources in their order, then rules that are switched off. `titles`: of sources without one, by id."""
    rows: list[SourceRow] = []
    before = ""
    switched = set(off)
    for each in one.sources:
        source = replace(each, title=titles.get(each.id, each.title)) if each.title == each.id else each
        section = source.section.replace("_", " ") if source.text else "omitted"
        rows.append(
            SourceRow(source.id, source, section if section != before else "", one.budget, source.id in switched)
        )
        before = section
    rules = sorted(id_ for id_ in switched if id_.startswith("rule://"))
    rows += [SourceRow(id_, None, "" if number else "rules", one.budget, True) for number, id_ in enumerate(rules)]
    return rows


class SourceRows(RowList[SourceRow]):
    """Sources in the order in which they are handed over, then those that are not."""

    def draw(self, row: SourceRow, width: int) -> Content:
        """Section, mark, title, share and tokens."""
        section = elide_end(row.section, _SECTION).ljust(_SECTION)
        if row.source is None:
            return Content.assemble(
                (section, "$secondary"), ("○ ", "$muted"), (elide_end(row.id, width - 14), "$muted strike")
            )
        source = row.source
        tail = f"{source.tokens:>7,}" if source.text else f"{source.cut:>9}"
        bar_width = _BAR if width >= _WIDE and source.text else 0
        room = width - _SECTION - 3 - len(tail) - (bar_width + 1 if bar_width else 0)
        name = elide_middle(one_line(source.title) or one_line(source.id), max(6, room - 1))
        gap = max(1, room - cell_len(name))
        style = "bold" if source.text else "$muted strike" if source.cut in ("off", "rule") else "$muted"
        share = source.tokens / row.budget if row.budget else 0.0
        mark_style = "$error" if source.cut == "failed" else "$warning"
        return Content.assemble(
            (section, "$secondary"), (f"{_CUTS.get(source.cut, ' ')} ", mark_style), (name, style),
            " " * gap, (cell_bar(share, bar_width), "$primary on $foreground 8%"), " " if bar_width else "",
            (tail, "$foreground" if source.text else "$warning"),
        )  # fmt: skip


class SnapshotRows(RowList[SnapshotRow]):
    """Snapshots, the newest first."""

    def draw(self, row: SnapshotRow, width: int) -> Content:
        """Mark, age, who, prompt and tokens."""
        head = row.head
        when = short_age(time.time() - head.time).ljust(_AGE)
        who = elide_end(one_line(head.agent or head.session or head.definition or "you"), 10).ljust(11)
        tail = f"{head.tokens:>7,}"
        warned = f" ▲{head.warnings}" if head.warnings else ""
        room = max(4, width - 2 - _AGE - 11 - len(tail) - len(warned) - 2)
        prompt = elide_end(one_line(" ".join(head.prompt.split())) or "(no prompt)", room).ljust(room)
        return Content.assemble(
            ("◆ " if row.marked else "  ", "$accent"), (when, "$muted"), (who, "$secondary"), (prompt, "$foreground"),
            (warned, "$warning"), (tail, "$muted"),
        )  # fmt: skip


def budget_line(one: Assembly | None, budget: int, width: int) -> Content:
    """Return how much of the budget is handed over, what was cut, and how many sources that are."""
    handed = sum(bool(source.text) for source in one.sources) if one is not None else 0
    cut, rest = 0, ""
    if one is not None:
        cut = sum(max(0, each.found_tokens - each.tokens) for each in one.sources if each.cut in ("budget", "cap"))
        rest = f" · {count(handed, 'source')}, {one.ms:.0f} ms"
    used, budget = (one.tokens, one.budget) if one is not None else (0, budget)
    words = f" {used:,} of {budget:,} tokens{f' · {cut:,} cut' if cut else ''}"
    if cell_len(words) + cell_len(rest) > width - 12:
        rest = ""
    bar = budget_bar(used, budget, max(4, width - cell_len(words + rest) - 2), "$warning" if cut else "$success")
    return Content.assemble(bar, (words, "$foreground"), (rest, "$muted"))


Lines = list[Content]
_LEAST_NAME, _NUMBERS = 14, 21
_LABEL = 10
_LONGEST_LINE = 400
_OUTCOMES = {"ok": "$primary", "cached": "$success", "shared": "$success", "failed": "$error", "timeout": "$error"}
_STATES = {"counts": ("●", "$success"), "off": ("○", "$muted"), "held": ("⏸", "$warning"), "broken": ("✗", "$error")}


def text_lines(one: Assembly, source: AssemblySource | None) -> Lines:
    """Return what is handed over: of one source, or of all."""
    text = source.text if source is not None else one.text
    if not text:
        why = source.why_cut if source is not None else "The context is empty."
        return [Content.styled(why, "$warning")]
    plain = "\n".join(one_line(line[:_LONGEST_LINE]) for line in text.split("\n"))
    return highlighted_lines(f"{plain}\n", "markdown", "context.md")[:-1]


def why_lines(one: Assembly, source: AssemblySource | None, width: int) -> Lines:
    """Return why a source is there, or is not, and what rules and mentions did."""
    lines: Lines = []
    if source is not None:
        lines += _pairs(_facts(source), width)
        lines.append(Content(""))
    lines += _block("Rules applied", [
        f"{rule.rule}: {rule.action} → {rule.reference}" for rule in one.rules
        if rule.counted and (source is None or rule.reference == source.id)
    ], width)  # fmt: skip
    lines += _block("Overruled by an earlier rule", [
        f"{rule.rule}: {rule.action} → {rule.reference}" for rule in one.rules
        if not rule.counted and (source is None or rule.reference == source.id)
    ], width)  # fmt: skip
    lines += _block("Missing context", one.warnings, width, "$warning")
    lines += _block("Notes", one.notes, width)
    lines += _pairs(_of_assembly(one), width)
    return lines


def _facts(source: AssemblySource) -> Iterator[tuple[str, str]]:
    yield "Source", source.id
    yield "Section", f"{source.section.replace('_', ' ')}, priority {source.priority}"
    found = f", {source.found_tokens:,} found" if source.found_tokens != source.tokens else ""
    yield "Tokens", f"{source.tokens:,}{found}"
    if source.cap is not None:
        yield "Cap", f"{source.cap:,} tokens"
    if source.cut:
        yield "Cut", source.why_cut
    if source.rules:
        yield "By rule", ", ".join(source.rules)
    if source.file:
        yield "File", source.file
    if source.paths:
        yield (
            "Shows",
            ", ".join(source.paths[:12]) + (f" and {len(source.paths) - 12} more" if len(source.paths) > 12 else ""),
        )
    yield "Took", f"{source.ms:.1f} ms"


def _of_assembly(one: Assembly) -> Iterator[tuple[str, str]]:
    yield "Built", f"{local_minute(one.time)}, in {one.ms:.0f} ms"
    if one.session or one.agent:
        yield "For", f"{one.agent or 'an agent'} {one.session}".strip()
    if one.head:
        yield "Commit", one.head[:12]
    yield "Tokenizer", one.tokenizer
    yield "Snapshot", one.id or "not saved; K saves it"


def time_lines(one: Assembly, width: int) -> Lines:
    """Return the waterfall: each step as a bar from when it began to when it ended."""
    if not one.steps:
        return [Content.styled("No step was run.", "$muted")]
    end = max(0.001, *(step.start_ms + step.ms for step in one.steps))
    longest = max(cell_len(_step_name(step)) for step in one.steps) + 1
    named = max(_LEAST_NAME, min(longest, width // 3))
    room = max(8, width - named - _NUMBERS)
    scale = f"0{f'{end:.0f} ms':>{room - 1}}"
    lines: Lines = [Content.assemble(" " * named, (scale, "$muted"))]
    lines += [_step(step, end, room, named) for step in one.steps]
    slow = max(one.steps, key=lambda step: step.ms)
    summary = f"{count(len(one.steps), 'step')}; the longest is {slow.name} of {_source_name(slow)}."
    return [*lines, Content(""), Content.styled(summary, "$muted")]


def _step_name(step: AssemblyStep) -> str:
    """Return what a step is called, behind its source by name, or by all of its reference where that is a pattern."""
    return f"{_source_name(step)} {one_line(step.name)}"


def _source_name(step: AssemblyStep) -> str:
    name = step.source.partition("://")[2]
    return one_line(name if name.strip("*") else step.source)


def _step(step: AssemblyStep, end: float, room: int, named: int) -> Content:
    before = min(room - 1, int(room * step.start_ms / end))
    long = max(1, min(room - before, round(room * step.ms / end)))
    name = elide_middle(_step_name(step), named - 1).ljust(named)
    colour = _OUTCOMES[step.outcome]
    bar = Content.assemble(" " * before, ("█" * long, colour), " " * (room - before - long))
    result = step.outcome if step.outcome != "ok" else f"{step.found:,} found" if step.found else ""
    return Content.assemble(name, bar, (f" {step.ms:>6.1f} ms ", "$foreground"), (result, colour))


def file_lines(found: Definitions, width: int) -> Lines:
    """Return the definitions of the project, and what is wrong with their files."""
    lines: Lines = []
    for problem in found.problems:
        style = "$error" if problem.severity == "error" else "$warning"
        lines += [Content.styled(part, style) for part in wrapped(one_line(problem.text), max(20, width - 1))]
    if found.problems:
        lines.append(Content(""))
    for item in found.items:
        sign, style = _STATES[item.state]
        lines.append(
            Content.assemble(
                (f"{sign} ", style), (one_line(item.id), "bold"), ("  built in" if item.shipped else "", "$muted")
            )
        )
        where = "" if item.shipped else f"{item.file}:{item.line}  "
        lines.append(Content.assemble("  ", (one_line(f"{where}{item.summary}"), "$muted")))
        lines += [
            Content.assemble("  ", (f"held until trusted (T): it wants to {one_line(ask)}", "$warning"))
            for ask in item.asks
            if item.state == "held"
        ]
    if not found.files:
        words = wrapped("Create your first with `cm context new retrieval NAME`.", max(20, width - 1))
        lines += [Content(""), *(Content.styled(part, "$muted") for part in words)]
    return lines


def diff_lines(found: AssemblyDiff, width: int) -> Lines:
    """Return what differs between two assemblies."""
    lines: Lines = []
    for sign, head in (("-", found.first), ("+", found.second)):
        words = f"{sign} {local_minute(head.time)}  {head.tokens:,} of {head.budget:,} tokens  {' '.join(head.prompt.split())}"
        lines.append(Content.styled(elide_end(one_line(words), max(20, width - 1)), DIFF_STYLES[sign]))
    said = [*found.rules, *found.warnings]
    lines += [Content("")] * bool(said) + [
        Content.styled(one_line(line), DIFF_STYLES.get(line[:1], "")) for line in said
    ]
    for change in found.changes:
        if change.what == "same":
            continue
        lines += [Content(""), Content.assemble((f"{change.what:<8} ", "$secondary"), (one_line(change.id), "bold"),
                  (f"  {change.first_tokens:,} → {change.second_tokens:,} tokens", "$muted"))]  # fmt: skip
        why = change.second_cut if change.what == "removed" else change.first_cut if change.what == "added" else ""
        lines += [Content.styled(f"  {one_line(why)}", "$warning")] if why else []
        lines += [
            Content.styled(one_line(line[:_LONGEST_LINE]), DIFF_STYLES.get(line[:1], ""))
            for line in change.diff.split("\n")[2:]
        ]
    same = sum(change.what == "same" for change in found.changes)
    lines += [Content(""), Content.styled(f"{count(same, 'source')} identical in both.", "$muted")]
    return lines


def _pairs(facts: Iterator[tuple[str, str]], width: int) -> Lines:
    lines: Lines = []
    for label, text in facts:
        for number, part in enumerate(wrapped(one_line(text), max(12, width - _LABEL - 2))):
            lines.append(Content.assemble((f"{label if not number else '':<{_LABEL}} ", "$secondary"), part))
    return lines


def _block(title: str, items: Sequence[str], width: int, style: str = "") -> Lines:
    if not items:
        return []
    lines: Lines = [Content.styled(title, "bold $secondary")]
    for item in items:
        for number, part in enumerate(wrapped(one_line(item), max(12, width - 3))):
            lines.append(Content.assemble("  " if number else "· ", (part, style)))
    return [*lines, Content("")]
