"""The life of a symbol as one line: when it was there, when it changed, when it was not."""

from __future__ import annotations

from textual.content import Content

from cm_tui.model import HistoryStatus, SymbolHistory, SymbolSpan
from cm_tui.model.dates import day
from cm_tui.tui.widgets.text import count

ALIVE, CHANGED, ABSENT, UNKNOWN, HERE = "━", "┿", "·", "╌", "▼"


def lifeline_of(life: SymbolHistory, status: HistoryStatus, width: int, here: int = 0) -> Content:
    """The line's whole length in `width` cells.

    Args:
        life: whose.
        status: how long the line is, and how much of it is known.
        width: cells.
        here: the ordinal that is shown; 0: now.
    """
    length = max(1, status.length)
    first = status.known_from.ordinal if status.known_from else length + 1
    last = status.known_to.ordinal if status.known_to else 0
    changes = {
        _cell(event.moment.ordinal, length, width) for event in life.events if event.what not in ("left", "unknown")
    }
    place = _cell(here, length, width) if here else -1
    pieces: list[tuple[str, str]] = []
    for cell in range(width):
        low = 1 + cell * length // width
        high = max(low, (cell + 1) * length // width)
        if cell == place:
            pieces.append((HERE, "bold $warning"))
        elif cell in changes:
            pieces.append((CHANGED, "$accent"))
        elif any(_covers(span, low, high, length) for span in life.spans):
            pieces.append((ALIVE, "$success"))
        elif high < first or low > last:
            pieces.append((UNKNOWN, "$muted"))
        else:
            pieces.append((ABSENT, "$muted"))
    return Content.assemble(*pieces)


def _cell(ordinal: int, length: int, width: int) -> int:
    """The first cell of an ordinal."""
    return -(-(ordinal - 1) * width // length) if width >= length else (ordinal * width - 1) // length


def _covers(span: SymbolSpan, low: int, high: int, length: int) -> bool:
    end = length if span.to_ord is None else span.to_ord - 1
    return max(1, span.from_ord) <= high and low <= end


def life_words(life: SymbolHistory) -> str:
    """`added 2019-03-04, 12 changes, still exists`."""
    came = f"added {day(life.first_seen.time)}" if life.first_seen else "older than the known history"
    changes = sum(event.what in ("changed", "signature", "moved") for event in life.events)
    words = [came, count(changes, "change")]
    if returns := sum(event.what == "returned" for event in life.events):
        words.append(f"added again {'once' if returns == 1 else f'{returns} times'}")
    words.append("still exists" if life.alive else f"removed {day(life.invalid.time)}" if life.invalid else "removed")
    return ", ".join(words)
