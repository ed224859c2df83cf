"""Small helpers around text on a terminal: widths are counted in cells, content is never read as markup."""

from __future__ import annotations

import os
import re
import textwrap

from rich.cells import cell_len, set_cell_size

from cm_tui.counts import count, size
from cm_tui.model.text import one_line

__all__ = [
    "at_home", "count", "duration", "elide_end", "elide_middle", "elide_name", "elide_path", "fit", "flat", "name_and_place", "number_of", "one_line",
    "one_line_signature", "sentence",
    "short_count", "size", "wrapped",
]  # fmt: skip

_AT_BRACKETS = re.compile(r"(?<=[(\[{]) +|,? +(?=[)\]}])")
BETWEEN_HEADINGS = " > "
_LEAST_PLACE = 12
"""Cells that a long name leaves for where it stands."""
_WORDS = re.compile(r"\s*\S+\s*|\s+")


def at_home(text: str) -> str:
    """Write `~` for the user's own folder where a path in the text begins with it."""
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - a home that is not known stays "~"
    return re.sub(rf"(?:(?<=\s)|^){re.escape(home)}(?=/|\s|$)", "~", text) if home.startswith("/") else text


def elide_middle(text: str, width: int) -> str:
    """Shorten a path to a width in cells; the end, which names the file, keeps the larger share."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    tail_width = (width - 1) * 2 // 3 if width > 6 else width - 1
    head = _take(text, width - 1 - tail_width)
    tail = _take(text[::-1], tail_width)[::-1]
    return f"{head}…{tail}"


def elide_path(path: str, width: int) -> str:
    """Shorten a path to a width in cells: what names the file stays whole as long as it fits, the folders share the rest."""
    name = path.rpartition("/")[2]
    if cell_len(path) <= width or cell_len(name) + 2 > width:
        return elide_middle(path if cell_len(path) <= width else name, width)
    tail = max((width - 1) * 2 // 3, cell_len(name) + 1)
    return f"{_take(path, width - 1 - tail)}…{_take(path[::-1], tail)[::-1]}"


def elide_end(text: str, width: int) -> str:
    """Shorten text to a width in cells, from the end."""
    if cell_len(text) <= width:
        return text
    return f"{_take(text, width - 1)}…" if width > 0 else ""


def elide_name(name: str, width: int) -> str:
    """Shorten the name of a symbol, heading or file to a width in cells: what it is in gives way before its own name."""
    if cell_len(name) <= width:
        return name
    name = name.rpartition(BETWEEN_HEADINGS)[2]
    if " " in name:
        return elide_end(name, width)
    if "/" in name:
        return elide_path(name, width)
    own = name.rpartition(".")[2]
    # Elided in the middle, the end has two thirds of the room.
    return elide_middle(own if own and cell_len(own) > (width - 1) * 2 // 3 else name, width)


def name_and_place(name: str, place: str, room: int) -> tuple[str, str, str]:
    """Fit a name and where it stands into cells together; return both, and the blanks between them.

    The folders give way first, then what a symbol is in, then what names the file; a symbol's own name, which tells the
    members of a class apart, stays whole as long as it leaves some cells for the place. All the room there is is used.
    """
    own = name.rpartition("." if " " not in name else BETWEEN_HEADINGS)[2]
    least = min(cell_len(own), room - _LEAST_PLACE - 2)
    name = elide_name(name, max(room // 2, room - cell_len(place.rpartition("/")[2]) - 2, least))
    place = elide_path(place, max(0, room - cell_len(name) - 2))
    return name, place, " " * max(1, room - cell_len(name) - cell_len(place))


def fit(text: str, width: int) -> str:
    """Text in exactly `width` cells: elided at its end, or padded."""
    return set_cell_size(elide_end(text, width), max(0, width))


def wrapped(text: str, width: int) -> list[str]:
    """Text of one line, broken between words into lines of at most `width` cells; what has no blanks is broken anywhere."""
    width = max(2, width)
    if text.isascii():
        return textwrap.wrap(text, width, replace_whitespace=False, break_on_hyphens=False) or [""]
    lines, line = [], ""
    for word in _WORDS.findall(text):
        if line.strip() and cell_len(line + word.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += word
        while cell_len(line.rstrip()) > width:
            piece = _take(line, width)
            lines.append(piece)
            line = line[len(piece) :]
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _take(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:index]
    return text


def flat(text: str, longest: int | None = 400) -> str:
    """Return a text, as far as that many characters, in one line and with single blanks."""
    return " ".join(one_line(text[:longest]).split())


def sentence(words: str) -> str:
    """Return words in one line, with a capital."""
    line = one_line(words)
    return line[:1].upper() + line[1:]


def one_line_signature(text: str) -> str:
    """Return a signature in one line, without the blanks that its line breaks left inside brackets."""
    return _AT_BRACKETS.sub("", one_line(text))


def number_of(shown: int, total: int, thing: str = "") -> str:
    """Return `200 of 1,234 files` where not all are shown, else `12 files`; without a thing numbers alone."""
    some = f"{shown:,} of " if shown < total else ""
    return some + (count(total, thing) if thing else f"{total:,}")


def short_count(number: int) -> str:
    """`950`, `12.0k`, `1.2M`: for where there is little room; the full number stands elsewhere."""
    for least, unit in ((1_000_000, "M"), (10_000, "k")):
        if number >= least:
            return f"{number / (1000 if unit == 'k' else least):.1f}{unit}"
    return f"{number:,}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
