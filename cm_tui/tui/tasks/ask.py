"""Interface for requests to the engine."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from cm_tui import model
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, StoreError

__all__ = ["Ask", "Call", "Engine", "Fail", "Then", "as_cm_error"]

T = TypeVar("T")

Call = Callable[[Engine], T]
"""Asks the engine, on a worker thread."""
Then = Callable[[T], None]
"""Takes an answer, on the application's thread."""
Fail = Callable[[CmError], None]
"""Takes the error instead."""


class Ask(Protocol):
    """A function such as `ModeScreen.ask`."""

    def __call__(
        self, topic: str, call: Call[T], then: Then[T], fail: Fail | None = None, *, delay: float = 0.0
    ) -> int:
        """Ask; a newer question of the same topic replaces this one.

        Args:
            topic: what is asked; unique within the mode.
            call: asks the engine, on a worker thread.
            then: gets the answer, unless it is outdated by then.
            fail: gets the error; shown as a notification when not given.
            delay: seconds to wait for a newer question before this one leaves.

        Returns:
            The id of the request.
        """


def as_cm_error(error: Exception) -> CmError:
    """An error as one that has a message and says what to do."""
    if isinstance(error, CmError):
        return error
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return StoreError(
            f"{what}: {error.filename}" if error.filename else f"A file cannot be read or written: {what}."
        )
    return CmError(f"{type(error).__name__}: {error}", hint="This is a bug; `cm doctor` checks the installation.")


R = TypeVar("R")
Read = Callable[["Engine", "str | None", int], "model.Page[R]"]

PAGE = 200
MOST = 2_000
"""Rows that are read at once where a list is read again as far as it was known."""


@dataclass
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

    _topic: str
    _ask: Ask
    _drop: Callable[[str], None]
    _name_of: Callable[[R], str]
    _changed: Callable[[bool], None]
    _failed: Fail
    _read: Read[R] | None = None
    _fresh: bool = False
    """Another question was asked, and nothing has answered it yet."""
    rows: list[R] = field(default_factory=list)
    total: int = 0
    note: str = ""

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

        def got(page: model.Page[R]) -> None:
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

        def got(page: model.Page[R]) -> None:
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


LOOK_SHARE = 20
"""Looking takes one part in so many of the time that passes, at most."""


@dataclass
class Repeated(Generic[T]):
    """A question that is asked again and again.

    Args:
        topic: names it.
        ask: asks the engine.
        failed: gets what went wrong; the same thing once, until it was mended.
        every: seconds between two looks, where they are answered quickly.
    """

    _topic: str
    _ask: Ask
    _failed: Fail
    _every: float = 0.0
    _is_reading: bool = False
    _failure: str = ""
    _due: float = 0.0

    def may_ask(self, *, at_once: bool) -> bool:
        """Return whether no answer is on its way, and it is time to ask again, or that does not matter."""
        return not self._is_reading and (at_once or time.monotonic() >= self._due)

    def read(self, call: Call[T], then: Then[T], *, delay: float = 0.0) -> None:
        """Ask."""
        began, self._is_reading = time.monotonic(), True

        def got(answer: T) -> None:
            self._is_reading, self._failure = False, ""
            took = time.monotonic() - began - delay
            self._due = time.monotonic() + max(0.0, LOOK_SHARE * took - self._every)
            then(answer)

        def failed(error: CmError) -> None:
            self._is_reading = False
            if str(error) != self._failure:
                self._failure = str(error)
                self._failed(error)

        self._ask(self._topic, call, got, failed, delay=delay)


W = TypeVar("W")
F = TypeVar("F")


class Listing(Generic[W, F]):
    """What fits a filter, read again as far as it was looked at.

    Args:
        question: asks for it.
        where: the filter at first.
    """

    def __init__(self, question: Repeated[Any], where: W) -> None:
        self._question = question
        self._limits: dict[str, int] = {}
        """Rows that are asked for by group, where more were looked at than are read at first."""
        self.where = where
        self.found: F | None = None
        """What was read; None: nothing yet."""

    @abstractmethod
    def read(self, *, delay: float = 0.0) -> None:
        """Request the same rows again, as far as they were read."""

    def filter_by(self, where: W, *, delay: float = 0.0) -> None:
        """Ask for what fits a filter."""
        if where != self.where:
            self.where = where
            self._limits.clear()
        self.read(delay=delay)

    def look(self, *, at_once: bool) -> None:
        """Ask whether something was written meanwhile, where it is time to, and no answer is on its way."""
        if self.found is not None and self._question.may_ask(at_once=at_once):
            self.read()

    def read_further(self, known: int, total: int, many: int, group: str = "") -> None:
        """Load a group up to the visible rows and well beyond.

        Args:
            known: rows of it that were read.
            total: rows that it has.
            many: rows of it that are visible.
            group: its name, where there are several.
        """
        if known < total:
            self._limits[group] = min(total, max(4 * known, many + PAGE))
            self.read()
