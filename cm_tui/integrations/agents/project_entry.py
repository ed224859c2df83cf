"""Which parts of our entry in a project's files may stay.

A repository contains these files, so apparent additions of the user may be the repository's. Anything that widens an
agent's access or runs another program is accepted only from the user's own files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

COMMAND_KEYS = frozenset({"type", "command", "args"})
"""What we write ourselves, in every agent's form."""
_ENVIRONMENTS = frozenset({"env", "environment"})
_SWITCHES = frozenset({"enabled", "disabled"})
_SECONDS = frozenset({"timeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec"})
_TOOLS = frozenset({"enabled_tools", "disabled_tools"})
"""Keys that a project may keep: they switch the server or its tools off and on, or say how long to wait."""
_TYPES = ("stdio", "local")
"""A command that is run, not an address that is asked."""
_SHOWN = 12


def options_of(entry: Any) -> list[str]:
    """Return the words behind `mcp` in an MCP server's entry, in any agent's form."""
    words = _words(entry)
    return words[words.index("mcp") + 1 :] if "mcp" in words else []


def parted_options(options: Sequence[str], known_tools: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Part the options of the server into those that a project may keep and those that it may not.

    `options`: words behind `mcp`; `known_tools`: tells whether a value of `--tools` names sets and tools. Returns words
    that stay (`--tools SETS` alone), and each other option with its value, as text.
    """
    kept: list[str] = []
    dropped: list[str] = []
    rest = list(options)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        words = [word]
        if not equals and rest and word.startswith("-") and not rest[0].startswith("-"):
            value = rest.pop(0)
            words.append(value)
        # The last of several counts, as it does for the command.
        if name == "--tools" and re.fullmatch(r"[a-z_]+(?: *, *[a-z_]+)*", value) and known_tools(value):
            kept = words
        else:
            dropped.append(shlex.join(words))
    return kept, dropped


def preserved_keys(entry: Any) -> dict[str, Any]:
    """Return what a project's entry may keep besides the command line."""
    found = entry if isinstance(entry, Mapping) else {}
    return {key: value for key, value in found.items() if _is_harmless(key, value)}


def widenings(entry: Any, known_tools: Callable[[str], bool]) -> tuple[str, ...]:
    """Return what a project's entry may not keep, for people: options with their values, names of variables, keys."""
    if not isinstance(entry, Mapping):
        return ()
    words = _words(entry)
    command = words[: words.index("mcp")] if "mcp" in words else words
    found = [f"command {shlex.join(command)}"] if command and not is_launcher(shlex.join(command)) else []
    found += parted_options(options_of(entry), known_tools)[1]
    for key, value in entry.items():
        if key in _ENVIRONMENTS and isinstance(value, Mapping):
            # Names alone: a value may be a secret.
            found += [f"env {name}" for name in value]
        elif key not in COMMAND_KEYS and not _is_harmless(key, value):
            found.append(str(key))
    return tuple("".join(letter if letter.isprintable() else " " for letter in one) for one in found)


def shown(widened: Sequence[str]) -> str:
    """Return widenings in one line, of which a stranger says how long they are."""
    more = f" and {len(widened) - _SHOWN} more" if len(widened) > _SHOWN else ""
    return ", ".join(one if len(one) <= 100 else f"{one[:100]}…" for one in widened[:_SHOWN]) + more


def is_launcher(line: str) -> bool:
    """Tell whether a shell's words start `cm` and nothing else, wherever it lies."""
    return re.fullmatch(_LAUNCHER, line) is not None


def is_hook(line: str, agent: str) -> bool:
    """Tell whether a command line is a hook of ours for an agent, and runs nothing before, after or inside."""
    return re.fullmatch(rf"{_LAUNCHER} hook [a-z-]+ --agent {re.escape(agent)}", line) is not None


# One word of a shell in which nothing is expanded, substituted or run.
_WORD = r"""(?:'[^']*'|"[^"$`\r\n]*"|[^\s;&|<>$`()'"#*?\[\]{}=])+"""
_LAUNCHER = rf"""(?:(?:{_WORD}[/\\])?(?:cm|cm\.exe)|'[^']*[/\\](?:cm|cm\.exe)'|"[^"$`\r\n]*[/\\](?:cm|cm\.exe)"|{_WORD}(?: -P)? -m cm_tui)"""


def _is_harmless(key: Any, value: Any) -> bool:
    if key == "type":
        return value in _TYPES
    if key in _SWITCHES:
        return isinstance(value, bool)
    if key in _SECONDS:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    names = value if key in _TOOLS and isinstance(value, list) else [None]
    return all(isinstance(one, str) and one.isascii() and one.isprintable() for one in names)


def _words(entry: Any) -> list[str]:
    """The command line of an MCP server's entry, in any agent's form."""
    if not isinstance(entry, Mapping):
        return []
    command, rest = entry.get("command"), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(rest if isinstance(rest, list) else [])]
    return [word for word in words if isinstance(word, str)]
