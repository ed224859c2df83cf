"""A checkout for the index: HEAD, its tree, and differences on disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, FileStatus

from cm_tui.engine.platform.git import safe_git
from cm_tui.engine.platform.git.attributes import Attributes
from cm_tui.engine.platform.git.commits import CommitInfo, CommitNames, Commits, Head, LooseObjects, MissingError
from cm_tui.engine.platform.git.git_dir import folders_at
from cm_tui.engine.platform.git.opening import (
    UnreadableGit,
    open_around,
    opened,
    private_repository,
    refuse_broken_head,
)
from cm_tui.engine.platform.git.reach import FOREIGN, has_foreign_history
from cm_tui.engine.platform.git.special_files import refuse_special_below, refuse_special_ignores
from cm_tui.engine.platform.git.trees import TreeEntry, entries_of, files_of
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model.history import SHORT_SHA

_UNREADABLE = (KeyError, ValueError, OSError, pygit2.GitError)
"""What git's library raises for data that it cannot read."""


def untracked(root: Path, repository: pygit2.Repository) -> Iterator[tuple[str, FileStatus]]:
    """Yield every readable file of a folder without git that is not ignored.

    `repository`: the private one for comparing it.
    """
    folders = [""]
    while folders:
        inside = folders.pop()
        try:
            entries = sorted(os.scandir(root / inside), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{inside}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if repository.path_is_ignored(f"{path}/" if is_folder else path):
                continue
            if is_folder and not os.path.lexists(os.path.join(entry.path, ".git")):  # noqa: PTH118 - for each folder
                folders.append(f"{path}/")
            else:
                yield (f"{path}/" if is_folder else path), FileStatus.WT_NEW


def passed_folders(repository: pygit2.Repository) -> Callable[[str], bool]:
    """Return a test whether a comparison skips a folder, given with `/` at its end: ignored, with nothing tracked in it.

    Folders with tracked files are not looked up in the rules: a thousand levels down, that took git's library 10 s.
    """
    tracked: set[str] = set()
    try:
        for entry in repository.index:
            folder = entry.path.rpartition("/")[0]
            while folder and folder not in tracked:
                tracked.add(folder)
                folder = folder.rpartition("/")[0]
    except _UNREADABLE:
        return lambda _: False

    def is_passed(folder: str) -> bool:
        try:
            return folder[:-1] not in tracked and bool(repository.path_is_ignored(folder))
        except _UNREADABLE:
            return False

    return is_passed


_ALIKE = 50
"""Least per cent of common lines of a renamed file: git's own default."""
_MOST_FILES = 1_000
"""Deleted files that are compared with the new ones, each with each; of more, only equal contents are paired."""


def renames_between(repository: pygit2.Repository, before: str, after: str) -> dict[str, str]:
    """Return the new path of each file renamed by a commit, by its old one; empty if objects are missing.

    `repository`: an open pygit2 repository; `before`: sha of the older commit; `after`: sha of the newer one.
    """
    try:
        diff = repository.diff(before, after)
        diff.find_similar(flags=DiffFind.FIND_RENAMES, rename_threshold=_ALIKE, rename_limit=_MOST_FILES)
        return {one.old_file.path: one.new_file.path for one in diff.deltas if one.status == DeltaStatus.RENAMED}
    except (MissingError, KeyError, ValueError, pygit2.GitError):
        return {}


_PARENT = re.compile(rb"\nparent ([0-9a-f]{40})(?=\n|$)")


class Repository:
    """A project's root, with git or without.

    A folder without git, or whose `.git` leads to a repository without a reference back, is compared by a private
    repository in the store's folder, with that folder as its working tree: so `.gitignore` files and change detection
    work the same, and nothing is written into the user's folder.

    Raises RefusedError if git's data cannot be opened.
    """

    def __init__(self, root: Path, shadow: Path) -> None:
        self.root = root
        found = open_around(root)
        own = found if isinstance(found, pygit2.Repository) else None
        is_own = bool(own and own.workdir and Path(own.workdir).resolve() == root)
        is_foreign = is_own and has_foreign_history(root)
        self.git = is_own and not is_foreign
        self.git_problem = _problem(root, found, is_foreign=is_foreign)
        """Why a folder with a `.git` counts as one without git; empty if it has none."""
        self._opened = own if own is not None and self.git else private_repository(shadow, root)
        self._common = folders_at(Path(self._opened.path)).common
        self._loose = LooseObjects(Path(self._opened.path))
        self._commits = Commits(self._opened)
        self._boundary = self.shallow_boundary()
        self._unreadable: dict[str, str] | None = None

    @property
    def _repository(self) -> pygit2.Repository:
        """The open pygit2 repository; it does not notice when the end of a shallow clone changes."""
        boundary = self.shallow_boundary()
        if boundary != self._boundary:
            again = opened(self.root)
            self._opened, self._commits, self._boundary = again, Commits(again), boundary
        return self._opened

    def shallow_boundary(self) -> str:
        """Identifies the end of a shallow clone; empty for a complete clone."""
        if not self.git:
            return ""
        try:
            found = (self._common / "shallow").stat()
        except OSError:
            return ""
        return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}" if found.st_size else ""

    def head(self) -> Head:
        """Return the state of HEAD. Raises CmError if git's library cannot read it, or its target."""
        if not self.git:
            return Head(None, None)
        try:
            return _read_head(self._repository)
        except (ValueError, KeyError, pygit2.GitError) as error:
            refuse_broken_head(Path(self._opened.path))
            raise CmError(
                f"HEAD of {self.root} cannot be read: {error}", hint="Check the repository with `git fsck`."
            ) from error

    def tree(self, sha: str | None) -> dict[str, TreeEntry]:
        """Return every file of a commit, by path with `/`; names that are not UTF-8 carry surrogates.

        Raises CmError if the commit or a tree of it is not in this clone, or damaged.
        """
        if sha is None:
            return {}
        try:
            return dict(files_of(self._repository, self._loose, self._current().require(sha).tree))
        except (MissingError, KeyError, ValueError, pygit2.GitError) as error:
            raise CmError(
                f"The files of commit {sha[:SHORT_SHA]} cannot be listed: {error}",
                hint="Part of the repository is missing or damaged; check it with `git fsck`.",
            ) from error

    def status(self) -> Mapping[str, FileStatus]:
        """Return the paths that differ between HEAD, git's index and the disk, without ignored ones.

        A path that ends in `/` is a nested repository, which git does not search. Raises CmError if git's index cannot
        be read, or there is a pipe or a device instead of an ignore file.
        """
        self.unreadable()
        try:
            return {path: FileStatus(flags) for path, flags in self._repository.status().items()}
        except (ValueError, OSError, pygit2.GitError) as error:
            if not self.git:
                return dict(untracked(self.root, self._opened))
            # Git itself reads more than its library: split and sparse indexes, commits written by other tools, and the
            # neighbours of an unreadable folder.
            try:
                return safe_git.status(self.root)
            except CmError:
                raise CmError(f"git cannot compare {self.root}: {error}", hint="Check it with `git status`.") from error

    def not_checked_out(self) -> frozenset[str]:
        """Return the files outside a sparse checkout; empty if the git program is unavailable."""
        if not self.git or not Path(self._opened.path, "info", "sparse-checkout").exists():
            return frozenset()
        try:
            return frozenset(safe_git.not_checked_out(self.root))
        except CmError:
            # They are deleted files then, as for git's library.
            return frozenset()

    def unreadable(self) -> Mapping[str, str]:
        """Return unreadable parts of the checkout, with the reason; folders end in `/`.

        Raises RefusedError if there is a pipe or a device instead of an ignore file.
        """
        if self._unreadable is None:
            self._unreadable = refuse_special_below(self.root, passed_folders(self._opened))
        return self._unreadable

    def ignored(self, path: str) -> bool:
        """True when a `.gitignore` excludes a path.

        Raises RefusedError if one on the way to it is a pipe or a device.
        """
        refuse_special_ignores(self.root, path)
        return bool(self._repository.path_is_ignored(path))

    def attributes(self) -> Attributes:
        """Return the attributes of files as they are now."""
        return Attributes(self._repository, self.root)

    def is_tracked(self, path: str) -> bool:
        """Return whether git tracks a file; False without git.

        Raises CmError if git's index cannot be read.
        """
        try:
            return self.git and path in self._repository.index
        except (ValueError, OSError, pygit2.GitError) as error:
            raise CmError(
                f"git's index of {self.root} cannot be read: {error}", hint="Check it with `git status`."
            ) from error

    def size(self, oid: str) -> int | None:
        """Return the size of a committed blob, from its header; None: the object is not here (a partial clone)."""
        try:
            _, size = self._repository.odb.read_header(oid)
        except KeyError:
            return None
        return int(size)

    def release(self) -> None:
        """Close the files of git's objects until the next use: all who read a pack share up to 16 MB of its content."""
        self._opened.free()

    def read(self, oid: str) -> bytes | None:
        """Return the content of a committed blob; None when the object is not here.

        Raises:
            pygit2.GitError: it is damaged.
        """
        self._loose.refuse_truncated(oid)
        found = self._repository.get(oid)
        return found.data if isinstance(found, pygit2.Blob) else None

    def resolve(self, ref: str, *, hint: str = "Give a branch, a tag or a commit.") -> str:
        """Return the commit of a name.

        `hint`: what else the caller accepts.

        Raises NotFoundError if there is no such commit; UsageError if the project has no git, or the name is ambiguous
        or malformed.
        """
        if not self.git:
            raise UsageError(f"{self.root} is not a git repository, so it has no commit {ref!r}.")
        if "\0" in ref:
            # git's library would read it up to there.
            raise UsageError(f"Not a commit name: {ref!r}.", hint=hint)
        try:
            return CommitNames(self._repository, self._current(), self._loose).resolve(ref)
        except pygit2.AmbiguousError as error:
            raise UsageError(
                f"{ref!r} is too short: it may match several commits.", hint="Give more characters of the sha."
            ) from error
        except MissingError as error:
            raise NotFoundError(
                f"{ref!r} points to commit {error.oid[:SHORT_SHA]}, which is missing or cannot be read.",
                hint="`git fsck` lists missing objects.",
            ) from error
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise NotFoundError(f"Commit not found in this repository: {ref!r}.", hint=hint) from error

    def commit(self, sha: str) -> CommitInfo:
        """Return when a commit was made, by whom and what.

        Raises MissingError if the commit is not in this clone, or damaged.
        """
        return self._current().require(sha).info

    @property
    def is_shallow(self) -> bool:
        """True for a clone that ends before the first commit: deepening it extends its mainline."""
        return self.git and self._repository.is_shallow

    def first_parents(
        self, sha: str, known: Mapping[str, tuple[CommitInfo, str | None]] = MappingProxyType({})
    ) -> Iterator[CommitInfo]:
        """Yield a commit, its first parent, that one's, and so on, as far as this clone has them.

        `sha`: where to begin; `known`: commits with their first parents that need not be read.
        """
        commits = self._current()
        following: str | None = sha
        while following is not None:
            if following in known:
                info, following = known[following]
                yield info
                continue
            commit = commits.get(following)
            if commit is None:
                return
            yield commit.info
            following = next(iter(commit.parents), None)

    def missing_parent(self, sha: str) -> str | None:
        """Return the missing parent of the last commit of the mainline, in a shallow or incomplete clone.

        None for the very first commit. If the commit itself is gone, that is unknown.
        """
        data = self._current().raw(sha)
        if data is None:
            return sha
        found = _PARENT.search(data.partition(b"\n\n")[0])
        return found[1].decode() if found is not None else None

    def has(self, sha: str) -> bool:
        """True when a commit can be read here."""
        return self._current().get(sha) is not None

    def is_readable(self, oid: str) -> bool:
        """True when an object of any kind is here and whole."""
        try:
            self._loose.refuse_truncated(oid)
            self._repository.read(oid)
        except (KeyError, ValueError, pygit2.GitError):
            return False
        return True

    def parents(self, sha: str) -> tuple[str, ...]:
        """Return all parents of a commit; empty for the first one, and for one that is not in this clone."""
        commit = self._current().get(sha)
        return commit.parents if commit is not None else ()

    def tree_of(self, sha: str) -> bytes:
        """Return the object id of a commit's tree.

        Raises MissingError if the commit is not in this clone, or damaged.
        """
        return bytes(self._current().require(sha).tree.raw)

    def entries(self, tree: bytes) -> dict[bytes, bytes]:
        """Return the direct entries of a tree: mode in octal digits, then the object id's 20 bytes, by name.

        Raises MissingError if the tree is not in this clone, or damaged.
        """
        return entries_of(self._repository, self._loose, tree)

    def renames(self, before: str, after: str) -> dict[str, str]:
        """Return the new path of each file renamed between two commits, by its old one."""
        return renames_between(self._repository, before, after) if self.git else {}

    def _current(self) -> Commits:
        assert self._repository is not None
        return self._commits


def _problem(root: Path, found: pygit2.Repository | UnreadableGit | None, *, is_foreign: bool) -> str:
    if isinstance(found, UnreadableGit):
        return found.note if found.root == root else ""
    # HEAD or branches are another repository's, without a reference back.
    return f"No history: {FOREIGN}" if is_foreign else ""


def _read_head(repository: pygit2.Repository) -> Head:
    """Return the state of HEAD.

    Raises:
        ValueError, KeyError, pygit2.GitError: git's library cannot read it, or its target.
    """
    if repository.head_is_unborn:
        target = repository.lookup_reference("HEAD").raw_target
        name = target.decode("utf-8", "replace") if isinstance(target, bytes) else ""
        return Head(None, name.removeprefix("refs/heads/") or None)
    branch = None if repository.head_is_detached else repository.head.shorthand
    return Head(str(repository.head.target), branch)
