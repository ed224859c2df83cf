"""Fitting sources into a budget, in order: the last ones are cut first, at the ends of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cm_tui.engine.context.assembly.sections import within
from cm_tui.engine.platform import tokenizer
from cm_tui.model import Section
from cm_tui.model.text import one_line

_LEAST = 24
"""Least remaining tokens for a partial source."""
_TITLE = 100


class Fitted(Protocol):
    """A source, for fitting."""

    id: str
    section: Section
    text: str
    cut: str
    why_cut: str

    def leave_out(self, cut: str, why: str) -> None:
        """Hand nothing of it over."""

    @property
    def title(self) -> str:
        """Return its heading."""


def fit(ordered: Sequence[Fitted], budget: int) -> tuple[str, int]:
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


def _fitted(ordered: Sequence[Fitted], room: int, budget: int) -> str:
    parts: list[str] = []
    section = ""
    left = room
    for one in ordered:
        if not one.text:
            continue
        head = _heading(one, section, is_first=not parts)
        kept, cost = _kept(head, one, left, budget)
        if not kept:
            one.leave_out("budget", f"The budget of {budget:,} tokens was used up before it.")
            continue
        parts.append(kept)
        section, left = one.section, left - cost
    return "".join(parts)


def _kept(head: str, one: Fitted, room: int, budget: int) -> tuple[str, int]:
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


def _heading(one: Fitted, section: str, *, is_first: bool) -> str:
    title = one_line(" ".join(one.title.split()))[:_TITLE]
    before = "" if is_first else "\n"
    if section != one.section:
        return f"{before}## {one.section.replace('_', ' ').capitalize()}\n\n### {title}\n\n"
    return f"{before}### {title}\n\n"
