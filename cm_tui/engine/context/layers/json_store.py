"""Structured records in `.cm/memory/json/NAME.json`, each checked by `NAME.schema.json` where there is one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cm_tui.engine.context.definitions.document import Document
from cm_tui.engine.context.definitions.template import MISSING, lookup
from cm_tui.engine.context.layers import json_file
from cm_tui.errors import NotFoundError, UsageError

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
        from cm_tui.engine.context.layers.json_schema import first_mistake

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
