"""Content of files: committed ones from git, others from disk, never through a link."""

from __future__ import annotations

import pygit2

from cm_tui.engine.git.repository import Repository
from cm_tui.files import read_below

_KEPT_BYTES = 64_000_000


class ChangedError(Exception):
    """Error: a file is no longer what it was a moment ago.

    Args:
        path: which one.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ContentReader:
    """Reader of files; what came from disk is kept for the rest of the run, up to 64 MB.

    Args:
        repository: the checkout.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._kept: dict[str, bytes] = {}
        self._free_bytes = _KEPT_BYTES

    def from_disk(self, path: str) -> tuple[str, bytes]:
        """Return object id and bytes of what a path holds at this moment.

        Raises:
            OSError: it has gone, is a link or lies below one, or cannot be read.
        """
        data = read_below(self._repository.root, path)
        oid = str(pygit2.hash(data))
        if oid not in self._kept and len(data) <= self._free_bytes:
            self._kept[oid] = data
            self._free_bytes -= len(data)
        return oid, data

    def get(self, path: str, oid: str) -> bytes | None:
        """Return the bytes of an object, wherever they are: read before, in git, or on disk at a path.

        Returns:
            None when nothing holds them any more.
        """
        kept = self._kept.get(oid)
        if kept is not None:
            return kept
        data = self._repository.read(oid)
        if data is not None:
            return data
        try:
            found, data = self.from_disk(path)
        except OSError:
            return None
        return data if found == oid else None

    def text(self, path: str, oid: str) -> str:
        """Return an object as text; bytes that are not UTF-8 become replacement characters.

        Raises:
            ChangedError: nothing holds these bytes any more: the file was edited meanwhile.
        """
        data = self.get(path, oid)
        if data is None:
            raise ChangedError(path)
        return data.decode("utf-8", "replace")
