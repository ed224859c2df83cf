"""Titles of sessions: as the user or an agent named them, else the first prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_columns import Columns
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables


def session_titles(columns: Columns, tables: EpisodeTables, sessions: Sequence[int], state: str) -> Mapping[str, str]:
    """Return titles of sessions by id.

    The user's title comes first. A title does not depend on the filter, and never comes from forgotten episodes unless
    those are requested. `columns`: of all episodes; `tables`: with the prompts; `sessions`: their numbers.
    """
    counts = columns.coded["state"] >= 0
    if state != "forgotten":
        counts &= ~columns.has("state", ["forgotten"])
    numbers = np.flatnonzero(counts & np.isin(columns.coded["session"], list(sessions)))
    titled = numbers[columns.coded["title"][numbers] != _untitled(columns)]
    of_person = columns.has("actor", ["person"])[titled]
    last = _last_of_each(columns, titled[np.lexsort((titled, columns.plain["time"][titled], of_person))])
    titles = columns.names["title"].texts
    found = {session: titles[columns.coded["title"][number]] for session, number in last.items()}
    first = _last_of_each(columns, numbers[np.lexsort((numbers, columns.plain["time"][numbers]))][::-1])
    asked = _prompts(tables, [number for session, number in first.items() if session not in found])
    names = columns.names["session"].texts
    return {names[code]: found.get(code) or asked.get(number, "") for code, number in first.items()}


def _untitled(columns: Columns) -> int:
    return next(iter(columns.names["title"].find([""])), -1)


def _last_of_each(columns: Columns, numbers: NDArray[np.int64]) -> dict[int, int]:
    """Return the last episode of each session, in the order given."""
    return dict(zip(columns.coded["session"][numbers].tolist(), numbers.tolist(), strict=True))


def _prompts(tables: EpisodeTables, numbers: Sequence[int]) -> Mapping[int, str]:
    if not numbers:
        return {}
    chosen = ", ".join(map(str, numbers))
    return dict(tables.rows(f"SELECT seq, prompt FROM episode WHERE seq IN ({chosen})"))  # noqa: S608 - numbers
