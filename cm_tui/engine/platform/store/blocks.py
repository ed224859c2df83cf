"""Checking a store's file on disk block by block, whatever DuckDB has in memory.

The format is DuckDB's (https://duckdb.org/docs/stable/internals/storage): three headers of 4,096 bytes, then blocks of one
size, each after the checksum of its other bytes. Free blocks keep their old content.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cm_tui.engine.platform.store.failures import damaged
from cm_tui.errors import StoreDamagedError

HEADER = 4096
HEADERS = 3
_MAGIC = b"DUCK"
_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
_SEED = 5381
_SIZES = range(16 * 1024, 16 * 1024 * 1024 + 1)
"""Sizes that a block can have."""
_BATCH = 16 << 20
"""Bytes that are read at once."""

Harm = Literal["cut", "zeroed", "changed"]
Rows = Callable[[str], list[tuple[Any, ...]]]
ReadAt = Callable[[int, int], bytes]
"""Returns bytes of the file, from an offset; `Database.read_at` of an open store."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Place of the blocks in a file."""

    block_size: int
    blocks: int
    """How many belong into the file."""

    @property
    def bytes(self) -> int:
        """Return the length that the file must have."""
        return HEADERS * HEADER + self.blocks * self.block_size


def read_layout(file: Path, read_at: ReadAt) -> Layout | None:
    """Read the headers.

    Returns None: an unknown form, which only DuckDB can check. Raises OSError if the file cannot be read;
    StoreDamagedError if it is too short for its headers, no database, or a header has a wrong checksum.
    """
    raw = read_at(0, HEADERS * HEADER)
    if not raw:
        raise damaged(file, "store-truncated", "it is empty")
    if raw[8:12] != _MAGIC:
        raise damaged(file, "store-foreign", "it is no database")
    if len(raw) < HEADERS * HEADER:
        raise damaged(file, "store-truncated", f"it is cut short: {len(raw):,} bytes are left of it")
    wrong = [number for number in range(HEADERS) if not _is_whole(raw[number * HEADER : (number + 1) * HEADER])]
    if len(wrong) == HEADERS:
        return None
    if wrong:
        what = f"the header at byte {wrong[0] * HEADER:,} is not what was written: its checksum is wrong"
        raise damaged(file, "store-overwritten", what)
    # iteration, meta block, free list, block count, block size: the newer of the two counts.
    _, _, _, blocks, size = max(struct.unpack_from("<QqqQQ", raw, number * HEADER + 8) for number in (1, 2))
    return Layout(size, blocks) if size in _SIZES and size % HEADER == 0 else None


def bad_blocks(read_at: ReadAt, layout: Layout, chosen: Iterable[int]) -> list[tuple[int, Harm]]:
    """Return the blocks with wrong checksums, in order, each with the kind of damage.

    `chosen`: numbers of blocks, from 0. Raises OSError if the file cannot be read.
    """
    wanted = sorted(set(chosen))
    bad: list[tuple[int, Harm]] = []
    at_once = max(1, _BATCH // layout.block_size)
    while wanted:
        first = wanted[0]
        batch = [number for number in wanted[:at_once] if number < first + at_once]
        wanted = wanted[len(batch) :]
        size = layout.block_size
        data = read_at(HEADERS * HEADER + first * size, (batch[-1] - first + 1) * size)
        for number in batch:
            block = data[(number - first) * size : (number - first + 1) * size]
            if len(block) < size:
                bad.append((number, "cut"))
            elif not _is_whole(block):
                bad.append((number, "changed" if any(block) else "zeroed"))
    return bad


def used_blocks(rows: Rows) -> set[int]:
    """Return the numbers of the blocks with rows and their metadata, by DuckDB's current state.

    `rows`: queries the open store. Raises StoreDamagedError if the metadata cannot be read.
    """
    used = {int(row[0]) for row in rows("SELECT block_id FROM pragma_metadata_info()") if row[0] is not None}
    tables = rows("SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()")
    for schema, table in tables:
        named = f"{_quoted(schema)}.{_quoted(table)}".replace("'", "''")
        found = rows(f"SELECT block_id, additional_block_ids FROM pragma_storage_info('{named}')")  # noqa: S608 - its own names
        for block, more in found:
            used.update(number for number in (block, *(more or ())) if number is not None)
    return {number for number in used if number >= 0}


def examine(file: Path, read_at: ReadAt, rows: Rows) -> StoreDamagedError | None:
    """Verify the file on disk.

    `rows`: queries the open store. Returns the damage, or None. Raises OSError if the file cannot be read;
    StoreDamagedError: DuckDB itself finds damage.
    """
    found = None
    for _ in range(2):
        # A concurrent writer may reuse a free block: an error from that disappears the next time.
        found = _examine_once(file, read_at, rows)
        if found is None:
            return None
    return found


def _examine_once(file: Path, read_at: ReadAt, rows: Rows) -> StoreDamagedError | None:
    try:
        layout = read_layout(file, read_at)
    except StoreDamagedError as error:
        return error
    bad = bad_blocks(read_at, layout, used_blocks(rows)) if layout is not None else []
    if layout is None or not bad:
        return None
    number, harm = bad[0]
    if harm == "cut":
        return damaged(
            file, "store-truncated", f"it is cut short: {file.stat().st_size:,} bytes are left of {layout.bytes:,}"
        )
    place = f"the block at byte {HEADERS * HEADER + number * layout.block_size:,}"
    more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
    if harm == "zeroed":
        return damaged(file, "store-zeroed", f"{place}{more} is empty where data was")
    return damaged(file, "store-overwritten", f"{place}{more} is not what was written: its checksum is wrong")


def _is_whole(block: bytes) -> bool:
    words = np.frombuffer(block, dtype="<u8")
    with np.errstate(over="ignore"):
        found = np.bitwise_xor.reduce(words[1:] * _MULTIPLIER)
    return int(found) ^ _SEED == int(words[0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
