"""Atomic writes, and safe reads of files that may be anything."""

from __future__ import annotations

import errno
import glob
import io
import math
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PRIVATE = 0o600
"""Permissions of a file that only the user can read."""
SUFFIX = ".cm-new"
"""Ending of a file that is being written."""
_QUIET_S, _MOST_WAIT_S = 0.02, 1.0
"""A file that was not written for so long is whole; and how long one is waited for at most."""
_MOST_COMPARED = 100_000_000
_LEFT_S = 3_600.0
"""Age in seconds from which an unfinished file belongs to a killed process."""

_FILE = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_FOLDER = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"))
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

# Hooks of agents and of git import this module: nothing here may take long to import, as `tempfile` does.

_users_umask: int | None = None
"""The umask that the user gave this process; None while it is still in force."""


@contextmanager
def private_umask() -> Iterator[None]:
    """Have whatever this process makes belong to the user alone, also what libraries make, for a command's whole run.

    What is made for others to read (settings of a project, hooks, units) asks for the user's own umask.
    """
    global _users_umask  # noqa: PLW0603 - a process has one umask
    before = os.umask(0o077)
    outer, _users_umask = _users_umask, before if _users_umask is None else _users_umask
    try:
        yield
    finally:
        _users_umask = outer
        os.umask(before)


def users_umask() -> int:
    """Return the umask for programs that are started for the user; -1, which changes nothing, where it is in force."""
    return -1 if _users_umask is None else _users_umask


def shared_dir(path: Path) -> Path:
    """Make a folder, and all that are missing above it, with the permissions that the user's umask gives.

    Raises OSError if one cannot be made.
    """
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        is_new = not folder.exists()
        folder.mkdir(exist_ok=True)
        if is_new and _users_umask is not None:
            folder.chmod(0o777 & ~_users_umask)
    return path


class Stamp(NamedTuple):
    """Metadata of a file that changes when its content does."""

    changed_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """Take the stamp from the result of `stat`."""
        return cls(found.st_mtime_ns, found.st_size, found.st_ino)


def stamp_of(file: Path, *, follow: bool = True) -> Stamp | None:
    """Return a file's change stamp; None: missing or inaccessible.

    `follow`: whether a link stands for its target.
    """
    try:
        return Stamp.of(file.stat(follow_symlinks=follow))
    except (OSError, ValueError):
        return None


def write_atomically(
    file: Path, content: bytes | str, *, permissions: int | None = PRIVATE, durable: bool = False
) -> None:
    """Write a file, in the place of what had its name; a link is replaced, not followed.

    `file`: the file; its folder must be there. `content`: what it holds; text is written as UTF-8, with its line ends
    as they are. `permissions`: those of the file; None: those that the user's umask gives to any new file. `durable`:
    wait until the disk has the content. Raises OSError if it cannot be written; what was there before is untouched.
    """
    with replacing(file, permissions=permissions, durable=durable) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def replacing(file: Path, *, permissions: int | None = PRIVATE, durable: bool = False) -> Iterator[Path]:
    """Give an empty file in the same folder to fill; it takes the file's name when the block ends without an error.

    `file`: the file; its folder must be there. `permissions`: as for `write_atomically`. `durable`: as for
    `write_atomically`. Raises OSError if it cannot be written; what was there before is untouched.
    """
    temporary = file.with_name(f".{file.name}.{os.urandom(4).hex()}{SUFFIX}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        os.close(os.open(temporary, flags, 0o666 if permissions is None else PRIVATE))
        yield temporary
        if durable:
            _sync(temporary)
        if permissions is None and _users_umask is not None:
            permissions = 0o666 & ~_users_umask
        if permissions is not None and permissions != PRIVATE:
            temporary.chmod(permissions)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_if_unchanged(file: Path, data: bytes, before: bytes | None, permissions: int | None) -> bool:
    """Write a file whole unless another program changed, removed or created it since it was read.

    `file`: the file; its folder must be there. `data`: what it is to hold. `before`: what it held when it was read;
    None: it was missing. `permissions`: as for `write_atomically`. Returns whether it was written. Raises OSError if it
    cannot be written; what was there before is untouched.
    """
    try:
        with replacing(file, permissions=permissions) as temporary:
            temporary.write_bytes(data)
            # Before the last look: the disk may take a while.
            _sync(temporary)
            _check_unchanged(file, before)
            with suppress(OSError):
                # Nothing else removes them from users' folders.
                remove_left_overs(file, before=temporary.stat().st_mtime - _LEFT_S)
    except _ChangedError:
        return False
    return True


class _ChangedError(Exception):
    """Another program changed the file."""


def _check_unchanged(file: Path, before: bytes | None) -> None:
    if read_regular(file, _MOST_COMPARED) != before:
        raise _ChangedError


def wait_until_quiet(file: Path) -> None:
    """Wait until no program has written a file for a moment: one that saves in place empties it first."""
    end = time.monotonic() + _MOST_WAIT_S
    while time.monotonic() < end:
        try:
            age = time.time() - file.lstat().st_mtime
        except OSError:
            return
        # A time in the future was not written just now.
        if not 0 <= age < _QUIET_S:
            return
        time.sleep(_QUIET_S - age)


def set_aside(file: Path) -> Path | None:
    """Give a file that cannot be understood another name beside its own.

    Returns its new path, with the time in UTC in its name; None: it has gone. Raises OSError if it cannot be renamed.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for number in range(1000):
        kept = file.with_name(f"{file.stem}.damaged-{stamp}{f'-{number}' if number else ''}{file.suffix}")
        if os.path.lexists(kept):
            continue
        try:
            return file.rename(kept)
        except FileNotFoundError:
            return None
    raise FileExistsError(errno.EEXIST, "there are too many damaged copies next to it")


def damaged_copies(file: Path) -> list[Path]:
    """Return the files that `set_aside` made of a file, and those of processes that were killed while they wrote it."""
    patterns = f"{glob.escape(file.stem)}.damaged-*{glob.escape(file.suffix)}", f".{glob.escape(file.name)}.*{SUFFIX}"
    return sorted(found for pattern in patterns for found in file.parent.glob(pattern))


def remove_left_overs(file: Path, *, before: float = math.inf) -> None:
    """Remove what a process left that was killed while it wrote this file.

    `before`: seconds since the epoch; what was written later is kept, for a file that several may write at a time.
    Raises OSError if one cannot be removed.
    """
    # Of that ending alone: other programs keep files of their own beside it, by which an editor recovers after a crash.
    for left_over in file.parent.glob(f".{glob.escape(file.name)}.*{SUFFIX}"):
        with suppress(FileNotFoundError):
            if left_over.lstat().st_mtime < before:
                left_over.unlink()


def remove_old_left_overs(folder: Path, before: float) -> None:
    """Remove what killed processes left of any file in a folder of cm's own, or below; errors are ignored.

    `before`: seconds since the epoch; what was written later may be another process's, which is writing it.
    """
    for place, _, names in os.walk(folder):
        for left_over in (Path(place, name) for name in names if name[0] == "." and name.endswith(SUFFIX)):
            with suppress(OSError):
                if left_over.lstat().st_mtime < before:
                    left_over.unlink()


def permissions_of(file: Path) -> int | None:
    """Return a file's permissions, for writing it again; None when there is no such file."""
    try:
        return file.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _sync(file: Path) -> None:
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def read_bounded(file: Path, limit: int) -> bytes:
    """Read an ordinary file that may be anyone's: a pipe is not waited for, a device or a giant file not read.

    `file`: the file; links are followed. `limit`: the most bytes that it may have. Raises OSError if the file is
    missing, not a regular file, longer than the limit, or cannot be read.
    """
    return _content(os.open(file, _FILE & ~getattr(os, "O_NOFOLLOW", 0)), limit)


def read_inside(root: Path, path: str, limit: int) -> bytes:
    """Read an ordinary file below a folder; links are followed as long as they stay below it.

    `path`: relative to it, with `/`; `limit`: the most bytes that it may have. Raises OSError as for `read_below`; or
    links lead out of the folder.
    """
    real = Path(os.path.realpath(root))
    found = Path(os.path.realpath(real / path))
    if not found.is_relative_to(real):
        raise OSError(errno.ELOOP, "it is outside the project")
    # What was a folder a moment ago may be a link now.
    return read_below(real, found.relative_to(real).as_posix(), limit)


def read_below(root: Path, path: str, limit: int | None = None) -> bytes:
    """Read an ordinary file below a folder; no part of its path may be a link, also not since a moment ago.

    `root`: the folder; links on the way to it are followed. `path`: relative to it, with `/`, and without `.` and `..`.
    `limit`: the most bytes that it may have; None: any number. Raises OSError if it has gone, is a link or lies below
    one, is a pipe or a device, is longer than the limit, or cannot be read.
    """
    return _content(_open_below(root, path), limit)


@contextmanager
def opened_below(root: Path, path: str) -> Iterator[io.FileIO]:
    """Open an ordinary file below a folder as `read_below` does, for one that is read in pieces.

    `root`: the folder; links on the way to it are followed. `path`: relative to it, with `/`, and without `.` and `..`.
    Raises OSError as for `read_below`.
    """
    descriptor = _open_below(root, path)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with io.FileIO(descriptor, closefd=False) as stream:
            yield stream
    finally:
        os.close(descriptor)


def _open_below(root: Path, path: str) -> int:
    parts = path.split("/")
    if any(part in {"", ".", ".."} or "\0" in part or (os.name == "nt" and set(part) & set("\\:")) for part in parts):
        raise OSError(errno.EINVAL, "not a path of the project")
    return _open_stepwise(root, parts) if _STEPWISE else _open_checked(root, parts)


def _content(descriptor: int, limit: int | None) -> bytes:
    """Return what an open file holds, and close it."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL, "not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Python takes memory for as many bytes as are wanted, which leaves holes once it returns the rest.
            data = file.read() if limit is None else file.read(min(found.st_size, limit) + 1)
            if limit is not None and found.st_size < len(data) <= limit:
                data += file.read(limit + 1 - len(data))
    finally:
        os.close(descriptor)
    if limit is not None and len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit:,} bytes")
    return data


def read_regular(file: str | os.PathLike[str], limit: int) -> bytes | None:
    """Read a regular file that may be anything, wherever links lead: never waits for a pipe, never reads a device.

    `limit`: bytes that it may have. Returns None when it is not there, is something else, is longer, or cannot be read.
    """
    try:
        return read_bounded(Path(file), limit)
    except (OSError, ValueError):
        return None


def _open_stepwise(root: Path, parts: list[str]) -> int:
    """Open each folder relative to the one before, so that no link can be swapped in between."""
    *folders, name = parts
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in folders:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(name, _FILE, dir_fd=folder)
    except NotADirectoryError as error:
        # The system reports a link in the path as "not a directory", which misleads.
        raise OSError(errno.ELOOP, "a folder of its path is a symbolic link or a file") from error
    finally:
        os.close(folder)


def _open_checked(root: Path, parts: list[str]) -> int:
    """Open a path at once, where the system cannot step by step; what is open must be what lies below the folder."""
    descriptor = os.open(root.joinpath(*parts), _FILE)
    try:
        # Its own path, not what the path leads to by now: a link can be there for the opening alone.
        if _path_of(descriptor) == root.resolve().joinpath(*parts):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    raise OSError(errno.ELOOP, "it is a symbolic link or below one")


def _path_of(descriptor: int) -> Path:
    """Return the path that the system has for an open file, without links."""
    if sys.platform == "win32":
        import ctypes
        import msvcrt

        room = ctypes.create_unicode_buffer(32_768)
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        length = ctypes.windll.kernel32.GetFinalPathNameByHandleW(handle, room, len(room), 0)
        if not 0 < length < len(room):
            raise OSError(errno.EIO, "its path is unknown to the system")
        text = room.value.removeprefix("\\\\?\\")
        return Path("\\\\" + text.removeprefix("UNC\\") if text.startswith("UNC\\") else text)
    return Path(f"/proc/self/fd/{descriptor}").readlink()
