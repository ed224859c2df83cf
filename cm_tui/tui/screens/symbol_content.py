"""What there is to see at a place: a symbol, or a file at a line. Everything here runs on a worker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cm_tui.model import PackRequest, Symbol, SymbolKey
from cm_tui.tui.state.revision import symbols_of
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.sourcelist import CodeLine, code_lines

MOST_LINES = 3000
"""Lines of source on screen at once, around the line asked for."""
_ALL = 100_000


@dataclass(frozen=True)
class SymbolPlace:
    """Where the person is: a symbol by key, or a file; `line` is where the cursor stands (0: the start)."""

    path: str
    line: int = 0
    key: SymbolKey | None = None
    find: bool = False
    """Look for the symbol at the line, or the one nearest to it of those with the key's name."""


@dataclass(frozen=True)
class SymbolContent:
    """What is on screen for a place."""

    place: SymbolPlace
    symbol: Symbol | None
    symbols: tuple[Symbol, ...]
    """Of the file."""
    lines: tuple[CodeLine, ...]
    stale: bool
    note: str = ""


def load_content(engine: Engine, place: SymbolPlace, at: str | None = None) -> SymbolContent:
    """Read what there is to see at a place, at a revision of the past where one is given.

    Raises:
        CmError: the file is gone.
    """
    symbols = symbols_of(engine, at, file=place.path, limit=_ALL).rows
    symbol = _by_key(symbols, place.key, place.line if place.find else 0) if place.key else None
    if symbol is None and (place.find or place.key):
        symbol = innermost(symbols, place.line)
    first, last = (symbol.start_line, symbol.end_line) if symbol else (1, None)
    note = ""
    if symbol is None or symbol.end_line - symbol.start_line >= MOST_LINES:
        first = max(first, place.line - MOST_LINES // 2)
        last = min(symbol.end_line, first + MOST_LINES - 1) if symbol else first + MOST_LINES - 1
    source = engine.source(place.path, first, last, at=at)
    lines = tuple(code_lines(source))
    if len(lines) == MOST_LINES:
        note = f"lines {first:,} to {first + MOST_LINES - 1:,} only"
    return SymbolContent(place, symbol, symbols, lines, source.stale, note)


def innermost(symbols: Iterable[Symbol], line: int) -> Symbol | None:
    """The smallest symbol around a line."""
    around = [symbol for symbol in symbols if symbol.start_line <= line <= symbol.end_line]
    return min(around, key=lambda symbol: (symbol.end_line - symbol.start_line, -symbol.start_line), default=None)


def request_at(engine: Engine, place: SymbolPlace) -> PackRequest:
    """What goes into the pack for a place: its whole symbol, else its file from the top.

    Raises:
        CmError: the file is gone.
    """
    symbols = engine.symbols(file=place.path, limit=_ALL).rows
    symbol = _by_key(symbols, place.key) if place.key else None
    if symbol is None and place.line:
        symbol = innermost(symbols, place.line)
    if symbol is not None:
        return PackRequest(symbol.path, symbol.start_line, symbol.end_line, symbol.qualname, "chosen in Symbols")
    if place.line > 1:
        first = max(1, place.line - 3)
        return PackRequest(place.path, first, place.line + 3, "", "chosen in Symbols")
    text = engine.source(place.path).text
    return PackRequest(place.path, 1, max(1, text.rstrip("\n").count("\n") + 1), "", "chosen in Symbols")


def _by_key(symbols: Iterable[Symbol], key: SymbolKey | None, near: int = 0) -> Symbol | None:
    """The symbol of a key; with a line the nearest one of that name, whatever its overload: comments above it count."""
    same = [symbol for symbol in symbols if key and symbol.qualname == key.qualname]
    if near:
        return min(same, key=lambda one: max(one.start_line - near, near - one.end_line, 0), default=None)
    exact = [symbol for symbol in same if symbol.key == key]
    return next(iter(exact or same), None)
