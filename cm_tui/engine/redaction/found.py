"""The record of a secret's place in a text, and the version of all patterns."""

from __future__ import annotations

from typing import NamedTuple

PATTERNS_VERSION = "3"
"""Counted up when a pattern changes: what was looked through by an earlier one is looked through again."""


class Found(NamedTuple):
    """Place and kind of a secret in a text; never the secret itself."""

    start: int
    end: int
    kind: str
