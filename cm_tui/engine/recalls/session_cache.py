"""A session's own cache for half an hour: a few named values, so that a file need not be read repeatedly."""

from __future__ import annotations

import json
import time
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from cm_tui import paths
from cm_tui.engine.journal.location import folder_of
from cm_tui.engine.redaction.redact import redact
from cm_tui.errors import StoreError, UsageError
from cm_tui.files import read_bounded, write_atomically
from cm_tui.locks import locked

TTL_SECONDS = 1_800.0
MOST_ITEMS = 3
VALUE_CHARACTERS = 100_000
_NAME_CHARACTERS = 200
_MOST_BYTES = 4_000_000
_LOCK_SECONDS = 5.0


class _Item(NamedTuple):
    value: str
    until: float
    """Seconds since the epoch."""


class SessionCache:
    """The values of one session in one project."""

    def __init__(self, root: Path, session: str) -> None:
        if not session:
            raise UsageError("No session is given.", hint="Give its id.")
        name = f"{folder_of(root).name}\0{session}"
        named = blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()
        self._folder = paths.state_dir() / "session-cache"
        self._file = self._folder / f"{named}.json"

    def put(self, key: str, value: str, now: float | None = None) -> None:
        """Cache a value for half an hour, with secrets redacted; the oldest of more than three is dropped.

        Args:
            key: its name.
            value: a text.
            now: seconds since the epoch; None: the current time.

        Raises:
            UsageError: the name is missing, or name or value is too long.
            StoreError: it cannot be written.
        """
        if not 0 < len(key) <= _NAME_CHARACTERS or len(value) > VALUE_CHARACTERS:
            raise UsageError(
                f"A name has 1 to {_NAME_CHARACTERS} characters, and a value at most {VALUE_CHARACTERS:,}.",
                hint="Shorten it, or store it in a file.",
            )
        now = time.time() if now is None else now
        try:
            with locked(paths.private_dir(self._folder) / "lock", _LOCK_SECONDS):
                self._clean(now)
                kept = {name: item for name, item in self._items(now).items() if name != key}
                kept[key] = _Item(redact(value).text, now + TTL_SECONDS)
                latest = dict(list(kept.items())[-MOST_ITEMS:])
                write_atomically(self._file, json.dumps({name: list(item) for name, item in latest.items()}))
        except OSError as error:
            raise StoreError(
                f"Cannot write {self._file}: {error.strerror or error}.", hint="Check its folder and free space."
            ) from error

    def get(self, key: str, now: float | None = None) -> str | None:
        """Return a value; None: missing or expired.

        Args:
            key: its name.
            now: seconds since the epoch; None: the current time.
        """
        found = self._items(time.time() if now is None else now).get(key)
        return None if found is None else found.value

    def clear(self) -> None:
        """Forget all values of the session."""
        self._file.unlink(missing_ok=True)

    def _items(self, now: float) -> dict[str, _Item]:
        """Return the values that have not expired, the oldest first; empty for a damaged file."""
        try:
            found = json.loads(read_bounded(self._file, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        items = {key: _item(value) for key, value in found.items()}
        return {key: one for key, one in items.items() if one is not None and now < one.until <= now + TTL_SECONDS}

    def _clean(self, now: float) -> None:
        """Remove the files of sessions whose last value has had its time."""
        for file in self._folder.glob("*.json"):
            try:
                if file.stat().st_mtime < now - TTL_SECONDS:
                    file.unlink()
            except OSError:
                # Another session was quicker.
                continue


def _item(found: object) -> _Item | None:
    match found:
        case [str(value), float(until) | int(until)] if not isinstance(until, bool):
            return _Item(value, float(until))
    return None
