"""Batch jobs of OpenAI, Voyage and Gemini: handed over, waited for or fetched later, partly failing, and given up."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed import batch_jobs
from cm_tui.engine.search.embed.choice import fallback_provider_for, provider_for
from cm_tui.engine.search.vectors import batch_fill
from cm_tui.engine.search.vectors.by_source import ProjectVectors
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel
from tests.embedding_endpoint import Endpoint, listening
from tests.engine.vectors.conftest import Passages
from tests.planted import GITHUB

KEY = "key-that-nobody-may-see"
every_kind = pytest.mark.parametrize("kind", ["openai", "gemini"])
"""A file of requests, and requests in the job itself; Voyage differs from OpenAI only in what is ordered, see below."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(batch_fill, "WORTH_A_JOB", 5)
    for kind in (batch_jobs.FileJobs, batch_jobs.InlineJobs):
        monkeypatch.setattr(kind, "most_texts", 8)
    with listening() as endpoint:
        endpoint.vector = lambda text: [float(len(text)), 1.0, float(sum(map(ord, text)) % 97)]
        yield endpoint


class Project:
    """Vectors of some passages, opened as a process would."""

    def __init__(self, db: Database, endpoint: Endpoint, kind: str, *, fallback: str = "none", **batch: Any) -> None:
        self.db = db
        self.folder = db.folder
        settings = {"enabled": True, "poll_interval_seconds": 0.01, **batch}
        self.config = EmbeddingConfig.model_validate(
            {
                "provider": kind,
                "base_url": endpoint.url,
                "api_key": KEY,
                "model": "m",
                "batch": settings,
                "fallback": fallback,
            }
        )
        self.reopen()

    def reopen(self) -> ProjectVectors:
        """Open it anew."""
        fallback = fallback_provider_for(self.config)
        self.vectors = ProjectVectors(self.db, self.folder, provider_for(self.config), self.config, fallback=fallback)
        return self.vectors

    def run(self, cancel: Cancel | None = None) -> tuple[int, int]:
        """Fill, and return how many passages have a vector."""
        for _ in self.vectors.fill(cancel, prose_seconds=0):
            pass
        return self.vectors.code.coverage()

    def jobs(self) -> int:
        """Return how many jobs are waited for."""
        return len(batch_fill.read(self.folder).jobs)

    def is_right(self, endpoint: Endpoint) -> bool:
        """Return whether every passage has the vector that plain requests give it."""
        plain = self.config.model_copy(update={"batch": type(self.config.batch)()})
        ids = [row[0] for row in self.db.rows("SELECT id FROM passage ORDER BY id")]
        mine = self.vectors.code.vectors_for(ids)
        self.db.execute("DELETE FROM embedding")
        other = ProjectVectors(self.db, self.folder / "other", provider_for(plain), plain)
        list(other.fill(prose_seconds=0))
        return bool(np.allclose(mine, other.code.vectors_for(ids), atol=1e-6))


def said(number: int) -> str:
    return f"def function_{number}(): return {'x' * number}"


@every_kind
def test_a_run_that_waits_has_every_vector(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(20)))
    endpoint.polls = 2
    project = Project(db, endpoint, kind, wait=True)
    assert project.run() == (20, 20)
    assert project.jobs() == 0
    assert not (project.folder / batch_fill.FILE).exists()
    assert len(endpoint.jobs) == 2, "the last five texts are few enough for a plain request"
    assert not endpoint.files, "nothing is left at the endpoint"
    assert project.is_right(endpoint)


@every_kind
def test_a_run_that_does_not_wait_leaves_them_to_a_later_process(
    kind: str, db: Database, passages: Passages, endpoint: Endpoint
):
    passages.add(*map(said, range(30)))
    endpoint.polls = 1
    project = Project(db, endpoint, kind)
    done, _ = project.run()
    assert done == 0
    assert project.jobs() == 2
    assert any("2 batch jobs since" in note for note in project.vectors.take_news())
    heard = len(endpoint.heard)
    passages.add("def added(): a little later")
    kept = (project.folder / batch_fill.FILE).read_text()
    assert KEY not in kept
    assert "function_" not in kept
    vectors = project.reopen()
    assert any("2 batch jobs since" in note for note in vectors.notes)
    assert project.run()[0] == 0, "they are still running"
    assert endpoint.heard[heard:] == [], "the rest waits for its turn, and is not sent in plain requests"
    for _ in range(4):
        project.reopen()
        project.run()
    assert project.run() == (31, 31)
    assert not any("batch job" in note for note in project.vectors.notes)
    assert len(set(endpoint.heard)) == len(endpoint.heard), "nothing was sent twice"
    assert project.is_right(endpoint)


@every_kind
def test_few_texts_make_no_job(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(3)))
    project = Project(db, endpoint, kind)
    assert project.run() == (3, 3)
    assert not endpoint.jobs


@every_kind
def test_lines_that_failed_are_sent_again(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(15)))
    endpoint.line_fails = lambda at: at in {1, 3}
    project = Project(db, endpoint, kind, wait=True)
    assert project.run() == (15, 15)
    assert project.is_right(endpoint)


@pytest.mark.parametrize(("kind", "ends"), [("openai", "expired"), ("gemini", "failed"), ("voyage", "cancelled")])
def test_jobs_that_end_badly_twice_are_given_up_with_the_reason(
    kind: str, ends: str, db: Database, passages: Passages, endpoint: Endpoint
):
    passages.add(*map(said, range(15)))
    endpoint.ends = ends
    endpoint.line_fails = lambda _: True
    project = Project(db, endpoint, kind, wait=True, concurrency=1)
    assert project.run() == (15, 15)
    assert len(endpoint.jobs) == 2
    news = " ".join(project.vectors.take_news())
    assert "Batch jobs failed, so plain requests are sent" in news
    assert project.is_right(endpoint)
    passages.add(*map(said, range(30, 45)))
    project.reopen()
    assert project.run() == (30, 30)
    assert len(endpoint.jobs) == 2
    state = batch_fill.read(project.folder)
    batch_fill.write(project.folder, replace(state, failed_at=time.time() - 7200))
    endpoint.ends, endpoint.line_fails = "completed", lambda _: False
    passages.add(*map(said, range(50, 65)))
    project.reopen()
    assert project.run() == (45, 45)
    assert len(endpoint.jobs) > 2, "they are tried again after a while"
    assert not batch_fill.read(project.folder).failures


@pytest.mark.parametrize("kind", ["openai", "voyage"])
def test_what_an_expired_job_has_made_is_kept(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(7)))
    endpoint.ends = "expired"
    endpoint.line_fails = lambda at: at >= 4
    project = Project(db, endpoint, kind, wait=True)
    assert project.run() == (7, 7)
    assert len(endpoint.jobs) == 1
    assert project.is_right(endpoint)


@every_kind
def test_an_endpoint_without_jobs_gets_plain_requests(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(15)))
    endpoint.fails = lambda asked: (404, {}, "nothing here") if "/files" in asked or ":async" in asked else None
    project = Project(db, endpoint, kind)
    assert project.run() == (15, 15)
    assert "HTTP 404" in " ".join(project.vectors.take_news())
    assert sum("/files" in asked or ":async" in asked for asked, _, _ in endpoint.requests) == 1


@every_kind
def test_a_job_that_the_endpoint_forgot_is_sent_again(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(7)))
    project = Project(db, endpoint, kind)
    project.run()
    assert project.jobs() == 1
    endpoint.jobs.clear()
    project.reopen()
    project.run()
    assert project.jobs() == 1
    project.reopen()
    assert project.run() == (7, 7)


@every_kind
def test_an_endpoint_that_is_away_loses_no_job(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(7)))
    project = Project(db, endpoint, kind)
    project.run()
    endpoint.fails = lambda _: (503, {"Retry-After": "9999"}, "away")
    project.reopen()
    project.run()
    assert project.jobs() == 1
    endpoint.fails = lambda _: None
    project.reopen()
    assert project.run() == (7, 7)


def test_a_run_that_waits_ends_when_it_is_cancelled_or_has_waited_enough(
    db: Database, passages: Passages, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
):
    passages.add(*map(said, range(7)))
    endpoint.polls = 10_000
    project = Project(db, endpoint, "openai", wait=True, poll_interval_seconds=3600)
    cancel = Cancel()
    pause = batch_fill._pause
    monkeypatch.setattr(batch_fill, "_pause", lambda seconds, told: (cancel.set(), pause(seconds, told)))
    with pytest.raises(CancelledError):
        project.run(cancel)
    assert project.jobs() == 1
    monkeypatch.undo()
    brief = Project(db, endpoint, "openai", wait=True, timeout_minutes=0.001)
    assert brief.run()[0] < 7
    assert brief.jobs() == 1
    endpoint.jobs["batch_0"]["left"] = 0
    brief.reopen()
    assert brief.run() == (7, 7)


@every_kind
def test_no_job_holds_a_secret(kind: str, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*(f"{said(number)} token = '{GITHUB}'" for number in range(7)))
    Project(db, endpoint, kind).run()
    assert endpoint.jobs
    assert GITHUB.encode() not in endpoint.bytes
    assert b"[redacted: " in endpoint.bytes


def test_voyage_and_openai_are_ordered_as_they_want_it(db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(6)))
    for kind in ("openai", "voyage"):
        db.execute("DELETE FROM embedding")
        Project(db, endpoint, kind).run()
    orders = [body for asked, _, body in endpoint.requests if asked.endswith("/batches")]
    assert [(order["endpoint"], order["completion_window"]) for order in orders] == [
        ("/v1/embeddings", "24h"),
        ("/v1/embeddings", "12h"),
    ]
    assert orders[1]["request_params"] == {"model": "m", "input_type": "document"}
    uploads = [name for name in endpoint.files if name.startswith("file-")]
    first, second = (json.loads(endpoint.files[name].splitlines()[0]) for name in uploads)
    assert (first["url"], first["body"]["model"]) == ("/v1/embeddings", "m")
    assert set(second["body"]) == {"input"}


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("openai", "<html>"),
        ("voyage", {"id": "../../v1/evil"}),
        ("openai", {"id": 3}),
        ("gemini", {"name": "batches/../x"}),
        ("gemini", []),
        ("gemini", "null"),
    ],
)
def test_answers_that_are_no_job_are_refused(
    kind: str, content: Any, db: Database, passages: Passages, endpoint: Endpoint
):
    passages.add(*map(said, range(6)))
    endpoint.fails = lambda asked: (200, {}, content) if "/files" in asked or ":async" in asked else None
    project = Project(db, endpoint, kind)
    assert project.run() == (6, 6)
    assert "Batch jobs failed" in " ".join(project.vectors.take_news())


@pytest.mark.parametrize("damage", [b"\xff", b'{"jobs": 3}', b'{"jobs": [{"id": 1}]}'])
def test_a_damaged_note_of_jobs_is_no_traceback(damage: bytes, db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(6)))
    db.folder.joinpath(batch_fill.FILE).write_bytes(damage)
    project = Project(db, endpoint, "openai", wait=True)
    assert project.run() == (6, 6)


def test_vectors_in_base64_are_read(db: Database, passages: Passages, endpoint: Endpoint):
    import base64

    passages.add(*map(said, range(6)))
    numbers = endpoint.vector
    project = Project(db, endpoint, "openai", wait=True)
    endpoint.vector = lambda text: base64.b64encode(np.asarray(numbers(text), dtype="<f4").tobytes()).decode()  # type: ignore[assignment, return-value]
    assert project.run() == (6, 6)
    endpoint.vector = numbers
    assert project.is_right(endpoint)


def test_without_the_setting_there_are_no_jobs(db: Database, passages: Passages, endpoint: Endpoint, tmp_path: Path):
    passages.add(*map(said, range(20)))
    project = Project(db, endpoint, "openai", enabled=False)
    assert project.run() == (20, 20)
    assert not endpoint.jobs


def test_a_fallback_serves_until_the_jobs_are_fetched(db: Database, passages: Passages, endpoint: Endpoint):
    passages.add(*map(said, range(7)))
    project = Project(db, endpoint, "voyage", fallback="local")
    endpoint.fails = lambda _: (401, {}, "no")
    assert project.run() == (7, 7)
    endpoint.fails = lambda _: None
    project.reopen()
    assert project.run() == (7, 7), "those of the fallback"
    assert (project.jobs(), project.vectors.is_fallback) == (1, True)
    assert any("1 batch job since" in note for note in project.vectors.notes)
    project.reopen()
    assert project.run() == (7, 7)
    assert (project.jobs(), project.vectors.is_fallback) == (0, False)
    assert project.is_right(endpoint)
