"""Texts of topics: merging and splitting by sections, and merging equivalent bullets, without reading a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from cm_tui.engine.code.parse.markdown import Heading
from cm_tui.engine.memory.narrator.note_blocks import (
    MARK,
    Block,
    blank_end,
    blocks,
    bullet_words,
    closed,
    ended,
    with_head,
    with_marks,
    without,
)
from cm_tui.engine.memory.notes.marked_lines import without_blank_end
from cm_tui.engine.memory.notes.note_text import front_matter, headings

_DEEPEST = 6


@dataclass(eq=False)
class Section:
    """A heading and the text below it; a whole note has no heading."""

    name: str = ""
    level: int = 0
    heading: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    """Lines up to the next heading, or to the first one inside."""
    inside: list[Section] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield all of its lines."""
        yield from chain(self.heading, self.body, *(one.lines() for one in self.inside))

    def every(self) -> Iterator[Section]:
        """Yield it and the nested sections at any depth."""
        yield self
        yield from (one for _, one in self.all())

    def all(self) -> Iterator[tuple[Section, Section]]:
        """Yield the nested sections at any depth, each with its parent."""
        for one in self.inside:
            yield self, one
            yield from one.all()


class Parsed(NamedTuple):
    """A note in its parts; together they are its text.

    Attributes:
        head: lines of its front matter.
        whole: everything behind that.
    """

    head: list[str]
    whole: Section

    @property
    def content(self) -> Section:
        """Return what holds the sections: the part below the only title, or all of it."""
        whole = self.whole
        is_titled = len(whole.inside) == 1 and whole.inside[0].level == 1 and not "".join(whole.body).strip()
        return whole.inside[0] if is_titled else whole

    @property
    def text(self) -> str:
        """Return the text that the parts make, which ends with its last line."""
        return "\n".join([*self.head, *self.whole.lines()])


def parse(text: str) -> Parsed:
    """Return the parts of a note; fenced code has no headings."""
    lines = text.split("\n")
    skipped = front_matter(lines).lines
    rest = lines[skipped:]
    found = list(headings(rest))
    whole = Section(body=rest[: found[0].row] if found else rest)
    open_sections = [whole]
    for number, one in enumerate(found):
        while open_sections[-1].level >= one.level:
            open_sections.pop()
        section = _section(rest, one, found[number + 1].row if number + 1 < len(found) else len(rest))
        open_sections[-1].inside.append(section)
        open_sections.append(section)
    return Parsed(lines[:skipped], whole)


def unite(stays: str, goes: str, name: str, tags: Sequence[str]) -> str:
    """Merge two notes: sections with the same heading are merged, and common text is kept once.

    `stays`: the text to add to; `goes`: the text to add; `name`: of the added note: its text without a heading comes
    below this one.
    """
    one, two = parse(closed(stays)), parse(closed(goes))
    target, source = one.content, two.content
    loose = [*two.whole.body, *source.body] if source is not two.whole else source.body
    known = _keys(one.whole)
    if more := [block for block in blocks(loose) if block.key not in known]:
        append(_same(target, name) or new_section(target, name), more)
    for section in source.inside:
        _add_section(target, section)
    head = with_head(one.head, tags=tags, also=two.head)
    return ended(Parsed(head, one.whole).text)


class Halves(NamedTuple):
    """A split note.

    Attributes:
        rest: the remaining text.
        moved: lines of the moved sections.
        missing: missing headings.
    """

    rest: str
    moved: list[str]
    missing: tuple[str, ...]


def split(text: str, names: Sequence[str]) -> Halves:
    """Return a note without some sections, and these.

    `names`: headings of the sections, each with its nested ones.
    """
    parsed = parse(text)
    wanted = {plain(name): name for name in names}
    moved: list[str] = []
    found: set[str] = set()
    for parent, section in list(parsed.content.all()):
        key = plain(section.name)
        if key in wanted and section in parent.inside:
            parent.inside.remove(section)
            moved += [*without_blank_end([*section.lines()]), ""]
            # Nested sections move along.
            found |= {key} | {plain(one.name) for _, one in section.all()}
            section.inside = []
    missing = tuple(name for key, name in wanted.items() if key not in found)
    return Halves(ended(parsed.text), moved, missing)


def without_bullets(text: str, wanted: Collection[str]) -> tuple[str, list[str]]:
    """Return a note without some of its bullets, and their lines.

    `wanted`: exact bullets, without the list mark.
    """
    parsed = parse(text)
    moved: list[str] = []
    for section in parsed.whole.every():
        found = blocks(section.body)
        gone = {row for row, block in enumerate(found) if block.bullet in wanted and block.bullet}
        moved += [line for row in sorted(gone) for line in found[row].lines]
        if gone:
            section.body = [*without(found, gone), *blank_end(section.body)]
    return parsed.text, moved


def compress(text: str, *, keep: Callable[[str], bool] = lambda _: False) -> tuple[str, int]:
    """Return a note with equivalent bullets merged, and their number; the last wording remains, with all marks.

    They are single lines in one section with the same words in the same order, except for endings and words such as
    `the`. `keep`: returns whether a line must not change.
    """
    parsed = parse(text)
    gone = 0
    for section in parsed.whole.every():
        found = blocks(section.body)
        last: dict[tuple[str, ...], int] = {}
        marks: dict[int, list[str]] = {}
        dropped: set[int] = set()
        for row, block in enumerate(found):
            key = bullet_words(block.bullet) if len(block.lines) == 1 and not keep(block.lines[0]) else ()
            if not key:
                continue
            if (before := last.get(key)) is not None:
                dropped.add(before)
                marks[row] = [*marks.pop(before, []), *MARK.findall(found[before].lines[0])]
            last[key] = row
        gone += len(dropped)
        if dropped:
            kept = [with_marks(block, marks.get(row, ())) for row, block in enumerate(found)]
            section.body = [*without(kept, dropped), *blank_end(section.body)]
    return parsed.text, gone


def bullets(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the single-line bullets of a note: heading, text, and line from 1."""
    parsed = parse(text)
    row = len(parsed.head)
    for section in parsed.whole.every():
        row += len(section.heading)
        at = row
        for block in blocks(section.body):
            at += len(block.above)
            if block.bullet and len(block.lines) == 1:
                yield section.name, block.bullet, at + 1
            at += len(block.lines)
        row += len(section.body)


def new_section(target: Section, name: str) -> Section:
    """Add an empty section behind all others."""
    _end(target)
    level = target.inside[0].level if target.inside else min(_DEEPEST, target.level + 1) if target.level else 2
    section = Section(name, level, [f"{'#' * level} {name}"], [""])
    target.inside.append(section)
    return section


def append(section: Section, found: Sequence[Block]) -> None:
    """Put blocks behind the last one of a section: bullets close to the bullets above them."""
    if not found:
        return
    there = blocks(section.body)
    body = without_blank_end(section.body)
    for block in found:
        both_bullets = bool(there) and bool(there[-1].bullet) and bool(block.bullet)
        above = list(block.above[:1]) if both_bullets and block is not found[0] else [] if both_bullets else [""]
        body += [*above, *block.lines]
        there = [block]
    section.body = [*body, *(blank_end(section.body) or [""])]


def plain(heading: str) -> str:
    """Return a heading as headings are compared."""
    return " ".join(heading.strip().lstrip("#").split()).casefold()


# --- parts ---


def _section(lines: Sequence[str], one: Heading, stop: int) -> Section:
    is_underlined = not lines[one.row].lstrip().startswith("#")
    begin = one.row + (2 if is_underlined else 1)
    return Section(one.name, one.level, list(lines[one.row : begin]), list(lines[begin:stop]))


def _keys(section: Section) -> set[tuple[str, ...]]:
    return {block.key for one in section.every() for block in blocks(one.body)}


def _add_section(target: Section, section: Section) -> None:
    """Add a section to those inside another: merge with one of the same heading, or append."""
    same = _same(target, section.name)
    if same is None:
        _end(target)
        target.inside.append(section)
        return
    known = {block.key for block in blocks(same.body)}
    append(same, [block for block in blocks(section.body) if block.key not in known])
    for one in section.inside:
        _add_section(same, one)


def _same(target: Section, name: str) -> Section | None:
    return next((one for one in target.inside if plain(one.name) == plain(name)), None)


def _end(target: Section) -> None:
    """Separate the end of a section from what follows."""
    last = target
    while last.inside:
        last = last.inside[-1]
    if last.body or last.heading:
        last.body = [*without_blank_end(last.body), ""]
