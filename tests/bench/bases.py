"""The order in which Python looks for a member of a class: its bases by C3, as far as the package states them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.bench.source import Definition, Read, Scope, Value, last_name

_EMPTY = {"object", "Generic", "Protocol", "ABC"}
"""Bases from outside that bring no member of interest."""


class Bases:
    """The orders of a package's classes.

    Args:
        read: gives the value of an expression in a scope.
    """

    def __init__(self, read: Callable[[ast.AST | None, Scope, int], Read]) -> None:
        self._read = read
        self._orders: dict[int, list[Definition | None]] = {}

    def order(self, cls: Definition) -> list[Definition | None]:
        """Classes in which members are looked for; None stands for a base that is not of the package."""
        known = self._orders.get(id(cls))
        if known is not None:
            return known
        # What asks for this order while it is found out stops here.
        self._orders[id(cls)] = [cls, None]
        assert isinstance(cls.node, ast.ClassDef)
        lines = [line for written in cls.node.bases if (line := self._line(written, cls.outer))]
        result = self._orders[id(cls)] = [cls, *_merge([*lines, [line[0] for line in lines]])]
        return result

    def _line(self, written: ast.expr, scope: Scope) -> list[Definition | None]:
        base = written.value if isinstance(written, ast.Subscript) else written
        found = self._read(base, scope, 0)
        if isinstance(found, Value) and found.kind == "class" and isinstance(found.of, Definition):
            return list(self.order(found.of))
        return [] if last_name(base) in _EMPTY else [None]


def _merge(lines: list[list[Definition | None]]) -> list[Definition | None]:
    """C3's merge; an order that Python would refuse, or an unknown base, ends in None."""
    result: list[Definition | None] = []
    lines = [line for line in lines if line]
    while lines:
        for line in lines:
            head = line[0]
            if head is None or all(head not in other[1:] for other in lines):
                break
        else:
            return [*result, None]
        result.append(head)
        if head is None:
            return result
        lines = [rest for rest in ([d for d in line if d is not head] for line in lines) if rest]
    return result
