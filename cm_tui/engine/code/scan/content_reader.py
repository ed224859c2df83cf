"""Content of files: committed ones from git, others from disk, never through a link."""

from __future__ import annotations

import pygit2

from cm_tui.engine.platform.git.encodings import decode
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.files import read_below

_KEPT_BYTES = 64_000_000


class ChangedError(Exception):
    """Error: a file was changed during the run."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ContentReader:
    """Reads files; content from disk is cached for the run, up to 64 MB."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.attributes = repository.attributes()
        self._kept: dict[str, bytes] = {}
        self._free_bytes = _KEPT_BYTES

    def from_disk(self, path: str) -> tuple[str, bytes]:
        """Return object id and bytes of a path's current content, as git would store it.

        Raises OSError if it was removed, is a link or below one, or cannot be read.
        """
        data = self.attributes.of(path).stored(read_below(self._repository.root, path))
        if self._repository.git and b"\r\n" in data:
            data = self._with_stored_line_ends(path, data)
        oid = str(pygit2.hash(data))
        if oid not in self._kept and len(data) <= self._free_bytes:
            self._kept[oid] = data
            self._free_bytes -= len(data)
        return oid, data

    def _with_stored_line_ends(self, path: str, data: bytes) -> bytes:
        ends = self.attributes.line_ends(path)
        if ends == "kept":
            return data
        if ends == "converted unless stored" and (b"\0" in data or self._repository.size(str(pygit2.hash(data)))):
            return data
        return data.replace(b"\r\n", b"\n")

    def get(self, path: str, oid: str) -> bytes | None:
        """Return the bytes of an object from the cache, from git, or from disk at a path.

        Returns None: its content no longer exists.
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
        """Return an object as text.

        Raises ChangedError if these bytes no longer exist: the file was edited meanwhile.
        """
        data = self.get(path, oid)
        if data is None:
            raise ChangedError(path)
        return self.decoded(path, data)

    def decoded(self, path: str, data: bytes) -> str:
        """Return content of a file as text, as the index has it."""
        return decode(data, self.attributes.encoding(path, data)).text
