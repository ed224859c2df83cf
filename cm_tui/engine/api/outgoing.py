"""What leaves the machine or enters a chat passes here: secrets are replaced by `[redacted: KIND]`, and counted."""

from cm_tui.engine.redaction.marks import note_on_marks
from cm_tui.engine.redaction.redact import BEYOND, redact

__all__ = ["note_on_marks", "without_secrets"]


def without_secrets(text: str, limit: int | None = None) -> str:
    """Return a text as a model may see it; it keeps its lines.

    Args:
        text: any text.
        limit: how much of it is kept; a secret at the cut is seen whole.
    """
    if limit is not None and len(text) > limit:
        return redact(text[: limit + BEYOND], limit).text[:limit]
    return redact(text).text
