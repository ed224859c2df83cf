"""Lines from the middle of a private key, without its BEGIN and END lines."""

from __future__ import annotations

import re

# PEM writes 64 letters a line, OpenSSH 70, MIME 76 (https://www.rfc-editor.org/rfc/rfc7468, section 2).
_LINE = re.compile(
    r"^(?P<before>[^A-Za-z0-9+/\n]{0,80}+)(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])(?=[A-Za-z+/]*[0-9])"
    r"[A-Za-z0-9+/]{56,100}+={0,2}+(?P<after>(?:\\n)?[^\w\n]{0,8}+)$",
    re.MULTILINE,
)
KIND = "private key"


def has_key_lines(text: str) -> bool:
    """Return whether a text has lines like the middle of a key; other encoded data looks the same."""
    return _LINE.search(text) is not None


def mark_key_lines(text: str) -> str:
    """Replace each such line by `[redacted: private key]`, keeping indent, quotes and the number of lines."""
    return _LINE.sub(rf"\g<before>[redacted: {KIND}]\g<after>", text)
