"""The static model as an ONNX file, written without a library: a table of int8 rows and the graph of a mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.embed.bundled import read_table
from cm_tui.errors import NotFoundError

Table = NDArray[np.float32]

_IR_VERSION, _OPSET = 8, 17
_FLOAT, _INT8, _INT64 = 1, 3, 7
"""ONNX's numbers of types of elements."""
_INT, _INTS = 2, 7
"""ONNX's numbers of types of attributes."""


def write(table: Table, name: str) -> bytes:
    """Return the bytes of a model whose output is the scaled mean of rows, one a token.

    Args:
        table: a row for each token; kept as int8 with one scale a row.
        name: of the model.
    """
    largest = np.abs(table).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest, 1).astype(np.float32) / np.float32(127)
    codes = np.rint(table / scale).astype(np.int8)
    graph = b"".join(
        [
            _node("Gather", ["table", "input_ids"], "codes"),
            _node("Cast", ["codes"], "rows", _attribute("to", _FLOAT)),
            _node("Gather", ["scale", "input_ids"], "scales"),
            _node("Cast", ["attention_mask"], "mask", _attribute("to", _FLOAT)),
            _node("Mul", ["scales", "mask"], "weights"),
            _node("Unsqueeze", ["weights", "middle"], "row"),
            _node("MatMul", ["row", "rows"], "sums"),
            _node("Squeeze", ["sums", "middle"], "sum"),
            _node("ReduceL2", ["sum"], "length", _attribute("axes", [1]) + _attribute("keepdims", 1)),
            _node("Max", ["length", "least"], "divisor"),
            _node("Div", ["sum", "divisor"], "sentence_embedding"),
            _text(2, name),
            _tensor("table", _INT8, codes.shape, codes.tobytes()),
            _tensor("scale", _FLOAT, scale.shape[:1], scale.tobytes()),
            _tensor("middle", _INT64, (1,), np.array([1], dtype="<i8").tobytes()),
            _tensor("least", _FLOAT, (), np.array(1e-9, dtype="<f4").tobytes()),
            _value(11, "input_ids", _INT64, ["batch", "sequence"]),
            _value(11, "attention_mask", _INT64, ["batch", "sequence"]),
            _value(12, "sentence_embedding", _FLOAT, ["batch", table.shape[1]]),
        ]
    )
    opset = _number(2, _OPSET)
    return _number(1, _IR_VERSION) + _text(2, "cm-tui") + _field(7, graph) + _field(8, opset)


def read(path: Path) -> Table:
    """Return the table of a model that was written so.

    Raises:
        NotFoundError: the file is not there, or is no such model.
    """
    try:
        table = read_table(path.read_bytes())
    except (OSError, ValueError) as error:
        raise NotFoundError(f"{path} is no static model: {error}", hint="Name a folder with model.onnx.") from error
    rows: Table = table.codes.astype(np.float32) * table.scale[:, None]
    return rows


# Protocol buffers: a field is its number and its kind, then its value; a kind of 2 has a length.


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _field(field, value.encode())


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return _field(1, b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind) + attributes)


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(5, _text(1, name) + _number(3, value) + _number(20, _INT))
    return _field(5, _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, _INTS))


def _tensor(name: str, kind: int, shape: Sequence[int], data: bytes) -> bytes:
    return _field(5, b"".join(_number(1, size) for size in shape) + _number(2, kind) + _text(8, name) + _field(9, data))


def _value(field: int, name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = (_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _field(field, _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, dimensions))))
