"""Task runners: the file of a project that defines a command, and whether it is in there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.mentions.commands import commands_of

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
_COMPOSER = frozenset(["about", "archive", "audit", "browse", "bump", "c", "clear-cache", "clearcache", "check-platform-reqs", "config", "create-project", "cc", "depends", "diagnose", "dump-autoload", "dumpautoload", "exec", "fund", "global", "help", "home", "i", "info", "init", "install", "licenses", "list", "outdated", "prohibits", "r", "reinstall", "remove", "require", "rm", "run", "run-script", "search", "self-update", "selfupdate", "show", "status", "suggests", "u", "update", "upgrade", "validate", "why", "why-not"])  # fmt: skip
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
        return f"{one.runner} {one.name}" in commands_of(path, text.encode("utf-8", "replace"))
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
