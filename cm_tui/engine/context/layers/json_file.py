"""Files of values in `.cm/memory`, with schemas: read strictly, written whole, by one at a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
from referencing import Registry
from referencing.exceptions import Unresolvable

from cm_tui import paths
from cm_tui.engine.context.definitions import operators
from cm_tui.engine.context.definitions.parsing import MAX_BYTES, Document, DocumentError, parse
from cm_tui.engine.context.definitions.template import MISSING, lookup
from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.files import permissions_of, read_below, read_regular, write_if_unchanged
from cm_tui.state_file import confined, holding

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


# --- files of values in `.cm/memory`: read strictly, written whole, by one at a time ---

FOLDER = f"{paths.PROJECT_FOLDER}/memory"
T = TypeVar("T")


def read(root: Path, path: str) -> Document | None:
    """Return the content of a project's JSON file; None: no file.

    Raises:
        UsageError: it is not JSON; the message contains the position.
        StoreError: it cannot be read.
    """
    try:
        content = read_below(root, path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"Cannot read {path}: {error.strerror or error}.") from error
    try:
        return parse(content, is_json=True)
    except DocumentError as error:
        where = error.place
        raise UsageError(
            f"{path}:{where.line}:{where.column}: {error.message}.",
            hint=error.hint or "Fix it in an editor; nothing was changed.",
        ) from error


def change(root: Path, path: str, change: Callable[[Document | None], tuple[Any, T]]) -> T:
    """Rewrite a JSON file from its current content, while other such writes are blocked.

    Args:
        root: of the project.
        path: of the file, relative to the root.
        change: returns the new content, and the result.

    Raises:
        UsageError: the current content is not JSON; it stays as it is.
        RefusedError: its folder leads out of the project.
        StoreError: it cannot be written.
    """
    file = root.joinpath(*path.split("/"))
    named = blake2b(os.path.realpath(file).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    try:
        with holding(paths.state_dir() / "locks" / f"{named}.lock"), confined(root, file):
            before = read_regular(file, MAX_BYTES)
            new, result = change(read(root, path))
            data = (json.dumps(new, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8")
            if len(data) > MAX_BYTES:
                raise UsageError(f"{path} would have more than {MAX_BYTES:,} bytes.", hint="Remove old values.")
            if not write_if_unchanged(file, data, before, permissions_of(file)):
                raise StoreError(f"Another program changed {path}; nothing was written.", hint="Try again.")
    except ValueError as error:
        raise UsageError(f"{path}: the value is not valid JSON: {error}") from error
    return result


# --- structured records in `.cm/memory/json/NAME.json`, each checked by `NAME.schema.json` where there is one ---

_RECORDS = f"{FOLDER}/json"
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
        found = read(self._root, _file(name))
        if found is None:
            raise NotFoundError(f"File not found: {_file(name)}.", hint="Create it, or use `cm context put`.")
        self._check(name, found)
        value = found.value
        for part in inside.split("/") if inside else ():
            value = lookup(value, part)
            if value is MISSING:
                raise NotFoundError(f"{_file(name)} has nothing at {inside[:80]!r}.", hint=f"{part[:40]!r} is missing.")
        return value

    def put(self, name: str, value: Any) -> None:
        """Write a record.

        Raises:
            UsageError: the name is invalid, or the value does not fit the schema; then nothing is written.
            StoreError: it cannot be written.
        """
        file = _file(name)
        self._check(name, Document(value))
        change(self._root, file, lambda _: (value, None))

    def remove(self, name: str) -> bool:
        """Remove a record; returns whether there was one."""
        file = self._root.joinpath(*_file(name).split("/"))
        if read(self._root, _file(name)) is None:
            return False
        file.unlink(missing_ok=True)
        return True

    def _check(self, name: str, found: Document) -> None:
        schema = read(self._root, f"{_RECORDS}/{name}.schema.json")
        if schema is None:
            return
        # Late import: only users of schemas pay for it.
        try:
            wrong = first_mistake(schema.value, found.value)
        except ValueError as error:
            raise UsageError(f"{_RECORDS}/{name}.schema.json is not a usable schema.", hint=str(error)) from error
        if wrong is not None:
            path, message = wrong
            where = found.place(path)
            raise UsageError(
                f"{_file(name)}:{where.line}:{where.column}: {message}.",
                hint=f"The value does not match {name}.schema.json.",
            )


def _file(name: str) -> str:
    if not _NAME.fullmatch(name) or name.endswith(".schema"):
        raise UsageError(f"Not a record name: {name[:60]!r}.", hint="Use letters, digits, - and _.")
    return f"{_RECORDS}/{name}.json"
