"""A pass: what is new is looked at once, in whatever slices and order, and comes to the same."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.episodes import retention
from cm_tui.engine.memory.episodes.changes import CONSOLIDATED
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.narrator import mining, pass_run
from cm_tui.engine.memory.narrator import tables as narrator_tables
from cm_tui.engine.memory.narrator.tables import TABLES, NarratorTables
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel, Step
from tests.engine.narrator.passes import DAY, WORKER, new_project, opened, passed, proposed, put, said, sayings, use
from tests.forked import run_python


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, sayings)
    yield from opened(new_project(tmp_path / "project"))


def some_work(seed: int, count: int = 120) -> list[tuple[int, EpisodeRecord]]:
    """Return turns of sessions that overlap, over two months."""
    chance = random.Random(seed)
    now, sessions = time.time(), [f"s{number}" for number in range(count // 5)]
    records = []
    for number in range(count):
        session = chance.choice(sessions)
        at = now - 60 * DAY + number * 60 * DAY / count
        steps = (Step("tool", chance.choice(["make", "pytest -q"]), "Bash", failed=chance.random() < 0.2),)
        records.append(
            (number, EpisodeRecord(
                agent="codex", session=session, at=at, steps=steps, answer=chance.choice(["", "yes", "no"]),
                prompts=(chance.choice(["always test", "always lint first", "why?"]),), files=(chance.choice("ab"),),
            ))
        )  # fmt: skip
    return records


def tables(engine: Engine) -> NarratorTables:
    return NarratorTables(engine._episodes.tables)


def test_what_is_new_is_looked_at_once(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    first = passed(engine)
    assert (first.episodes, first.observations, first.proposed, first.waiting) == (3, 3, 1, 1)
    assert passed(engine).episodes == 0
    put(engine.root, [(9, said("always test", "s9"))])
    again = passed(engine)
    assert (again.episodes, again.proposed, again.changed, again.withdrawn) == (1, 0, 0, 0)
    (one,) = proposed(engine)
    assert (one.support, one.sessions, one.text) == (4, 4, "always test")
    assert [found.quote for found in one.evidence] == ["“always test”"] * 4


def test_before_a_pass_it_says_so(engine: Engine):
    assert "cm narrate" in engine.narrated().note
    passed(engine)
    assert engine.narrated().note == ""


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_slices_in_whatever_order_come_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine, seed: int
):
    work = some_work(seed)
    put(engine.root, work)
    passed(engine)
    whole = proposed(engine)
    assert len(whole) > 3
    monkeypatch.setattr(pass_run, "_BATCH", 7)
    shuffled = random.Random(seed).sample(work, len(work))
    for other in opened(new_project(tmp_path / "sliced")):
        for start in range(0, len(shuffled), 17):
            put(other.root, shuffled[start : start + 17])
            passed(other)
        assert proposed(other) == whole


def test_old_ones_that_nobody_consolidated_are_looked_at_first(engine: Engine):
    ids = put(engine.root, [(n, said("why?", f"s{n}", days)) for n, days in enumerate((1, 50, 2, 40, 60))])
    Journal.of(engine.root).append(CONSOLIDATED, {"ids": [ids[1]], "actor": "narrator"})
    engine._episodes.index.follow()
    items = mining.due(tables(engine), time.time())
    assert [item.at.id for item in items] == [ids[4], ids[3], ids[1], ids[2], ids[0]]


def test_a_turn_is_looked_at_with_the_one_before_it_in_its_session(engine: Engine):
    put(
        engine.root,
        [(n, said("why?", f"s{n}", 3, answer="yes")) for n in range(3)]
        + [(n + 10, said("why?", f"s{n}", 1, files=("a",))) for n in range(3)],
    )
    passed(engine)
    assert [one.text for one in proposed(engine)] == ["yes a"]
    # One that was imported later stands between.
    put(engine.root, [(n + 20, said("why?", f"s{n}", 2, answer="no")) for n in range(3)])
    assert passed(engine).episodes == 6
    assert {one.text for one in proposed(engine)} == {"yes ", "no a"}


def test_what_is_forgotten_supports_nothing_and_is_not_quoted(engine: Engine):
    ids = put(engine.root, [(n, said("always test", f"s{n}")) for n in range(4)])
    passed(engine)
    engine.forget_memory(ids[0])
    # Before the next pass.
    (one,) = proposed(engine)
    assert (one.support, len(one.evidence), ids[0] in one.evidence_ids) == (3, 3, False)
    passed(engine)
    assert proposed(engine) == [one]
    engine.forget_memory(ids[0], undo=True)
    passed(engine)
    assert proposed(engine)[0].support == 4
    for id_ in ids:
        engine.forget_memory(id_)
    assert proposed(engine) == []
    assert passed(engine).withdrawn == 1
    assert [tables(engine).rows(f"SELECT count(*) FROM {name}")[0][0] for name in TABLES[:5]] == [0] * 5


def test_what_is_archived_counts_and_is_quoted_from_there(engine: Engine):
    ids = put(engine.root, [(n, said("always test", f"s{n}", 100)) for n in range(3)])
    passed(engine)
    Journal.of(engine.root).append(CONSOLIDATED, {"ids": ids, "actor": "narrator"})
    before = proposed(engine)
    assert retention.retention(engine._episodes, apply=True, older_than=None).archived == 3
    passed(engine)
    assert proposed(engine) == before
    assert {found.quote for found in before[0].evidence} == {"“always test”"}


def test_what_the_narrator_recorded_is_no_evidence(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}", actor="narrator")) for n in range(4)])
    assert passed(engine).episodes == 0
    assert proposed(engine) == []


def test_what_an_agent_reports_is_no_evidence(tmp_path: Path):
    with Engine.open(new_project(tmp_path / "reported")) as engine:
        for number in range(6):
            for prompt in ("Always push straight to main.", "! make ship-it", "From now on we never write tests."):
                engine.record_episode(
                    prompt, type="task", actor="agent", agent="codex", session=f"s{number}", files=("a.py", "b.py")
                )
        passed(engine)
        assert proposed(engine) == []
        passed(engine)
        assert engine.work_state(session="s5").session == "s5"


def test_what_a_hook_recorded_with_its_transcript_is_evidence(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}", origin=f"{n:032x}", stop=f"{n:024x}")) for n in range(4)])
    passed(engine)
    assert [one.text for one in proposed(engine)] == ["always test"]


def test_what_was_redacted_is_no_fact(engine: Engine):
    put(engine.root, [(n, said("always use [redacted: slack token]", f"s{n}")) for n in range(4)])
    assert passed(engine).observations == 0


def test_a_trial_keeps_nothing(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(4)])
    trial = passed(engine, dry_run=True)
    assert (trial.dry_run, trial.episodes, trial.proposed, trial.proposals[0].text) == (True, 4, 1, "always test")
    assert engine.narrated().total == 0
    assert all(tables(engine).rows(f"SELECT count(*) FROM {name}") == [(0,)] for name in TABLES[:8])
    assert passed(engine).episodes == 4


def test_only_what_stands_on_something_recent_is_reported_where_that_is_asked(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}", 20)) for n in range(3)])
    put(engine.root, [(n + 9, said("always lint", f"t{n}", 2)) for n in range(3)])
    report = passed(engine, since=time.time() - 7 * DAY)
    assert ([one.text for one in report.proposals], report.waiting) == (["always lint"], 2)


def test_a_miner_that_fails_hinders_no_other_and_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(3)] + [(9, said("break", "s9"))])
    report = passed(engine)
    assert report.episodes == 4
    assert report.notes == ("skipped: sayings: ValueError (1 times)",)
    assert report.waiting == 1


def test_other_miners_look_at_everything_anew(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    passed(engine)
    use(monkeypatch, version=2)
    again = passed(engine)
    assert (again.episodes, again.withdrawn, again.waiting) == (3, 1, 0)


@pytest.fixture
def processes_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes are looked at in small tasks, by other processes."""
    monkeypatch.setattr(mining, "_START", WORKER)
    monkeypatch.setattr(mining, "_TASK_ITEMS", 10)
    monkeypatch.setattr(pass_run, "_BATCH", 20)


@pytest.mark.usefixtures("processes_of_tests")
def test_what_was_looked_at_by_a_pass_that_is_cancelled_is_kept(engine: Engine):
    put(engine.root, some_work(1, 100))
    cancel = Cancel()
    steps = engine.narrate(cancel=cancel)
    while next(steps).done < 50:
        pass
    cancel.set()
    with pytest.raises(CancelledError):
        list(steps)
    rest = passed(engine)
    assert 0 < rest.episodes <= 50
    assert tables(engine).rows("SELECT count(*) FROM narrator_turn")[0][0] == 100


@pytest.mark.usefixtures("processes_of_tests")
def test_an_episode_that_ends_the_process_that_looks_at_it_costs_no_other(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(30)] + [(99, said("die", "s99"))])
    report = passed(engine)
    assert (report.episodes, report.waiting) == (31, 1)
    assert report.notes == ("skipped: episodes that could not be read (1 times)",)
    assert proposed(engine)[0].support == 30
    assert passed(engine).episodes == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("moments", [(5, 20, 33, 55), (5, 12, 20, 27, 33, 40, 55)])
def test_kill_9_at_any_moment_then_a_pass_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine, moments: tuple[int, ...]
):
    work = some_work(4, 100)
    put(engine.root, work)
    passed(engine)
    root = new_project(tmp_path / "killed")
    put(root, work)
    code = "import sys; from tests.engine.narrator.passes import narrate_and_die; narrate_and_die(*sys.argv[1:])"
    ends = [run_python(code, str(root), str(statements)).returncode for statements in moments]
    assert ends.count(-signal.SIGKILL) >= len(ends) - 2
    for other in opened(root):
        passed(other)
        assert proposed(other) == proposed(engine)
        counts = [f"SELECT count(*) FROM {name}" for name in TABLES[:4]]
        assert [tables(other).rows(sql) for sql in counts] == [tables(engine).rows(sql) for sql in counts]


def test_another_journal_is_looked_at_anew(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    passed(engine)
    journal = Journal.of(engine.root)
    for segment in journal.segments():
        journal.file(segment).unlink()
    put(engine.root, [(n + 50, said("always lint", f"s{n}")) for n in range(4)])
    assert passed(engine).episodes == 4
    assert [one.text for one in proposed(engine)] == ["always lint"]


def test_the_ids_of_withdrawn_proposals_are_bounded_and_none_is_announced_twice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(narrator_tables, "_WITHDRAWN", 3)
    tables = NarratorTables(EpisodeTables(None))
    announced = list[str]()
    for number in range(10):
        # One stays all the time; each of the others is withdrawn by the next pass.
        now = {"stays": "a", f"n{number}": "b"}
        announced += now.keys() - tables.told().keys()
        tables.store_proposals(now)
    assert sorted(announced) == [*(f"n{number}" for number in range(10)), "stays"]
    assert tables.proposed_before() == {"stays", "n9", "n8", "n7", "n6"}
    tables.store_proposals({"stays": "a", "n8": "b"})
    assert tables.told() == {"stays": "a", "n8": "b"}
    assert tables.proposed_before() == {"stays", "n8", "n9", "n7", "n6"}
