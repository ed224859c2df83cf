import os
import signal
import sys

import pytest

from cm_tui.engine.code.parse import pool as pools
from cm_tui.engine.code.parse.pool import Pool
from cm_tui.engine.code.parse.records import merge
from cm_tui.engine.code.parse.worker import Task, parse_batch

BODY = "\n".join(f"def f{n}(a, b):\n    return g{n}(a)\n" for n in range(20)).encode()


def tasks(count, data=BODY):
    return [Task(n + 1, f"{n:040x}", "python", data) for n in range(count)]


@pytest.fixture
def guard(tmp_path):
    return tmp_path / "parsing"


@pytest.fixture
def small_batches(monkeypatch):
    """Processes are used for a few blobs, in several batches."""
    monkeypatch.setattr(pools, "SMALL_BYTES", 2_000)
    monkeypatch.setattr(pools, "BATCH_BYTES", 6_000)


@pytest.fixture(autouse=True)
def _batches(request):
    if "little" not in request.node.name:
        request.getfixturevalue("small_batches")


def test_processes_give_what_this_process_gives_in_the_same_order(guard):
    work = tasks(80)
    pool = Pool(2, 60, guard)
    try:
        spread = merge(list(pool.parse(iter(work))))
    finally:
        pool.close()
    assert len(pool._workers) == 0
    assert spread == parse_batch(work)
    assert spread["blob"]["id"] == list(range(1, 81))
    assert len(spread["symbol"]["name"]) == 80 * 20


def test_little_work_starts_no_process(guard):
    pool = Pool(2, 60, guard)
    batches = list(pool.parse(iter(tasks(3))))
    assert pool._threads is None
    assert batches[0]["blob"]["id"] == [1, 2, 3]
    assert not guard.exists()


def test_no_work_is_no_work(guard):
    assert list(Pool(2, 60, guard).parse(iter([]))) == []


def test_a_guard_left_behind_moves_even_little_work_to_a_process(guard):
    guard.touch()
    pool = Pool(1, 60, guard)
    try:
        assert merge(list(pool.parse(iter(tasks(2)))))["blob"]["id"] == [1, 2]
        assert pool._threads is not None
    finally:
        pool.close()
    assert not guard.exists()


# A worker whose parser ends badly on the blob that says so.
BAD_WORKER = """
import os, time
import cm_tui.engine.code.parse.worker as worker
real = worker.parse_tasks
def parse_tasks(tasks):
    for task in tasks:
        if b"crash" in task.data and not task.failed:
            os.kill(os.getpid(), 9)
        if b"spin" in task.data and not task.failed:
            while True:
                pass
        if b"hang" in task.data and not task.failed:
            time.sleep(600)
        if b"slow" in task.data:
            time.sleep(1.5)
        if b"once" in task.data and not os.path.exists(task.data.split()[-1]):
            open(task.data.split()[-1], "w").close()
            os.kill(os.getpid(), 9)
    yield from real(tasks)
worker.parse_tasks = parse_tasks
worker.main()
"""


@pytest.mark.parametrize(
    ("word", "why", "patience"),
    [
        ("crash", "crashed, twice", 60),
        # A busy machine gives it its second of CPU only after a while.
        ("spin", "longer than 1 s of CPU", 60),
        ("hang", "did not respond for 4 s, twice", 4),
    ],
)
def test_a_blob_that_ends_the_parser_is_cut_by_lines_and_says_so(guard, monkeypatch, word, why, patience):
    monkeypatch.setattr(pools, "_START", BAD_WORKER)
    work = tasks(90)
    work[40] = work[40]._replace(data=b"def bad():\n    pass  # " + word.encode() + b"\n")
    pool = Pool(2, 1, guard, patience=patience)
    try:
        rows = merge(list(pool.parse(iter(work))))
    finally:
        pool.close()
    assert rows["blob"]["id"] == list(range(1, 91))
    errors = {n: error for n, error in zip(rows["blob"]["id"], rows["blob"]["error"], strict=True) if error}
    assert list(errors) == [41]
    assert why in errors[41]
    assert rows["blob"]["language"][40] == "python"
    assert 41 in rows["chunk"]["blob"]
    assert 41 not in rows["symbol"]["blob"]
    assert {42, 90} <= set(rows["symbol"]["blob"])


def test_time_in_which_others_have_the_machine_does_not_count(guard, monkeypatch):
    monkeypatch.setattr(pools, "_START", BAD_WORKER)
    work = tasks(90)
    work[40] = work[40]._replace(data=BODY + b"# slow\n")  # waits longer than it may compute
    pool = Pool(1, 1, guard)
    try:
        rows = merge(list(pool.parse(iter(work))))
    finally:
        pool.close()
    assert rows["blob"]["error"] == [None] * 90
    assert rows["symbol"]["blob"].count(41) == 20


def test_what_fails_once_is_tried_again(guard, monkeypatch, tmp_path):
    monkeypatch.setattr(pools, "_START", BAD_WORKER)
    work = tasks(90)
    work[40] = work[40]._replace(data=BODY + b"# once " + str(tmp_path / "mark").encode())
    pool = Pool(1, 20, guard)
    try:
        rows = merge(list(pool.parse(iter(work))))
    finally:
        pool.close()
    assert (tmp_path / "mark").exists()
    assert rows["blob"]["error"] == [None] * 90


def test_where_no_process_can_be_started_this_one_parses(guard, monkeypatch):
    monkeypatch.setattr(pools, "_START", "raise SystemExit(3)")
    pool = Pool(1, 60, guard)
    try:
        rows = merge(list(pool.parse(iter(tasks(70)))))
    finally:
        pool.close()
    assert len(rows["blob"]["id"]) == 70


def test_closing_ends_the_processes(guard):
    pool = Pool(2, 60, guard)
    stream = pool.parse(iter(tasks(300)))
    next(stream)
    ids = [worker._process.pid for worker in pool._workers if worker._process]
    stream.close()
    pool.close()
    assert ids
    for number in ids:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_worker_ignores_an_interrupt_meant_for_its_parent(guard):
    pool = Pool(1, 60, guard)
    try:
        stream = pool.parse(iter(tasks(200)))
        first = next(stream)
        os.kill(pool._workers[0]._process.pid, signal.SIGINT)
        rows = merge([first, *stream])
    finally:
        pool.close()
    assert rows["blob"]["error"] == [None] * 200


def test_a_project_cannot_put_its_own_files_in_place_of_libraries(guard, tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "cm_tui").mkdir()
    (tmp_path / "cm_tui" / "__init__.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    pool = Pool(1, 60, guard)
    monkeypatch.setattr(pools, "parse_batch", None)
    try:
        assert len(merge(list(pool.parse(iter(tasks(70)))))["blob"]["id"]) == 70
    finally:
        pool.close()
