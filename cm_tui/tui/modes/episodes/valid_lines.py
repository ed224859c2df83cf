"""Which line of the filter is in force while the one that is typed cannot be read."""

from __future__ import annotations

from cm_tui.model import EpisodeFilter
from cm_tui.tui.modes.episodes.query import filter_of, problems_of

_KEPT = 200


class ValidLines:
    """Lines that could be read, the last one at the end: an unfinished form of a wrong term is none of them."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def read(self, text: str) -> tuple[EpisodeFilter, str]:
        """Return the active filter, and what is wrong with the line (or an empty string).

        A field without a value is not applied yet, so that the list does not show everything meanwhile.
        """
        if wrong := problems_of(text):
            while self._lines and _is_unfinished(self._lines[-1], text):
                self._lines.pop()
            before = self._lines[-1] if self._lines else ""
            said = f"Still shown is what fits {before}." if before.strip() else "Still shown is everything."
            return filter_of(before), f"{' '.join(wrong)} {said}"
        self._lines = [*self._lines[-_KEPT:], text]
        return filter_of(text), ""


def _is_unfinished(line: str, text: str) -> bool:
    """Return whether a line is the beginning of another one, and ends in the middle of a term of it."""
    return text.startswith(line) and bool(line[-1:].strip()) and bool(text[len(line) : len(line) + 1].strip())
