"""Each transcript is imported, waits, or is reported with the reason why it is not read."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.memory.importers.known import Counts
from cm_tui.engine.memory.importers.plan import all_projects, plan
from cm_tui.model import TranscriptCounts
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, Codex, OpenCode

_ODD = b"\x93\x02rubbish\xff" * 50


def _database(file: Path, *statements: str) -> None:
    with sqlite3.connect(file) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "claude/projects/p/a.jsonl": (lambda file: file.write_bytes(_ODD), "no JSON records in UTF-8 or UTF-16"),
    "claude/projects/p/b.jsonl": (lambda file: file.write_text('{"speaker": "user", "words": "hello"}\n'), "has an unknown format"),
    "claude/projects/p/c.jsonl.zst": (lambda file: file.write_bytes(_ODD), "compressed as zst"),
    "claude/projects/p/d.jsonl.gz": (lambda file: file.write_bytes(_ODD), "Not a gzipped file"),
    "claude/projects/p/e.jsonl": (lambda file: file.symlink_to(os.devnull), ""),
    "codex/sessions/2026/rollout-a.jsonl": (lambda file: file.write_bytes(_ODD), "no JSON records"),
    "codex/sessions/2026/rollout-b.jsonl": (lambda file: file.write_text('{"timestamp": "2026-03-02T09:00:00Z", "type": "event_msg"}\n'), "no record with a session"),
    "codex/archived_sessions/rollout-c.jsonl.zst": (lambda file: file.write_bytes(_ODD), "compressed as zst"),
    "codex/sessions/rollout-d.jsonl.gz": (lambda file: file.write_bytes(gzip.compress(b'{"a": 1}\n' * 9)[:-9]), "damaged or truncated"),
    "data/opencode/opencode.db": (lambda file: file.write_bytes(_ODD * 20), "file is not a database"),
    "data/opencode/opencode-2.db": (lambda file: _database(file, "CREATE TABLE sessions_v2 (id TEXT)"), "no such table: session"),
    "data/opencode/opencode-3.db": (lambda file: _database(file, "CREATE TABLE session (id TEXT)"), "no such table: message"),
    "data/opencode/opencode-4.db": (lambda file: file.write_bytes(b""), "no such table: session"),
    "claude/projects/p/export.json": (lambda file: file.write_text('{"messages": []}'), "it is not a transcript in JSON Lines (.jsonl)"),
    "claude/projects/p/export.ndjson": (lambda file: file.write_text('{"messages": []}\n'), "it is not a transcript in JSON Lines (.jsonl)"),
    "claude/projects/p/sessions-index.json": (lambda file: file.write_text('{"entries": []}'), ""),
    "claude/projects/p/s/tool-results/a.json": (lambda file: file.write_text("{}"), ""),
    "claude/projects/p/f.jsonl": (lambda file: file.write_text('{"type": "queue-operation", "operation": "enqueue", "content": "Hello"}\n'), "it ended at once"),
    "claude/projects/p/pretty.jsonl": (lambda file: file.write_text(json.dumps({"speaker": "user"}, indent=1)), "no JSON records"),
    "codex/sessions/rollout-2025-05-01-x.json": (lambda file: file.write_text('{"session": {}, "items": []}'), "it is not a transcript in JSON Lines (.jsonl)"),
    "codex/sessions/2026/export.jsonl": (lambda file: file.write_text('{"speaker": "user"}\n'), "its name does not begin with rollout-"),
    "codex/sessions/2026/rollout-e.jsonl": (lambda file: file.write_text('{"id": "m1", "role": "user", "content": "Hello"}\n'), "no record with a session"),
    "data/opencode/storage/session/p/export.json": (lambda file: file.write_text('{"messages": []}'), "its session record has no folder"),
    "data/opencode/storage/session/p/ses_a.json": (lambda file: file.write_bytes(_ODD), "is damaged"),
    "claude/projects/p/half.jsonl": (lambda file: file.write_bytes('{"type": "us'.encode("utf-16")), ""),
    "claude/projects/p/hole.jsonl": (lambda file: file.write_bytes(bytes(50_000)), ""),
    "claude/projects/p/empty.jsonl": (lambda file: file.write_bytes(b""), ""),
    "claude/projects/p/title.jsonl": (lambda file: file.write_text('{"type": "summary", "summary": "Hello"}\n'), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_cannot_be_read_is_reported_with_the_reason(machine: Machine, name: str):
    make, reason = FILES[name]
    good = Claude(machine.claude, machine.root)
    good.write(good.turn("Good", "Yes."))
    file = machine.base / name
    file.parent.mkdir(parents=True, exist_ok=True)
    make(file)
    for notes in (plan(machine.transcripts()).notes, machine.run().notes, all_projects((), machine.environment).notes):
        if reason:
            (note,) = notes
            assert note.startswith(str(file.parent.parent if "storage" in name else file.parent)[:20])
            assert "could not be read: " in note
            assert reason in note
        else:
            assert notes == ()
    assert machine.prompts() == ["Good"]


def test_each_transcript_that_is_looked_at_is_counted_once(machine: Machine, tmp_path: Path):
    for name, (make, _) in FILES.items():
        (machine.base / name).parent.mkdir(parents=True, exist_ok=True)
        make(machine.base / name)
    Claude(machine.claude, tmp_path / "elsewhere").write(
        Claude(machine.claude, tmp_path / "elsewhere").turn("There", "Yes.")
    )
    one, two = Codex(machine.codex, machine.root), OpenCode(machine.data, machine.root)
    one.write([one.meta(), *one.turn("Here", "Yes.")])
    two.turn(two.session("ses_b"), "Here too", "Yes.")
    two.write_files()
    unread = sum(bool(reason) for _, reason in FILES.values())
    # What the agents keep for themselves, and what is no ordinary file, is none.
    silent = (
        len(FILES)
        - unread
        - sum("/e.jsonl" in name or name.endswith(("-index.json", "results/a.json")) for name in FILES)
    )
    found = plan(machine.transcripts()).looked_at
    assert found == TranscriptCounts(unread + silent + 3, 2, 1, silent, unread)
    assert machine.run().looked_at == found
    assert all_projects((), machine.environment).looked_at == found


def test_a_session_behind_very_many_records_of_the_program_is_found(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([*({"type": "file-history-snapshot"} for _ in range(500)), *one.turn("First", "One.")])
    machine.run()
    assert machine.prompts() == ["First"]


def test_notes_beyond_those_that_are_shown_are_counted(machine: Machine):
    counts = Counts()
    for number in range(25):
        counts.note(f"note {number}")
        counts.note(f"note {number}")
    assert counts.summary(0.0).notes[-2:] == ("note 19", "5 more notes not shown")


def test_many_that_cannot_be_read_are_one_note(machine: Machine):
    folder = machine.claude / "projects" / "p"
    folder.mkdir(parents=True)
    for number in range(10):
        (folder / f"{number}.jsonl").write_bytes(_ODD)
    (note,) = machine.run().notes
    assert "and 7 other transcripts could not be read: no JSON records" in note
    told = "\n".join(plan(machine.transcripts()).notes)
    assert all(str(folder / f"{number}.jsonl could not be read: no JSON") in told for number in range(10))


def test_one_that_can_be_read_again_is_not_reported_any_more(machine: Machine):
    one = Codex(machine.codex, machine.root)
    records = [one.meta(), *one.turn("First", "One.")]
    file = one.write([b"\xff\n"])
    assert len(machine.run().notes) == 1
    file.unlink()
    one.write(records)
    assert (machine.run().notes, machine.prompts()) == ((), ["First"])


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-be", "utf-32"])
def test_a_packed_transcript_is_imported_once(machine: Machine, codec: str):
    one = Claude(machine.claude, machine.root)
    two = Codex(machine.codex, machine.root)
    for file, records in ((one.file, one.turn("First", "One.")), (two.file, [two.meta(), *two.turn("Second", "Two.")])):
        file.parent.mkdir(parents=True)
        data = "".join(json.dumps(record) + "\n" for record in records).encode(codec)
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(data))
    assert machine.run().episodes == 2
    assert sorted(machine.prompts()) == ["First", "Second"]
    assert machine.run().transcripts == 0
    # The same unpacked, with more in it.
    one.write([*Claude(machine.claude, machine.root).turn("First", "One."), *one.turn("Third", "Three.")])
    assert machine.run().episodes == 1


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be", "utf-32"])
def test_a_transcript_in_another_encoding_that_grows_is_no_other_file(machine: Machine, codec: str):
    one = Claude(machine.claude, machine.root)
    records = one.turn("First", "One.")
    one.file.parent.mkdir(parents=True)
    one.file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding=codec)
    assert machine.run().episodes == 1
    records += one.turn("Second", "Two.")
    one.file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding=codec)
    done = machine.run()
    assert (done.episodes, done.notes, machine.run().transcripts) == (1, (), 0)
    assert machine.prompts() == ["First", "Second"]


def test_the_message_of_an_error_is_no_answer(machine: Machine):
    one = Claude(machine.claude, machine.root)
    text = "API Error: 529 Overloaded"
    one.write([
        one.asked("First"), one.said(text, isApiErrorMessage=True),
        one.asked("Second"), one.used("Bash", {"command": "pytest"}, "b"), one.got("b", "boom", failed=True),
        one.said(text, isApiErrorMessage=True), one.said("Two."),
    ])  # fmt: skip
    two = OpenCode(machine.data, machine.root)
    name = two.session("ses_a")
    two.message(name, "user", [{"type": "text", "text": "Third"}])
    two.message(name, "assistant", [], error={"name": "APIError", "data": {"message": "Overloaded"}})
    two.write_files()
    three = Codex(machine.codex, machine.root)
    three.write([
        three.meta(), three.event("task_started"), three.event("user_message", message="Fourth"), three.event("error", message="Overloaded"),
        three.event("task_started"), three.event("user_message", message="Fifth"), three.event("error", message="Overloaded"),
        three.event("agent_message", message="Five."),
    ])  # fmt: skip
    machine.run()
    assert sorted(
        (record.prompts[0], record.answer, record.outcome, record.verdict) for record in machine.episodes()
    ) == [
        ("Fifth", "Five.", "", ""),
        ("First", "", "failed", text),
        ("Fourth", "", "failed", "Overloaded"),
        ("Second", "Two.", "failed", "`pytest` failed"),
        ("Third", "", "failed", "APIError: Overloaded"),
    ]
