"""A diff as lines that fit a width: files named once, lines wrapped, what comes and what goes in its colour."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from textual.content import Content

from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.text import count, elide_path, wrapped

MOST = 600
"""Lines of a diff that are shown."""
_MARK = "<!-- cm:narrator"
_NOWHERE = "/dev/null"
_STYLES = {"+": "$success", "-": "$error"}


def diff_lines(diff: str, width: int, *, alone: str = "") -> Iterator[Content]:
    """Yield a diff as lines.

    Args:
        diff: unified.
        width: in cells.
        alone: a file named elsewhere; its name is omitted unless the file is new.
    """
    lines = [line.plain for line in plain_lines(diff.rstrip("\n"))] if diff else []
    skipped = False
    for number, (line, following) in enumerate(pairwise([*lines, ""])):
        if number >= MOST:
            yield Content.styled(f"… and {count(len(lines) - MOST, 'more line')}", "$muted")
            return
        if line.startswith("--- ") and following.startswith("+++ "):
            yield from _file(line[4:].strip(), following[4:].strip(), width, alone)
            skipped = False
        elif line.startswith("+++ ") and number and lines[number - 1].startswith("--- "):
            continue
        elif line.startswith("@@"):
            # No gap mark before a file's first hunk.
            if skipped:
                yield Content.styled("⋯", "$faint")
            skipped = True
        else:
            yield from _line(line, width)


def _file(old: str, new: str, width: int, alone: str) -> Iterator[Content]:
    name = old if new == _NOWHERE else new
    became = "new" if old == _NOWHERE else "deleted" if new == _NOWHERE else ""
    if became or name != alone:
        said = f"  {became}" if became else ""
        yield Content.assemble((elide_path(name, max(8, width - len(said))), "bold $secondary"), (said, "$warning"))


def _line(line: str, width: int) -> Iterator[Content]:
    sign, text = line[:1] or " ", line[1:]
    if sign == "\\":
        yield Content.styled(f"  {text.strip()}", "$faint")
        return
    style = _STYLES.get(sign, "$soft")
    # Where a line came from stands at its end, and is nothing that anybody reads.
    left = _inked(text.partition(_MARK)[0]) if _MARK in text else len(text)
    for place, piece in enumerate(wrapped(text, max(8, width - 2))):
        said = _first(piece, left)
        left -= _inked(said)
        yield Content.assemble((f"{sign if place == 0 else ' '} {said}", style), (piece[len(said) :], "$muted"))


def _inked(text: str) -> int:
    """Return how many characters are no blanks: where a line is broken, those go."""
    return sum(not one.isspace() for one in text)


def _first(piece: str, many: int) -> str:
    """Return a piece up to so many characters that are no blanks."""
    for place, one in enumerate(piece):
        many -= not one.isspace()
        if many < 0:
            return piece[:place]
    return piece
