"""A list that is read page by page as the cursor comes near its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from cm_tui.errors import CmError
from cm_tui.model import Page
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

R = TypeVar("R")
Read = Callable[["Engine", "str | None", int], "Page[R]"]

PAGE = 200
MOST = 2_000
"""Rows that are read at once where a list is read again as far as it was known."""


class GrowingRows(Generic[R]):
    """Rows that are known by now, and how many there are.

    Args:
        topic: names the questions.
        ask: asks the engine.
        drop: forgets a question by its topic.
        name_of: the name of a row, by which the next page is asked for.
        changed: called when there are other rows; True where they are those of another question.
        failed: gets what went wrong.
    """

    def __init__(
        self,
        topic: str,
        ask: Ask,
        drop: Callable[[str], None],
        name_of: Callable[[R], str],
        changed: Callable[[bool], None],
        failed: Callable[[CmError], None],
    ) -> None:
        self._topic = topic
        self._ask = ask
        self._drop = drop
        self._name_of = name_of
        self._changed = changed
        self._failed = failed
        self._read: Read[R] | None = None
        self._fresh = False
        """Another question was asked, and nothing has answered it yet."""
        self.rows: list[R] = []
        self.total = 0
        self.note = ""

    def read(self, read: Read[R], *, delay: float = 0.0) -> None:
        """Request the first page again."""
        self._read, self._fresh = read, True
        self._first(PAGE, delay)

    def again(self) -> None:
        """Ask the same again, as far as it was read."""
        if self._read is not None:
            self._first(PAGE if self._fresh else min(MOST, max(PAGE, len(self.rows))), 0.0)

    def _first(self, limit: int, delay: float) -> None:
        read = self._read
        assert read is not None
        self._drop(f"{self._topic}-more")

        def got(page: Page[R]) -> None:
            self.rows, self.total, self.note = list(page.rows), page.total, page.note
            fresh, self._fresh = self._fresh, False
            self._changed(fresh)

        self._ask(self._topic, lambda engine: read(engine, None, limit), got, self._failed, delay=delay)

    def look(self, place: int) -> None:
        """Load the next page when the cursor nears the last loaded row."""
        known, read = len(self.rows), self._read
        if read is None or known >= self.total or not known or place < known - PAGE // 4:
            return
        before = self._name_of(self.rows[-1])

        def got(page: Page[R]) -> None:
            if len(self.rows) == known:
                self.rows += page.rows
                self.total = page.total if page.rows else known
                self._changed(False)

        self._ask(f"{self._topic}-more", lambda engine: read(engine, before, PAGE), got, self._failed)

    def clear(self) -> None:
        """There are no rows, whatever was asked."""
        self._drop(self._topic)
        self._drop(f"{self._topic}-more")
        self.rows, self.total, self.note = [], 0, ""
