"""A checkout as the index sees it: HEAD, its tree, and what differs from it on disk."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode, FileStatus

from cm_tui.engine.git import git_cli
from cm_tui.engine.git.commits import Commit, CommitInfo, Commits
from cm_tui.engine.git.git_dir import folders_at
from cm_tui.engine.git.loose_objects import Loose
from cm_tui.engine.git.roots import repository_around
from cm_tui.errors import CmError, NotFoundError, UsageError

_STEPS = re.compile(r"(?:[~^]\d{0,9})+$")
_STEP = re.compile(r"([~^])(\d*)")
_LETTERS = re.compile(r"[0-9a-f]{4,40}")
_SHA = re.compile(r"[0-9a-f]{40}")
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
    """Where a checkout stands."""

    sha: str | None
    """None before the first commit, and without git."""
    branch: str | None
    """None when detached, and without git."""


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
        self._opened = own if own is not None and self.git else _shadow(shadow, root)
        self._common = folders_at(Path(self._opened.path)).common
        self._loose = Loose(Path(self._opened.path))
        self._commits = Commits(self._opened)
        self._horizon = self.shallow_boundary()

    @property
    def _repository(self) -> pygit2.Repository:
        """Git's library at work; it does not notice by itself that a shallow clone now ends elsewhere."""
        horizon = self.shallow_boundary()
        if horizon != self._horizon:
            opened = pygit2.Repository(str(self.root))
            self._opened, self._commits, self._horizon = opened, Commits(opened), horizon
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
        """Every file of a commit, by path with `/`; names that are not UTF-8 carry surrogates.

        Raises:
            CmError: the commit or a tree of it is not in this clone, or damaged.
        """
        if sha is None:
            return {}
        try:
            return dict(self._walk(self._commit(sha).tree, ""))
        except (MissingError, KeyError, ValueError, pygit2.GitError) as error:
            raise CmError(
                f"The files of commit {sha[:10]} cannot be listed: {error}",
                hint="Part of the repository is missing or damaged; check it with `git fsck`.",
            ) from error

    def status(self) -> Mapping[str, FileStatus]:
        """Paths that differ between HEAD, git's index and the disk; ignored ones are left out.

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
            return self._resolved(ref)
        except pygit2.AmbiguousError as error:
            raise UsageError(
                f"{ref!r} is too short: it may mean several commits.", hint="Give more of the sha."
            ) from error
        except MissingError as error:
            raise NotFoundError(
                f"{ref!r} leads to commit {error.oid[:10]}, which is missing or cannot be read.",
                hint="`git fsck` tells what the repository lacks.",
            ) from error
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise NotFoundError(
                f"There is no commit {ref!r} in this repository.", hint="Name a branch, a tag or a commit."
            ) from error

    def _resolved(self, ref: str) -> str:
        steps = _STEPS.search(ref)
        if steps is None:
            # What is named wholly need not be read by git's library, which could not read every commit.
            sha = ref if _SHA.fullmatch(ref) else self._target(ref)
            if sha is not None and self._commits.get(sha) is not None:
                return sha
            self._loose.refuse_cut(sha or "")
            if _LETTERS.fullmatch(ref):
                self._loose.refuse_cut_beginning(ref)
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        # Step by step: on its way git's library might meet a commit that it cannot read, or never stops reading.
        sha = self._resolved(ref[: steps.start()])
        for kind, digits in _STEP.findall(steps[0]):
            number = int(digits) if digits else 1
            for _ in range(number if kind == "~" else min(number, 1)):
                parents, which = self._commit(sha).parents, 1 if kind == "~" else number
                if which > len(parents):
                    raise KeyError(ref)
                sha = parents[which - 1]
        self._commit(sha)
        return sha

    def _target(self, name: str) -> str | None:
        """What a branch, a tag or HEAD points at."""
        try:
            # Git's library would take no name for HEAD.
            found = self._repository.lookup_reference_dwim("HEAD" if name == "@" else name) if name else None
            return str(found.resolve().target) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def commit(self, sha: str) -> CommitInfo:
        """When, by whom and what.

        Raises:
            MissingError: the commit is not in this clone, or damaged.
        """
        return self._commit(sha).info

    @property
    def is_shallow(self) -> bool:
        """True for a clone that ends before the first commit: its line grows at the far end when it is deepened."""
        return self.git and self._repository.is_shallow

    def first_parents(self, sha: str) -> Iterator[CommitInfo]:
        """A commit, its first parent, that one's, and so on, as far as they are in this clone."""
        commits = self._current()
        following: str | None = sha
        while following is not None and (commit := commits.get(following)) is not None:
            yield commit.info
            following = next(iter(commit.parents), None)

    def missing_parent(self, sha: str) -> str | None:
        """The parent before a commit that ends the line here, but not in truth: the clone is shallow or lacks objects.

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
            self._loose.refuse_cut(oid)
            self._repository.read(oid)
        except (KeyError, ValueError, pygit2.GitError):
            return False
        return True

    def parents(self, sha: str) -> tuple[str, ...]:
        """All parents of a commit; none for the first one, and for one that is not in this clone."""
        commit = self._current().get(sha)
        return commit.parents if commit is not None else ()

    def tree_of(self, sha: str) -> bytes:
        """Object id of a commit's tree.

        Raises:
            MissingError: the commit is not in this clone, or damaged.
        """
        return bytes(self._commit(sha).tree.raw)

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

    def _current(self) -> Commits:
        assert self._repository is not None
        return self._commits

    def _commit(self, sha: str) -> Commit:
        found = self._current().get(sha)
        if found is None:
            raise MissingError(sha)
        return found

    def _walk(self, tree: pygit2.Oid, prefix: str) -> Iterator[tuple[str, TreeEntry]]:
        self._loose.refuse_cut(str(tree))
        for entry in self._repository[tree].peel(pygit2.Tree):
            path = f"{prefix}{entry.name}"
            if entry.filemode == FileMode.TREE:
                yield from self._walk(entry.id, f"{path}/")
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
