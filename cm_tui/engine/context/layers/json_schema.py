"""JSON Schemas from untrusted repositories: nothing is fetched, and no pattern can hang."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema
from referencing import Registry
from referencing.exceptions import Unresolvable

from cm_tui.engine.context.definitions import operators

_UNSUPPORTED = "patternProperties"
"""Its patterns would be tried by an engine that they can hang."""


def first_mistake(schema: Any, value: Any) -> tuple[tuple[str | int, ...], str] | None:
    """Return the first place where a value does not fit a schema, and why; None: it fits.

    Raises:
        ValueError: the schema is invalid, refers to something outside of it, or has an unsupported pattern.
    """
    if _names(schema, _UNSUPPORTED):
        raise ValueError(f"{_UNSUPPORTED} is not supported")
    try:
        _CHECKER.check_schema(schema)
        # An empty registry: a schema cannot load remote references.
        checker = _CHECKER(schema, registry=Registry())
        wrong = next(iter(checker.iter_errors(value)), None)
    except jsonschema.SchemaError as error:
        raise ValueError(error.message[:200]) from error
    except (Unresolvable, RecursionError, TypeError, AttributeError) as error:
        raise ValueError((str(error) or type(error).__name__).splitlines()[0][:200]) from error
    return None if wrong is None else (tuple(wrong.absolute_path), wrong.message[:200])


@lru_cache(maxsize=256)
def _searched(pattern: str) -> Callable[[str], bool]:
    return operators.pattern(pattern)


def _pattern(_: Any, pattern: Any, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not _searched(str(pattern))(instance):
        yield jsonschema.ValidationError(f"{instance[:60]!r} does not match {str(pattern)[:60]!r}")


def _names(schema: Any, key: str) -> bool:
    """Return whether a key is anywhere in a schema."""
    if isinstance(schema, Mapping):
        return key in schema or any(_names(value, key) for value in schema.values())
    return isinstance(schema, list) and any(_names(value, key) for value in schema)


_CHECKER: Any = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
