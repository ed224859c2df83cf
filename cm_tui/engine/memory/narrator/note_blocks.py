"""Blocks of Markdown: bullets with indented lines, fenced code, paragraphs; and the words of a bullet.

Front matter of topics: writing title and tags, with everything else unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.notes.marked_lines import without_blank_end
from cm_tui.engine.search.ranking.wording import stem
from cm_tui.model.text import fence_after

_BULLET = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
MARK = re.compile(r"[ \t]*<!--\s*cm:narrator\s[^<>]*?-->")
"""Mark with the proposal of a line."""
_TOKEN = re.compile(r"`[^`]*`|[^\W_]+(?:['’_.-][^\W_]+)*")
_FILLERS = frozenset((
    "a", "an", "the", "is", "are", "be", "was", "were", "please", "we", "our", "you", "your", "i", "my", "it", "its", "also", "just", "should",
))  # fmt: skip
"""Words that do not matter for a bullet's meaning."""


class Block(NamedTuple):
    """Adjacent lines: a bullet with its indented lines, fenced code, a paragraph.

    Attributes:
        above: blank lines before it.
        lines: without these.
        bullet: its first line without the list mark; empty: it is not a bullet.
    """

    above: tuple[str, ...]
    lines: tuple[str, ...]
    bullet: str

    @property
    def key(self) -> tuple[str, ...]:
        """Return a key that literally equal blocks share."""
        lines = (self.bullet, *self.lines[1:]) if self.bullet else self.lines
        return tuple(line.rstrip() for line in lines)


def blocks(lines: Sequence[str]) -> list[Block]:
    """Return the blocks of some lines, without blank lines at the end."""
    found: list[Block] = []
    above: list[str] = []
    fence = ""
    for line in lines:
        if not fence and not line.strip():
            above.append(line)
            continue
        bullet = _BULLET.fullmatch(line)
        goes_on = bool(found) and (
            bool(fence)
            or (not above and bullet is None and (not fence_after("", line) or line[:1].isspace()))
            or (line[:1].isspace() and bullet is None and bool(found[-1].bullet))
        )
        if goes_on:
            found[-1] = found[-1]._replace(lines=(*found[-1].lines, *above, line))
        else:
            found.append(Block(tuple(above), (line,), bullet[3].rstrip() if bullet else ""))
        above = []
        fence = fence_after(fence, line)
    if fence and above:
        found[-1] = found[-1]._replace(lines=(*found[-1].lines, *above))
    return found


def bullet_words(bullet: str) -> tuple[str, ...]:
    """Return the words that identify a bullet: without marks, endings and fillers, code to the letter."""
    tokens = _TOKEN.findall(MARK.sub("", bullet))
    return tuple(one if one.startswith("`") else stem(one.lower()) for one in tokens if one.lower() not in _FILLERS)


def without(found: Sequence[Block], gone: Collection[int]) -> Iterator[str]:
    """Yield the lines of blocks without some, keeping the separation of the others."""
    above: tuple[str, ...] = ()
    for row, block in enumerate(found):
        if row in gone:
            above = above or block.above
        else:
            yield from (*(block.above or above), *block.lines)
            above = ()


def with_marks(block: Block, marks: Sequence[str]) -> Block:
    """Return a bullet with more marks at the end of its line."""
    line = block.lines[0] if block.lines else ""
    more = [mark for mark in dict.fromkeys(one.strip() for one in marks) if mark not in line]
    return block if not more else block._replace(lines=(" ".join([line.rstrip(), *more]),))


def blank_end(lines: Sequence[str]) -> list[str]:
    """Return the blank lines that some lines end with."""
    return list(lines[len(without_blank_end(lines)) :])


def closed(text: str) -> str:
    """Return a text with an open code fence at its end closed: later lines are not code."""
    fence = ""
    for line in text.split("\n"):
        fence = fence_after(fence, line)
    return f"{ended(text)}{fence}\n" if fence else text


def ended(text: str) -> str:
    """Return a text that ends with one end of line."""
    return f"{text.rstrip(chr(10))}\n"


_PLAIN = re.compile(r"[^\W_][\w ./+-]*")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:")
_RULER = "---"
_TAGS = ("tags", "keywords")
_OWN = frozenset({*_TAGS, "title", "date", "day", "created"})
"""Fields that are specific to one note."""


def new_head(title: str, tags: Sequence[str]) -> list[str]:
    """Return the lines of front matter for a new topic."""
    return [_RULER, *([f"title: {_scalar(title)}"] if title else []), *_tags(tags), _RULER]


def with_head(head: Sequence[str], *, tags: Sequence[str], also: Sequence[str] = ()) -> list[str]:
    """Return front matter with other tags.

    `head`: its lines; empty: no front matter. `tags`: all its tags. `also`: another one, from which missing fields are
    added.
    """
    known = {name for name, _ in _keys(head)}
    found: list[str] = []
    written = _tags(tags)
    for name, lines in _keys(head):
        found += lines if name not in _TAGS else written
        written = [] if name in _TAGS else written
    found += [line for name, lines in _keys(also) if name and name not in {*known, *_OWN} for line in lines]
    found += written
    if not found:
        return list(head)
    return [head[0], *found, head[-1]] if head else [_RULER, *found, _RULER, ""]


def _keys(head: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields of front matter by name, each with its lines; lines without a name first."""
    name = ""
    lines: list[str] = []
    for line in head[1:-1]:
        if found := _KEY.match(line):
            if lines:
                yield name, lines
            name, lines = found[1].lower(), [line]
        else:
            lines = [*lines, line]
    if lines:
        yield name, lines


def _tags(tags: Sequence[str]) -> list[str]:
    return [f"tags: [{', '.join(map(_scalar, tags))}]"] if tags else []


def _scalar(text: str) -> str:
    """Return a text as YAML, quoted unless it is unambiguous."""
    import json

    import yaml

    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    # `no` and `1.5` are no words.
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)
