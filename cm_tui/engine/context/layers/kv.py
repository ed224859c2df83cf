"""Values by key in `.cm/memory/kv.json`, some of them with an expiry time.

The file is a plain object that the user may edit: `{"release": {"codename": "Ibis"}}`. Expiry times are in it, too,
under `$expires`, in seconds since the epoch.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cm_tui.engine.context.definitions.document import Document
from cm_tui.engine.context.layers import json_file
from cm_tui.errors import UsageError

FILE = f"{json_file.FOLDER}/kv.json"
EXPIRES = "$expires"
LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class KvValue:
    """A value, and when it ends."""

    key: str
    value: Any
    expires: float | None = None


class KvStore:
    """The values of one project."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, key: str, now: float | None = None) -> KvValue | None:
        """Return a value; None: missing or expired.

        Raises:
            UsageError: the file is not JSON; the message contains the position.
            StoreError: it cannot be read.
        """
        return self.all(now).get(key)

    def matching(self, pattern: str) -> list[KvValue]:
        """Return the values whose keys match a pattern with `*` and `?`, sorted by key.

        Raises:
            UsageError: as `get`.
            StoreError: as `get`.
        """
        return [one for key, one in sorted(self.all().items()) if fnmatchcase(key, pattern)]

    def all(self, now: float | None = None) -> dict[str, KvValue]:
        """Return every value that has not ended.

        Raises:
            UsageError: as `get`.
            StoreError: as `get`.
        """
        return _living(json_file.read(self._root, FILE), time.time() if now is None else now)

    def put(self, key: str, value: Any, ttl: float | None = None, now: float | None = None) -> KvValue:
        """Store a value, for a time or permanently; expired ones are removed.

        Args:
            key: its name; a `/` in it groups.
            value: any JSON value.
            ttl: seconds until it expires; None: never.
            now: seconds since the epoch; None: the current time.

        Raises:
            UsageError: the key is invalid, or the file is not JSON.
            StoreError: it cannot be written.
        """
        _check(key)
        moment = time.time() if now is None else now
        ends = None if ttl is None else moment + ttl

        def changed(found: Document | None) -> tuple[dict[str, Any], KvValue]:
            values = _living(found, moment)
            values[key] = KvValue(key, value, ends)
            return _content(values), values[key]

        return json_file.change(self._root, FILE, changed)

    def remove(self, key: str, only: Any = ...) -> bool:
        """Remove a value; returns whether there was one.

        Args:
            key: its name.
            only: remove it only where this is its value.

        Raises:
            UsageError: the file is no JSON.
            StoreError: it cannot be written.
        """

        def changed(found: Document | None) -> tuple[dict[str, Any], bool]:
            values = _living(found, time.time())
            is_there = key in values and (only is ... or values[key].value == only)
            if is_there:
                del values[key]
            return _content(values), is_there

        if self.get(key) is None:
            return False
        return json_file.change(self._root, FILE, changed)


def _check(key: str) -> None:
    parts = key.split("/")
    if not key or len(key) > LONGEST_KEY or key == EXPIRES or any(ord(letter) < 32 for letter in key):
        raise UsageError(f"{key[:60]!r} is no key.", hint=f"It has 1 to {LONGEST_KEY} letters.")
    if any(part in {"", ".", ".."} for part in parts):
        raise UsageError(f"{key[:60]!r} is no key.", hint="No part of it is empty, `.` or `..`.")


def _living(found: Document | None, now: float) -> dict[str, KvValue]:
    if found is None:
        return {}
    if not isinstance(found.value, Mapping):
        raise UsageError(f"{FILE}:1:1: keys and values are expected.", hint='It looks like {"release": "Ibis"}.')
    expires = found.value.get(EXPIRES, {})
    if not isinstance(expires, Mapping):
        where = found.place((EXPIRES,))
        raise UsageError(f"{FILE}:{where.line}:{where.column}: {EXPIRES} has a time for each key.")
    ends = {key: float(at) for key, at in expires.items() if isinstance(at, int | float)}
    living = (key for key in found.value if key != EXPIRES and ends.get(key, now + 1) > now)
    return {key: KvValue(key, found.value[key], ends.get(key)) for key in living}


def _content(values: Mapping[str, KvValue]) -> dict[str, Any]:
    """Return values as they stand in the file."""
    expires = {key: one.expires for key, one in values.items() if one.expires is not None}
    return {**{key: one.value for key, one in values.items()}, **({EXPIRES: expires} if expires else {})}
