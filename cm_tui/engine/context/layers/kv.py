"""Values by key: in `.cm/memory/kv.json`, some of them with an expiry time, and those of a session in this process.

The file is a plain object that the user may edit: `{"release": {"codename": "Ibis"}}`. Expiry times are in it, too,
under `$expires`, in seconds since the epoch.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.context.definitions.parsing import Document
from cm_tui.engine.context.layers import json_file
from cm_tui.errors import UsageError
from cm_tui.lru import LRU

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
        raise UsageError(f"Not a key: {key[:60]!r}.", hint=f"A key has 1 to {LONGEST_KEY} characters.")
    if any(part in {"", ".", ".."} for part in parts):
        raise UsageError(f"Not a key: {key[:60]!r}.", hint="No part of a key may be empty, `.` or `..`.")


def _living(found: Document | None, now: float) -> dict[str, KvValue]:
    if found is None:
        return {}
    if not isinstance(found.value, Mapping):
        raise UsageError(f"{FILE}:1:1: expected keys and values.", hint='Example: {"release": "Ibis"}.')
    expires = found.value.get(EXPIRES, {})
    if not isinstance(expires, Mapping):
        where = found.place((EXPIRES,))
        raise UsageError(f"{FILE}:{where.line}:{where.column}: {EXPIRES} must have a time for each key.")
    ends = {key: float(at) for key, at in expires.items() if isinstance(at, int | float)}
    living = (key for key in found.value if key != EXPIRES and ends.get(key, now + 1) > now)
    return {key: KvValue(key, found.value[key], ends.get(key)) for key in living}


def _content(values: Mapping[str, KvValue]) -> dict[str, Any]:
    """Return values as they stand in the file."""
    expires = {key: one.expires for key, one in values.items() if one.expires is not None}
    return {**{key: one.value for key, one in values.items()}, **({EXPIRES: expires} if expires else {})}


# --- working memory: an agent's values for its current turn; only in this process, never on disk ---

TTL_SECONDS = 3_600.0
"""Longest assumed duration of a turn whose end is not reported."""
MOST_SESSIONS = 64
MOST_KEYS = 50
VALUE_CHARACTERS = 20_000


class WorkingValue(NamedTuple):
    """A value, with its expiry and creation times."""

    key: str
    value: str
    expires: float
    kept: float


class WorkingMemory:
    """The values of all sessions of one project; used from any thread.

    `keys`: values of a session; `ttl`: seconds that a value is kept at most; `characters`: of a value.
    """

    def __init__(self, keys: int = MOST_KEYS, ttl: float = TTL_SECONDS, characters: int = VALUE_CHARACTERS) -> None:
        self._keys, self._ttl, self._characters = keys, ttl, characters
        self._lock = threading.Lock()
        self._sessions: LRU[str, LRU[str, WorkingValue]] = LRU(MOST_SESSIONS)

    def put(self, session: str, key: str, value: str, ttl: float | None = None) -> WorkingValue:
        """Store a text for a session's turn; the oldest of too many is dropped.

        Raises:
            UsageError: the session or key is missing, or something is too long.
        """
        if not session:
            raise UsageError("Working memory needs a session.", hint="Give its id.")
        if not 0 < len(key) <= LONGEST_KEY or len(value) > self._characters or len(session) > LONGEST_KEY:
            raise UsageError(
                f"{key[:40]!r} cannot be stored.",
                hint=f"A key has 1 to {LONGEST_KEY} characters, a value at most {self._characters:,}.",
            )
        now = time.time()
        kept = WorkingValue(key, value, now + min(ttl or self._ttl, self._ttl), now)
        with self._lock:
            values = self._sessions.get(session) or LRU(self._keys)
            values.put(key, kept)
            self._sessions.put(session, values)
        return kept

    def matching(self, session: str, pattern: str = "*", since: float = 0.0) -> list[WorkingValue]:
        """Return the values of a session whose keys match a pattern with `*` and `?`, the oldest first.

        Args:
            session: its id.
            pattern: of keys.
            since: when its turn began: earlier values are dropped.
        """
        now = time.time()
        with self._lock:
            values = self._sessions.get(session) or LRU(self._keys)
            for key, one in values.items():
                if one.expires <= now or one.kept < since:
                    values.pop(key)
            return [one for key, one in values.items() if key == pattern or fnmatchcase(key, pattern)]

    def remove(self, session: str, key: str) -> bool:
        """Remove a value; returns whether there was one."""
        with self._lock:
            values = self._sessions.get(session)
            return values is not None and values.pop(key) is not None
