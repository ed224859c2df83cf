"""Text that others wrote, made harmless for wherever it is shown: a name or a subject may hold any character."""

from __future__ import annotations

import re

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What moves the cursor, ends a line, colours, or turns the direction of writing; line feeds and tabs are not meant."""


def one_line(text: str) -> str:
    """Text without line breaks, tabs and control characters."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def harmless(text: str) -> str:
    """Text of many lines: line feeds and tabs stay, and control characters are visible as a dot."""
    return CONTROLS.sub("·", text.replace("\r\n", "\n"))
