"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600
"""Permissions of a file that only the user can read."""
SUFFIX = ".cm-new"
"""Ending of a file that is being written."""

# Hooks of agents and of git import this module: nothing here may take long to import, as `tempfile` does.


def write_atomically(
    file: Path, content: bytes | str, *, permissions: int | None = PRIVATE, durable: bool = False
) -> None:
    """Write a file, in the place of what had its name; a link is replaced, not followed.

    Args:
        file: the file; its folder must be there.
        content: what it holds; text is written as UTF-8, with its line ends as they are.
        permissions: those of the file; None: those that the user's umask gives to any new file.
        durable: wait until the disk has the content.

    Raises:
        OSError: it cannot be written; what was there before is untouched.
    """
    with replacing(file, permissions=permissions, durable=durable) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def replacing(file: Path, *, permissions: int | None = PRIVATE, durable: bool = False) -> Iterator[Path]:
    """Give an empty file in the same folder to fill; it takes the file's name when the block ends without an error.

    Args:
        file: the file; its folder must be there.
        permissions: as for `write_atomically`.
        durable: as for `write_atomically`.

    Raises:
        OSError: it cannot be written; what was there before is untouched.
    """
    temporary = file.with_name(f".{file.name}.{os.urandom(4).hex()}{SUFFIX}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        os.close(os.open(temporary, flags, 0o666 if permissions is None else PRIVATE))
        yield temporary
        if durable:
            _sync(temporary)
        if permissions is not None and permissions != PRIVATE:
            temporary.chmod(permissions)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_left_overs(file: Path) -> None:
    """Remove what a process left that was killed while it wrote this file; only one may write it at a time.

    Raises:
        OSError: one cannot be removed.
    """
    # Earlier versions gave them no ending of their own.
    for left_over in file.parent.glob(f".{file.name}.*"):
        left_over.unlink(missing_ok=True)


def permissions_of(file: Path) -> int | None:
    """Return a file's permissions, for writing it again; None when there is no such file."""
    try:
        return file.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _sync(file: Path) -> None:
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())
