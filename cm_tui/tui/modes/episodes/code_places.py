"""Where in a file a patch is: by its own line numbers, else by its text, as edits of agents often have no numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cm_tui.errors import CmError
from cm_tui.model import Episode
from cm_tui.tui.modes.episodes.story import INDENT, StoryLine
from cm_tui.tui.modes.episodes.turn_story import path_below
from cm_tui.tui.widgets.patches import file_patches

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

Side = Literal["new", "old"]
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_MOST = 50_000
"""Lines of a file that are looked through."""


@dataclass
class Hunk:
    """A part of a patch: where one side of it begins, as it says, and the lines of that side."""

    start: int
    """0: it does not say."""
    lines: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    """Those that only this side has."""


def hunks_of(text: str, side: Side) -> Iterator[Hunk]:
    """Yield one side of the hunks of a file's patch."""
    hunk: Hunk | None = None
    mine, other = ("+", "-") if side == "new" else ("-", "+")
    for line in text.split("\n"):
        if line.startswith("@@"):
            if hunk is not None:
                yield hunk
            numbers = _HUNK.match(line)
            hunk = Hunk(int(numbers[2 if side == "new" else 1]) if numbers else 0)
        elif hunk is not None and not line.startswith((other, "\\")):
            hunk.lines.append(line[1:])
            if line.startswith(mine):
                hunk.own.append(line[1:])
    if hunk is not None:
        yield hunk


def find_line(engine: Engine, episode: Episode, at: StoryLine, side: Side, revision: str | None = None) -> int | None:
    """Return the line of a file that a line of a story refers to; None: unknown.

    Args:
        engine: reads the file.
        episode: whose patch it is.
        at: the line of the story.
        side: of the patch: the file as it was left, or as it was found.
        revision: of the file; None: as it is now.
    """
    hunks = [
        hunk
        for part in file_patches(episode.patch)
        if path_below(episode.root, part.path) == at.path
        for hunk in hunks_of(part.text, side)
    ]
    if not hunks:
        return None
    line = (at.line if side == "new" else at.old_line) or 0
    text = at.content.plain[INDENT + 1 :]
    hunk, offset = _under(hunks, line, text)
    try:
        lines = engine.source(at.path, 1, _MOST, at=revision).text.split("\n")
    except CmError:
        # Symbols says why it cannot be read.
        lines = []
    if (found := _nearest(lines, hunk.lines, hunk.start)) is not None:
        return found + offset
    if (found := _nearest(lines, hunk.own, hunk.start)) is not None:
        return found + (hunk.own.index(text) if text in hunk.own else 0)
    # Patches made from an agent's own edits have line 1 where the line is unknown.
    return hunk.start + offset if hunk.start > (episode.actor == "import") else None


def _under(hunks: Sequence[Hunk], line: int, text: str) -> tuple[Hunk, int]:
    """Return the hunk that a line of a patch belongs to, and how far into it; the first hunk where it is none."""
    inside = [one for one in hunks if one.start and one.start <= line < one.start + max(1, len(one.lines))]
    for hunk in inside:
        if text in hunk.lines[line - hunk.start : line - hunk.start + 1]:
            return hunk, line - hunk.start
    return (inside[0], line - inside[0].start) if inside else (hunks[0], 0)


def _nearest(lines: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    """Return where lines stand in a file one below the other, nearest to a line of it; None: nowhere."""
    body = list(wanted[:-1] if wanted and not wanted[-1].strip() else wanted)
    if not any(one.strip() for one in body):
        return None
    found = (
        number
        for number, line in enumerate(lines, start=1)
        if line == body[0] and lines[number - 1 : number - 1 + len(body)] == body
    )
    return min(found, key=lambda number: abs(number - start), default=None)
