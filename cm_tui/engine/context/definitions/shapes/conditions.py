"""Conditions of rules, filters and routes: a field, an operator and a value."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, StringConstraints

from cm_tui.engine.context.definitions.shapes.base import Scalar, Shape, Text

Operator = Literal[
    "contains", "not_contains", "startsWith", "endsWith", "matches", "equals", "not_equals", "in", "not_in",
    "gt", "lt", "gte", "lte", "exists",
]  # fmt: skip

OPERATORS: tuple[str, ...] = get_args(Operator)


def _spelt(value: Any) -> Any:
    """Return an operator as it is called, however its words are put together."""
    if not isinstance(value, str) or value in OPERATORS:
        return value
    plain = value.replace("_", "").lower()
    return next((one for one in OPERATORS if one.replace("_", "").lower() == plain), value)


FIELD = r"^[A-Za-z_][\w-]*(\.[\w-]+)*$"
FieldName = Annotated[str, StringConstraints(pattern=FIELD, max_length=200)]


class Condition(Shape):
    """A test of a field's current value."""

    field: FieldName
    """Such as `task.text` or `reference.scheme`."""
    op: Annotated[Operator, BeforeValidator(_spelt)]
    value: Text | int | float | bool | Annotated[tuple[Scalar, ...], Field(max_length=1000)] | None = None
    """The value to compare with; a list for `in` and `not_in`; for `exists` true (default) or false."""
