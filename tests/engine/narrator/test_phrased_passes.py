"""A pass with a language model, the whole way: what it costs is told before and after, and what fails is done without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui import paths
from cm_tui.engine.api import recording
from cm_tui.engine.api.engine import Engine
from cm_tui.model import NarratedDecision, NarratedFilter
from tests.engine.narrator.model.chat_server import ChatServer, serving, tidy
from tests.engine.narrator.passes import new_project, opened, passed, put, said, sayings, use

FACT = "always run the quick tests"
BETTER = "Always run the quick tests."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving() as answering:
        answering.phrase = tidy
        yield answering


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, sayings)
    for engine in opened(new_project(tmp_path / "project")):
        put(engine.root, [(n, said(FACT, f"s{n}", 3 - n)) for n in range(3)])
        yield engine


def mean(url: str, name: str = "tiny") -> None:
    """Have the user's own settings name a model."""
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'[narrator.model]\nenabled = true\nname = "{name}"\nbase_url = "{url}"\ntimeout_seconds = 0.5\n')


def texts(engine: Engine, *states: Any) -> list[str]:
    return [one.text for one in engine.narrated(NarratedFilter(states or ("waiting",))).rows]


def test_a_pass_asks_once_and_tells_what_it_took(engine: Engine, server: ChatServer):
    mean(server.url)
    trial = passed(engine, dry_run=True)
    assert (server.heard, trial.cost.calls, trial.cost.used, trial.cost.model) == ([], 0, 0, "tiny")
    assert trial.cost.estimated > 0
    done = passed(engine)
    assert (done.cost.calls, done.cost.used, done.cost.estimated) == (1, 100, trial.cost.estimated)
    assert [one.text for one in done.proposals] == texts(engine) == [BETTER]
    (one,) = engine.narrated().rows
    assert (one.phrased_by, engine.narrated_proposal(one.id).text) == ("tiny", BETTER)
    assert engine.narrator_cost().estimated == 0
    again = passed(engine)
    assert (again.cost.calls, again.proposed, again.changed, again.withdrawn, len(server.heard)) == (0, 0, 0, 0, 1)
    assert [each.quote for each in engine.narrated_proposal(one.id).evidence] == [f"“{FACT}”"] * 3


def test_what_was_phrased_is_decided_and_taken_back(engine: Engine, server: ChatServer):
    passed(engine)
    (plain,) = engine.narrated().rows
    mean(server.url)
    passed(engine)
    (one,) = engine.narrated().rows
    assert (one.id, one.claims) == (plain.id, plain.claims)
    (done,) = engine.decide_narrated([f"{one.id}@{one.digest}"], NarratedDecision("approve"))
    assert done.done, done.problem
    note = engine.root / ".cm" / "notes" / "project.md"
    assert f"- {BETTER} <!-- cm:narrator {one.id} -->" in note.read_text()
    assert (texts(engine), texts(engine, "approved")) == ([], [BETTER])
    paths.config_file().write_text("")
    assert (texts(engine), texts(engine, "approved")) == ([], [BETTER]), "what was approved is what was written"
    engine.undo_narrated(one.id)
    assert BETTER not in (note.read_text() if note.exists() else "")
    assert texts(engine) == [FACT]


def test_a_rejection_holds_for_whatever_words(engine: Engine, server: ChatServer):
    mean(server.url)
    passed(engine)
    (one,) = engine.narrated().rows
    (done,) = engine.decide_narrated([one.id], NarratedDecision("reject", "nobody does"))
    assert done.done, done.problem
    server.phrase = lambda items: {
        "items": [{"id": each["id"], "text": "Run the quick tests always."} for each in items]
    }
    mean(server.url, "other")
    put(engine.root, [(9, said(FACT, "s9"))])
    report = passed(engine)
    assert (report.proposed, texts(engine)) == (0, [])
    paths.config_file().write_text("")
    assert texts(engine) == []


def test_in_a_pause_nothing_is_sent(engine: Engine, server: ChatServer):
    mean(server.url)
    recording.pause(engine.root)
    report = passed(engine)
    assert (server.heard, texts(engine)) == ([], [FACT])
    assert report.cost.notes == ("recording is paused: nothing is sent to tiny",)


def test_a_repository_names_no_model(engine: Engine, server: ChatServer):
    (engine.root / ".cm").mkdir(exist_ok=True)
    named = f'[narrator.model]\nenabled = true\nname = "tiny"\nbase_url = "{server.url}"\n'
    (engine.root / ".cm" / "config.toml").write_text(named)
    assert (passed(engine).cost.model, server.heard, texts(engine)) == ("", [], [FACT])
