"""The table of secrets with a distinctive shape, in `shapes.tsv`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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
