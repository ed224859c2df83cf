"""The daemon process: takes the lock, listens on the socket, and exits on request or when idle.

The daemon's port on the loopback address, which anybody on this machine can reach: with limits of its own.

The private socket has another server in the same process. Whatever is done to the port, clients on the socket are answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from filelock import BaseFileLock, FileLock, Timeout
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from cm_tui import __version__, worker_process
from cm_tui.config import DaemonConfig, load_config
from cm_tui.daemon import endpoint, runtime_dir
from cm_tui.daemon.daemon_log import log_thread_error, set_up_log
from cm_tui.daemon.daemon_state import DaemonState, MakeExtensions
from cm_tui.daemon.fresh_start import FreshStart, Handover, received, start_again
from cm_tui.daemon.http_api import service
from cm_tui.daemon.port_token import port_token
from cm_tui.daemon.runtime_dir import drop_socket_folder
from cm_tui.errors import DaemonError, RefusedError
from cm_tui.files import Stamp, stamp_of

if TYPE_CHECKING:
    from cm_tui.engine.search.embed.prose_process import ProseProcesses

CONNECTIONS = 128
"""Connections at once; when there are more, the one that has waited longest without a whole request is ended."""
REQUEST_S = 10.0
"""How long a request may take to arrive."""
_GRACE_S = 3
CODE_TICKS = 100
"""Tenths of a second between two looks at the files of the code."""


class DeadlineHttp(H11Protocol):
    """HTTP that ends connections on which no whole request arrives in time."""

    deadline: asyncio.TimerHandle | None = None
    """When it is over, unless a whole request has come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; the one that has waited longest is ended when there are too many."""
        super().connection_made(transport)
        self._watch_deadline()
        if len(self.connections) > CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, DeadlineHttp) and one.deadline is not None]
            # None waits longer than who has just come only when all others are being answered.
            min(waiting, key=_due).leave()

    def data_received(self, data: bytes) -> None:
        """Something of a request has come."""
        super().data_received(data)
        self._watch_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._end_deadline()
        super().connection_lost(exc)

    def leave(self) -> None:
        """End the connection."""
        self._end_deadline()
        self.transport.abort()

    def _watch_deadline(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._end_deadline()
        elif self.deadline is None:
            self.deadline = self.loop.call_later(REQUEST_S, self.leave)

    def _end_deadline(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None


def _due(one: DeadlineHttp) -> float:
    return one.deadline.when() if one.deadline is not None else 0.0


class LoopbackServer(uvicorn.Server):
    """Serves an application there, beside another server that runs its lifespan and hears the signals."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        settings: dict[str, Any] = {"ws": "none", "lifespan": "off", "log_config": None, "access_log": False}
        super().__init__(
            uvicorn.Config(
                app, loop="asyncio", http=DeadlineHttp, server_header=False, date_header=False, proxy_headers=False,
                timeout_keep_alive=60, timeout_graceful_shutdown=_GRACE_S, **settings,
            )
        )  # fmt: skip
        self._listener = listener
        self._serving: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The other server's business."""
        yield

    def begin(self) -> None:
        """Answer from now on."""
        self._serving = asyncio.create_task(self.serve(sockets=[self._listener]))

    async def end(self) -> None:
        """Disconnect all clients."""
        self.should_exit = True
        if self._serving is not None:
            await self._serving


GRACE_SECONDS = 10
"""How long answers may take that are on their way when it ends."""

_SWITCH_S = 0.0005
"""How long a thread may compute while another waits: a question is many short steps in the database, and would wait for
Python's 5 ms after each of them while an index run computes."""

_log = logging.getLogger(__name__)


def serve(extend: MakeExtensions, *, background: bool, starts_again: bool = False) -> bool:
    """Own all stores until shutdown; a background daemon also exits when idle.

    `extend`: makes what joins it. `starts_again`: run the program again, in this process, when the code of cm was
    replaced, and when the daemon rests with more memory than it needs. Returns False when another daemon is running.
    Raises RefusedError if the runtime folder is not private, or something foreign listens on the socket; CmError:
    settings cannot be read, or the socket cannot be made.
    """
    home, handover = runtime_dir.folder(), received()
    runtime_dir.refuse_obstacles()
    lock = FileLock(home / runtime_dir.LOCK, timeout=0, mode=0o600)
    if handover is not None:
        os.close(handover.lock)
    try:
        lock.acquire()
    except Timeout:
        return False
    try:
        _set_up_process()
        set_up_log()
        state = _new_state(load_config().daemon, extend, handover)
        is_outdated = _serve(state, lock, handover, background=background, starts_again=starts_again)
    finally:
        lock.release()
    if is_outdated:
        start_again()
    return True


class LoadedCode:
    """The files of this process's modules, as they are now, or when a later one is first looked at."""

    def __init__(self) -> None:
        # Before the first request: who hears of the daemon may replace them at once.
        self._first = _stamps()
        self._last: dict[str, Stamp | None] = {}

    def is_replaced(self) -> bool:
        """Return whether other files are in their place, all of them and the same ones twice in a row."""
        now = _stamps()
        changed = None not in now.values() and any(self._first.setdefault(file, now[file]) != now[file] for file in now)
        is_settled, self._last = now == self._last, now
        return changed and is_settled


def _stamps() -> dict[str, Stamp | None]:
    files = (getattr(one, "__file__", None) for name, one in list(sys.modules.items()) if name.startswith("cm_tui"))
    return {file: stamp_of(Path(file)) for file in files if file}


def _set_up_process() -> None:
    """Set what holds for the whole process: what a daemon writes is for its user alone, and its threads take turns."""
    os.umask(0o077)
    threading.excepthook = log_thread_error
    sys.setswitchinterval(_SWITCH_S)
    # Commands hardly ever look for cycles, and end soon; here those would stay until the next look. What is imported stays.
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)
    worker_process.is_long_lived = True


def _new_state(config: DaemonConfig, extend: MakeExtensions, handover: Handover | None) -> DaemonState:
    token = "" if runtime_dir.HAS_UNIX and not config.port else port_token(replace=True)
    state = DaemonState(config, token, extend)
    if handover is not None:
        handover.resume(state)
    return state


def _serve(
    state: DaemonState, lock: BaseFileLock, handover: Handover | None, *, background: bool, starts_again: bool
) -> bool:
    """Answer until the end; returns whether that is because its code was replaced."""
    with _listening(handover) as listener, _also_on(state.config.port, state) as more:
        # Do not record a port that another program has: clients would send it the token.
        port = more.getsockname()[1] if more is not None else 0
        port = port if runtime_dir.HAS_UNIX else listener.getsockname()[1]
        info = endpoint.DaemonInfo(
            os.getpid(), __version__, endpoint.PROTOCOL, state.started, runtime_dir.settings_digest(), state.token, port
        )
        endpoint.write_info(info)
        _log.info("daemon %s started, process %d", __version__, os.getpid())
        # Clients of the port may have sessions, which end with the program.
        fresh = FreshStart(state, handover) if starts_again and more is None else None
        try:
            server = _Server(
                state, listener, more, stays=not background, code=LoadedCode() if starts_again else None, fresh=fresh
            )
            # The server closes its own.
            server.run(sockets=[listener.dup()])
            if server.handover is not None and state.starts_again:
                state.projects.close()
                _start_fresh(server.handover, lock, listener)
            return server.is_outdated and state.starts_again
        finally:
            state.projects.close()
            (runtime_dir.folder() / runtime_dir.INFO).unlink(missing_ok=True)
            _log.info("daemon ended")


def _start_fresh(handover: Handover, lock: BaseFileLock, listener: socket.socket) -> None:
    """Start the program again with the socket open; logs why where that is not possible."""
    import fcntl

    try:
        descriptor = os.open(lock.lock_file, os.O_RDWR)
        lock.release()
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        start_again(replace(handover, lock=descriptor, listener=listener.fileno()))
    except OSError as error:
        _log.warning("the daemon ends, as it cannot start again: %s", error)


@contextlib.contextmanager
def _listening(handover: Handover | None = None) -> Iterator[socket.socket]:
    """The socket, which only this user can reach; removed at the end. `handover`: one that is open already."""
    if not runtime_dir.HAS_UNIX:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            yield listener
        return
    path = runtime_dir.socket_path(make=True)
    listener = socket.socket(fileno=handover.listener) if handover is not None else _bound(path)
    if _inode(path) is None:
        # Removed while the program started again.
        listener.close()
        listener = _bound(path)
    ours = _inode(path)
    try:
        listener.listen(128)
        yield listener
    finally:
        listener.close()
        if ours is not None and _inode(path) == ours:
            path.unlink(missing_ok=True)
        drop_socket_folder()


def _bound(path: Path) -> socket.socket:
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        raise DaemonError(f"Cannot listen on {path}: {error}", hint="Check its folder's permissions.") from error
    finally:
        os.umask(before)
    return listener


@contextlib.contextmanager
def _also_on(port: int, state: DaemonState) -> Iterator[socket.socket | None]:
    """The port that the settings ask for, which anybody on this machine can reach: requests need the token.

    When it cannot be had, clients are served all the same, and the state says so.
    """
    if not port:
        yield None
        return
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        complaint = f"Cannot listen on port {port}: {error.strerror or error}. Set daemon.port to another, or to 0."
        state.complaints.append(complaint)
        _log.warning("%s", complaint)
        yield None
        return
    with listener:
        yield listener


def _clear(path: Path) -> None:
    """Remove the socket of a dead daemon; this process has the lock, so any listener is not a daemon.

    Raises RefusedError if another program listens, or it is not a socket.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise RefusedError(f"{path} exists and is not a socket.", hint="Remove it.")
    channel = endpoint.connect_socket(5.0)
    if channel is not None:
        channel.close()
        raise RefusedError(
            f"A program other than cm listens on {path}.",
            hint="Stop the process and remove the socket, or set CM_HOME to another folder.",
        )
    path.unlink(missing_ok=True)


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except OSError:
        return None


def _prose() -> ProseProcesses | None:
    """Return the model of prose if it was used: its module imports numpy, which a daemon without a project does not need."""
    module = sys.modules.get("cm_tui.engine.search.embed.prose_process")
    found: ProseProcesses | None = module.shared_provider() if module is not None else None
    return found


class _Server(uvicorn.Server):
    """uvicorn, which ends when the daemon is done, and closes what is idle.

    `listener`: where clients connect; `more`: the open port, if there is one; `stays`: does not exit when idle; `code`:
    is looked at now and then, as modules that are imported later would come from another version; `fresh`: whether to
    start again for memory.
    """

    def __init__(
        self, state: DaemonState, listener: socket.socket, more: socket.socket | None, *, stays: bool,
        code: LoadedCode | None, fresh: FreshStart | None,
    ) -> None:  # fmt: skip
        app = service(state)
        super().__init__(
            uvicorn.Config(
                app, loop="asyncio", http="h11" if runtime_dir.HAS_UNIX else DeadlineHttp, ws="none", lifespan="on", log_config=None, access_log=False,
                server_header=False, date_header=False, proxy_headers=False, timeout_keep_alive=60, limit_concurrency=1000,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )  # fmt: skip
        self._state = state
        self._port = LoopbackServer(app, more) if more is not None else None
        self._stays = stays
        self._code = code
        self._fresh = fresh
        self.is_outdated = False
        self.handover: Handover | None = None
        """Set where the program is to start again."""
        self._path = Path(listener.getsockname()) if runtime_dir.HAS_UNIX else None
        self._ours = _inode(self._path) if self._path else None
        self._sweeping: asyncio.Future[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer on the socket, then on the port too."""
        await super().startup(sockets)
        if self._port is not None:
            self._port.begin()
        if self._fresh is not None:
            await asyncio.to_thread(self._fresh.begin)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """The port first: what it serves lives as long as this server."""
        if self._port is not None:
            await self._port.end()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End cleanly, where uvicorn would raise the signal again before anything is closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        names = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        before = {number: signal.signal(number, lambda *_: self._state.leave()) for number in names}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def on_tick(self, counter: int) -> bool:
        """Every tenth of a second: is there anything left to do?"""
        if self._state.done.is_set():
            self.should_exit = True
        if counter % 10 == 0:
            self._check_need(self._code if counter % CODE_TICKS == 0 else None)
        return await super().on_tick(counter)

    def _check_need(self, code: LoadedCode | None) -> None:
        state = self._state
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.get_running_loop().run_in_executor(None, self._sweep, code)
        if not self._stays and state.idle_seconds >= state.config.idle_seconds:
            _log.info("idle for %.0f s", state.config.idle_seconds)
            state.leave()
        elif self._path is not None and _inode(self._path) != self._ours:
            # This daemon is unreachable, and holds the lock that the next one needs.
            _log.warning("the socket %s was removed", self._path)
            state.leave()

    def _sweep(self, code: LoadedCode | None) -> None:
        """Do what would delay requests on the event loop. `code`: check these files, too."""
        if code is not None and code.is_replaced():
            _log.info("the code of cm was replaced")
            self.is_outdated = True
            self._state.leave(handover=True, again=True)
            return
        for root in self._state.projects.sweep(self._state.config.project_idle_seconds):
            _log.info("%s is gone", root)
            self._state.events.publish("gone", project=str(root))
        self._state.projects.rest()
        self._state.tidy()
        prose = _prose()
        if prose is not None and prose.release_if_unused(self._state.config.project_idle_seconds):
            _log.info("the model of prose was not needed for long, and is no longer in memory")
        fresh = self._fresh if self.handover is None else None
        if fresh is not None and not (prose and prose.is_running) and fresh.is_due():
            self.handover = fresh.end_histories()
            if self.handover is not None:
                _log.info("starting again: nothing is asked, and the daemon has more memory than it needs")
                self._state.leave(handover=True, again=True)
