"""Who may ask the daemon anything, and the form in which it answers."""

from __future__ import annotations

import hmac
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cm_tui.daemon import endpoint, rpc
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.daemon.runtime_dir import HAS_UNIX
from cm_tui.errors import DaemonError

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine in a Host header and in an Origin: a page elsewhere may not ask, whatever its name leads to."""

_OPEN_TO_ALL = frozenset({"/v1/health", "/v1/shutdown", "/v1/nudge"})
"""Every version may ask these: an old daemon must hear a new client that comes to replace it, a new one old hooks."""


_REFUSED_BYTES = 1_000_000
"""As much of a refused request is read before it is answered."""


class AuthMiddleware:
    """Admits requests that speak this protocol and, on the loopback address, carry the token; counts those under way."""

    def __init__(self, app: ASGIApp, state: DaemonState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _take_in(receive)
            await refusal(scope, receive, send)
            return

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"cm-daemon", str(endpoint.PROTOCOL).encode())]
            await send(message)

        with self._state.visit():
            await self._app(scope, receive, send_marked)

    def _refusal(self, scope: Scope) -> Response | None:
        sent = {name.lower(): value for name, value in scope["headers"]}
        path = scope["path"]
        # A Unix socket is private to the user, and its connections have no address.
        if self._state.token and scope.get("client"):
            refusal = _refusal_on_port(sent, path, self._state.token)
            if refusal is not None:
                # Who is refused holds no connection.
                refusal.headers["connection"] = "close"
                return refusal
        if not path.startswith("/v1/") or path in _OPEN_TO_ALL:
            return None
        theirs = sent.get(b"cm-protocol", b"").decode("latin-1")
        if theirs == str(endpoint.PROTOCOL):
            return None
        error = DaemonError(
            f"The daemon uses protocol {endpoint.PROTOCOL}, the request uses {theirs[:20] or 'none'}.",
            hint="Use the same version of cm everywhere; `cm serve --stop` stops the daemon.",
        )
        return failed(error, 426)


async def _take_in(receive: Receive) -> None:
    """Read what a refused request still sends, up to a bound: closed before, its connection would lose the answer."""
    left = _REFUSED_BYTES
    while left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return


def _refusal_on_port(sent: dict[bytes, bytes], path: str, token: str) -> Response | None:
    """Return why a request on the port is turned away: it needs the token, and to be meant for this machine."""
    if not hmac.compare_digest(sent.get(b"authorization", b""), f"Bearer {token}".encode()):
        return failed(DaemonError("The request has no token of this daemon."), 401)
    if not _is_here(sent.get(b"host", b"").decode("latin-1")):
        return failed(DaemonError("The request is for another host."), 421)
    origin = sent.get(b"origin")
    if origin is not None and not _is_here(origin.decode("latin-1").partition("://")[2]):
        return failed(DaemonError("The request comes from another site."), 403)
    if HAS_UNIX and path != "/mcp" and not path.startswith("/mcp/"):
        # With the daemon's own paths an agent would reach every project.
        return failed(DaemonError("The port is for agents over MCP only; other requests go to the socket."), 403)
    return None


def _is_here(host: str) -> bool:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower() in HOSTS


def failed(error: Exception, status: int) -> Response:
    """Return an error as an answer."""
    return record_response({"error": rpc.error_record(error)}, status)


def record_response(value: Any, status: int = 200) -> Response:
    """Return records as an answer."""
    return Response(rpc.dump(value), status, media_type="application/json")
