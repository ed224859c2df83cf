"""The one pack of a project, in a file that every application over it reads and changes."""

from __future__ import annotations

import json
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.api.secrets import redact_values
from cm_tui.files import read_bounded, write_atomically
from cm_tui.locks import locked
from cm_tui.tui.state.pack_merge import Items, merged
from cm_tui.tui.state.pack_selection import readable, values_of
from cm_tui.tui.state.remembered import state_file

LOCK_SECONDS = 5.0
"""How long a change waits for that of another application; each holds the lock for a few milliseconds."""
MOST_BYTES = 16_000_000


class PackFile:
    """Pieces in a file, changed under a lock.

    Args:
        root: the project's root folder.
    """

    def __init__(self, root: Path) -> None:
        self._file = state_file(root).with_suffix(".pack.json")
        self._lock = self._file.with_suffix(".lock")

    def stamp(self) -> tuple[int, int, int] | None:
        """Return the file's change stamp (inode, mtime, size); None for a missing file."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def read(self) -> Items | None:
        """Return the pieces; None where no application wrote any yet, or what is there cannot be read."""
        try:
            values = json.loads(read_bounded(self._file, MOST_BYTES))
        except (OSError, ValueError):
            return None
        return readable(values.get("items")) if isinstance(values, dict) else None

    def exchange(self, before: Items, mine: Items) -> Items:
        """Apply what was done here since the last exchange, and return the pack as all have it now.

        Args:
            before: the pack after the last exchange.
            mine: what was made of it since.

        Raises:
            StoreError: another process holds the lock.
            OSError: the folder cannot be written.
        """
        if mine == before:
            return self._or(self.read(), mine)
        paths.private_dir(self._file.parent)
        with locked(self._lock, LOCK_SECONDS):
            there = self.read()
            items = merged(before, mine, self._or(there, before))
            values = redact_values({"items": values_of(items)})
            if items != there:
                write_atomically(self._file, json.dumps(values, ensure_ascii=False, indent=1))
        return readable(values["items"])

    @staticmethod
    def _or(found: Items | None, other: Items) -> Items:
        return other if found is None else found
