"""Arrays on disk: one file with a header, written atomically, and checked when read."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.files import remove_left_overs, replacing

MAGIC = b"cm-vectors 1\n"
_LARGEST_HEADER = 1_000_000
_PART = 1 << 20

Header = Mapping[str, Any]
Arrays = dict[str, NDArray[Any]]


class UnusableFileError(Exception):
    """A file of vectors is missing, truncated or invalid; it is rebuilt from the store."""


def save_arrays(file: Path, header: Header, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a magic line, a JSON header with a CRC-32 of the rest, then the arrays one after another.

    Raises OSError if the disk is full or the folder cannot be written; an older file is then unchanged.
    """
    checksum = 0
    layout = []
    for name, array in arrays.items():
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
        layout.append([name, array.dtype.str, list(array.shape)])
    line = json.dumps({**header, "arrays": layout, "checksum": checksum}).encode() + b"\n"

    remove_left_overs(file)
    with replacing(file, durable=True) as temporary, temporary.open("wb") as stream:
        stream.write(MAGIC + line)
        for array in arrays.values():
            np.ascontiguousarray(array).tofile(stream)


def attempt_to_save(what: str, save: Callable[[], None], note: Callable[[str], None]) -> bool:
    """Save rebuildable data; a failure is only noted.

    `what`: name for the user; `save`: writes it; `note`: called with the reason of a failure.
    """
    try:
        save()
    except OSError as error:
        note(f"The {what} could not be saved ({error}); opening takes longer until they can.")
        return False
    return True


def load_arrays(file: Path) -> tuple[dict[str, Any], Arrays]:
    """Read a file of `save_arrays`.

    Raises FileNotFoundError: no file. UnusableFileError if it is truncated, damaged or something else; the text
    contains the reason.
    """
    try:
        with file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise UnusableFileError("it is not a file of vectors")
            header = _header(stream.readline(_LARGEST_HEADER))
            data = np.fromfile(stream, dtype=np.uint8)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnusableFileError(str(error)) from error
    layout = header["arrays"]
    sizes = [kind.itemsize * math.prod(shape) for _, kind, shape in layout]
    if len(data) != sum(sizes):
        raise UnusableFileError(f"it has {len(data)} bytes of vectors instead of {sum(sizes)}")
    if zlib.crc32(data.data) != header["checksum"]:
        raise UnusableFileError("its checksum is wrong")
    arrays, start = {}, 0
    for (name, kind, shape), size in zip(layout, sizes, strict=True):
        arrays[name] = np.frombuffer(data, dtype=kind, count=size // kind.itemsize, offset=start).reshape(shape)
        start += size
    return header, arrays


def checksum_of(file: Path) -> int:
    """Return the CRC-32 of a file's content."""
    checksum = 0
    with file.open("rb") as stream:
        while part := stream.read(_PART):
            checksum = zlib.crc32(part, checksum)
    return checksum


def _header(line: bytes) -> dict[str, Any]:
    try:
        header = dict(json.loads(line))
        header["arrays"] = [(name, np.dtype(kind), tuple(map(int, shape))) for name, kind, shape in header["arrays"]]
        if any(kind.hasobject for _, kind, _ in header["arrays"]) or not isinstance(header["checksum"], int):
            raise UnusableFileError("its header has an unknown format")
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableFileError("its header is damaged") from error
    return header
