"""The remote engine: the same questions, answered by the daemon."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cm_tui.daemon import bootstrap, rpc, subscribe
from cm_tui.daemon.connection import Connection, DaemonGoneError
from cm_tui.errors import DaemonError
from cm_tui.model import Cancel

if TYPE_CHECKING:
    from cm_tui.model import Progress

ANSWER_S = 600.0
"""A first question may have to wait until the index has followed a large checkout."""


class RemoteEngine:
    """The engine to one project, through the daemon.

    When the daemon went away, another one is started and asked once more, unless the first may have done what must not
    be done twice. Its methods are those of `Engine`; `open_engine` gives it out as one.
    """

    def __init__(self, where: rpc.ProjectRef) -> None:
        self.where = where
        self._root: Path | None = None
        self._own = threading.local()
        self._lock = threading.Lock()
        self._connections: list[Connection] = []
        self.own_jobs: set[str] = set()
        """Numbers of the jobs that were started through this engine."""

    @property
    def uses_daemon(self) -> bool:
        """Return True."""
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, *, create: bool = True) -> Self:
        """Have the daemon open the project.

        `create`: create a missing store. Raises NotIndexedError if the store is missing, and `create` is not set;
        CmError if it cannot be opened.
        """
        self._root = Path(self._ask("/v1/project", {"create": create})["root"])
        return self

    @property
    def root(self) -> Path:
        """Return the project's root folder."""
        if self._root is None:
            self.open()
        assert self._root is not None
        return self._root

    def close(self) -> None:
        """Close the connections; the daemon keeps the project open for others."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._own = threading.local()

    # --- asking ---

    def _call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        method = rpc.METHODS[name]
        arguments = method.pack(args, kwargs)
        once = method.declared.is_once(arguments)
        return method.result(self._ask(f"/v1/call/{name}", {"arguments": arguments}, once=once))

    def _work(self, name: str, /, *args: Any, cancel: Cancel | None = None, **kwargs: Any) -> Iterator[Progress]:
        body = {**self._about(), "arguments": rpc.METHODS[name].pack(args, kwargs), "attached": True}
        return self._steps(rpc.METHODS[name], body, cancel or Cancel())

    def _steps(self, method: rpc.Method, body: dict[str, Any], cancel: Cancel) -> Iterator[Progress]:
        again = True
        while True:
            try:
                for step in self._follow(method, body, cancel):
                    again = True
                    yield step
            except DaemonGoneError:
                if not again:
                    raise
                again = False
                bootstrap.start_daemon()
            else:
                return

    def _follow(self, method: rpc.Method, body: dict[str, Any], cancel: Cancel) -> Iterator[Progress]:
        job = ""
        for record in subscribe.follow("POST", f"/v1/stream/{method.name}", body):
            if "job" in record:
                job = record["job"]
                self.own_jobs.add(job)
            if "step" in record:
                yield method.result(record["step"])
            if job and cancel.is_set:
                self._ask(f"/v1/jobs/{job}/cancel", {})
                job = ""

    def _ask(self, path: str, body: dict[str, Any], *, once: bool = False) -> Any:
        """One request; a daemon that has gone is started again, once.

        `once`: raises DaemonError if it may be done, and its answer was lost.
        """
        full = {**self._about(), **body}
        for is_last in (False, True):
            try:
                answer = self._connection().ask("POST", path, full, once=once)
                break
            except DaemonGoneError as error:
                if once and error.was_asked:
                    raise DaemonError(
                        "The daemon ended before it answered; the change may have been made.",
                        hint="Check before you repeat it.",
                    ) from error
                if is_last:
                    raise
                bootstrap.start_daemon()
        return rpc.parse_response(*answer).get("result")

    def _about(self) -> dict[str, Any]:
        return {"where": rpc.plain(self.where)}

    def _connection(self) -> Connection:
        """The connection of this thread."""
        connection: Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = Connection(ANSWER_S)
            with self._lock:
                self._connections.append(connection)
        return connection


def _attach() -> None:
    """Give the remote engine every request of the engine that it has not defined itself."""
    for name, method in rpc.METHODS.items():
        if name not in vars(RemoteEngine):
            call = RemoteEngine._work if method.streams else RemoteEngine._call  # noqa: SLF001 - its own
            setattr(RemoteEngine, name, partialmethod(call, name))


_attach()
