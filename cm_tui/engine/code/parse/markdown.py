"""Markdown: its headings, and links to files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedImport
from cm_tui.engine.code.parse.sections import Heading
from cm_tui.engine.code.parse.tree_query import Findings

_ATX = re.compile(r"\s*(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*")
_MARKUP = re.compile(
    r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`+|<[^>]+>|\s*\{#[^}]*\}$"
)
_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*(<[^>]*>|[^\s)]+)[^)]*\)|^\s{0,3}\[[^\]]+\]:\s*(<[^>]*>|\S+)"
)
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|//|#")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def headings(found: Findings, lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a document in order, without empty ones."""
    return [
        Heading(raw.first_row, level, name)
        for raw in sorted(found.symbols.values(), key=lambda raw: raw.start)
        for level, name in [_heading(lines, raw.first_row, raw.last_row)]
        if name
    ]


def links(found: Findings, lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[ParsedImport]:
    """Links to files, as imports of their section; code is skipped."""
    code = {row for node in found.scopes for row in range(node.start_point[0], node.end_point[0] + 1)}
    rows: list[ParsedImport] = []
    section: int | None = None
    following = 0
    for row, line in enumerate(lines):
        while following < len(located) and located[following].row.start_line <= row + 1:
            section = following
            following += 1
        if row in code or "]" not in line:
            continue
        for match in _LINK.finditer(_CODE_SPAN.sub("", line)):
            target = (match[1] or match[2]).strip("<>")
            if _ELSEWHERE.match(target) is None:
                path = unquote(target.partition("#")[0].partition("?")[0])
                rows.append(ParsedImport(section, path, None, None, False, row + 1))
    return [row for row in rows if row.module]


def _heading(lines: Sequence[str], first_row: int, last_row: int) -> tuple[int, str]:
    """Level and text of a heading that covers those rows."""
    atx = _ATX.fullmatch(lines[first_row])
    if atx is not None:
        return len(atx[1]), _plain(atx[2] or "")
    text = " ".join(lines[first_row:last_row])
    return (1 if lines[last_row].strip().startswith("=") else 2), _plain(text)


def _plain(text: str) -> str:
    return fold(_MARKUP.sub(lambda match: match[1] or "", text), MAX_SIGNATURE)
