"""Extent of a hit in a pack: its whole symbol, the passage, or the matching lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cm_tui.engine.context.packs.pack import SymbolAt
from cm_tui.model import CODE, Hit, PackRequest, Symbol
from cm_tui.model.dates import kind_and_age

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
