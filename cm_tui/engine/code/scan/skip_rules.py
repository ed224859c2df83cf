"""Rules for files that are not worth indexing, by path below the root and by content, each with a reason."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Container, Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.credential_files import CREDENTIALS, has_credentials, is_credential_file
from cm_tui.engine.platform.git.encodings import wide_text
from cm_tui.errors import ConfigError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


# --- folders above paths, which are written with `/` and relative to the root ---


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder above some paths."""
    folders: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return frozenset(folders)


def folders_to(folder: str, known: Container[str]) -> list[str]:
    """Return a folder and its unknown parents, from the outermost to the innermost.

    A clone may have thousands of nested folders, too many for recursion.
    """
    missing: list[str] = []
    while folder and folder not in known:
        missing.append(folder)
        folder = folder.rpartition("/")[0]
    return missing[::-1]


# --- rules for files that are not worth indexing, by path below the root and by content, each with a reason ---

RULES_VERSION = "3"
"""Increased when a rule changes: saved verdicts on content are then renewed."""

_NAMES: dict[str, Any] = tomllib.loads((resources.files(__package__) / "skip_rules.toml").read_text(encoding="utf-8"))


def _set(name: str) -> frozenset[str]:
    return frozenset(_NAMES[name].split())


DEPENDENCIES, CACHES, UNTRACKED_OUTPUTS, LOCK_FILES = map(
    _set, ("dependencies", "caches", "untracked_outputs", "lock_files")
)
VENDOR_MARKERS = tuple(_NAMES["vendor_markers"].split())
OUTPUT_MAKERS = {name: tuple(makers.split()) for name, makers in _NAMES["output_makers"].items()}
OUTPUT_MARKERS: dict[str, str] = _NAMES["output_markers"]
_BINARY, _TRANSLATIONS, _MINIFIABLE = map(_set, ("binary", "translations", "minifiable"))
_DATA_AT = {suffix: int(size) for size, suffixes in _NAMES["data_at"].items() for suffix in suffixes.split()}
_MINIFIED = re.compile(r"[.-]min\.(?:js|cjs|mjs|css|html|svg)$", re.IGNORECASE)
_SOURCE_MAP = re.compile(r"\.(?:[cm]?[jt]sx?|css|scss)\.map$", re.IGNORECASE)
_BY_PATTERN = ((_SOURCE_MAP, "source map"), (_MINIFIED, "minified"))
_POINTER_BYTES = 1_024
_POINTER = re.compile(
    rb"(?:version (?:https://(?:git-lfs|hawser)\.github\.com/spec/v\d|http://git-media\.io/v/\d)\r?\n"
    rb"(?:ext-[^\n]*\n)*oid sha256:[0-9a-f]{64}\r?\nsize \d+\s*|/annex/objects/[^\n]+\n?)\Z"
)
"""Placeholders of Git LFS and git-annex for a file."""
NOT_CHECKED_OUT = "not checked out (sparse)"
"""Reason of a file that a sparse checkout leaves out."""
NOT_HERE = "content is not in this clone"
"""Reason for a file whose content is elsewhere, or was not fetched."""
_RICH_TEXT = b"{\\rtf"
"""Beginning of a word processor's ASCII file, which is not readable as text."""


def suffix_of(path: str) -> str:
    """Return the last suffix of a path in lower case, without the dot; empty: no suffix."""
    name = path.rsplit("/", 1)[-1].lstrip(".")
    return name.rpartition(".")[2].lower() if "." in name else ""


class SkipRules:
    """Rules of one project, with its own patterns over the defaults.

    `config`: patterns and limits. `root`: folder in which to look for the files that make outputs. `tracked_folders`:
    folders (no slash at the end) below which git tracks a file; None without git. `on_disk`: look on disk for what
    fills `vendor` folders. Raises ConfigError if a pattern cannot be understood.
    """

    def __init__(
        self, config: IndexConfig, root: Path, tracked_folders: Container[str] | None, *, on_disk: bool = True
    ) -> None:
        self._limit = config.max_file_bytes
        self._include = _patterns(config.include, "index.include")
        trusted = tuple(line for line in config.include if line not in config.untrusted_include)
        self._trusted = _patterns(trusted, "index.include")
        self._exclude = _patterns(config.exclude, "index.exclude")
        self._root = root
        self._tracked = tracked_folders
        self._on_disk = on_disk
        self._folders: dict[str, str | None] = {}

    def by_path(self, path: str) -> str | None:
        """Return why a path is excluded; None: it is not."""
        if self._exclude is not None and self._exclude.match_file(path):
            return "excluded by configuration"
        if self.included(path):
            if is_credential_file(path) and not self.includes_credentials(path):
                return CREDENTIALS
            return "binary" if suffix_of(path) in _BINARY and suffix_of(path) not in _DATA_AT else None
        folder = path.rpartition("/")[0]
        return (folder and self._folder(folder)) or _by_name(path)

    def included(self, path: str) -> bool:
        """Whether the project includes a path that a default rule may exclude."""
        return self._include is not None and self._include.match_file(path)

    def includes_credentials(self, path: str) -> bool:
        """Whether the user includes a path despite its credentials; an untrusted pattern does not count."""
        return self._trusted is not None and self._trusted.match_file(path)

    def verdict(self, path: str, reason: str | None) -> str | None:
        """Return why a file is excluded by a verdict on its content; None: it is not."""
        return None if reason == CREDENTIALS and self.includes_credentials(path) else reason

    def by_size(self, path: str, size: int) -> str | None:
        """Return why a file of that size in bytes is excluded; None: it is not."""
        if size > self._limit:
            return f"larger than {_human(self._limit)}"
        if self.included(path):
            return None
        data_at = _DATA_AT.get(suffix_of(path))
        return "data" if data_at is not None and size > data_at else None

    def _folder(self, folder: str) -> str | None:
        """Why everything in a folder is excluded; each folder is judged once."""
        for one in folders_to(folder, self._folders):
            parent, _, name = one.rpartition("/")
            above = self._folders.get(parent)
            self._folders[one] = above or _by_folder_name(name) or self._by_surroundings(one, name, parent)
        return self._folders[folder]

    def _by_surroundings(self, folder: str, name: str, parent: str) -> str | None:
        if (
            name == "vendor"
            and self._on_disk
            and any(_exists(self._root / folder / marker) for marker in VENDOR_MARKERS)
        ):
            return "dependency folder"
        if self._tracked is not None and folder in self._tracked:
            return None
        for marker, reason in OUTPUT_MARKERS.items():
            if _is_file(self._root / folder / marker):
                return reason
        if name.startswith(("cmake-build-", "bazel-")) or (self._tracked is not None and name in UNTRACKED_OUTPUTS):
            return "build output"
        makers = OUTPUT_MAKERS.get(name, ())
        return "build output" if any(next((self._root / parent).glob(maker), None) for maker in makers) else None


# Unlike those of a Path, these return False for inaccessible paths and too long names.
_exists = os.path.exists
_is_file = os.path.isfile


def _by_folder_name(name: str) -> str | None:
    if name == ".cm":
        return "folder of cm itself"
    if name in DEPENDENCIES:
        return "dependency folder"
    return "cache" if name in CACHES or name.endswith(".egg-info") else None


def _by_name(path: str) -> str | None:
    name = path.rpartition("/")[2]
    suffix = suffix_of(path)
    if name.lower() in LOCK_FILES:
        return "lock file"
    if is_credential_file(path):
        return CREDENTIALS
    for pattern, reason in _BY_PATTERN:
        if pattern.search(name):
            return reason
    if suffix in _BINARY:
        return "binary"
    if suffix in _TRANSLATIONS:
        return "translation catalogue"
    return "data" if _DATA_AT.get(suffix) == 0 else None


def by_content(path: str, data: bytes, *, included: bool, encoding: str = "") -> str | None:
    """Return why a file with that content is excluded; None: it is not.

    Pure, for worker processes. Depends on the path only through its suffix, so that the verdict may be cached by
    content and suffix. `path`: the file's path; its suffix decides how strict to be. `data`: its whole content.
    `included`: the project includes it explicitly: only binary content and credentials are excluded. Whether
    credentials are included, too, is decided by `SkipRules.verdict`. `encoding`: declared for it elsewhere.
    """
    if b"\0" in data[:8192]:
        text = wide_text(data, encoding)
        if text is None:
            return "binary"
        data = text.encode()
    if len(data) <= _POINTER_BYTES and _POINTER.match(data):
        return NOT_HERE
    if suffix_of(path) == "doc" and data.startswith(_RICH_TEXT):
        return "binary"
    if has_credentials(data):
        return CREDENTIALS
    if included:
        return None
    return "minified" if suffix_of(path) in _MINIFIABLE and _looks_minified(data) else None


def _looks_minified(data: bytes) -> bool:
    """Whether most of it is in lines too long to be typed."""
    if len(data) < 2_000:
        return False
    long = sum(len(line) for line in data.split(b"\n") if len(line) > 500)
    return long > len(data) * 0.6


def _patterns(lines: tuple[str, ...], setting: str) -> GitIgnoreSpec | None:
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise ConfigError(f"{setting}: {error}", hint="Patterns are written as in a .gitignore file.") from error


def _human(size: int) -> str:
    return f"{size / 1_000_000:g} MB" if size >= 1_000_000 else f"{size / 1000:g} kB"
