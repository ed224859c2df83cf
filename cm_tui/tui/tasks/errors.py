"""Whatever went wrong, with words for the user."""

from __future__ import annotations

from cm_tui.errors import CmError, StoreError


def as_cm_error(error: Exception) -> CmError:
    """An error as one that has a message and says what to do."""
    if isinstance(error, CmError):
        return error
    if isinstance(error, OSError):
        return StoreError(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return CmError(
        f"{type(error).__name__}: {error}", hint="This should not have happened; `cm doctor` checks the installation."
    )
