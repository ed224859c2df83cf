"""The name of a hit in a list: what is said softly, and what is bright."""

from __future__ import annotations

from rich.cells import cell_len

from cm_tui.model import Hit
from cm_tui.tui.widgets.text import elide_end, elide_middle, one_line

_BETWEEN_HEADINGS = " > "


def hit_name(hit: Hit, otherwise: str, width: int) -> tuple[str, str]:
    """Return a symbol's parent and its own name, within a width in cells.

    A heading is shown without its parents if they do not fit, because its neighbours share them.

    Args:
        hit: the hit.
        otherwise: what it is called where it has no symbol.
        width: cells.
    """
    name = one_line(hit.symbol or otherwise)
    if hit.kind == "section":
        above, between, own = name.rpartition(_BETWEEN_HEADINGS)
        return (above + between, own) if cell_len(name) <= width else ("", elide_end(own, width))
    head, dot, tail = elide_middle(name, width).rpartition(".")
    return head + dot, tail
