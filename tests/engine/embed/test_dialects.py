"""OpenAI, Gemini and Voyage, each by its own API, over real HTTP: what is sent, what is refused, what is never told."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any

import certifi
import httpx
import numpy as np
import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.config.endpoints import REMOTE, endpoint_of
from cm_tui.engine.search.embed import endpoint_client
from cm_tui.engine.search.embed.endpoint_client import ATTEMPTS
from cm_tui.engine.search.embed.remote import DIALECTS, RemoteProvider
from cm_tui.errors import ModelError
from tests.embedding_endpoint import Endpoint, listening

KEY = "very-secret-key-1234"
MODELS = {"openai": "text-embedding-3-small", "gemini": "gemini-embedding-001", "voyage": "voyage-code-3"}
PATHS = {
    "openai": "/v1/embeddings",
    "gemini": "/v1/models/gemini-embedding-001:batchEmbedContents",
    "voyage": "/v1/embeddings",
}
every_kind = pytest.mark.parametrize("kind", REMOTE)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with listening() as endpoint:
        endpoint.vector = lambda text: [float(len(text)), 1.0]
        yield endpoint


def made(kind: str, endpoint: Endpoint, slept: list[float] | None = None, **more: Any) -> RemoteProvider:
    settings = {"provider": kind, "base_url": endpoint.url, "api_key": KEY, **more}
    config = EmbeddingConfig.model_validate(settings)
    found = endpoint_of(config)
    assert found is not None
    return RemoteProvider(config, found, sleep=(slept if slept is not None else []).append)


def unit(*lengths: int) -> np.ndarray[Any, Any]:
    return np.array([[n, 1] / np.hypot(n, 1) for n in lengths])


@every_kind
def test_vectors_in_order_by_the_providers_own_model_and_path(kind: str, endpoint: Endpoint):
    matrix = made(kind, endpoint, batch_size=2, concurrency=1).embed(["a", "bb", "ccc"])
    np.testing.assert_allclose(matrix, unit(1, 2, 3), atol=1e-6)
    assert [asked for asked, _, _ in endpoint.requests] == [f"POST {PATHS[kind]}"] * 2
    assert MODELS[kind] in str(endpoint.requests[0][2])


def test_questions_and_passages_are_told_apart(endpoint: Endpoint):
    for kind in REMOTE:
        provider = made(kind, endpoint, dimensions=2)
        provider.embed(["a"])
        provider.embed_query("b")
    said = [body for _, _, body in endpoint.requests]
    assert said[:2] == [
        {"model": "text-embedding-3-small", "input": ["a"], "dimensions": 2},
        {"model": "text-embedding-3-small", "input": ["b"], "dimensions": 2},
    ]
    assert [body["requests"][0] for body in said[2:4]] == [
        {
            "model": "models/gemini-embedding-001", "taskType": f"RETRIEVAL_{purpose}", "outputDimensionality": 2,
            "content": {"parts": [{"text": text}]},
        }
        for purpose, text in (("DOCUMENT", "a"), ("QUERY", "b"))
    ]  # fmt: skip
    assert said[4:] == [
        {"model": "voyage-code-3", "input": [text], "input_type": purpose, "output_dimension": 2}
        for purpose, text in (("document", "a"), ("query", "b"))
    ]


def test_a_gemini_model_without_task_types_is_told_in_the_text(endpoint: Endpoint):
    provider = made("gemini", endpoint, model="models/gemini-embedding-2")
    provider.embed(["a"])
    provider.embed_query("b")
    assert endpoint.heard == ["title: none | text: a", "task: search result | query: b"]
    assert endpoint.requests[0][0] == "POST /v1/models/gemini-embedding-2:batchEmbedContents"
    assert "taskType" not in str(endpoint.requests[0][2])


@every_kind
def test_the_key_goes_where_the_provider_wants_it_and_nowhere_else(
    kind: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    made(kind, endpoint, headers={"X-Team": "memory"}).embed_query("a")
    asked, headers, _ = endpoint.requests[-1]
    sent = {name.lower(): value for name, value in headers.items()}
    wanted = ("x-goog-api-key", KEY) if kind == "gemini" else ("authorization", f"Bearer {KEY}")
    assert sent[wanted[0]] == wanted[1]
    assert sent["x-team"] == "memory"
    assert KEY not in asked
    assert endpoint.bytes.count(KEY.encode()) == 1
    assert KEY not in caplog.text
    variable = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "voyage": "VOYAGE_API_KEY"}[kind]
    monkeypatch.setenv(variable, "from-the-environment")
    provider = made(kind, endpoint, api_key=None)
    provider.embed_query("a")
    assert "from-the-environment" in str(endpoint.requests[-1][1])
    assert KEY not in provider.fingerprint + repr(provider.endpoint)


@every_kind
def test_what_the_table_remote_says_wins(kind: str, endpoint: Endpoint):
    remote = {"base_url": endpoint.url + "/", "api_key": KEY, "headers": {"X-Who": "remote"}}
    elsewhere = {
        "base_url": "http://127.0.0.1:9",
        "api_key": "other-key",
        "headers": {"X-Who": "beside", "X-More": "1"},
    }
    made(kind, endpoint, **elsewhere, remote=remote).embed_query("a")
    headers = endpoint.requests[-1][1]
    assert KEY in str(headers)
    assert "other-key" not in str(headers)
    assert (headers["X-Who"], headers["X-More"]) == ("remote", "1")


def test_a_variable_in_the_table_remote_wins_over_a_key_beside_it(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEAM_KEY", "key-of-the-team")
    made("voyage", endpoint, remote={"api_key_env": "TEAM_KEY"}).embed_query("a")
    assert "key-of-the-team" in str(endpoint.requests[-1][1])
    assert KEY not in str(endpoint.requests[-1][1])


@every_kind
@pytest.mark.parametrize(
    ("status", "says", "hint"),
    [
        (401, "HTTP 401: bad key …", "Check the key in embedding.api_key"),
        (403, "HTTP 403: bad key …", "Check the key in embedding.api_key"),
        (404, "HTTP 404: bad key …", "embedding.model"),
        (400, "HTTP 400: bad key …", "embedding.dimensions"),
    ],
)
def test_refusals_are_told_at_once_and_without_the_key(
    kind: str, endpoint: Endpoint, status: int, says: str, hint: str
):
    endpoint.first = [(status, {}, {"error": {"message": f"bad key {KEY}"}})]
    with pytest.raises(ModelError) as caught:
        made(kind, endpoint).embed(["a"])
    assert says in str(caught.value)
    assert KEY not in str(caught.value) + caught.value.hint
    assert hint in caught.value.hint
    assert len(endpoint.requests) == 1


@every_kind
def test_no_key_says_which_variable_is_missing(kind: str, endpoint: Endpoint):
    endpoint.first = [(401, {}, "no")]
    with pytest.raises(ModelError) as caught:
        made(kind, endpoint, api_key=None).embed(["a"])
    assert f"put it into the environment variable {kind.upper()}_API_KEY" in caught.value.hint


def test_gemini_says_400_for_a_wrong_key(endpoint: Endpoint):
    endpoint.first = [(400, {}, {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}})]
    with pytest.raises(ModelError) as caught:
        made("gemini", endpoint).embed(["a"])
    assert "Check the key" in caught.value.hint


@every_kind
def test_a_busy_endpoint_is_asked_again_when_it_says(kind: str, endpoint: Endpoint):
    endpoint.first = [(429, {"Retry-After": "7"}, "busy"), (503, {}, "down")]
    slept: list[float] = []
    made(kind, endpoint, slept).embed(["a"])
    assert slept == [7, 1.0]
    endpoint.first = [(500, {}, "down")] * ATTEMPTS
    with pytest.raises(ModelError, match="5 attempts"):
        made(kind, endpoint).embed(["a"])


@every_kind
@pytest.mark.parametrize(
    ("headers", "content", "says"),
    [
        ({"Content-Type": "text/html"}, "<html>sign in</html>", "did not answer with vectors"),
        ({}, {}, "did not answer with vectors"),
        ({}, {"data": [], "embeddings": []}, "0 vectors for 2 texts"),
        (
            {},
            '{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 1]}], "embeddings": [{"values": [NaN, 1]}, {"values": [1, 1]}]}',
            "invalid numbers",
        ),
        (
            {},
            {
                "data": [{"embedding": [1, 2, 3]}, {"embedding": [1, 2, 3]}],
                "embeddings": [{"values": [1, 2, 3]}, {"values": [1, 2, 3]}],
            },
            "3 dimensions, not 2",
        ),
        (
            {},
            {"data": [{"embedding": [1]}, {"embedding": [1, 2]}], "embeddings": [{"values": [1]}, {"values": [1, 2]}]},
            "did not answer with vectors",
        ),
    ],
)
def test_answers_that_are_no_vectors_are_refused(
    kind: str, endpoint: Endpoint, headers: dict[str, str], content: Any, says: str
):
    endpoint.first = [(200, headers, content)]
    with pytest.raises(ModelError, match=says):
        made(kind, endpoint, dimensions=2).embed(["a", "b"])


def test_certificates_are_read_once_and_again_where_the_environment_names_others(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
):
    create, contexts = httpx.create_ssl_context, []
    monkeypatch.setattr("httpx.create_ssl_context", lambda: contexts.append(create()) or contexts[-1])
    endpoint_client._tls.cache_clear()
    for name, count in (("", 1), ("", 1), ("SSL_CERT_FILE", 2), ("", 2)):
        if name:
            monkeypatch.setenv(name, certifi.where())
        made("openai", endpoint).embed(["a"])
        assert len(contexts) == count
    assert {context.verify_mode for context in contexts} == {ssl.CERT_REQUIRED}
    assert all(context.check_hostname for context in contexts)
    endpoint_client._tls.cache_clear()


@every_kind
def test_a_redirect_is_not_followed_so_the_key_stays(kind: str, endpoint: Endpoint):
    with listening() as elsewhere:
        endpoint.first = [(307, {"Location": f"{elsewhere.url}/embeddings"}, "")]
        with pytest.raises(ModelError, match="not followed: the key would be sent there"):
            made(kind, endpoint).embed(["a"])
        assert elsewhere.connections == 0


@every_kind
def test_a_body_that_is_cut_off_is_asked_for_again(kind: str, endpoint: Endpoint):
    endpoint.first = [(200, {"Content-Length": "5000", "Connection": "close"}, '{"data": [')]
    np.testing.assert_allclose(made(kind, endpoint).embed(["a"]), unit(1), atol=1e-6)
    assert len(endpoint.requests) == 2


@every_kind
def test_requests_keep_to_the_limits_of_the_provider(kind: str, endpoint: Endpoint):
    dialect = DIALECTS[kind]  # type: ignore[index]
    provider = made(kind, endpoint, batch_size=4096, concurrency=1)
    provider.embed(["a"] * (dialect.most_texts + 1))
    assert len(endpoint.requests) == 2
    endpoint.heard.clear()
    provider.embed(["long " * 10_000] * (dialect.most_characters // dialect.text_characters + 1))
    assert all(len(text) <= dialect.text_characters for text in endpoint.heard)
    sizes = [len(str(body)) for _, _, body in endpoint.requests[2:]]
    assert len(sizes) == 2
    assert max(sizes) < dialect.most_characters * 1.1


@every_kind
def test_what_is_too_much_for_it_is_sent_in_parts(kind: str, endpoint: Endpoint):
    def too_long(body: Any) -> bool:
        return len(str(body)) > 3_000

    usual = endpoint.answer

    def answer(method: str, path: str, body: Any, raw: bytes) -> Any:
        if too_long(body):
            return 400, {}, {"error": {"message": "This model's maximum context length is 512 tokens"}}
        return usual(method, path, body, raw)

    endpoint.answer = answer  # type: ignore[method-assign]
    matrix = made(kind, endpoint).embed(["a" * 700, "b" * 600, "c" * 7_000, "d"])
    np.testing.assert_allclose(matrix[[0, 1, 3]], unit(700, 600, 1), atol=1e-6)
    endpoint.fails = lambda _: (413, {}, "too large")
    with pytest.raises(ModelError, match="413"):
        made(kind, endpoint).embed(["a" * 700, "b" * 600])


def test_one_that_never_answers_and_one_that_trickles_are_given_up():
    server = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def trickle() -> None:
        while not stop.is_set():
            try:
                peer, _ = server.accept()
            except OSError:
                return
            peer.recv(100)
            try:
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                for _ in range(200):
                    if stop.wait(0.02):
                        break
                    peer.sendall(b" ")
            except OSError:
                pass
            peer.close()

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        provider = made("openai", Endpoint(url), timeout_seconds=0.05)
        began = time.monotonic()
        with pytest.raises(ModelError, match="takes too long"):
            provider.ask_once()
        assert time.monotonic() - began < 2
        with pytest.raises(ModelError, match="takes too long"):
            provider.embed_query("at once, for it failed a moment ago")
    finally:
        stop.set()
        server.close()
        thread.join()


def test_two_requests_run_at_a_time(endpoint: Endpoint):
    together, lock, active = threading.Barrier(2), threading.Lock(), [0, 0]

    def count() -> None:
        with lock:
            active[0] += 1
            active[1] = max(active)
        together.wait(timeout=60)
        with lock:
            active[0] -= 1

    endpoint.on_request = count
    made("openai", endpoint, batch_size=1).embed(["a", "b", "c", "d"])
    assert active == [0, 2]


def test_it_waits_as_it_is_told_and_gives_up_with_the_reason(endpoint: Endpoint):
    endpoint.first = [(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "busy")]
    assert made("openai", endpoint).embed_query("abc").shape == (2,)
    endpoint.first = [(429, {"Retry-After": "86400"}, "come back tomorrow")]
    with pytest.raises(ModelError, match="86400 seconds"):
        made("openai", endpoint).embed_query("abc")
    endpoint.first = [(503, {}, {"error": {"message": "out of capacity"}})] * ATTEMPTS
    with pytest.raises(ModelError, match="out of capacity"):
        made("openai", endpoint).embed_query("abc")


def test_nobody_there_and_no_address_are_explained(endpoint: Endpoint):
    for url, said in (("http://127.0.0.1:9/v1", "5 attempts"), ("localhost/v1", "cannot be reached")):
        with pytest.raises(ModelError, match=said):
            made("openai", endpoint, base_url=url).embed_query("abc")


def test_empty_and_huge_texts_are_sent_in_a_form_the_api_takes(endpoint: Endpoint):
    made("openai", endpoint).embed(["", "x" * 100_000])
    assert [text[:1] for text in endpoint.heard] == [" ", "x"]
    assert len(endpoint.heard[1]) == 16_000


def test_a_question_does_not_wait_for_an_endpoint_that_just_failed(endpoint: Endpoint):
    endpoint.fails = lambda _: (500, {}, "down")
    provider = made("voyage", endpoint)
    for _ in range(3):
        with pytest.raises(ModelError, match="down"):
            provider.embed_query("a")
    assert len(endpoint.requests) == ATTEMPTS
    endpoint.fails = lambda _: None
    provider.ask_once()
    assert provider.embed_query("a").shape == (2,)


def test_fingerprints_tell_providers_apart(endpoint: Endpoint):
    prints = [made(kind, endpoint, model="m").fingerprint for kind in REMOTE]
    assert prints == [
        f"openai:{endpoint.url}/m/native/r1/redacted",
        f"gemini:{endpoint.url}/m/native/r1+purpose/redacted",
        f"voyage:{endpoint.url}/m/native/r1+purpose/redacted",
    ]
