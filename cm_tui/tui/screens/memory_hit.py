"""A hit that is remembered, in a list: kind, age and who it was, and the line of it that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rich.cells import cell_len
from textual.content import Content

from cm_tui.engine.api.authors import Author, author_of
from cm_tui.model import CODE, NOTES, Hit
from cm_tui.model.dates import age, age_of, short_age
from cm_tui.tui.state.authors import title_of, who
from cm_tui.tui.tasks.ask import Ask, Engine
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.text import elide_end

_LEAST = 12
"""Cells of a line that are worth showing."""
_LEAST_TITLE = 24
"""Cells of what something is called that matter more than who it was."""


_MOST_AUTHORS = 1_000
_AUTHORS_DELAY = 0.1
"""Seconds before authors are looked up: those of answers that are replaced at once are not."""


@dataclass
class Authors:
    """Who wrote the memories that are listed, looked up in the background.

    Args:
        ask: asks the engine.
        named: called when more of them are known.
    """

    ask: Ask
    named: Callable[[], None]
    known: dict[str, Author | None] = field(default_factory=dict)
    """By path."""

    def look_up(self, hits: Iterable[Hit]) -> None:
        """Look up those of hits that are not known yet."""
        missing = [path for path in dict.fromkeys(hit.path for hit in hits) if path not in self.known]

        def call(engine: Engine) -> dict[str, Author | None]:
            return {path: author_of(engine, path) for path in missing}

        def got(found: dict[str, Author | None]) -> None:
            if len(self.known) > _MOST_AUTHORS:
                self.known.clear()
            self.known.update(found)
            self.named()

        if missing:
            self.ask("authors", call, got, lambda _: None, delay=_AUTHORS_DELAY)


def is_memory(hit: Hit | None) -> bool:
    """Return whether a hit is remembered, and no lines of a file."""
    return hit is not None and hit.source != CODE


def kind_and_age(hit: Hit, in_words: Callable[[float], str] = age) -> str:
    """Return `episode · 3 days ago`."""
    when = age_of(hit.source, hit.time, in_words=in_words) if hit.time is not None else "undated"
    return f"{hit.source} · {when}"


def facts(hit: Hit, author: Author | None, width: int) -> Content:
    """Return what it is called, kind, age and who, in exactly so many cells; who it was gives way first."""
    head, when = hit.source, kind_and_age(hit, short_age).removeprefix(hit.source)
    # A note without a heading is called by its file, as is one of another project.
    name, title = who(author), title_of(author) or (PurePosixPath(hit.path).stem if hit.source == NOTES else "")
    tail = f" · {name}" if name else ""
    room = width - cell_len(head + when) - 2
    if title and room - cell_len(tail) >= min(_LEAST_TITLE, cell_len(title)):
        title = elide_end(title, room - cell_len(tail))
    else:
        tail = tail if not title and cell_len(head + when) + 6 <= width else ""
        title = elide_end(title, room) if room >= _LEAST else ""
    pieces = (
        (title, "$foreground"),
        ("  " if title else "", ""),
        (head, "$secondary"),
        (when, "$soft"),
        (tail, "$muted"),
    )
    return Content.assemble(*pieces).truncate(max(0, width), ellipsis=True, pad=True)


def answering_line(hit: Hit, width: int) -> Content:
    """Return the line of the snippet that has most of the words that were found, around the first of them."""
    words = sorted({part.term for part in hit.parts if part.term}, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, words)), re.IGNORECASE) if words else None
    lines = [" ".join(line.plain.split()) for line in plain_lines(hit.snippet)] or [""]
    line = max(lines, key=lambda one: (_different(found, one), bool(one)))
    match = found.search(line) if found else None
    text = _around(line, match.start() if match else 0, width)
    content = Content(text)
    for start, end in _spans(found, text):
        content = content.stylize("bold", start, end)
    return content


def _different(found: re.Pattern[str] | None, line: str) -> int:
    return len({one.group().lower() for one in found.finditer(line)}) if found else 0


def _spans(found: re.Pattern[str] | None, text: str) -> Iterator[tuple[int, int]]:
    if found is not None:
        yield from (one.span() for one in found.finditer(text))


def _around(line: str, place: int, width: int) -> str:
    """Return so many cells of a line with the match inside, in its first half where the line is longer."""
    if width < _LEAST or cell_len(line) <= width:
        return elide_end(line, max(0, width))
    start = 0
    # From the left, as long as the match would not be seen in the first half.
    while start < place and cell_len(line[start:place]) > width // 2:
        start += 1
    if start:
        start = min(start, max(0, len(line) - width))
    return elide_end(f"…{line[start + 1 :]}" if start else line, width)
