"""Which project a call is about, and what its index is like."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname
from weakref import WeakValueDictionary

import anyio.to_thread
from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import (
    REQUEST_TIMEOUT,
    InitializeRequestParams,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    Root,
)
from mcp_types.version import is_version_at_least
from pydantic import AfterValidator, Field, ValidationError

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, NotIndexedError, UsageError
from cm_tui.mcp.safe_text import short
from cm_tui.model import ProjectStatus
from cm_tui.model.text import one_line

# --- what a client has open (MCP roots) ---

ROOTS_NOTES: ContextVar[tuple[str, ...]] = ContextVar("roots_notes", default=())
"""Which of the client's folders the current call ignores, and why."""

ROOTS_SECONDS = 5.0
"""How long a client may take to list its folders; one that does not is not asked again on its connection."""
_ROOTS_IN_ANSWERS = "2026-07-28"
"""Since this revision of the protocol a server asks back by its answer, and the client calls again."""
_IGNORED = "cm-tui/ignored"
"""Key in the `_meta` of a list of roots: the URIs that were dropped from it."""
_SHOWN, _URI_CHARACTERS = 3, 200

_silent: WeakValueDictionary[int, InitializeRequestParams] = WeakValueDictionary()
"""The clients that did not list their folders in time, by the parameters of their `initialize`: one object a connection."""


def asks_by_response(ctx: Context[Any, Any]) -> bool:
    """Whether the client is asked by the answer to its call; an older one by a request of its own."""
    return is_version_at_least(ctx.protocol_version or "", _ROOTS_IN_ANSWERS)


async def requested_roots(ctx: Context[Any, Any]) -> ListRootsResult:
    """Ask an older client for its folders; none, with a note, where it fails or does not answer in time."""
    session = ctx.request_context.session
    client, problem = session.client_params, "did not list its folders in time"
    if client is None or _silent.get(id(client)) is not client:
        try:
            # Not by `send_request`: it refuses all roots for one, and its notice of cancellation would come before the
            # answer that the client waits for.
            told = await session._request_outbound.send_raw_request(  # noqa: SLF001
                "roots/list", None, {"timeout": ROOTS_SECONDS, "cancel_on_abandon": False}
            )
            return ListRootsResult.model_validate(without_odd_roots(told), by_name=False)
        except ValidationError:
            problem = "listed its folders in an invalid form"
        except MCPError as error:
            if error.code != REQUEST_TIMEOUT:
                problem = f"could not list its folders: {one_line(short(error.error.message)).rstrip('.')}"
            elif client is not None:
                _silent[id(client)] = client
    _add_note(f"The client {problem}; using the server's own folders.")
    return ListRootsResult(roots=[])


def without_odd_roots(result: Any) -> Any:
    """Return a client's answer to `roots/list` with those roots that the protocol allows; `_meta` has the others."""
    if not isinstance(result, Mapping) or "roots" not in result:
        return result
    roots = result["roots"]
    kept, ignored = [], []
    for root in roots if isinstance(roots, list) else [] if roots is None else [roots]:
        uri = root.get("uri") if isinstance(root, Mapping) else root
        try:
            # A name or `_meta` of another type costs nothing either.
            kept.append(Root.model_validate({"uri": uri}).model_dump(mode="json", exclude_none=True))
        except ValidationError:
            ignored.append(short(str(uri), _URI_CHARACTERS))
    return {"roots": kept, "_meta": {_IGNORED: ignored}} if ignored else {"roots": kept}


async def open_folders(roots: ListRootsResult) -> tuple[Path, ...]:
    """Return the folders that a client has open on this machine; invalid roots are skipped with a note."""
    # A folder may be on a drive that is slow to answer.
    folders, ignored = await anyio.to_thread.run_sync(folders_of, roots)
    if ignored:
        more = f" and {len(ignored) - _SHOWN:,} more" if len(ignored) > _SHOWN else ""
        names = ", ".join(one_line(short(uri, _URI_CHARACTERS)) or "(empty)" for uri in ignored[:_SHOWN])
        _add_note(f"Ignored client folders that are not on this machine: {names}{more}.")
    return folders


def folders_of(roots: ListRootsResult) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folders of this machine among a client's, a file counting as its folder, and the URIs of the rest."""
    found, ignored = [], [str(uri) for uri in (roots.meta or {}).get(_IGNORED, ())]
    for uri in (str(root.uri) for root in roots.roots):
        folder = _folder_at(uri)
        if folder is None:
            ignored.append(uri)
        else:
            found.append(folder)
    return tuple(dict.fromkeys(found)), ignored


def _folder_at(uri: str) -> Path | None:
    try:
        parts = urlsplit(uri)
        path = url2pathname(parts.path)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc.lower() not in {"", "localhost"} or "\0" in path:
        return None
    # These two never raise, whatever the path.
    return Path(path) if os.path.isdir(path) else Path(path).parent if os.path.isfile(path) else None  # noqa: PTH112, PTH113


def _add_note(note: str) -> None:
    ROOTS_NOTES.set(tuple(dict.fromkeys((*ROOTS_NOTES.get(), note))))


# --- which project a call is about, and what its index is like ---


class EngineFor(Protocol):
    """Gives engines; `EnginePool` is one."""

    def __call__(self, project: str | None, client_folders: Sequence[Path] = ()) -> Engine:
        """The engine of the project around a folder, or of the default project, within what a client has open."""


FRESH_SECONDS = 5.0
"""How long what is known of an index is believed before it is looked at again."""
INDEXED_SECONDS = 60.0
"""How long it is believed that there is an index."""

CLIENT_FOLDERS: ContextVar[tuple[Path, ...]] = ContextVar("client_folders", default=())
"""What the client has open, while a resource or a prompt is made; tools are given it."""

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
        engine_for: opens, or finds open, the engine of a project.
        ask_roots: ask a client for its folders: they say which project is meant, and narrow what is answered.
    """

    engine_for: EngineFor
    ask_roots: bool = True
    _states: dict[str, tuple[float, ProjectStatus]] = field(default_factory=dict)
    _indexed: dict[str, float] = field(default_factory=dict)
    """When it had an index last, by root."""

    def engine(self, project: str | None, folders: tuple[Path, ...] | None = None) -> Engine:
        """Return the engine of a call's project.

        `project`: the call's argument. `folders`: folders open in the client; by default `CLIENT_FOLDERS`. Raises
        UsageError if the project is not an absolute path, or the client has several folders; RefusedError if the
        project was not given to this server, or is not open in the client; CmError if it cannot be opened.
        """
        folders = CLIENT_FOLDERS.get() if folders is None else folders
        return self.engine_for(self._checked(project, folders) if project is not None else None, folders)

    def _checked(self, project: str, folders: Sequence[Path]) -> str:
        if project.strip().lower() not in _SENTINELS and Path(project).is_absolute():
            return project
        raise UsageError(f"{project!r} is not the path of a project.", hint=self._suggestion(folders))

    def _suggestion(self, folders: Sequence[Path]) -> str:
        try:
            named = str(self.engine_for(None, folders).root)
        except CmError:
            return "Give the absolute path of its folder."
        return f"Give an absolute path, such as {named}, or omit `project`."

    def state(self, engine: Engine) -> ProjectStatus:
        """The project's status, at most `FRESH_SECONDS` old."""
        key, now = str(engine.root), time.monotonic()
        known = self._states.get(key)
        if known is None or now - known[0] > FRESH_SECONDS or not known[1].indexed:
            known = self._states[key] = (now, engine.status())
        return known[1]

    def forget(self, engine: Engine) -> None:
        """Look again at the next question: its index has changed."""
        self._states.pop(str(engine.root), None)
        self._indexed.pop(str(engine.root), None)

    def check_indexed(self, engine: Engine) -> None:
        """Raise NotIndexedError if a project has no index yet; what an index is behind is noted on the results."""
        key, now = str(engine.root), time.monotonic()
        if now - self._indexed.get(key, now - INDEXED_SECONDS) >= INDEXED_SECONDS:
            try:
                engine.stale_reason()
            except NotIndexedError as error:
                hint = "Call codememory_ingest with confirmed=true, then ask again."
                raise NotIndexedError(f"{engine.root} has no index yet.", hint=hint) from error
            self._indexed[key] = now


def notes_on_index(state: ProjectStatus) -> list[str]:
    """Return the notes on an index that is behind HEAD."""
    if not state.is_behind_head:
        return []
    short = [(sha or "nothing")[:10] for sha in (state.indexed_head, state.head)]
    return [f"The index is behind: it reflects {short[0]}, HEAD is {short[1]}; codememory_ingest brings it up to date."]


# --- what tools are given instead of asking for it ---

Request = Context[ProjectResolver, Any]


def projects_of(ctx: Context[ProjectResolver, Any]) -> ProjectResolver:
    """The projects of the server that is answering."""
    return ctx.request_context.lifespan_context


def offers_roots(ctx: Request) -> bool:
    """Whether the client is asked for its folders: it can tell, and they have a say."""
    able = ctx.client_capabilities is not None and ctx.client_capabilities.roots is not None
    return able and projects_of(ctx).ask_roots


async def client_roots(ctx: Request) -> ListRootsResult | ListRoots | None:
    """The client's folders, which say what is meant, and beyond which nothing is answered."""
    if not offers_roots(ctx):
        return None
    return ListRoots() if asks_by_response(ctx) else await requested_roots(ctx)


async def client_folders(ctx: Request | None) -> tuple[Path, ...] | InputRequiredResult:
    """Return what the client has open, for resources and prompts: its folders, or the answer that asks for them."""
    if ctx is None or not offers_roots(ctx):
        return ()
    if not asks_by_response(ctx):
        return await open_folders(await requested_roots(ctx))
    told = (ctx.input_responses or {}).get("roots")
    if told is None:
        return InputRequiredResult(input_requests={"roots": ListRootsRequest()})
    return await open_folders(ListRootsResult.model_validate(told.model_dump(by_alias=True)))


Roots = Annotated[ListRootsResult | None, Resolve(client_roots)]


@dataclass(frozen=True, slots=True)
class CallTarget:
    """Where a call is to be answered; opened by the tool, so that it says what goes wrong."""

    projects: ProjectResolver
    project: str | None
    folders: tuple[Path, ...] | None
    agent: str
    """What the client calls itself."""

    def engine(self) -> Engine:
        """The project's engine, whether it is indexed or not."""
        return self.projects.engine(self.project, self.folders)

    def note_recalled(self, engine: Engine, paths: Iterable[str]) -> None:
        """Count what the agent was given of the memory."""
        if given := [*paths]:
            engine.note_recalled(given, actor="agent", agent=self.agent)

    def indexed(self) -> Engine:
        """The engine of an indexed project. Raises NotIndexedError if it has no index yet."""
        engine = self.engine()
        self.projects.check_indexed(engine)
        return engine


async def place(project: str | None, roots: Roots, ctx: Request) -> CallTarget:
    """Where this call is to be answered."""
    folders = await open_folders(roots) if roots is not None else None
    return CallTarget(projects_of(ctx), project, folders, agent_name(ctx))


Where = Annotated[CallTarget, Resolve(place)]


def agent_name(ctx: Request) -> str:
    """Return what the client calls itself."""
    params = ctx.request_context.session.client_params
    return params.client_info.name[:100] if params is not None else ""
