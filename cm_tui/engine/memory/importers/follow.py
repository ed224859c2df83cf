"""Following transcripts of running sessions: additions are imported when large enough, or after a pause."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cm_tui.engine.memory.importers.one_transcript import QUIET_SECONDS
from cm_tui.engine.memory.importers.project import Found, ProjectTranscripts
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.transcripts.lines import opened
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel, ImportSummary
from cm_tui.paths import AGENT_VARIABLES

BYTES = 100_000
LINES = 50
"""So much more of a transcript is taken at once."""
REST_SECONDS = 30.0
"""Less is taken when nothing was added for so long."""
_PIECE = 65_536


def is_wanted(root: Path) -> bool:
    """Return whether the user has imported sessions of a project: only then are new ones followed.

    Raises RefusedError if git's data cannot be opened.
    """
    return ImportState(Journal.of(root)).has_any()


class Follower:
    """Follows the transcripts of one project. Raises CmError if the project's identity cannot be found."""

    def __init__(self, root: Path) -> None:
        named, folders = ImportState(Journal.of(root)).environment()
        usual = {name: os.environ[name] for name in AGENT_VARIABLES if name in os.environ}
        self._project = ProjectTranscripts(root, (), folders, {**usual, **named})
        self._import = Import(self._project)
        self._others: set[str] = set()
        self._seen: dict[str, tuple[int, float]] = {}
        """Size and time of the transcripts that have nothing new."""

    def look(self, cancel: Cancel) -> ImportSummary | None:
        """Import what is due; None: nothing.

        Raises StoreError if the journal cannot be read or written, or another import is running; CancelledError if it
        was cancelled.
        """
        due = [found for found in self._news() if _is_due(found)]
        if not due:
            return None
        summary = self._import.take(due, cancel)
        for found in due:
            self._seen.pop(found.transcript.name, None)
        return summary

    def _news(self) -> list[Found]:
        """Return the transcripts of the project with unread parts."""
        news: list[Found] = []
        for format_, transcript in self._project.survey.transcripts():
            name, now = transcript.name, (transcript.size, transcript.stamp)
            if name in self._others or self._seen.get(name) == now:
                continue
            found = self._project.look_at(format_, transcript)
            if found is None:
                # A file without facts may get them later; one of another project stays that.
                if transcript.size > BYTES:
                    self._others.add(name)
                self._seen[name] = now
            elif found.is_new:
                news.append(found)
            else:
                self._seen[name] = now
        return news


def _is_due(found: Found) -> bool:
    transcript, state = found.transcript, found.state
    rested = time.time() - transcript.stamp
    if (transcript.size, transcript.stamp) == (state.size, state.stamp) and not found.is_other:
        # Nothing was added: a turn waits for its end.
        return rested > QUIET_SECONDS
    if found.is_other or rested > REST_SECONDS:
        return True
    return transcript.size - state.size >= BYTES or _lines_after(transcript.file, state.size) >= LINES


def _lines_after(file: Path, offset: int) -> int:
    """Return the number of lines after a place, counted up to the relevant number."""
    lines = 0
    try:
        with opened(file) as stream:
            stream.seek(offset)
            while lines < LINES and (piece := stream.read(_PIECE)):
                lines += piece.count(b"\n")
    except OSError:
        return 0
    return lines
