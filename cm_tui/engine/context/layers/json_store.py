"""Structured records in `.cm/memory/json/NAME.json`, each checked by `NAME.schema.json` where there is one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry
from referencing.exceptions import Unresolvable

from cm_tui.engine.context.definitions import operators
from cm_tui.engine.context.definitions.document import Document
from cm_tui.engine.context.definitions.template import MISSING, lookup
from cm_tui.engine.context.layers import json_file
from cm_tui.errors import NotFoundError, UsageError

# --- JSON Schemas from untrusted repositories: nothing is fetched, and no pattern can hang ---

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


# --- structured records in `.cm/memory/json/NAME.json`, each checked by `NAME.schema.json` where there is one ---

FOLDER = f"{json_file.FOLDER}/json"
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,99}")


class JsonStore:
    """The records of one project."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, path: str) -> Any:
        """Return a record, or a part of it.

        Args:
            path: its name, then keys and numbers into it, separated by `/`.

        Raises:
            UsageError: the name is invalid, or the file is not JSON or does not fit its schema.
            NotFoundError: no such record, or nothing at that place.
            StoreError: it cannot be read.
        """
        name, _, inside = path.partition("/")
        found = json_file.read(self._root, _file(name))
        if found is None:
            raise NotFoundError(f"There is no {_file(name)}.", hint="Write it, or `cm context put`.")
        self._check(name, found)
        value = found.value
        for part in inside.split("/") if inside else ():
            value = lookup(value, part)
            if value is MISSING:
                raise NotFoundError(
                    f"{_file(name)} has nothing at {inside[:80]!r}.", hint=f"{part[:40]!r} is not there."
                )
        return value

    def put(self, name: str, value: Any) -> None:
        """Write a record.

        Raises:
            UsageError: the name is invalid, or the value does not fit the schema; then nothing is written.
            StoreError: it cannot be written.
        """
        file = _file(name)
        self._check(name, Document(value))
        json_file.change(self._root, file, lambda _: (value, None))

    def remove(self, name: str) -> bool:
        """Remove a record; returns whether there was one."""
        file = self._root.joinpath(*_file(name).split("/"))
        if json_file.read(self._root, _file(name)) is None:
            return False
        file.unlink(missing_ok=True)
        return True

    def _check(self, name: str, found: Document) -> None:
        schema = json_file.read(self._root, f"{FOLDER}/{name}.schema.json")
        if schema is None:
            return
        # Late import: only users of schemas pay for it.
        from cm_tui.engine.context.layers.json_store import first_mistake

        try:
            wrong = first_mistake(schema.value, found.value)
        except ValueError as error:
            raise UsageError(f"{FOLDER}/{name}.schema.json is no schema that can be used.", hint=str(error)) from error
        if wrong is not None:
            path, message = wrong
            where = found.place(path)
            raise UsageError(
                f"{_file(name)}:{where.line}:{where.column}: {message}.", hint=f"It does not fit {name}.schema.json."
            )


def _file(name: str) -> str:
    if not _NAME.fullmatch(name) or name.endswith(".schema"):
        raise UsageError(f"{name[:60]!r} is no name of a record.", hint="Use letters, digits, - and _.")
    return f"{FOLDER}/{name}.json"
