"""Front matter: YAML between two lines of `---` at the beginning of a note."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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

_LONGEST = 100
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
    last = next((row for row in range(1, min(len(lines), _LONGEST)) if lines[row].rstrip() in {_FENCE, "..."}), None)
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
