"""Neighbours of a choice in the graph: callers, callees, and used types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from cm_tui.engine.context.packs.pack import SymbolAt, covers
from cm_tui.engine.search.ranking.traits import roles
from cm_tui.model import Edge, PackRequest, Page, Symbol, SymbolKey

Edges = Callable[[SymbolKey], Page[Edge]]
"""Callers or callees of a symbol."""

Prepare = Callable[[Iterable[str]], None]
"""Called with the files that will be read next."""

UNCERTAIN = frozenset({"ambiguous", "unresolved"})
"""How a reference is resolved that may lead elsewhere."""
_AROUND_CALL = 4
"""Lines above and below a call outside of symbols, or in a long one."""
_AHEAD = 30
"""Callers whose files are read at once; few packs have room for more."""
_LONG = 60
"""A caller with more lines than this is shown around the call only."""

_CALLEE_WORDS = {"call": "called by", "type": "type used by", "inherit": "base of", "decorate": "decorates"}
_CALLER_WORDS = {"call": "calls", "type": "uses the type", "inherit": "derives from", "decorate": "decorated with"}


def no_preparation(_paths: Iterable[str]) -> None:
    """Do nothing: for files that cost nothing to ask about."""


def neighbours_of(
    items: Sequence[PackRequest], symbol_at: SymbolAt, callers: Edges, callees: Edges, prepare: Prepare = no_preparation
) -> Iterator[PackRequest]:
    """Yield callers, callees and used types of the chosen items; the graph is queried only as far as the caller reads.

    Nearest first: what the first item uses, then its callers, then the second item's. Code that the choice already
    covers is skipped, and so are uncertain references.
    """
    covered = list(items)
    for item in items:
        symbol = symbol_at(item.path, item.start_line)
        if symbol is None or symbol.kind == "section":
            continue
        for request in _of(symbol, symbol_at, callers, callees, prepare):
            if not any(covers(other, request) for other in covered):
                covered.append(request)
                yield request


def _of(symbol: Symbol, symbol_at: SymbolAt, callers: Edges, callees: Edges, prepare: Prepare) -> Iterator[PackRequest]:
    used = callees(symbol.key).rows
    prepare(edge.path for edge in used if edge.path)
    for edge in used:
        if edge.path and edge.start_line and edge.resolution not in UNCERTAIN:
            target = symbol_at(edge.path, edge.start_line)
            if target is not None:
                why = f"{_CALLEE_WORDS.get(edge.reference, 'used by')} {symbol.qualname}"
                yield PackRequest(edge.path, target.start_line, target.end_line, target.qualname, why)
    # Tests show usage, but are less important than the code that needs it.
    users = sorted(callers(symbol.key).rows, key=lambda edge: "tests" in roles(edge.site))
    prepare(edge.site for edge in users[:_AHEAD])
    for edge in users:
        if edge.resolution not in UNCERTAIN:
            why = f"{_CALLER_WORDS.get(edge.reference, 'uses')} {symbol.qualname}"
            yield _site(edge, symbol_at(edge.site, edge.line), why)


def _site(edge: Edge, caller: Symbol | None, why: str) -> PackRequest:
    if caller is not None and caller.end_line - caller.start_line < _LONG:
        return PackRequest(edge.site, caller.start_line, caller.end_line, caller.qualname, why)
    first = max(1, edge.line - _AROUND_CALL, caller.start_line if caller else 1)
    last = min(around := edge.line + _AROUND_CALL, caller.end_line if caller else around)
    return PackRequest(edge.site, first, last, edge.qualname, f"{why} at line {edge.line}")
