"""Interface for requests to the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from cm_tui.errors import CmError, StoreError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


T = TypeVar("T")


class Ask(Protocol):
    """A function such as `ModeScreen.ask`."""

    def __call__(
        self,
        topic: str,
        call: Callable[[Engine], T],
        then: Callable[[T], None],
        fail: Callable[[CmError], None] | None = None,
        *,
        delay: float = 0.0,
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
        return StoreError(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return CmError(
        f"{type(error).__name__}: {error}", hint="This should not have happened; `cm doctor` checks the installation."
    )
