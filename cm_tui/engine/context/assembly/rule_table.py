"""References in columns, searched as a whole: an operator scans one text instead of each reference.

A text column is stored as the lines of one long text of the undecided references.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any

from cm_tui.engine.context.assembly.candidate import Candidate
from cm_tui.engine.context.definitions.operators import number as number_of

_FRESH = 32
"""So many lines may have been decided over before the text is made again, or half of them."""


class Table:
    """References by column, and which of them are open.

    Args:
        candidates: in their order.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.ids = [one.id for one in candidates]
        self.number = {id_: number for number, id_ in enumerate(self.ids)}
        self.closed = bytearray(len(self.ids))
        self.decided = 0
        self._candidates = candidates
        self._columns: dict[str, Column] = {}
        self._open: list[int] = list(range(len(self.ids)))

    @property
    def open(self) -> list[int]:
        """Return the undecided references."""
        if len(self._open) != len(self.ids) - self.decided:
            closed = self.closed
            self._open = [number for number in self._open if not closed[number]]
        return self._open

    def close(self, numbers: Collection[int]) -> None:
        """Note that it was decided over open references."""
        for number in numbers:
            self.closed[number] = 1
        self.decided += len(numbers)

    def column(self, name: str) -> Column | None:
        """Return the values of a field; None where references have none of that name."""
        if not self._columns and self._candidates:
            rows = [one.fields for one in self._candidates]
            self._columns = {key: Column([row[key] for row in rows], self) for key in rows[0]}
        return self._columns.get(name)


class Column:
    """The values of a field, one per reference.

    Args:
        values: in the order of the references.
        table: with the undecided references.
    """

    def __init__(self, values: list[Any], table: Table) -> None:
        self.values = values
        self.is_text = all(isinstance(one, str) and "\n" not in one for one in values)
        self._table = table
        self._by_value: dict[Any, list[int]] | None = None
        self._numeric: list[int] | None = None
        self._forwards: _Sorted | None = None
        self._backwards: _Sorted | None = None
        self._lines: _Lines | None = None

    def equal_to(self, wanted: Collection[str]) -> list[int]:
        """Return the open references that have one of these texts, in their order."""
        if self._by_value is None:
            self._by_value = {}
            for number, value in enumerate(self.values):
                self._by_value.setdefault(value, []).append(number)
        found = (self._by_value.get(one, ()) for one in dict.fromkeys(wanted))
        return self._still_open(sorted(number for numbers in found for number in numbers))

    def starting_with(self, text: str) -> list[int]:
        """Return the open references whose value begins with a text, in their order."""
        if self._forwards is None:
            self._forwards = _Sorted(self.values)
        return self._still_open(self._forwards.beginning_with(text))

    def ending_with(self, text: str) -> list[int]:
        """Return the open references whose value ends with a text, in their order."""
        if self._backwards is None:
            self._backwards = _Sorted([value[::-1] for value in self.values])
        return self._still_open(self._backwards.beginning_with(text[::-1]))

    @property
    def numeric(self) -> list[int]:
        """Return the open references whose value is a number, or looks like one."""
        if self._numeric is None:
            self._numeric = [one for one, value in enumerate(self.values) if number_of(value) is not None]
        return self._still_open(self._numeric)

    def _still_open(self, numbers: Sequence[int]) -> list[int]:
        closed = self._table.closed
        return [number for number in numbers if not closed[number]]

    @property
    def open(self) -> list[int]:
        """Return the undecided references."""
        return self._table.open

    @property
    def lines(self) -> _Lines:
        """Return the values as lines of one text."""
        lines = self._lines
        if lines is None or self._table.decided - lines.decided > max(_FRESH, len(lines.numbers) // 2):
            lines = self._lines = _Lines(self.values, self._table)
        return lines


class _Sorted:
    """Texts in alphabetical order, each with its place."""

    def __init__(self, texts: Sequence[str]) -> None:
        pairs = sorted((text, number) for number, text in enumerate(texts))
        self._texts = [text for text, _ in pairs]
        self._numbers = [number for _, number in pairs]

    def beginning_with(self, text: str) -> list[int]:
        """Return the places of the texts that begin with one."""
        begin = bisect_left(self._texts, text)
        last = ord(text[-1])
        end = len(self._texts) if last == sys.maxunicode else bisect_left(self._texts, text[:-1] + chr(last + 1), begin)
        return sorted(self._numbers[begin:end])


class _Lines:
    """Values of the undecided references as lines, each with a line end before and after it."""

    def __init__(self, values: Sequence[str], table: Table) -> None:
        self.numbers = list(table.open)
        self.decided = table.decided
        self._closed = table.closed
        texts = [values[number] for number in self.numbers]
        self.text = "\n".join(("", *texts, ""))
        self._begins = [0, *accumulate(len(text) + 1 for text in texts)]
        self._raw: bytes | None = None
        self._raw_begins: list[int] = self._begins

    def having(self, needle: str) -> list[int]:
        """Return the open references whose line has a text in it."""
        find, text, begins, numbers, closed = self.text.find, self.text, self._begins, self.numbers, self._closed
        found: list[int] = []
        at = find(needle)
        while at >= 0:
            line = bisect_right(begins, at) - 1
            if not closed[numbers[line]]:
                found.append(numbers[line])
            at = text.find(needle, begins[line + 1])
            if line + 1 == len(numbers):
                break
        return found

    def matching(self, pattern: Any) -> Iterator[int]:
        """Yield the undecided references whose line a pattern may match: it may contain line boundaries.

        Args:
            pattern: for RE2, anchored at both ends of a line.
        """
        if self._raw is None:
            self._raw = self.text.encode("utf-8", "replace")
            if len(self._raw) != len(self.text):
                sizes = (len(line) + 1 for line in self._raw.split(b"\n")[1:])
                self._raw_begins = [0, *accumulate(sizes)]
        raw, begins, numbers = self._raw, self._raw_begins, self.numbers
        at = 1
        while at < len(raw) and (match := pattern.search(raw, at)) is not None:
            line = min(bisect_right(begins, match.start() - 1) - 1, len(numbers) - 1)
            if not self._closed[numbers[line]]:
                yield numbers[line]
            at = begins[line + 1] + 1
