"""DuckDB's errors of a failing store, in words: the damage, its effect, and how to fix it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from cm_tui.errors import StoreBusyError, StoreDamagedError, StoreError, StoreReadOnlyError, UsageError

REBUILD = "Run `cm rebuild`: it rebuilds the index from the repository, and keeps the journal and your marks."
CONSEQUENCE = "Results would be incomplete, so none are given."

_DAMAGED = re.compile(r"not a valid DuckDB database|truncat|corrupt|checksum|read enough bytes", re.IGNORECASE)
_UNWRITABLE = re.compile(r"could not (?:write|sync|allocate|move)|no space left|file too large", re.IGNORECASE)
_FULL = re.compile(r"no space left|quota exceeded", re.IGNORECASE)
_CHECKSUM = re.compile(r"does not match stored checksum (\d+) in block at location (\d+)")
_LOG = re.compile(r"corrupt wal|replaying wal file .*is a directory", re.IGNORECASE | re.DOTALL)
_LOCKED = re.compile(r"could not set lock", re.IGNORECASE)
_FIRST_BLOCK = 12_288
"""Bytes of the three headers in front of the blocks."""


def damaged(file: Path, finding: str, what: str) -> StoreDamagedError:
    """Return the error of a damaged store. `what`: the damage, as the rest of a sentence."""
    return StoreDamagedError(f"{file} is damaged: {what}. {CONSEQUENCE}", hint=REBUILD, finding=finding)


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Describe DuckDB's errors of a failing file or of invalid text; mistakes in SQL are unchanged."""
    try:
        yield
    except RuntimeError as error:
        if "Unable to cast" not in str(error):
            raise
        # A word of the command line with odd bytes (they arrive as lone surrogates); nothing in the store has such a name.
        raise UsageError(
            "That name or path is not valid UTF-8.", hint="Files with such names are not indexed."
        ) from error
    except duckdb.Error as error:
        told = failure(file, error)
        if told is None:
            raise
        raise told from error


def failure(file: Path, error: duckdb.Error) -> StoreError | StoreBusyError | None:
    """Return what DuckDB's error means for a store; None: nothing, the SQL was wrong."""
    text = str(error)
    if _LOCKED.search(text):
        return _busy(file, text)
    if _DAMAGED.search(text) or _LOG.search(text) or isinstance(error, duckdb.SerializationException):
        return _damage(file, text)
    if "read-only mode" in text:
        return read_only(file)
    if _FULL.search(text):
        return full(file)
    if isinstance(
        error, duckdb.IOException | duckdb.FatalException | duckdb.OutOfMemoryException
    ) or _UNWRITABLE.search(text):
        return StoreError(
            f"Cannot write {file}: {text}",
            hint="Free some space or check its permissions, then run the command again.",
        )
    return None


def full(file: Path) -> StoreError:
    """Return the error of a store on a full disk."""
    return StoreError(f"The disk is full: {file} cannot grow.", hint="Free some space there.")


def read_only(file: Path) -> StoreReadOnlyError:
    """Return the error of a change to a read-only store."""
    return StoreReadOnlyError(
        f"{file} cannot be written: its folder or file is read-only here.",
        hint="Make it writable, or set CM_HOME to a folder you can write.",
    )


def unopened(file: Path, error: duckdb.Error, *, is_new: bool = False) -> StoreError | StoreBusyError:
    """Return why a store could not be opened, or made where it is new."""
    text = str(error)
    if _LOCKED.search(text):
        return _busy(file, text)
    if is_new:
        hint = "Free some space there or check its permissions, then run the command again."
        return full(file) if _FULL.search(text) else StoreError(f"Cannot make {file}: {_first_line(text)}.", hint=hint)
    if isinstance(error, duckdb.IOException):
        if file.is_dir():
            return damaged(file, "store-foreign", "it is a folder, not a database")
        if _length(file) < _FIRST_BLOCK:
            return damaged(file, "store-truncated", f"it is truncated: {_length(file):,} bytes are left of it")
        if not (_DAMAGED.search(text) or _LOG.search(text)):
            return StoreError(f"Cannot open {file}: {text}", hint="Check its permissions and free space.")
    return _damage(file, text)


def _busy(file: Path, text: str) -> StoreBusyError:
    holder = re.search(r"held in (.+?)\s*\(PID (\d+)\)", text)
    who = f"process {holder[2]} ({holder[1]})" if holder else "another process"
    return StoreBusyError(f"The index in {file.parent} is in use by {who}.", hint="Close it, then try again.")


def _length(file: Path) -> float:
    """Return the size of a file; infinite if unknown."""
    try:
        return file.stat().st_size
    except OSError:
        return math.inf


def _damage(file: Path, text: str) -> StoreDamagedError:
    finding, what = _named(text)
    return damaged(file, finding, what)


def _named(text: str) -> tuple[str, str]:
    """Return the name of a damage, and its description."""
    if _LOG.search(text):
        return "store-log-damaged", f"its write-ahead log cannot be read ({_first_line(text)})"
    if found := _CHECKSUM.search(text):
        stored, at = int(found[1]), int(found[2])
        if stored == 0:
            return "store-zeroed", f"the block at byte {at:,} is empty where data was"
        where = "header" if at < _FIRST_BLOCK else "block"
        return "store-overwritten", f"the {where} at byte {at:,} has a wrong checksum"
    if "read enough bytes" in text:
        return "store-truncated", f"it is truncated ({_first_line(text)})"
    if "not a valid DuckDB database" in text:
        return "store-foreign", "it is not a database"
    return "store-overwritten", _first_line(text)


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].rstrip(".")
