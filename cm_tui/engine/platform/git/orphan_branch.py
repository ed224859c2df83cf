"""A branch with a history of its own that carries data between clones; nothing of it is checked out.

Its newest commits are made again from their trees whenever one is added, with author and times that depend on the
published commit alone: equal data gives equal commits in every clone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode

from cm_tui.errors import CmError, RefusedError

KEPT = 20
"""Versions on the branch; the oldest go first."""
_SUBJECT = re.compile(r"[a-z]+ of ([0-9a-f]{40})\n?")
_MOST = 1_000
_MOST_BYTES = 64 << 20


class Version(NamedTuple):
    """A version of the data.

    Attributes:
        of: the commit that it belongs to.
        time: of that commit, seconds since the epoch.
        tree: name of its tree.
    """

    of: str
    time: int
    tree: str


class OrphanBranch:
    """One branch, here and as last fetched from remotes.

    `repository`: open in this thread; `name`: of the branch; `what`: first word of its commits' subjects.
    """

    def __init__(self, repository: pygit2.Repository, name: str, what: str) -> None:
        self._repository = repository
        self._name = name
        self._what = what

    def versions(self) -> list[Version]:
        """Return the newest versions, the last one first; commits of another form are ignored."""
        found = {version.of: version for tip in reversed(self._tips()) for version in self._of(tip)}
        return sorted(found.values(), key=lambda one: (one.time, one.of), reverse=True)[:KEPT]

    def read(self, version: Version, path: str) -> bytes | None:
        """Return a file of a version; None: missing, or too large."""
        try:
            tree = self._repository[version.tree]
            found = tree[path] if isinstance(tree, pygit2.Tree) else None
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return found.data if isinstance(found, pygit2.Blob) and found.size <= _MOST_BYTES else None

    def tree_of(self, files: Mapping[str, bytes]) -> str:
        """Write a tree with some files, at most one folder deep; return its name. Raises CmError if git cannot."""
        folders: dict[str, pygit2.TreeBuilder] = {}
        top = self._repository.TreeBuilder()
        try:
            for path, data in files.items():
                folder, _, name = path.rpartition("/")
                builder = folders.setdefault(folder, self._repository.TreeBuilder()) if folder else top
                builder.insert(name, self._repository.create_blob(data), FileMode.BLOB)
            for folder, builder in folders.items():
                top.insert(folder, builder.write(), FileMode.TREE)
            return str(top.write())
        except (OSError, pygit2.GitError) as error:
            raise self._unwritten(error) from error

    def put(self, versions: Sequence[Version]) -> None:
        """Make the branch of the newest of these versions.

        Raises RefusedError if the branch has commits of another kind, which would be lost; CmError if git cannot.
        """
        kept = sorted(versions, key=lambda one: (one.time, one.of))[-KEPT:]
        parents: list[str] = []
        reference = f"refs/heads/{self._name}"
        try:
            before = self._repository.references.get(reference)
            if before is not None:
                self._refuse_other(before)
            for one in kept:
                author = pygit2.Signature("cm", "cm@localhost", one.time, 0)
                words = f"{self._what} of {one.of}\n"
                parents = [str(self._repository.create_commit(None, author, author, words, one.tree, parents))]
            # Both fail if the branch was written meanwhile.
            if before is None:
                self._repository.references.create(reference, parents[0])
            elif str(before.target) != parents[0]:
                before.set_target(parents[0])
        except (OSError, ValueError, pygit2.GitError) as error:
            raise self._unwritten(error) from error

    def _refuse_other(self, reference: pygit2.Reference) -> None:
        """Raise RefusedError if a commit of the branch is not one of ours: writing makes the branch again."""
        for commit in self._repository.walk(reference.target):
            if _SUBJECT.fullmatch(commit.message) is None:
                raise RefusedError(
                    f"The branch {self._name} has other commits, such as {str(commit.id)[:10]}.",
                    hint=f"Rename it: git branch -m {self._name} NAME",
                )

    def _unwritten(self, error: Exception) -> CmError:
        return CmError(
            f"The branch {self._name} cannot be written: {error}", hint="Try again; if that fails too, run `git fsck`."
        )

    def _tips(self) -> list[pygit2.Commit]:
        """Return the branch here and at remotes."""
        names = [f"refs/heads/{self._name}", *(f"refs/remotes/{one}/{self._name}" for one in self._remotes())]
        found: list[pygit2.Commit] = []
        for name in names:
            reference = self._repository.references.get(name)
            tip = None if reference is None else self._repository.get(reference.target)
            found += [tip] if isinstance(tip, pygit2.Commit) else []
        return found

    def _remotes(self) -> list[str]:
        return sorted(filter(None, self._repository.remotes.names()), key=lambda name: (name != "origin", name))

    def _of(self, tip: pygit2.Commit) -> Iterator[Version]:
        commit: pygit2.Commit | None = tip
        for _ in range(_MOST):
            if commit is None:
                return
            subject = _SUBJECT.fullmatch(commit.message)
            if subject is not None:
                yield Version(subject[1], commit.commit_time, str(commit.tree_id))
            # A shallow clone ends before the first one.
            following = self._repository.get(commit.parent_ids[0]) if commit.parent_ids else None
            commit = following if isinstance(following, pygit2.Commit) else None
