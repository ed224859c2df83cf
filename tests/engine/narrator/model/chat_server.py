"""A server on the loopback address that speaks OpenAI's chat API, and answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Items = list[dict[str, Any]]


@dataclass
class ChatServer:
    """Where it answers, what it answers, and what it heard."""

    url: str = ""
    heard: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    phrase: Callable[[Items], Any] = lambda items: {"items": [{"id": one["id"], "text": one["fact"]} for one in items]}
    merge: Callable[[Items], Any] = lambda _: {"same": []}
    contradict: Callable[[Items], Any] = lambda items: {
        "items": [{"id": one["id"], "relation": "unrelated"} for one in items]
    }
    status: int = 200
    slow: bool = False
    raw: bytes | None = None
    usage: int | None = 100
    around: str = "{}"

    def answer(self, body: dict[str, Any]) -> bytes:
        """Return the answer to a request."""
        if self.raw is not None:
            return self.raw
        system, user = (one["content"] for one in body["messages"])
        items = json.loads(user)
        task = (
            self.phrase if "tidy" in system else self.merge if "find the items" in system.lower() else self.contradict
        )
        said = task(items)
        text = said if isinstance(said, str) else self.around.replace("{}", json.dumps(said))
        found: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}}]}
        if self.usage is not None:
            found["usage"] = {"total_tokens": self.usage}
        return json.dumps(found).encode()


def tidy(items: Items) -> dict[str, Any]:
    """Return each fact as a sentence."""
    return {"items": [{"id": one["id"], "text": f"{one['fact'].capitalize()}."} for one in items]}


@contextmanager
def serving() -> Iterator[ChatServer]:
    """Serve for as long as a block lasts."""
    said = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said.heard.append(body)
            said.keys.append(self.headers.get("Authorization", ""))
            if said.slow:
                # Until whoever asked has given up.
                self.connection.recv(1)
            data = said.answer(body)
            try:
                self.send_response(said.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # whoever asked did not wait

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    said.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    try:
        yield said
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
