"""The root folder of a project, and which folders are never one by mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pygit2

from cm_tui.engine.platform.git.identity import Identity, identify, manifest_root
from cm_tui.engine.platform.git.opening import UnreadableGit, open_around
from cm_tui.engine.platform.git.special_files import refuse_special_ignores
from cm_tui.errors import NotFoundError, RefusedError, no_current_folder
from cm_tui.paths import PROJECT_FOLDER

# Refused themselves, although a project may be below them.
_NOT_ITSELF = frozenset(
    {
        "/home", "/media", "/mnt", "/opt", "/private", "/private/tmp", "/root", "/run", "/srv", "/tmp", "/usr",  # noqa: S108
        "/usr/local", "/usr/src", "/var", "/var/tmp", "/Applications", "/Users", "/Volumes",  # noqa: S108
        "c:/", "c:/users",
    }
)  # fmt: skip

# Refused with everything below them.
_NOT_BELOW = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr/bin", "/usr/lib",
    "/usr/lib64", "/usr/sbin", "/usr/share", "/Library", "/System", "c:/windows", "c:/program files",
    "c:/program files (x86)",
)  # fmt: skip

# Folders in memory may contain projects; the folder itself is not a project.
_BUT_BELOW = ("/dev/shm/",)  # noqa: S108 - only compared, no file is created

_SHOWN = 200
"""Characters of a path that cannot be one in a message."""


def find_root(start: Path | str | None = None, *, force: bool = False, around: bool = False) -> Path:
    """Return the root of the project around a folder.

    The working tree of the repository around it; for a folder that the repository ignores, and where there is no
    repository, the nearest folder upwards with a `.cm` folder or, unless a folder is named, an index; else the
    folder itself.

    Args:
        start: a folder or a file; the current folder when not given.
        force: take unsafe folders too; a folder indexed that way is accepted from then on.
        around: the folder is the current one, not one that the user named.

    Raises:
        NotFoundError: there is no such folder.
        RefusedError: the root would be a system folder, the home folder or the whole disk, or git does not trust it.
    """
    folder = _folder(start)
    named = not around and start is not None and folder == Path(start).expanduser().resolve()
    root = _repository_root(folder) or _marked_root(folder, or_indexed=not named) or folder
    if not force and not (_unsafe(root) and _is_insisted_on(root)):
        refuse_unsafe(root)
    return root


def refuse_unsafe(root: Path) -> None:
    """Raise before a system folder, the home folder or the whole disk is indexed.

    Raises RefusedError if the folder is one of those.
    """
    what = _unsafe(root)
    if what:
        raise RefusedError(
            f"{root} is {what}: indexing it would read far more than a project.",
            hint="Give a project folder, or override with `cm index --force`.",
        )


def _unsafe(root: Path) -> str | None:
    home = Path.home().resolve()
    if root == Path(root.anchor):
        return "the root of the disk"
    if root == home:
        return "the home folder"
    if root in home.parents:
        return "above the home folder"
    text = root.as_posix()
    lowered = text.lower() if os.name == "nt" else text
    if lowered.startswith(_BUT_BELOW):
        return None
    if lowered in _NOT_ITSELF or any(lowered == one or lowered.startswith(f"{one}/") for one in _NOT_BELOW):
        return "a system folder"
    return None


def _folder(start: Path | str | None) -> Path:
    try:
        folder = Path(start).expanduser().resolve() if start is not None else Path.cwd()
        if folder.is_dir():
            return folder
        if folder.exists():
            return folder.parent
    except OSError as error:
        if start is None:
            raise no_current_folder(error) from error
        said = f"{str(start)[:_SHOWN]}: {error.strerror or error}"
        raise NotFoundError(f"Cannot find {said}.", hint="Check the spelling and the permissions.") from error
    except (RuntimeError, ValueError) as error:
        raise NotFoundError(f"Cannot find {start}: {error}.", hint="Check the spelling.") from error
    raise NotFoundError(f"Folder not found: {folder}.", hint="Check the spelling, or give another with --project.")


def _repository_root(folder: Path) -> Path | None:
    repository = open_around(folder)
    if repository is None or isinstance(repository, UnreadableGit):
        # Ignored files are unknown: the whole checkout is the project.
        return repository and repository.root
    if repository.workdir is None:
        raise RefusedError(
            f"{repository.path} is a bare repository: it has no files to index.",
            hint="Give a checkout of it, such as a worktree.",
        )
    root = Path(repository.workdir).resolve()
    found = pygit2.discover_repository(str(folder))
    is_inside = any(folder.is_relative_to(one) for one in (root, Path(repository.path).resolve()))
    if not is_inside or pygit2.discover_repository(str(root)) != found:
        # `core.worktree` is in a file of the repository: its value is untrusted.
        raise RefusedError(
            f"The repository around {folder} names {root} as its working tree, which is not a checkout of it.",
            hint="Give a folder with its own `.git`.",
        )
    if folder != root and folder.is_relative_to(root):
        inside = folder.relative_to(root).as_posix()
        refuse_special_ignores(root, inside)
        if not inside.startswith(".git") and repository.path_is_ignored(f"{inside}/"):
            return None
    return root


def _marked_root(folder: Path, *, or_indexed: bool) -> Path | None:
    for parent in (folder, *folder.parents):
        if _unsafe(parent):
            return None
        if (parent / PROJECT_FOLDER).is_dir() or (or_indexed and _is_indexed(parent)):
            return parent
    return None


def _is_indexed(folder: Path) -> bool:
    return Identity(f"path:{folder}", folder.name).is_indexed


def _is_insisted_on(root: Path) -> bool:
    return manifest_root(identify(root).store_of(root)) == root
