"""A pack for a question: the best hits grown to whole symbols, merged where they meet, with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cm_tui.engine.context.clean_source import ReadSource
from cm_tui.engine.context.neighbours import Edges, Prepare, neighbours_of, no_preparation
from cm_tui.engine.context.pack import SymbolAt, fill, fits, piece
from cm_tui.model import CODE, Hit, Pack, PackItem, PackRequest, SearchResult
from cm_tui.model.dates import kind_and_age

_HITS_SHARE = 0.7
"""Of the budget, while neighbours are wanted too."""
_WHOLE_SHARE = 0.4
"""Of the budget: what one symbol may take before only the lines that match are shown."""
_AT_LEAST = 12
"""Lines of a hit that is not shown whole, where there are so many and they fit."""
_REMEMBERED = 3
"""Of what was said in past sessions, so many follow the code."""
_REMEMBERED_SHARE = 0.15
_SEEDS = 3
"""Hits whose neighbours are looked at."""
_NEIGHBOURS = 8
_GAP = 3
"""Pieces of one file with fewer lines than this between them become one."""


@dataclass(frozen=True)
class _Span:
    """A hit's lines in one of the widths that it can be shown in."""

    request: PackRequest
    whole: bool


class _Builder:
    """Chooses pieces within a share of the budget."""

    def __init__(self, question: str, budget: int, source: ReadSource, symbol_at: SymbolAt) -> None:
        self.question = question
        self.budget = budget
        self.source = source
        self.symbol_at = symbol_at
        self.chosen: list[PackItem] = []
        self.notes: list[str] = []

    def add(self, request: PackRequest, share: float, most: float = 1.0) -> bool:
        """Add lines, merged with what they touch; false when they do not fit."""
        problems: list[str] = []
        touching = [item for item in self.chosen if _touch(item, request)]
        if any(_covers(item, request) for item in touching):
            return True
        grown = piece(_union(touching, request), self.source, problems, self.symbol_at)
        if not grown.included:
            self.notes += problems
            return False
        if grown.tokens > self.budget * most:
            return False
        trial = _merged(self.chosen, touching, grown)
        if not fits(self.question, trial, int(self.budget * share)):
            return False
        self.notes += problems
        self.chosen = trial
        return True


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
    """Choose what answers a question, within a budget of tokens.

    Hits in order of rank, each as its whole symbol where that fits, else as its passage, else as the lines that
    match; then the graph neighbours of the best hits; then hits that only fit after that.

    Args:
        question: in words or code.
        budget: tokens that the Markdown may cost, the question included.
        neighbours: whether callers, callees and used types join.
        search: answers the question with ranked hits.
        source: reads lines.
        symbol_at: the innermost symbol at a line.
        callers: who uses a symbol.
        callees: what a symbol uses.
        prepare: told of the files that will be asked about next.

    Returns:
        Hits in order of rank, then neighbours; what fell to the budget is at the end with `included` false.
    """
    result = search(question)
    builder = _Builder(question, budget, source, symbol_at)
    share = _HITS_SHARE if neighbours else 1.0
    hits = (*result.hits, *result.beside[:_REMEMBERED])
    prepare(hit.path for hit in result.hits)
    # Room is kept for what was said, so that code does not crowd it out.
    kept = _REMEMBERED_SHARE if result.beside else 0.0
    late = [hit for hit in hits if not _add_hit(builder, hit, symbol_at, share - kept if hit.source == CODE else share)]
    if neighbours:
        _add_neighbours(
            builder,
            hits,
            partial(neighbours_of, symbol_at=symbol_at, callers=callers, callees=callees, prepare=prepare),
        )
    dropped = [hit for hit in late if not _add_hit(builder, hit, symbol_at, 1.0)]
    cut = [piece(_request(hit), source, [], symbol_at) for hit in dropped]
    if not hits:
        builder.notes.append("The search found nothing for this question.")
    narrowed = [f"Only what passes {' '.join(result.filters)} was searched."] if result.filters else []
    return fill(question, builder.chosen, budget, [*narrowed, *result.notes, *builder.notes], cut, source=source)


def _add_hit(builder: _Builder, hit: Hit, symbol_at: SymbolAt, share: float) -> bool:
    return any(
        builder.add(span.request, share, _WHOLE_SHARE if span.whole else 1.0) for span in _widths(hit, symbol_at)
    )


def _widths(hit: Hit, symbol_at: SymbolAt) -> Iterator[_Span]:
    symbol = symbol_at(hit.path, hit.start_line) if hit.source == CODE else None
    why = _why(hit)
    if symbol is not None and symbol.start_line <= hit.start_line and symbol.end_line >= hit.end_line:
        yield _Span(PackRequest(hit.path, symbol.start_line, symbol.end_line, symbol.qualname, why), whole=True)
        # The passage of a large class is its head alone, maybe one line: what follows says what it is about.
        end = min(symbol.end_line, hit.start_line + _AT_LEAST - 1)
        if hit.start_line == symbol.start_line and end > hit.end_line:
            yield _Span(PackRequest(hit.path, hit.start_line, end, symbol.qualname, why), whole=False)
    yield _Span(_request(hit), whole=False)
    last = hit.snippet_line + hit.snippet.rstrip("\n").count("\n")
    for end in dict.fromkeys((min(hit.end_line, max(last, hit.snippet_line + _AT_LEAST - 1)), last)):
        yield _Span(PackRequest(hit.path, hit.snippet_line, end, _title(hit), why), whole=False)


def _request(hit: Hit) -> PackRequest:
    return PackRequest(hit.path, hit.start_line, hit.end_line, _title(hit), _why(hit))


def _title(hit: Hit) -> str:
    """What a hit is: its symbol; of what was said the kind and how old it is."""
    if hit.source == CODE:
        return hit.symbol or ""
    return kind_and_age(hit.source, hit.time)


def _why(hit: Hit) -> str:
    return f"{'' if hit.source == CODE else 'remembered: '}hit {hit.rank}, score {hit.score:.3f}"


def _add_neighbours(
    builder: _Builder, hits: Sequence[Hit], neighbours: Callable[[Sequence[PackRequest]], Iterable[PackRequest]]
) -> None:
    # Nothing but code has callers.
    seeds = [_request(hit) for hit in hits if hit.source == CODE][:_SEEDS]
    added = 0
    for request in neighbours(seeds):
        if added == _NEIGHBOURS:
            break
        before = builder.chosen
        builder.add(request, 1.0, _WHOLE_SHARE)
        added += builder.chosen is not before


def _touch(item: PackItem, request: PackRequest) -> bool:
    return (
        item.path == request.path
        and request.start_line <= item.end_line + _GAP
        and item.start_line <= request.end_line + _GAP
    )


def _covers(item: PackItem, request: PackRequest) -> bool:
    return item.start_line <= request.start_line and request.end_line <= item.end_line


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


def _joined(between: str, texts: list[str]) -> str:
    """Each part once, in order; a text may have been joined before."""
    parts = dict.fromkeys(part for text in texts for part in text.split(between) if part)
    return between.join(parts)


def _merged(chosen: list[PackItem], touching: list[PackItem], grown: PackItem) -> list[PackItem]:
    """The grown piece takes the place of the best-ranked one that it swallows."""
    if not touching:
        return [*chosen, grown]
    return [grown if item is touching[0] else item for item in chosen if item is touching[0] or item not in touching]
