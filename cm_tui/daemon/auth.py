"""Who may ask the daemon anything, and the form in which it answers."""

from __future__ import annotations

import hmac
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cm_tui.daemon import endpoint, rpc
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.errors import DaemonError

_OPEN_TO_ALL = frozenset({"/v1/health", "/v1/shutdown"})
"""Every version may ask these: an old daemon must hear a new client that comes to replace it."""


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
        token = self._state.token
        # A Unix socket is private to the user, and its connections have no address.
        if (
            token
            and scope.get("client")
            and not hmac.compare_digest(sent.get(b"authorization", b""), f"Bearer {token}".encode())
        ):
            refusal = failed(DaemonError("This request carries no token of this daemon."), 401)
            # Who is refused holds no connection.
            refusal.headers["connection"] = "close"
            return refusal
        path = scope["path"]
        if not path.startswith("/v1/") or path in _OPEN_TO_ALL:
            return None
        theirs = sent.get(b"cm-protocol", b"").decode("latin-1")
        if theirs == str(endpoint.PROTOCOL):
            return None
        error = DaemonError(
            f"The daemon speaks protocol {endpoint.PROTOCOL}, this request {theirs[:20] or 'none'}.",
            hint="Use the same version of cm everywhere; `cm serve --stop` ends the daemon.",
        )
        return failed(error, 426)


def failed(error: Exception, status: int) -> Response:
    """Return an error as an answer."""
    return answered({"error": rpc.error_record(error)}, status)


def answered(value: Any, status: int = 200) -> Response:
    """Return records as an answer."""
    return Response(rpc.dump(value), status, media_type="application/json")
