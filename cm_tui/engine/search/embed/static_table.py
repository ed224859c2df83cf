"""A static model: a row per vocabulary piece; a text's vector is their mean. Stored as an ONNX file.

The file is a complete graph, for any program that runs ONNX. Here only its two tables are read, and numpy computes the
mean: just as fast (splitting texts into pieces takes the time), and with 30 MB less than a runtime for graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.engine.search.embed.wordpieces import Counts

_GRAPH = 7
"""The number of ONNX's field of a model that holds the graph."""
_TENSOR, _NAME, _DATA = 5, 8, 9
"""Field numbers of a graph's tensors, and of their names and bytes."""


@dataclass(frozen=True, slots=True)
class StaticTable:
    """The rows of a model."""

    codes: NDArray[np.int8]
    """Row by row."""
    scale: NDArray[np.float32]
    """Factor for a row's codes."""

    def sums(self, counts: Counts) -> Matrix:
        """Add up the rows of each text's pieces, unscaled; zeros for a text without pieces."""
        weights = self.scale[counts.piece] * counts.times.astype(np.float32)
        start = counts.start.tolist()
        sums = np.zeros((len(start) - 1, self.codes.shape[1]), dtype=np.float32)
        for text, (first, end) in enumerate(pairwise(start)):
            rows = self.codes[counts.piece[first:end]].astype(np.float32)
            np.dot(weights[first:end], rows, out=sums[text])
        return sums


def read_table(data: bytes) -> StaticTable:
    """Return the tables of a model's file. Raises ValueError if it is no such file."""
    try:
        graph = next(value for number, value in _fields(memoryview(data)) if number == _GRAPH)
        tensors = {}
        for number, value in _fields(graph):
            if number == _TENSOR:
                parts = dict(_fields(value))
                tensors[bytes(parts[_NAME]).decode()] = parts[_DATA]
        scale = np.frombuffer(tensors["scale"], dtype="<f4")
        return StaticTable(np.frombuffer(tensors["table"], dtype=np.int8).reshape(len(scale), -1), scale)
    except (StopIteration, KeyError, ValueError, IndexError) as error:
        raise ValueError(f"no static model: {error!r}") from error


# Protocol buffers: a field is its number and its kind, then its value; a kind of 2 has a length.


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and value of the fields that have a length."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 2:
            size, at = _varint(data, at)
            yield key >> 3, data[at : at + size]
            at += size
        elif key & 7 == 0:
            _, at = _varint(data, at)
        else:
            at += 4 if key & 7 == 5 else 8


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
