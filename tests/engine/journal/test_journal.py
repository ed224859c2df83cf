"""The journal: what was acknowledged is there, whatever happened around it."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.platform.journal import journal as module
from cm_tui.engine.platform.journal import segment
from cm_tui.engine.platform.journal.event import MAX_BYTES, Position, Problem, parse_line
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import StoreError, UsageError
from tests.forked import Python
from tests.tiers import examples

APPENDER = Path(__file__).with_name("appender.py").read_text()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal" / "shop-1234")


def test_what_was_appended_is_read_in_order_and_from_any_place(journal: Journal):
    written = [journal.append("note", {"n": n, "text": "日本 \n\u2028"}, head="a" * 40) for n in range(5)]
    assert list(journal.read()) == written
    assert journal.end() == written[-1].position
    for n, event in enumerate(written):
        assert list(journal.read(event.position)) == written[n + 1 :]
        assert Position.parse(str(event.position)) == event.position
    assert len({event.id for event in written}) == 5
    assert sorted(event.id for event in written) == [event.id for event in written]
    assert journal.problems() == ()


def test_events_of_some_kinds_are_read_without_parsing_the_others(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    for number in range(6):
        journal.append("hook.stop" if number == 3 else "episode", {"number": number})
    journal.append("episode", {"text": 'about "hook.stop"'})
    wanted = [event for event in journal.read() if event.kind == "hook.stop"]
    parsed: list[bytes] = []

    def parse(line: bytes) -> dict[str, Any] | str:
        parsed.append(line)
        return parse_line(line)

    monkeypatch.setattr(segment, "parse_line", parse)
    assert list(journal.read(kinds={"hook.stop"})) == wanted
    assert len(parsed) <= 2
    # What was overwritten meanwhile is noticed all the same.
    with journal.file(1).open("r+b") as file:
        file.write(bytes(20))
    assert len([one for one in journal.scan(START, kinds={"hook.stop"}) if isinstance(one, Problem)]) == 1


def test_a_journal_without_events_is_empty_and_not_made(journal: Journal):
    assert list(journal.read()) == []
    assert journal.problems() == ()
    assert journal.end() == Position(1, 0)
    assert not journal.folder.exists()


def test_files_are_private(journal: Journal):
    journal.append("note", {})
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in journal.folder.iterdir()}
    assert modes == {"000001.jsonl": 0o600, "lock": 0o600}
    assert stat.S_IMODE(journal.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(journal.folder.parent.stat().st_mode) == 0o700


def test_names_that_are_not_utf8_survive(journal: Journal):
    name = os.fsdecode(b"caf\xe9.py")
    journal.append("note", {"path": name})
    assert [event.data["path"] for event in journal.read()] == [name]


@pytest.mark.parametrize("data", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_what_json_cannot_hold_is_refused(journal: Journal, data: dict):
    with pytest.raises(UsageError, match="JSON"):
        journal.append("note", data)
    assert list(journal.read()) == []


def test_too_much_is_refused_with_both_sizes(journal: Journal):
    with pytest.raises(UsageError, match=f"at most {MAX_BYTES:,}"):
        journal.append("note", {"text": "x" * MAX_BYTES})


def test_several_are_written_at_once_and_read_one_by_one(journal: Journal):
    assert journal.append_all("test", []) == []
    one = journal.append("test", {"number": 0})
    with journal.file(1).open("ab") as file:
        file.write(b'{"torn')
    written = journal.append_all(
        "test",
        [({"number": number, "text": "x" * number}, "a" * 40 if number % 2 else None) for number in range(1, 40)],
    )
    assert list(journal.read()) == [one, *written]
    for event in written:
        assert journal.holds(event.position, event.id)
        assert next(journal.read(event.position), None) == (
            written[event.data["number"]] if event.data["number"] < 39 else None
        )
    with pytest.raises(UsageError):
        journal.append_all("test", [({"number": 40}, None), ({"number": float("nan")}, None)])
    assert list(journal.read()) == [one, *written]


def test_rotation_keeps_order_and_positions(tmp_path: Path):
    journal = Journal(tmp_path / "j", segment_bytes=300)
    written = [journal.append("note", {"n": n}) for n in range(20)]
    assert len(list(journal.folder.glob("*.jsonl"))) > 3
    assert list(journal.read()) == written
    for n, event in enumerate(written):
        assert list(journal.read(event.position)) == written[n + 1 :]


def test_a_reader_between_two_appends_goes_on_into_the_next_file(tmp_path: Path):
    journal = Journal(tmp_path / "j", segment_bytes=300)
    seen, after = [], None
    for n in range(20):
        journal.append("note", {"n": n})
        for event in journal.read(after):
            seen.append(event.data["n"])
            after = event.position
    assert seen == list(range(20))


def test_a_line_that_is_being_written_is_left_for_the_next_time(journal: Journal):
    first = journal.append("note", {"n": 1})
    file = journal.folder / "000001.jsonl"
    line = json.dumps({"id": "x", "time": 1.0, "kind": "note", "head": None, "data": {"n": 2}}).encode()
    with file.open("ab") as out:
        out.write(line)
        out.flush()
        assert list(journal.read()) == [first]
        out.write(b"\n")
    assert [event.data["n"] for event in journal.read(first.position)] == [2]


def test_a_place_that_is_no_longer_there_gives_nothing_and_no_failure(journal: Journal):
    end = journal.append("note", {"n": 1}).position
    assert list(journal.read(Position(1, end.offset + 100))) == []
    assert list(journal.read(Position(7, 0))) == []
    with pytest.raises(UsageError):
        Position.parse("somewhere")


@pytest.mark.parametrize("time", ["NaN", "Infinity", "-1", "1e308", "true", "null", "9" * 400])
def test_a_line_whose_time_is_none_is_reported_and_no_event(journal: Journal, time: str):
    written = journal.append("note", {"n": 1})
    line = journal.file(1).read_bytes().replace(f'"time":{written.time!r}'.encode(), f'"time":{time}'.encode())
    with journal.file(1).open("ab") as file:
        file.write(line)
    assert list(journal.read()) == [written]
    assert [one.reason for one in journal.problems()] == ["not an event"]


# What a crash, a full disk or a careless editor can leave between two appends.
debris = st.one_of(
    st.binary(min_size=1, max_size=40),
    st.just(b"\0" * 30),
    st.just(b'{"id": "x", "time": 1'),
    st.just(b"[1, 2]\n"),
    st.just(b"\n\n"),
    st.just(b"x" * (MAX_BYTES + 10) + b"\n"),
)


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(st.one_of(st.integers(0, 200), debris), max_size=12), limit=st.sampled_from([150, 600, 10**6]))
def test_debris_never_costs_an_event_nor_makes_one(tmp_path_factory, steps: list[int | bytes], limit: int):
    journal = Journal(tmp_path_factory.mktemp("j"), segment_bytes=limit)
    journal.append("note", {"text": ""})
    written = list(journal.read())
    for step in steps:
        if isinstance(step, int):
            written.append(journal.append("note", {"text": "ü" * step}))
        else:
            with max(journal.folder.glob("*.jsonl")).open("ab") as out:
                out.write(step)
    assert list(journal.read()) == written
    for n, event in enumerate(written):
        assert list(journal.read(event.position)) == written[n + 1 :]
    rubbish = [step for step in steps if isinstance(step, bytes) and step.strip()]
    assert bool(journal.problems()) == bool(rubbish)
    for problem in journal.problems():
        data = (journal.folder / f"{problem.position.segment:06}.jsonl").read_bytes()
        assert problem.bytes == len(data[problem.position.offset :].split(b"\n", 1)[0]) + (
            b"\n" in data[problem.position.offset :]
        )


@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 10**6), lives=st.lists(st.integers(1, 25), min_size=2, max_size=4))
def test_kill_9_in_the_middle_of_writes_loses_nothing_acknowledged(tmp_path_factory, seed: int, lives: list[int]):
    folder = tmp_path_factory.mktemp("j")
    processes = [Python(APPENDER, str(folder), f"p{n}", str(seed + n), str(life)) for n, life in enumerate(lives)]
    acknowledged = [process.end().stdout.splitlines() for process in processes]
    assert [len(ids) for ids in acknowledged] == [life - 1 for life in lives]
    journal = Journal(folder)
    events = list(journal.read())
    # At most one event that nobody was told of for each that died, written but for its acknowledgement.
    assert {event.id for event in events} >= {one for ids in acknowledged for one in ids}
    assert len(events) == len({event.id for event in events}) <= sum(map(len, acknowledged)) + len(lives)
    for number, ids in enumerate(acknowledged):
        mine = [event.id for event in events if event.data["by"] == f"p{number}"]
        assert mine[: len(ids)] == ids
    last = journal.append("after", {})
    assert list(journal.read())[-1] == last
    assert len(list(journal.read())) in {len(events) + 1, len(events) + 2}


def test_threads_of_one_process_do_not_mix(journal: Journal):
    def work(name: str) -> None:
        for n in range(30):
            journal.append("note", {"by": name, "n": n})

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = list(journal.read())
    assert len(events) == 90
    for name in "abc":
        assert [event.data["n"] for event in events if event.data["by"] == name] == list(range(30))


def test_a_full_disk_is_said_and_leaves_no_half_line(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    first = journal.append("note", {"n": 1})
    write = os.write
    monkeypatch.setattr(module.os, "write", lambda fd, data: write(fd, data[:10]))
    with pytest.raises(StoreError, match="disk is full"):
        journal.append("note", {"n": 2})
    monkeypatch.undo()
    assert (journal.folder / "000001.jsonl").stat().st_size == first.position.offset
    third = journal.append("note", {"n": 3})
    assert list(journal.read()) == [first, third]
    assert journal.problems() == ()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_real_full_device(journal: Journal):
    journal.folder.mkdir(parents=True)
    (journal.folder / "000001.jsonl").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="disk is full"):
        journal.append("note", {})


def test_a_read_only_folder_is_said(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    event = journal.append("note", {})
    opened = os.open

    def read_only(path, flags, *rest, **named):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(StoreError, match="Read-only") as failure:
        journal.append("note", {})
    assert "CM_HOME" in failure.value.hint
    assert list(journal.read()) == [event]


def test_a_folder_that_is_a_file_is_said(tmp_path: Path):
    (tmp_path / "journal").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        Journal(tmp_path / "journal" / "shop").append("note", {})


def test_a_holder_that_hangs_is_said(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.locks import locked

    journal.append("note", {})
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    with locked(journal.folder / "lock", 1), pytest.raises(StoreError, match="Another process holds"):
        journal.append("note", {})
    assert len(list(journal.read())) == 1


def test_a_journal_that_was_removed_meanwhile_is_made_again(journal: Journal):
    import shutil

    journal.append("note", {"n": 1})
    shutil.rmtree(journal.folder)
    event = journal.append("note", {"n": 2})
    assert list(journal.read()) == [event]


def test_importing_it_brings_nothing_heavy():
    code = "import sys, cm_tui.engine.platform.journal; print(*sorted(sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    )
    assert not loaded & {
        "pygit2",
        "duckdb",
        "numpy",
        "pydantic",
        "filelock",
        "asyncio",
        "typer",
        "hashlib",
        "dataclasses",
        "inspect",
        "subprocess",
    }


def test_every_text_of_an_event_passes_redaction(journal: Journal):
    secret = "ghp_" + "a1B2" * 9
    data = {"arguments": ["x", f"feature/{secret}"], "root": "/tmp/shop", "redacted": 2}
    event = journal.append("hook.git", data)
    assert event.data == {"arguments": ["x", "feature/[redacted: github token]"], "root": "/tmp/shop", "redacted": 3}
    assert [one.data for one in journal.read()] == [event.data]
