"""OpenAI-compatible endpoints, spoken to over real HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.config.endpoints import endpoint_of
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.embed.endpoint_client import ATTEMPTS
from cm_tui.engine.search.embed.remote import RemoteProvider
from cm_tui.errors import ModelError

KEY = "sk-very-secret-1234"


class Endpoint(ThreadingHTTPServer):
    """Answers (length of the text, 1) for each text, after the answers that a test puts first."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.first: list[tuple[int, dict, object]] = []
        self.requests: list[tuple[dict, dict]] = []
        self.lock = threading.Lock()
        self.active = self.most_active = 0
        self.together: threading.Barrier | None = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.requests.append((dict(self.headers), body))
            answer = server.first.pop(0) if server.first else None
            server.active += 1
            server.most_active = max(server.active, server.most_active)
        if server.together:
            server.together.wait(timeout=60)
        with server.lock:
            server.active -= 1
        if answer is None:
            rows = [{"index": i, "embedding": [len(text), 1]} for i, text in enumerate(body["input"])]
            answer = (200, {}, {"data": rows[::-1]})
        status, headers, content = answer
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status if self.path == "/v1/embeddings" else 404)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def provider(endpoint, sleep=lambda _: None, **settings):
    settings = {"provider": "openai", "model": "m", "base_url": endpoint.url, "api_key": KEY, **settings}
    config = EmbeddingConfig(**settings)
    return RemoteProvider(config, endpoint_of(config), sleep)


def test_two_requests_run_at_a_time(endpoint):
    endpoint.together = threading.Barrier(2)
    provider(endpoint, batch_size=1).embed(["a", "b", "c", "d"])
    assert endpoint.most_active == 2


def test_retry_after_may_be_a_date(endpoint):
    endpoint.first = [(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "busy")]
    assert provider(endpoint).embed_query("abc").shape == (2,)


def test_it_gives_up_with_the_reason(endpoint):
    endpoint.first = [(503, {}, {"error": {"message": "out of capacity"}})] * ATTEMPTS
    with pytest.raises(ModelError, match="out of capacity"):
        provider(endpoint).embed_query("abc")
    assert len(endpoint.requests) == ATTEMPTS
    endpoint.first = [(429, {"Retry-After": "86400"}, "come back tomorrow")]
    with pytest.raises(ModelError, match="86400 seconds"):
        provider(endpoint).embed_query("abc")


def test_nobody_there_and_no_address_are_explained(endpoint):
    url = endpoint.url
    with pytest.raises(ModelError, match="5 attempts"):
        provider(endpoint, base_url="http://127.0.0.1:9/v1").embed_query("abc")
    with pytest.raises(ModelError, match="cannot be reached"):
        provider(endpoint, base_url="localhost/v1").embed_query("abc")
    with pytest.raises(ModelError, match="HTTP 404"):
        provider(endpoint, base_url=url + "/wrong").embed_query("abc")


def test_empty_and_huge_texts_are_sent_in_a_form_the_api_takes(endpoint):
    provider(endpoint).embed(["", "x" * 100_000])
    sent = endpoint.requests[-1][1]["input"]
    assert sent[0] == " "
    assert len(sent[1]) == 16_000


def test_the_fingerprint_names_endpoint_model_and_dimensions(endpoint):
    made = provider_for(EmbeddingConfig(provider="openai", model="m", base_url="https://a.example/v1/", api_key=KEY))
    assert made.fingerprint == "openai:https://a.example/v1/m/native/r1/redacted"
    assert KEY not in made.fingerprint
