"""Common base of all definitions: both spellings of a key, no unknown keys, frozen."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
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
