"""Whether a project has a command now: targets, recipes and scripts of its files, and programs in its folders.

Only a certainly missing one counts as gone: a script that `package.json` no longer has, a recipe without a rule, a path
of no file. All others (programs of the system, tasks of plug-ins, build outputs, files that cannot be read or include
others) are unknown, and count as there.

Task runners: the file of a project that defines a command, and whether it is in there.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.mentions.commands import commands_of as defined_in
from cm_tui.engine.memory.narrator.lists import words
from cm_tui.engine.memory.narrator.runs import commands_of
from cm_tui.engine.memory.narrator.shell import core_of
from cm_tui.engine.platform.git.encodings import decode
from cm_tui.files import Stamp, read_inside, stamp_of

_MOST_BYTES = 1_000_000
_MOST_FOLDERS, _DEPTH = 400, 4
_PATIENCE_S = 5.0
_LEFT_OUT = words("skipped_folders")
_MADE = words("build_folders")
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
        needed = wanted(core)
        if needed is None and _INTERPRETERS.fullmatch(core[0]):
            script = next((word for word in core[1:] if not word.startswith("-") and word != "run"), "")
            return "/" not in script or _SCRIPT.fullmatch(script) is None or self._has_file(script, place)
        if needed is None:
            return True
        found = False
        for path in self._files(needed, place):
            text = self._text(path)
            if text is None or is_open(path, text) or has(path, text, needed):
                return True
            found = True
        # Without its own file a runner finds nothing, unless it looks above the checkout.
        return self._exists(posixpath.join(place, needed.name)) if found and needed.name else self._is_above(needed)

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

    def _files(self, wanted: Wanted, place: str) -> Iterator[str]:
        """Yield the files in which a command could be defined."""
        folders: Sequence[str] = self._all_folders() if wanted.anywhere else self._folders_of(wanted, place)
        for folder in folders:
            for name in wanted.files:
                path = f"{folder}/{name}" if folder else name
                if stamp_of(self._root / path) is not None:
                    yield path

    @staticmethod
    def _folders_of(wanted: Wanted, place: str) -> list[str]:
        at = posixpath.normpath(posixpath.join(place, wanted.folder or "."))
        if at.startswith(("..", "/")):
            return []
        at = "" if at == "." else at
        folders = [at]
        while wanted.goes_up and at:
            at = at.rpartition("/")[0]
            folders.append(at)
        return folders

    def _is_above(self, wanted: Wanted) -> bool:
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


_JUST = ("justfile", "Justfile", ".justfile")
_MAKE = (
    "GNUmakefile",
    "makefile",
    "Makefile",
    "CMakeLists.txt",
    "configure",
    "configure.ac",
    "Makefile.in",
    "Makefile.am",
    "BSDmakefile",
)
_NPM_OPTIONS = frozenset(("--filter", "-F", "--workspace", "-w", "-C", "--prefix", "--cwd", "--dir", "--scope"))
_EVERYWHERE = frozenset(
    (
        "--filter",
        "-F",
        "--workspace",
        "-w",
        "-r",
        "--recursive",
        "--workspaces",
        "-ws",
        "--scope",
        "workspace",
        "workspaces",
    )
)
_FOLDER_OPTIONS = frozenset(("-C", "--prefix", "--cwd", "--dir"))
_NPM_BUILTIN = frozenset(("test", "start", "stop", "restart"))
_COMPOSER = words("composer")
_NAME = re.compile(r"[A-Za-z_][\w:.-]*")
_INCLUDES = re.compile(
    r"^\s*(?:-?include|sinclude|import\??|mod\??|includes:|\$\(eval|\$\(foreach)\b|^\s*define\s|^[^\n:#=]*%[^\n:#=]*:|^\.DEFAULT\s*:|^\$\(.*\)\s*:",
    re.MULTILINE,
)


class Wanted(NamedTuple):
    """A command that a file of a project has to define."""

    runner: str
    name: str
    """Default task of the runner; empty: none."""
    files: tuple[str, ...]
    """Names of files that may define it."""
    folder: str = ""
    """The folder that the runner changes to first."""
    goes_up: bool = True
    """The runner looks in the folders above, too."""
    anywhere: bool = False
    """The file may be in any folder of the project."""


def wanted(words: Sequence[str]) -> Wanted | None:
    """Return which of the project's files a command needs; None: none, or unknown."""
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program in _SCRIPTS:
        return _npm(program, rest)
    read = _READ.get(program)
    return read(rest) if read is not None else _named(program, rest)


def _named(program: str, rest: Sequence[str]) -> Wanted | None:
    """Return the requirement of a runner whose first word is the task."""
    files = _TASKS.get(program)
    if files is None or not rest or _NAME.fullmatch(rest[0]) is None:
        return None
    return Wanted(program, rest[0], files)


def _deno(rest: Sequence[str]) -> Wanted | None:
    is_task = len(rest) > 1 and rest[0] == "task" and _NAME.fullmatch(rest[1])
    return Wanted("deno", rest[1], ("deno.json", "deno.jsonc", "package.json")) if is_task else None


def _nox(rest: Sequence[str]) -> Wanted | None:
    if len(rest) < 2 or rest[0] not in ("-s", "--session", "--sessions", "-e"):
        return None
    return Wanted("nox", rest[1].partition("-")[0].partition("(")[0], ("noxfile.py",), goes_up=False)


def _tox(rest: Sequence[str]) -> Wanted | None:
    is_run = len(rest) > 1 and rest[0] in ("-e", "r", "run")
    files = ("tox.ini", "pyproject.toml", "setup.cfg", "tox.toml")
    return Wanted("tox", "", files, goes_up=False) if is_run else None


def _cargo(rest: Sequence[str]) -> Wanted | None:
    return Wanted("cargo", "xtask", (".cargo/config.toml", ".cargo/config")) if rest[:1] == ("xtask",) else None


def _just(rest: Sequence[str]) -> Wanted | None:
    name = next((word for word in rest if "=" not in word), "")
    if (
        name.startswith("-")
        or any(word in ("-f", "--justfile", "-d", "--working-directory") for word in rest)
        or "::" in name
        or "/" in name
    ):
        return None
    return Wanted("just", name, _JUST)


def _make(rest: Sequence[str]) -> Wanted | None:
    folder, names, at = "", [], 0
    while at < len(rest):
        word = rest[at]
        if word in ("-f", "--file", "--makefile", "-I", "--eval") or word.startswith(
            ("-f", "--file=", "--makefile=", "--eval=")
        ):
            return None
        if word in ("-C", "--directory"):
            folder = rest[at + 1] if at + 1 < len(rest) else ""
            at += 1
        elif word.startswith("--directory="):
            folder = word.partition("=")[2]
        elif not word.startswith("-") and "=" not in word and not word.isdigit():
            names.append(word)
        at += 1
    return Wanted("make", names[0] if names else "", _MAKE, folder, goes_up=False)


def _npm(program: str, rest: Sequence[str]) -> Wanted | None:
    folder, at, everywhere = "", 0, False
    plain: list[str] = []
    while at < len(rest) and len(plain) < 2:
        word = rest[at]
        name, _, value = word.partition("=")
        everywhere = everywhere or name in _EVERYWHERE
        if name in _NPM_OPTIONS:
            at += not value
            folder = (value or (rest[at] if at < len(rest) else "")) if name in _FOLDER_OPTIONS else folder
        elif word in ("workspace", "workspaces") and program == "yarn":
            return None
        elif not word.startswith("-"):
            plain.append(word)
        at += 1
    if not plain:
        return None
    if plain[0] in ("run", "run-script", "rum") and len(plain) > 1:
        # `yarn run` and `bun run` also start programs of packages and files: those have no colon in them.
        is_script = program in ("npm", "pnpm") or ":" in plain[1]
        name = plain[1] if is_script else ""
    else:
        is_script = (program == "npm" and plain[0] in _NPM_BUILTIN) or (program != "npm" and ":" in plain[0])
        name = plain[0] if is_script else ""
    if not name or _NAME.fullmatch(name) is None:
        return None
    return Wanted("npm run", name, ("package.json",), folder, anywhere=everywhere)


def _composer(rest: Sequence[str]) -> Wanted | None:
    first = next(iter(rest), "")
    if first in ("run", "run-script") and len(rest) > 1:
        first = rest[1]
    elif first in _COMPOSER:
        return None
    return Wanted("composer", first, ("composer.json",), goes_up=False) if _NAME.fullmatch(first) else None


_SCRIPTS = frozenset(("npm", "pnpm", "yarn", "bun"))
_READ: dict[str, Callable[[Sequence[str]], Wanted | None]] = {
    "just": _just, "make": _make, "gmake": _make, "composer": _composer, "deno": _deno, "nox": _nox, "tox": _tox, "cargo": _cargo,
}  # fmt: skip
_TASKFILES = (
    "Taskfile.yml",
    "Taskfile.yaml",
    "Taskfile.dist.yml",
    "taskfile.yml",
    "taskfile.yaml",
    "Taskfile.dist.yaml",
)
_TASKS: dict[str, tuple[str, ...]] = {
    "task": _TASKFILES, "go-task": _TASKFILES, "inv": ("tasks.py", "tasks/__init__.py"), "invoke": ("tasks.py", "tasks/__init__.py"),
    "ant": ("build.xml",),
}  # fmt: skip


def is_open(path: str, text: str) -> bool:
    """Return whether a file takes commands from elsewhere, or computes them: then they are unknown."""
    name = path.rpartition("/")[2]
    if name in _MAKE[3:]:
        return True
    if name in _MAKE or name in _JUST or name.lower().startswith("taskfile"):
        return _INCLUDES.search(text) is not None
    return name == "composer.json" and ('"composer-plugin"' in text or '"allow-plugins"' in text)


def has(path: str, text: str, one: Wanted) -> bool:
    """Return whether a file defines a command."""
    if not one.name:
        return True
    if one.runner in ("just", "make", "npm run", "cargo"):
        return f"{one.runner} {one.name}" in defined_in(path, text.encode("utf-8", "replace"))
    if one.runner == "composer" or path.endswith("package.json"):
        return _is_key(text, "scripts", one.name)
    if one.runner == "deno":
        return f'"{one.name}"' in text
    if one.runner in ("task", "go-task"):
        return re.search(rf"^\s{{1,8}}['\"]?{re.escape(one.name)}['\"]?\s*:", text, re.MULTILINE) is not None
    return one.name in text or one.name.replace("-", "_") in text


def _is_key(text: str, table: str, name: str) -> bool:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return True
    inside = data.get(table) if isinstance(data, dict) else None
    return isinstance(inside, dict) and name in inside
