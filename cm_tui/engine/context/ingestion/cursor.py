"""Position of the pipelines in a checkout's journal, and its open sessions."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import START
from cm_tui.errors import UsageError
from cm_tui.state_file import read_object, write_json

_MOST_SESSIONS = 2_000


@dataclass(slots=True)
class Cursor:
    """Position of the pipelines.

    Attributes:
        position: in the journal.
        event: the event there.
        begins: where each pipeline begins, by name: earlier events are not ingested automatically.
        sessions: open sessions, with the time of each one's last event.
    """

    position: Position = START
    event: str = ""
    begins: dict[str, Position] = field(default_factory=dict)
    sessions: dict[str, float] = field(default_factory=dict)


class CursorFile:
    """The cursor of one checkout, in the folder of the ledger.

    Args:
        folder: of the ledger.
        root: of the checkout.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        named = blake2b(os.path.realpath(root).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._file = folder / f"cursor-{named}.json"

    def read(self) -> Cursor | None:
        """Return the cursor; None if missing or damaged: then pipelines begin now."""
        try:
            plain = read_object(self._file)
            return Cursor(
                Position.parse(str(plain["position"])),
                str(plain["event"]),
                {str(name): Position.parse(str(at)) for name, at in plain["begins"].items()},
                {str(name): float(at) for name, at in plain["sessions"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, UsageError):
            return None

    def write(self, cursor: Cursor) -> None:
        """Store it.

        Raises:
            StoreError: it cannot be written.
        """
        latest = sorted(cursor.sessions.items(), key=lambda one: -one[1])[:_MOST_SESSIONS]
        plain = {
            "position": str(cursor.position), "event": cursor.event, "sessions": dict(latest),
            "begins": {name: str(at) for name, at in cursor.begins.items()},
        }  # fmt: skip
        write_json(self._file, plain)
