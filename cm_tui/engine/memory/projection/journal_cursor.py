"""A daemon's position in a journal, in a small file for the next daemon."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from cm_tui import paths
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import START
from cm_tui.errors import StoreError, UsageError
from cm_tui.state_file import read_object, write_json

_log = logging.getLogger(__name__)


class CursorPosition(NamedTuple):
    """Positions up to which a journal was followed."""

    start: Position = START
    """From here on it is read: sessions that are under way begin behind it."""
    settled: Position = START
    """Up to here every stop has its episode, or needs none."""
    past: Position = START
    """Up to here everything else was done."""
    patches: Mapping[tuple[str, str], str] = {}
    """Digests of the patches that were recorded last, by root and session."""
    event: str = ""
    """Id of the event that ends at `past`, which identifies the journal; empty: written by an earlier version."""


class JournalCursor:
    """The file of one journal."""

    def __init__(self, name: str) -> None:
        self._file = paths.state_dir() / "hook" / f"{name}.json"

    def read(self) -> CursorPosition:
        """Return the stored position; the beginning if the file is missing or damaged.

        Reading from the beginning costs an additional index run, and no stop is recorded twice.
        """
        try:
            kept = read_object(self._file)
            past = Position.parse(kept["position"])
            return CursorPosition(
                # An earlier version stored only that, and read everything again.
                Position.parse(kept.get("start", str(START))),
                Position.parse(kept.get("settled", str(past))),
                past,
                {(str(root), str(session)): str(digest) for root, session, digest in kept.get("patches", ())},
                str(kept.get("event", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError, UsageError):
            return CursorPosition()

    def write(self, kept: CursorPosition) -> None:
        """Store a position; on a full disk the previous one stays, and at worst something is done twice."""
        fields = {
            "position": str(kept.past),
            "event": kept.event,
            "settled": str(kept.settled),
            "start": str(kept.start),
            "patches": [[*who, digest] for who, digest in kept.patches.items()],
        }
        try:
            write_json(self._file, fields, durable=False)
        except StoreError as error:
            _log.warning("cannot remember a place in the journal: %s", error)
