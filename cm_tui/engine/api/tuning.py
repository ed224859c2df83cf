"""Tuning: marks of results, and a saved profile taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import Rooms

if TYPE_CHECKING:
    from cm_tui.model import Mark, Page, ProfileReset


class TuningMethods(Rooms):
    """What a person says of results: a mark moves its result when the same question is asked again."""

    @needs("nothing")
    def marks(self) -> Page[Mark]:
        """Return the project's marks, by question; its note says what of the file cannot be understood.

        Raises:
            RefusedError: the file is a link.
            StoreError: it cannot be read.
        """
        content = self._mark_file.read()
        return model.Page(tuple(content.marks), len(content.marks), note=" ".join(content.notes))

    @needs("nothing", writes=("marks",))
    def put_mark(self, mark: Mark) -> str:
        """Write a mark, in the place of what was said of that result before; returns what has to be said.

        Raises:
            UsageError: it is none, or there are too many.
            RefusedError: the question looks as if it held a secret, or the file is a link.
            StoreError: the file cannot be written.
        """
        return self._mark_file.put(mark)

    @needs("nothing", writes=("marks",))
    def remove_mark(self, mark: Mark) -> str:
        """Take a mark back; returns what has to be said. One that is not there is gone already.

        Raises:
            RefusedError: the file is a link.
            StoreError: the file cannot be written.
        """
        return self._mark_file.remove(mark)

    @needs("nothing", writes=("settings",))
    def reset_profile(self, name: str) -> ProfileReset:
        """Remove what the project's configuration changes of a profile; the rest of the file stays.

        Raises:
            UsageError: there is no such profile.
            RefusedError: it is one of this project alone, with nothing below it.
            ConfigError: the file cannot be understood.
        """
        return self._searcher.reset_profile(name)
