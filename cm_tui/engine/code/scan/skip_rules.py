"""Rules for files that are not worth indexing, by path below the root and by content, each with a reason."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.credential_files import CREDENTIALS, holds_credentials, is_credential_file
from cm_tui.engine.code.scan.folders import folders_to
from cm_tui.engine.platform.git.encodings import wide_text
from cm_tui.errors import ConfigError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

RULES_VERSION = "3"
"""Increased when a rule changes: saved verdicts on content are then renewed."""

# Always made by a package manager or a tool, anywhere.
DEPENDENCIES = frozenset(
    {
        "node_modules", "bower_components", "jspm_packages", "site-packages", "__pypackages__", ".venv", "Pods",
        "Carthage", "elm-stuff", ".bundle", ".pnpm-store", ".yarn",
    }
)  # fmt: skip
CACHES = frozenset(
    {
        "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".nox", ".eggs", ".hypothesis", ".gradle",
        ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".terraform", ".dart_tool", ".nyc_output",
        ".ipynb_checkpoints", "DerivedData", ".stack-work", "dist-newstyle", "zig-cache", ".zig-cache", "zig-out",
        ".elixir_ls", ".bloop", ".metals", ".direnv", ".svn", ".hg", ".jj",
    }
)  # fmt: skip

# Names that projects also use for source: an output only if git tracks nothing below it.
UNTRACKED_OUTPUTS = frozenset(
    {"dist", "build", "target", "out", "_build", "coverage", "htmlcov", "venv", "env", ".cache"}
)

# The same in a folder without git, and for very common names: only next to a file that makes such outputs.
OUTPUT_MAKERS: dict[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    "build": ("build.gradle", "build.gradle.kts", "pubspec.yaml"),
    "_build": ("mix.exs", "dune-project", "conf.py"),
    "bin": ("*.csproj", "*.fsproj", "*.vbproj"),
    "obj": ("*.csproj", "*.fsproj", "*.vbproj"),
    "deps": ("mix.exs",),
}
# Files within a folder that identify it.
OUTPUT_MARKERS: dict[str, str] = {
    "CACHEDIR.TAG": "cache",
    "pyvenv.cfg": "dependency folder",
    "CMakeCache.txt": "build output",
}
VENDOR_MARKERS = ("modules.txt", "autoload.php", "bundle")
"""Files that Go, PHP and Ruby leave in a `vendor` folder that they fill."""

LOCK_FILES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
        "deno.lock", "cargo.lock", "poetry.lock", "pipfile.lock", "uv.lock", "pdm.lock", "conda-lock.yml",
        "pixi.lock", "composer.lock", "gemfile.lock", "go.sum", "go.work.sum", "mix.lock", "rebar.lock",
        "pubspec.lock", "podfile.lock", "cartfile.resolved", "package.resolved", "packages.lock.json", "paket.lock",
        "project.assets.json", "gradle.lockfile", "buildscript-gradle.lockfile", "flake.lock", "stack.yaml.lock",
        "cabal.project.freeze", "conan.lock", ".terraform.lock.hcl", "chart.lock", ".pnp.cjs", ".pnp.loader.mjs",
    }
)  # fmt: skip

# Not here, as the bytes decide: `doc` is a word processor's file or plain notes, `mo` a catalogue or Modelica.
_BINARY = frozenset(
    {
        "7z", "a", "aab", "aar", "ai", "apk", "avi", "avif", "bin", "bmp", "br", "bz2", "cab", "class", "cur", "dat",
        "db", "deb", "dll", "dmg", "docx", "dylib", "ear", "egg", "eot", "eps", "exe", "fla", "flac", "flv",
        "gif", "gz", "h5", "hdf5", "icns", "ico", "idx", "img", "iso", "jar", "jp2", "jpeg", "jpg", "jxl", "lib",
        "lz4", "lzma", "m4a", "m4v", "mdb", "mid", "mkv", "mobi", "mov", "mp3", "mp4", "mpeg", "mpg", "msi",
        "nib", "npy", "npz", "o", "odp", "ods", "odt", "ogg", "ogv", "onnx", "opus", "otf", "pack", "parquet", "pb",
        "pdf", "png", "ppt", "pptx", "psd", "pt", "pth", "pyc", "pyd", "pyo", "rar", "rdb", "rlib", "rmeta", "rpm",
        "safetensors", "snk", "so", "sqlite", "sqlite3", "svgz", "swf", "tar", "tflite", "tga", "tgz", "tif", "tiff",
        "ttf", "wasm", "wav", "webm", "webp", "whl", "wma", "wmv", "woff", "woff2", "xcf", "xls", "xlsx", "xz", "zip",
        "zst",
    }
)  # fmt: skip
_DATA_AT: dict[str, int] = {
    # Suffix to the size in bytes from which it is data rather than written by a person.
    "csv": 16_000, "tsv": 16_000, "json": 100_000, "jsonl": 16_000, "ndjson": 16_000, "geojson": 0, "topojson": 0,
    "xml": 200_000, "yaml": 200_000, "yml": 200_000, "html": 200_000, "htm": 200_000, "sql": 200_000, "txt": 200_000,
    "doc": 200_000, "svg": 0, "log": 0, "ipynb": 200_000, "har": 0, "dump": 0, "plist": 100_000, "snap": 100_000, "ambr": 100_000,
    "obj": 0, "stl": 0, "ply": 0, "fasta": 0, "dic": 0, "aff": 0,
}  # fmt: skip
_TRANSLATIONS = frozenset({"po", "pot", "xlf", "xliff", "arb"})
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
_MINIFIABLE = frozenset({"js", "cjs", "mjs", "jsx", "css", "html", "htm"})


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
            if is_credential_file(path) and not self.credentials_wanted(path):
                return CREDENTIALS
            return "binary" if suffix_of(path) in _BINARY and suffix_of(path) not in _DATA_AT else None
        folder = path.rpartition("/")[0]
        return (folder and self._folder(folder)) or _by_name(path)

    def included(self, path: str) -> bool:
        """Whether the project includes a path that a default rule may exclude."""
        return self._include is not None and self._include.match_file(path)

    def credentials_wanted(self, path: str) -> bool:
        """Whether the user includes a path despite its credentials; an untrusted pattern does not count."""
        return self._trusted is not None and self._trusted.match_file(path)

    def verdict(self, path: str, reason: str | None) -> str | None:
        """Return why a file is excluded by a verdict on its content; None: it is not."""
        return None if reason == CREDENTIALS and self.credentials_wanted(path) else reason

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
    if holds_credentials(data):
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
