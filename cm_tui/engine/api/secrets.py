"""Redaction of secrets for front ends."""

from cm_tui.engine.platform.redaction.redact import redact_values

__all__ = ["redact_values"]
