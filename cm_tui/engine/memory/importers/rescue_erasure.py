"""Erasing copies of transcripts: a copy with an erased turn is deleted as a whole."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cached_property

from cm_tui.engine.memory.importers.known import JournalContent
from cm_tui.engine.memory.importers.project import formats_of
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.importers.withheld import is_erased
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.claude_home import PROMPTS
from cm_tui.engine.memory.transcripts.files import FoundFile
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.transcript import Read, Resume, Transcript
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError


def remove_copies(
    journal: Journal, sessions: Collection[str], origins: Collection[str], *, interrupted: bool = False
) -> int:
    """Remove the copies of transcripts with turns erased from a journal, and mark these transcripts.

    All copies are checked: another session, even of another project, may repeat a turn. `journal`: of the project; it
    already lists the erased events. `origins`: digests of erased imported turns. `interrupted`: an earlier erasure was
    interrupted before this step: only the journal knows what it erased. Returns how many copies were removed. Raises
    StoreError if one cannot be removed, or the journal cannot be read.
    """
    try:
        with copies.changing():
            # A concurrent rescue must see the same erasures.
            copies.note_erasure()
            removal = _Removal(journal, frozenset(sessions) - {""}, frozenset(origins) - {""})
            return sum(1 for _ in removal.run(interrupted=interrupted))
    except OSError as error:
        raise StoreError(
            f"A copy below {copies.folder()} cannot be removed: {error}", hint="Check its permissions, and erase again."
        ) from error


class _Removal:
    def __init__(self, journal: Journal, sessions: frozenset[str], origins: frozenset[str]) -> None:
        self._journal = journal
        self._sessions = sessions
        self._origins = origins
        self._state = ImportState(journal)

    @cached_property
    def _known(self) -> JournalContent:
        """The journal's data, which takes a while to read."""
        known = JournalContent(self._journal)
        known.refresh()
        return known

    def run(self, *, interrupted: bool) -> Iterator[None]:
        """Mark and remove; yields for each copy that was removed."""
        for session in self._sessions:
            copies.write_mark("erased", session)
        for state in self._state.all():
            if any(one in self._origins or (interrupted and self._known.was_erased(one)) for one in state.origins):
                copies.write_mark("erased", state.name)
        for format_ in formats_of((), os.environ):
            for found in copies.all_copies(format_.agent):
                transcript = _transcript_of(format_, found)
                marked = copies.mark_of("erased", transcript.name).exists()
                if marked or self._holds_erased(format_, transcript):
                    copies.write_mark("erased", transcript.name)
                    found.path.unlink(missing_ok=True)
                    yield

    def _holds_erased(self, format_: Format, transcript: Transcript) -> bool:
        try:
            facts = format_.facts(transcript)
            if facts is None:
                return False
            names = {facts.session, facts.parent, self._state.load(transcript.name).session} - {""}
            if not self._sessions.isdisjoint(names):
                return True
            return any(
                isinstance(item, Read) and is_erased(self._known, item, facts, names, self._origins)
                for item in format_.read(transcript, facts, Resume())
            )
        except OSError:
            # An unreadable one may contain it.
            return True


def _transcript_of(format_: Format, found: FoundFile) -> Transcript:
    original = copies.original_of(format_.agent, found.path)
    name, session = str(original), ""
    if original.parent.name == PROMPTS:
        session = original.name.partition(".")[0]
        name = f"{original.parent}#{session}"
    return Transcript(format_.agent, name, found.path, found.size, found.changed, session, is_copy=True)
