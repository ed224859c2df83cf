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
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cm_tui.daemon import endpoint, rpc
from cm_tui.daemon.auth import AuthMiddleware, answered, failed
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.daemon.invoke import ForgottenError
from cm_tui.daemon.jobs import Job
from cm_tui.errors import CancelledError, CmError, UsageError
from cm_tui.model import Check

BODY_BYTES = 8_000_000
"""More than any question needs."""
BODY_S = 30.0
PATH_CHARACTERS = 4096
"""The longest path, and the longest name in one, that any system takes."""
_NAME_CHARACTERS = 255

_WHERE = TypeAdapter(rpc.ProjectRef)
_FLAG = TypeAdapter(bool)
_TEXT = TypeAdapter(str)


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
                    raise UsageError(f"A request may have {BODY_BYTES:,} bytes at most.")
    except TimeoutError as error:
        raise UsageError("The request did not arrive in time.") from error
    value = rpc.load(bytes(data))
    if not isinstance(value, dict):
        raise UsageError("A request is a JSON object.")
    return value


def where_of(body: dict[str, Any]) -> rpc.ProjectRef:
    """Return the project that a request is about. Raises UsageError if it names none."""
    where: rpc.ProjectRef = rpc.checked(_WHERE, body.get("where"), "where")
    path_of(where.folder, "where: folder")
    return where


def path_of(text: str, what: str) -> Path:
    """Return a path as the system can have it. Raises UsageError if no system has such a path."""
    if "\0" in text:
        raise UsageError(f"{what}: a path holds no zero byte.")
    if len(text) > PATH_CHARACTERS or any(len(part) > _NAME_CHARACTERS for part in text.split("/")):
        raise UsageError(f"{what}: no path is that long.")
    return Path(text)


def flag_of(body: dict[str, Any], name: str, *, default: bool) -> bool:
    """Return a flag of a request."""
    flag: bool = rpc.checked(_FLAG, body.get(name, default), name)
    return flag


def text_of(body: dict[str, Any], name: str) -> str:
    """Return a text of a request."""
    text: str = rpc.checked(_TEXT, body.get(name), name)
    return text


THREADS = 32
"""Questions that are worked on at once; the others wait."""

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]

_STATUS = {2: 400, 3: 404, 4: 403, 5: 409}
_log = logging.getLogger(__name__)


def service(state: DaemonState) -> ASGIApp:
    """The daemon's application. `state`: what it serves."""
    routes = [
        Route("/v1/health", _with_errors(_health), methods=["GET"]),
        Route("/v1/shutdown", _with_errors(_shutdown), methods=["POST"]),
        Route("/v1/project", _with_errors(_project), methods=["POST"]),
        Route("/v1/call/{method}", _with_errors(_call), methods=["POST"]),
        Route("/v1/stream/{method}", _with_errors(_stream), methods=["POST"]),
        Route("/v1/jobs", _with_errors(_jobs), methods=["GET"]),
        Route("/v1/jobs/{job}", _with_errors(_watch), methods=["GET"]),
        Route("/v1/jobs/{job}/cancel", _with_errors(_cancel), methods=["POST"]),
        Route("/v1/events", _with_errors(_events), methods=["GET"]),
        Route("/v1/nudge", _with_errors(_nudge), methods=["POST"]),
        Route("/v1/upkeep/examine", _with_errors(_examine), methods=["POST"]),
        Route("/v1/upkeep/secrets", _with_errors(_secrets), methods=["POST"]),
        Route("/v1/upkeep/remove", _with_errors(_remove), methods=["POST"]),
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
            status = 410 if isinstance(error, ForgottenError) else _STATUS.get(error.exit_code, 500)
            return failed(error, status)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:  # noqa: BLE001 - told to the client, kept in the log
            _log.exception("%s failed", request.url.path)
            return failed(error, 500)

    return answer


async def _no_such_path(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "The daemon has no such path.", 405: "The daemon does not take this method here."}
    return failed(UsageError(words.get(status, "The daemon cannot do that.")), status)


def _state(request: Request) -> DaemonState:
    state: DaemonState = request.app.state.daemon
    return state


async def _on_thread(request: Request, work: Callable[..., T], *args: Any) -> T:
    return await anyio.to_thread.run_sync(functools.partial(work, *args), limiter=request.app.state.threads)


# --- endpoints ---


async def _health(request: Request) -> Response:
    return answered(_state(request).report())


async def _shutdown(request: Request) -> Response:
    state = _state(request)
    handover = flag_of(await body_of(request), "handover", default=False)
    state.leave(handover=handover)
    return answered({"result": True})


async def _project(request: Request) -> Response:
    body = await body_of(request)
    create = flag_of(body, "create", default=True)
    dispatcher = _state(request).dispatcher

    def work() -> dict[str, str]:
        return dispatcher.open(where_of(body), create=create)

    return answered({"result": await _on_thread(request, work)})


async def _call(request: Request) -> Response:
    body = await body_of(request)
    where = where_of(body)
    dispatcher = _state(request).dispatcher
    name = request.path_params["method"]
    client = request.headers.get(endpoint.CLIENT, "")

    def work() -> bytes:
        return rpc.dump({"result": dispatcher.call(name, where, body.get("arguments"), client=client)})

    return Response(await _on_thread(request, work), media_type="application/json")


async def _stream(request: Request) -> Response:
    body = await body_of(request)
    where = where_of(body)
    attached = flag_of(body, "attached", default=False)
    state = _state(request)
    job = await _on_thread(request, state.dispatcher.start, request.path_params["method"], where, body.get("arguments"))
    return _following(state, job, attached=attached)


async def _jobs(request: Request) -> Response:
    return answered({"result": _state(request).dispatcher.jobs.records()})


async def _watch(request: Request) -> Response:
    state = _state(request)
    return _following(state, state.dispatcher.jobs.get(request.path_params["job"]), attached=False)


async def _cancel(request: Request) -> Response:
    _state(request).dispatcher.cancel(request.path_params["job"])
    return answered({"result": True})


async def _events(request: Request) -> Response:
    state = _state(request)

    async def lines() -> AsyncIterator[bytes]:
        yield b"\n"
        async for record in state.dispatcher.events.listen():
            yield b"\n" if record is None else rpc.dump(record) + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _nudge(request: Request) -> Response:
    root = path_of(text_of(await body_of(request), "root"), "root")
    if not root.is_absolute():
        raise UsageError("root: an absolute path is needed.")
    state = _state(request)
    state.dispatcher.events.publish("nudge", project=str(root))
    answer = answered({"result": True})
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


async def _examine(request: Request) -> Response:
    body = await body_of(request)
    where, full = where_of(body), flag_of(body, "full", default=False)
    dispatcher = _state(request).dispatcher

    def work() -> tuple[Check, ...]:
        return dispatcher.upkeep.examine(where, full=full)

    return answered({"result": await _on_thread(request, work)})


async def _secrets(request: Request) -> Response:
    name = text_of(await body_of(request), "store")
    return answered({"result": await _on_thread(request, _state(request).dispatcher.upkeep.secrets, name)})


async def _remove(request: Request) -> Response:
    body = await body_of(request)
    name, drop_episodes = text_of(body, "store"), flag_of(body, "drop_episodes", default=False)
    await _on_thread(
        request, functools.partial(_state(request).dispatcher.upkeep.remove, drop_episodes=drop_episodes), name
    )
    return answered({"result": True})


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
