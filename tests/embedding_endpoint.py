"""An endpoint on the loopback address that speaks the APIs of OpenAI, Gemini and Voyage, and keeps all that reaches it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], Any]
"""Status, headers, and what is sent: bytes or text as they are, anything else as JSON."""


def constant(_: str) -> list[float]:
    """Return the same vector for every text."""
    return [1.0, 0.0, 0.5]


@dataclass
class Endpoint:
    """Where it answers, what it answers, and what it heard."""

    url: str = ""
    heard: list[str] = field(default_factory=list)
    """Texts to embed."""
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    """Method and path, headers, and the body as JSON where it is that."""
    bytes: bytes = b""
    """Everything, headers included."""
    connections: int = 0
    on_request: Callable[[], object] = lambda: None
    """Called with each request, with several at once where they come together."""
    vector: Callable[[str], list[float]] = constant
    first: list[Answer | None] = field(default_factory=list)
    """Answers that come first; None: the usual one."""
    fails: Callable[[str], Answer | None] = lambda _: None
    """An answer for a method and path instead of the usual one."""
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    polls: int = 0
    """How often a job says that it is running, before it is done."""
    on_poll: Callable[[], object] = lambda: None
    """Called each time that somebody asks for a job."""
    line_fails: Callable[[int], bool] = lambda _: False
    """Which lines of a job have an error in place of a vector."""
    ends: str = "completed"
    """How jobs end."""

    # --- the APIs ---

    def answer(self, method: str, path: str, body: Any, raw: bytes) -> Answer:
        """Return what the API answers."""
        if path.endswith("/embeddings"):
            self.heard += body["input"]
            rows = [{"index": at, "embedding": self.vector(text)} for at, text in enumerate(body["input"])]
            return 200, {}, {"data": rows[::-1]}
        if path.endswith(":batchEmbedContents"):
            texts = [request["content"]["parts"][0]["text"] for request in body["requests"]]
            self.heard += texts
            return 200, {}, {"embeddings": [{"values": self.vector(text)} for text in texts]}
        return self._answer_of_jobs(method, path, body, raw)

    def _answer_of_jobs(self, method: str, path: str, body: Any, raw: bytes) -> Answer:
        name = path.rpartition("/")[2]
        answer: Answer = 404, {}, {"error": {"message": f"there is no {path}"}}
        if path.endswith(":asyncBatchEmbedContent"):
            answer = self._gemini_job(body)
        elif (method, name) == ("POST", "files"):
            answer = self._upload(raw)
        elif (method, name) == ("POST", "batches"):
            answer = self._file_job(body)
        elif method == "DELETE":
            self.files.pop(name, None)
            answer = 200, {}, {"deleted": True}
        elif (found := re.search(r"/files/([\w-]+)/content$", path)) and found[1] in self.files:
            answer = 200, {}, self.files[found[1]]
        elif name in self.jobs:
            answer = self._report(self.jobs[name])
        return answer

    def _upload(self, raw: bytes) -> Answer:
        name = f"file-{len(self.files) + len(self.requests)}"
        start = raw.index(b"\r\n\r\n", raw.index(b"filename=")) + 4
        self.files[name] = raw[start : raw.index(b"\r\n--", start)]
        return 200, {}, {"id": name, "object": "file"}

    def _file_job(self, order: dict[str, Any]) -> Answer:
        name, lines = f"batch_{len(self.jobs)}", self.files[order["input_file_id"]].splitlines()
        good, bad = [], []
        for at, line in enumerate(map(json.loads, lines)):
            text = line["body"]["input"][0]
            self.heard.append(text)
            if self.line_fails(at):
                bad.append({"custom_id": line["custom_id"], "response": None, "error": {"message": "line refused"}})
            else:
                data = {"data": [{"index": 0, "embedding": self.vector(text)}]}
                good.append({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": data}})
        names = {}
        for kind, rows in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if rows:
                names[kind] = f"{kind}-{name}".replace("_", "-")
                self.files[names[kind]] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        done = {"id": name, "status": self.ends, "input_file_id": order["input_file_id"], **names}
        self.jobs[name] = {"left": self.polls, "done": done, "running": {"id": name, "status": "in_progress"}}
        return 200, {}, {"id": name, "status": "validating"}

    def _gemini_job(self, body: Any) -> Answer:
        name, rows = f"b{len(self.jobs)}", []
        for at, one in enumerate(body["batch"]["inputConfig"]["requests"]["requests"]):
            text = one["request"]["content"]["parts"][0]["text"]
            self.heard.append(text)
            vector = {"embedding": {"values": self.vector(text)}}
            result = {"error": {"message": "line refused"}} if self.line_fails(at) else {"response": vector}
            rows.append({**result, "metadata": one["metadata"]})
        is_done = self.ends == "completed"
        state = "BATCH_STATE_SUCCEEDED" if is_done else f"BATCH_STATE_{self.ends.upper()}"
        done = {"name": f"batches/{name}", "done": True, "metadata": {"state": state}}
        if is_done:
            done["response"] = {"inlinedResponses": {"inlinedResponses": rows[::-1]}}
        running = {"name": f"batches/{name}", "metadata": {"state": "BATCH_STATE_RUNNING"}}
        self.jobs[name] = {"left": self.polls, "done": done, "running": running}
        return 200, {}, running

    def _report(self, job: dict[str, Any]) -> Answer:
        self.on_poll()
        job["left"] -= 1
        return 200, {}, job["running"] if job["left"] >= 0 else job["done"]


@contextmanager
def listening(prefix: str = "/v1") -> Iterator[Endpoint]:
    """Run one for as long as the block lasts."""
    endpoint = Endpoint()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            endpoint.connections += 1
            super().setup()

        def respond(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            asked = f"{self.command} {self.path}"
            endpoint.on_request()
            with lock:
                endpoint.bytes += f"{asked}\n{self.headers}".encode() + raw
                endpoint.requests.append((asked, dict(self.headers), body))
                scripted = endpoint.first.pop(0) if endpoint.first else None
                scripted = scripted or endpoint.fails(asked)
                status, headers, said = scripted or endpoint.answer(self.command, self.path, body, raw)
            data = (
                said
                if isinstance(said, bytes)
                else said.encode()
                if isinstance(said, str)
                else json.dumps(said).encode()
            )
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = respond  # noqa: N815 - the names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}{prefix}"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
