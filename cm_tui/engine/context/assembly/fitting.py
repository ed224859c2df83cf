"""Fitting sources into a budget, in order: the last ones are cut first, at the ends of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cm_tui.engine.context.assembly.rules import Verdict
from cm_tui.engine.context.assembly.run_state import Outcome
from cm_tui.engine.context.assembly.sections import digest, within
from cm_tui.engine.context.definitions.loaded import SHIPPED, Loaded
from cm_tui.engine.context.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.engine.platform import tokenizer
from cm_tui.model import AssemblySource, Section
from cm_tui.model.text import one_line

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
