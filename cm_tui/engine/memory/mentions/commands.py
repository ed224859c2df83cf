"""Commands of a project: targets and scripts in its files, and finding them in a text."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cm_tui.toml_values import toml_values

_MOST_BYTES = 1_000_000
_WORD = r"[A-Za-z_][\w:.-]*"
_RUNNERS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"{start}\s+({_WORD})(?=\s|$|[;&|)])"), runner)
    for start, runner in (
        (r"just", "just"),
        (r"(?:g|n)?make(?:\s+-[jC]\S*)*", "make"),
        (r"(?:npm|pnpm|yarn|bun)\s+run(?:-script)?", "npm run"),
        (r"npm(?=\s+(?:test|start|stop)\b)", "npm run"),
        (r"(?:poetry|uv|pdm|hatch|pipenv)\s+run", "run"),
        (r"cargo", "cargo"),
        (r"tox\s+-e", "tox -e"),
    )
)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:[ \t]+[^:\n]*)?:(?![=:])")
_ALIAS = re.compile(r"^alias\s+([\w-]+)\s*:=\s*([\w-]+)", re.MULTILINE)
_RULE = re.compile(r"^([A-Za-z0-9_./%-]+(?:[ \t]+[A-Za-z0-9_./%-]+)*)[ \t]*:(?![=:])")

Defined = Mapping[str, str]
"""Commands by name, each with its definition as text."""


def named_command(code: str) -> str:
    """Return the project command that a shell line runs, such as `make test`; empty: none."""
    words = code.strip().removeprefix("sudo ")
    for pattern, runner in _RUNNERS:
        found = pattern.match(words)
        if found is not None:
            return f"{runner} {found[1].rstrip('.:')}"
    return ""


def definer_of(path: str) -> Callable[[str], dict[str, str]] | None:
    """Return what reads the commands of a file; None: it defines none."""
    name = path.rpartition("/")[2]
    if path.endswith((".cargo/config.toml", ".cargo/config")):
        return _of_cargo
    if name.lower() in ("justfile", ".justfile") or name.endswith(".just"):
        return _of_just
    if name in ("Makefile", "makefile", "GNUmakefile"):
        return _of_make
    return {"package.json": _of_package, "pyproject.toml": _of_pyproject, "tox.ini": _of_tox}.get(name)


def commands_of(path: str, data: bytes) -> Defined:
    """Return the commands that a file defines, by the words that run them.

    `path`: determines the kind of file. `data`: its content; if too long or unreadable, there are none.
    """
    read = definer_of(path)
    if read is None or len(data) > _MOST_BYTES:
        return {}
    return read(data.decode("utf-8", "replace"))


def _of_just(text: str) -> dict[str, str]:
    found = {f"just {name}": body for name, body in _blocks(text, _RECIPE)}
    for alias in _ALIAS.finditer(text):
        found[f"just {alias[1]}"] = found.get(f"just {alias[2]}", "")
    return found


def _of_make(text: str) -> dict[str, str]:
    return {
        f"make {name}": body
        for names, body in _blocks(text, _RULE)
        for name in names.split()
        if not name.startswith(".") and "%" not in name
    }


def _blocks(text: str, head: re.Pattern[str]) -> list[tuple[str, str]]:
    """Names with the rest of their line and the indented lines below."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith((" ", "\t")):
            if found and line.strip():
                found[-1][1].append(line.strip())
        elif (one := head.match(line)) is not None:
            found.append((one[1].strip(), [line[one.end() :].strip()]))
    return [(name, "\n".join(filter(None, body))) for name, body in found]


def _of_package(text: str) -> dict[str, str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return _texts("npm run", data.get("scripts") if isinstance(data, dict) else None)


def _of_pyproject(text: str) -> dict[str, str]:
    data = _toml(text)
    tool = _table(data, "tool")
    tables = [
        _table(data, "project").get("scripts"), _table(tool, "poetry").get("scripts"), _table(tool, "pdm").get("scripts"),
        _table(tool, "taskipy").get("tasks"), _table(tool, "poe").get("tasks"),
    ]  # fmt: skip
    tables += [
        _table(env, "scripts") for env in _table(_table(tool, "hatch"), "envs").values() if isinstance(env, dict)
    ]
    return {name: body for table in tables for name, body in _texts("run", table).items()}


def _of_cargo(text: str) -> dict[str, str]:
    return _texts("cargo", _table(_toml(text), "alias"))


def _of_tox(text: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    names = [name.removeprefix("testenv:") for name in parser.sections() if name.startswith("testenv:")]
    listed = parser.get("tox", "envlist", fallback=parser.get("tox", "env_list", fallback=""))
    names += [name for name in re.split(r"[\s,]+", listed) if name and "{" not in name]
    return {f"tox -e {name}": "" for name in names}


def _texts(runner: str, table: object) -> dict[str, str]:
    if not isinstance(table, dict):
        return {}
    return {f"{runner} {name}": json.dumps(body, sort_keys=True, default=str) for name, body in table.items()}


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return toml_values(text.encode("utf-8"))
    except ValueError:
        return {}


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}
