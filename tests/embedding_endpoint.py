"""An endpoint on the loopback address that speaks OpenAI's embeddings API and keeps all that reaches it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Endpoint:
    """Where it answers, and what it heard."""

    url: str = ""
    heard: list[str] = field(default_factory=list)
    """Texts to embed."""
    bytes: bytes = b""
    """Everything, headers included."""
    connections: int = 0


@contextmanager
def listening() -> Iterator[Endpoint]:
    """Run one for as long as the block lasts."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            endpoint.connections += 1
            super().setup()

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.bytes += str(self.headers).encode() + data
            texts = json.loads(data)["input"]
            endpoint.heard += texts
            vectors = [{"index": number, "embedding": [1.0, 0.0, 0.5]} for number in range(len(texts))]
            answer = json.dumps({"data": vectors}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
