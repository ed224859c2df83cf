"""A fallback takes over as a whole when the first choice fails, says so and why, and gives way when that works again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui import paths
from cm_tui.config import load_config
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.doctor import installation
from cm_tui.engine.search.embed import prose as prose_model
from cm_tui.engine.search.vectors import by_source
from tests.embedding_endpoint import Endpoint, listening
from tests.gitrepo import Repo

KEY = "key-that-nobody-may-see"
Write = Callable[..., None]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr("cm_tui.engine.search.embed.remote._REST_SECONDS", 0)
    monkeypatch.setattr(by_source, "ASK_AGAIN_SECONDS", 0)
    with listening() as endpoint:
        yield endpoint


@pytest.fixture
def settings(endpoint: Endpoint) -> Write:
    """Write the person's settings: OpenAI's API at the endpoint, and what a test adds."""

    def write(more: str = 'fallback = "local"\n', provider: str = "openai") -> None:
        file = paths.config_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'[embedding]\nprovider = "{provider}"\nmodel = "m"\nbase_url = "{endpoint.url}"\n'
            f'api_key = "{KEY}"\nbatch_size = 1\nconcurrency = 1\n{more}'
        )

    return write


@pytest.fixture
def shop(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "app")
    repo.write("shop.py", "def pay(amount):\n    return receipt(amount)\n\n\ndef receipt(amount):\n    return amount\n")
    repo.commit("Open the shop")
    return repo


def refuse(endpoint: Endpoint) -> None:
    endpoint.fails = lambda _: (401, {}, {"error": {"message": f"Incorrect API key provided: {KEY}"}})


def run(root: Path) -> Any:
    with Engine.open(root) as engine:
        return list(engine.index())[-1].summary


def test_without_a_fallback_it_is_keyword_only_as_before(shop: Repo, endpoint: Endpoint, settings: Write):
    settings("")
    refuse(endpoint)
    summary = run(shop.root)
    assert summary.mode == "keyword"
    with Engine.open(shop.root) as engine:
        assert engine.status().fallback == ""
        assert engine.search("pay").mode == "keyword"


def test_it_takes_over_questions_and_passages_and_says_why(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    refuse(endpoint)
    summary = run(shop.root)
    assert any("is used instead of openai" in note and "Incorrect API key" in note for note in summary.notes)
    heard = endpoint.connections
    # Another process, which asks only what is there.
    with Engine.open(shop.root) as engine:
        found = engine.search("where is money taken")
        status = engine.status()
        checks = {check.name: check for check in engine.doctor()}
    assert found.mode == "hybrid"
    assert any("is used instead of openai" in note for note in found.notes)
    assert (status.embedded, status.mode) == (status.passages, "hybrid")
    assert status.model.startswith("bundled/")
    assert "HTTP 401" in status.fallback
    assert any("is used instead of openai" in note for note in status.notes)
    assert checks["embedding"].state == "warning"
    assert "HTTP 401" in checks["embedding"].message
    assert "since 20" in checks["embedding"].message
    assert endpoint.connections == heard + 1, "the check of the model asks once, questions do not"
    stored = [file.read_bytes() for file in paths.data_dir().rglob("*") if file.is_file()]
    assert not any(KEY.encode() in data for data in stored)


def status_folder(root: Path) -> Path:
    with Engine.open(root) as engine:
        return Path(engine.status().store)


def test_the_fallback_serves_until_the_first_choice_has_every_vector(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    refuse(endpoint)
    run(shop.root)
    answered = iter(range(2))
    endpoint.fails = lambda _: None if next(answered, None) is not None else (429, {"Retry-After": "9999"}, "quota")
    with Engine.open(shop.root) as engine:
        list(engine.index())
        assert engine.search("pay").mode == "hybrid"
        assert "quota" in engine.status().fallback
        since = engine._vectors.in_use.since
        list(engine.index())
        assert engine._vectors.in_use.since == since


def test_a_failing_question_does_not_switch_by_itself(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    run(shop.root)
    refuse(endpoint)
    with Engine.open(shop.root) as engine:
        found = engine.search("where is money taken")
        assert found.mode == "keyword"
        assert any("HTTP 401" in note for note in found.notes)
        assert engine.status().fallback == ""
        list(engine.index())
        assert engine.search("where is money taken").mode == "hybrid", (
            "an index run asks, though nothing was to be embedded"
        )
        assert "HTTP 401" in engine.status().fallback


def test_a_model_on_this_machine_never_gives_way_to_an_endpoint_unasked(
    shop: Repo, endpoint: Endpoint, settings: Write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings('path = "/nowhere"\n', provider="fastembed")
    assert run(shop.root).mode == "keyword"
    with Engine.open(shop.root) as engine:
        engine.search("pay")
    assert endpoint.connections == 0


def test_a_remote_fallback_that_is_named_has_its_own_address_and_key_and_gets_code_alone(
    shop: Repo, endpoint: Endpoint, settings: Write, monkeypatch: pytest.MonkeyPatch
):
    from cm_tui.config import endpoints
    from cm_tui.engine.platform.journal.journal import Journal

    with listening() as other:
        usual = endpoints.Usual(other.url, "VOYAGE_API_KEY", "voyage-code-3")
        monkeypatch.setattr(endpoints, "USUAL", {**endpoints.USUAL, "voyage": usual})
        monkeypatch.setenv("VOYAGE_API_KEY", "key-of-voyage")
        said = {"agent": "codex", "session": "s", "prompts": ["the tax of Ruritania"], "root": str(shop.root)}
        Journal.of(shop.root).append("episode", said, head=None)
        settings('fallback = "voyage"\npath = "/nowhere"\nheaders = {"X-Mine" = "1"}\n', provider="fastembed")
        summary = run(shop.root)
        assert any("instead of fastembed" in note for note in summary.notes)
        assert any("def pay" in text for text in other.heard)
        assert not any("Ruritania" in text for text in other.heard)
        assert b"key-of-voyage" in other.bytes
        assert KEY.encode() not in other.bytes
        assert b"X-Mine" not in other.bytes
        assert endpoint.connections == 0


def test_trust_that_was_taken_back_is_no_failure(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    with Engine.open(shop.root) as engine:
        list(engine.index())
        settings('fallback = "local"\ndimensions = 3\n')
        shop.write("more.py", "def refund(amount):\n    return -amount\n")
        before = len(endpoint.bytes)
        list(engine.index())
        assert len(endpoint.bytes) == before
        assert engine.status().fallback == ""


def test_a_fallback_that_fails_too_is_keyword_only_with_both_reasons(
    shop: Repo, endpoint: Endpoint, settings: Write, monkeypatch: pytest.MonkeyPatch
):
    from cm_tui.config import endpoints

    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    usual = endpoints.Usual(endpoint.url, "GEMINI_API_KEY", "gemini-embedding-001")
    monkeypatch.setattr(endpoints, "USUAL", {**endpoints.USUAL, "gemini": usual})
    settings('fallback = "gemini"\n')
    refuse(endpoint)
    summary = run(shop.root)
    assert summary.mode == "keyword"
    said = " ".join(summary.notes)
    assert "is used instead of openai" in said
    assert "gemini-embedding-001:batchEmbedContents HTTP 401" in said


def test_a_damaged_note_is_made_anew(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    refuse(endpoint)
    run(shop.root)
    file = status_folder(shop.root) / by_source.FILE
    for damage in (b"[]", b"\xff\xfe", b'{"fingerprint": 1, "since": {}}'):
        file.write_bytes(damage)
        run(shop.root)
        assert json.loads(file.read_text())["instead_of"].startswith("openai:")
        assert file.stat().st_mode & 0o777 == 0o600


def test_doctor_says_what_is_used_and_since_when(shop: Repo, endpoint: Endpoint, settings: Write):
    settings()
    run(shop.root)
    with Engine.open(shop.root) as engine:
        checks = {check.name: check for check in engine.doctor()}
    assert checks["embedding"].state == "ok"
    assert checks["embedding"].message.startswith("openai:")
    assert "since 20" in checks["embedding"].message
    assert "local" in checks["embedding"].message or "bundled" in checks["embedding"].message
    chosen = {check.name: check for check in installation.examine_project(shop.root)}["chosen model"]
    assert endpoint.url in chosen.message
    assert "embedding.api_key" in chosen.message
    assert KEY not in chosen.message
    assert load_config(shop.root).embedding.fallback == "bundled"
    assert prose_model.NAME not in checks["embedding"].message
