"""Tuning, in this process."""

from __future__ import annotations

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Page
from cm_tui.model.tuning import Mark, ProfileReset


class LocalTuning(LocalRooms):
    """What a person says of results: a mark moves its result when the same question is asked again."""

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

    def reset_profile(self, name: str) -> ProfileReset:
        """Remove what the project's configuration changes of a profile."""
        return self._searcher.reset_profile(name)
