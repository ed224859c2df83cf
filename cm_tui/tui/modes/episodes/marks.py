"""Signs and words for episodes: what came of them, what kind they are, what people said of them."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Episode
from cm_tui.model.dates import local_day, local_hour_minute
from cm_tui.tui.widgets.text import elide_end, short_count

OUTCOMES = {
    "ok": ("✓", "$success", "ok"), "failed": ("✗", "$error", "failed"),
    "interrupted": ("◌", "$warning", "interrupted"), "unanswered": ("○", "$warning", "unanswered"), "": ("·", "$muted", "no outcome"),
}  # fmt: skip
"""Sign, style and words."""
TYPES = {
    "task": ("›", "asked"), "command": ("$", "command"), "query": ("?", "query"), "response": ("‹", "response"),
    "tool_call": ("⚙", "tool call"), "error": ("!", "error"), "note": ("✎", "note"),
}  # fmt: skip
PINNED = "★"
RATINGS = {1: ("▲", "$success", "useful"), -1: ("▼", "$warning", "misled")}
_DAY = 86_400.0
_WEEK = 6.5
_NEAR = {0: "Today", 1: "Yesterday"}


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
    """Return a day as people call it: `Today`, `Yesterday`, `Monday 2026-01-26`, `2026-01-19`."""
    day = local_day(seconds)
    ago = (_noon(time.time()) - _noon(seconds)) / _DAY
    if round(ago) in _NEAR:
        return _NEAR[round(ago)]
    return f"{time.strftime('%A', time.localtime(seconds))} {day}" if 0 < ago < _WEEK else day


def _noon(seconds: float) -> float:
    """Return the middle of a day by this machine's clock: days apart by summer time are still whole when rounded."""
    at = time.localtime(seconds)
    return time.mktime((at.tm_year, at.tm_mon, at.tm_mday, 12, 0, 0, 0, 0, -1))


def clock(seconds: float) -> str:
    """Return the time of day, such as `14:02`."""
    return local_hour_minute(seconds)


def fitting(pieces: Iterable[str], width: int, between: str = " · ") -> str:
    """Return as many pieces as fit, whole; the first one always, cut where it has to be."""
    words = ""
    for piece in pieces:
        longer = f"{words}{between}{piece}" if words else piece
        if words and cell_len(longer) > width:
            break
        words = longer
    return elide_end(words, width)
