"""The record of a secret's place in a text, and the version of all patterns."""

from __future__ import annotations

from typing import NamedTuple

PATTERNS_VERSION = "8"
"""Increased when a pattern changes: texts checked with earlier patterns are checked again."""


class Found(NamedTuple):
    """Place and kind of a secret in a text; never the secret itself."""

    start: int
    end: int
    kind: str
