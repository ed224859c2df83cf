"""An endpoint that makes vectors is sent code, and nothing that people and agents said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cm_tui.config import Config, EmbeddingConfig
from cm_tui.engine.api import projects
from cm_tui.engine.journal import Journal
from cm_tui.engine.local import LocalEngine
from tests.gitrepo import Repo


class Endpoint(BaseHTTPRequestHandler):
    """Speaks OpenAI's embeddings API, and keeps what it is sent."""

    heard: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.heard += body["input"]
        data = [{"index": number, "embedding": [1.0, 0.0, 0.5]} for number in range(len(body["input"]))]
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[str]]]:
    heard: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Heard", (Endpoint,), {"heard": heard}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", heard
    server.shutdown()
    server.server_close()


def test_episodes_stay_on_this_machine(repo: Repo, endpoint: tuple[str, list[str]]):
    url, heard = endpoint
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    said = {"agent": "codex", "session": "s", "prompts": ["why is the tax of Ruritania wrong"], "root": str(repo.root)}
    Journal.of(repo.root).append("episode", said, head=None)
    embedding = EmbeddingConfig(provider="openai", model="m", base_url=url, api_key="k")
    root, store = projects.locate(repo.root)
    with closing(LocalEngine(root, store, Config(embedding=embedding))) as engine:
        summary = list(engine.index())[-1].summary
        assert any("def pay" in text for text in heard)
        assert not any("Ruritania" in text for text in heard)
        assert summary is not None
        assert engine.search("Ruritania tax", profile="memory").hits[0].source == "episode"


def test_a_time_that_is_damage_hurts_no_index_run(repo: Repo):
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    journal = Journal.of(repo.root)
    said = {"agent": "codex", "session": "s", "prompts": ["why is the tax wrong"], "root": str(repo.root)}
    journal.append("episode", said, head=None)
    for file in journal.folder.glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps({**line, "time": 1e300}) + "\n" for line in lines))
    with LocalEngine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        assert engine.search("tax", profile="memory").hits[0].source == "episode"


def test_secrets_are_looked_for_once_more(repo: Repo):
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    token = "ghp_" + "a1B2" * 9
    said = {"agent": "codex", "session": "s", "prompts": [f"use {token} for the tax"], "root": str(repo.root)}
    Journal.of(Path(repo.root)).append("episode", said, head=None)
    with LocalEngine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        (hit,) = [hit for hit in engine.search("tax", profile="memory").hits if hit.source == "episode"]
        assert token not in engine.source(hit.path).text
        assert "[redacted" in engine.source(hit.path).text
