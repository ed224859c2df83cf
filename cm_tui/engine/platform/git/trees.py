"""Stored trees: the files below one, and its direct entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode

from cm_tui.engine.platform.git.commits import LooseObjects, MissingError

OID_BYTES = 20


class TreeEntry(NamedTuple):
    """A file of a commit's tree."""

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


def files_of(repository: pygit2.Repository, loose: LooseObjects, tree: pygit2.Oid) -> Iterator[tuple[str, TreeEntry]]:
    """Yield every file below a tree with its path.

    Raises:
        KeyError, ValueError, pygit2.GitError: a tree is not in this clone, or damaged.
    """
    # A loop: a clone may hold folders in each other by the thousand, more than a function may call itself.
    folders = [("", _objects(repository, loose, tree))]
    while folders:
        prefix, entries = folders[-1]
        entry = next(entries, None)
        if entry is None:
            folders.pop()
        elif entry.filemode == FileMode.TREE:
            folders.append((f"{prefix}{entry.name}/", _objects(repository, loose, entry.id)))
        else:
            yield f"{prefix}{entry.name}", TreeEntry(str(entry.id), int(entry.filemode))


def _objects(repository: pygit2.Repository, loose: LooseObjects, tree: pygit2.Oid) -> Iterator[pygit2.Object]:
    loose.refuse_truncated(str(tree))
    return iter(repository[tree].peel(pygit2.Tree))


def entries_of(repository: pygit2.Repository, loose: LooseObjects, tree: bytes) -> dict[bytes, bytes]:
    """Return the direct entries of a tree: mode in octal digits, then the object id's 20 bytes, by name.

    One value, not a pair: of some tens of thousands that are cached it takes half the memory.

    Raises MissingError if the tree is not in this clone, or damaged.
    """
    try:
        loose.refuse_truncated(tree.hex())
        _, data = repository.read(pygit2.Oid(raw=tree))
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise MissingError(tree.hex()) from error
    found: dict[bytes, bytes] = {}
    at, end = 0, len(data)
    while at < end:
        space = data.index(b" ", at)
        stop = data.index(b"\0", space)
        at, mode = stop + 1 + OID_BYTES, data[at:space]
        found[data[space + 1 : stop]] = mode + data[stop + 1 : at]
    return found
