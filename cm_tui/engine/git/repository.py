"""A checkout as the index sees it: HEAD, its tree, and what differs from it on disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode, FileStatus

from cm_tui.engine.git import porcelain
from cm_tui.engine.git.loose import Loose
from cm_tui.engine.git.roots import repository_around
from cm_tui.errors import CmError, NotFoundError, UsageError


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
    """Where a checkout stands."""

    sha: str | None
    """None before the first commit, and without git."""
    branch: str | None
    """None when detached, and without git."""


class CommitInfo(NamedTuple):
    """A row of `line_commit`, without its ordinal."""

    sha: str
    time: int
    author: str
    subject: str


class MissingError(Exception):
    """An object that is not in this clone, or damaged.

    Args:
        oid: which one.
    """

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.oid = oid


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
        self._repository = own if own is not None and self.git else _shadow(shadow, root)
        self._loose = Loose(Path(self._repository.path))

    @property
    def objects(self) -> Path | None:
        """Git's folder, from which another process can read committed content; None without git."""
        return Path(self._repository.path) if self.git else None

    def head(self) -> Head:
        """Where HEAD stands."""
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
        """Every file of a commit, by path with `/`; names that are not UTF-8 carry surrogates."""
        if sha is None:
            return {}
        return dict(_walk(self._commit(sha).tree, ""))

    def status(self) -> Mapping[str, FileStatus]:
        """Paths that differ between HEAD, git's index and the disk; ignored ones are left out.

        A path that ends in `/` is a folder that git does not look into: a nested repository.

        Raises:
            CmError: git's index cannot be read.
        """
        try:
            return {path: FileStatus(flags) for path, flags in self._repository.status().items()}
        except pygit2.GitError as error:
            if "unsupported mandatory extension" in str(error):
                return porcelain.status(self.root)
            raise CmError(f"git cannot compare {self.root}: {error}", hint="Check it with `git status`.") from error

    def ignored(self, path: str) -> bool:
        """True when a `.gitignore` excludes a path."""
        return bool(self._repository.path_is_ignored(path))

    def size(self, oid: str) -> int | None:
        """Bytes of a committed blob, from its header; None when the object is not here (a partial clone)."""
        try:
            _, size = self._repository.odb.read_header(oid)
        except KeyError:
            return None
        return int(size)

    def read(self, oid: str) -> bytes | None:
        """Content of a committed blob; None when the object is not here.

        Raises:
            pygit2.GitError: it is damaged.
        """
        self._loose.refuse_cut(oid)
        found = self._repository.get(oid)
        return found.data if isinstance(found, pygit2.Blob) else None

    def resolve(self, ref: str) -> str:
        """Commit that a name stands for.

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
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        except pygit2.AmbiguousError as error:
            raise UsageError(
                f"{ref!r} is too short: it may mean several commits.", hint="Give more of the sha."
            ) from error
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise NotFoundError(
                f"There is no commit {ref!r} in this repository.", hint="Name a branch, a tag or a commit."
            ) from error

    def commit(self, sha: str) -> CommitInfo:
        """When, by whom and what."""
        return _info(self._commit(sha))

    @property
    def is_shallow(self) -> bool:
        """True for a clone that ends before the first commit: its line grows at the far end when it is deepened."""
        return self.git and self._repository.is_shallow

    def first_parents(self, sha: str) -> Iterator[CommitInfo]:
        """A commit, its first parent, that one's, and so on, as far as they are in this clone."""
        following: str | pygit2.Oid | None = sha
        while following is not None:
            commit = self._get_commit(following)
            if commit is None:
                return
            yield _info(commit)
            following = next(iter(commit.parent_ids), None)

    def has_hidden_parent(self, sha: str) -> bool:
        """True when a commit that ends the line here does not end it in truth: the clone is shallow or lacks objects."""
        try:
            self._loose.refuse_cut(sha)
            _, data = self._repository.read(sha)
        except (KeyError, ValueError, pygit2.GitError):
            return True  # gone itself, by now: nothing says that it was the first
        return b"\nparent " in data.partition(b"\n\n")[0]

    def parents(self, sha: str) -> tuple[str, ...]:
        """All parents of a commit; none for the first one, and for one that is not in this clone."""
        commit = self._get_commit(sha)
        return tuple(map(str, commit.parent_ids)) if commit is not None else ()

    def tree_of(self, sha: str) -> bytes:
        """Object id of a commit's tree.

        Raises:
            MissingError: the commit is not in this clone, or damaged.
        """
        try:
            return bytes(self._commit(sha).tree_id.raw)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise MissingError(sha) from error

    def entries(self, tree: bytes) -> dict[bytes, tuple[bytes, bytes]]:
        """What stands directly in a tree: mode in octal digits and object id, by name.

        Raises:
            MissingError: the tree is not in this clone, or damaged.
        """
        try:
            self._loose.refuse_cut(tree.hex())
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

    def _get_commit(self, oid: str | pygit2.Oid) -> pygit2.Commit | None:
        """A commit; None when it is not in this clone, or damaged."""
        try:
            self._loose.refuse_cut(str(oid))
            found = self._repository.get(oid)
        except (ValueError, pygit2.GitError):
            return None
        return found if isinstance(found, pygit2.Commit) else None

    def _commit(self, sha: str) -> pygit2.Commit:
        self._loose.refuse_cut(sha)
        return self._repository[sha].peel(pygit2.Commit)


def _info(commit: pygit2.Commit) -> CommitInfo:
    author = commit.author
    subject = commit.raw_message.decode("utf-8", "replace").strip().split("\n", 1)[0]
    name = author.raw_name.decode("utf-8", "replace") if author is not None else ""
    return CommitInfo(str(commit.id), commit.commit_time, name.replace("\0", ""), subject.replace("\0", "").rstrip())


def _walk(tree: pygit2.Tree, prefix: str) -> Iterator[tuple[str, TreeEntry]]:
    for entry in tree:
        path = f"{prefix}{entry.name}"
        if isinstance(entry, pygit2.Tree):
            yield from _walk(entry, f"{path}/")
        else:
            yield path, TreeEntry(str(entry.id), int(entry.filemode))


def _shadow(folder: Path, root: Path) -> pygit2.Repository:
    def make() -> pygit2.Repository:
        made = pygit2.init_repository(str(folder), bare=True)
        made.config["core.bare"] = False
        made.config["core.worktree"] = str(root)
        return pygit2.Repository(str(folder))

    try:
        kept = pygit2.Repository(str(folder))
        if kept.workdir is not None and Path(kept.workdir) == root:
            return kept
        return make()
    except (pygit2.GitError, ValueError):
        # Not there yet, or damaged: it holds nothing of value, and is made anew.
        shutil.rmtree(folder, ignore_errors=True)
        return make()
