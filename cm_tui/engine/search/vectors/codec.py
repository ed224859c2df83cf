"""Vectors as bytes, and the part of a passage's path that is embedded."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.embed.provider import Matrix

Codes = NDArray[np.int8]

PATH_WEIGHT = 0.3
"""Share of the path's words in a passage's vector before it is scaled to unit length; the text's share is 1."""

_SEPARATORS = re.compile(r"[/\\.\-_\s]+")
_MAY_HOLD_SECRET = re.compile(r"[\d=:@]")


def pack(vectors: Matrix) -> Codes:
    """Directions as int8: a quarter of float32, and a cosine off by about 0.0005.

    Rows are scaled so that their largest component is 127; the length is dropped, as every vector is a unit vector.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    largest[largest == 0] = 1
    codes: Codes = np.rint(vectors * (127 / largest)).astype(np.int8)
    return codes


def unpack(codes: Codes) -> Matrix:
    """Unit rows of packed vectors; zeros stay zeros. `codes`: (n, dimensions)."""
    rows = codes.astype(np.float32)
    rows /= lengths(rows)[:, None]
    return rows


def lengths(rows: Matrix) -> Matrix:
    """Euclidean lengths of rows, (n,); 1 for zeros."""
    found: Matrix = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    found[found == 0] = 1
    return found


def path_words(path: str) -> str:
    """The words of a path, without the extension and secrets, for embedding."""
    # A token in a name is recognised as a whole only; names with neither a digit nor a sign have none.
    path = redact(path).text if _MAY_HOLD_SECRET.search(path) else path
    words = [word for word in _SEPARATORS.split(path) if word]
    name = path.rpartition("/")[2]
    return " ".join(words[:-1] if "." in name.strip(".") else words)


def mix(texts: Codes, paths: Codes, weight: float = PATH_WEIGHT) -> Codes:
    """Vectors of passages from those of their texts and of their paths' words, row by row."""
    return pack(unpack(texts) + np.float32(weight) * unpack(paths))
