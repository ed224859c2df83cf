"""Git attributes that make a working-tree file differ from its stored content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import translate
from pathlib import Path
from typing import Literal, NamedTuple

import pygit2

from cm_tui.engine.platform.git.encodings import to_utf8
from cm_tui.engine.platform.git.git_dir import folders_at
from cm_tui.files import read_regular

_NAMES = ("filter", "working-tree-encoding", "encoding", "ident")
_FILE = ".gitattributes"
_FILE_BYTES = 1_000_000
_WORD = re.compile(r"[-!]?([^\s=]+)")
_MACRO = "[attr]"
_EXPANDED_ID = re.compile(rb"\$Id:[^$\r\n]*\$")
_NEVER = re.compile(r"(?!)")


LineEnds = Literal["kept", "converted", "converted unless stored"]
"""Conversion of `\\r\\n` when storing a file; the last one: unless the stored content contains them already."""


class Conversion(NamedTuple):
    """Difference between a file of the working tree and what git stores of it."""

    is_filtered: bool = False
    """A program outside of git converts it, such as for large files or encryption."""
    working_tree: str = ""
    """Encoding on disk, where git stores UTF-8."""
    encoding: str = ""
    """Encoding of stored content, for displaying it."""
    has_ident: bool = False
    """Git expands `$Id$` on disk."""

    def stored(self, data: bytes) -> bytes:
        """Return content from disk as git stores it, without running filters."""
        if self.working_tree:
            data = to_utf8(data, self.working_tree) or data
        return _EXPANDED_ID.sub(b"$Id$", data) if self.has_ident else data


PLAIN = Conversion()


class Attributes:
    """Reads attributes; git's slow library is called only for paths that may have one.

    `repository`: the checkout's, or the private one of a folder without git; `root`: top folder of the checkout.
    """

    def __init__(self, repository: pygit2.Repository, root: Path) -> None:
        self._repository = repository
        self._root = root
        self._macros = set[str]()
        self._candidates: dict[str, re.Pattern[str]] = {}
        self._candidates[""] = _compiled(
            "|".join(self._globs([*map(str, _outer_files(repository)), f"{root}/{_FILE}"]))
        )

    def of(self, path: str) -> Conversion:
        """Return how a file is converted. `path`: relative to the root, with `/`."""
        folder, _, name = path.rpartition("/")
        if not self._candidates_in(folder).match(name):
            return PLAIN
        try:
            driver, on_disk, encoding, ident = (self._repository.get_attr(path, one) for one in _NAMES)
        except (ValueError, KeyError, OSError, pygit2.GitError):
            return PLAIN
        return Conversion(isinstance(driver, str), _text(on_disk), _text(encoding), has_ident=ident is True)

    def encoding(self, path: str, data: bytes) -> str:
        """Return the declared encoding of a file's content, if its bytes need one; else empty."""
        if b"\0" not in data and _is_utf8(data):
            return ""
        return self.of(path).encoding

    def line_ends(self, path: str) -> LineEnds:
        """Return whether git stores the line ends of a file as a line feed alone."""
        try:
            text, eol = (self._repository.get_attr(path, name) for name in ("text", "eol"))
        except (ValueError, KeyError, OSError, pygit2.GitError):
            return "kept"
        if text is False:
            return "kept"
        if text == "auto" or (text is None and eol is None):
            converts = text == "auto" or self._setting("core.autocrlf") in {"true", "input"}
            return "converted unless stored" if converts else "kept"
        return "converted"

    def _setting(self, name: str) -> str:
        with suppress(KeyError, ValueError, pygit2.GitError):
            return str(self._repository.config[name]).lower()
        return ""

    def _candidates_in(self, folder: str) -> re.Pattern[str]:
        """Names of files of a folder that may have an attribute."""
        missing = []
        at = folder
        while at not in self._candidates:
            missing.append(at)
            at = at.rpartition("/")[0]
        for one in reversed(missing):
            above = self._candidates[one.rpartition("/")[0]]
            own = list(self._globs([f"{self._root}/{one}/{_FILE}"]))
            if own and above is not _NEVER:
                own.append(above.pattern)
            self._candidates[one] = _compiled("|".join(own)) if own else above
        return self._candidates[folder]

    def _globs(self, files: list[str]) -> Iterator[str]:
        """Yield the name patterns that a line of these files gives one of the attributes."""
        lines = [line for file in files for line in _lines(file)]
        for line in lines:
            if line.startswith(_MACRO) and self._gives(line.removeprefix(_MACRO).partition(" ")[2]):
                self._macros.add(line.removeprefix(_MACRO).split()[0])
        for line in lines:
            pattern, _, rest = line.replace("\t", " ").partition(" ")
            if '"' in line or "\\" in pattern:
                yield translate("*")
            elif not line.startswith(_MACRO) and self._gives(rest):
                yield translate(pattern.rpartition("/")[2] or "*")

    def _gives(self, words: str) -> bool:
        return any(word in _NAMES or word in self._macros for word in _WORD.findall(words))


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL) if pattern else _NEVER


def _outer_files(repository: pygit2.Repository) -> list[Path]:
    """Files of attributes that lie outside of the working tree."""
    found = [folders_at(Path(repository.path)).common / "info/attributes", Path("/etc/gitattributes")]
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    named = f"{home}/git/attributes"
    with suppress(KeyError, ValueError, pygit2.GitError):
        named = str(repository.config["core.attributesfile"])
    return [*found, Path(os.path.expanduser(named))]  # noqa: PTH111 - no error for a user that does not exist


def _lines(file: str) -> list[str]:
    # Hardly any folder has such a file, and there are thousands of folders.
    data = (os.path.exists(file) and read_regular(file, _FILE_BYTES)) or b""  # noqa: PTH110
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return [line for raw in text.split("\n") if (line := raw.strip()) and not line.startswith("#")]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
