"""JSON files in which cm keeps state: limited in size, written whole, changed under a lock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from cm_tui import paths
from cm_tui.errors import RefusedError, StoreError
from cm_tui.files import (
    PRIVATE,
    permissions_of,
    read_bounded,
    remove_left_overs,
    set_aside,
    shared_dir,
    stamp_of,
    write_atomically,
)
from cm_tui.locks import locked

T = TypeVar("T")

MOST_BYTES = 64_000_000
"""A longer file is not of cm."""
LOCK_SECONDS = 10.0
"""A lock is held for milliseconds; a process that waits longer than this gives up."""


def read_object(file: Path, limit: int = MOST_BYTES) -> dict[str, Any]:
    """Return the object in a JSON file; empty: missing, damaged, too long, or no object."""
    try:
        found = json.loads(read_bounded(file, limit))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_record(file: Path, kind: type[T], limit: int = MOST_BYTES) -> T | None:
    """Return the record in a JSON file; None: missing, damaged, too long, or of another kind."""
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(kind).validate_json(read_bounded(file, limit))
    except (OSError, ValueError):
        return None


def write_json(
    file: Path, value: Any, *, indent: int | None = None, durable: bool = True, keep_damaged: bool = False
) -> None:
    """Write a value as JSON into a private folder, which is made when missing.

    `keep_damaged`: set a file aside that holds no JSON object: it has what only the user can decide again. Raises
    StoreError if it cannot be written; what was there before is untouched.
    """
    with reported(file):
        paths.private_dir(file.parent)
        if keep_damaged and not read_object(file) and stamp_of(file) and file.read_bytes().strip() != b"{}":
            set_aside(file)
        write_atomically(file, json.dumps(value, indent=indent), durable=durable)


def cache_entry(file: Path, key: str, entry: Any, most: int = 500) -> None:
    """Put an entry into a JSON object as the newest one, and drop the oldest beyond `most`; the file may be deleted."""
    entries = read_object(file)
    entries.pop(key, None)
    entries[key] = entry
    # Not saved on a full or read-only disk: it costs time, and the next write of state reports the problem.
    with suppress(StoreError):
        write_json(file, dict(list(entries.items())[-most:]), durable=False)


def make_room(file: Path, *, private: bool) -> int | None:
    """Make the folder of a file that is to be written, without what a killed process left there.

    `private`: it is the user's alone. Returns the permissions for writing it. Raises OSError if it cannot be made.
    """
    (paths.private_dir if private else shared_dir)(file.parent)
    remove_left_overs(file)
    return PRIVATE if private else permissions_of(file)


@contextmanager
def holding(lock: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold a lock file in a private folder, which is made when missing.

    `seconds`: how long to wait for another holder. Raises StoreError if another process held it all the time, or the
    folder cannot be used.
    """
    with reported(lock.parent, "use"):
        paths.private_dir(lock.parent)
        with locked(lock, seconds):
            yield


@contextmanager
def confined(root: Path, file: Path) -> Iterator[None]:
    """Write a file of a project, whose folder is made when missing.

    Raises RefusedError if its folder leads out of the project; StoreError if it cannot be written.
    """
    with reported(file):
        if not file.parent.resolve().is_relative_to(root.resolve()):
            raise RefusedError(f"{file.parent} is outside the project.", hint="Remove the link.")
        shared_dir(file.parent)
        yield


@contextmanager
def reported(file: Path, action: str = "write") -> Iterator[None]:
    """Turn an error of the disk into one that names the file and the way to fix it.

    Raises StoreError: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"Cannot {action} {file}: {error.strerror or error}.", hint="Check its permissions and free space."
        ) from error
