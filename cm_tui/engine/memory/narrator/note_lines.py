"""Adding lines to the Markdown of a note below their heading, and removing them, without reading or writing a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.narrator import note_blocks, topic_text
from cm_tui.engine.memory.narrator.note_blocks import Block, new_head
from cm_tui.engine.memory.narrator.topic_text import Section
from cm_tui.engine.memory.notes import marked_lines
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import UsageError

LONGEST = 1_000
"""Characters of a line that is written."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|-->", re.DOTALL)
_LIST_MARK = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")


class Changed(NamedTuple):
    """A note with a line added or removed.

    Attributes:
        text: of the note.
        line: the line in the note, including marks; empty: removed, or already there.
        made: `note` or `heading`, where that was created for it; empty: it existed.
        row: of the line, from 1; 0: none.
    """

    text: str
    line: str = ""
    made: str = ""
    row: int = 0


def clean(text: str) -> str:
    """Return a text as one line of Markdown, without comments, list marks and invisible characters."""
    one = _COMMENT.sub(" ", text)
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in one).split())
    return _LIST_MARK.sub("", line, count=1) if _LIST_MARK.match(line) else line


def note_text(text: str) -> str:
    """Return a text as it is written into a note: one line, without secrets.

    Raises UsageError if nothing of it is left, or it is too long.
    """
    if len(text) > 4 * LONGEST:
        raise _too_long(len(text))
    line = clean(redact(text).text)
    if not line:
        raise UsageError("Nothing to write.", hint="A proposal is written as one line of text.")
    if len(line) > LONGEST:
        raise _too_long(len(line))
    return line


def says(text: str, line: str) -> bool:
    """Return whether a line is in a note already, word for word."""
    wanted = " ".join(line.split())
    return any(
        " ".join(marked_lines.without_marks(bullet).split()) == wanted for _, bullet, _ in topic_text.bullets(text)
    )


def added(text: str, place: Found, heading: str, line: str, tags: Sequence[str] = ()) -> Changed:
    """Add a line at the end of the section of a heading; creates note and heading where missing.

    `text`: of the note; empty: a new note. `line`: with its mark. `tags`: of a new topic.
    """
    made = "" if text.strip() else "note"
    if made:
        text = _beginning(place, tags)
    parsed = topic_text.parse(note_blocks.closed(text))
    content = parsed.content
    section = _section(content, heading)
    if section is None:
        made = made or "heading"
        section = topic_text.new_section(content, heading)
    topic_text.append(section, [Block((), (f"- {line}",), line)])
    whole = parsed.text
    return Changed(whole, line, made, _row_of(whole, line))


def replaced(text: str, heading: str, old: str, line: str) -> Changed | None:
    """Return a note with a line replaced; None: the old one no longer exists.

    `heading`: of the old line's section; `old`: the old line, exactly and without the list mark; `line`: with its mark.
    """
    row = _bullet_row(text, heading, old)
    if row is None:
        return None
    lines = text.split("\n")
    prefix = lines[row][: len(lines[row].rstrip()) - len(old)]
    lines[row] = f"{prefix}{line}"
    return Changed("\n".join(lines), line, "", row + 1)


def removed(text: str, heading: str, old: str) -> Changed | None:
    """Return a note without a line; None: it no longer exists. Arguments as for `replaced`."""
    row = _bullet_row(text, heading, old)
    return None if row is None else Changed("\n".join(marked_lines.without_row(text.split("\n"), row)))


def own_words(text: str) -> Iterator[str]:
    """Yield the lines of a note that reveal foreign changes: no blanks, headings or marked lines.

    The place of a line and what is already there depend on them; other approvals do not.
    """
    parsed = topic_text.parse(text)
    yield from parsed.head[1:-1]
    for section in parsed.whole.every():
        yield from (line.rstrip() for line in section.body if line.strip() and not marked_lines.marks_in(line))


# --- parts ---


def _too_long(characters: int) -> UsageError:
    return UsageError(f"The line has {characters:,} characters; allowed are at most {LONGEST:,}.", hint="Shorten it.")


def _beginning(place: Found, tags: Sequence[str]) -> str:
    name = place.path.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ").strip()
    title = f"{name[:1].upper()}{name[1:]}"
    head = new_head(title, tags) if place.kind == "topic" and tags else []
    return "\n".join([*head, *([""] if head else []), f"# {title}", ""])


def _section(content: Section, heading: str) -> Section | None:
    """Return the section of a heading; of several, the one at the highest level."""
    wanted = topic_text.plain(heading)
    found = [one for _, one in content.all() if topic_text.plain(one.name) == wanted]
    return min(found, key=lambda one: one.level, default=None)


def _row_of(text: str, line: str) -> int:
    wanted = f"- {line}"
    return next((row for row, one in enumerate(text.split("\n"), 1) if one == wanted), 0)


def _bullet_row(text: str, heading: str, old: str) -> int | None:
    """Return the row of a bullet, from 0: of several the one below its heading."""
    found = [(under != heading, row - 1) for under, bullet, row in topic_text.bullets(text) if bullet == old]
    return min(found)[1] if found else None
