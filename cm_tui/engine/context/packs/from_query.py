"""A pack for a question: the best hits extended to whole symbols, merged if adjacent, with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cm_tui.engine.context.packs.builder import Builder
from cm_tui.engine.context.packs.clean_source import ReadSource
from cm_tui.engine.context.packs.neighbours import Edges, Prepare, neighbours_of, no_preparation
from cm_tui.engine.context.packs.pack import SymbolAt, fill, piece
from cm_tui.engine.context.packs.widths import Widths
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import CODE, Hit, Pack, PackRequest, SearchResult

_LISTED = 10
"""Hits that a search would list: they come before neighbours, and further hits after those."""
_NEIGHBOURS_SHARE = 0.15
"""Of the budget, for all neighbours together."""
_WHOLE_SHARE = 0.4
"""Of the budget: what one symbol may take before less than all of it is shown."""
_LENGTH = 0.5
"""Penalty for long symbols: the rank is multiplied by the number of lines to this power."""
_HEADING_LINES = 3
"""Cost of a piece's heading, in lines."""
_REMEMBERED = 3
"""Most pieces from past sessions after the code."""
_REMEMBERED_SHARE = 0.15
_SEEDS = 3
"""Hits whose neighbours are looked at."""
_NEIGHBOURS = 8
_MOST_HITS = 60
_TOKENS_A_HIT = 80
_SMALLEST = 25
"""Least remaining tokens to use: about the cost of a heading."""
_LATE = 1000
"""Place of the first piece that comes after all hits."""


def hits_for(budget: int) -> int:
    """Return how many hits a pack looks at: a large one has room for more."""
    return max(_LISTED, min(_MOST_HITS, budget // _TOKENS_A_HIT))


def auto_pack(
    question: str,
    budget: int,
    neighbours: bool,
    *,
    search: Callable[[str], SearchResult],
    source: ReadSource,
    symbol_at: SymbolAt,
    callers: Edges,
    callees: Edges,
    prepare: Prepare = no_preparation,
) -> Pack:
    """Choose code for a question, within a budget of tokens.

    The first hits in order of rank, each as its whole symbol if that fits, else as its passage, else as the matching
    lines; then the graph neighbours of the best ones; then those that only fit after that, and further hits by rank and
    length.

    Args:
        question: in words or code.
        budget: tokens of the Markdown, including the question.
        neighbours: include callers, callees and used types.
        search: returns ranked hits for the question.
        source: reads lines.
        symbol_at: the innermost symbol at a line.
        callers: of a symbol.
        callees: of a symbol.
        prepare: called with the files that will be read next.

    Returns:
        Hits in order of rank, then neighbours; the best hits over budget are at the end with `included` false.
    """
    result = search(question)
    builder = Builder(question, budget, source, symbol_at)
    prepare(hit.path for hit in result.hits)
    hits = [Widths(hit, symbol_at) for hit in result.hits]
    said = [Widths(hit, symbol_at) for hit in _about(question, result.beside)[:_REMEMBERED]]
    # Room is reserved for past sessions, so that code does not crowd them out.
    share = 1 - _REMEMBERED_SHARE if said else 1.0
    listed, deeper = hits[:_LISTED], sorted(hits[_LISTED:], key=_price)
    late = [one for one in listed if not _add(builder, one, share)]
    late += [one for one in said if not _add(builder, one, 1.0, _LATE)]
    if neighbours:
        seeds = [one.passage for one in hits if one.hit.source == CODE][:_SEEDS]
        ask = partial(neighbours_of, symbol_at=symbol_at, callers=callers, callees=callees, prepare=prepare)
        _add_neighbours(builder, seeds, ask)
    dropped = [one for one in late if not _add(builder, one, 1.0, _LATE if one in said else 0)]
    for one in deeper:
        _add_deeper(builder, one)
    cut = [piece(one.passage, source, [], symbol_at) for one in dropped]
    if not hits and not said:
        builder.notes.append("The search found nothing for this question.")
    narrowed = [f"Only what passes {' '.join(result.filters)} was searched."] if result.filters else []
    return fill(question, builder.items, budget, [*narrowed, *result.notes, *builder.notes], cut, source=source)


def _about(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the memories with at least half of the question's words.

    Ranking only weighs words that some memory contains: for a question about code that may be a single common one.
    """
    asked = {source: set(Query(question).terms_in(wording_of(source))) for source in {hit.source for hit in hits}}
    return [hit for hit in hits if 2 * len(asked[hit.source] & _terms(hit)) >= len(asked[hit.source])]


def _terms(hit: Hit) -> set[str]:
    return {part.term for part in hit.parts if part.term}


def _price(one: Widths) -> float:
    """Order of further hits: of two adjacent ones the shorter comes first."""
    lines = one.whole.end_line - one.whole.start_line + 1 + _HEADING_LINES
    return one.hit.rank * float(lines**_LENGTH)


def _add(builder: Builder, one: Widths, share: float, place: int = 0) -> bool:
    """Add a hit in the widest form that fits, at a place in the pack, or at its rank."""
    place = place or one.hit.rank
    if builder.room(share, 1.0) <= _SMALLEST:
        return False
    if builder.add(one.whole, place, share, _WHOLE_SHARE if one.symbol is not None else 1.0):
        return True
    return any(builder.add(request, place, share) for request in one.smaller())


def _add_deeper(builder: Builder, one: Widths) -> None:
    """Add a hit beyond the listed ones: whole or as its passage, as single lines are hardly more than their heading."""
    if builder.room(1.0, 1.0) > _SMALLEST and not builder.add(one.whole, one.hit.rank, 1.0, _WHOLE_SHARE):
        builder.add(one.passage, one.hit.rank, 1.0)


def _add_neighbours(
    builder: Builder,
    seeds: Sequence[PackRequest],
    neighbours: Callable[[Sequence[PackRequest]], Iterator[PackRequest]],
) -> None:
    asked = neighbours(seeds)
    share = min(1.0, builder.spent / builder.budget + _NEIGHBOURS_SHARE) if builder.budget else 0.0
    added = 0
    # The graph is queried only as far as there is room.
    while added < _NEIGHBOURS and builder.room(share, 1.0) > _SMALLEST:
        request = next(asked, None)
        if request is None:
            break
        if not builder.covers(request):
            added += builder.add(request, _LATE + 1 + added, share)
