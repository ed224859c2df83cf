"""Loose objects that are cut off, as a full disk or a lost battery leaves them: git's library would read such a one for ever."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pygit2

from cm_tui.engine.git.git_dir import folders_at

_PIECE = 1 << 16


class LooseObjects:
    """Loose objects of a repository and of those that it borrows from.

    Args:
        own: the repository's folder.
    """

    def __init__(self, own: Path) -> None:
        objects = folders_at(own).common / "objects"
        self._folders = [os.fspath(objects)]
        try:
            lines = (objects / "info/alternates").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            lines = []
        self._folders += [os.path.normpath(objects / line) for line in lines if line and not line.startswith("#")]

    def refuse_truncated(self, oid: str) -> None:
        """Stop before an object that ends too early; what is damaged otherwise, git's library says itself.

        Raises:
            pygit2.GitError: it is cut off.
        """
        for folder in self._folders:
            place = f"{folder}/{oid[:2]}/{oid[2:]}"
            if os.path.isfile(place) and _is_truncated(place):  # noqa: PTH113 - asked for every object of a long line
                raise pygit2.GitError(f"object {oid} is cut off")

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
