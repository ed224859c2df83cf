"""A session's own cache for half an hour: a few named values, so that a file need not be read repeatedly."""

from __future__ import annotations

import time
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import UsageError
from cm_tui.state_file import holding, read_object, write_json

TTL_SECONDS = 1_800.0
MOST_ITEMS = 3
VALUE_CHARACTERS = 100_000
_NAME_CHARACTERS = 200


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

        `now`: seconds since the epoch; None: the current time. Raises UsageError if the name is missing, or name or
        value is too long; StoreError if it cannot be written.
        """
        if not 0 < len(key) <= _NAME_CHARACTERS or len(value) > VALUE_CHARACTERS:
            raise UsageError(
                f"A name has 1 to {_NAME_CHARACTERS} characters, and a value at most {VALUE_CHARACTERS:,}.",
                hint="Shorten it, or store it in a file.",
            )
        now = time.time() if now is None else now
        with holding(self._folder / "lock"):
            self._clean(now)
            kept = {name: item for name, item in self._items(now).items() if name != key}
            kept[key] = _Item(redact(value).text, now + TTL_SECONDS)
            latest = dict(list(kept.items())[-MOST_ITEMS:])
            write_json(self._file, {name: list(item) for name, item in latest.items()}, durable=False)

    def get(self, key: str, now: float | None = None) -> str | None:
        """Return a value; None: missing or expired.

        `now`: seconds since the epoch; None: the current time.
        """
        found = self._items(time.time() if now is None else now).get(key)
        return None if found is None else found.value

    def clear(self) -> None:
        """Forget all values of the session."""
        self._file.unlink(missing_ok=True)

    def _items(self, now: float) -> dict[str, _Item]:
        """Return what is still to be had, the oldest first; a damaged file holds nothing."""
        items = {key: _item(value) for key, value in read_object(self._file).items()}
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
