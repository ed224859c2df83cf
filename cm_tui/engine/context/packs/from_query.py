"""A pack for a question: the best hits extended to whole symbols, merged if adjacent, with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from operator import itemgetter

from cm_tui.engine.context.packs.budget import weight
from cm_tui.engine.context.packs.clean_source import ReadSource
from cm_tui.engine.context.packs.neighbours import UNCERTAIN, Edges, Prepare, neighbours_of, no_preparation
from cm_tui.engine.context.packs.pack import SymbolAt, cost_of_all, covers, fill, piece
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.tokens import word_list
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import CODE, EPISODES, Hit, Pack, PackItem, PackRequest, SearchResult, Symbol
from cm_tui.model.dates import kind_and_age

# --- pieces chosen one after another within a budget, merged where they meet ---

_GAP = 3
"""Pieces of one file with fewer lines than this between them become one."""

_LEAST_A_LINE = 1.6
"""Tokens of a line break: far too long texts are not read."""


class Builder:
    """Chooses pieces within shares of the budget."""

    def __init__(self, question: str, budget: int, source: ReadSource, symbol_at: SymbolAt) -> None:
        self.budget = budget
        self.notes: list[str] = []
        self._asked = weight(question.strip())
        self._source = source
        self._symbol_at = symbol_at
        self._chosen: list[tuple[int, PackItem]] = []
        """Each piece with its place in the pack: that of the best hit in it."""

    @property
    def items(self) -> list[PackItem]:
        """Pieces in the order of their places."""
        return [item for _, item in sorted(self._chosen, key=itemgetter(0))]

    @property
    def spent(self) -> float:
        """Tokens that question and pieces cost."""
        return cost_of_all(self._asked, (item for _, item in self._chosen))

    def room(self, share: float) -> float:
        """Return what one more piece may cost, if all together have a share of the budget."""
        return self.budget * share - self.spent

    def covers(self, request: PackRequest) -> bool:
        """Return whether lines are in a piece already."""
        return any(covers(item, request) for _, item in self._chosen)

    def add(self, request: PackRequest, place: int, share: float) -> bool:
        """Add lines, merged with adjacent ones; false when they do not fit.

        Args:
            request: the lines.
            place: in the pack, unless adjacent lines are earlier.
            share: of the budget, for all pieces together.
        """
        problems: list[str] = []
        if self.covers(request):
            return True
        if (request.end_line - request.start_line) * _LEAST_A_LINE > self.budget:
            return False
        touching = [(at, item) for at, item in self._chosen if _touch(item, request)]
        grown = piece(_union([item for _, item in touching], request), self._source, problems, self._symbol_at)
        if not grown.included:
            self.notes += problems
            return False
        trial = [one for one in self._chosen if one not in touching]
        trial.append((min([place, *(at for at, _ in touching)]), grown))
        if cost_of_all(self._asked, (item for _, item in trial)) > int(self.budget * share):
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


def _lines(request: PackRequest) -> int:
    return request.end_line - request.start_line + 1


def _sizes(lines: int) -> list[int]:
    """Return the numbers of lines with which so many can be shown, the whole last."""
    return [lines // 2 + 1, lines * 3 // 4, lines] if lines > _DIVIDED else [lines]


# --- extent of a hit in a pack ---

_AT_LEAST = 12
"""Lines of the beginning of a class that is not shown whole."""
_SECTION = 150
"""Lines after a hit in which the end of its section is looked for."""
_LISTED = 10
"""Hits that a search would list. Single lines of further ones are hardly more than their heading."""
_DIVIDED = 24
"""A symbol with more lines may be shown in part: half or three quarters around the hit."""
_ABOVE = 0.3
"""What a line of the comment above a symbol is worth beside one of its code."""


@dataclass(frozen=True)
class Widths:
    """The lines that a hit can be shown with."""

    hit: Hit
    symbol_at: SymbolAt
    is_called: bool = False
    """By one of the best hits."""
    must_work: bool = False
    """Whether the question is where something is done, which short symbols seldom do."""

    @cached_property
    def symbol(self) -> Symbol | None:
        """Return the symbol that the hit is, or is a piece of; of a nameless one the innermost that holds all of it."""
        hit = self.hit
        if hit.source != CODE:
            return None
        # A comment or decorator above a symbol is part of the hit, but of the enclosing symbol's lines.
        for line in (hit.start_line, hit.end_line, hit.snippet_line):
            found = self.symbol_at(hit.path, line)
            if found is not None and (found.qualname == hit.symbol or not hit.symbol):
                return found if hit.symbol or found.end_line >= hit.end_line else None
        return None

    @cached_property
    def whole(self) -> PackRequest:
        """Return the hit with its symbol; for a section the text before its first subsection; else the passage."""
        hit, symbol = self.hit, self.symbol
        if symbol is None:
            return self.passage
        first, last = min(hit.start_line, symbol.start_line), max(hit.end_line, self._last_line(symbol))
        return self._request(first, last, symbol.qualname)

    @property
    def passage(self) -> PackRequest:
        """Return the hit as it was found."""
        return self._request(self.hit.start_line, self.hit.end_line, self._title)

    @cached_property
    def extents(self) -> list[PackRequest]:
        """Return all extents, each once: passage, matching lines, beginning of the symbol, parts of it, all of it."""
        hit, whole = self.hit, self.whole
        found = [(hit.start_line, hit.end_line)]
        if hit.rank <= _LISTED:
            found.append((hit.snippet_line, hit.snippet_line + hit.snippet.rstrip("\n").count("\n")))
        if self.symbol is not None:
            # The passage of a large class is only its head, maybe one line: the following lines show its purpose.
            if hit.start_line == whole.start_line:
                found.append((hit.start_line, max(hit.end_line, hit.start_line + _AT_LEAST - 1)))
            found += [self._part(size) for size in _sizes(_lines(whole))[:-1]]
            # A symbol without the comment above it costs a fraction.
            if whole.start_line < (first := self.symbol.start_line):
                found += [(first, first + size - 1) for size in _sizes(whole.end_line - first + 1)]
        parts = (self._request(*one, self._title) for one in dict.fromkeys(found))
        return [*(one for one in parts if _lines(one) < _lines(whole)), whole]

    def worth(self, extent: PackRequest) -> float:
        """Return the lines of an extent; those above the symbol, its comment, count less than its code."""
        first = self.symbol.start_line if self.symbol is not None else 0
        above = max(0, min(extent.end_line + 1, first) - extent.start_line)
        return _lines(extent) - above * (1 - _ABOVE)

    def _part(self, size: int) -> tuple[int, int]:
        """Return so many lines of the symbol that hold the hit: its first ones, or else from the hit on."""
        first, last = self.whole.start_line, self.whole.end_line
        size = max(size, _lines(self.passage))
        start = first if self.hit.end_line < first + size else max(first, min(self.hit.start_line, last - size + 1))
        return start, start + size - 1

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

_NEIGHBOURS_SHARE = 0.15
"""Of the budget, for all neighbours together."""
_FALL = 1.75
"""The chance that a hit answers is its rank to the power of minus this."""
_CALLED = 4
"""How many times as likely a hit is that one of the best hits calls."""
_SEEN = 0.15
"""Value of any lines of an answer; the rest grows with their share, the first half of the lines three times as fast."""
_HEADING = 25
"""Least remaining tokens to use: about the cost of a heading."""
_REMEMBERED = 3
"""Most pieces from past sessions after the code."""
_REMEMBERED_SHARE = 0.15
_REMEMBERED_FIRST = 0.4
"""Of the budget: for past sessions where the question is about what was decided."""
_ABOUT, _ABOUT_WORDS, _ABOUT_ALONE = 0.8, 0.3, 0.5
"""Least share of the question's words and cosine together of a memory in a pack; least share; least share without vectors."""
_LEAST = 1e-4
"""Least expected value per token of what comes before neighbours: about that of twenty lines of the eighth hit."""
_SEEDS = 3
"""Hits whose neighbours are looked at."""
_NEIGHBOURS = 8
_MOST_HITS = 60
_TOKENS_A_HIT = 80
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

    Extents of hits by expected value per token, interrupted by the graph neighbours of the best ones where it gets low.

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
    must_work = Query(question).documents < 0
    hits = [Widths(hit, symbol_at, must_work=must_work) for hit in _without_copies(result.hits)]
    if neighbours:
        called = _called(hits[:_SEEDS], callees)
        hits = [replace(one, is_called=one.symbol is not None and _place(one.symbol) in called) for one in hits]
    said = [Widths(hit, symbol_at) for hit in _about(question, result.beside)[:_REMEMBERED]]
    # Room is reserved for past sessions, so that code does not crowd them out.
    share = 1 - _REMEMBERED_SHARE if said else 1.0
    groups = [(hits, share, 0), (said, 1.0, _LATE)]
    if result.beside_first:
        groups = [(said, _REMEMBERED_FIRST, _EARLY), (hits, 1.0, 0)]
    for group, most, place in groups:
        _choose(builder, group, most, place, _LEAST)
    if neighbours:
        seeds = [one.passage for one in hits if one.hit.source == CODE][:_SEEDS]
        _add_neighbours(builder, neighbours_of(seeds, symbol_at, callers, callees, prepare))
    for group, _, place in groups:
        _choose(builder, group, 1.0, place)
    dropped = [one for one in (*hits[:_LISTED], *said) if not any(map(builder.covers, one.extents))]
    cut = [piece(one.passage, source, [], symbol_at) for one in dropped]
    empty = [] if hits or said else ["No results for this question."]
    narrowed = [f"Only passages matching {' '.join(result.filters)} were searched."] if result.filters else []
    return fill(question, builder.items, budget, [*narrowed, *result.notes, *builder.notes, *empty], cut, source=source)


def _without_copies(hits: Iterable[Hit]) -> Iterable[Hit]:
    """Return the best hit of each text: versions of documents and vendored code have the same passages in several files."""
    best: dict[tuple[str | None, str, int], Hit] = {}
    for hit in hits:
        best.setdefault((hit.symbol, hit.snippet, hit.end_line - hit.start_line), hit)
    return best.values()


def _called(best: Iterable[Widths], callees: Edges) -> set[tuple[str, int]]:
    """Return where what the best hits call begins: the answer is often what they only pass on to."""
    found: set[tuple[str, int]] = set()
    for symbol in (one.symbol for one in best):
        if symbol is not None and symbol.kind != "section":
            edges = (edge for edge in callees(symbol.key).rows if edge.reference == "call")
            places = {(edge.path, edge.start_line) for edge in edges if edge.resolution not in UNCERTAIN}
            found |= places - {_place(symbol)}
    return found


def _place(symbol: Symbol) -> tuple[str, int]:
    return symbol.path, symbol.start_line


def _about(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the memories that are about a question: by the words of it that they have, and by meaning.

    Ranking only weighs words that some memory contains: for a question about code that may be a single common one. Here
    a word counts as much as its best BM25, one that no memory has as much as the rarest.
    """
    best: dict[str, float] = {}
    for part in (part for hit in hits for part in hit.parts if part.term):
        best[part.term] = max(best.get(part.term, 0.0), part.value)
    rarest = max(best.values(), default=0.0)
    has_vectors = any(part.name == "vector" for hit in hits for part in hit.parts)
    found = []
    for hit in hits:
        terms = {*Query(question).terms_in(wording_of(hit.source))} - _function_words()
        worth = {term: best.get(term, rarest) for term in terms}
        share = sum(worth.get(part.term, 0.0) for part in hit.parts) / (sum(worth.values()) or 1.0)
        cosine = sum(part.value for part in hit.parts if part.name == "vector")
        if share >= (_ABOUT_WORDS if has_vectors else _ABOUT_ALONE) and (share + cosine >= _ABOUT or not has_vectors):
            found.append(hit)
    return found


@cache
def _function_words() -> frozenset[str]:
    """Index terms of words without meaning, in the languages of prompts."""
    words = word_list("small") | word_list("particles") | word_list("asking")
    return frozenset(term for source in (EPISODES, CODE) for word in words for term in wording_of(source).split(word))


class _Offer:
    """A hit, the extents that may fit, and what the pack has of it."""

    def __init__(self, number: int, widths: Widths, builder: Builder) -> None:
        self._worth = widths.worth
        self._open = widths.extents
        self._all = widths.worth(widths.whole)
        self._chance = number**-_FALL * (_CALLED if widths.is_called else 1)
        if widths.must_work:
            self._chance *= min(1.0, self._all / _DIVIDED)
        snippet = widths.hit.snippet.rstrip("\n")
        self._a_line = (weight(snippet) + _LEAST_A_LINE) / (1 + snippet.count("\n"))
        self.rank = widths.hit.rank
        self._shown = max(filter(builder.covers, self._open), key=_lines, default=None)
        self._look()

    def _look(self) -> None:
        """Find the extent with the most expected value for each token that it adds."""
        self.best: PackRequest | None = None
        self.density = 0.0
        shown, had = (_lines(self._shown), self._value(self._shown)) if self._shown else (0, 0.0)
        for one in self._open:
            if (more := _lines(one) - shown) > 0:
                cost = more * self._a_line + (0 if shown else _HEADING)
                if (density := self._chance * (self._value(one) - had) / cost) > self.density:
                    self.best, self.density = one, density

    def settle(self, fits: bool) -> None:
        """Note that the best extent was added, or that it and larger ones do not fit."""
        if fits:
            self._shown = self.best
        elif self.best:
            self._open = [one for one in self._open if _lines(one) < _lines(self.best)]
        self._look()

    def _value(self, extent: PackRequest) -> float:
        share = self._worth(extent) / self._all
        return _SEEN + (1 - _SEEN) * (min(1.0, 2 * share) + share) / 2


def _choose(builder: Builder, hits: Sequence[Widths], share: float, place: int = 0, least: float = 0.0) -> None:
    """Add extents of hits while any fits, next the one with the most expected value per token.

    Args:
        builder: of the pack.
        hits: the candidates.
        share: of the budget, for all pieces together.
        place: in the pack; 0: each at its rank.
        least: expected value per token; what is worth less waits.
    """
    offers = [_Offer(number, one, builder) for number, one in enumerate(hits, 1)]
    while builder.room(share) > _HEADING:
        best = max(offers, key=lambda offer: offer.density, default=None)
        if best is None or best.best is None or best.density < least:
            return
        best.settle(builder.add(best.best, place or best.rank, share))


def _add_neighbours(builder: Builder, asked: Iterator[PackRequest]) -> None:
    share = min(1.0, builder.spent / builder.budget + _NEIGHBOURS_SHARE) if builder.budget else 0.0
    added = 0
    # The graph is queried only as far as there is room.
    while added < _NEIGHBOURS and builder.room(share) > _HEADING and (request := next(asked, None)):
        if not builder.covers(request):
            added += builder.add(request, _LATE + 1 + added, share)
