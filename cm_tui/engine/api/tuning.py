"""Tuning: marks of results, and undoing a saved profile."""

from __future__ import annotations

from cm_tui import model
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import Rooms


class TuningMethods(Rooms):
    """The user's marks of results: a mark moves its result when the same query is repeated."""

    @needs("nothing")
    def marks(self) -> model.Page[model.Mark]:
        """Return the project's marks by query; the note reports an unreadable file.

        Raises RefusedError if the file is a link; StoreError if it cannot be read.
        """
        content = self._mark_file.read()
        return model.Page(tuple(content.marks), len(content.marks), note=" ".join(content.notes))

    @needs("nothing", writes=("marks",))
    def put_mark(self, mark: model.Mark) -> str:
        """Write a mark, replacing an earlier one of that result; return messages for the user.

        Raises UsageError if the mark is invalid, or there are too many; RefusedError if the query may contain a secret,
        or the file is a link; StoreError if the file cannot be written.
        """
        return self._mark_file.put(mark)

    @needs("nothing", writes=("marks",))
    def remove_mark(self, mark: model.Mark) -> str:
        """Remove a mark, if it exists; return messages for the user.

        Raises RefusedError if the file is a link; StoreError if the file cannot be written.
        """
        return self._mark_file.remove(mark)

    @needs("nothing", writes=("settings",))
    def reset_profile(self, name: str) -> model.ProfileReset:
        """Remove the project's changes to a profile; the rest of the file stays.

        Raises UsageError if there is no such profile; RefusedError if the profile exists only in this project;
        ConfigError if the file is invalid.
        """
        return self._searcher.reset_profile(name)
