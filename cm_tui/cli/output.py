"""Writing: JSON and text on stdout, narration and progress on stderr.

Names, subjects and source are whatever others wrote: all of it goes through here, and none of it reaches the terminal
as anything but text.
"""

from __future__ import annotations

import codecs
import dataclasses
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from cm_tui import model
from cm_tui.model.text import CONTROLS, cut_names, harmless, one_line

T = TypeVar("T")
WANTS_JSON: ContextVar[bool] = ContextVar("wants_json", default=False)
"""Whether `--json` was given, before the command or behind it."""
_SILENCE = 5.0
"""Seconds after which long work says how far it is, where no bar can be drawn."""
_LATE = 2.0
"""Seconds without a first step of long work, after which that is reported."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""A byte of the command line that is not UTF-8."""


def plain(value: Any) -> Any:
    """A record as JSON types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def wants_json() -> bool:
    """Return whether the command prints JSON instead of text."""
    return WANTS_JSON.get()


def as_json(record: Any) -> bool:
    """Print a record as JSON if the user asked for that; return whether it was printed."""
    if wants_json():
        print_json(record)
    return wants_json()


def advise(text: str) -> None:
    """Tell a person what can be done next; programs are not told."""
    if not wants_json():
        narrate(text)


def print_json(value: Any) -> None:
    """One JSON value on stdout; escaped where the terminal speaks something else than UTF-8, as JSON does not."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    unicode = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    if unicode and not _SURROGATE.search(text):
        # JSON itself escapes only those below the space.
        _put(CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text))
    else:
        _put(json.dumps(plain(value), indent=2))


def print_json_line(value: Any) -> None:
    """One JSON value on one line of stdout; all escaped, since Unicode has more line ends than the line feed."""
    _put(json.dumps(plain(value)))


def write(text: str, *, bold: str = "") -> None:
    """One line of data on stdout, whatever is in it. `bold`: the part of it that stands out on a terminal."""
    line, part = one_line(text), one_line(bold)
    _put(line.replace(part, f"\x1b[1m{part}\x1b[0m", 1) if part and sys.stdout.isatty() else line)


def write_text(text: str) -> None:
    """Lines of data on stdout, such as source; its tabs stay."""
    _put(harmless(text))


def _put(text: str) -> None:
    """Write to stdout; characters that the terminal cannot show are replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def narrate(text: str) -> None:
    """A line for the person on stderr; names without end are cut."""
    _write_stderr(one_line(cut_names(text)) + "\n")


def narrate_notes(notes: Iterable[str]) -> None:
    """Narrate warnings, each on a line."""
    for note in notes:
        narrate(f"note: {note}")


def _write_stderr(text: str) -> None:
    """Write to stderr, best effort: a closed pipe or a full disk does not stop the work."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def print_page(
    page: model.Page[Any],
    line: Callable[[Any], str | list[str]],
    *,
    row: Callable[[Any], Any] = plain,
    more: Mapping[str, Any] | None = None,
) -> None:
    """A list: `{"rows": […], "total": N}` as JSON, with its generation and note; else a row's line (or lines) and an honest count.

    `line`: a row as text; `row`: a row as it stands in JSON; `more`: what the JSON has beside rows and total.
    """
    if wants_json():
        named = {"generation": page.generation, "note": page.note or None}
        named = {key: value for key, value in named.items() if value is not None}
        print_json({"rows": [row(item) for item in page.rows], "total": page.total, **named, **(more or {})})
        if page.note:
            narrate(page.note)
        return
    for item in page.rows:
        text = line(item)
        for each in [text] if isinstance(text, str) else text:
            write(each)
    if not page.rows:
        narrate("nothing to list")
    if len(page.rows) < page.total:
        narrate(f"{len(page.rows):,} of {page.total:,}")
    if page.note:
        narrate(page.note)


def follow(steps: Iterable[model.Progress]) -> model.IndexSummary | None:
    """Show progress on stderr until the index run ends; return its summary."""
    return follow_to(steps, lambda step: step.summary)


def follow_to(steps: Iterable[model.Progress], result: Callable[[model.Progress], T | None]) -> T | None:
    """Show progress on stderr until the work ends; return the last result that a step carries."""
    found = None
    for step in _with_progress(steps):
        found = result(step) or found
    return found


@contextmanager
def progress_bar() -> Iterator[Callable[[model.Progress], None]]:
    """Give what shows steps of work as a bar on stderr; nothing where no terminal is, or JSON is asked for."""
    live = sys.stderr.isatty() and not wants_json()
    try:
        yield _bar if live else model.ignore_progress
    finally:
        if live:
            _write_stderr("\r\x1b[K")


def _waiting(*, live: bool) -> None:
    words = "Waiting to start; Health in `cm` lists running jobs."
    _write_stderr(f"\r\x1b[K{words}") if live else narrate(words)


def _with_progress(steps: Iterable[model.Progress]) -> Iterator[model.Progress]:
    live = sys.stderr.isatty()
    # A queued job has no steps yet.
    waiting = threading.Timer(_LATE, _waiting, kwargs={"live": live})
    waiting.daemon = True
    waiting.start()
    try:
        yield from _shown(steps, waiting, live=live)
    finally:
        waiting.cancel()


def _shown(steps: Iterable[model.Progress], waiting: threading.Timer, *, live: bool) -> Iterator[model.Progress]:
    stage, told = "", 0.0
    for step in steps:
        waiting.cancel()
        if live:
            _bar(step)
        elif step.stage != stage or time.monotonic() > told + _SILENCE:
            told = time.monotonic()
            counts = f"{step.done:,} of {step.total:,}" if step.total and step.stage == stage else f"{step.total:,}"
            # One step of one, or none of none, says no more than the stage.
            narrate(": ".join(filter(None, (step.stage, step.message or (counts if step.total > 1 else "")))))
        stage = step.stage
        yield step
    if live:
        _write_stderr("\r\x1b[K")


def _bar(step: model.Progress) -> None:
    if step.stage == "wait":
        _write_stderr(f"\r\x1b[K{one_line(step.message)}")
        return
    share = step.done / step.total if step.total else 1.0
    filled = round(share * 24)
    counts = f"{step.done:,}/{step.total:,}" if step.total else ""
    _write_stderr(f"\r\x1b[K{step.stage:<9} {'━' * filled}{'─' * (24 - filled)} {counts} {one_line(step.message[:40])}")
