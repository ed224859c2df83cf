"""Which project a call is about, and what its index is like."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp_types import ListRootsResult
from pydantic import AfterValidator, Field

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, NotIndexedError, UsageError
from cm_tui.model import ProjectStatus

EngineFor = Callable[[str | None], Engine]
"""Gives the engine of the project around a folder, or to the default project."""

FRESH_SECONDS = 5.0
"""How long what is known of an index is believed before it is looked at again."""

_SENTINELS = frozenset({"", "auto", "default", "none", "null", "current", "."})


def plain_text(value: str) -> str:
    """Refuse NUL, which no name holds; that it is valid Unicode is checked before."""
    if "\0" in value:
        raise ValueError("holds a NUL character")
    return value


Text = AfterValidator(plain_text)
ProjectPath = Annotated[
    Annotated[str, Field(max_length=4096), Text] | None,
    Field(description="Absolute path of the project; default: the one the server was started in."),
]


@dataclass(slots=True)
class ProjectResolver:
    """The engines that this server may use.

    Args:
        door_for: opens, or finds open, the engine of a project.
        ask_roots: ask a client for its folders when a call names no project.
    """

    engine_for: EngineFor
    ask_roots: bool = True
    _states: dict[str, tuple[float, ProjectStatus]] = field(default_factory=dict)

    def engine(self, project: str | None, roots: ListRootsResult | None = None) -> Engine:
        """The engine that a call is about.

        Raises:
            UsageError: the project is not an absolute path, or the client has several folders.
            CmError: it cannot be opened.
        """
        if project is not None:
            return self.engine_for(self._checked(project, roots))
        folders = _folders(roots)
        if len(folders) > 1:
            raise UsageError(
                "This client has several folders open: say which one is meant.",
                hint=f"Give `project` as one of {', '.join(folders)}.",
            )
        return self.engine_for(folders[0] if folders else None)

    def _checked(self, project: str, roots: ListRootsResult | None) -> str:
        if project.strip().lower() not in _SENTINELS and Path(project).is_absolute():
            return project
        raise UsageError(f"{project!r} is not the path of a project.", hint=self._suggestion(roots))

    def _suggestion(self, roots: ListRootsResult | None) -> str:
        folders = _folders(roots)
        try:
            named = ", ".join(folders) or str(self.engine_for(None).root)
        except CmError:
            return "Give the absolute path of its folder."
        return f"Give an absolute path, such as {named}, or leave `project` out."

    def state(self, engine: Engine) -> ProjectStatus:
        """The project's status, at most a few seconds old."""
        key, now = str(engine.root), time.monotonic()
        known = self._states.get(key)
        if known is None or now - known[0] > FRESH_SECONDS or not known[1].indexed:
            known = self._states[key] = (now, engine.status())
        return known[1]

    def forget(self, engine: Engine) -> None:
        """Look again at the next question: its index has changed."""
        self._states.pop(str(engine.root), None)

    def indexed(self, engine: Engine) -> ProjectStatus:
        """The status of a project that can be asked.

        Raises:
            NotIndexedError: it has no index yet.
        """
        state = self.state(engine)
        if not state.indexed:
            raise NotIndexedError(
                f"{engine.root} has no index yet.", hint="Call codememory_ingest with confirmed=true, then ask again."
            )
        return state


def notes_of(engine: Engine, state: ProjectStatus) -> list[str]:
    """Return what an answer must not keep quiet about; a daemon brings its index up to HEAD, and says it with the answer."""
    return [] if engine.uses_daemon else notes_on_index(state)


def notes_on_index(state: ProjectStatus) -> list[str]:
    """Return what has to be said about an index itself."""
    if not state.is_behind_head:
        return []
    short = [(sha or "nothing")[:10] for sha in (state.indexed_head, state.head)]
    return [f"The index is behind: it reflects {short[0]}, HEAD is {short[1]}; codememory_ingest brings it up to date."]


def _folders(roots: ListRootsResult | None) -> list[str]:
    if roots is None:
        return []
    parts = [urlsplit(str(root.uri)) for root in roots.roots]
    return [url2pathname(part.path) for part in parts if part.scheme == "file"]


# --- what tools are given instead of asking for it ---

Request = Context[ProjectResolver, Any]


def projects_of(ctx: Context[ProjectResolver, Any]) -> ProjectResolver:
    """The projects of the server that is answering."""
    return ctx.request_context.lifespan_context


async def client_roots(project: str | None, ctx: Request) -> ListRoots | None:
    """The client's folders, asked for when they decide which project is meant and the client can tell."""
    able = ctx.client_capabilities is not None and ctx.client_capabilities.roots is not None
    return ListRoots() if project is None and able and projects_of(ctx).ask_roots else None


Roots = Annotated[ListRootsResult | None, Resolve(client_roots)]


@dataclass(frozen=True, slots=True)
class CallTarget:
    """Where a call is to be answered; opened by the tool, so that it says what goes wrong."""

    projects: ProjectResolver
    project: str | None
    roots: ListRootsResult | None

    def engine(self) -> Engine:
        """The project's engine, whether it is indexed or not."""
        return self.projects.engine(self.project, self.roots)

    def asked(self) -> tuple[Engine, ProjectStatus]:
        """The engine of an indexed project, and its status.

        Raises:
            NotIndexedError: it has no index yet.
        """
        engine = self.engine()
        return engine, self.projects.indexed(engine)


async def place(project: str | None, roots: Roots, ctx: Request) -> CallTarget:
    """Where this call is to be answered."""
    return CallTarget(projects_of(ctx), project, roots)


Where = Annotated[CallTarget, Resolve(place)]
