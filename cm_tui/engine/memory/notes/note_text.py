"""The Markdown of a note: its day, front matter, headings, and passages."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from cm_tui.engine.code.parse.markdown import Heading
from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold
from cm_tui.model.text import fence_after

# --- the day of a note, from its name or folders ---

_DAY = re.compile(r"(?<!\d)(\d{4})[-_.](\d{1,2})[-_.](\d{1,2})(?!\d)")
_RUN = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")
_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{1,2})/(\d{1,2})(?=\D|$)")
_MONTH_FOLDER = re.compile(r"(?:^|/)(\d{4})(?:/|-)(\d{1,2})/(\d{1,2})(?=\D|$)")
_FIRST, _LAST = 1970, 2100


def day_of(text: str) -> dt.date | None:
    """Return the first day that a text names, as `2026-02-10` or `20260210`."""
    for shape in (_DAY, _RUN):
        for found in shape.finditer(text):
            if (day := _day_of(*found.groups())) is not None:
                return day
    return None


def day_of_path(path: str) -> dt.date | None:
    """Return the day in a path: in the name first, then in its folders, such as `2026/02/10.md` or `2026-02-10/a.md`."""
    name = path.rpartition("/")[2]
    if (day := day_of(name)) is not None:
        return day
    for shape in (_FOLDERS, _MONTH_FOLDER):
        if (found := shape.search(path)) and (day := _day_of(*found.groups())) is not None:
            return day
    return next((day for part in reversed(path.split("/")[:-1]) if (day := day_of(part)) is not None), None)


def is_plausible(day: dt.date) -> bool:
    """Return whether a note can be of a day."""
    return _FIRST <= day.year <= _LAST


def seconds_of(day: dt.date) -> float:
    """Return the start of a day as seconds since the epoch, in local time."""
    return dt.datetime(day.year, day.month, day.day).astimezone().timestamp()


def _day_of(year: str, month: str, day: str) -> dt.date | None:
    try:
        found = dt.date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if is_plausible(found) else None


# --- front matter ---

_MOST_LINES = 100
"""Lines that are looked through for its end."""
_MOST_CHARACTERS = 4_000
_MOST_TAGS = 50
_TAG_CHARACTERS = 80
_TITLE_CHARACTERS = 200
_FENCE = "---"
_DATES = ("date", "day", "created")


class FrontMatter(NamedTuple):
    """Front matter of a note; unexpected values are skipped.

    Attributes:
        lines: number of lines that it takes; 0: no front matter.
        title: of the note.
        day: that the note is about.
        tags: words to find it by.
        evergreen: its score does not decay.
        problem: what could not be understood.
    """

    lines: int = 0
    title: str = ""
    day: dt.date | None = None
    tags: tuple[str, ...] = ()
    evergreen: bool = False
    problem: str = ""


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a note; an unclosed one is text."""
    if not lines or lines[0].rstrip() != _FENCE:
        return FrontMatter()
    last = next((row for row in range(1, min(len(lines), _MOST_LINES)) if lines[row].rstrip() in {_FENCE, "..."}), None)
    if last is None:
        return FrontMatter()
    text = "\n".join(lines[1:last])
    # In an editor's rules for agents, values such as `globs: *.py` are invalid YAML; then only plain lines are read.
    found = _yaml(text)
    if found is None:
        found = _plain_lines(lines[1:last])
        problem = "" if found else "its front matter is not valid"
    else:
        problem = ""
    day, wrong = _day(found)
    return FrontMatter(
        last + 1,
        _text(found.get("title"))[:_TITLE_CHARACTERS],
        day,
        _tags(found.get("tags", found.get("keywords"))),
        found.get("evergreen") is True,
        problem or wrong,
    )


def _yaml(text: str) -> Mapping[str, Any] | None:
    """None: it is no mapping in YAML."""
    if len(text) > _MOST_CHARACTERS:
        return None
    import yaml

    try:
        # An alias in a merge key doubles what it names: a few lines would fill the memory.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            return None
        # The loader in Python: nesting without end is an error for it, and the end of the process for the one in C.
        found = yaml.load(text, yaml.SafeLoader)
    except Exception:  # noqa: BLE001 - a tag may fail in any way on its value: `!!bool x`
        return None
    if found is None:
        return {}
    return {str(name).lower(): value for name, value in found.items()} if isinstance(found, dict) else None


def _plain_lines(lines: Sequence[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines if ":" in line and not line[:1].isspace())
    return {name.strip().lower(): value.strip().strip("\"'") for name, _, value in pairs if name.strip().isidentifier()}


def _day(found: Mapping[str, Any]) -> tuple[dt.date | None, str]:
    value = next((found[name] for name in _DATES if found.get(name) is not None), None)
    if value is None:
        return None, ""
    day = value.date() if isinstance(value, dt.datetime) else value if isinstance(value, dt.date) else None
    if day is None and isinstance(value, str):
        day = day_of(value)
    if day is None:
        return None, "the date in its front matter is not valid"
    if day > dt.datetime.now(dt.UTC).date() + dt.timedelta(days=2):
        return None, "the date in its front matter is in the future"
    return (day, "") if is_plausible(day) else (None, "the date in its front matter is not valid")


def _tags(value: object) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    words = (_text(item).strip().lstrip("#")[:_TAG_CHARACTERS] for item in items)
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_TAGS]


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        return " ".join(str(value).split())
    except ValueError:
        # A number of more digits than are written out.
        return ""


# --- headings, read by lines: notes are many, and small ---

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_MARKS = re.compile(r"`+|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|!?\[([^\]]*)\]\([^)]*\)")
_LONGEST = 1_000
"""Characters of a line that are read as a heading: the patterns take the square of their time on blanks and brackets."""


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of a note in order, except in code."""
    fence = ""
    for row, line in enumerate(lines):
        before, fence = fence, fence_after(fence, line)
        if before or fence:
            continue
        if title := _ATX.fullmatch(line[:_LONGEST]):
            if name := _plain(title[2]):
                yield Heading(row, len(title[1]), name)
        elif row and _UNDERLINE.fullmatch(line) and _is_title(lines, row - 1):
            yield Heading(row - 1, 1 if "=" in line else 2, _plain(lines[row - 1]))


def first_heading(lines: Sequence[str]) -> str:
    """Return the text of the first heading; empty: no heading."""
    return next((one.name for one in headings(lines)), "")


def _is_title(lines: Sequence[str], row: int) -> bool:
    """Return whether a line is the only line of text above a rule."""
    line = lines[row]
    alone = row == 0 or not lines[row - 1].strip()
    return (
        alone and line.strip() != "" and not line.lstrip().startswith(("#", ">", "- ", "* ", "|")) and "|" not in line
    )


def _plain(text: str) -> str:
    return fold(_MARKS.sub(lambda mark: mark[1] or "", text[:_LONGEST]), MAX_SIGNATURE)


# --- passages: whole lines, about 400 tokens each, under their headings ---

CHARACTERS_A_TOKEN = 4
TOKENS = 400
OVERLAP_TOKENS = 80
_MOST = TOKENS * CHARACTERS_A_TOKEN
_OVERLAP = OVERLAP_TOKENS * CHARACTERS_A_TOKEN
_LONGEST_LINE = 20_000
"""Characters of one line that are searched; a longer one is data, not text."""
_BETWEEN = " › "


class NoteChunk(NamedTuple):
    """A passage of a note.

    Attributes:
        start_line: 1-based.
        end_line: inclusive.
        heading: the headings above, the outermost first; empty: none.
        text: the lines.
    """

    start_line: int
    end_line: int
    heading: str
    text: str


def chunk_note(lines: Sequence[str], skipped: int = 0) -> Iterator[NoteChunk]:
    """Cut a note by sections; pieces of a long section overlap, so that nothing is cut apart.

    `skipped`: lines of front matter.
    """
    found = [one for one in headings(lines) if one.row >= skipped]
    edges = [skipped, *(one.row for one in found), len(lines)]
    above: list[Heading] = []
    for number, (start, stop) in enumerate(pairwise(edges)):
        if number:
            heading = found[number - 1]
            above = [one for one in above if one.level < heading.level] + [heading]
        if number and not _has_text(lines, start + 1, stop):
            # A heading directly above another one is found with that one.
            continue
        yield from _cut(lines, start, stop, _BETWEEN.join(one.name for one in above))


def _has_text(lines: Sequence[str], start: int, stop: int) -> bool:
    return any(line.strip().strip("=-") for line in lines[start:stop])


def _cut(lines: Sequence[str], start: int, stop: int, heading: str) -> Iterator[NoteChunk]:
    """Cut the lines from `start` up to, not with, `stop`."""
    while True:
        start, end = _trimmed(lines, start, stop)
        if start >= end:
            return
        last = _reach(lines, start, end)
        yield NoteChunk(start + 1, last, heading, "\n".join(line[:_LONGEST_LINE] for line in lines[start:last]))
        if last >= end:
            return
        start = max(start + 1, _overlap_start(lines, start, last))


def _trimmed(lines: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Return the span without blank lines at its ends."""
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return start, stop


def _reach(lines: Sequence[str], start: int, stop: int) -> int:
    """Return the line before which to end: as many as fit, up to the end of a paragraph in the second half."""
    size, row = 0, start
    while row < stop and (row == start or size + len(lines[row]) < _MOST):
        size += len(lines[row]) + 1
        row += 1
    if row < stop:
        for candidate in range(row, start + (row - start) // 2, -1):
            if not lines[candidate - 1].strip():
                row = candidate
                break
        while row > start + 1 and not lines[row - 1].strip():
            row -= 1
    return row


def _overlap_start(lines: Sequence[str], start: int, last: int) -> int:
    """Return the first line of the next piece, with the overlap of two pieces."""
    size, row = 0, last
    while row > start + 1 and size + len(lines[row - 1]) < _OVERLAP:
        row -= 1
        size += len(lines[row]) + 1
    return row
