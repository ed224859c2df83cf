"""A connection to the daemon: HTTP over its socket, one request after another."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

from cm_tui.daemon import endpoint
from cm_tui.errors import DaemonError

SILENT_S = 1.0
"""After so long without an answer it is worth a look whether a daemon is there at all."""


class DaemonGoneError(DaemonError):
    """The daemon was there and has gone, or has never been there. `was_asked`: it may have had the request."""

    def __init__(self, *, was_asked: bool = False) -> None:
        super().__init__("The daemon has stopped.", hint="Run the command again.")
        self.was_asked = was_asked


class _HttpConnection(http.client.HTTPConnection):
    """The standard client, on the daemon's socket."""

    def connect(self) -> None:
        self.sock = endpoint.connect_socket(self.timeout)
        if self.sock is None:
            raise ConnectionRefusedError


class Connection:
    """One connection to the daemon, kept open between requests; for one thread at a time.

    `timeout`: seconds without any answer after which the daemon counts as hanging.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._connection = _HttpConnection("cm", timeout=timeout)

    def ask(self, method: str, path: str, body: Any = None, *, once: bool = False) -> tuple[int, bytes]:
        """One request and its whole answer.

        `once`: never send it twice. Raises DaemonGoneError if the daemon has gone; DaemonError if it hangs, or is no
        daemon.
        """
        if once:
            # On a connection that was kept, an unread request looks like one whose answer was lost.
            self.close()
        response = self._send(method, path, body)
        try:
            return response.status, response.read()
        except TimeoutError as error:
            raise self._hangs() from error
        except (http.client.HTTPException, OSError) as error:
            raise self._lost() from error

    def lines(self, method: str, path: str, body: Any = None) -> Iterator[tuple[int, bytes]]:
        """One request whose answer comes line by line, each with the status; empty lines are signs of life.

        Raises DaemonGoneError if the daemon went away before the answer was whole; DaemonError if it hangs, or is no
        daemon.
        """
        response = self._send(method, path, body)
        if response.status != 200:
            yield response.status, response.read()
            return
        try:
            while line := response.readline():
                yield 200, line.strip()
        except TimeoutError as error:
            raise self._hangs() from error
        except (http.client.HTTPException, OSError) as error:
            raise self._lost() from error
        finally:
            if not response.isclosed():
                self.close()

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def _send(self, method: str, path: str, body: Any) -> http.client.HTTPResponse:
        # Escaped, so that halves of surrogate pairs, which arrive with undecodable arguments, pass as they are.
        data = None if body is None else json.dumps(body).encode()
        headers = {**endpoint.headers(), **({"Content-Type": "application/json"} if data else {})}
        kept = is_connected = self._connection.sock is not None
        try:
            if not kept:
                self._connection.connect()
                is_connected = True
            self._connection.request(method, path, data, headers)
            self._await_answer()
            response = self._connection.getresponse()
        except TimeoutError as error:
            raise self._hangs() from error
        except (http.client.BadStatusLine, OSError) as error:
            lost = self._lost(was_asked=is_connected)
            if isinstance(error, http.client.BadStatusLine) and not isinstance(error, http.client.RemoteDisconnected):
                raise endpoint.unexpected_peer() from error
            if kept:
                # The daemon ends connections that were idle for long; it may well be there for a new one.
                return self._send(method, path, body)
            raise lost from error
        except http.client.HTTPException as error:
            self.close()
            raise endpoint.unexpected_peer() from error
        return response

    def _await_answer(self) -> None:
        """Wait briefly for the response to begin; without one and without a daemon, another program listens."""
        channel = self._connection.sock
        if channel is None or self._timeout <= SILENT_S:
            return
        channel.settimeout(SILENT_S)
        try:
            channel.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            if not endpoint.owns():
                self.close()
                raise endpoint.unexpected_peer() from None
        finally:
            if self._connection.sock is not None:
                channel.settimeout(self._timeout)

    def _lost(self, *, was_asked: bool = True) -> DaemonGoneError:
        self.close()
        return DaemonGoneError(was_asked=was_asked)

    def _hangs(self) -> DaemonError:
        self.close()
        if not endpoint.owns():
            return endpoint.unexpected_peer()
        info = endpoint.daemon_info()
        who = f" (process {info.pid})" if info else ""
        return DaemonError(f"The daemon{who} has not answered for {self._timeout:g} s.", hint=endpoint.RESTART)
