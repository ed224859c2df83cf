"""Stored commits: read by git's library where possible, else parsed from their bytes."""

from __future__ import annotations

import os
import re
import stat
import zlib
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

from cm_tui.engine.platform.git.encodings import decode_message
from cm_tui.engine.platform.git.git_dir import alternates, folders_at

# --- loose objects that are truncated (by a full disk or power loss) or not files: git's library would never finish ---

_PIECE = 1 << 16


class LooseObjects:
    """Loose objects of a repository and of those that it borrows from. `own`: the repository's folder."""

    def __init__(self, own: Path) -> None:
        objects = folders_at(own).common / "objects"
        self._folders = [os.fspath(one) for one in (objects, *alternates(objects))]

    def refuse_truncated(self, oid: str) -> None:
        """Raise for a truncated object; other damage is reported by git's library.

        Raises:
            pygit2.GitError: it is truncated, or not a file.
        """
        for folder in self._folders:
            place = f"{folder}/{oid[:2]}/{oid[2:]}"
            try:
                mode = os.stat(place).st_mode  # noqa: PTH116 - called for every object of a long line
            except OSError:
                continue
            if stat.S_ISDIR(mode):
                continue
            if not stat.S_ISREG(mode):
                # Git's library would wait for a pipe for ever.
                raise pygit2.GitError(f"object {oid} is not a file")
            if _is_truncated(place):
                raise pygit2.GitError(f"object {oid} is truncated")

    def refuse_truncated_prefix(self, prefix: str) -> None:
        """The same for all whose id begins with some letters.

        Raises:
            pygit2.GitError: one of them is cut off.
        """
        for folder in self._folders:
            for place in Path(folder, prefix[:2]).glob(f"{prefix[2:]}*"):
                self.refuse_truncated(prefix[:2] + place.name)


def _is_truncated(place: str) -> bool:
    inflate = zlib.decompressobj()
    try:
        with Path(place).open("rb") as file:
            while piece := file.read(_PIECE):
                inflate.decompress(piece)
    except (OSError, zlib.error):
        return False
    return not inflate.eof


# --- stored commits ---

_TIME = re.compile(rb"> ?(-?\d{1,18}) [+-]\d{4}$")
_TREE = re.compile(rb"tree ([0-9a-f]{40})$")
_PARENT = re.compile(rb"parent ([0-9a-f]{40})$")


class MissingError(Exception):
    """An object that is not in this clone, or damaged. `oid`: which one."""

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.oid = oid


class CommitInfo(NamedTuple):
    """A row of `line_commit`, without its ordinal."""

    sha: str
    time: int
    author: str
    subject: str


class Commit(NamedTuple):
    """A commit of any kind."""

    info: CommitInfo
    tree: pygit2.Oid
    parents: tuple[str, ...]
    """Those that this clone should have: none where a shallow one ends."""


class Commits:
    """Reads commits in any condition."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self._repository = repository
        self._loose = LooseObjects(Path(repository.path))

    def get(self, sha: str) -> Commit | None:
        """Return a commit; None when it is not in this clone, or damaged."""
        try:
            self._loose.refuse_truncated(sha)
            found: object = self._repository.get(sha)
        except (ValueError, pygit2.GitError):
            return self._parsed(sha)
        if not isinstance(found, pygit2.Commit):
            return None
        author = found.author
        name = author.raw_name if author is not None else b""
        encoding = found.message_encoding or ""
        if encoding:
            # The library trims control characters, which some encodings begin with.
            name = _author((self.raw(sha) or b"").partition(b"\n\n")[0]) or name
        info = _info(sha, found.commit_time, name, found.raw_message, encoding)
        return Commit(info, found.tree_id, tuple(map(str, found.parent_ids)))

    def require(self, sha: str) -> Commit:
        """Return a commit. Raises MissingError if it is not in this clone, or damaged."""
        found = self.get(sha)
        if found is None:
            raise MissingError(sha)
        return found

    def raw(self, sha: str) -> bytes | None:
        """Return the bytes of a commit; None when it is not in this clone, or damaged."""
        try:
            self._loose.refuse_truncated(sha)
            kind, data = self._repository.read(sha)
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return data if kind == ObjectType.COMMIT else None

    def _parsed(self, sha: str) -> Commit | None:
        """Read a complete commit in an unusual format, such as with an invalid address."""
        data = self.raw(sha)
        if data is None:
            return None
        header, _, message = data.partition(b"\n\n")
        first, *lines = header.split(b"\n")
        tree = _TREE.match(first)
        if tree is None:
            return None
        said = {key: value for key, _, value in (line.partition(b" ") for line in reversed(lines))}
        # As git does: a time that cannot be read is the first second of all.
        time = next(
            (int(found[1]) for key in (b"committer", b"author") if (found := _TIME.search(said.get(key, b"")))), 0
        )
        name = _author(header)
        parents = tuple(found[1].decode() for line in lines if (found := _PARENT.match(line)))
        encoding = said.get(b"encoding", b"").decode("ascii", "replace")
        return Commit(_info(sha, time, name, message, encoding), pygit2.Oid(hex=tree[1].decode()), parents)


def _author(header: bytes) -> bytes:
    line = next((line for line in header.split(b"\n") if line.startswith(b"author ")), b"author ")
    return line.removeprefix(b"author ").partition(b"<")[0].strip()


def _info(sha: str, time: int, author: bytes, message: bytes, encoding: str) -> CommitInfo:
    subject = decode_message(message, encoding).strip().split("\n", 1)[0]
    name = decode_message(author, encoding)
    return CommitInfo(sha, time, name.replace("\0", ""), subject.replace("\0", "").rstrip())


# --- names of commits in git: branches, tags, shas and their prefixes, and steps back from those ---

_STEPS = re.compile(r"(?:[~^]\d{0,9})+$")
_STEP = re.compile(r"([~^])(\d*)")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")
_SHA = re.compile(r"[0-9a-f]{40}")


class CommitNames:
    """Finds commits by name.

    `commits`: reads commits, even those that git's library cannot read; `loose`: finds truncated objects.
    """

    def __init__(self, repository: pygit2.Repository, commits: Commits, loose: LooseObjects) -> None:
        self._repository = repository
        self._commits = commits
        self._loose = loose

    def resolve(self, ref: str) -> str:
        """Return the commit of a name.

        Raises:
            MissingError: a commit on the path is not in this clone, or damaged.
            KeyError, ValueError, pygit2.GitError: there is no such commit, or the name is ambiguous or malformed.
        """
        steps = _STEPS.search(ref)
        if steps is None:
            # A full sha need not be read by git's library, which cannot read every commit.
            sha = ref if _SHA.fullmatch(ref) else self._target(ref)
            if sha is not None and self._commits.get(sha) is not None:
                return sha
            self._loose.refuse_truncated(sha or "")
            if _SHA_PREFIX.fullmatch(ref):
                self._loose.refuse_truncated_prefix(ref)
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        # Step by step: git's library might meet a commit that it cannot read, or never finish.
        sha = self.resolve(ref[: steps.start()])
        for kind, digits in _STEP.findall(steps[0]):
            number = int(digits) if digits else 1
            for _ in range(number if kind == "~" else min(number, 1)):
                parents, which = self._commits.require(sha).parents, 1 if kind == "~" else number
                if which > len(parents):
                    raise KeyError(ref)
                sha = parents[which - 1]
        self._commits.require(sha)
        return sha

    def _target(self, name: str) -> str | None:
        """Return the target of a branch, a tag or HEAD."""
        try:
            # Git's library would take no name for HEAD.
            found = self._repository.lookup_reference_dwim("HEAD" if name == "@" else name) if name else None
            return str(found.resolve().target) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None


# --- the state of a checkout's HEAD ---


class Head(NamedTuple):
    """The commit and branch of a checkout."""

    sha: str | None
    """None before the first commit, and without git."""
    branch: str | None
    """None when detached, and without git."""
