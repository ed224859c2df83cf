"""Taking secrets out of what a front end writes down."""

from cm_tui.engine.redaction.values import redact_values

__all__ = ["redact_values"]
