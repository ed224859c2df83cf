"""What there is to see of a symbol before and after a change. Everything here runs on a worker."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from cm_tui.errors import CmError
from cm_tui.model.history import BEFORE_FIRST
from cm_tui.tui.modes.history.rows import HistoryRow, Spot
from cm_tui.tui.screens.symbol_content import MOST_LINES, SymbolContent, SymbolPlace, load_content
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.patches import DIFF_STYLES, patch_style
from cm_tui.tui.widgets.sourcelist import CodeLine, code_lines

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


@dataclass(frozen=True)
class SymbolDiff:
    """What was read of a row: both sides of it."""

    before: SymbolContent | None
    after: SymbolContent | None
    lines: tuple[CodeLine, ...]
    """The difference."""
    problem: str = ""
    """Why it is missing."""


def load_diff(engine: Engine, row: HistoryRow) -> SymbolDiff:
    """Read a row's symbol before and after.

    Raises:
        CmError: neither can be read.
    """
    after = _look_at(engine, row.spot) if row.spot else None
    try:
        before = _look_at(engine, row.before) if row.before and row.before.at != BEFORE_FIRST else None
    except CmError as error:
        if after is None:
            raise
        # What is not known before is no reason to hide what came of it, nor to call all of it new.
        return SymbolDiff(None, after, (), f"{error.message} {error.hint}".strip())
    return SymbolDiff(before, after, tuple(diff_lines(_text(before), _text(after))))


def _look_at(engine: Engine, spot: Spot) -> SymbolContent | None:
    """A symbol (or a file, where none is named) at a revision, None where it was not there; never whatever else stands at its line."""
    if spot.at is None:
        return _on_disk(engine, spot)
    view = load_content(engine, SymbolPlace(spot.key.path, spot.line, spot.key), spot.at)
    whole = not spot.key.qualname
    found = whole or (view.symbol is not None and view.symbol.qualname == spot.key.qualname)
    return view if found else None


def _on_disk(engine: Engine, spot: Spot) -> SymbolContent:
    """A file as it is now, without a question that would bring the index up to date: where it is not is what is looked at."""
    source = engine.source(spot.key.path, 1, MOST_LINES)
    return SymbolContent(SymbolPlace(spot.key.path, spot.line), None, (), tuple(code_lines(source)), source.stale)


def _text(view: SymbolContent | None) -> list[str]:
    return [line.content.plain for line in view.lines] if view else []


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[CodeLine]:
    """What differs, with a few lines around it; numbered by row."""
    lines = list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]
    if not lines:
        lines = [f" {line}" for line in after]
    return [
        CodeLine(number, Content.styled(line, DIFF_STYLES[line[:1]]) if line[:1] in DIFF_STYLES else Content(line))
        for number, line in enumerate(lines, start=1)
    ]


def patch_lines(patch: str) -> list[CodeLine]:
    """A patch as git prints it, numbered by row."""
    return [CodeLine(number, line.stylize(patch_style(line.plain))) for number, line in enumerate(_cut(patch), start=1)]


def prose_lines(text: str, width: int) -> list[CodeLine]:
    """Wrap prose to a width in cells."""
    wrapped = (piece for line in _cut(text) for piece in _wrapped(line.plain, width))
    return [CodeLine(number, Content(line)) for number, line in enumerate(wrapped, start=1)]


def _cut(text: str) -> list[Content]:
    """Lines that can be drawn."""
    return plain_lines(text.rstrip("\n"))


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, replace_whitespace=False) or [""]
