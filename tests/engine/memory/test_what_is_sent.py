"""An endpoint that makes vectors is sent code, and nothing that people and agents said."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.journal import Journal
from tests.embedding_endpoint import Endpoint, listening
from tests.gitrepo import Repo


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as endpoint:
        yield endpoint


def test_episodes_stay_on_this_machine(repo: Repo, endpoint: Endpoint):
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    said = {"agent": "codex", "session": "s", "prompts": ["why is the tax of Ruritania wrong"], "root": str(repo.root)}
    Journal.of(repo.root).append("episode", said, head=None)
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    file.write_text(f'[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "{endpoint.url}"\napi_key = "k"\n')
    with Engine.open(repo.root) as engine:
        summary = list(engine.index())[-1].summary
        assert any("def pay" in text for text in endpoint.heard)
        assert not any("Ruritania" in text for text in endpoint.heard)
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
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        assert not engine.search("tax", profile="memory").hits, "it is skipped, and stays in the journal"
        assert engine.search("receipt").hits
    assert [one.reason for one in journal.problems()] == ["not an event"]


def test_secrets_are_looked_for_once_more(repo: Repo):
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    token = "ghp_" + "a1B2" * 9
    said = {"agent": "codex", "session": "s", "prompts": [f"use {token} for the tax"], "root": str(repo.root)}
    Journal.of(repo.root).append("episode", said, head=None)
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        (hit,) = [hit for hit in engine.search("tax", profile="memory").hits if hit.source == "episode"]
        assert token not in engine.source(hit.path).text
        assert "[redacted" in engine.source(hit.path).text
