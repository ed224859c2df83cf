"""Pipes and devices in the place of git's data: git's library would block on one forever, with all threads.

So every file that the library will open is checked first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from cm_tui.engine.platform.git import git_dir
from cm_tui.errors import RefusedError
from cm_tui.files import read_regular

_OWN = ("HEAD", "commondir", "gitdir", "index", "config.worktree")
_COMMON = ("packed-refs", "shallow", "info/grafts", "info/exclude", "info/attributes")
_OBJECTS = ("info/alternates", "info/commit-graph", "pack/multi-pack-index")
_CHECKOUT = (".gitignore", ".gitattributes", ".gitmodules")
_INCLUDES = 100
"""How many files a repository's settings may include."""

PATH_BYTES = 4096
"""The limit of Linux (`PATH_MAX`, including the NUL); systems with a lower one report it themselves."""
_NAME_BYTES = 1024
"""More than any file system allows for one name."""
TOO_LONG = f"path of {PATH_BYTES:,} bytes or more"

_join = os.path.join


def refuse_special(folder: Path) -> None:
    """Raise before git's library looks for a repository and opens it, where it could block.

    Raises RefusedError if there is a pipe, a socket or a device in its place, or settings are too large.
    """
    _refuse(*(folder / name for name in _CHECKOUT))
    for one in (folder, *folder.parents):
        # This much it looks at in every folder upwards, for it might be a repository itself.
        git, common, head, objects, refs = (
            _join(one, name) for name in (".git", "commondir", "HEAD", "objects", "refs")
        )
        _refuse(git, common, head)
        found = git_dir.git_folders(one) if os.path.lexists(git) else None
        if found is None and all(map(os.path.lexists, (head, objects, refs))):
            found = git_dir.folders_at(one)
        if found is not None:
            _refuse(*(one / name for name in _CHECKOUT))
            _refuse_in_repository(*found)


def refuse_special_ignores(root: Path, path: str) -> None:
    """Raise before git's library reads the ignore files for a path, where it could block.

    Raises RefusedError if there is a pipe, a socket or a device in their place.
    """
    folder = root
    for part in path.rstrip("/").split("/"):
        _refuse(folder / ".gitignore")
        folder /= part


def refuse_special_below(root: Path, is_passed: Callable[[str], bool]) -> dict[str, str]:
    """Raise before git's library compares a checkout: it reads all ignore files and nested repositories.

    `is_passed`: returns whether the library skips a folder, relative and with `/` at its end. Returns unreadable paths
    with the reason: folders (with `/` at their end) and files whose path is too long. Raises RefusedError if there is a
    pipe, a socket or a device in their place.
    """
    unreadable: dict[str, str] = {}
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        folders = []
        is_deep = is_too_long(f"{root}/{inside}", _NAME_BYTES)
        try:
            with os.scandir(_join(root, inside)) as entries:
                for entry in entries:
                    name, slash = entry.name, "/" if entry.is_dir(follow_symlinks=False) else ""
                    if is_deep and is_too_long(f"{entry.path}{slash}"):
                        unreadable[f"{inside}{name}{slash}"] = TOO_LONG
                    elif name in _CHECKOUT:
                        _refuse(Path(entry.path))
                    elif name == ".git":
                        _refuse_in_nested(Path(entry.path))
                    elif slash:
                        folders.append(f"{inside}{name}/")
        except FileNotFoundError:
            continue
        except OSError as error:
            unreadable[inside] = f"unreadable folder: {error.strerror or error}"
            continue
        # Only now: its own ignore file may be read.
        waiting += [one for one in folders if not is_passed(one)]
    return unreadable


def is_too_long(path: str | Path, more: int = 0) -> bool:
    """Return whether an absolute path, and so many bytes more, is too long for system calls."""
    text = str(path)
    # Each character has at most four bytes: only a path that comes near is counted.
    return len(text) * 4 + more >= PATH_BYTES and len(os.fsencode(text)) + more >= PATH_BYTES


def _refuse_in_nested(dot: Path) -> None:
    _refuse(dot)
    found = git_dir.git_folders(dot.parent)
    if found is not None:
        _refuse_in_repository(*found)


def _refuse_in_repository(own: Path, common: Path) -> None:
    _refuse(*(own / name for name in _OWN), *(common / name for name in _COMMON))
    objects = common / "objects"
    for one in (objects, *git_dir.alternates(objects)):
        _refuse(*(one / name for name in _OBJECTS), *_files_in(one / "pack"), *_files_in(one / "info/commit-graphs"))
    for text in git_dir.head_chain(git_dir.folders_at(own)):
        name = text.removeprefix("ref:").strip().replace("\0", "")
        _refuse(own / name, common / name)
    _refuse_in_settings([common / "config", own / "config.worktree"])


def _refuse_in_settings(files: list[Path]) -> None:
    first, seen = files[0], set[Path]()
    while files:
        file = files.pop()
        if file in seen:
            continue
        seen.add(file)
        if len(seen) > _INCLUDES:
            raise RefusedError(f"The settings in {first} include too many files.", hint="Fix that file.")
        files += _included_by(file)


def _included_by(file: Path) -> Iterator[Path]:
    """Yield the settings files that one includes, after checking all else that git's library reads because of it."""
    _refuse(file)
    data = read_regular(file, git_dir.CONFIG_BYTES)
    if data is None:
        if file.is_file() and os.access(file, os.R_OK):
            raise RefusedError(f"{file} is too large for a git settings file.", hint="Shorten or remove it.")
        # Missing or not accessible: the library reports it.
        return
    if b"\0" in data:
        raise RefusedError(f"{file} is not a git settings file: it contains a NUL byte.", hint="Fix or remove it.")
    for section, key, value in git_dir.settings_in(os.fsdecode(data)):
        if (section, key) in {("core", "excludesfile"), ("core", "attributesfile")}:
            _refuse(_place(file, value))
        elif key == "path" and section in {"include", "include.", "includeif", "includeif."}:
            yield _place(file, value)


def _place(file: Path, value: str) -> Path:
    return Path(os.path.normpath(file.parent / os.path.expanduser(value)))  # noqa: PTH111 - as git: `~` alone, and no error


def _files_in(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
    except OSError:
        return


def _refuse(*files: Path | str) -> None:
    for file in files:
        try:
            mode = os.stat(file).st_mode  # noqa: PTH116 - some dozens for each question
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise RefusedError(
                f"{file} is a pipe or a device: git would block on it.",
                hint="Remove it; git's data consists of files and folders.",
            )
