"""Redaction of everything that leaves the machine or enters a chat: secrets become `[redacted: KIND]`, and are counted."""

from cm_tui.engine.platform.redaction.kinds import note_on_marks
from cm_tui.engine.platform.redaction.redact import BEYOND, redact

__all__ = ["note_on_marks", "without_secrets"]


def without_secrets(text: str, limit: int | None = None) -> str:
    """Return a text for a model; its lines stay.

    `text`: any text. `limit`: characters to keep; a secret at the cut is redacted as a whole.
    """
    if limit is not None and len(text) > limit:
        return redact(text[: limit + BEYOND], limit).text[:limit]
    return redact(text).text
