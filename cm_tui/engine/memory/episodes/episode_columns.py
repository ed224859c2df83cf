"""Columns in memory for filtering, sorting and counting: read from the tables once, then updated with each write.

A query over all episodes is a few passes over arrays here; the store returns only the rows of one page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.model import EpisodeFilter

Mask = NDArray[np.bool_]
_PLAIN: Mapping[str, Any] = {"time": np.float64, "tokens": np.int64, "pinned": np.bool_, "rating": np.int32}
_CODED = ("state", "type", "actor", "agent", "outcome", "session", "title", "parent", "root", "tags")
_PAIRS = {"file": ("episode_file", "path"), "tool": ("episode_tool", "tool"), "tag": ("episode_tag", "tag")}
_MANY = 4_096
"""When more episodes changed, all are read again: that takes about as long."""
_REMEMBERED = 8
"""Cached filters per state: a screen requests rows, sessions and totals of the same one."""


class Names:
    """Numbers of texts, from 0; a text's number never changes."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self._numbers = {text: number for number, text in enumerate(self.texts)}

    def number(self, text: str) -> int:
        """Return the number of a text, which gets one."""
        found = self._numbers.get(text)
        if found is None:
            # The text first: a reader that finds the number must find its text.
            self.texts.append(text)
            found = self._numbers[text] = len(self.texts) - 1
        return found

    def find(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of the known texts."""
        return [number for text in texts if (number := self._numbers.get(text)) is not None]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which episode has which text, where it may have several."""

    episodes: NDArray[np.int32]
    codes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Columns:
    """One immutable state of all episodes; the index in a column is the number of an episode."""

    version: int
    plain: Mapping[str, NDArray[Any]]
    coded: Mapping[str, NDArray[np.int32]]
    """Numbers of texts; -1: no such episode."""
    pairs: Mapping[str, Pairs]
    names: Mapping[str, Names]
    remembered: dict[tuple[EpisodeFilter, str], Mask] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return how many places there are."""
        return len(self.coded["state"])

    def remember(self, asked: tuple[EpisodeFilter, str], fitting: Mask) -> None:
        """Cache a filter's matches, replacing the oldest."""
        self.remembered[asked] = fitting
        while len(self.remembered) > _REMEMBERED:
            # Another thread may have removed it.
            self.remembered.pop(next(iter(self.remembered)), None)

    def text(self, name: str, number: int) -> str:
        """Return the text that an episode has in a column."""
        found: str = self.names[name].texts[self.coded[name][number]]
        return found

    def has(self, name: str, texts: Iterable[str]) -> Mask:
        """Return which episodes have one of some texts in a column."""
        return np.isin(self.coded[name], self.names[name].find(texts))

    def is_paired(self, name: str, codes: Collection[int]) -> Mask:
        """Return which episodes go with one of some texts, by their numbers."""
        found = np.zeros(self.size, bool)
        pairs = self.pairs[name]
        found[pairs.episodes[np.isin(pairs.codes, list(codes))]] = True
        return found

    def counts(self, name: str, fitting: Mask) -> dict[str, int]:
        """Count the fitting episodes by text, without zero counts."""
        if name in self.pairs:
            pairs = self.pairs[name]
            codes = pairs.codes[fitting[pairs.episodes]]
        else:
            codes = self.coded[name][fitting]
        counted = np.bincount(codes)
        return {self.names[name].texts[code]: int(counted[code]) for code in np.flatnonzero(counted)}

    def distinct(self, name: str, fitting: Mask) -> int:
        """Return how many different texts the episodes that fit have."""
        pairs = self.pairs.get(name)
        codes = self.coded[name][fitting] if pairs is None else pairs.codes[fitting[pairs.episodes]]
        return int(np.count_nonzero(np.bincount(codes)))


class EpisodeColumns:
    """The columns of one store."""

    def __init__(self, tables: EpisodeTables) -> None:
        self._tables = tables
        self._now: Columns | None = None

    def now(self) -> Columns:
        """Return the current columns, for use without the store."""
        with self._tables.writer:
            return self._bring_up()

    @contextmanager
    def reading(self) -> Iterator[Columns]:
        """Yield the current columns; all queries of this block see the same state."""
        with self._tables.reading(self._bring_up) as columns:
            yield columns

    def _bring_up(self) -> Columns:
        """Return the columns as the tables are now; the caller blocks writes."""
        now, version = self._now, self._tables.version
        if now is None or now.version != version:
            changed = None if now is None else self._tables.changed_since(now.version)
            if now is None or changed is None or len(changed) > _MANY:
                now = self._read(version)
            else:
                now = self._changed(now, sorted(changed), version)
            self._now = now
        return now

    def _read(self, version: int) -> Columns:
        """Read all columns again."""
        self._now = None
        size = 1 + self._tables.row("SELECT coalesce(max(seq), 0) FROM episode")[0]
        found = self._arrays(f"SELECT seq, {', '.join(_PLAIN)} FROM episode")  # noqa: S608 - our own names
        plain = {name: np.zeros(size, kind) for name, kind in _PLAIN.items()}
        for name, column in plain.items():
            column[found["seq"]] = found[name]
        coded, pairs, names = {}, {}, {}
        for name in _CODED:
            names[name], episodes, codes = self._numbered("episode", name)
            coded[name] = np.full(size, -1, np.int32)
            coded[name][episodes] = codes
        for name, (table, column_name) in _PAIRS.items():
            names[name], episodes, codes = self._numbered(table, column_name)
            pairs[name] = Pairs(episodes, codes)
        if size > _MANY:
            self._tables.let_go_of_blocks()
        return Columns(version, plain, coded, pairs, names)

    def _numbered(self, table: str, column: str) -> tuple[Names, NDArray[np.int32], NDArray[np.int32]]:
        """Return the texts of a column, and for each row the episode and the number of its text."""
        texts = f"SELECT DISTINCT {column} AS text FROM {table}"  # noqa: S608 - our own names
        names = Names(row[0] for row in self._tables.rows(f"{texts} ORDER BY text"))
        # Numbers instead of texts: a hundred thousand of those would each be created for a moment.
        found = self._arrays(
            f"WITH known AS (SELECT text, (row_number() OVER (ORDER BY text) - 1)::INTEGER AS code FROM ({texts})) "  # noqa: S608 - our own names
            f"SELECT t.seq, known.code FROM {table} t JOIN known ON t.{column} = known.text"
        )
        return names, found["seq"], found["code"]

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        return {name: np.asarray(column) for name, column in self._tables.cursor.execute(sql).fetchnumpy().items()}

    def _changed(self, before: Columns, numbers: list[int], version: int) -> Columns:
        """Return columns with some episodes read again: new, changed, or removed ones."""
        # Part of the query text: a list as a parameter costs more than the query.
        chosen = f"seq IN ({', '.join(map(str, numbers or [0]))})"
        size = max(before.size, 1 + max(numbers, default=0))
        plain = {name: _copied(column, size, 0) for name, column in before.plain.items()}
        coded = {name: _copied(column, size, -1) for name, column in before.coded.items()}
        coded["state"][numbers] = -1
        names = (*plain, *coded)
        for seq, *values in self._tables.rows(f"SELECT seq, {', '.join(names)} FROM episode WHERE {chosen}"):  # noqa: S608 - numbers
            for name, value in zip(names, values, strict=True):
                if name in plain:
                    plain[name][seq] = value
                else:
                    coded[name][seq] = before.names[name].number(value)
        gone = np.zeros(size, bool)
        gone[numbers] = True
        pairs = {}
        for name, (table, column_name) in _PAIRS.items():
            old, kept = before.pairs[name], ~gone[before.pairs[name].episodes]
            rows = self._tables.rows(f"SELECT seq, {column_name} FROM {table} WHERE {chosen}")  # noqa: S608 - numbers
            codes = [before.names[name].number(text) for _, text in rows]
            pairs[name] = Pairs(
                np.concatenate([old.episodes[kept], np.array([row[0] for row in rows], np.int32)]),
                np.concatenate([old.codes[kept], np.array(codes, np.int32)]),
            )
        return Columns(version, plain, coded, pairs, before.names)


def _copied(column: NDArray[Any], size: int, otherwise: int) -> NDArray[Any]:
    copy = np.full(size, otherwise, column.dtype)
    copy[: len(column)] = column
    return copy
