"""The daemon's answer to a session that begins: its memory, within a budget, marked as memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cm_tui.agent_hooks.prompt_context import MARKS_TOKENS
from cm_tui.agent_hooks.reply import AT_START, CHARACTERS, quote_block
from cm_tui.engine.api.at_start import AtStart, memory_at_start
from cm_tui.model import Injection, NoteText, WorkState


def fitting_start(
    inject: Callable[[int], Injection], day_logs: Sequence[NoteText], budget: int, work: WorkState | None = None
) -> AtStart:
    """Return memory for a session that begins, which also fits into what agents take from a hook.

    Args:
        inject: gives entries within a budget of tokens.
        day_logs: of yesterday and today, the older one first.
        budget: tokens.
        work: where the last session stopped; None: that is not known.
    """
    for _ in range(3):
        found = memory_at_start(inject, day_logs, max(0, budget - MARKS_TOKENS), work or WorkState())
        if not found.text:
            return found
        text = quote_block(found.text, AT_START)
        if len(text) <= CHARACTERS:
            return AtStart(text, found.paths)
        budget = budget * CHARACTERS // len(text) * 9 // 10
    return AtStart("")
