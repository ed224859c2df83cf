"""Texts by content: a folder next to the journal with files named by their digest."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.files import read_bounded, write_atomically
from cm_tui.model.ids import id_named
from cm_tui.state_file import reported

MOST_BYTES = 4_000_000
_DIGEST = re.compile(r"[0-9a-f]{8,64}")


class Blobs:
    """The blobs of one project."""

    def __init__(self, root: Path) -> None:
        self._folder = folder_of(root) / "blobs"

    def write(self, content: bytes) -> str:
        """Store content; return its digest, the same for the same content.

        Raises:
            UsageError: it is too long.
            StoreError: it cannot be written.
        """
        if len(content) > MOST_BYTES:
            raise UsageError(f"The blob has {len(content):,} bytes.", hint=f"At most {MOST_BYTES:,} are allowed.")
        digest = sha256(content).hexdigest()
        file = self._folder / digest[:2] / digest
        with reported(file):
            if not file.exists():
                paths.private_dir(file.parent)
                write_atomically(file, content, durable=True)
        return digest

    def read(self, name: str) -> bytes:
        """Return content by its digest, or a unique prefix of it.

        Raises:
            UsageError: the name is invalid or ambiguous.
            NotFoundError: no such content.
            StoreError: it cannot be read.
        """
        file = self._named(name)
        with reported(file, "read"):
            return read_bounded(file, MOST_BYTES)

    def remove(self, digest: str) -> bool:
        """Remove a blob; returns whether there was one."""
        try:
            self._named(digest).unlink()
        except (NotFoundError, UsageError, FileNotFoundError):
            return False
        return True

    def _named(self, name: str) -> Path:
        if not _DIGEST.fullmatch(name):
            raise UsageError(f"Not a digest: {name[:80]!r}.", hint="A digest has 8 to 64 hexadecimal digits.")
        folder = self._folder / name[:2]
        return folder / id_named(name, [file.name for file in folder.glob(f"{name}*")], "blob", "", least=1)
