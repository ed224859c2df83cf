"""Totals of the episodes of each session, from columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_columns import Columns, Mask
from cm_tui.model import Session

_FAILED = ("failed", "interrupted")


class SessionTotals:
    """The sessions of the episodes that fit; they are named by the number of their id.

    `columns`: of all episodes; `fitting`: which of them fit.
    """

    def __init__(self, columns: Columns, fitting: Mask) -> None:
        self._columns = columns
        self._fitting = fitting

    def order(self) -> list[int]:
        """Return all of them, the last one to end first, of equal times by id."""
        codes = self._columns.coded["session"][self._fitting]
        names = self._columns.names["session"].texts
        ended = np.full(len(names), -np.inf)
        np.maximum.at(ended, codes, self._columns.plain["time"][self._fitting])
        found = np.flatnonzero(np.bincount(codes, minlength=len(ended)))
        found = found[np.argsort(-ended[found], kind="stable")]
        order = [int(code) for code in found]
        same = np.flatnonzero(np.diff(ended[found]) == 0)
        if len(same):
            order.sort(key=lambda code: (-ended[code], names[code]))
        return order

    def sessions(self, wanted: Sequence[int], titles: Mapping[str, str]) -> Iterator[Session]:
        """Yield the totals of some of them, in order."""
        rows = dict(self._rows(wanted))
        files = self._files(wanted)
        failed = self._columns.has("outcome", _FAILED)
        for code in wanted:
            yield self._session(rows[code], files.get(code, 0), failed, titles)

    def _session(self, rows: NDArray[np.int32], files: int, failed: Mask, titles: Mapping[str, str]) -> Session:
        times, last = self._columns.plain["time"][rows], int(rows[-1])
        id_ = self._columns.text("session", last)
        return Session(
            id=id_, agent=self._columns.text("agent", last), title=titles.get(id_, ""),
            parent=max(self._texts("parent", rows)), began=float(times[0]), ended=float(times[-1]), episodes=len(rows),
            tokens=total_of(self._columns.plain["tokens"][rows]), files=files,
            failed=int(np.count_nonzero(failed[rows])), pinned=int(np.count_nonzero(self._columns.plain["pinned"][rows])),
            root=self._columns.text("root", last),
        )  # fmt: skip

    def _rows(self, wanted: Sequence[int]) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Yield the episodes of some sessions, in the order of their times."""
        numbers = np.flatnonzero(self._of(wanted)).astype(np.int32)
        codes = self._columns.coded["session"][numbers]
        order = np.lexsort((numbers, self._columns.plain["time"][numbers], codes))
        numbers, codes = numbers[order], codes[order]
        edges = np.flatnonzero(np.diff(codes)) + 1
        for part in np.split(numbers, edges) if len(numbers) else ():
            yield int(self._columns.coded["session"][part[0]]), part

    def _files(self, wanted: Sequence[int]) -> dict[int, int]:
        """Return how many different files each of some sessions touched."""
        pairs = self._columns.pairs["file"]
        chosen = self._of(wanted)[pairs.episodes]
        # A session and a file as one number.
        width = len(self._columns.names["file"].texts)
        both = self._columns.coded["session"][pairs.episodes[chosen]].astype(np.int64) * width + pairs.codes[chosen]
        found, counted = np.unique(np.unique(both) // max(1, width), return_counts=True)
        return dict(zip(found.tolist(), counted.tolist(), strict=True))

    def _of(self, wanted: Sequence[int]) -> Mask:
        return self._fitting & np.isin(self._columns.coded["session"], list(wanted))

    def _texts(self, name: str, rows: NDArray[np.int32]) -> list[str]:
        texts = self._columns.names[name].texts
        return [texts[code] for code in self._columns.coded[name][rows]]


def total_of(values: NDArray[Any]) -> int:
    """Return a sum of integers of any size, as transcripts may contain anything."""
    high, low = values >> 32, values & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())
