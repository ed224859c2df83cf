"""State of the last work, as a short block of text for a new context."""

from __future__ import annotations

from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.context.packs.budget import tokens
from cm_tui.model import WorkState
from cm_tui.model.dates import age
from cm_tui.model.text import one_line, unapproved

TOKENS = 600
"""Most tokens of the block, whatever the budget."""


class _Limits(NamedTuple):
    request: int
    item: int
    """Characters of a decision, a step, a command, an error."""
    decisions: int
    files: int
    steps: int


_LEVELS = (
    _Limits(400, 160, 6, 12, 8),
    _Limits(300, 140, 4, 8, 5),
    _Limits(200, 110, 3, 5, 3),
    _Limits(140, 90, 2, 3, 2),
    _Limits(90, 60, 1, 2, 1),
)
"""From the longest to the shortest form; all parts are cut evenly, so that every part remains."""


def work_brief(state: WorkState, budget: int, now: float) -> str:
    """Return the block; empty: no state, or not even its shortest form fits.

    Args:
        state: of the last work.
        budget: tokens; at most `TOKENS` are used.
        now: seconds since the epoch.
    """
    if not state.session:
        return ""
    for limits in _LEVELS:
        text = _text(state, limits, now)
        if tokens(text) <= min(budget, TOKENS):
            return text
    return ""


def _text(state: WorkState, limits: _Limits, now: float) -> str:
    title = f", {_cut(state.title, limits.item)}" if state.title else ""
    lines = [
        "## Where the last session stopped",
        f"{one_line(state.agent)[:40]}, {age(now - state.ended)}, session {one_line(state.session)[:60]}{title}",
        f"Last request: {_cut(state.request, limits.request)}" if state.request else "",
        *_items("Decisions:", state.decisions, limits.decisions, limits.item),
        _files(state.files, limits.files),
        f"Last failing command: {_cut(state.command, limits.item)}" if state.command else "",
        f"Its error: {_cut(state.error, limits.item)}" if state.error else "",
        *_items("Open steps of the plan:", state.steps, limits.steps, limits.item),
    ]
    return "\n".join(line for line in lines if line)


def _items(head: str, items: tuple[str, ...], most: int, characters: int) -> list[str]:
    if not items:
        return []
    more = [f"- … {len(items) - most:,} more"] if len(items) > most else []
    return [head, *(f"- {_cut(item, characters)}" for item in items[:most]), *more]


def _files(files: tuple[str, ...], most: int) -> str:
    if not files:
        return ""
    more = f" and {count(len(files) - most, 'more file')}" if len(files) > most else ""
    return f"Files with uncommitted changes: {', '.join(_cut(path, 100) for path in files[:most])}{more}"


def _cut(text: str, characters: int) -> str:
    line = unapproved(one_line(" ".join(text.split())))
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"
