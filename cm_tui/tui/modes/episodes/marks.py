"""Signs and words for episodes: what came of them, what kind they are, what people said of them."""

from __future__ import annotations

import time

from textual.content import Content

from cm_tui.model import Episode
from cm_tui.model.dates import local_day, local_hour_minute
from cm_tui.tui.state.revision import asked_of
from cm_tui.tui.widgets.text import one_line, short_count

OUTCOMES = {
    "ok": ("✓", "$success", "ok"), "failed": ("✗", "$error", "failed"),
    "interrupted": ("◌", "$warning", "interrupted"), "": ("·", "$muted", "nobody said"),
}  # fmt: skip
"""Sign, style and words."""
TYPES = {
    "task": ("›", "asked"), "command": ("$", "command"), "query": ("?", "query"), "response": ("‹", "response"),
    "tool_call": ("⚙", "tool call"), "error": ("!", "error"), "note": ("✎", "note"),
}  # fmt: skip
PINNED = "★"
RATINGS = {1: ("▲", "$success", "useful"), -1: ("▼", "$warning", "misled")}
_WEEK = 7


def headline(episode: Episode) -> str:
    """Return what it was about, in one line: what was asked, else what was answered."""
    asked = asked_of(episode)
    if any(prompt.strip() for prompt in episode.prompts) or not episode.answer.strip():
        return asked
    return " ".join(one_line(episode.answer[:400]).split())


def signs(episode: Episode) -> Content:
    """Return what people said of it: pinned, rated."""
    mark, style, _ = RATINGS.get(episode.rating, ("", "", ""))
    return Content.assemble((PINNED if episode.pinned else "", "$accent"), (mark, style))


def weight(episode: Episode) -> str:
    """Return how much there is of it: steps, lines of patch."""
    steps = f"⚙{short_count(episode.step_count)}" if episode.step_count else ""
    lines = f"±{short_count(episode.patch_lines)}" if episode.patch_lines else ""
    return " ".join(part for part in (steps, lines) if part)


def day_name(seconds: float) -> str:
    """Return a day as people call it: `Today`, `Yesterday`, `Monday`, `2026-01-31`."""
    day = local_day(seconds)
    now = time.time()
    if day == local_day(now):
        return "Today"
    if day == local_day(now - 86_400):
        return "Yesterday"
    if 0 <= now - seconds < (_WEEK - 1) * 86_400:
        return f"{time.strftime('%A', time.localtime(seconds))} {day}"
    return day


def clock(seconds: float) -> str:
    """Return the time of day, such as `14:02`."""
    return local_hour_minute(seconds)
