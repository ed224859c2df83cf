"""Items of the review queue that the narrator did not propose: requests by agents, stale memories, included entries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.errors import CmError, StoreError
from cm_tui.model import Entry, Proposal, StaleItem
from cm_tui.model.dates import age
from cm_tui.tui.modes.review.query import INCLUDED, OUTDATED, WISH
from cm_tui.tui.widgets.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_LONGEST = 400
"""Characters of a text that a row begins with."""


@dataclass(frozen=True, slots=True)
class Other:
    """An item of another source than the narrator."""

    kind: str
    id: str
    title: str
    """One line."""
    facts: str
    """Who and when, or what is wrong."""
    record: Proposal | StaleItem | Entry


def read_others(engine: Engine) -> tuple[list[Other], list[str]]:
    """Return the items of all other sources, and why one of them cannot be read."""
    found: list[Other] = []
    notes: list[str] = []
    for items in (_wishes(engine), _included(engine.root), _outdated(engine)):
        try:
            found += items
        except StoreError as error:
            # The others can be read, and are shown.
            notes.append(f"{error.message} {error.hint}".strip())
    return found, notes


def _wishes(engine: Engine) -> Iterator[Other]:
    for one in engine.proposals().rows:
        words = flat(one.words)
        title = f"{one.kind} {one.of}: {words}" if words else f"{one.kind} the {one.of} {one_line(one.target)}"
        why = f" · {flat(one.reason)}" if one.reason else ""
        yield Other(WISH, one.id, title, f"{one_line(one.agent) or 'an agent'}, {_age(one.time)}{why}", one)


def _included(root: Path) -> Iterator[Other]:
    from cm_tui.engine.api.entry_trust import undecided

    for one in undecided(root):
        yield Other(INCLUDED, one.id, flat(one.title), f"[{one.category}] {_age(one.timestamp / 1000)}", one)


def _outdated(engine: Engine) -> Iterator[Other]:
    # Without an index there is nothing to compare names with.
    with suppress(CmError):
        for one in engine.stale_items().rows:
            yield Other(OUTDATED, one.path, flat(one.title), flat(one.words), one)


def _age(moment: float) -> str:
    return age(time.time() - moment)


def flat(text: str, longest: int = _LONGEST) -> str:
    """Return a text in one line, without anything that would move the cursor."""
    return " ".join(one_line(text[:longest]).split())
