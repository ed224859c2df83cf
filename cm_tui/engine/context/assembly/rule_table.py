"""References in columns, which rules test one column at a time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from cm_tui.engine.context.definitions.lookup import MISSING
from cm_tui.engine.context.definitions.operators import compiled, tester
from cm_tui.engine.context.definitions.shapes.conditions import Condition
from cm_tui.model import Section

_FEW = 8
"""Most references on which a pattern is tried one by one."""
_OWN_ENDS = re.compile(r"\\[AzZCQ]|\(\?[a-zA-Z]*-|\(\?[a-zA-Z]*m|\\n|\n")
"""Parts of a pattern with another meaning over many lines."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory reference that may be handed over."""

    id: str
    kind: str
    section: Section
    enabled: bool
    """Whether it is on by default."""

    @property
    def fields(self) -> dict[str, Any]:
        """Return what conditions may read of it."""
        scheme, _, name = self.id.partition("://")
        return {
            "reference.id": self.id, "reference.scheme": scheme, "reference.name": name, "reference.kind": self.kind,
            "reference.section": self.section, "reference.enabled": self.enabled,
        }  # fmt: skip


class ReferenceTest:
    """One condition about references.

    Args:
        condition: of a rule, about a field of the reference.

    Raises:
        ValueError: its value is of no use for its operator.
    """

    def __init__(self, condition: Condition) -> None:
        self.field = condition.field
        self.holds = tester(condition)
        value = condition.value
        is_by_line = condition.op == "matches" and isinstance(value, str) and not _OWN_ENDS.search(value)
        self.pattern: Any = compiled(f"(?m){value}") if is_by_line else None


class Table:
    """References by column, and which of them are undecided.

    Args:
        candidates: in their order.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        rows = [one.fields for one in candidates]
        self.ids = [one.id for one in candidates]
        self.number = {id_: number for number, id_ in enumerate(self.ids)}
        self.open = list(range(len(rows)))
        """The undecided ones, in order."""
        self._columns = {name: _Column([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def close(self, numbers: Collection[int]) -> None:
        """Note that it was decided over some."""
        self.open = [number for number in self.open if number not in numbers]

    def passing(self, test: ReferenceTest, numbers: Sequence[int]) -> list[int]:
        """Return those of some references that pass."""
        column, holds = self._columns.get(test.field), test.holds
        if column is None:
            return list(numbers) if holds(MISSING) else []
        values = column.values
        if test.pattern is not None and len(numbers) > _FEW and column.is_text:
            near = column.near(test.pattern)
            return [number for number in numbers if number in near and holds(values[number])]
        return [number for number in numbers if holds(values[number])]


class _Column:
    """The values of a field, one per reference."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    @cached_property
    def is_text(self) -> bool:
        """Return whether each value can be a line of a text."""
        return all(isinstance(one, str) and "\n" not in one for one in self.values)

    @cached_property
    def _text(self) -> tuple[bytes, list[int]]:
        """All values as the lines of one text, and where each begins."""
        lines = [value.encode("utf-8", "replace") for value in self.values]
        return b"\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines)]

    def near(self, pattern: Any) -> set[int]:
        """Return the references whose value a pattern may match: a match may go over the end of a line.

        One search through all lines takes a fraction of the time of a search in each.
        """
        (text, begins), found, at = self._text, set(), 0
        while at <= len(text) and (match := pattern.search(text, at)) is not None:
            line = min(bisect_right(begins, match.start()), len(self.values)) - 1
            found.add(line)
            at = begins[line + 1]
        return found
