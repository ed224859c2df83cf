"""Where other rooms of the server join the owner: what is mounted beside its own paths, and what works behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.types import ASGIApp

from cm_tui.daemon.dispatcher import Desk
from cm_tui.daemon.lazy_app import Lazy
from cm_tui.engine.api.engine import Door
from cm_tui.errors import UsageError


class Background(Protocol):
    """Work that the owner does by itself: the journal, watchers. Called on threads; must return soon."""

    def start(self, desk: Desk) -> None:
        """The owner answers from now on."""

    def on_nudge(self, root: Path) -> None:
        """The journal of the project at this root has news."""

    def close(self) -> None:
        """The owner ends."""


@dataclass(frozen=True)
class Extensions:
    """What joins the owner.

    Mounted applications get requests below their path; their lifespan is run with the owner's.
    """

    mounts: Mapping[str, ASGIApp] = field(default_factory=dict)
    background: tuple[Background, ...] = ()


def extensions(desk: Desk) -> Extensions:
    """Everything that joins the owner. This is the place to add to.

    Args:
        desk: the way to the projects, jobs and events.
    """
    from cm_tui.agent_hooks.http import HookWork, prompts

    hooks = HookWork()
    return Extensions(mounts={"/v1/hook": prompts(desk, hooks), "/mcp": Lazy(_mcp)}, background=(hooks,))


def _mcp() -> Starlette:
    from cm_tui.mcp import http_app
    from cm_tui.mcp.engine_pool import Doors

    doors = Doors()

    def door_for(project: str | None) -> Door:
        if project is None:
            raise UsageError(
                "Name the project.", hint="The owner serves all of them: give `project`, an absolute path."
            )
        return doors(project)

    return http_app(door_for, path="/")
