"""The mark of a folder: facts that never change, and that no copy, clone or new folder shares.

Nothing is written into the folder. Hooks read marks, so imports must be fast.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple, Self

_FIRST_FILE = "description"
"""Git writes this file when it creates a repository, and never again."""
_BIRTH = 0x800
"""`STATX_BTIME` of statx(2)."""
_BIRTH_AT = 80
"""Offset of `stx_btime` in the answer of statx(2)."""


class FolderMark(NamedTuple):
    """Distinguishes a folder from earlier and later ones at its path.

    It excludes the device: many file systems get another number at each start of the machine.
    """

    inode: int
    born: int
    """When it was created: nanoseconds since the epoch; 0 where the file system does not record it."""
    first_file: tuple[int, ...] = ()
    """Inode, mtime and ctime of the file that git wrote first; empty in other folders."""

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Self | None:
        """Return the mark of a folder; None: no folder."""
        try:
            found = os.stat(folder)  # noqa: PTH116 - a hook's time is counted in milliseconds
        except (OSError, ValueError):
            return None
        return cls(found.st_ino, _born(folder, found), first_file(folder))

    @classmethod
    def read(cls, plain: Any) -> Self | None:
        """Return the mark that JSON has; None for anything else."""
        match plain:
            case [int(inode), int(born), list(first)] if all(isinstance(one, int) for one in first):
                return cls(inode, born, tuple(first))
        return None

    def is_same(self, other: FolderMark | None) -> bool:
        """Return whether two marks, taken at one path, are of one folder.

        An inode alone is no evidence: a new folder often gets that of a removed one.
        """
        if other is None:
            return False
        if self.born and self.born == other.born:
            return True
        # A container gives a folder a new birth time when it is first written to; an unwritten file keeps its own.
        if self.inode != other.inode or self.first_file != other.first_file:
            return False
        return bool(self.first_file) or not (self.born and other.born)

    def is_moved(self, other: FolderMark | None) -> bool:
        """Return whether two marks, taken at different paths, are of one folder, renamed or under another name."""
        if other is None or self.inode != other.inode:
            return False
        return self.born == other.born != 0 or (self.first_file == other.first_file != ())


def first_file(folder: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return inode, mtime and ctime of the first file that git wrote into a git folder; empty: missing."""
    try:
        found = os.lstat(os.path.join(folder, _FIRST_FILE))  # noqa: PTH118
    except (OSError, ValueError):
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def _born(folder: str | os.PathLike[str], found: os.stat_result) -> int:
    if os.name == "nt":
        return found.st_ctime_ns
    birth = getattr(found, "st_birthtime", None)
    return _born_by_statx(os.fsencode(folder)) if birth is None else int(birth * 1_000_000_000)


def _born_by_statx(folder: bytes) -> int:
    """Ask statx(2) of Linux, which Python's `os` does not have."""
    import ctypes

    try:
        statx = ctypes.CDLL(None).statx
    except (OSError, AttributeError):
        return 0
    room = ctypes.create_string_buffer(256)
    here = ctypes.c_int(-100)
    if statx(here, ctypes.c_char_p(folder), ctypes.c_int(0), ctypes.c_uint(_BIRTH), room) != 0:
        return 0
    if not int.from_bytes(room.raw[:4], sys.byteorder) & _BIRTH:
        return 0
    seconds = int.from_bytes(room.raw[_BIRTH_AT : _BIRTH_AT + 8], sys.byteorder, signed=True)
    return seconds * 1_000_000_000 + int.from_bytes(room.raw[_BIRTH_AT + 8 : _BIRTH_AT + 12], sys.byteorder)
