"""Counts of recalls: none are lost, they outlive the index and go with what they are about."""

from __future__ import annotations

import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.recording import pause, resume
from cm_tui.engine.memory.recalls import recall_log
from cm_tui.engine.memory.recalls.recall_log import RecallLog
from tests.forked import Python


@pytest.fixture
def log(tmp_path: Path) -> RecallLog:
    return RecallLog(tmp_path / "recalls/shop.jsonl")


def file_of(log: RecallLog) -> Path:
    return log._file


def test_counts_say_how_often_when_and_by_whom(log: RecallLog):
    before = time.time()
    log.note(["entry/a", "entry/b", "entry/a"], "person")
    log.note(["entry/a"], "codex")
    found = log.counts(["entry/a", "entry/c"])
    assert set(found) == {"entry/a"}
    one = found["entry/a"]
    assert (one.times, {by.who: by.times for by in one.by}) == (2, {"person": 1, "codex": 1})
    assert one.last is not None
    assert one.last >= before
    assert RecallLog(file_of(log)).counts()["entry/a"].times == 2
    assert stat.S_IMODE(file_of(log).stat().st_mode) == 0o600


def test_a_script_that_asks_in_a_loop_counts_once_a_minute(log: RecallLog, monkeypatch: pytest.MonkeyPatch):
    now = [1_000.0]
    monkeypatch.setattr(recall_log.time, "time", lambda: now[0])
    found = []
    for wait in (0, 1, 59, 59, 60, 1):
        now[0] += wait
        found.append(log.is_repeat(["entry/a", "entry/b"], "person"))
    assert found == [False, True, True, True, False, True]
    assert not log.is_repeat(["entry/a"], "person"), "another answer"
    assert not log.is_repeat(["entry/a", "entry/b"], "codex"), "another reader"
    now[0] -= 3_600
    assert not log.is_repeat(["entry/a", "entry/b"], "codex"), "a clock that was set back hides nothing"


def test_many_at_once_lose_no_count(log: RecallLog):
    def ask(who: str) -> None:
        own = RecallLog(file_of(log))
        for _ in range(20):
            own.note(["entry/a"], who)

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert log.counts()["entry/a"].times == 80


def test_a_killed_process_loses_no_count(log: RecallLog):
    code = (
        "import signal, sys; from pathlib import Path; from cm_tui.engine.memory.recalls.recall_log import RecallLog\n"
        "log = RecallLog(Path(sys.argv[1])); log.note(['entry/a'], 'person'); print('there', flush=True); signal.pause()"
    )
    running = Python(code, str(file_of(log)))
    assert running.lines(1) == ["there"]
    assert running.kill().returncode == -signal.SIGKILL
    assert log.counts()["entry/a"].times == 1
    with file_of(log).open("ab") as file:
        file.write(b'["entry/a", "person", 4')
    log.note(["entry/b"], "person")
    assert {path: one.times for path, one in log.counts().items()} == {"entry/a": 1, "entry/b": 1}


def test_a_long_file_becomes_sums_of_what_was_recalled_last(log: RecallLog, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recall_log, "_LONG_BYTES", 2_000)
    monkeypatch.setattr(recall_log, "MOST_ROWS", 5)
    for number in range(60):
        log.note([f"entry/{number}", "entry/often"], "person")
    assert len(file_of(log).read_bytes()) < 4_000
    found = log.counts()
    assert (found["entry/often"].times, found["entry/59"].times) == (60, 1)
    assert "entry/0" not in found, "of more than are kept the last ones are"


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"[1,2,3,4]\n", b'["a","b",true,1]\n', b'{"x": 1}\n', b"[" * 9_000])
def test_whatever_the_file_says_is_a_count_or_nothing(log: RecallLog, junk: bytes):
    file_of(log).parent.mkdir()
    file_of(log).write_bytes(junk + b'\n["entry/a", "person", 2, 5.0]\n')
    assert {path: one.times for path, one in log.counts().items()} == {"entry/a": 2}


def test_counts_outlive_the_index_and_go_with_what_is_erased(tmp_path: Path):
    root = tmp_path / "shop"
    root.mkdir()
    with Engine.open(root) as engine:
        list(engine.index())
        one, two = engine.remember("Tests need redis."), engine.remember("Round half up.")
        engine.note_recalled([f"entry/{one.id}", f"entry/{two.id}"], actor="agent", agent="codex")
        list(engine.rebuild())
        assert [found.times for found in engine.recall_counts([f"entry/{one.id}", "entry/none"])] == [1, 0]
        engine.forget_memory(one.id)
        assert engine.recall_counts([f"entry/{one.id}"])[0].times == 1, "what is forgotten can come back"
        engine.erase([one.id])
        assert [found.times for found in engine.recall_counts([f"entry/{one.id}", f"entry/{two.id}"])] == [0, 1]
        engine.reset(drop_episodes=True)
        assert engine.recall_counts([f"entry/{two.id}"])[0].times == 0
    assert not any(one.id in file.read_text() for file in (paths.data_dir() / "recalls").glob("*.jsonl"))


def test_nothing_is_counted_in_a_pause(tmp_path: Path):
    root = tmp_path / "shop"
    root.mkdir()
    with Engine.open(root) as engine:
        pause(root)
        engine.note_recalled(["entry/a"])
        resume(root)
        assert engine.recall_counts(["entry/a"])[0].times == 0
        engine.note_recalled(["entry/a"])
        assert engine.recall_counts(["entry/a"])[0].times == 1, "what was asked in the pause is no repeat"
