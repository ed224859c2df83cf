"""The layers that live outside the daemon: git hooks and autostart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cm_tui.errors import CmError, NotFoundError
from cm_tui.integrations import autostart, git_hooks
from cm_tui.model.freshness import Freshness, LayerState

HOOKS = "git hooks"
AUTOSTART = "autostart"


def outside_layers(root: Path) -> tuple[LayerState, ...]:
    """How git hooks and autostart are set up for a project."""
    return (_hooks(root), _autostart())


def with_external_layers(state: Freshness, root: Path) -> Freshness:
    """Return a state with the layers that live outside the daemon as well, and what they were heard to say."""
    heard = {layer.name: layer for layer in state.layers}
    outside = {layer.name: layer for layer in outside_layers(root)}
    for name, layer in outside.items():
        if name in heard:
            outside[name] = replace(layer, fired_at=heard[name].fired_at, did=heard[name].did)
    return replace(state, layers=tuple({**heard, **outside}.values()))


def _hooks(root: Path) -> LayerState:
    try:
        found = git_hooks.status(root)
    except NotFoundError:
        return LayerState(HOOKS, "off", note="this project has no git")
    except CmError as error:
        return LayerState(HOOKS, "failed", note=error.message)
    if found.off:
        return LayerState(HOOKS, "off", note="; ".join(found.notes))
    states = {hook.state for hook in found.hooks}
    if states == {"installed"}:
        return LayerState(HOOKS, "on", note="; ".join(found.notes))
    if "installed" in states or "outdated" in states:
        return LayerState(HOOKS, "failed", note="some are missing or outdated: `cm git-hooks install` fixes them")
    return LayerState(HOOKS, "off", note="`cm git-hooks install` adds them")


def _autostart() -> LayerState:
    found = autostart.status()
    if found.state == "installed":
        return LayerState(AUTOSTART, "on", mode=found.system)
    if found.state == "outdated":
        return LayerState(AUTOSTART, "failed", mode=found.system, note="outdated: `cm autostart install` updates it")
    note = "`cm autostart install` adds it" if found.state == "missing" else "; ".join(found.notes)
    return LayerState(AUTOSTART, "off", note=note)
