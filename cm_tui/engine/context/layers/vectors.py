"""Search by meaning and by words: passages of an index as items."""

from __future__ import annotations

from cm_tui.engine.context.layers.item import Item
from cm_tui.engine.context.layers.ports import MemoryPorts
from cm_tui.engine.context.packs.clean_source import clean_lines
from cm_tui.model import CODE, Hit


def search_items(
    ports: MemoryPorts, query: str, index: str, limit: int, least: float
) -> tuple[list[Item], tuple[str, ...]]:
    """Return passages that answer a question, the best first, and messages for the user.

    Args:
        ports: the engine.
        query: in words or code.
        index: `code`, `episodes`, `entries`, `notes`, or one that a pipeline writes.
        limit: how many at most.
        least: minimum score of each, from 0 to 1: for code its relevance (likelihood of being in the right place),
            where that is known.

    Raises:
        CmError: the index cannot be queried.
    """
    if not query.strip():
        return [], ("There was no query.",)
    result = ports.find(query, index, limit)
    hits = [hit for hit in result.hits if score_of(hit) >= least]
    return [_item(ports, hit) for hit in hits[:limit]], tuple(result.notes)


def score_of(hit: Hit) -> float:
    """Return how good a hit is, from 0 to 1."""
    return hit.relevance if hit.relevance is not None else hit.score


def _item(ports: MemoryPorts, hit: Hit) -> Item:
    text = clean_lines(ports.source, hit.path, hit.snippet_line, hit.snippet) if hit.source == CODE else hit.snippet
    item = {
        "text": text, "path": hit.path, "score": score_of(hit), "symbol": hit.symbol or "", "kind": hit.kind or "",
        "language": hit.language, "line": hit.snippet_line, "start_line": hit.start_line, "end_line": hit.end_line,
        "source": hit.source, "stale": hit.stale, "rank": hit.rank,
    }  # fmt: skip
    return {**item, "time": hit.time} if hit.time is not None else item
