"""The kinds of secrets in marks; a mark with another word is not ours."""

from __future__ import annotations

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.shape_table import SHAPES

_OTHERS = (
    "aws secret key", "cookie", "key", "kubernetes secret", "pgp private key", "private key", "putty private key", "secret",
    "wireguard key",
)  # fmt: skip
"""Kinds of secrets that are recognised by their place or name."""
KINDS = tuple(sorted({shape.kind for shape in SHAPES}.union(_OTHERS)))
_OPEN = "[redacted: "
DONE = Pattern(
    rf"\[redacted(?:: (?:{'|'.join(sorted(KINDS, key=len, reverse=True))}))?\]|\[redacted[a-z0-9 .:]{{0,40}}\Z"
)


def is_mark(value: str) -> bool:
    """Return whether a value begins with a mark, complete or cut off."""
    found = DONE.match(value)
    return found is not None and (found[0].endswith("]") or is_cut(found[0]))


def is_cut(value: str) -> bool:
    """Return whether a value is the beginning of a mark."""
    return any(f"{_OPEN}{kind}]".startswith(value) for kind in KINDS)
