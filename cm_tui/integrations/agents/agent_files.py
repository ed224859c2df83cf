"""Agents and their files, each with a part of cm that can be added and removed."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cm_tui.errors import RefusedError
from cm_tui.integrations.agents.project_entry import options_of, parted_options

Scope = Literal["project", "user"]
What = Literal["mcp", "hooks", "marker", "setting"]

BLANK = " \t\r\n\ufeff"
"""A file of these says nothing: an editor leaves them, a byte order mark too."""
SERVER = "cm-tui"
"""Name of the MCP server in every agent's configuration."""


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """The target of wiring: for one project or for all of this user's."""

    scope: Scope
    root: Path
    home: Path
    command: tuple[str, ...]
    """The words that start `cm`."""
    tools: str = ""
    """Which of its tools the MCP server shows; empty: those that are written there already, or its own choice."""
    known_tools: Callable[[str], bool] = lambda _: True
    """Whether a value of `--tools` names sets and tools that there are."""

    def shell(self, *words: str) -> str:
        """A command line of `cm` for a shell."""
        line = [*self.command, *words]
        return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)

    def server(self, old: Any = None) -> list[str]:
        """The words that start the MCP server.

        `old`: the entry that is there; the options that a person gave it stay.
        """
        options = options_of(old)
        if self.scope == "project":
            # These options come from the repository: none of them may widen an agent's access.
            options, _ = parted_options(options, self.known_tools)
        if self.tools:
            options = [*_without_tools(options), "--tools", self.tools]
        return [*self.command, "mcp", *options]

    def hook(self, event: str, agent: str) -> str:
        """The command line of a hook."""
        return self.shell("hook", event, "--agent", agent)


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
    widened: Callable[[str], tuple[str, ...]] = lambda _: ()
    """What a text adds to our part that a repository may not; `wire` drops it."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can be wired: where its files are, and what a person must still do."""

    name: str
    title: str
    parts: Callable[[InstallTarget], Sequence[Part]]
    notes: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    """The words before a session's id that open the agent at that session; empty: it has no such command line."""


def target_of(scope: Scope, root: Path, tools: str, known_tools: Callable[[str], bool]) -> InstallTarget:
    """Return the target for a scope, with the home folder of the environment; the rest as `InstallTarget` has it."""
    return InstallTarget(scope, root, Path.home(), _command(scope), tools, known_tools)


def _command(scope: Scope) -> tuple[str, ...]:
    """Return how `cm` is started: by name in a project's files, which others share; by its path in the user's own."""
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


def split(words: Sequence[str]) -> dict[str, Any]:
    """A command line as a command and its arguments."""
    return {"command": words[0], "args": list(words[1:])}


def whole_file(what: What, path: Path, text: str, marker: str) -> Part:
    """A file that is ours from its first line to its last.

    `text`: what it says. `marker`: its first line says so; a file without it belongs to someone else.
    """

    def refuse_foreign(found: str) -> None:
        if marker not in found.partition("\n")[0]:
            raise RefusedError(
                f"{path} was not written by cm.", hint="Move it away, or rename it, and run the command again."
            )

    def wire(found: str | None) -> str:
        if found is not None and found.strip(BLANK):
            refuse_foreign(found)
        return text

    def unwire(found: str) -> str | None:
        return None if marker in found.partition("\n")[0] else found

    return Part(what, path, wire, unwire)


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file; None: it does not exist."""

    what: What
    path: Path
    before: bytes | None
    after: bytes | None
    dropped: tuple[str, ...] = ()
    """What a repository had added to our part, and is no longer there."""

    @property
    def done(self) -> str:
        """`created`, `changed`, `removed` or `unchanged`."""
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def would(self) -> str:
        """The same of what is only shown: `would create`, `would change`, `would remove` or `unchanged`."""
        return self.done if self.done == "unchanged" else f"would {self.done.removesuffix('d')}"

    @property
    def diff(self) -> str:
        """A unified diff; empty when nothing changes."""
        before, after = (_lines(side) for side in (self.before, self.after))
        old, new = (os.devnull if side is None else str(self.path) for side in (self.before, self.after))
        lines = difflib.unified_diff(before, after, old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)
