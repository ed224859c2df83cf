"""Loose objects that are truncated (by a full disk or power loss) or not files: git's library would never finish."""

from __future__ import annotations

import os
import stat
import zlib
from pathlib import Path

import pygit2

from cm_tui.engine.platform.git.git_dir import alternates, folders_at

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
                raise pygit2.GitError(f"object {oid} is no file")
            if _is_truncated(place):
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
