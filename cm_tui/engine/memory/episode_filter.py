"""What an `EpisodeFilter` means in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.word_index import Numbers, WordIndex
from cm_tui.model import EpisodeFilter

_ORDINAL = re.compile(r"#(\d{1,9})")
_LISTS = (("types", "e.type"), ("outcomes", "e.outcome"), ("agents", "e.agent"))
_TABLES = (("tools", "episode_tool", "tool"), ("tags", "episode_tag", "tag"))


class Condition(NamedTuple):
    """A condition on the rows of `episode e`."""

    sql: str
    values: dict[str, Any]


def condition(where: EpisodeFilter) -> Condition:
    """Return what a filter asks for, but for its text."""
    parts, values = ["e.state = $state"], dict[str, Any](state=where.state)
    for name, column in _LISTS:
        if wanted := getattr(where, name):
            parts.append(f"{column} IN (SELECT unnest(${name}))")
            values[name] = list(wanted)
    for name, table, column in _TABLES:
        if wanted := getattr(where, name):
            parts.append(f"e.seq IN (SELECT seq FROM {table} WHERE {column} IN (SELECT unnest(${name})))")  # noqa: S608 - our own names
            values[name] = list(wanted)
    if path := where.file.strip().strip("/"):
        parts.append("e.seq IN (SELECT seq FROM episode_file WHERE path = $path OR starts_with(path, $below))")
        values |= {"path": path, "below": f"{path}/"}
    for name, column, sign in (("session", "session", "="), ("since", "time", ">="), ("until", "time", "<")):
        if (value := getattr(where, name)) not in (None, ""):
            parts.append(f"e.{column} {sign} ${name}")
            values[name] = value
    for name in ("pinned", "rating"):
        if (value := getattr(where, name)) is not None:
            parts.append(f"e.{name} = ${name}")
            values[name] = value
    return Condition(" AND ".join(parts), values)


def numbers_of(text: str, words: WordIndex, of_ordinal: Callable[[int], Numbers]) -> Numbers | None:
    """Return the numbers of the episodes that have all words of a text, in order; None where it has none.

    Args:
        text: what a person typed.
        words: says which episodes have a word.
        of_ordinal: says which saw a commit of the mainline.
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
