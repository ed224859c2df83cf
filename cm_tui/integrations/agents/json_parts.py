"""Our parts of an agent's JSON files: the MCP server, and hooks in the two forms that agents have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cm_tui.errors import RefusedError
from cm_tui.integrations.agents.agent_files import SERVER, InstallTarget, Part, split
from cm_tui.integrations.agents.json_edit import Document
from cm_tui.integrations.agents.project_entry import is_hook, preserved_keys, widenings

HOOK_SECONDS = 10
"""How long an agent may wait for a hook; it takes a fraction of a second, or as long as the memory is allowed to."""
_MOST_HOOKS = 100


def json_server(
    path: Path,
    key: str,
    target: InstallTarget,
    *,
    form: Callable[[Sequence[str]], Mapping[str, Any]] = split,
    first: Mapping[str, Any] | None = None,
    lone: Mapping[str, Any] | None = None,
) -> Part:
    """An MCP server in a JSON file: `{KEY: {"cm-tui": ENTRY}}`.

    `key`: the object that lists the servers. `target`: which command, with which tools; what a person added to it
    stays, in a project what `kept_of` allows. `form`: how the agent writes a command line. `first`: what a new entry
    also says, and a person may change. `lone`: what a new file also says; without anything else it is not kept.
    """

    def wire(text: str | None) -> str:
        document = Document(text or "")
        if text is None or not text.strip():
            for name, value in (lone or {}).items():
                document.put((name,), value)
        old = entry(document)
        kept = preserved_keys(old) if target.scope == "project" else old
        document.put((key, SERVER), {**(first or {}), **kept, **form(target.server(old))})
        return document.text

    def entry(document: Document) -> dict[str, Any]:
        servers = document.value.get(key)
        old = servers.get(SERVER) if isinstance(servers, dict) else None
        return old if isinstance(old, dict) else {}

    def widened(text: str) -> tuple[str, ...]:
        return widenings(entry(Document(text)), target.known_tools) if target.scope == "project" else ()

    def unwire(text: str) -> str | None:
        document = Document(text)
        document.remove((key, SERVER))
        return _unless_bare(document, lone or {}, text)

    return Part("mcp", path, wire, unwire, widened)


@dataclass(frozen=True, slots=True)
class HookEntry:
    """A hook: the agent's name of the event, ours, and what kind of tool it is for."""

    event: str
    ours: str
    matcher: str | None = None


def grouped_hooks(path: Path, target: InstallTarget, agent: str, entries: Sequence[HookEntry]) -> Part:
    """Hooks in groups with a matcher, as Claude Code has them and Codex took them over."""

    def group(entry: HookEntry) -> dict[str, Any]:
        handler = {"type": "command", "command": target.hook(entry.ours, agent), "timeout": HOOK_SECONDS}
        return {**({"matcher": entry.matcher} if entry.matcher else {}), "hooks": [handler]}

    return _hooks(path, target, agent, {entry.event: (entry.ours, group(entry)) for entry in entries}, {})


def flat_hooks(
    path: Path, target: InstallTarget, agent: str, entries: Sequence[HookEntry], lone: Mapping[str, Any]
) -> Part:
    """Hooks as one list of commands for each event, as Cursor has them."""
    wanted = {entry.event: (entry.ours, {"command": target.hook(entry.ours, agent)}) for entry in entries}
    return _hooks(path, target, agent, wanted, lone)


def _hooks(
    path: Path, target: InstallTarget, agent: str, wanted: Mapping[str, tuple[str, Any]], lone: Mapping[str, Any]
) -> Part:
    project = target.scope == "project"

    def wire(text: str | None) -> str:
        document = Document(text or "")
        for key, value in lone.items():
            if key not in document.value:
                document.put((key,), value)
        for event, (ours, value) in wanted.items():
            present = [at for at in _ours(document.value, agent) if at[1] == event]
            if len(present) == 1 and _same(document.value, present[0], value, ours, agent, strict=project):
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
    """Return where our hooks stand: at a command of a list, or at a handler in a group.

    Raises RefusedError if there are more than anybody needs, and than could be taken out one by one in time.
    """
    found: list[tuple[str | int, ...]] = []
    hooks = value.get("hooks")
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict):
                continue
            if is_hook(str(item.get("command", "")), agent):
                found.append(("hooks", event, index))
            inner = item.get("hooks")
            found += [
                ("hooks", event, index, "hooks", number)
                for number, handler in enumerate(inner if isinstance(inner, list) else ())
                if isinstance(handler, dict) and is_hook(str(handler.get("command", "")), agent)
            ]
    if len(found) > _MOST_HOOKS:
        raise RefusedError(f"{len(found):,} hooks of cm found; at most {_MOST_HOOKS} can be removed")
    return found


def _same(value: Any, at: tuple[str | int, ...], wanted: Any, ours: str, agent: str, *, strict: bool) -> bool:
    """Tell whether a hook that is there runs what we would write; a person may have changed its matcher or time.

    `at`: where the hook stands; `ours`: our event; `strict`: nothing else may be there, such as another shell, that
    changes how it runs.
    """
    found, handler = value, wanted["hooks"][0] if "hooks" in wanted else wanted
    for key in at:
        found = found[key]
    if strict and not all(
        handler.get(key) == other for key, other in found.items() if key not in {"timeout", "matcher"}
    ):
        return False
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
