"""Erasure in a journal: the content is gone, and everything else is where it was, byte for byte."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.platform.journal.erasure import Line, erase_lines
from cm_tui.engine.platform.journal.event import ERASED, ERASURE, MAX_BYTES, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from tests.forked import run_python
from tests.tiers import examples

ERASER = Path(__file__).with_name("eraser.py").read_text()


def erase(journal: Journal, *events: Event, blank: bool = False) -> None:
    """Erase events that follow each other in a list of all."""
    with journal.held():
        begins = begin_of(journal)
        lines = [
            Line(
                event.position.segment, begins[event.id], event.position.offset,
                None if blank else (event.id, event.time, event.kind),
            )
            for event in sorted(events, key=lambda event: event.position)
        ]  # fmt: skip
        erase_lines(journal, lines, [event.id for event in events])


def begin_of(journal: Journal) -> dict[str, int]:
    begins, at = {}, START
    for event in journal.read():
        begins[event.id] = at.offset if at.segment == event.position.segment else 0
        at = event.position
    return begins


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@settings(max_examples=examples(60), deadline=None)
@given(
    steps=st.lists(
        st.one_of(st.text(max_size=60), st.sets(st.integers(0, 30), min_size=1, max_size=4)), min_size=1, max_size=30
    )
)
def test_any_order_of_appends_and_erasures_leaves_every_other_event_as_it_was(tmp_path_factory, steps):
    journal = Journal(tmp_path_factory.mktemp("j"), segment_bytes=700)
    written: list[Event] = []
    lines: dict[str, bytes] = {}
    gone: set[str] = set()
    for step in steps:
        if isinstance(step, str):
            event = journal.append("note", {"text": f"content-{len(written)}-{step}"})
            written.append(event)
            lines[event.id] = journal.file(event.position.segment).read_bytes()[begin_of(journal)[event.id] :]
        else:
            chosen = [written[n] for n in step if n < len(written) and written[n].id not in gone]
            erase(journal, *chosen)
            gone |= {event.id for event in chosen}
    now = {event.id: event for event in journal.read()}
    mine = [event.id for event in now.values() if event.kind != ERASURE]
    assert mine == [event.id for event in written]
    begins = begin_of(journal)
    for event in written:
        if event.id in gone:
            assert (now[event.id].kind, now[event.id].time, now[event.id].data) == (
                ERASED,
                event.time,
                {"kind": "note"},
            )
            assert now[event.id].position == event.position
        else:
            assert now[event.id] == event
            segment = journal.file(event.position.segment).read_bytes()
            assert segment[begins[event.id] : event.position.offset] == lines[event.id]
        assert journal.holds(event.position, event.id)
        assert [later.id for later in journal.read(event.position)] == list(now)[list(now).index(event.id) + 1 :]
    stored = all_bytes(journal.folder)
    for number, event in enumerate(written):
        assert (f"content-{number}-".encode() in stored) == (event.id not in gone)
    assert journal.problems() == ()


@pytest.mark.skipif(os.name == "nt", reason="kills itself")
@pytest.mark.few(6)
@pytest.mark.parametrize("die_after", [*range(1, 40, 3), 40])
def test_kill_9_at_any_moment_leaves_a_journal_that_the_next_erasure_finishes(tmp_path: Path, die_after: int):
    journal = Journal(tmp_path / "j", segment_bytes=2_000)
    written = [journal.append("note", {"text": f"content-{n}-" + "x" * 200}) for n in range(20)]
    gone = [written[n] for n in (0, 3, 9, 19)]
    done = run_python(ERASER, str(journal.folder), str(die_after), *(event.id for event in gone))
    ids = {event.id for event in gone}
    for attempt in range(2):
        now = [event for event in journal.read() if event.kind != ERASURE]
        assert [event.id for event in now] == [event.id for event in written]
        assert [event for event in now if event.id not in ids] == [event for event in written if event.id not in ids]
        assert journal.problems() == ()
        if attempt:
            break
        after = journal.append("note", {"text": "after"})
        written.append(after)
        assert run_python(ERASER, str(journal.folder), "0", *ids).returncode == 0
    assert done.returncode in (0, -signal.SIGKILL)
    assert die_after < 40 or done.returncode == 0, "there are more steps than it dies at"
    stored = all_bytes(journal.folder)
    assert not [n for n in (0, 3, 9, 19) if f"content-{n}-".encode() in stored]
    assert {path.name for path in journal.folder.iterdir() if path.suffix != ".jsonl"} <= {"lock", "erasing.lock"}


class Beside:
    """What others do with a journal while events of it are erased."""

    def __init__(self, journal: Journal, first: list[Event]) -> None:
        self.journal = journal
        self.first = [event.id for event in first]
        self.appended: list[Event] = []
        self.failures: list[object] = []
        self.stop = threading.Event()

    def write(self) -> None:
        while not self.stop.is_set():
            self.appended.append(self.journal.append("late", {"n": len(self.appended)}))

    def read(self) -> None:
        while not self.stop.is_set():
            seen = [event.id for event in self.journal.read() if event.kind in {"note", ERASED}]
            self.failures += [len(seen)] if seen != self.first else []

    def follow(self) -> None:
        at, seen, last = START, [], False
        while not last:
            last = self.stop.is_set()
            for event in self.journal.read(at):
                at = event.position
                seen.append(event.id)
        self.failures += ["followed"] if seen[: len(self.first)] != self.first or len(seen) != len(set(seen)) else []


def test_readers_and_writers_in_the_middle_miss_nothing(tmp_path: Path):
    journal = Journal(tmp_path / "j", segment_bytes=20_000)
    first = [journal.append("note", {"n": n, "text": "x" * 300}) for n in range(60)]
    beside = Beside(journal, first)
    threads = [threading.Thread(target=work) for work in (beside.write, beside.read, beside.follow)]
    for thread in threads:
        thread.start()
    for event in first[::2]:
        erase(journal, event)
    beside.stop.set()
    for thread in threads:
        thread.join()
    assert beside.failures == []
    events = list(journal.read())
    assert [event for event in events if event.kind == "late"] == beside.appended
    assert [event for event in events if event.kind == "note"] == first[1::2]


def test_a_reader_of_a_file_that_is_overwritten_reads_on_in_its_successor(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    written = [journal.append("note", {"n": n, "text": "x" * 5_000}) for n in range(8)]
    reading = journal.read()
    seen = [next(reading).id]
    old = journal.file(1)
    held = old.open("rb+")
    copy = old.with_suffix(".copy")
    copy.write_bytes(old.read_bytes())
    copy.replace(old)
    # As it is in the middle of being overwritten.
    held.seek(20_000)
    held.write(b'"no event" ' * 1_800)
    held.close()
    seen += [event.id for event in reading]
    assert seen == [event.id for event in written]


def test_an_open_file_has_the_content_no_more(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    event = journal.append("note", {"text": "the content"})
    journal.append("note", {"text": "another"})
    with journal.file(1).open("rb") as held:
        erase(journal, event)
        assert b"the content" not in held.read()
        held.seek(0)
        assert b"another" in held.read()


def test_an_event_whose_name_may_not_stay_leaves_blanks(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    events = [journal.append("note", {"n": n}) for n in range(3)]
    erase(journal, events[1], blank=True)
    assert [event for event in journal.read() if event.kind == "note"] == [events[0], events[2]]
    assert journal.problems() == ()
    assert not journal.holds(events[1].position, events[1].id)


def test_a_short_line_keeps_its_length(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    journal.folder.mkdir(mode=0o700)
    line = json.dumps({"id": "short", "time": 1, "kind": "k", "head": None, "data": {}}, separators=(",", ":")) + "\n"
    journal.file(1).write_text(line)
    [event] = journal.read()
    erase(journal, event)
    first = journal.file(1).read_text().split("\n")[0]
    assert len(first) == len(line) - 1
    assert "short" not in first or json.loads(first)["kind"] == ERASED


def test_what_was_made_from_an_erased_event_is_not_written(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    cause = journal.append("hook.stop", {"answer": "x" * 100})
    other = journal.append("hook.stop", {"answer": "y"})
    erase(journal, cause)
    end = journal.end()
    assert journal.append_after(cause, "episode", {}) is None
    assert journal.end() == end
    assert journal.append_after(other, "episode", {}) is not None
    assert journal.append_after(other._replace(position=Position(7, 7)), "episode", {}) is None


def test_a_place_holds_in_the_journal_that_it_is_of(tmp_path: Path):
    journal = Journal(tmp_path / "j", segment_bytes=MAX_BYTES)
    events = [journal.append("note", {"text": "z" * size}) for size in (1, 70_000, 65_000, 131_072, 5)]
    for event in events:
        assert journal.holds(event.position, event.id)
        assert journal.holds(event.position, "")
        assert not journal.holds(event.position, "another")
        assert not journal.holds(Position(1, event.position.offset - 1), event.id)
    assert journal.holds(START, "")
    assert not journal.holds(Position(1, 10**9), "")
    assert not journal.holds(Position(9, 5), "")
