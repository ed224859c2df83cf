"""A checkout as the index sees it: HEAD, its tree, and what differs from it on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode, FileStatus

from cm_tui.engine.git import git_cli
from cm_tui.engine.git.commit_names import CommitNames
from cm_tui.engine.git.commits import CommitInfo, Commits, MissingError
from cm_tui.engine.git.git_dir import folders_at
from cm_tui.engine.git.loose_objects import LooseObjects
from cm_tui.engine.git.opening import private_repository, repository_around
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model.history import SHORT_SHA

_PARENT = re.compile(rb"\nparent ([0-9a-f]{40})(?=\n|$)")


class TreeEntry(NamedTuple):
    """A file of HEAD's tree."""

    oid: str
    mode: int

    @property
    def is_link(self) -> bool:
        """A symbolic link: its content is a path, not source."""
        return self.mode == FileMode.LINK

    @property
    def is_submodule(self) -> bool:
        """A commit of another repository."""
        return self.mode == FileMode.COMMIT


@dataclass(frozen=True, slots=True)
class Head:
    """The commit and branch of a checkout."""

    sha: str | None
    """None before the first commit, and without git."""
    branch: str | None
    """None when detached, and without git."""


class Repository:
    """A project's root, with git or without.

    A folder without git is compared by a private repository in the store's folder, whose working tree it is: so
    `.gitignore` files and change detection work the same, and nothing is written into the user's folder.

    Args:
        root: the project's root.
        shadow: where that private repository may be kept.

    Raises:
        RefusedError: git's data cannot be opened.
    """

    def __init__(self, root: Path, shadow: Path) -> None:
        self.root = root
        own = repository_around(root)
        self.git = bool(own and own.workdir and Path(own.workdir).resolve() == root)
        self._opened = own if own is not None and self.git else private_repository(shadow, root)
        self._common = folders_at(Path(self._opened.path)).common
        self._loose = LooseObjects(Path(self._opened.path))
        self._commits = Commits(self._opened)
        self._boundary = self.shallow_boundary()

    @property
    def _repository(self) -> pygit2.Repository:
        """Git's library at work; it does not notice by itself that a shallow clone now ends elsewhere."""
        boundary = self.shallow_boundary()
        if boundary != self._boundary:
            opened = pygit2.Repository(str(self.root))
            self._opened, self._commits, self._boundary = opened, Commits(opened), boundary
        return self._opened

    def shallow_boundary(self) -> str:
        """Stands for where a shallow clone ends; nothing for a clone that is whole."""
        if not self.git:
            return ""
        try:
            found = (self._common / "shallow").stat()
        except OSError:
            return ""
        return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}" if found.st_size else ""

    @property
    def objects(self) -> Path | None:
        """Git's folder, from which another process can read committed content; None without git."""
        return Path(self._repository.path) if self.git else None

    def head(self) -> Head:
        """Return where HEAD stands."""
        if not self.git:
            return Head(None, None)
        repository = self._repository
        if repository.head_is_unborn:
            target = repository.lookup_reference("HEAD").raw_target
            name = target.decode("utf-8", "replace") if isinstance(target, bytes) else ""
            return Head(None, name.removeprefix("refs/heads/") or None)
        branch = None if repository.head_is_detached else repository.head.shorthand
        return Head(str(repository.head.target), branch)

    def tree(self, sha: str | None) -> dict[str, TreeEntry]:
        """Return every file of a commit, by path with `/`; names that are not UTF-8 carry surrogates.

        Raises:
            CmError: the commit or a tree of it is not in this clone, or damaged.
        """
        if sha is None:
            return {}
        try:
            return dict(self._walk(self._current().require(sha).tree, ""))
        except (MissingError, KeyError, ValueError, pygit2.GitError) as error:
            raise CmError(
                f"The files of commit {sha[:SHORT_SHA]} cannot be listed: {error}",
                hint="Part of the repository is missing or damaged; check it with `git fsck`.",
            ) from error

    def status(self) -> Mapping[str, FileStatus]:
        """Return the paths that differ between HEAD, git's index and the disk; ignored ones are left out.

        A path that ends in `/` is a folder that git does not look into: a nested repository.

        Raises:
            CmError: git's index cannot be read.
        """
        try:
            return {path: FileStatus(flags) for path, flags in self._repository.status().items()}
        except (ValueError, pygit2.GitError) as error:
            # Git itself reads more than its library: split and sparse indexes, commits written by other tools.
            try:
                return git_cli.status(self.root)
            except CmError:
                raise CmError(f"git cannot compare {self.root}: {error}", hint="Check it with `git status`.") from error

    def ignored(self, path: str) -> bool:
        """True when a `.gitignore` excludes a path."""
        return bool(self._repository.path_is_ignored(path))

    def size(self, oid: str) -> int | None:
        """Return the size of a committed blob, from its header; None when the object is not here (a partial clone)."""
        try:
            _, size = self._repository.odb.read_header(oid)
        except KeyError:
            return None
        return int(size)

    def read(self, oid: str) -> bytes | None:
        """Return the content of a committed blob; None when the object is not here.

        Raises:
            pygit2.GitError: it is damaged.
        """
        self._loose.refuse_truncated(oid)
        found = self._repository.get(oid)
        return found.data if isinstance(found, pygit2.Blob) else None

    def resolve(self, ref: str) -> str:
        """Return the commit that a name stands for.

        Raises:
            NotFoundError: there is no such commit.
            UsageError: the project has no git, or the name is ambiguous or malformed.
        """
        if not self.git:
            raise UsageError(f"{self.root} is no git repository: there is no commit {ref!r}.")
        if "\0" in ref:
            # git's library would read it up to there.
            raise UsageError(f"{ref!r} is no name of a commit.", hint="Name a branch, a tag or a commit.")
        try:
            return CommitNames(self._repository, self._current(), self._loose).resolve(ref)
        except pygit2.AmbiguousError as error:
            raise UsageError(
                f"{ref!r} is too short: it may mean several commits.", hint="Give more of the sha."
            ) from error
        except MissingError as error:
            raise NotFoundError(
                f"{ref!r} leads to commit {error.oid[:SHORT_SHA]}, which is missing or cannot be read.",
                hint="`git fsck` tells what the repository lacks.",
            ) from error
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise NotFoundError(
                f"There is no commit {ref!r} in this repository.", hint="Name a branch, a tag or a commit."
            ) from error

    def commit(self, sha: str) -> CommitInfo:
        """Return when a commit was made, by whom and what.

        Raises:
            MissingError: the commit is not in this clone, or damaged.
        """
        return self._current().require(sha).info

    @property
    def is_shallow(self) -> bool:
        """True for a clone that ends before the first commit: its mainline grows at the far end when it is deepened."""
        return self.git and self._repository.is_shallow

    def first_parents(self, sha: str) -> Iterator[CommitInfo]:
        """Yield a commit, its first parent, that one's, and so on, as far as they are in this clone."""
        commits = self._current()
        following: str | None = sha
        while following is not None and (commit := commits.get(following)) is not None:
            yield commit.info
            following = next(iter(commit.parents), None)

    def missing_parent(self, sha: str) -> str | None:
        """Return the parent before a commit that ends the mainline here, but not in truth: the clone is shallow or lacks objects.

        None for the first commit of all. When the commit itself is gone by now, nothing says that it was the first.
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
        """Return all parents of a commit; none for the first one, and for one that is not in this clone."""
        commit = self._current().get(sha)
        return commit.parents if commit is not None else ()

    def tree_of(self, sha: str) -> bytes:
        """Return the object id of a commit's tree.

        Raises:
            MissingError: the commit is not in this clone, or damaged.
        """
        return bytes(self._current().require(sha).tree.raw)

    def entries(self, tree: bytes) -> dict[bytes, tuple[bytes, bytes]]:
        """Return what stands directly in a tree: mode in octal digits and object id, by name.

        Raises:
            MissingError: the tree is not in this clone, or damaged.
        """
        try:
            self._loose.refuse_truncated(tree.hex())
            _, data = self._repository.read(pygit2.Oid(raw=tree))
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise MissingError(tree.hex()) from error
        found: dict[bytes, tuple[bytes, bytes]] = {}
        at, end = 0, len(data)
        while at < end:
            space = data.index(b" ", at)
            stop = data.index(b"\0", space)
            found[data[space + 1 : stop]] = (data[at:space], data[stop + 1 : stop + 21])
            at = stop + 21
        return found

    def _current(self) -> Commits:
        assert self._repository is not None
        return self._commits

    def _walk(self, tree: pygit2.Oid, prefix: str) -> Iterator[tuple[str, TreeEntry]]:
        self._loose.refuse_truncated(str(tree))
        for entry in self._repository[tree].peel(pygit2.Tree):
            path = f"{prefix}{entry.name}"
            if entry.filemode == FileMode.TREE:
                yield from self._walk(entry.id, f"{path}/")
            else:
                yield path, TreeEntry(str(entry.id), int(entry.filemode))
