"""Lines of notes that carry the mark of their proposal: finding and undoing them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from cm_tui.engine.memory.notes import hunks
from cm_tui.engine.memory.notes.note_file import REVERTED, NoteSaves, joined, refuse_locked, text_before, writing
from cm_tui.engine.memory.notes.note_text import front_matter, headings
from cm_tui.engine.memory.notes.notes import NoteFile, Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.scan import scan_notes
from cm_tui.engine.platform.journal.event import Event
from cm_tui.errors import CmError
from cm_tui.model import Conflict, Undone
from cm_tui.model.author import Author

_BULLET = re.compile(r"(\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]+)?(.*)")
_MARK = re.compile(r"[ \t]*<!--\s*cm:narrator\s+([a-z0-9]{1,64})\s*-->")
_INDENTED = re.compile(r"[ \t]+\S")
_MOST_BYTES = 1_000_000
"""Of a note that is looked through for a line which was moved."""


class Marked(NamedTuple):
    """A line with a mark.

    Attributes:
        row: its place in the note, from 0.
        prefix: blanks and list mark before it.
        said: the line without these and without marks.
        whole: the line without the prefix, including marks.
        goes_on: whether lines indented below belong to it.
    """

    row: int
    prefix: str
    said: str
    whole: str
    goes_on: bool


class Written(NamedTuple):
    """The line that approving a proposal wrote into a note.

    Attributes:
        name: id of the proposal.
        note: id of the note.
        digest: of the line, as `digest_of` gives it.
        made: `note` or `heading`, where that was created for it; empty: it existed.
        back: the line that it replaced, including marks; empty: none.
        said: the line as it was written, if known; only for display.
        event: the event that recorded it; None: no such event any more.
        undone: returns the events that wrote lines of undone decisions, the newest first.
    """

    name: str
    note: str
    digest: str
    made: str = ""
    back: str = ""
    said: str = ""
    event: Event | None = None
    undone: Callable[[], Sequence[Event]] = tuple


def mark_of(name: str) -> str:
    """Return the mark of a proposal."""
    return f"<!-- cm:narrator {name} -->"


def marks_in(line: str) -> tuple[str, ...]:
    """Return the names of the proposals whose marks a line carries."""
    return tuple(_MARK.findall(line))


def without_marks(line: str) -> str:
    """Return a line without the marks of proposals."""
    return _MARK.sub("", line)


def without_prefix(line: str) -> str:
    """Return a line without blanks and the mark of a list before it."""
    found = _BULLET.fullmatch(line)
    return (found[2] if found is not None else line).rstrip()


def digest_of(said: str) -> str:
    """Return the digest of a line's text without marks."""
    return blake2b(said.strip().encode("utf-8", "replace"), digest_size=16).hexdigest()


def marked(text: str, name: str, digest: str = "") -> Marked | None:
    """Return the line with a proposal's mark; of several the one as written; None: no such line."""
    lines = text.split("\n")
    found = [_marked(lines, row) for row, line in enumerate(lines) if name in marks_in(line)]
    return next((one for one in found if digest_of(one.said) == digest), found[0] if found else None)


def undo_line(notes: Notes, written: Written, *, dry_run: bool = False, theirs_too: bool = False) -> Undone:
    """Undo the line that a proposal wrote, wherever it is now.

    `written`: what was written; `dry_run`: only report what would be undone; `theirs_too`: undo it even if the line was
    changed since. Raises CmError if the note cannot be read, or may not be written.
    """
    words = f"wrote a line to {written.note}"
    with writing():
        found = _where(notes, written)
        if found is None:
            return Undone("", (written.note,), f"{words}, which is no longer in any note")
        place, file, line = found
        refuse_locked(place)
        is_same = digest_of(line.said) == written.digest and not line.goes_on
        if not is_same and not theirs_too:
            now = without_marks(_with_below(file.shown, line) if line.goes_on else line.whole)
            return Undone("", (place.id,), words, (Conflict(place.id, place.id, written.back, now, written.said),))
        if not dry_run:
            _write(notes, place, file, _before(place, file, line, written), written)
    moved = "" if place.id == written.note else f", which is in {place.id} now"
    return Undone("", (place.id,), f"{words}{moved}")


def without_row(lines: Sequence[str], row: int) -> list[str]:
    """Return the lines without one; of two adjacent blank ones, one is removed, too."""
    rest = [*lines[:row], *lines[row + 1 :]]
    is_doubled = 0 < row < len(rest) and not rest[row - 1].strip() and not rest[row].strip()
    return [*rest[: row - 1], *rest[row:]] if is_doubled else rest


# --- parts ---


def _marked(lines: Sequence[str], row: int) -> Marked:
    found = _BULLET.fullmatch(lines[row])
    prefix, whole = (found[1] or "", found[2]) if found is not None else ("", lines[row])
    goes_on = bool(prefix) and row + 1 < len(lines) and _is_below(lines[row + 1], prefix)
    return Marked(row, prefix, without_marks(whole).strip(), whole.rstrip(), goes_on)


def _is_below(line: str, prefix: str) -> bool:
    """Return whether a line belongs to the bullet above it."""
    own = len(prefix) - len(prefix.lstrip())
    return bool(_INDENTED.match(line)) and len(line) - len(line.lstrip()) > own


def _with_below(text: str, line: Marked) -> str:
    lines = text.split("\n")
    return "\n".join([line.whole, *lines[line.row + 1 : _stop(lines, line)]])


def _stop(lines: Sequence[str], line: Marked) -> int:
    """Return the row after a bullet and the lines indented below it."""
    stop = line.row + 1
    while line.goes_on and stop < len(lines) and _is_below(lines[stop], line.prefix):
        stop += 1
    return stop


def _where(notes: Notes, written: Written) -> tuple[Found, NoteFile, Marked] | None:
    """Return the place of the line: in its note, or in another one that it was moved to."""
    place = notes.places.place(written.note)
    file = notes.file(place)
    line = marked(file.shown, written.name, written.digest)
    if line is not None:
        return place, file, line
    for other, stamp in scan_notes(notes.places).found.values():
        if other.id == place.id or not other.writable or stamp.size > _MOST_BYTES:
            continue
        try:
            file = notes.file(other)
        except CmError:
            # An unreadable note contains nothing to remove.
            continue
        line = marked(file.shown, written.name, written.digest)
        if line is not None:
            return other, file, line
    return None


class _Before(NamedTuple):
    """A note without a line.

    Attributes:
        text: of the note.
        gone: there was no such file before.
    """

    text: str
    gone: bool


def _before(place: Found, file: NoteFile, line: Marked, written: Written) -> _Before:
    """Return the note without a line: to the letter as it was where nothing else has changed at these lines."""
    if written.event is not None and written.event.data.get("note") == place.id:
        text = text_before(file.shown, written.event)
        if text is not None:
            return _Before(text, _is_written_by(text, written.event))
    text = _without(file.shown, line, written)
    if written.back:
        return _Before(text, gone=False)
    others = [event for event in written.undone() if event.data.get("note") == place.id]
    for event in others:
        rest = _without_rest(text, event)
        if rest is not None:
            return _Before(rest, _is_written_by(rest, event))
    text = _without_heading(text, line.row, written, others)
    return _Before(text, gone=written.made == "note" and place.id == written.note and _is_bare(text))


def _is_written_by(text: str, event: Event) -> bool:
    return not text.strip() and event.data.get("created") is True


def _without(text: str, line: Marked, written: Written) -> str:
    lines = text.split("\n")
    if written.back:
        return "\n".join([*lines[: line.row], f"{line.prefix}{written.back}", *lines[line.row + 1 :]])
    made = "\n".join(without_row([*lines[: line.row + 1], *lines[_stop(lines, line) :]], line.row))
    return made if text.endswith("\n") else made.rstrip("\n")


def _without_rest(text: str, event: Event) -> str | None:
    """Return a note without what else an undone change wrote at its end, such as a heading; None: that is not there.

    It stayed when its line went, because other lines stood below it.
    """
    found = hunks.read_hunks(event.data.get("hunks"))
    if not found or found[-1].below or not found[-1].after or not marks_in(found[-1].after[-1]):
        return None
    there = without_blank_end(hunks.lines_of(text))
    # With its line, the note is as that change had left it.
    for blank in ([], [""]):
        before = hunks.without_changes([*there, *blank, found[-1].after[-1]], found, exact=True)
        if before is not None and (before != there or "open_end" in event.data):
            return joined(before, event)
    return None


def without_blank_end(lines: Sequence[str]) -> list[str]:
    """Return lines without the blank ones at the end."""
    stop = next((row for row in range(len(lines), 0, -1) if lines[row - 1].strip()), 0)
    return list(lines[:stop])


def _without_heading(text: str, row: int, written: Written, others: Sequence[Event]) -> str:
    """Return a note without a section in which nothing stands any more, where a proposal made it."""
    lines = text.split("\n")
    empty = _empty_section(lines, row)
    if empty is None:
        return text
    made = {line for event in others for one in hunks.read_hunks(event.data.get("hunks")) for line in one.after}
    if not written.made and lines[empty.start] not in made:
        return text
    rest = "\n".join([*lines[: empty.start], *lines[empty.stop :]])
    return rest if text.endswith("\n") else rest.rstrip("\n")


def _empty_section(lines: Sequence[str], row: int) -> range | None:
    """Return the rows of the section at a place if it is empty now."""
    skipped = front_matter(list(lines)).lines
    found = [(skipped + one.row, one.level) for one in headings(lines[skipped:])]
    above = [one for one in found if one[0] < row]
    if not above or above[-1][1] < 2:
        return None
    begin = above[-1][0]
    stop = next((at for at, _ in found if at > begin), len(lines))
    return range(begin, stop) if not any(line.strip() for line in lines[begin + 1 : stop]) else None


def _write(notes: Notes, place: Found, file: NoteFile, before: _Before, written: Written) -> None:
    undoes = written.event.id if written.event is not None else ""
    saves, more = NoteSaves(notes), {"undoes": undoes, "narrated": written.name}
    if before.gone:
        saves.remove(place, REVERTED, file.data, **more)
    else:
        saves.put(place, file, before.text, Author(), REVERTED, **more)


def _is_bare(text: str) -> bool:
    """Return whether a note has nothing but front matter and a title."""
    lines = text.split("\n")
    rest = [line for line in lines[front_matter(lines).lines :] if line.strip()]
    return not rest or (len(rest) == 1 and rest[0].startswith("# "))
