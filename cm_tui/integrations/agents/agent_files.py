"""What wiring an agent is made of: files, each with a part of ours that can be put in and taken out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cm_tui.errors import RefusedError
from cm_tui.integrations.agents.json_edit import Document

Scope = Literal["project", "user"]
What = Literal["mcp", "hooks", "marker"]

SERVER = "cm-tui"
"""Name of the MCP server in every agent's configuration."""
HOOK_SECONDS = 10
"""How long an agent may wait for a hook; it takes a fraction of a second, or as long as the memory is allowed to."""


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """Where an agent is wired: for one project or for all of this user's."""

    scope: Scope
    root: Path
    home: Path
    command: tuple[str, ...]
    """The words that start `cm`."""
    tools: str = ""
    """Which of its tools the MCP server shows; empty: those that are written there already, or its own choice."""

    def shell(self, *words: str) -> str:
        """A command line of `cm` for a shell."""
        line = [*self.command, *words]
        return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)

    def server(self, old: Any = None) -> list[str]:
        """The words that start the MCP server.

        Args:
            old: the entry that is there; the options that a person gave it stay.
        """
        words = _words(old)
        options = words[words.index("mcp") + 1 :] if "mcp" in words else []
        if self.tools:
            options = [*_without_tools(options), "--tools", self.tools]
        return [*self.command, "mcp", *options]

    def hook(self, event: str, agent: str) -> str:
        """The command line of a hook."""
        return self.shell("hook", event, "--agent", agent)


def _words(entry: Any) -> list[str]:
    """The command line of an MCP server's entry, in any agent's form."""
    if not isinstance(entry, dict):
        return []
    command, rest = entry.get("command"), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(rest if isinstance(rest, list) else [])]
    return [word for word in words if isinstance(word, str)]


def _without_tools(options: Sequence[str]) -> list[str]:
    kept: list[str] = []
    rest = iter(options)
    for word in rest:
        if word == "--tools":
            next(rest, None)
        elif not word.startswith("--tools="):
            kept.append(word)
    return kept


@dataclass(frozen=True, slots=True)
class Part:
    """A file of an agent, and what of it is ours.

    `wire` and `unwire` take the text (None: no such file) and give the new one (None: no file). Both are the identity on
    a text that already is as they would make it.
    """

    what: What
    path: Path
    wire: Callable[[str | None], str]
    unwire: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can be wired: where its files are, and what a person must still do."""

    name: str
    title: str
    parts: Callable[[InstallTarget], Sequence[Part]]
    notes: tuple[str, ...] = ()


def place(scope: Scope, root: Path, tools: str = "") -> InstallTarget:
    """The place for a scope, with the home folder of the environment."""
    return InstallTarget(scope, root, Path.home(), _command(scope), tools)


def _command(scope: Scope) -> tuple[str, ...]:
    """How `cm` is started: by name in a project's files, which others share; by its path in the user's own."""
    found = shutil.which("cm")
    if scope == "project" and found:
        return ("cm",)
    beside = Path(sys.executable).with_name("cm.exe" if os.name == "nt" else "cm")
    if beside.is_file():
        return (str(beside),)
    # -P: an agent starts us in a project's folder, whose files are not what Python is to import.
    return (found,) if found else (sys.executable, "-P", "-m", "cm_tui")


def folder_from(environment: str, default: Path) -> Path:
    """A folder that an agent lets a variable move."""
    value = os.environ.get(environment)
    return Path(value).expanduser() if value else default


# --- JSON files ---


def split(words: Sequence[str]) -> dict[str, Any]:
    """A command line as a command and its arguments."""
    return {"command": words[0], "args": list(words[1:])}


def json_server(
    path: Path,
    key: str,
    where: InstallTarget,
    *,
    form: Callable[[Sequence[str]], Mapping[str, Any]] = split,
    first: Mapping[str, Any] | None = None,
    lone: Mapping[str, Any] | None = None,
) -> Part:
    """An MCP server in a JSON file: `{KEY: {"cm-tui": ENTRY}}`.

    Args:
        path: the file.
        key: the object that lists the servers.
        where: which command, with which tools; what a person added to it stays.
        form: how the agent writes a command line.
        first: what a new entry also says, and a person may change.
        lone: what a new file also says; without anything else it is not kept.
    """

    def wire(text: str | None) -> str:
        document = Document(text or "")
        if text is None or not text.strip():
            for name, value in (lone or {}).items():
                document.put((name,), value)
        servers = document.value.get(key)
        old = servers.get(SERVER) if isinstance(servers, dict) else None
        kept = old if isinstance(old, dict) else {}
        document.put((key, SERVER), {**(first or {}), **kept, **form(where.server(kept))})
        return document.text

    def unwire(text: str) -> str | None:
        document = Document(text)
        document.remove((key, SERVER))
        return _unless_bare(document, lone or {}, text)

    return Part("mcp", path, wire, unwire)


@dataclass(frozen=True, slots=True)
class HookEntry:
    """A hook: the agent's name of the event, ours, and what kind of tool it is for."""

    event: str
    ours: str
    matcher: str | None = None


def grouped_hooks(path: Path, where: InstallTarget, agent: str, entries: Sequence[HookEntry]) -> Part:
    """Hooks in groups with a matcher, as Claude Code has them and Codex took them over."""

    def group(entry: HookEntry) -> dict[str, Any]:
        handler = {"type": "command", "command": where.hook(entry.ours, agent), "timeout": HOOK_SECONDS}
        return {**({"matcher": entry.matcher} if entry.matcher else {}), "hooks": [handler]}

    return _hooks(path, agent, {entry.event: (entry.ours, group(entry)) for entry in entries}, {})


def flat_hooks(
    path: Path, where: InstallTarget, agent: str, entries: Sequence[HookEntry], lone: Mapping[str, Any]
) -> Part:
    """Hooks as one list of commands for each event, as Cursor has them."""
    wanted = {entry.event: (entry.ours, {"command": where.hook(entry.ours, agent)}) for entry in entries}
    return _hooks(path, agent, wanted, lone)


def _hooks(path: Path, agent: str, wanted: Mapping[str, tuple[str, Any]], lone: Mapping[str, Any]) -> Part:
    def wire(text: str | None) -> str:
        document = Document(text or "")
        for key, value in lone.items():
            if key not in document.value:
                document.put((key,), value)
        for event, (ours, value) in wanted.items():
            present = [at for at in _ours(document.value, agent) if at[1] == event]
            if any(_same(document.value, at, value, ours, agent) for at in present[:1]) and len(present) == 1:
                continue
            _drop(document, agent, event)
            document.append(("hooks", event), value)
        return document.text

    def unwire(text: str) -> str | None:
        document = Document(text)
        _drop(document, agent, None)
        return _unless_bare(document, lone, text)

    return Part("hooks", path, wire, unwire)


def _ours(value: Any, agent: str) -> list[tuple[str | int, ...]]:
    """Where our hooks stand: at a command of a list, or at a handler in a group."""
    pattern = re.compile(rf"\bhook [a-z-]+ --agent {re.escape(agent)}(?![\w-])")
    found: list[tuple[str | int, ...]] = []
    hooks = value.get("hooks")
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict):
                continue
            if pattern.search(str(item.get("command", ""))):
                found.append(("hooks", event, index))
            inner = item.get("hooks")
            found += [
                ("hooks", event, index, "hooks", number)
                for number, handler in enumerate(inner if isinstance(inner, list) else ())
                if isinstance(handler, dict) and pattern.search(str(handler.get("command", "")))
            ]
    return found


def _same(value: Any, at: tuple[str | int, ...], wanted: Any, ours: str, agent: str) -> bool:
    """Whether a hook that is there runs what we would write; a person may have changed its matcher or time."""
    found, handler = value, wanted["hooks"][0] if "hooks" in wanted else wanted
    for key in at:
        found = found[key]
    return bool(found["command"] == handler["command"]) and f"hook {ours} --agent {agent}" in found["command"]


def _drop(document: Document, agent: str, event: str | None) -> None:
    # From the last to the first: an index stays right while what follows it goes.
    for at in reversed(_ours(document.value, agent)):
        if event is not None and at[1] != event:
            continue
        group = document.value["hooks"][at[1]][at[2]]
        # A group that held nothing but ours goes with its matcher.
        document.remove(at[:3] if len(at) > 3 and len(group["hooks"]) == 1 else at)


def _unless_bare(document: Document, lone: Mapping[str, Any], before: str) -> str | None:
    """The text, or None when nothing is left but what we begin a new file with."""
    if document.text == before:
        return before
    bare = all(key in lone and lone[key] == value for key, value in document.value.items())
    return None if bare and not re.search(r"//|/\*", _without_strings(document.text)) else document.text


def _without_strings(text: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


# --- whole files ---


def whole_file(what: What, path: Path, text: str, marker: str) -> Part:
    """A file that is ours from its first line to its last.

    Args:
        what: the part.
        path: the file.
        text: what it says.
        marker: its first line says so; a file without it belongs to someone else.
    """

    def refuse_foreign(found: str) -> None:
        if marker not in found.partition("\n")[0]:
            raise RefusedError(
                f"{path} was not written by cm.", hint="Move it away, or rename it, and run the command again."
            )

    def wire(found: str | None) -> str:
        if found is not None and found.strip():
            refuse_foreign(found)
        return text

    def unwire(found: str) -> str | None:
        return None if marker in found.partition("\n")[0] else found

    return Part(what, path, wire, unwire)
