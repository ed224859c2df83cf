"""What two applications did to one pack, as one pack: additions, removals and moves are applied, lists are not replaced."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.model import PackRequest

Items = tuple[PackRequest, ...]


def merged(before: Sequence[PackRequest], mine: Sequence[PackRequest], theirs: Sequence[PackRequest]) -> Items:
    """Return a pack with what was done here applied to what others made of it meanwhile.

    A piece that one side added is there, one that either side took out is not; where both changed the lines of a piece,
    both are kept. The order is theirs, with what was moved here moved.

    Args:
        before: the pack that both sides began with.
        mine: what was made of it here.
        theirs: what was made of it elsewhere.
    """
    had, have = set(before), set(mine)
    result = [item for item in theirs if item in have or item not in had]
    result = _moved(before, mine, result)
    for place, item in enumerate(mine):
        if item not in had and item not in result:
            result.insert(_after(mine[:place], result), item)
    return tuple(dict.fromkeys(result))


def _after(ahead: Sequence[PackRequest], result: Sequence[PackRequest]) -> int:
    """Return where a new piece goes: behind the nearest of those that stand ahead of it here."""
    for item in reversed(ahead):
        if item in result:
            return result.index(item) + 1
    return 0


def _moved(before: Sequence[PackRequest], mine: Sequence[PackRequest], result: list[PackRequest]) -> list[PackRequest]:
    """Return pieces with those that were moved here in their order of here, at the places that they have together."""
    known = set(result) & set(before) & set(mine)
    order = [item for item in mine if item in known]
    if order == [item for item in before if item in known]:
        return result
    wanted = iter(order)
    return [next(wanted) if item in known else item for item in result]
