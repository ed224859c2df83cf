"""What is erased is gone from every file, comes back by no way, and takes nothing else along."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.erasure.selection import Selection
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal import erasure
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, StoreError, UsageError
from tests.engine.erasure.conftest import SECRET, WORDS, index, say, stored, turn
from tests.forked import run_python


def found(engine: Engine, query: str) -> list[str]:
    hits = engine.search(query, profile="memory", limit=100).hits
    return [hit.path for hit in hits if query.split(maxsplit=1)[0] in hit.snippet]


def test_the_scan_says_where_what_and_how_many_and_never_the_secret(engine: Engine, leaky: list[Event]):
    report = engine.secrets()
    by_id = {one.id: one for one in report.findings if one.place == "journal"}
    assert set(by_id) == {leaky[0].id, leaky[2].id, leaky[3].id}
    one = by_id[leaky[3].id]
    assert (one.event, one.agent, one.time, one.kind, one.count) == (
        "episode",
        "codex",
        leaky[3].time,
        "slack token",
        3,
    )
    others = {(one.place, one.where.rpartition("/")[2], one.count) for one in report.findings if not one.id}
    assert others == {("index", leaky[3].id, 2), ("file", "0123456789abcdef.json", 1), ("file", "daemon.log", 1)}
    assert report.in_source == 0
    assert SECRET not in repr(report)
    assert SECRET[:12] not in repr(report)


def test_secrets_of_source_files_are_counted_apart(engine: Engine):
    (engine.root / "settings.py").write_text(f'SLACK = "{SECRET}"\n')
    index(engine)
    report = engine.secrets()
    assert (report.findings, report.in_source) == ((), 1)


@pytest.mark.parametrize("written", [".wal", ".duckdb"])
def test_nothing_of_an_erased_turn_is_in_any_file(engine: Engine, leaky: list[Event], written: str):
    if written == ".duckdb":
        engine._db.shrink()
    assert {name.split("/")[0] for name in stored(SECRET)} == {"data", "state"}
    assert [Path(name).suffix for name in stored("zanzibar")] == [".jsonl", written]
    report = engine.erase([leaky[3].id])
    assert [event.id for event in report.events] == [event.id for event in leaky]
    assert [Path(file).name for file in report.files] == ["daemon.log", "0123456789abcdef.json"]
    # As DuckDB leaves them while it is open, and after it was closed.
    assert stored(SECRET) == stored("zanzibar") == stored("tortoise") == []
    engine.close()
    assert stored(SECRET) == stored("zanzibar") == stored("tortoise") == []


def test_text_that_was_copied_goes_with_what_it_repeats(engine: Engine):
    prompt = "where does the heron keep its umbrella"
    events = turn(engine, prompt)
    paths.private_dir(paths.state_dir())
    paths.clipboard_file().write_text("# Something else\n")
    engine.erase([events[0].id])
    assert paths.clipboard_file().exists()
    events = turn(engine, prompt)
    paths.clipboard_file().write_text(f"# Episode\n\n> {prompt}\n")
    engine.erase([events[0].id])
    assert stored(prompt) == []


def test_what_else_there_is_stays(engine: Engine, leaky: list[Event]):
    before = {event.id: event for event in Journal.of(engine.root).read()}
    engine.erase(found=True)
    after = {event.id: event for event in Journal.of(engine.root).read()}
    gone = {event.id for event in leaky}
    assert {name: event for name, event in after.items() if name in before and name not in gone} == {
        name: event for name, event in before.items() if name not in gone
    }
    assert found(engine, WORDS) == []
    assert len(found(engine, "pave driveway")) == len(found(engine, "plant hedge")) == 1
    assert [one.path for one in engine.search("gravel").hits] == ["a.py"]
    assert engine.episodes().total == 2
    status = engine.status()
    assert status.passages == status.embedded == 3
    log = (paths.state_dir() / "daemon.log").read_text()
    assert log.splitlines()[::2] == ["12:00 INFO opened", "12:02 INFO closed"]
    assert f"ä {'*' * len(SECRET)} failed" in log
    remembered = json.loads((paths.state_dir() / "projects" / "0123456789abcdef.json").read_text())
    assert remembered["screens"]["search"]["last"][0].lower() == "where is [redacted: slack token]"
    assert engine.secrets().findings == ()


def test_it_comes_back_by_no_way(engine: Engine, leaky: list[Event]):
    engine.erase(found=True)
    index(engine)
    index(engine, full=True)
    for _ in engine.rebuild():
        pass
    for _ in range(2):
        # A daemon that has lost its place reads everything from the beginning.
        consumer = JournalConsumer(lambda *_: None)
        consumer.on_nudge(engine.root)
        consumer.close()
        for file in (paths.state_dir() / "hook").glob("*.json"):
            file.unlink()
    assert [event.kind for event in Journal.of(engine.root).read()].count("episode") == 2
    assert stored(SECRET) == stored("zanzibar") == []
    assert engine.episodes().total == 2
    assert leaky[3].id not in {one.id for one in engine.episodes().rows}
    with pytest.raises(NotFoundError):
        engine.episode(leaky[3].id)


def test_any_event_of_a_turn_takes_the_whole_turn(engine: Engine, leaky: list[Event]):
    ids = [event.id for event in leaky]
    for one in ids:
        assert [event.id for event in engine.erase([one], dry_run=True).events] == ids
    assert stored(SECRET)


def test_turns_of_other_sessions_and_other_events_stay(engine: Engine):
    first = say(engine, "hook.prompt", prompt="one")
    other = say(engine, "hook.prompt", "another", prompt="two")
    git = say(engine, "hook.git", hook="post-commit")
    stop = say(engine, "hook.stop", answer="ok")
    after = say(engine, "hook.prompt", prompt="three")
    chosen = [event.id for event in engine.erase([first.id], dry_run=True).events]
    assert chosen == [first.id, stop.id]
    assert [event.id for event in engine.erase([other.id, git.id], dry_run=True).events] == [other.id, git.id]
    assert [event.id for event in engine.erase([after.id], dry_run=True).events] == [after.id]


def test_a_turn_that_is_under_way_is_not_recorded_with_what_was_erased(engine: Engine):
    consumer = JournalConsumer(lambda *_: None)
    prompt = say(engine, "hook.prompt", prompt=f"use {SECRET}")
    consumer.on_nudge(engine.root)
    assert [event.id for event in engine.erase(found=True).events] == [prompt.id]
    say(engine, "hook.prompt", prompt="and now another")
    say(engine, "hook.stop", answer="ok")
    consumer.on_nudge(engine.root)
    consumer.close()
    [episode] = [event for event in Journal.of(engine.root).read() if event.kind == "episode"]
    assert episode.data["prompts"] == ["and now another"]
    assert stored(SECRET) == []


def test_a_stop_that_is_being_recorded_meanwhile_gets_no_episode(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.projection import journal_consumer

    say(engine, "hook.prompt", prompt=f"use {SECRET}")
    say(engine, "hook.stop", answer="ok")
    record = journal_consumer.record_turn

    def slow(*words, **named):
        made = record(*words, **named)
        engine.erase(found=True)
        return made

    monkeypatch.setattr(journal_consumer, "record_turn", slow)
    consumer = JournalConsumer(lambda *_: None)
    consumer.on_nudge(engine.root)
    consumer.close()
    assert [event.kind for event in Journal.of(engine.root).read()] == ["erased", "erased", "journal.erased"]
    assert stored(SECRET) == []


def test_debris_can_be_erased_by_its_place(engine: Engine):
    journal = Journal.of(engine.root)
    say(engine, "hook.git", hook="post-commit")
    with journal.file(1).open("ab") as file:
        file.write(b'{"id":"x","data":{"prompt":"' + SECRET.encode())
    last = say(engine, "hook.git", hook="post-merge")
    [finding] = engine.secrets().findings
    assert (finding.id.startswith("1:"), finding.event) == (True, "")
    report = engine.erase([finding.id])
    assert (report.events, report.lines) == ((), 1)
    assert stored(SECRET) == []
    assert journal.problems() == ()
    assert journal.holds(last.position, last.id)


def test_a_last_line_that_was_cut_off_goes_as_well(engine: Engine):
    journal = Journal.of(engine.root)
    say(engine, "hook.git", hook="post-commit")
    with journal.file(1).open("ab") as file:
        file.write(b'{"id":"x","data":{"prompt":"' + SECRET.encode())
    assert engine.erase(found=True).lines == 1
    assert stored(SECRET) == []
    assert journal.problems() == ()
    after = say(engine, "hook.git", hook="post-merge")
    assert [event.id for event in journal.read()][-1] == after.id


def test_names_that_are_wrong(engine: Engine, leaky: list[Event]):
    for names, error in (
        (["nothing-like-it"], NotFoundError), (["1:99999"], NotFoundError), (["abc"], UsageError), ([], UsageError),
        ([leaky[0].id[:5]], UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            engine.erase(names)
    assert stored(SECRET)


def test_erasing_twice_is_once(engine: Engine, leaky: list[Event]):
    engine.erase([leaky[3].id])
    before = [event.id for event in Journal.of(engine.root).read()]
    assert engine.erase([leaky[3].id]).events == ()
    assert [event.id for event in Journal.of(engine.root).read()][: len(before)] == before


@pytest.mark.few(2)
@pytest.mark.parametrize("place", ["erase_lines", "_rewrite", "_recreate_memory"])
def test_an_erasure_that_was_killed_is_told_of_and_finished_by_the_next(
    engine: Engine, leaky: list[Event], monkeypatch: pytest.MonkeyPatch, place: str
):
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(engine if place == "_recreate_memory" else erasure, place, killed)
        with pytest.raises(KeyboardInterrupt):
            engine.erase([leaky[3].id])
    assert engine.secrets().interrupted
    assert stored("zanzibar")
    if place != "erase_lines":
        # From when the journal says so it is no longer told, wherever the rest is.
        assert leaky[3].id not in {one.id for one in engine.episodes().rows}
    other = turn(engine, "mow the lawn")
    report = engine.erase([other[0].id])
    assert report.notes
    assert stored(SECRET) == stored("zanzibar") == stored("lawn") == []
    assert not engine.secrets().interrupted
    assert engine.episodes().total == 2


def test_an_index_that_cannot_be_written_anew_goes(engine: Engine, leaky: list[Event], monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("cm_tui.engine.platform.store.rewrite.rewrite_store", full)
        assert "cm index" in " ".join(engine.erase(found=True).notes)
    assert stored(SECRET) == stored("zanzibar") == []
    index(engine)
    assert engine.search("gravel").hits
    assert found(engine, "pave driveway")


def test_what_grows_meanwhile_is_taken_along(engine: Engine, leaky: list[Event]):
    selection = Selection(Journal.of(engine.root), [leaky[0].id], found=False)
    record = {"prompts": ["again"], "stop": leaky[2].id}
    late = say(engine, "episode", **record)
    assert late.id not in {one.line.left[0] for one in selection.chosen if one.line.left}
    selection.read_on(held=True)
    assert late.id in {one.line.left[0] for one in selection.chosen if one.line.left}


KILLED = """
import os, signal, sys
from pathlib import Path
from cm_tui.engine.api.engine import Engine

engine = Engine.open(Path(sys.argv[1]))
left = int(sys.argv[2])

def dying(name):
    whole = getattr(os, name)
    def step(*words, **named):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*words, **named)
    setattr(os, name, step)

for name in ("write", "fsync", "replace", "unlink", "rename"):
    dying(name)
engine.erase([sys.argv[3]])
print(int(sys.argv[2]) - left)
"""


@pytest.mark.skipif(os.name == "nt", reason="kills itself")
@pytest.mark.parametrize("step", [2, 8, 14, 20, *(pytest.param(step, marks=pytest.mark.deep) for step in (5, 11, 17))])
def test_kill_9_at_any_step_is_finished_by_the_next_erasure(engine: Engine, leaky: list[Event], step: int):
    root, others = engine.root, [event for event in Journal.of(engine.root).read() if event not in leaky]
    engine.close()
    done = run_python(KILLED, str(root), str(step), leaky[3].id)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Engine.open(root) as again:
        assert again.search("gravel").hits
        assert again.secrets().interrupted or again.secrets().findings
        again.erase(found=True)
        assert not again.secrets().interrupted
        assert stored(SECRET) == stored("zanzibar") == []
        assert len(found(again, "pave driveway")) == len(found(again, "plant hedge")) == 1
        assert [event for event in Journal.of(root).read() if event.kind not in {"erased", "journal.erased"}] == others
    assert list(paths.data_dir().rglob("*.cm-new*")) == []
