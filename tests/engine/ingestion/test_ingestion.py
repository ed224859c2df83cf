"""Pipelines over what somebody gives, and over what happened; nothing twice, and nothing of what was erased."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.api import definition_trust
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from tests.engine.ingestion.conftest import SAID
from tests.forked import run_python

Pipeline = Callable[..., Path]
ZEBRAS = "Zebra releases are cut from the ibis branch, and bob@example.com signs them. " * 6


def logged(engine: Engine, type_: str = "said") -> list[str]:
    return [line for line in engine.read_memory(f"log://{type_}").text.split("\n\n") if line]


def test_every_destination_has_what_a_route_writes(engine: Engine, pipeline: Pipeline) -> None:
    pipeline()
    done = engine.ingest("said", ZEBRAS, values={"sessionId": "s1"})
    assert done.outcome == "done"
    assert {one.destination.partition("://")[0] for one in done.written} == {"vector", "kv", "log", "blob"}
    assert engine.read_memory("kv://sessions/s1").text.startswith("sessions/s1: Zebra releases are cut")
    assert "manual: Zebra" in logged(engine)[0]
    blob = next(one.destination for one in done.written if one.destination.startswith("blob"))
    assert "[mail]" in engine.read_memory(blob).text
    assert "bob@example.com" not in engine.read_memory(blob).text
    found = engine.read_memory("vector://said?query=where+are+zebra+releases+cut&min_score=0")
    assert "ibis branch" in found.text
    assert all(path.startswith("vector/said/") for path in found.paths)


def test_the_same_is_not_ingested_twice(engine: Engine, pipeline: Pipeline) -> None:
    pipeline()
    first = engine.ingest("said", ZEBRAS, values={"sessionId": "s1"})
    again = engine.ingest("said", ZEBRAS, values={"sessionId": "s1"})
    assert (again.outcome, again.id) == ("known", first.id)
    assert engine.ingest("said", ZEBRAS, values={"sessionId": "s2"}).outcome == "done"
    assert len(logged(engine)) == 2


def test_what_happens_starts_what_waits_for_it(engine: Engine, pipeline: Pipeline, root: Path) -> None:
    journal = Journal.of(root)
    journal.append("hook.edit", {"session": "s0", "agent": "codex", "paths": ["before.py"], "root": str(root)})
    pipeline()
    assert engine.ingest_pending() == (), "what happened before a pipeline was there is not ingested by itself"
    journal.append("hook.edit", {"session": "s1", "agent": "codex", "paths": ["shop.py"], "root": str(root)})
    journal.append("hook.git", {"hook": "post-commit", "arguments": [], "session": "s1", "root": str(root)})
    journal.append("hook.edit", {"session": "s1", "paths": ["elsewhere.py"], "root": "/somewhere/else"})
    engine.record_episode("how is the price made", type="task", answer="net times 1.19", session="s1", outcome="ok")
    engine.record_episode("break it", type="task", answer="it failed", session="s1", outcome="failed")
    done = engine.ingest_pending()
    assert [(one.trigger, one.outcome) for one in done] == [
        ("onAction", "done"), ("onTaskCompleted", "done"), ("onTaskFailure", "done"),
    ]  # fmt: skip
    assert engine.ingest_pending() == ()
    journal.append("hook.session-end", {"session": "s1", "agent": "codex", "root": str(root)})
    (end,) = engine.ingest_pending()
    assert end.trigger == "onConversationEnd"
    assert "how is the price made" in end.input
    assert engine.ingest_pending() == (), "what pipelines wrote starts none"


def test_a_session_that_is_quiet_is_over(
    engine: Engine, pipeline: Pipeline, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline(SAID.replace("[manual, onTaskCompleted, onTaskFailure, onConversationEnd", "[onConversationEnd"))
    engine.ingest_pending()
    engine.record_episode("how is the price made", type="task", answer="net times 1.19", session="s1", agent="codex")
    assert engine.ingest_pending() == ()
    monkeypatch.setattr("cm_tui.engine.context.ingestion.inputs.QUIET_S", -1.0)
    (end,) = engine.ingest_pending()
    assert (end.trigger, end.outcome) == ("onConversationEnd", "done")


def test_a_failed_step_is_kept_and_run_again(engine: Engine, pipeline: Pipeline) -> None:
    file = pipeline()
    failed = engine.ingest("said", ZEBRAS)
    assert failed.outcome == "failed"
    assert failed.failed_step == "routes[0] kv://sessions/{{sessionId}}"
    assert "'sessionId'" in failed.error
    assert engine.ingest_runs(outcome="failed").rows == (failed,)
    file.write_text(SAID.replace("sessions/{{sessionId}}", "sessions/all"))
    definition_trust.trust(engine.root, definition_trust.asking_files(engine.root))
    done = engine.ingest_again(failed.id[:6])
    assert (done.outcome, done.attempts, done.id) == ("done", 2, failed.id)
    texts = [event for event in Journal.of(engine.root).read() if event.kind == "ingest.vector"]
    assert len(texts) == len({event.data["item"] for event in texts}), "what the first try wrote is not written again"
    with pytest.raises(RefusedError, match="did not fail"):
        engine.ingest_again(failed.id)
    with pytest.raises(NotFoundError):
        engine.ingest_again("nothing")


def test_what_nobody_trusts_does_not_run(engine: Engine, pipeline: Pipeline, root: Path) -> None:
    file = pipeline(trusted=False)
    with pytest.raises(RefusedError, match="vector://said"):
        engine.ingest("said", "x")
    Journal.of(root).append("hook.edit", {"session": "s", "paths": ["a"], "root": str(root)})
    assert engine.ingest_pending() == ()
    definition_trust.trust(root, definition_trust.asking_files(root))
    assert engine.ingest("said", "x", values={"sessionId": "s"}).outcome == "done"
    file.write_text(SAID + "# changed\n")
    with pytest.raises(RefusedError):
        engine.ingest("said", "y")
    pipeline("name: own\ntriggers: [manual]\nroutes: [{writeTo: 'kv://x'}]\n", "own.yaml", trusted=False)
    assert engine.ingest("own", "only into .cm").outcome == "done"


def test_nothing_is_ingested_in_a_pause(engine: Engine, pipeline: Pipeline, root: Path) -> None:
    pipeline()
    engine.ingest_pending()
    gate.begin(Journal.of(root).folder.name, None)
    with pytest.raises(RefusedError, match="Nothing is ingested now"):
        engine.ingest("said", "x")
    Journal.of(root).append("hook.edit", {"session": "s", "paths": ["a"], "root": str(root)})
    assert engine.ingest_pending() == ()


def test_a_value_cannot_leave_its_destination(engine: Engine, pipeline: Pipeline, root: Path) -> None:
    pipeline("name: kv\ntriggers: [manual]\nroutes: [{writeTo: 'kv://sessions/{{sessionId}}'}]\n", "kv.yaml")
    for session in ("../../etc/passwd", "a/../b", "", "x" * 300, "*", "a\nb"):
        done = engine.ingest("kv", "x", values={"sessionId": session})
        assert done.outcome == "failed", session
        assert not (root / ".cm" / "memory" / "kv.json").exists(), session


def test_secrets_are_gone_before_anything_is_kept(engine: Engine, pipeline: Pipeline, cm_home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    pipeline()
    engine.ingest("said", f"the token is {secret} and so on")  # fails: its input is kept
    engine.ingest("said", f"the token is {secret}", values={"sessionId": "s", "note": secret})
    for place in (cm_home, engine.root / ".cm" / "memory"):
        for file in place.rglob("*"):
            assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_what_is_erased_leaves_nothing_that_pipelines_made_of_it(
    engine: Engine, pipeline: Pipeline, root: Path, cm_home: Path
) -> None:
    pipeline()
    engine.ingest_pending()
    kept = engine.record_episode("what stays is the okapi", type="task", answer="yes", session="s2")
    gone = engine.record_episode("the quagga is extinct", type="task", answer="sadly", session="s1")
    assert len(engine.ingest_pending()) == 2
    engine.assemble("tell me about the quagga", budget=500)
    engine.erase([gone.id])
    for place in (cm_home, root / ".cm" / "memory"):
        for file in place.rglob("*"):
            assert not file.is_file() or b"quagga" not in file.read_bytes(), file
    assert [one.event for one in engine.ingest_runs().rows if one.input] == [kept.id]
    assert "okapi" in engine.read_memory("kv://sessions/s2").text
    with pytest.raises(NotFoundError):
        engine.read_memory("kv://sessions/s1")
    assert engine.ingest_pending() == ()


def killed(root: str, at: str) -> None:
    """Ingest in a process that ends behind a write of some number."""
    from cm_tui.engine.context.ingestion import ledger

    real, count = ledger.Destinations.write, 0

    def write(*args: object, **values: object) -> str:
        nonlocal count
        count += 1
        said = real(*args, **values)  # type: ignore[arg-type]
        if count == int(at):
            os.kill(os.getpid(), signal.SIGKILL)
        return said

    ledger.Destinations.write = write  # type: ignore[method-assign, assignment]
    with Engine.open(Path(root)) as engine:
        engine.ingest_pending()


@pytest.mark.parametrize("at", [1, 3, 5])
def test_kill_9_in_a_run_writes_nothing_twice_and_loses_nothing(root: Path, pipeline: Pipeline, at: int) -> None:
    pipeline()
    with Engine.open(root) as engine:
        engine.ingest_pending()
        engine.record_episode(ZEBRAS, type="task", answer=ZEBRAS, session="s1")
    code = "import sys; from tests.engine.ingestion.test_ingestion import killed; killed(*sys.argv[1:])"
    assert run_python(code, str(root), str(at)).returncode == -signal.SIGKILL
    with Engine.open(root) as engine:
        (done,) = engine.ingest_pending()
        assert done.outcome == "done"
        items = [event.data["item"] for event in Journal.of(root).read() if event.kind.startswith("ingest.")]
        assert len(items) == len(set(items)) > 3
        assert engine.ingest_pending() == ()


def test_names_that_are_none(engine: Engine, pipeline: Pipeline) -> None:
    with pytest.raises(NotFoundError, match="Unknown pipeline: 'nosuch'"):
        engine.ingest("nosuch", "x")
    pipeline("name: said\ntriggers: [onSomething]\n", trusted=False)
    with pytest.raises(UsageError, match=r"said\.yaml:2:12.*onSomething"):
        engine.ingest("said", "x")


def test_a_torn_ledger_goes_on(engine: Engine, pipeline: Pipeline) -> None:
    pipeline()
    first = engine.ingest("said", "one", values={"sessionId": "s"})
    file = engine._ingestion.ledger.folder / "ledger.jsonl"
    with file.open("ab") as stream:
        stream.write(b'{"run": {"id": "torn')
    second = engine.ingest("said", "two", values={"sessionId": "s"})
    assert [one.id for one in engine.ingest_runs().rows] == [second.id, first.id]
    assert all(json.loads(line) for line in file.read_bytes().splitlines() if b"torn" not in line)


def test_a_thousand_runs_stay_quick(engine: Engine, pipeline: Pipeline, root: Path) -> None:
    pipeline("name: n\ntriggers: [onAction]\nroutes: [{writeTo: 'kv://last'}]\n", "n.yaml")
    engine.ingest_pending()
    records = [({"session": "s", "paths": [f"{number}.py"], "root": str(root)}, None) for number in range(450)]
    Journal.of(root).append_all("hook.edit", records)
    begun, runs = time.monotonic(), 0
    while done := engine.ingest_pending():
        runs += len(done)
    assert runs == 450
    assert time.monotonic() - begun < 60
