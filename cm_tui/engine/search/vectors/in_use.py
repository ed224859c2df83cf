"""The model of a project's vectors, since when, and why it is not the first choice: a file next to the store."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cm_tui.engine.search.embed.provider import model_name
from cm_tui.files import write_atomically
from cm_tui.model.dates import local_minute
from cm_tui.state_file import read_record

FILE = "embedding.json"


@dataclass(frozen=True, slots=True)
class InUse:
    """The model in use."""

    fingerprint: str
    since: float
    """Seconds since the epoch."""
    instead_of: str = ""
    """Fingerprint of the first choice, where this is its fallback."""
    reason: str = ""
    """Why the first choice is not used."""

    @property
    def note(self) -> str:
        """Return the note where vectors are used; empty for a first choice."""
        if not self.instead_of:
            return ""
        return (
            f"{model_name(self.fingerprint)} is used instead of {model_name(self.instead_of)} "
            f"since {local_minute(self.since)}: {self.reason} "
            "Index runs ask the first choice again, and go back to it when it answers."
        )


def read(folder: Path) -> InUse | None:
    """Return what was last noted; None where nothing was, or it cannot be read."""
    return read_record(folder / FILE, InUse)


def write(folder: Path, in_use: InUse) -> None:
    """Record it; where the folder cannot be written, the next process decides again."""
    with suppress(OSError):
        write_atomically(folder / FILE, json.dumps(asdict(in_use), indent=1))
