"""The way to stop long work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cm_tui.errors import CancelledError


@dataclass(frozen=True, slots=True)
class Cancel:
    """A flag that long work looks at between its steps."""

    _event: threading.Event = field(default_factory=threading.Event)
    _between: Callable[[], None] = field(default=lambda: None)

    def with_pauses(self, between: Callable[[], None]) -> Cancel:
        """Return the same flag for work that does something else at each look, such as letting others go first."""
        return Cancel(self._event, between)

    def set(self) -> None:
        """Ask the work to stop."""
        self._event.set()

    @property
    def is_set(self) -> bool:
        """True once someone asked."""
        return self._event.is_set()

    def check(self) -> None:
        """Stop here if someone asked. Raises CancelledError when `set` was called."""
        if self._event.is_set():
            raise CancelledError("Cancelled.", hint="Completed work is kept; run the same command to continue.")
        self._between()
