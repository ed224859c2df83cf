"""Tests of rules on references: conditions and patterns, on all undecided references at once or on some."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import partial
from typing import Any

from cm_tui.engine.context.assembly.rule_table import Column, Table
from cm_tui.engine.context.definitions.lookup import MISSING
from cm_tui.engine.context.definitions.operators import LONGEST_PATTERN, tester
from cm_tui.engine.context.definitions.shapes.conditions import Condition

_FEW = 8
"""Most references to test one by one, rather than all at once."""
_DENSE = 4
"""Where more than one of so many lines has a text, each is looked at by itself."""
_OWN_ENDS = re.compile(r"\\[AzZCQ]|\(\?[a-zA-Z]*-|\(\?[a-zA-Z]*m|\\n|\n")
"""Parts of a pattern with another meaning over many lines."""
_WILD = re.compile(r"[*?]")


class ReferenceTest:
    """One condition about references.

    Args:
        condition: of a rule, about a field of the reference.

    Raises:
        ValueError: its value is of no use for its operator.
    """

    def __init__(self, condition: Condition) -> None:
        self.field = condition.field
        self.is_negated = condition.op.startswith("not_")
        self._holds = tester(condition)
        self._find = _finder(condition.op.removeprefix("not_"), condition.value, self._holds)

    @property
    def rank(self) -> int:
        """Return its approximate cost: cheaper tests come first."""
        return 3 if self._find is None else 2 if self.is_negated else 1

    def of_open(self, numbers: list[int] | None, table: Table) -> list[int]:
        """Return the open references for which it holds.

        Args:
            numbers: of these; None: of all.
            table: the references.
        """
        column = table.column(self.field)
        is_few = numbers is not None and len(numbers) <= _FEW
        if self._find is None or column is None or not column.is_text or is_few:
            return self.of_each(table.open if numbers is None else numbers, table)
        found = self._find(column)
        if numbers is None and not self.is_negated:
            return found
        hits = set(found)
        among = table.open if numbers is None else numbers
        return [one for one in among if (one in hits) is not self.is_negated]

    def of_each(self, numbers: Sequence[int], table: Table) -> list[int]:
        """Return the references that pass, decided or not."""
        column = table.column(self.field)
        if column is None:
            return list(numbers) if self._holds(MISSING) else []
        known: dict[Any, bool] = {}
        values, found = column.values, []
        for one in numbers:
            value = values[one]
            holds = known.get(value)
            if holds is None:
                holds = known[value] = self._holds(value)
            if holds:
                found.append(one)
        return found


_Find = Callable[[Column], list[int]]
"""Returns the undecided references of a text column that pass."""


def _finder(op: str, value: Any, holds: Callable[[Any], bool]) -> _Find | None:
    """Return a search for the references that satisfy an operator; None: test each.

    Args:
        op: without negation.
        value: of the condition.
        holds: tests one value, for inexact matches.
    """
    if op in ("equals", "in"):
        wanted = value if op == "in" else [value]
        is_text = isinstance(wanted, list | tuple) and all(isinstance(one, str) for one in wanted)
        return (lambda column: column.equal_to(wanted)) if is_text else None
    if op in ("gt", "lt", "gte", "lte"):
        return lambda column: [one for one in column.numeric if holds(column.values[one])]
    if op == "matches":
        return _pattern_finder(value, holds) if isinstance(value, str) else None
    find = _OF_TEXT.get(op)
    return None if find is None or not value or not isinstance(value, str) else partial(find, text=value)


def _having(column: Column, text: str) -> list[int]:
    lines = column.lines
    if "\n" in text:
        return []  # No value of such a column has a line end.
    if lines.text.count(text) * _DENSE <= len(lines.numbers):
        return lines.having(text)
    values = column.values
    return [number for number in column.open if text in values[number]]


_OF_TEXT: Mapping[str, Callable[..., list[int]]] = {
    "contains": _having, "startsWith": Column.starting_with, "endsWith": Column.ending_with,
}  # fmt: skip


def _pattern_finder(value: str, holds: Callable[[Any], bool]) -> _Find | None:
    import re2

    if _OWN_ENDS.search(value) or len(value) > LONGEST_PATTERN:
        return None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        pattern = re2.compile(f"(?m){value}", options=options)
    except re2.error:
        return None

    def find(column: Column) -> list[int]:
        values, known = column.values, dict[str, bool]()
        found = []
        for number in column.lines.matching(pattern):
            # A match over a line end is none, and hides none: the next line is tested separately.
            text = values[number]
            if text not in known:
                known[text] = holds(text)
            if known[text]:
                found.append(number)
        return found

    return find


class Glob:
    """A pattern of references in which `*` matches any characters and `?` one.

    Args:
        text: the pattern; it has one of the two.
    """

    def __init__(self, text: str) -> None:
        # The way of this module hangs on no pattern, however many stars it has.
        self._fits = re.compile(translate(text.replace("[", "[[]"))).match
        literal = _WILD.split(text)
        self._first, self._last, self._longest = literal[0], literal[-1], max(literal, key=len)

    def of_open(self, table: Table) -> list[int]:
        """Return the open references that it fits."""
        column = table.column("reference.id")
        if column is None:
            return []
        values, fits = column.values, self._fits
        return [number for number in self._near(column) if fits(values[number])]

    def _near(self, column: Column) -> list[int]:
        """Return the open references that it may fit."""
        if not column.is_text or not self._longest:
            return column.open
        if not self._first and not self._last:
            return _having(column, self._longest)
        begun = column.starting_with(self._first) if self._first else None
        ended = column.ending_with(self._last) if self._last else None
        return min((one for one in (begun, ended) if one is not None), key=len)
