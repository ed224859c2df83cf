"""The owner process: takes the lock, listens on the socket, and ends when it is told to or nobody needs it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import logging.handlers
import os
import secrets
import signal
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import uvicorn
from filelock import FileLock, Timeout

from cm_tui import __version__, paths
from cm_tui.config import OwnerConfig, load_config
from cm_tui.errors import OwnerError, RefusedError
from cm_tui.server import runtime
from cm_tui.server.service import service
from cm_tui.server.state import OwnerState

GRACE_SECONDS = 10
"""How long answers may take that are on their way when it ends."""

_log = logging.getLogger(__name__)


def serve(*, background: bool) -> bool:
    """Own all stores until told to end; a background owner also ends when nobody needed it for a while.

    Returns:
        False when another owner is there already.

    Raises:
        RefusedError: the runtime folder is not private, or something foreign listens on the socket.
        CmError: settings cannot be read, or the socket cannot be made.
    """
    home = runtime.folder()
    lock = FileLock(home / runtime.LOCK, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        return False
    try:
        _set_up_log(background=background)
        _serve(load_config().owner, background=background)
    finally:
        lock.release()
    return True


def _serve(config: OwnerConfig, *, background: bool) -> None:
    token = "" if runtime.HAS_UNIX and not config.port else secrets.token_urlsafe(32)
    state = OwnerState(config, token)
    with _listening() as listener, _also_on(config.port) as more:
        port = config.port if runtime.HAS_UNIX else listener.getsockname()[1]
        info = runtime.OwnerInfo(
            os.getpid(), __version__, runtime.PROTOCOL, state.started, runtime.settings_digest(), token, port
        )
        runtime.write_info(info)
        _log.info("owner %s started, process %d", __version__, os.getpid())
        try:
            _Server(state, listener, stays=not background).run(sockets=[listener, *more])
        finally:
            state.projects.close()
            (runtime.folder() / runtime.INFO).unlink(missing_ok=True)
            _log.info("owner ended")


@contextlib.contextmanager
def _listening() -> Iterator[socket.socket]:
    """The socket, which only this user can reach; removed at the end."""
    if not runtime.HAS_UNIX:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            yield listener
        return
    path = runtime.socket_path()
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        raise OwnerError(f"Cannot listen on {path}: {error}", hint="Check its folder's permissions.") from error
    finally:
        os.umask(before)
    ours = path.stat().st_ino
    try:
        listener.listen(128)
        yield listener
    finally:
        listener.close()
        if _inode(path) == ours:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _also_on(port: int) -> Iterator[list[socket.socket]]:
    """The port that the settings ask for, where anybody on this machine can knock: requests need the token."""
    if not port:
        yield []
        return
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise OwnerError(
            f"Cannot listen on port {port}: {error.strerror or error}", hint="Set owner.port to another, or to 0."
        ) from error
    with listener:
        yield [listener]


def _clear(path: Path) -> None:
    """Remove what a dead owner left; this process holds the lock, so whoever answers there is no owner.

    Raises:
        RefusedError: somebody listens, or it is no socket.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise RefusedError(f"{path} is in the way: it is no socket.", hint="Remove it.")
    channel = runtime.dial(5.0)
    if channel is not None:
        channel.close()
        raise RefusedError(
            f"Something that is not cm listens on {path}.",
            hint="Stop that process and remove the socket, or set CM_HOME to another folder.",
        )
    path.unlink(missing_ok=True)


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except OSError:
        return None


class _Server(uvicorn.Server):
    """uvicorn, which ends when the owner is done, and closes what rests."""

    def __init__(self, state: OwnerState, listener: socket.socket, *, stays: bool) -> None:
        super().__init__(
            uvicorn.Config(
                service(state), loop="asyncio", http="h11", ws="none", lifespan="on", log_config=None, access_log=False,
                server_header=False, date_header=False, proxy_headers=False, timeout_keep_alive=60, limit_concurrency=1000,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )  # fmt: skip
        self._state = state
        self._stays = stays
        self._path = Path(listener.getsockname()) if runtime.HAS_UNIX else None
        self._ours = _inode(self._path) if self._path else None
        self._sweeping: asyncio.Future[None] | None = None

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
            self._look_around()
        return await super().on_tick(counter)

    def _look_around(self) -> None:
        state = self._state
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.get_running_loop().run_in_executor(None, self._sweep)
        if not self._stays and state.idle_seconds >= state.config.idle_seconds:
            _log.info("nobody asked for %.0f s", state.config.idle_seconds)
            state.leave()
        elif self._path is not None and _inode(self._path) != self._ours:
            # Nobody can reach this owner any more, and it holds what the next one needs.
            _log.warning("the socket %s was removed", self._path)
            state.leave()

    def _sweep(self) -> None:
        for root in self._state.projects.sweep(self._state.config.project_idle_seconds):
            _log.info("%s is gone", root)
            self._state.events.publish("gone", project=str(root))


class _PrivateLog(logging.handlers.RotatingFileHandler):
    """A log that only the user can read, also after it was rotated."""

    def _open(self) -> TextIOWrapper[Any]:
        def opener(file: str, flags: int) -> int:
            return os.open(file, flags, 0o600)

        return TextIOWrapper(
            open(self.baseFilename, "ab", opener=opener),
            encoding=self.encoding,
            line_buffering=True,
        )


def _set_up_log(*, background: bool) -> None:
    """What happens goes to the log file; what is asked and answered does not."""
    handler: logging.Handler
    if background:
        file = paths.private_dir(paths.state_dir()) / "owner.log"
        handler = _PrivateLog(file, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    else:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("cm_tui")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    uvicorn_log: Any = logging.getLogger("uvicorn.error")
    uvicorn_log.addHandler(handler)
    uvicorn_log.setLevel(logging.WARNING)
