"""Tuning, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.engine.lazy import shared_property
from cm_tui.engine.local.rooms import LocalRooms, of_one_generation
from cm_tui.model import Page
from cm_tui.model.tuning import Mark, ProfileReset, TuningProposal

if TYPE_CHECKING:
    from cm_tui.engine.tuning.mark_file import MarkFile


class LocalTuning(LocalRooms):
    """What a person says of results, and what follows from it for the profile `code`."""

    def marks(self) -> Page[Mark]:
        """Return the project's marks, by question."""
        content = self._mark_file.read()
        return Page(tuple(content.marks), len(content.marks), note=" ".join(content.notes))

    def put_mark(self, mark: Mark) -> str:
        """Write a mark."""
        return self._mark_file.put(mark)

    def remove_mark(self, mark: Mark) -> str:
        """Take a mark back."""
        return self._mark_file.remove(mark)

    @of_one_generation
    def propose_weights(self) -> TuningProposal:
        """Learn weights for the profile `code` from the marks; changes nothing."""
        from dataclasses import replace

        from cm_tui.engine.tuning.proposal import propose

        content = self._mark_file.read()
        found = propose(self._searcher, self._searcher.profile("code"), content.marks)
        return replace(found, notes=(*content.notes, *found.notes))

    def reset_profile(self, name: str) -> ProfileReset:
        """Remove what the project's configuration changes of a profile."""
        return self._searcher.reset_profile(name)

    @shared_property
    def _mark_file(self) -> MarkFile:
        from cm_tui.engine.tuning.mark_file import MarkFile

        return MarkFile(self._root)
