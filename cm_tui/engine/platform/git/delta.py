"""Differences between two trees of a repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.trees import OID_BYTES, TreeEntry
from cm_tui.lru import LRU

_TREE = b"40000"
_KEPT_ENTRIES = 60_000
"""Cached tree entries, 0.2 kB each: neighbouring commits share most of theirs."""

Entries = dict[bytes, bytes]


class Change(NamedTuple):
    """A path with a changed file; None on a side without the file."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


class Trees:
    """Compares trees; equal parts are never looked into."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._kept: LRU[bytes, Entries] = LRU(_KEPT_ENTRIES, len)

    def changes(self, before: bytes | None, after: bytes | None) -> Iterator[Change]:
        """Paths at which two trees differ; None is the empty tree.

        Raises MissingError if a tree is not in this clone, or damaged.
        """
        waiting = [(before, after, b"")]
        while waiting:
            old, new, prefix = waiting.pop()
            mine, theirs = self._entries(old), self._entries(new)
            for name in {name for name, _ in mine.items() ^ theirs.items()}:
                one, other = mine.get(name), theirs.get(name)
                folders = _folder(one), _folder(other)
                if folders[0] or folders[1]:
                    waiting.append((*folders, prefix + name + b"/"))
                files = _file(one), _file(other)
                if files[0] or files[1]:
                    yield Change((prefix + name).decode("utf-8", "surrogateescape"), *files)

    def files(self, tree: bytes) -> Iterator[tuple[str, TreeEntry]]:
        """Every file of a tree. Raises MissingError if a tree is not in this clone, or damaged."""
        for path, _, entry in self.changes(None, tree):
            assert entry is not None
            yield path, entry

    def folder(self, tree: bytes, path: str) -> bytes | None:
        """Object id of the folder at a path; None: no such folder.

        Raises MissingError if a tree on the way is not in this clone, or damaged.
        """
        for name in path.encode("utf-8", "surrogateescape").split(b"/"):
            found = _folder(self._entries(tree).get(name))
            if found is None:
                return None
            tree = found
        return tree

    def names(self, tree: bytes) -> set[str]:
        """Names of the direct entries of a tree.

        Raises MissingError if it is not in this clone, or damaged.
        """
        return {name.decode("utf-8", "surrogateescape") for name in self._entries(tree)}

    def _entries(self, tree: bytes | None) -> Entries:
        if tree is None:
            return {}
        found = self._kept.get(tree)
        if found is None:
            self._kept.put(tree, found := self._repository.entries(tree))
        return found


def _folder(entry: bytes | None) -> bytes | None:
    return entry[-OID_BYTES:] if entry is not None and entry[:-OID_BYTES] == _TREE else None


def _file(entry: bytes | None) -> TreeEntry | None:
    if entry is None or entry[:-OID_BYTES] == _TREE:
        return None
    return TreeEntry(entry[-OID_BYTES:].hex(), int(entry[:-OID_BYTES], 8))
