"""How much happened on each day, as a line of small columns."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

_COLUMNS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int], *, style: str = "$primary", last: str = "$accent") -> Content:
    """Return one column for each value, as high as its share of the largest one.

    Args:
        values: what is counted; 0 is a line on the ground.
        style: of the columns.
        last: of the last one, which stands for today.
    """
    top = max(values, default=0)
    pieces = []
    for place, value in enumerate(values):
        shown = last if place == len(values) - 1 else style
        pieces.append((_column(value, top), shown if value > 0 else "$faint"))
    return Content.assemble(*pieces)


def _column(value: int, top: int) -> str:
    """Return a column: anything that happened is higher than nothing."""
    if value <= 0 or top <= 0:
        return _COLUMNS[0]
    return _COLUMNS[max(1, min(len(_COLUMNS) - 1, round(value / top * (len(_COLUMNS) - 1))))]
