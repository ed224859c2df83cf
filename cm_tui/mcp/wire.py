"""Messages before the SDK parses them: every request gets a response, even an invalid one.

The SDK drops messages that its parser refuses, and the client would wait forever. Lone surrogates, left where an agent
cuts a text, are valid JSON (RFC 8259, section 8.2) but not valid text: they become U+FFFD, as invalid UTF-8 does.
A byte order mark is white space, and an array is handled as its messages one by one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1_000_000
"""No request is anywhere near as long."""
LAST_ANSWERS_SECONDS = 60.0
"""How long requests in progress may take after the end of stdin."""

_ESCAPE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",
    re.DOTALL,
)
# A text without an end goes to the end: looking for one again behind each of its quotes would take for ever.
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_ID_CHARACTERS = 1000
"""No id is longer; it is repeated in the answer."""


def repaired(text: str) -> str:
    """Return JSON in which each half of a surrogate pair that stands alone is the replacement character."""
    if "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)


def read_text(data: bytes) -> str:
    """Return a message's text without byte order mark; bytes that are not UTF-8 become U+FFFD."""
    return repaired(data.decode("utf-8", "replace").lstrip("\ufeff"))


def refusal(text: str) -> JSONRPCError | None:
    """Return the answer to what is no message of the protocol; None for a message, and for a response that is none.

    `text`: as it came, repaired.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        keys, number = _outline(text)
        if "method" not in keys and keys & {"result", "error"}:
            # It answers a question of ours: an error of the same id would be taken for an answer to one of theirs.
            return None
        first = error.errors(include_input=False, include_url=False)[0]
        if first["type"] == "json_invalid":
            return refused(number, f"Invalid JSON: {first['msg'].removeprefix('Invalid JSON: ')}.", PARSE_ERROR)
        return refused(number, "Not a JSON-RPC 2.0 request: it needs `jsonrpc`, `id` and `method`.")
    if isinstance(message, JSONRPCNotification) and "id" in _outline(text)[0]:
        # A message with an id awaits a response.
        return refused(None, "The id of a request must be text or a whole number.")
    return None


def messages_of(text: str) -> list[str]:
    """Return the messages of a line: none of a blank one, and each of an array, which older clients send as a batch."""
    if not text.strip():
        return []
    if text.lstrip().startswith("["):
        try:
            return [json.dumps(one) for one in json.loads(text)] or [text]
        except (ValueError, RecursionError):
            pass
    return [text]


def refused(number: str | int | None, message: str, code: int = INVALID_REQUEST) -> JSONRPCError:
    """Return an error as the answer to a request, whose id is None where it cannot be told."""
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))


def _outline(text: str) -> tuple[set[str], str | int | None]:
    """The names in the outermost object and its id, read without a parser: what one chokes on may be in there."""
    keys: set[str] = set()
    number: str | int | None = None
    depth, before, last = 0, "", ""
    for found in _WORD.finditer(text):
        word = found[0]
        if word in ("{", "["):
            depth += 1
        elif word in ("}", "]"):
            depth -= 1
        elif word == ":" and depth == 1:
            keys.add(last.strip('"'))
        elif last == ":" and depth == 1 and before == '"id"':
            number = _id_of(word)
        before, last = last, word
    return keys, number


def _id_of(word: str) -> str | int | None:
    if len(word) > _ID_CHARACTERS:
        return None
    try:
        value = json.loads(word)
    except ValueError:
        return None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


# --- standard streams ---


async def serve_stdio(run: Callable[[Any, Any], Awaitable[None]]) -> None:
    """Serve on stdin and stdout until stdin ends.

    `run`: the server's loop over a stream of what comes and one of what goes. Raises OSError: stdout cannot be written,
    other than because the client has gone.
    """
    lines = _Lines(_own_stdin())
    try:
        async with stdio_server(stdin=lines) as (read, write):  # type: ignore[arg-type] # it only iterates over it
            lines.answers = _Answers(write, lines.answered)
            await run(read, lines.answers)
    except BaseExceptionGroup as errors:
        failure = _write_failure(errors)
        if failure is None:
            raise
        if not isinstance(failure, BrokenPipeError):
            raise failure from None
        # The client has disconnected.


def _write_failure(error: BaseException) -> OSError | None:
    """Return the error with which stdout could not be written, of all those that came with it."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := _write_failure(one)) is not None), None)
    return error if isinstance(error, OSError) and error.filename is None else None


def _own_stdin() -> BinaryIO:
    """Take stdin over: what else runs in this process, and its children, find it at its end."""
    try:
        number = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return sys.stdin.buffer
    own = os.dup(number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, number)
    os.close(nothing)
    # A thread may still wait on it when the server ends: it must not become another file's number.
    return os.fdopen(own, "rb", closefd=False)


class _Lines:
    """The messages of a stream, one per line; invalid ones are answered here and not passed on.

    The end of the stream is passed on after the requests before it were answered: `printf … | cm mcp` closes stdin at once.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: set[str | int] = set()
        self._answered = anyio.Event()
        self.answers: _Answers | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._next():
            if len(line) == MOST_BYTES and not line.endswith(b"\n"):
                while (more := await self._next()) and not more.endswith(b"\n"):
                    pass
                number = _outline(line.decode("utf-8", "replace"))[1]
                await self._refuse(refused(number, f"A request has at most {MOST_BYTES:,} bytes."))
                continue
            for text in messages_of(read_text(line)):
                said = refusal(text)
                if said is None:
                    self._expect(text)
                    yield text
                else:
                    await self._refuse(said)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            while self._waiting:
                self._answered = anyio.Event()
                await self._answered.wait()

    def answered(self, number: object) -> None:
        """No longer wait for the answer to a request; `number` is what a client wrote, which may be of any type."""
        if isinstance(number, str | int) and number in self._waiting:
            self._waiting.discard(number)
            self._answered.set()

    def _expect(self, text: str) -> None:
        with suppress(ValidationError):
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
            if isinstance(message, JSONRPCRequest):
                self._waiting.add(message.id)
            elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                self.answered((message.params or {}).get("requestId"))

    async def _refuse(self, said: JSONRPCError) -> None:
        if self.answers is not None:
            await self.answers.send(SessionMessage(said))

    async def _next(self) -> bytes:
        """A line with its end, or as much of it as a request may have."""
        return await anyio.to_thread.run_sync(self._stream.readline, MOST_BYTES)


class _Answers:
    """A stream of what goes out, which reports the answers to requests."""

    def __init__(self, stream: WriteStream[SessionMessage], answered: Callable[[str | int | None], None]) -> None:
        self._stream = stream
        self._answered = answered

    async def send(self, item: SessionMessage) -> None:
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._answered(item.message.id)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


# --- HTTP ---


class RepairedBodies:
    """Middleware that passes on repaired messages and answers invalid ones."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # A path that leads up is no server's: whatever was sent there, the application refuses it.
        if scope["type"] != "http" or scope["method"] != "POST" or ".." in scope["path"].split("/"):
            await self._app(scope, receive, send)
            return
        body, messages = await _body(receive)
        if body is not None:
            text = read_text(body)
            said = refusal(text)
            if said is not None:
                wire = said.model_dump(by_alias=True, mode="json", exclude_unset=True)
                await JSONResponse({"id": None, **wire}, status_code=400)(scope, receive, send)
                return
            data = text.encode()
            length = (b"content-length", str(len(data)).encode())
            kept = [pair for pair in scope["headers"] if pair[0].lower() != length[0]]
            scope = {**scope, "headers": [*kept, length]}
            messages = [{"type": "http.request", "body": data, "more_body": False}]

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, again, send)


async def _body(receive: Receive) -> tuple[bytes | None, list[Message]]:
    """A request's body, None when it is too long or breaks off, and the messages that it came in."""
    messages: list[Message] = []
    size = 0
    while size <= MOST_BYTES:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            return None, messages
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            return (b"".join(one.get("body", b"") for one in messages) if size <= MOST_BYTES else None), messages
    return None, messages
