"""Headings of documents that are parsed by lines: reStructuredText, AsciiDoc, Org and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from cm_tui.engine.code.parse.markdown import LONGEST, Heading
from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold

_LINE_OF_ONE = re.compile(r"([!-/:-@\[-`{-~])\1+\s*")
"""A line of one repeated punctuation character, above or below a title."""
_SHORTEST_RULE = 3
_ROLE = re.compile(r":[\w:+.-]+:(?=`)")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}")
_MARKS = re.compile(r"`+|\*\*|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)|\|(?=\S)|(?<=\S)\||\\(?=\S)|(?<=`)_{1,2}")

_ADOC_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*")
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})\s*(?:\w[\w,-]*)?")
_ADOC_MARKS = re.compile(r"\[\[[^\]]*\]\]|\{[\w-]+\}|`+|(?<!\w)[*_#]+(?=\S)|(?<=\S)[*_#]+(?!\w)")

_ORG_TITLE = re.compile(r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING)\s+)?(?:\[#\w\]\s+)?(\S.*?)(?:\s+:[\w@#%:]+:)?\s*")
_ORG_BLOCK = re.compile(r"\s*#\+(begin|end)_\w+", re.IGNORECASE)
_ORG_LINK = re.compile(r"\[\[[^\]]*\](?:\[([^\]]*)\])?\]")

_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_TEX_TITLE = re.compile(rf"\s*\\({'|'.join(_TEX_LEVELS)})\*?\s*(?:\[[^\]]*\])?\{{(.*)")
_TEX_COMMAND = re.compile(r"\\(?:label\{[^}]*\}|[a-zA-Z]+\*?\s*)|[{}$~]")


def _restructured_text(lines: Sequence[str]) -> Iterator[Heading]:
    """Titles with a line below, or also one above; the level of each style is its order of appearance."""
    styles: dict[tuple[str, bool], int] = {}
    row = 0
    while row + 1 < len(lines):
        over = _rule(lines[row])
        if (
            over
            and row + 2 < len(lines)
            and _rule(lines[row + 2]) == over
            and _is_title(lines[row + 1], lines[row + 2])
        ):
            yield Heading(row, styles.setdefault((over, True), len(styles) + 1), _plain_rst(lines[row + 1]), 1)
            row += 3
            continue
        below = _rule(lines[row + 1])
        if below and not lines[row][:1].isspace() and _begins(lines, row) and _is_title(lines[row], lines[row + 1]):
            yield Heading(row, styles.setdefault((below, False), len(styles) + 1), _plain_rst(lines[row]))
            row += 2
            continue
        row += 1


def _rule(line: str) -> str:
    """The character that a line repeats; empty: not such a line."""
    return line[0] if len(line.rstrip()) >= _SHORTEST_RULE and _LINE_OF_ONE.fullmatch(line) else ""


def _is_title(line: str, below: str) -> bool:
    """Whether a line is text that the one below it is long enough for."""
    text = line.strip()
    return bool(text) and not _rule(text) and len(below.rstrip()) >= min(len(text), 4)


def _begins(lines: Sequence[str], row: int) -> bool:
    """Whether a line begins a block: a title cannot be within a paragraph."""
    above = lines[row - 1] if row else ""
    return not above.strip() or above.startswith("..")


def _plain_rst(line: str) -> str:
    return fold(_MARKS.sub("", _RST_LINK.sub(r"\1", _ROLE.sub("", line))), MAX_SIGNATURE)


def _asciidoc(lines: Sequence[str]) -> Iterator[Heading]:
    fence = ""
    for row, line in enumerate(lines):
        if mark := _ADOC_FENCE.fullmatch(line):
            fence = mark[1] if not fence else "" if mark[1] == fence else fence
        elif not fence and (title := _ADOC_TITLE.fullmatch(line)):
            yield Heading(row, len(title[1]), fold(_ADOC_MARKS.sub("", title[2]), MAX_SIGNATURE))


def _org(lines: Sequence[str]) -> Iterator[Heading]:
    inside = False
    for row, line in enumerate(lines):
        if block := _ORG_BLOCK.match(line):
            inside = block[1].lower() == "begin"
        elif not inside and (title := _ORG_TITLE.fullmatch(line)):
            yield Heading(row, len(title[1]), fold(_ORG_LINK.sub(lambda link: link[1] or "", title[2]), MAX_SIGNATURE))


def _latex(lines: Sequence[str]) -> Iterator[Heading]:
    for row, line in enumerate(lines):
        if title := _TEX_TITLE.match(line):
            yield Heading(
                row, _TEX_LEVELS.index(title[1]) + 1, fold(_TEX_COMMAND.sub(" ", _braced(title[2])), MAX_SIGNATURE)
            )


def _braced(text: str) -> str:
    """The beginning of a text up to the brace that closes an earlier one."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if not depth:
            return text[:at]
    return text


_READERS: Mapping[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    "rst": _restructured_text, "asciidoc": _asciidoc, "org": _org, "latex": _latex,
}  # fmt: skip
DOCUMENTS = frozenset(_READERS)
"""Languages whose headings are read by lines."""


def headings(language: str, lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a document in one of `DOCUMENTS`, in order, without empty ones."""
    return [heading for heading in _READERS[language]([line[:LONGEST] for line in lines]) if heading.name]
