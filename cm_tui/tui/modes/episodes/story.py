"""A story as parts that fold, and the lines that they make at a width. Laying out runs on a worker: texts may be long."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Episode
from cm_tui.model.dates import local_day, local_hour_minute
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.patches import patch_style
from cm_tui.tui.widgets.sourcelist import LONGEST, LONGEST_LINE, MARGIN, prose_lines
from cm_tui.tui.widgets.text import count, elide_end, elide_path, flat, one_line, short_count

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


MOST_LINES = 2_000
"""Most lines of a part; a longer one ends with the number of omitted lines."""
INDENT = 4
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")

Form = Literal["prose", "patch", "output"]


@dataclass(frozen=True)
class Part:
    """One thing that happened: a line about it, and what there is to read of it."""

    title: str = ""
    """In one line; empty: there is only the body."""
    mark: str = " "
    style: str = ""
    word: str = ""
    """Said at the right end of the line."""
    word_style: str = "$muted"
    body: str = ""
    form: Form = "prose"
    shown: int = MOST_LINES
    """Lines of the body that are shown while it is folded."""
    path: str = ""
    """The file that it is about, below the root of the project."""
    goal: str = ""
    """The episode or session that enter leads to."""
    heading: bool = False
    """The title of what follows, with a blank line above it."""


@dataclass(frozen=True)
class StoryLine:
    """One line on screen."""

    content: Content
    part: int
    """Number of its part."""
    path: str = ""
    line: int = 0
    """Where it is in the file as it was left; 0: not known."""
    old_line: int = 0
    """Where it is in the file as it was found."""
    goal: str = ""


@dataclass(frozen=True)
class PartLayout:
    """A part at a width."""

    head: tuple[StoryLine, ...]
    body: tuple[StoryLine, ...]
    shown: int
    opened_head: tuple[StoryLine, ...]
    """The same while it is open."""

    @property
    def folds(self) -> bool:
        """True where there is more than what is shown of it folded."""
        return len(self.body) > self.shown


@dataclass(frozen=True)
class StoryLayout:
    """A story at a width."""

    width: int
    parts: tuple[PartLayout, ...]

    def lines(self, opened: Container[int]) -> list[StoryLine]:
        """Return what is on screen while these parts are open."""
        lines: list[StoryLine] = []
        for number, part in enumerate(self.parts):
            lines += part.opened_head if number in opened else part.head
            if not part.folds or number in opened:
                lines += part.body
                continue
            lines += part.body[: part.shown]
            if part.shown or not part.head:
                lines.append(_more(number, len(part.body) - part.shown, part.body[part.shown].path))
        return lines


def layout(parts: Iterable[Part], width: int) -> StoryLayout:
    """Wrap and cut everything to a width in cells."""
    return StoryLayout(width, tuple(_layout(number, part, max(16, width)) for number, part in enumerate(parts)))


def _layout(number: int, part: Part, width: int) -> PartLayout:
    body = tuple(_body(number, part, width))
    folds = len(body) > part.shown
    heads = (tuple(_head(number, part, width, fold if folds else " ")) for fold in "▸▾")
    return PartLayout(next(heads), body, part.shown, next(heads))


def _head(number: int, part: Part, width: int, fold: str) -> Iterator[StoryLine]:
    word = elide_end(part.word, width // 2)
    if part.heading:
        if number:
            yield StoryLine(Content(""), number)
        title = elide_end(one_line(part.title), width - 2 - (cell_len(word) + 2 if word else 0))
        gap = " " * (width - 2 - cell_len(title) - cell_len(word))
        content = Content.assemble((f" {title}", "bold $primary"), gap, (word, part.word_style))
        yield StoryLine(content, number, goal=part.goal)
    elif part.title:
        room = width - INDENT - 1 - (cell_len(word) + 2 if word else 0)
        title = flat(part.title, LONGEST)
        title = elide_path(title, room) if part.path and part.title == part.path else elide_end(title, room)
        gap = " " * (room - cell_len(title) + 2 if word else 0)
        content = Content.assemble(
            (f" {fold}", "$muted"), (f"{part.mark} ", part.style), (title, "$foreground"), gap, (word, part.word_style)
        )
        yield StoryLine(content, number, part.path, goal=part.goal)


def _body(number: int, part: Part, width: int) -> Iterator[StoryLine]:
    if not part.body.strip():
        return
    inner = width - INDENT - 1
    made = _patch(number, part) if part.form == "patch" else _prose(number, part, inner)
    left_out = 0
    for place, line in enumerate(made):
        if place < MOST_LINES:
            yield line
        else:
            left_out += 1
    if left_out:
        words = f"{' ' * INDENT}… {count(left_out, 'line')} more not shown"
        yield StoryLine(Content.styled(words, "$warning"), number, part.path)


def _prose(number: int, part: Part, width: int) -> Iterator[StoryLine]:
    style = "$soft" if part.form == "output" else ""
    for line in prose_lines(part.body.strip("\n"), width + MARGIN, most=sys.maxsize):
        yield StoryLine(Content.assemble(" " * INDENT, (line.text, style)), number, part.path, goal=part.goal)


def _patch(number: int, part: Part) -> Iterator[StoryLine]:
    old = new = 0
    for line in plain_lines(part.body.rstrip("\n")):
        text = line.plain[:LONGEST_LINE]
        if hunk := _HUNK.match(text):
            old, new = int(hunk[1]), int(hunk[2])
        content = Content.assemble(" " * INDENT, (text, patch_style(text)))
        yield StoryLine(content, number, part.path, new, old)
        if not hunk and (old or new):
            old += not text.startswith("+")
            new += not text.startswith("-")


def _more(number: int, left: int, path: str) -> StoryLine:
    words = f"{' ' * INDENT}… {count(left, 'more line')}"
    return StoryLine(Content.assemble((words, "$muted"), ("  ⏎", "$accent")), number, path)


def first_in(lines: Sequence[StoryLine], part: int) -> int:
    """Return the first line of a part."""
    return next((place for place, line in enumerate(lines) if line.part == part), 0)
