"""Functions that a grammar lost, in an error or in a macro, found by their first and last lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cm_tui.engine.code.parse.tree_query import Findings, RawSymbol

_CLOSING = ("}", ")")


def recover_functions(found: Findings, pattern: str, lines: Sequence[str]) -> None:
    """Add the functions whose first line matches and that no definition begins on.

    A function ends on its first line when its bracket closes there, else on the first line with a closing bracket that
    is indented as it is. `found`: findings of the query; gets the functions. `pattern`: regular expression of a
    function's first line, its name in the group `name`.
    """
    opening = re.compile(pattern)
    known = {raw.first_row for raw in found.symbols.values() if raw.kind == "function"}
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogateescape")) + 1)
    quoted = {row for span in found.comments for row in range(span.first_row, span.last_row + 1)}
    for row, line in enumerate(lines):
        match = opening.match(line)
        if match is None or row in known or row in quoted:
            continue
        last = _last_row(lines, row, line)
        at = offsets[row] + len(line[: match.start("name")].encode())
        start = offsets[row] + len(line) - len(line.lstrip())
        found.symbols[at] = RawSymbol(
            start, offsets[last + 1] - 1, start, row, last, "function", match["name"], at, None, None, None
        )


def _last_row(lines: Sequence[str], row: int, line: str) -> int:
    if line.rstrip().endswith((*_CLOSING, ";")) and not line.rstrip().endswith("()"):
        return row
    indent = len(line) - len(line.lstrip())
    for later in range(row + 1, len(lines)):
        text = lines[later]
        closes = text.lstrip().startswith(_CLOSING) and not text.rstrip().endswith("{")
        if closes and len(text) - len(text.lstrip()) == indent:
            return later
    return row
