"""What a pack is measured beside: ranked passages as they come, until a budget is used up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.packs import pack
from cm_tui.engine.context.packs.budget import weight
from cm_tui.model import Hit, PackItem

BUDGETS = (500, 1000, 2000, 4000)


class Shown(NamedTuple):
    """Lines of a file, 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int


def plain_list(
    question: str, hits: Iterable[Hit], budget: int, text_of: Callable[[Hit], str]
) -> tuple[list[Shown], float]:
    """Take ranked passages as they come, each below a heading as in a pack; the first that does not fit is cut by lines.

    Args:
        question: stands first.
        hits: best first.
        budget: tokens.
        text_of: the lines of a passage.

    Returns:
        the lines, and the tokens that they cost.
    """
    spent = weight(question)
    shown = []
    for hit in hits:
        costs = partial(_cost, hit, text_of(hit).split("\n"))
        whole = hit.end_line - hit.start_line + 1
        kept = bisect_right(range(1, whole + 1), budget - spent, key=costs)
        if kept:
            shown.append(Shown(hit.path, hit.start_line, hit.start_line + kept - 1))
            spent += costs(kept)
        if kept < whole:
            break
    return shown, spent


def _cost(hit: Hit, lines: Sequence[str], kept: int) -> float:
    """What the first lines of a passage cost as a piece."""
    text = "\n".join(lines[:kept])
    item = PackItem(hit.path, hit.start_line, hit.start_line + kept - 1, hit.symbol or "", text, 0, "", hit.language)
    return weight(pack.BETWEEN) + weight(pack.section(item))


def text_of(engine: Engine, hit: Hit) -> str:
    """Return the lines of a passage."""
    return engine.source(hit.path, hit.start_line, hit.end_line).text
