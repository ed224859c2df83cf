"""Whether a project has a command now: targets, recipes and scripts of its files, and programs in its folders.

Only a certainly missing one counts as gone: a script that `package.json` no longer has, a recipe without a rule, a path
of no file. All others (programs of the system, tasks of plug-ins, build outputs, files that cannot be read or include
others) are unknown, and count as there.
"""

from __future__ import annotations

import os
import posixpath
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cm_tui.engine.memory.narrator import task_files
from cm_tui.engine.memory.narrator.command_kinds import core_of
from cm_tui.engine.memory.narrator.runs import commands_of
from cm_tui.engine.platform.git.encodings import decode
from cm_tui.files import Stamp, read_inside, stamp_of

_MOST_BYTES = 1_000_000
_MOST_FOLDERS, _DEPTH = 400, 4
_PATIENCE_S = 5.0
_LEFT_OUT = frozenset(
    ("node_modules", ".git", "vendor", "target", "dist", "build", "out", ".venv", "venv", "__pycache__")
)
_MADE = frozenset(["target", "build", "dist", "out", "node_modules", ".venv", "venv", "env", "vendor", ".tox", ".nox", "zig-out", "obj", "_build", ".build", ".stack-work", "dist-newstyle", "DerivedData", ".bin", "tmp", ".cache", "bazel-bin", "bazel-out", "result", "cmake-build-debug", "cmake-build-release", ".next", ".output", "Debug", "Release", "x64", "artifacts", "release", "debug", ".gradle", ".direnv", ".pixi", ".mypy_cache", "deps", "_out", "output", "generated", "gen"])  # fmt: skip
"""Folders of builds and installations: nothing in them is the project's."""
_INTERPRETERS = re.compile(
    r"(?:python|pypy)[\d.]*|py|node|ruby|php|perl|bash|sh|zsh|fish|tsx|ts-node|bun|deno|lua|julia|Rscript|elixir|dart|pwsh|source|osascript"
)
_SCRIPT = re.compile(
    r"[\w.@+-]+(?:/[\w.@+-]+)*\.(?:py|mjs|cjs|js|ts|mts|rb|php|pl|sh|bash|zsh|fish|lua|jl|R|exs|dart|ps1)"
)
_PROGRAM = re.compile(
    r"[\w.+-]+$|\./|(?:[\w.-]+/)*(?:bin|scripts?|tools?|hack|ci|tasks?)/|.*\.(?:sh|bash|py|rb|pl|js|mjs|ps1|bat|cmd)$"
)
_SPAN = re.compile(r"`([^`\n]{1,400})`")
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*")


class ProjectCommands:
    """The commands of one checkout, as its files are now."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._read: dict[str, tuple[Stamp, str | None]] = {}
        self._folders: tuple[float, tuple[str, ...]] | None = None

    def missing_in(self, text: str) -> str:
        """Return the first command in backticks that the project no longer has; empty: none."""
        return next((code.strip() for code in _SPAN.findall(text) if not self.there(code.strip())), "")

    def there(self, code: str) -> bool:
        """Return whether the project has a command, or may have it. `code`: as given to a shell."""
        try:
            commands = commands_of(code, str(self._root))
            if len(commands) == 1 and len(commands[0].words) == 1 and _PROGRAM.match(commands[0].words[0]) is None:
                # A path alone may be anything.
                return True
            return all(self._has(command.words, command.place) for command in commands)
        except (OSError, ValueError, RecursionError):
            return True

    # --- requirements of a command ---

    def _has(self, words: tuple[str, ...], place: str) -> bool:
        core = core_of(words)
        if not core:
            return True
        if "/" in words[0] or "/" in core[0]:
            return self._has_file(words[0] if "/" in words[0] else core[0], place)
        wanted = task_files.wanted(core)
        if wanted is None and _INTERPRETERS.fullmatch(core[0]):
            script = next((word for word in core[1:] if not word.startswith("-") and word != "run"), "")
            return "/" not in script or _SCRIPT.fullmatch(script) is None or self._has_file(script, place)
        if wanted is None:
            return True
        found = False
        for path in self._files(wanted, place):
            text = self._text(path)
            if text is None or task_files.is_open(path, text) or task_files.has(path, text, wanted):
                return True
            found = True
        # Without its own file a runner finds nothing, unless it looks above the checkout.
        return self._exists(posixpath.join(place, wanted.name)) if found and wanted.name else self._is_above(wanted)

    def _has_file(self, path: str, place: str) -> bool:
        if _PATH.fullmatch(path) is None:
            return True
        where = posixpath.normpath(posixpath.join(place, path))
        parts = where.split("/")
        if where.startswith(("..", "/")) or _MADE.intersection(parts[:-1]) or parts[0].startswith("cmake-build"):
            return True
        return self._exists(where) or self._is_ignored(parts)

    def _exists(self, path: str) -> bool:
        return (self._root / path).exists() or any(
            (self._root / f"{path}{end}").exists() for end in (".bat", ".cmd", ".ps1", ".exe")
        )

    def _is_ignored(self, parts: Sequence[str]) -> bool:
        """Return whether git ignores a path: then a build may make it."""
        patterns = {line.strip().strip("/") for line in (self._text(".gitignore") or "").split("\n")[:2_000]}
        ways = {"/".join(parts[:size]) for size in range(1, len(parts) + 1)} | set(parts)
        return bool(ways & patterns) or any(pattern in patterns for pattern in ("*", f"{parts[0]}/*", f"{parts[0]}/**"))

    # --- files that define commands ---

    def _files(self, wanted: task_files.Wanted, place: str) -> Iterator[str]:
        """Yield the files in which a command could be defined."""
        folders: Sequence[str] = self._all_folders() if wanted.anywhere else self._folders_of(wanted, place)
        for folder in folders:
            for name in wanted.files:
                path = f"{folder}/{name}" if folder else name
                if stamp_of(self._root / path) is not None:
                    yield path

    @staticmethod
    def _folders_of(wanted: task_files.Wanted, place: str) -> list[str]:
        at = posixpath.normpath(posixpath.join(place, wanted.folder or "."))
        if at.startswith(("..", "/")):
            return []
        at = "" if at == "." else at
        folders = [at]
        while wanted.goes_up and at:
            at = at.rpartition("/")[0]
            folders.append(at)
        return folders

    def _is_above(self, wanted: task_files.Wanted) -> bool:
        """Return whether a folder above the checkout may define it."""
        folders = list(self._root.parents)[:6] if wanted.goes_up else []
        return any((folder / name).exists() for folder in folders for name in wanted.files)

    def _all_folders(self) -> tuple[str, ...]:
        """Return the folders of the checkout, the upper ones first, within bounds."""
        now = time.monotonic()
        with self._lock:
            if self._folders is not None and now - self._folders[0] < _PATIENCE_S:
                return self._folders[1]
        found, at = [""], 0
        while at < len(found) and len(found) < _MOST_FOLDERS:
            folder = found[at]
            at += 1
            if folder.count("/") >= _DEPTH - 1:
                continue
            try:
                with os.scandir(self._root / folder) as entries:
                    names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
            except OSError:
                continue
            found += [
                f"{folder}/{name}" if folder else name
                for name in names
                if name not in _LEFT_OUT and not name.startswith(".")
            ]
        folders = tuple(found[:_MOST_FOLDERS])
        with self._lock:
            self._folders = (now, folders)
        return folders

    def _text(self, path: str) -> str | None:
        """Return what a file of the checkout says; None where it cannot be read."""
        stamp = stamp_of(self._root / path)
        if stamp is None:
            return None
        with self._lock:
            known = self._read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            text: str | None = decode(read_inside(self._root, path, _MOST_BYTES)).text
        except (OSError, ValueError):
            text = None
        with self._lock:
            if len(self._read) > _MOST_FOLDERS:
                self._read.clear()
            self._read[path] = (stamp, text)
        return text
