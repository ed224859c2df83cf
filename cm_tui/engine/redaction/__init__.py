"""Redaction: secrets are taken out of a text before it is stored, leaves the machine or enters a chat."""

from cm_tui.engine.redaction.find import find
from cm_tui.engine.redaction.found import PATTERNS_VERSION, Found
from cm_tui.engine.redaction.records import redact_record
from cm_tui.engine.redaction.redact import BEYOND, Redacted, redact

__all__ = ["BEYOND", "PATTERNS_VERSION", "Found", "Redacted", "find", "redact", "redact_record"]
