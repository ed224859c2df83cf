"""Writing: JSON and text on stdout, narration and progress on stderr."""

from __future__ import annotations

import codecs
import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cm_tui.model import IndexSummary, Page, Progress

_SURROGATE = re.compile("[\ud800-\udfff]")
"""A byte of the command line that is not UTF-8."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move the cursor, colour, ring or turn the direction of what follows."""


def plain(value: Any) -> Any:
    """A record as JSON types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def print_json(value: Any) -> None:
    """One JSON value on stdout; escaped where the terminal speaks something else than UTF-8, as JSON does not."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    unicode = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    write(text if unicode and not _SURROGATE.search(text) else json.dumps(plain(value), indent=2))


def print_json_line(value: Any) -> None:
    """One JSON value on one line of stdout; all escaped, since Unicode has more line ends than the line feed."""
    write(json.dumps(plain(value)))


def write(text: str) -> None:
    """A line of data on stdout; characters that the terminal cannot show are replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def harmless(text: str) -> str:
    """A text of somebody else without what a terminal would obey: only line feeds and tabs are left of control characters."""
    return _CONTROL.sub("·", text.replace("\r\n", "\n"))


def narrate(text: str) -> None:
    """A line for the person on stderr."""
    sys.stderr.write(text + "\n")


def print_page(
    page: Page[Any], line: Callable[[Any], str], *, as_json: bool, row: Callable[[Any], Any] = plain
) -> None:
    """A list: `{"rows": […], "total": N}` as JSON, else a line a row and an honest count."""
    if as_json:
        print_json({"rows": [row(item) for item in page.rows], "total": page.total})
        if page.note:
            narrate(page.note)
        return
    for item in page.rows:
        write(line(item))
    if not page.rows:
        narrate("nothing to list")
    if len(page.rows) < page.total:
        narrate(f"{len(page.rows):,} of {page.total:,}")
    if page.note:
        narrate(page.note)


def follow(steps: Iterable[Progress]) -> IndexSummary | None:
    """Show progress on stderr until the work is done; gives its summary."""
    live = sys.stderr.isatty()
    stage = ""
    summary = None
    for step in steps:
        summary = step.summary or summary
        if live:
            _bar(step)
        elif step.stage != stage:
            narrate(f"{step.stage}: {step.message or f'{step.total:,}'}")
        stage = step.stage
    if live:
        sys.stderr.write("\r\x1b[K")
    return summary


def _bar(step: Progress) -> None:
    share = step.done / step.total if step.total else 1.0
    filled = round(share * 24)
    counts = f"{step.done:,}/{step.total:,}" if step.total else ""
    sys.stderr.write(f"\r\x1b[K{step.stage:<9} {'━' * filled}{'─' * (24 - filled)} {counts} {step.message[:40]}")
    sys.stderr.flush()
