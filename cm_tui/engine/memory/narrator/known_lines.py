"""Sentences of notes and entries, stored with the observations: only changed files are read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.narrator.tables import NarratorTables, number_of
from cm_tui.engine.memory.narrator.words import terms_of
from cm_tui.engine.memory.notes.known_scan import known_notes, places_of
from cm_tui.engine.memory.notes.note_reader import read_note
from cm_tui.engine.memory.notes.places import Found
from cm_tui.errors import CmError
from cm_tui.files import Stamp

_ENTRY = "entry/"
_BATCH = 500
"""Notes that are written down at once."""
_CHARACTERS = 600
"""Characters of a sentence; a longer one has more than one statement."""
_MOST_LINES = 5_000
"""Of one note."""
_LIST = re.compile(r"\s{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_NO_TEXT = re.compile(r"\s*(?:#{1,6}[ \t]|>|\||<!--|-{3,}\s*\Z|={3,}\s*\Z|\Z)")
_COMMENT = re.compile(r"<!--.{0,200}?-->")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*_])")
_PROMPT = re.compile(r"\s*(?:\$|>|#|%)\s+(?=\S)")


class Line(NamedTuple):
    """One written statement."""

    line: int
    """Of its note, from 1."""
    text: str


class KnownLines:
    """A project's notes and entries as sentences, in the tables. `tables`: for storing them."""

    def __init__(self, root: Path, tables: NarratorTables) -> None:
        self._root = root
        self._tables = tables

    def follow(self, seconds: float = -1) -> str:
        """Update the tables from the files; return a change stamp of all of them.

        `seconds`: how long to wait for another process that reads a long journal; negative: until it is done. After
        that the earlier state is used. Raises StoreError if the store cannot be written.
        """
        writer = self._tables.episodes.writer
        if not writer.acquire(timeout=seconds):
            return str(next(iter(self._tables.rows("SELECT stamp FROM narrator_note WHERE note = ''")), ("",))[0])
        writer.release()
        return self._follow()

    def _follow(self) -> str:
        entries = Entries(self._root)
        notes = known_notes(places_of(self._root))
        sign = f"{notes.sign} {number_of(entries.stamp())}"
        kept = self._tables.rows("SELECT note, stamp FROM narrator_note")
        if (_SIGN, sign) in kept:
            return sign
        known = dict(kept)
        texts = {f"{_ENTRY}{one.id}": f"{one.title}\n\n{one.content}" for one in entries.all().shown}
        wanted = {id_: _stamp(stamp) for id_, (_, stamp) in notes.found.items()}
        wanted |= {id_: f"{number_of(text):x}" for id_, text in texts.items()}
        changed = [id_ for id_, stamp in wanted.items() if known.get(id_) != stamp]
        gone = [id_ for id_ in known if id_ not in wanted and id_ != _SIGN]
        for start in range(0, max(len(changed), len(gone), 1), _BATCH):
            some = changed[start : start + _BATCH]
            lines = {
                id_: list(_sentences(texts[id_].split("\n"), 0)) if id_ in texts else _read(*notes.found[id_])
                for id_ in some
            }
            self._put({id_: wanted[id_] for id_ in some}, lines, gone[start : start + _BATCH])
        with self._tables.writing():
            self._tables.cursor.execute("DELETE FROM narrator_note WHERE note = ?", [_SIGN])
            self._tables.cursor.execute("INSERT INTO narrator_note VALUES (?, ?)", [_SIGN, sign])
        return sign

    def _put(self, stamps: Mapping[str, str], lines: Mapping[str, Sequence[Line]], gone: Sequence[str]) -> None:
        import numpy as np

        rows = [(id_, one) for id_, found in lines.items() for one in found]
        with self._tables.writing():
            first = self._tables.rows("SELECT coalesce(max(number), 0) + 1 FROM narrator_line")[0][0]
            with self._tables.given("changed_notes", {"note": [*stamps, *gone]}):
                self._tables.cursor.execute(
                    "DELETE FROM narrator_line_term WHERE number IN "
                    "(SELECT number FROM narrator_line SEMI JOIN changed_notes USING (note))"
                )
                for table in ("narrator_line", "narrator_note"):
                    self._tables.cursor.execute(f"DELETE FROM {table} WHERE note IN (SELECT note FROM changed_notes)")  # noqa: S608 - our own names
            with self._tables.given("new_notes", {"note": list(stamps), "stamp": list(stamps.values())}):
                self._tables.cursor.execute("INSERT INTO narrator_note SELECT note, stamp FROM new_notes")
            if not rows:
                return
            numbers = range(first, first + len(rows))
            columns = {
                "number": np.array(numbers, np.int32),
                "note": [id_ for id_, _ in rows],
                "line": np.array([one.line for _, one in rows], np.int32),
                "text": [one.text for _, one in rows],
            }
            with self._tables.given("new_lines", columns):
                self._tables.cursor.execute("INSERT INTO narrator_line SELECT number, note, line, text FROM new_lines")
            pairs = [
                (number, number_of(term))
                for number, (_, one) in zip(numbers, rows, strict=True)
                for term in terms_of(one.text)
            ]
            terms = {
                "number": np.array([pair[0] for pair in pairs], np.int32),
                "term": np.array([pair[1] for pair in pairs], np.int64),
            }
            with self._tables.given("new_terms", terms):
                self._tables.cursor.execute("INSERT INTO narrator_line_term SELECT number, term FROM new_terms")


_SIGN = ""
"""Instead of a note: the stamp of all when they were last read."""


def _stamp(stamp: Stamp) -> str:
    return f"{stamp.changed_ns}/{stamp.size}/{stamp.inode}"


def _read(place: Found, stamp: Stamp) -> list[Line]:
    try:
        read = read_note(place, stamp)
    except CmError:
        # An unreadable note is reported where notes are listed.
        return []
    return list(_sentences(read.lines[read.skipped :], read.skipped))[:_MOST_LINES]


def _sentences(lines: Sequence[str], skipped: int) -> Iterator[Line]:
    """Yield the sentences of Markdown, from lists and paragraphs, and each line of code."""
    fenced, begun, piece = False, 0, ""
    for number, line in enumerate((*lines, ""), skipped + 1):
        is_fence = _FENCE.match(line) is not None
        starts = _LIST.match(line)
        if fenced or is_fence or starts or _NO_TEXT.match(line):
            yield from _parts(begun, piece)
            begun, piece = number, line[starts.end() :] if starts and not fenced and not is_fence else ""
            if fenced and not is_fence and line.strip():
                yield from _parts(number, f"`{_PROMPT.sub('', line, count=1).strip().replace('`', '')}`")
            fenced ^= is_fence
            continue
        if not piece:
            begun = number
        piece = f"{piece} {line.strip()}" if piece else line.strip()


def _parts(line: int, text: str) -> Iterator[Line]:
    for part in _END.split(_COMMENT.sub("", text).strip()):
        if part and len(part) <= _CHARACTERS:
            yield Line(line, part)
