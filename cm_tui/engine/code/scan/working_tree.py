"""Scan of the working tree: HEAD's files, differences on disk, and exclusions."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pygit2.enums import FileStatus

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.skip_rules import NOT_CHECKED_OUT, SkipRules, folders_of, folders_to
from cm_tui.engine.platform.git.commits import Head
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.special_files import TOO_LONG, is_too_long
from cm_tui.engine.platform.git.trees import TreeEntry
from cm_tui.errors import RefusedError
from cm_tui.paths import data_dir, state_dir

# Unlike those of a Path, these return False for inaccessible paths and too long names.
_exists, _is_dir, _is_link = os.path.lexists, os.path.isdir, os.path.islink

UNREAD = "unread:"
"""Prefix of a path in the place of the object id of an unread file."""


@dataclass(slots=True)
class ScannedFiles:
    """Files of the project before any of their content is judged.

    Paths are relative to the root, with `/`.
    """

    head: Head
    committed: dict[str, str] = field(default_factory=dict)
    """HEAD's files that may be indexed, by path: object id."""
    disk: dict[str, str | None] = field(default_factory=dict)
    """Paths at which the disk differs from HEAD: object id of the current content; None: nothing to index."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of the current content."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Why a path is excluded."""


class WorkingTreeScan:
    """Scan of a project.

    `contents`: reads the disk. `known_size`: bytes of a blob by object id, if the store knows them. `chosen`: returns
    which paths to scan; None: all. `unread`: do not read files that differ on disk: each gets a unique name, and the
    size from the folder.
    """

    def __init__(
        self,
        repository: Repository,
        config: IndexConfig,
        contents: ContentReader,
        known_size: Mapping[str, int],
        chosen: Callable[[str], bool] | None = None,
        *,
        unread: bool = False,
    ) -> None:
        self._repository = repository
        self._root = repository.root
        self._prefix = f"{repository.root}/"
        self._contents = contents
        self._known_size = known_size
        self._chosen = chosen
        self._unread = unread
        self.files = ScannedFiles(repository.head())
        self._tree = repository.tree(self.files.head.sha)
        self._status = repository.status()
        deleted = any(FileStatus.WT_DELETED in flags for flags in self._status.values())
        self._absent = repository.not_checked_out() if deleted else frozenset[str]()
        self._staged = {path for path, flags in self._status.items() if FileStatus.INDEX_NEW in flags}
        self._folders = folders_of([*self._tree, *self._staged])
        self.rules = SkipRules(config, self._root, self._folders if repository.git else None)
        self._own = own_folders(self._root)
        self._linked: dict[str, bool] = {}
        self._foreign: dict[str, bool] = {}

    def run(self) -> ScannedFiles:
        """Look at HEAD's tree, then at everything that differs from it on disk."""
        for path, entry in self._tree.items():
            if self._chosen is None or self._chosen(path):
                self._committed(path, entry)
        for path, flags in sorted(self._status.items()):
            if self._chosen is None or self._chosen(path):
                self._differing(path, flags)
        for path, reason in self._repository.unreadable().items():
            if path and (self._chosen is None or self._chosen(path)) and self._by_path(path) in (None, reason):
                self.files.skipped.setdefault(printable(path), reason)
        return self.files

    def accepts(self, path: str) -> bool:
        """Whether a change at a path, file or folder, may matter: neither a rule nor git excludes it.

        Only for the current state: a path may be added to git, or a `.gitignore` changed, after this scan.
        """
        if self._by_path(path) is not None or self._is_foreign(path.rpartition("/")[0]):
            return False
        if path in self._tree or path in self._staged or path in self._folders:
            return True
        if self._repository.ignored(path):
            return False
        if not _is_dir(self._root / path):
            return True
        # A folder is judged by its possible content.
        return self.rules.by_path(f"{path}/_") is None and not self._repository.ignored(f"{path}/")

    def _is_foreign(self, folder: str) -> bool:
        """Whether a folder is below a link or in a nested repository."""
        for one in folders_to(folder, self._foreign):
            below = self._root / one
            above = self._foreign.get(one.rpartition("/")[0], False)
            self._foreign[one] = above or _is_link(below) or _exists(below / ".git")
        return self._foreign.get(folder, False)

    def _committed(self, path: str, entry: TreeEntry) -> None:
        reason = _entry_reason(entry) or self._by_path(path)
        size = 0
        if reason is None:
            size = self._known_size.get(entry.oid) or self._repository.size(entry.oid) or 0
            reason = self.rules.by_size(path, size)
        if reason is None:
            self.files.committed[path] = entry.oid
        if path in self._status:
            return
        if reason is None and self._contents.attributes.of(path).is_filtered:
            # Filtered content differs from git's; only the filter could compare the two.
            self._differing(path, FileStatus.CURRENT)
            return
        if reason is None:
            self.files.sizes[path] = size
        else:
            self.files.skipped[printable(path)] = reason

    def _differing(self, path: str, flags: FileStatus) -> None:
        if path.endswith("/"):
            nested = _exists(self._root / path / ".git")
            self.files.skipped[printable(path)] = "nested repository" if nested else "unreadable folder"
            return
        self.files.disk[path] = None
        gone = FileStatus.WT_DELETED in flags or (FileStatus.INDEX_DELETED in flags and FileStatus.WT_NEW not in flags)
        if gone or self._below_link(path):
            if is_too_long(f"{self._prefix}{path}"):
                # Not deleted: git cannot put it there, nor anybody look.
                self.files.skipped[printable(path)] = TOO_LONG
            elif path in self._absent:
                self.files.skipped[printable(path)] = NOT_CHECKED_OUT
            return
        try:
            reason = self._on_disk(path)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = f"unreadable: {error.strerror or error}"
        if reason:
            self.files.skipped[printable(path)] = reason
        elif self.files.disk[path] == self.files.committed.get(path):
            del self.files.disk[path]

    def _on_disk(self, path: str) -> str | None:
        """Record what is on disk at a path; returns why it is excluded."""
        found = os.lstat(self._root / path)
        if stat.S_ISLNK(found.st_mode):
            return "symbolic link"
        if stat.S_ISDIR(found.st_mode):
            entry = self._tree.get(path)
            return "submodule" if entry is not None and entry.is_submodule else "nested repository"
        if not stat.S_ISREG(found.st_mode):
            return "not a regular file"
        reason = self._by_path(path) or self.rules.by_size(path, found.st_size)
        if reason is None and self._unread:
            self.files.disk[path] = f"{UNREAD}{path}"
            self.files.sizes[path] = found.st_size
        elif reason is None:
            oid, data = self._contents.from_disk(path)
            self.files.disk[path] = oid
            self.files.sizes[path] = len(data)
        return reason

    def _by_path(self, path: str) -> str | None:
        if path.startswith(self._own):
            return "folder of cm itself"
        if is_too_long(f"{self._prefix}{path}"):
            return TOO_LONG
        return self.rules.by_path(path) if is_text(path) else "name is not UTF-8"

    def _below_link(self, path: str) -> bool:
        """Whether a folder above is a link, so that the path would lead elsewhere."""
        parent = path.rpartition("/")[0]
        for one in folders_to(parent, self._linked):
            self._linked[one] = self._linked.get(one.rpartition("/")[0], False) or _is_link(self._root / one)
        return self._linked.get(parent, False)


def _entry_reason(entry: TreeEntry) -> str | None:
    if entry.is_link:
        return "symbolic link"
    return "submodule" if entry.is_submodule else None


def own_folders(root: Path) -> tuple[str, ...]:
    """Return the folders of stores, journals and logs below the root."""
    own = {data_dir().resolve(), state_dir().resolve()}
    return tuple(f"{one.relative_to(root).as_posix()}/" for one in own if one.is_relative_to(root) and one != root)


def is_text(path: str) -> bool:
    """Whether a path is valid Unicode."""
    return path.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in path)


def printable(path: str) -> str:
    """Return a path that can be stored: bytes that are not UTF-8 are written in hexadecimal."""
    return path if is_text(path) else os.fsencode(path).decode("utf-8", "backslashreplace")


def path_filter(root: Path, paths: Sequence[str]) -> Callable[[str], bool]:
    """Return a test whether a path of the project is a named one, or below it.

    Raises RefusedError if one of them is outside the project.
    """
    names: set[str] = set()
    folders: list[str] = []
    for text in paths:
        # The folder is resolved, the name is not: a link is a name of the project like any other.
        given = root / text
        named = given.parent.resolve() / given.name if given.name not in {"", ".."} else given.resolve()
        if not named.is_relative_to(root):
            raise RefusedError(f"{text} is outside the project {root}.", hint="Give files of this project.")
        name = named.relative_to(root).as_posix()
        names.add(name)
        folders.append("" if name == "." else f"{name}/")
    below = tuple(folders)
    return lambda path: path in names or path.startswith(below)
