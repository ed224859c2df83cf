"""The daemon's port on the loopback address, which anybody on this machine can reach: with limits of its own.

The private socket has another server in the same process. Whatever is done to the port, clients on the socket are answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 128
"""Connections at once; when there are more, the one that has waited longest without a whole request is ended."""
REQUEST_S = 10.0
"""How long a request may take to arrive."""
_GRACE_S = 3


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
