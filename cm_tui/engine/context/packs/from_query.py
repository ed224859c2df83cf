"""A pack for a question: the best hits extended to whole symbols, merged if adjacent, with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from cm_tui.engine.context.packs.budget import weight
from cm_tui.engine.context.packs.clean_source import ReadSource
from cm_tui.engine.context.packs.neighbours import Edges, Prepare, neighbours_of, no_preparation
from cm_tui.engine.context.packs.pack import SymbolAt, cost_of_all, fill, piece
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import CODE, Hit, Pack, PackItem, PackRequest, SearchResult, Symbol
from cm_tui.model.dates import kind_and_age

# --- pieces chosen one after another within a budget, merged where they meet ---

_GAP = 3
"""Pieces of one file with fewer lines than this between them become one."""

_LEAST_A_LINE = 1.6
"""Tokens of a line break: far too long texts are not read."""


class _Chosen(NamedTuple):
    """A piece, and its place in the pack: that of the best hit in it."""

    place: int
    item: PackItem


class Builder:
    """Chooses pieces within shares of the budget."""

    def __init__(self, question: str, budget: int, source: ReadSource, symbol_at: SymbolAt) -> None:
        self.budget = budget
        self.notes: list[str] = []
        self._asked = weight(question.strip())
        self._source = source
        self._symbol_at = symbol_at
        self._chosen: list[_Chosen] = []

    @property
    def items(self) -> list[PackItem]:
        """Pieces in the order of their places."""
        return [chosen.item for chosen in sorted(self._chosen, key=lambda chosen: chosen.place)]

    @property
    def spent(self) -> float:
        """Tokens that question and pieces cost."""
        return cost_of_all(self._asked, (chosen.item for chosen in self._chosen))

    def room(self, share: float, most: float) -> float:
        """Return what one more piece may cost.

        Args:
            share: of the budget, for all pieces together.
            most: of the budget, for this one.
        """
        return min(self.budget * most, self.budget * share - self.spent)

    def covers(self, request: PackRequest) -> bool:
        """Return whether lines are in a piece already."""
        return any(_covers(chosen.item, request) for chosen in self._chosen)

    def add(self, request: PackRequest, place: int, share: float, most: float = 1.0) -> bool:
        """Add lines, merged with adjacent ones; false when they do not fit.

        Args:
            request: the lines.
            place: in the pack, unless adjacent lines are earlier.
            share: of the budget, for all pieces together.
            most: of the budget, for these lines.
        """
        problems: list[str] = []
        if self.covers(request):
            return True
        if (request.end_line - request.start_line) * _LEAST_A_LINE > self.budget:
            return False
        touching = [chosen for chosen in self._chosen if _touch(chosen.item, request)]
        grown = piece(_union([one.item for one in touching], request), self._source, problems, self._symbol_at)
        if not grown.included:
            self.notes += problems
            return False
        if grown.tokens - sum(one.item.tokens for one in touching) > self.budget * most:
            return False
        trial = [one for one in self._chosen if one not in touching]
        trial.append(_Chosen(min([place, *(one.place for one in touching)]), grown))
        if cost_of_all(self._asked, (one.item for one in trial)) > int(self.budget * share):
            return False
        self.notes += problems
        self._chosen = trial
        return True


def _touch(item: PackItem, request: PackRequest) -> bool:
    return (
        item.path == request.path
        and request.start_line <= item.end_line + _GAP
        and item.start_line <= request.end_line + _GAP
    )


def _covers(item: PackItem, request: PackRequest) -> bool:
    return item.path == request.path and item.start_line <= request.start_line and request.end_line <= item.end_line


def _union(touching: list[PackItem], request: PackRequest) -> PackRequest:
    if not touching:
        return request
    return replace(
        request,
        start_line=min(request.start_line, *(item.start_line for item in touching)),
        end_line=max(request.end_line, *(item.end_line for item in touching)),
        title=_joined(", ", [*(item.title for item in touching), request.title]),
        why=_joined("; ", [*(item.why for item in touching), request.why]),
    )


def _joined(between: str, texts: Iterable[str]) -> str:
    """Each part once, in order; a text may have been joined before."""
    parts = dict.fromkeys(part for text in texts for part in text.split(between) if part)
    return between.join(parts)


# --- extent of a hit in a pack ---

_AT_LEAST = 12
"""Lines of a hit that is not shown whole, where there are so many and they fit."""
_SECTION = 150
"""Lines after a hit in which the end of its section is looked for."""


@dataclass(frozen=True)
class Widths:
    """The lines that a hit can be shown with."""

    hit: Hit
    symbol_at: SymbolAt

    @cached_property
    def symbol(self) -> Symbol | None:
        """Return the innermost symbol that holds the whole hit."""
        found = self.symbol_at(self.hit.path, self.hit.start_line) if self.hit.source == CODE else None
        return found if found is not None and found.end_line >= self.hit.end_line else None

    @cached_property
    def whole(self) -> PackRequest:
        """Return the hit's symbol; for a section the text before its first subsection; else the passage."""
        symbol = self.symbol
        if symbol is None:
            return self.passage
        return self._request(symbol.start_line, self._last_line(symbol), symbol.qualname)

    @property
    def passage(self) -> PackRequest:
        """Return the hit as it was found."""
        return self._request(self.hit.start_line, self.hit.end_line, self._title)

    def smaller(self) -> Iterator[PackRequest]:
        """Yield the partial extents, the widest first."""
        hit, symbol = self.hit, self.symbol
        if symbol is not None:
            # The passage of a large class is only its head, maybe one line: the following lines show its purpose.
            end = min(symbol.end_line, hit.start_line + _AT_LEAST - 1)
            if hit.start_line == symbol.start_line and end > hit.end_line:
                yield self._request(hit.start_line, end, symbol.qualname)
        yield self.passage
        last = hit.snippet_line + hit.snippet.rstrip("\n").count("\n")
        for end in dict.fromkeys((min(hit.end_line, max(last, hit.snippet_line + _AT_LEAST - 1)), last)):
            yield self._request(hit.snippet_line, end, self._title)

    @property
    def _title(self) -> str:
        """Description of a hit: its symbol; for a memory the kind and age."""
        return (self.hit.symbol or "") if self.hit.source == CODE else kind_and_age(self.hit.source, self.hit.time)

    def _request(self, start: int, end: int, title: str) -> PackRequest:
        remembered = "" if self.hit.source == CODE else "remembered: "
        return PackRequest(
            self.hit.path, start, end, title, f"{remembered}hit {self.hit.rank}, score {self.hit.score:.3f}"
        )

    def _last_line(self, symbol: Symbol) -> int:
        if symbol.kind != "section":
            return symbol.end_line
        below = range(self.hit.end_line + 1, min(symbol.end_line, self.hit.end_line + _SECTION) + 1)
        return next((line - 1 for line in below if self.symbol_at(symbol.path, line) != symbol), symbol.end_line)


# --- a pack for a question ---

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
_REMEMBERED_FIRST = 0.4
"""Of the budget: for past sessions where the question is about what was decided."""
_SEEDS = 3
"""Hits whose neighbours are looked at."""
_NEIGHBOURS = 8
_MOST_HITS = 60
_TOKENS_A_HIT = 80
_SMALLEST = 25
"""Least remaining tokens to use: about the cost of a heading."""
_EARLY, _LATE = -1, 1000
"""Places of pieces that come before, or after, all hits."""


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
    groups = [(listed, share, 0), (said, 1.0, _LATE)]
    if result.beside_first:
        groups = [(said, _REMEMBERED_FIRST, _EARLY), (listed, 1.0, 0)]
    late = [(one, at) for group, most, at in groups for one in group if not _add(builder, one, most, at)]
    if neighbours:
        seeds = [one.passage for one in hits if one.hit.source == CODE][:_SEEDS]
        ask = partial(neighbours_of, symbol_at=symbol_at, callers=callers, callees=callees, prepare=prepare)
        _add_neighbours(builder, seeds, ask)
    dropped = [one for one, at in late if not _add(builder, one, 1.0, at)]
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
