"""Marks around what comes from memory, for wherever it stands in a prompt: nothing inside can close them."""

from __future__ import annotations

import re

TAG = "cm-memory"

_TAG = re.compile(rf"<(\s*+/?\s*+)(?={TAG})", re.IGNORECASE)
_SMUGGLED = re.compile("[\U000e0000-\U000e007f\u200b\u2060-\u2064\ufeff]")
"""Characters that nobody sees and a model reads."""


def fenced(text: str, preamble: str) -> str:
    """Return a text between marks.

    Args:
        text: whatever was remembered or found.
        preamble: what is said of it, in our own words.
    """
    inside = _TAG.sub(r"&lt;\1", text).strip()
    return f"<{TAG}>\n{preamble}\n\n{inside}\n</{TAG}>"


def visible(text: str) -> str:
    """Return a text without characters that only a model would read."""
    return _SMUGGLED.sub("", text)
