"""Context for the start of a session: entries, the last session's state, and two day logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui import model, paths
from cm_tui.engine.api import projects
from cm_tui.engine.context.packs.budget import tokens, weight
from cm_tui.engine.context.packs.work_brief import work_brief
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.model.text import unapproved

_LOGS = 0.5
"""Share of the remaining budget for day logs."""
_WORK = 0.3
"""Share of the budget that the block about the last session may take."""


_NO_WORK = model.WorkState()


class AtStart(NamedTuple):
    """Memory for a session that begins.

    Attributes:
        text: Markdown; empty where there is nothing.
        paths: of the entries in it, such as `entry/k3m9x2a`.
    """

    text: str
    paths: tuple[str, ...] = ()


def memory_at_start(
    inject: Callable[[int], model.Injection],
    day_logs: Sequence[model.NoteText],
    budget: int,
    work: model.WorkState = _NO_WORK,
) -> AtStart:
    """Return the context for the start of a session.

    `inject`: returns entries within a budget of tokens; `day_logs`: of yesterday and today, the older one first;
    `budget`: tokens for everything; `work`: the last session's state.
    """
    stopped = work_brief(work, int(budget * _WORK), time.time())
    left = budget - tokens(stopped)
    logs = _logs(day_logs, left * _LOGS)
    found = inject(max(0, left - tokens(logs)))
    text = "\n\n".join(part for part in (found.text, stopped, logs) if part)
    return AtStart(text, tuple(f"entry/{row.entry.id}" for row in found.rows))


def has_memory_at_start(root: Path) -> bool:
    """Return whether a project may have context for a session, without opening or creating anything.

    Raises CmError if its entries cannot be read.
    """
    if projects.is_indexed(root) or (root / paths.PROJECT_FOLDER / "memory").is_dir():
        return True
    return bool(Entries(root).all().recalled)


def _logs(found: Sequence[model.NoteText], budget: float) -> str:
    """Return the newest lines of day logs within a budget."""
    parts: list[str] = []
    for log in reversed(found):
        head = f"## Log: {log.note.id}"
        left = budget - sum(weight(f"\n\n{part}") for part in parts) - weight(f"\n\n{head}")
        lines = unapproved(log.text).strip().split("\n")
        kept: list[str] = []
        for line in reversed(lines):
            left -= weight(f"\n{line}")
            if left < 0:
                break
            kept.insert(0, line)
        if any(line.strip() for line in kept):
            cut = "\n(earlier lines omitted)" if len(kept) < len(lines) else ""
            parts.insert(0, f"{head}{cut}\n" + "\n".join(kept))
    return "\n\n".join(parts)
