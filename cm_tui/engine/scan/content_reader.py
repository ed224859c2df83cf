"""Content of files: committed ones from git, others from disk, never through a link."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pygit2

from cm_tui.engine.git.repository import Repository

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_FOLDER = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"))
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_KEPT_BYTES = 64_000_000


class ChangedError(Exception):
    """Error: a file is no longer what it was a moment ago.

    Args:
        path: which one.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ContentReader:
    """Reader of files; what came from disk is kept for the rest of the run, up to 64 MB.

    Args:
        repository: the checkout.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._kept: dict[str, bytes] = {}
        self._free_bytes = _KEPT_BYTES

    def from_disk(self, path: str) -> tuple[str, bytes]:
        """Return object id and bytes of what a path holds at this moment.

        Raises:
            OSError: it has gone, is a link or lies below one, or cannot be read.
        """
        data = _read(self._repository.root, path)
        oid = str(pygit2.hash(data))
        if oid not in self._kept and len(data) <= self._free_bytes:
            self._kept[oid] = data
            self._free_bytes -= len(data)
        return oid, data

    def get(self, path: str, oid: str) -> bytes | None:
        """Return the bytes of an object, wherever they are: read before, in git, or on disk at a path.

        Returns:
            None when nothing holds them any more.
        """
        kept = self._kept.get(oid)
        if kept is not None:
            return kept
        data = self._repository.read(oid)
        if data is not None:
            return data
        try:
            found, data = self.from_disk(path)
        except OSError:
            return None
        return data if found == oid else None

    def text(self, path: str, oid: str) -> str:
        """Return an object as text; bytes that are not UTF-8 become replacement characters.

        Raises:
            ChangedError: nothing holds these bytes any more: the file was edited meanwhile.
        """
        data = self.get(path, oid)
        if data is None:
            raise ChangedError(path)
        return data.decode("utf-8", "replace")


def _read(root: Path, path: str) -> bytes:
    """Read a file of the project; no part of its path may be a link, also not since a moment ago."""
    descriptor = _open_stepwise(root, path) if _STEPWISE else _open_checked(root, path)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        return file.read()


def _open_stepwise(root: Path, path: str) -> int:
    """Open each folder in the one before it, so that nobody can put a link on the way meanwhile."""
    *folders, name = _parts(path)
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in folders:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(name, _FLAGS, dir_fd=folder)
    except NotADirectoryError as error:
        # What the system says of a link where a folder is wanted would mislead whoever reads it.
        raise OSError(errno.ELOOP, "a folder of its path is a link or a file") from error
    finally:
        os.close(folder)


def _open_checked(root: Path, path: str) -> int:
    """Open a path at once, where the system cannot step by step; once open, it must lead where it says."""
    wanted = root.joinpath(*_parts(path))
    descriptor = os.open(wanted, _FLAGS)
    if wanted.resolve() != root.resolve().joinpath(*_parts(path)):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "it lies below a link")
    return descriptor


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise OSError(errno.EINVAL, "not a path of the project")
    return parts
