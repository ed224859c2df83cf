"""Common base of all definitions: both spellings of a key, no unknown keys, frozen."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""Valid names of definitions, rules and pipelines."""

Name = Annotated[str, StringConstraints(pattern=NAME)]
Text = Annotated[str, StringConstraints(max_length=4_000)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]
Scalar = str | int | float | bool | None


class Shape(BaseModel):
    """A part of a definition; keys are written in camelCase, and accepted in snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        strict=True,
    )


class File(Shape):
    """A whole file, which may name its JSON Schema."""

    schema_: Annotated[str, Field(alias="$schema", max_length=1_000)] = ""


# --- conditions of rules, filters and routes: a field, an operator and a value ---

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
