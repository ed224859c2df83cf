"""Working memory: an agent's values for its current turn; only in this process, never on disk."""

from __future__ import annotations

import threading
import time
from fnmatch import fnmatchcase
from typing import NamedTuple

from cm_tui.errors import UsageError
from cm_tui.lru import LRU

TTL_SECONDS = 3_600.0
"""Longest assumed duration of a turn whose end is not reported."""
MOST_SESSIONS = 64
MOST_KEYS = 50
LONGEST_KEY = 200
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
                hint=f"A key has 1 to {LONGEST_KEY} letters, a value at most {self._characters:,}.",
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
