"""Which episodes an `EpisodeFilter` leaves."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_columns import Columns, Mask
from cm_tui.engine.memory.episodes.word_index import Numbers, Words
from cm_tui.model import EpisodeFilter

_ORDINAL = re.compile(r"#(\d{1,9})")
_LISTS = (("types", "type"), ("outcomes", "outcome"), ("agents", "agent"))
_PAIRS = (("tools", "tool"), ("tags", "tag"))
_COMPARED: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("since", "time", operator.ge), ("until", "time", operator.lt), ("pinned", "pinned", operator.eq),
    ("rating", "rating", operator.eq),
)  # fmt: skip


def fitting(columns: Columns, where: EpisodeFilter) -> Mask:
    """Return which episodes fit a filter, but for its text."""
    left = columns.has("state", [where.state])
    for name, column in _LISTS:
        if wanted := getattr(where, name):
            left &= columns.has(column, wanted)
    for name, column in _PAIRS:
        if wanted := getattr(where, name):
            left &= columns.is_paired(column, columns.names[column].find(wanted))
    if path := where.file.strip().strip("/"):
        below = f"{path}/"
        paths = enumerate(columns.names["file"].texts)
        left &= columns.is_paired("file", [code for code, one in paths if one == path or one.startswith(below)])
    if where.session:
        left &= columns.has("session", [where.session])
    for name, column, compare in _COMPARED:
        if (value := getattr(where, name)) is not None:
            left &= compare(columns.plain[column], value)
    if where.by_hand is not None:
        left &= _by_hand(columns) == where.by_hand
    return left


def _by_hand(columns: Columns) -> Mask:
    """Return which episodes no agent has a part in, or belong to no session."""
    return columns.has("session", [""]) | columns.has("agent", [""])


def numbers_of(text: str, words: Words, of_ordinal: Callable[[int], Numbers]) -> Numbers | None:
    """Return the sorted numbers of the episodes with all words of a text; None: it has no words.

    `text`: what the user typed; `words`: returns which episodes have a word; `of_ordinal`: returns which saw a commit
    of the mainline.
    """
    left: NDArray[np.bool_] | None = None
    for word in dict.fromkeys(text.encode("utf-8", "replace").decode().replace("\0", " ").lower().split()):
        found = words.having(word)
        ordinal = _ORDINAL.fullmatch(word)
        if ordinal is not None:
            found = np.concatenate([found, of_ordinal(int(ordinal[1]))])
        has = np.zeros(1 + max(found.max(initial=0), 0 if left is None else len(left) - 1), bool)
        has[found] = True
        if left is not None:
            has[: len(left)] &= left
            has[len(left) :] = False
        left = has
    return None if left is None else np.flatnonzero(left).astype(np.int32)
