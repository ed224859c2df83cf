"""The kinds of secrets in marks; a mark with another word is not ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count, noun
from cm_tui.engine.platform.redaction.pattern import Pattern

# --- marks in the place of secrets in a text: their number, and a note about it ---

_MARK = r"\[redacted: [^\[\]\n]{1,40}\]"
# A secret of several lines leaves a mark on each of them.
_SECRET = re.compile(rf"({_MARK})(?:\s*\n[^\w\[\n]*\1)*")


def count_marks(text: str) -> int:
    """Count the secrets redacted in a text; marks on consecutive lines belong to one."""
    return sum(1 for _ in _SECRET.finditer(text)) if "[redacted: " in text else 0


def note_on_marks(text: str) -> tuple[str, ...]:
    """Return a message on the secrets redacted from a text; empty: none."""
    secrets = count_marks(text)
    if not secrets:
        return ()
    return (f"{count(secrets, 'secret')} {noun(secrets, 'was', 'were')} redacted.",)


def has_marks(text: str) -> bool:
    """Return whether a text contains a mark."""
    return "[redacted: " in text and re.search(_MARK, text) is not None


# --- the table of secrets with a distinctive shape, in `shapes.tsv` ---

SHORTEST = 15
"""Least length of a word, without any space, with a distinctive secret."""


class Shape(NamedTuple):
    """One kind of secret that is recognised by its shape alone; the table describes the columns."""

    kind: str
    words: tuple[str, ...]
    pattern: str
    source: str
    is_short: bool = False


def _rows() -> Iterator[Shape]:
    for row in Path(__file__).with_name("shapes.tsv").read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#"):
            kind, words, pattern, source, *short = row.split("\t")
            yield Shape(kind, tuple(words.split()), pattern, source, bool(short))


SHAPES = tuple(_rows())


# --- the kinds of secrets in marks ---

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
