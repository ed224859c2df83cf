"""The daemon's paths: calls, streams, jobs, events and upkeep as an ASGI application."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import TypeAdapter
from pydantic_core import ArgsKwargs
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cm_tui.daemon import endpoint, rpc
from cm_tui.daemon.auth import AuthMiddleware, failed, record_response
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.daemon.jobs import Job
from cm_tui.daemon.upkeep import TASKS
from cm_tui.errors import CancelledError, CmError, NotFoundError, UsageError

T = TypeVar("T")

BODY_BYTES = 8_000_000
"""More than any question needs."""
BODY_S = 30.0
PATH_CHARACTERS = 4096
"""The longest path, and the longest name in one, that any system takes."""
_NAME_CHARACTERS = 255


async def body_of(request: Request) -> dict[str, Any]:
    """Read a request's record.

    Raises UsageError if it is too long, does not arrive in time, or is no record.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > BODY_BYTES:
                    raise UsageError(f"A request has at most {BODY_BYTES:,} bytes.")
    except TimeoutError as error:
        raise UsageError("The request did not arrive in time.") from error
    value = rpc.load(bytes(data))
    if not isinstance(value, dict):
        raise UsageError("A request must be a JSON object.")
    return value


def where_of(body: dict[str, Any]) -> rpc.ProjectRef:
    """Return the project that a request is about. Raises UsageError if it names none."""
    where = value_of(body, "where", rpc.ProjectRef)
    path_of(where.folder, "The folder of the project")
    return where


def path_of(text: str, what: str) -> Path:
    """Return a path as the system can have it. Raises UsageError if no system has such a path."""
    if "\0" in text:
        raise UsageError(f"{what}: a path cannot contain a NUL byte.")
    if len(text) > PATH_CHARACTERS or any(len(part) > _NAME_CHARACTERS for part in text.split("/")):
        raise UsageError(f"{what}: the path is too long.")
    return Path(text)


def value_of(body: dict[str, Any], name: str, kind: type[T], default: T | None = None) -> T:
    """Return a value of a request. Raises UsageError if it is of another type."""
    key: Any = kind
    value: T = rpc.checked(_adapter(key), body.get(name, default), name)
    return value


_adapter = functools.cache(TypeAdapter)
"""Makes what checks values of a type, once: that takes longer than most requests."""


LEAVE_S, CLOSE_S = 30.0, 0.3
"""How long a daemon that hands over takes at most to end its jobs, and then to close its server."""
THREADS = 32
"""Questions that are worked on at once; the others wait."""

Endpoint = Callable[[Request], Awaitable[Response]]

_STATUS = {2: 400, 3: 404, 4: 403, 5: 409}
_log = logging.getLogger(__name__)


def service(state: DaemonState) -> ASGIApp:
    """The daemon's application. `state`: what it serves."""
    paths = [
        ("GET", "/v1/health", _replying(_health)),
        ("POST", "/v1/shutdown", _replying(_shutdown)),
        ("POST", "/v1/project", _replying(_project, on_thread=True)),
        ("POST", "/v1/call/{method}", _replying(_call, on_thread=True)),
        ("POST", "/v1/stream/{method}", _stream),
        ("GET", "/v1/jobs", _replying(_jobs)),
        ("GET", "/v1/jobs/{job}", _watch),
        ("POST", "/v1/jobs/{job}/cancel", _replying(_cancel)),
        ("GET", "/v1/events", _events),
        ("POST", "/v1/nudge", _nudge),
        ("POST", "/v1/upkeep/{task}", _replying(_upkeep, on_thread=True)),
    ]
    routes = [
        *(Route(path, _with_errors(answer), methods=[method]) for method, path, answer in paths),
        *(Mount(path, app) for path, app in state.extensions.mounts.items()),
    ]
    app = Starlette(
        routes=routes,
        lifespan=functools.partial(_lifespan, state),
        exception_handlers={HTTPException: _no_such_path},
    )
    app.state.daemon = state
    app.state.threads = None
    # A redirection would be built from the Host header, whatever that says.
    app.router.redirect_slashes = False
    return AuthMiddleware(_at_the_root(app, frozenset(state.extensions.mounts)), state)


def _at_the_root(app: ASGIApp, mounts: Collection[str]) -> ASGIApp:
    """Let what is mounted at `/PATH` answer there, and not only at `/PATH/`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in mounts:
            scope = {**scope, "path": f"{scope['path']}/"}
        await app(scope, receive, send)

    return answer


@asynccontextmanager
async def _lifespan(state: DaemonState, app: Starlette) -> AsyncIterator[None]:
    app.state.threads = anyio.CapacityLimiter(THREADS)
    async with AsyncExitStack() as stack:
        for mounted in state.extensions.mounts.values():
            # Starlette does not run the lifespan of mounted applications.
            if isinstance(mounted, Starlette):
                await stack.enter_async_context(mounted.router.lifespan_context(mounted))
        for worker in state.extensions.background:
            await asyncio.to_thread(worker.start, state.dispatcher)
        yield
        for worker in state.extensions.background:
            await asyncio.to_thread(worker.close)


def _with_errors(endpoint: Endpoint) -> Endpoint:
    """Turn what an endpoint raises into an answer."""

    @functools.wraps(endpoint)
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except CmError as error:
            return failed(error, _STATUS.get(error.exit_code, 500))
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:  # noqa: BLE001 - told to the client, kept in the log
            _log.exception("%s failed", request.url.path)
            return failed(error, 500)

    return answer


async def _no_such_path(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "The daemon has no such path.", 405: "The daemon does not allow this method here."}
    return failed(UsageError(words.get(status, "The daemon cannot do that.")), status)


def _state(request: Request) -> DaemonState:
    state: DaemonState = request.app.state.daemon
    return state


async def _on_thread(request: Request, work: Callable[..., T], *args: Any) -> T:
    return await anyio.to_thread.run_sync(functools.partial(work, *args), limiter=request.app.state.threads)


# --- endpoints ---


def _replying(work: Callable[[DaemonState, Request, dict[str, Any]], Any], *, on_thread: bool = False) -> Endpoint:
    """Answer with the record that a function of state, request and body returns.

    `on_thread`: it may take long; others are answered however many questions are worked on.
    """

    async def answer(request: Request) -> Response:
        body = await body_of(request) if request.method == "POST" else {}

        def record() -> bytes:
            return rpc.dump(work(_state(request), request, body))

        return Response(await _on_thread(request, record) if on_thread else record(), media_type="application/json")

    return answer


def _health(state: DaemonState, _: Request, _body: dict[str, Any]) -> Any:
    return state.report()


def _shutdown(state: DaemonState, _: Request, body: dict[str, Any]) -> Any:
    state.leave(handover=value_of(body, "handover", bool, default=False))
    return {"result": True}


def _project(state: DaemonState, _: Request, body: dict[str, Any]) -> Any:
    return {"result": state.dispatcher.open(where_of(body), create=value_of(body, "create", bool, default=True))}


def _call(state: DaemonState, request: Request, body: dict[str, Any]) -> Any:
    client, name = request.headers.get(endpoint.CLIENT, ""), request.path_params["method"]
    return {"result": state.dispatcher.call(name, where_of(body), body.get("arguments"), client=client)}


def _jobs(state: DaemonState, _: Request, _body: dict[str, Any]) -> Any:
    return {"result": state.dispatcher.jobs.records()}


def _cancel(state: DaemonState, request: Request, _body: dict[str, Any]) -> Any:
    state.dispatcher.cancel(request.path_params["job"])
    return {"result": True}


def _upkeep(state: DaemonState, request: Request, body: dict[str, Any]) -> Any:
    task = request.path_params["task"]
    if task not in TASKS:
        raise NotFoundError("The daemon has no such path.")
    if "where" in body:
        body["where"] = where_of(body)
    return {"result": rpc.checked(TASKS[task], ArgsKwargs((state.dispatcher.upkeep,), body), task)}


async def _stream(request: Request) -> Response:
    body = await body_of(request)
    where = where_of(body)
    attached = value_of(body, "attached", bool, default=False)
    state, name = _state(request), request.path_params["method"]
    try:
        job = await _on_thread(request, state.dispatcher.start, name, where, body.get("arguments"))
    except CmError:
        if not state.handing_over:
            raise
        # No job begins any more. A reply without a word, once the server is closed: the client goes on with the next daemon.
        await _on_thread(request, state.done.wait, LEAVE_S)
        await asyncio.sleep(CLOSE_S)
        return Response(media_type="application/x-ndjson")
    return _following(state, job, attached=attached)


async def _watch(request: Request) -> Response:
    state = _state(request)
    return _following(state, state.dispatcher.jobs.get(request.path_params["job"]), attached=False)


async def _events(request: Request) -> Response:
    state = _state(request)

    async def lines() -> AsyncIterator[bytes]:
        yield b"\n"
        async for record in state.dispatcher.events.listen():
            yield b"\n" if record is None else rpc.dump(record) + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _nudge(request: Request) -> Response:
    root = path_of(value_of(await body_of(request), "root", str), "root")
    if not root.is_absolute():
        raise UsageError("root: must be an absolute path.")
    state = _state(request)
    state.dispatcher.events.publish("nudge", project=str(root))
    answer = record_response({"result": True})
    # A hook waits for the answer, and needs to know no more than that it was heard.
    answer.background = BackgroundTask(_work_on, request, root)
    return answer


async def _work_on(request: Request, root: Path) -> None:
    for worker in _state(request).extensions.background:
        try:
            await _on_thread(request, worker.on_nudge, root)
        except CmError as error:
            _log.warning("the journal of %s: %s", root, error.message)
        except OSError as error:
            _log.warning("the journal of %s: %s", root, error)
        except Exception:  # noqa: BLE001 - kept in the log; the hook has gone
            _log.exception("the journal of %s", root)


def _following(state: DaemonState, job: Job, *, attached: bool) -> Response:
    """A job's steps, a line each, as they come. `attached`: a client that goes away cancels it."""

    async def lines() -> AsyncIterator[bytes]:
        try:
            yield rpc.dump({"job": job.id}) + b"\n"
            async for step in job.watch():
                yield b"\n" if step is None else rpc.dump({"step": step}) + b"\n"
            if isinstance(job.error, CancelledError) and state.handing_over:
                # Without a last word: the client goes on with the next daemon.
                return
            yield rpc.dump({"error": rpc.error_record(job.error)} if job.error else {"end": job.state}) + b"\n"
        finally:
            if attached and not job.is_over:
                job.cancel.set()

    return StreamingResponse(lines(), media_type="application/x-ndjson")
