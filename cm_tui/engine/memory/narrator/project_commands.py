"""Whether a project has a command now: targets, recipes and scripts of its files, and programs in its folders.

Only a certainly missing one counts as gone: a script that `package.json` no longer has, a recipe without a rule, a path
of no file. All others (programs of the system, tasks of plug-ins, build outputs, files that cannot be read or include
others) are unknown, and count as there.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.mentions.commands import commands_of as defined_in
from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.lists import words as listed
from cm_tui.engine.memory.narrator.runs import commands_of
from cm_tui.engine.memory.narrator.shell import core_of
from cm_tui.engine.platform.git.encodings import decode
from cm_tui.files import Stamp, read_inside, stamp_of

_MOST_BYTES = 1_000_000
_MOST_FOLDERS, _DEPTH = 400, 4
_PATIENCE_S = 5.0
_LEFT_OUT = listed("skipped_folders")
_MADE = listed("build_folders")
_INTERPRETERS = pattern("project_commands", "interpreters", 0)
_SCRIPT = pattern("project_commands", "script", 0)
_PROGRAM = pattern("project_commands", "program", 0)
_SPAN = re.compile(r"`([^`\n]{1,400})`")
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*")


_NAME = re.compile(r"[A-Za-z_][\w:.-]*")
_INCLUDES = pattern("project_commands", "includes", re.MULTILINE)
_MAKE = ("GNUmakefile", "makefile", "Makefile")
_COMPUTED = ("CMakeLists.txt", "configure", "configure.ac", "Makefile.in", "Makefile.am", "BSDmakefile")
"""Files from which others make a Makefile."""
_OTHER_FILE = frozenset(
    ("-f", "--file", "--makefile", "-I", "--eval", "--justfile", "-d", "--working-directory", "-buildfile", "-find")
)
_FOLDER = frozenset(("-C", "--prefix", "--cwd", "--dir", "--directory"))
_ANY_FOLDER = frozenset(("--filter", "-F", "--workspace", "-w", "--scope"))
_EVERYWHERE = frozenset(("-r", "--recursive", "--workspaces", "-ws")) | _ANY_FOLDER
_NPM_BUILTIN = frozenset(("test", "start", "stop", "restart"))
_COMPOSER = listed("composer")
_PARSED = frozenset(("package.json", "deno.json", "deno.jsonc", "noxfile.py", "build.xml"))
"""Files whose text the pattern of inclusions does not fit."""


class Runner(NamedTuple):
    """A program that runs tasks which a file of the project defines."""

    files: tuple[str, ...]
    goes_up: bool = False
    """It looks in the folders above, too."""
    prefix: str = ""
    """Of its tasks among those that stale memory knows."""
    pattern: str = ""
    """Definition of a task in a file that is not parsed; `{}`: its name."""


_RUNNERS = {
    "just": Runner(("justfile", "Justfile", ".justfile"), goes_up=True, prefix="just"),
    "make": Runner((*_MAKE, *_COMPUTED), prefix="make"),
    "composer": Runner(("composer.json",)),
    "task": Runner(tuple(f"{name}.{end}" for name in ("Taskfile", "taskfile", "Taskfile.dist") for end in ("yml", "yaml")), goes_up=True, pattern=r"^\s{{1,8}}['\"]?{}['\"]?\s*:"),
    "npm": Runner(("package.json",), goes_up=True, prefix="npm run"),
    "deno": Runner(("deno.json", "deno.jsonc", "package.json"), goes_up=True, pattern='"{}"'),
    "nox": Runner(("noxfile.py",), pattern="{}"),
    "ant": Runner(("build.xml",), goes_up=True, pattern="{}"),
}  # fmt: skip
_SAME = {"gmake": "make", "go-task": "task", "pnpm": "npm", "yarn": "npm", "bun": "npm"}


class RequiredCommand(NamedTuple):
    """A command that a file of a project has to define."""

    runner: Runner
    name: str
    """Default task of the runner; empty: none."""
    folder: str = ""
    """The folder that the runner changes to first."""
    anywhere: bool = False
    """The file may be in any folder of the project."""


class ProjectCommands:
    """The commands of one checkout, as its files are now."""

    def __init__(self, root: Path) -> None:
        self._root = root

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
        core = core_of(words) or words
        if path := next((one for one in (words[0], core[0]) if "/" in one), ""):
            return self._has_file(path, place)
        needed = wanted(core)
        if needed is None:
            is_script = _INTERPRETERS.fullmatch(core[0]) is not None
            script = next((word for word in core[1:] if is_script and not word.startswith("-") and word != "run"), "")
            return "/" not in script or _SCRIPT.fullmatch(script) is None or self._has_file(script, place)
        found = False
        for path in self._files(needed, place):
            text = self._text(path)
            if text is None or _is_open(path, text) or _defines(path, text, needed):
                return True
            found = True
        if found and needed.name:
            return self._exists(posixpath.join(place, needed.name))
        # Without its own file a runner finds nothing, unless it looks above the checkout.
        above = list(self._root.parents)[:6] if needed.runner.goes_up else []
        return any((folder / name).exists() for folder in above for name in needed.runner.files)

    def _has_file(self, path: str, place: str) -> bool:
        if _PATH.fullmatch(path) is None:
            return True
        where = posixpath.normpath(posixpath.join(place, path))
        parts = where.split("/")
        if where.startswith(("..", "/")) or _MADE.intersection(parts[:-1]) or parts[0].startswith("cmake-build"):
            return True
        return self._exists(where) or self._is_ignored(parts)

    def _exists(self, path: str) -> bool:
        return any((self._root / f"{path}{end}").exists() for end in ("", ".bat", ".cmd", ".ps1", ".exe"))

    def _is_ignored(self, parts: Sequence[str]) -> bool:
        """Return whether git ignores a path: then a build may make it."""
        patterns = {line.strip().strip("/") for line in (self._text(".gitignore") or "").split("\n")[:2_000]}
        ways = {"/".join(parts[:size]) for size in range(1, len(parts) + 1)} | set(parts)
        return bool(ways & patterns) or any(pattern in patterns for pattern in ("*", f"{parts[0]}/*", f"{parts[0]}/**"))

    # --- files that define commands ---

    def _files(self, needed: RequiredCommand, place: str) -> Iterator[str]:
        """Yield the files in which a command could be defined."""
        at = posixpath.normpath(posixpath.join(place, needed.folder or "."))
        folders: list[str] = []
        if needed.anywhere:
            folders = list(_folders(self._root, int(time.monotonic() / _PATIENCE_S)))
        elif not at.startswith(("..", "/")):
            folders = ["" if at == "." else at]
            while needed.runner.goes_up and folders[-1]:
                folders.append(folders[-1].rpartition("/")[0])
        for folder in folders:
            for name in needed.runner.files:
                path = f"{folder}/{name}" if folder else name
                if stamp_of(self._root / path) is not None:
                    yield path

    def _text(self, path: str) -> str | None:
        stamp = stamp_of(self._root / path)
        return None if stamp is None else _read(self._root, path, stamp)


@lru_cache(maxsize=_MOST_FOLDERS)
def _read(root: Path, path: str, _: Stamp) -> str | None:
    """Return the text of a file of the checkout; None: it cannot be read."""
    try:
        return decode(read_inside(root, path, _MOST_BYTES)).text
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4)
def _folders(root: Path, _: int) -> tuple[str, ...]:
    """Return the folders of a checkout, the upper ones first, within bounds; the number is that of the moment."""
    found, at = [""], 0
    while at < len(found) < _MOST_FOLDERS:
        folder = found[at]
        at += 1
        if folder.count("/") >= _DEPTH - 1:
            continue
        try:
            with os.scandir(root / folder) as entries:
                names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
        except OSError:
            continue
        kept = (name for name in names if name not in _LEFT_OUT and not name.startswith("."))
        found += [f"{folder}/{name}" if folder else name for name in kept]
    return tuple(found[:_MOST_FOLDERS])


# --- task runners ---


def wanted(words: Sequence[str]) -> RequiredCommand | None:
    """Return which of the project's files a command needs; None: none, or unknown."""
    program = words[0].rpartition("/")[2]
    runner = _RUNNERS.get(_SAME.get(program, program))
    if runner is None:
        return None
    folder, anywhere, plain, at = "", False, list[str](), 1
    while at < len(words):
        word, (option, _, value) = words[at], words[at].partition("=")
        at += 1
        if option in _OTHER_FILE:
            return None
        anywhere = anywhere or option in _EVERYWHERE
        if option in _FOLDER | _ANY_FOLDER:
            value = value or (words[at] if at < len(words) else "")
            at += "=" not in word
            folder = value if option in _FOLDER else folder
        elif not word.startswith("-") and "=" not in word and not word.isdigit():
            plain.append(word)
    if program == "nox":
        # A session in a version of Python or with a parameter.
        is_session = words[1:2] and words[1] in ("-s", "-e", "--session", "--sessions")
        plain = [re.split(r"[-(]", word)[0] for word in plain if is_session]
    name = _task(program, plain)
    is_known = name is not None and (not name or _NAME.fullmatch(name))
    return RequiredCommand(runner, name or "", folder, anywhere) if is_known else None


def _task(program: str, plain: Sequence[str]) -> str | None:
    """Return the task that words name; empty: the default one; None: they name none, or it is unknown."""
    first, second = (*plain, "", "")[:2]
    is_run = first in ("run", "run-script", "rum") and bool(second)
    if program == "composer":
        return second if is_run else None if first in _COMPOSER else first or None
    if program == "deno":
        return second if first == "task" else None
    if program in ("npm", "pnpm", "yarn", "bun"):
        # `yarn run` and `bun run` also start programs of packages and files: those have no colon in them.
        name = second if is_run else first
        is_script = (is_run and program in ("npm", "pnpm")) or (":" in name and (is_run or program != "npm"))
        return name if is_script or (program == "npm" and first in _NPM_BUILTIN) else None
    return first if first or program in ("just", "make", "gmake") else None


def _is_open(path: str, text: str) -> bool:
    """Return whether a file takes commands from elsewhere, or computes them: then they are unknown."""
    name = path.rpartition("/")[2]
    if name == "composer.json":
        return '"composer-plugin"' in text or '"allow-plugins"' in text
    return name in _COMPUTED or (name not in _PARSED and _INCLUDES.search(text) is not None)


def _defines(path: str, text: str, one: RequiredCommand) -> bool:
    """Return whether a file defines a command."""
    if not one.name:
        return True
    if one.runner.prefix:
        return f"{one.runner.prefix} {one.name}" in defined_in(path, text.encode("utf-8", "replace"))
    if one.runner.pattern:
        names = {one.name, one.name.replace("-", "_")}
        return any(re.search(one.runner.pattern.format(re.escape(name)), text, re.MULTILINE) for name in names)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return True
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return isinstance(scripts, dict) and one.name in scripts
