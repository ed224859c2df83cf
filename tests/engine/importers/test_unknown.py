"""Records that are not understood: kept as they are, without secrets, within bounds, and by the rules for turns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events
from cm_tui.engine.memory.importers import unknown as unknown_of
from cm_tui.engine.memory.importers.unknown import unknown_in
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import UnknownRecord
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, iso


def kept(machine: Machine) -> list[UnknownRecord]:
    return list(unknown_in(Journal.of(machine.root)))


def strange(number: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "type": "hologram",
        "number": number,
        "timestamp": iso(100 + number),
        "beam": {"of": ["light", "ü"]},
        **more,
    }


def test_they_are_kept_whole_and_once(machine: Machine):
    one = Claude(machine.claude, machine.root)
    odd = {"type": "smell", "of": "roses"}
    said = one.record("assistant", {"role": "assistant", "id": "m", "content": [odd, {"type": "text", "text": "Hm."}]})
    one.write([*one.turn("First", "One."), strange(), one.asked("Second"), said])
    done = machine.run()
    assert (done.unknown, done.kept) == ({"claude-code: part smell": 1, "claude-code: record hologram": 1}, 2)
    record, part = kept(machine)
    assert json.loads(record.raw) == strange()
    assert (record.kind, record.agent, record.session, record.cut) == ("record hologram", "claude-code", one.session, 0)
    assert record.time == LONG_AGO + 100
    assert json.loads(part.raw) == odd
    assert machine.run().kept == 0
    # Also where nobody knows any more how far the transcript was read, and where a resumed session repeats it.
    for file in (Journal.of(machine.root).folder / "imports").glob("*.json"):
        file.unlink()
    other = Claude(machine.claude, machine.root, "22222222-aaaa-4aaa-8aaa-222222222222")
    other.write([*other.turn("Third", "Three."), strange()])
    assert machine.run().kept == 0
    assert len(kept(machine)) == 2
    assert len(machine.episodes()) == 3


def test_codex_has_some_too(machine: Machine):
    one = Codex(machine.codex, machine.root)
    one.write(
        [
            one.meta(),
            *one.turn("First", "One."),
            {"timestamp": iso(50), "type": "event_msg", "payload": {"type": "dance"}},
        ]
    )
    machine.run()
    (record,) = kept(machine)
    assert (record.kind, json.loads(record.raw)["payload"]) == ("event dance", {"type": "dance"})


def test_no_secret_stays_in_them(machine: Machine):
    one = Claude(machine.claude, machine.root)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    one.write(
        [
            strange(note=f"use {token}", password="hunter2-Xy9"),
            *one.turn("First", "One."),
            strange(1, file="/x/.env", text="A=b1c2"),
        ]
    )
    machine.run()
    written = "".join(json.dumps(dict(event.data)) for event in Journal.of(machine.root).read())
    for secret in (token, "hunter2-Xy9", "A=b1c2"):
        assert secret not in written
    assert len(kept(machine)) == 2


def test_they_are_bounded_and_it_is_said(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unknown_of, "TRANSCRIPT_CHARACTERS", 150_000)
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), *(strange(number, text="word " * 20_000) for number in range(5))])
    done = machine.run()
    assert (done.unknown, done.kept) == ({"claude-code: record hologram": 5}, 2)
    assert any("more records of unknown kinds than are kept" in note for note in done.notes)
    for record in kept(machine):
        assert len(record.raw) == unknown_of.RECORD_CHARACTERS
        assert record.cut > 30_000


def test_what_is_not_to_be_recorded_is_not_kept(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    one = Claude(machine.claude, machine.root)
    private = machine.root / "private"
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", json.dumps([str(private)]))
    one.write([*one.turn("First", "One."), strange(1, cwd=str(private / "in")), strange(2, cwd=str(machine.root))])
    never = Claude(machine.claude, machine.root, "33333333-aaaa-4aaa-8aaa-333333333333")
    never.write([*never.turn("Secret plan", "Aye."), strange(3)])
    gate.mark_session(never.session, never=True)
    machine.run()
    assert [json.loads(record.raw)["number"] for record in kept(machine)] == [2]
    assert machine.prompts() == ["First"]


def test_an_erased_one_stays_erased(machine: Machine, tmp_path):
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), strange(text="regrettable")])
    machine.run()
    (record,) = kept(machine)
    journal = Journal.of(machine.root)
    erase_events(journal, EraseRequest([record.id]), make_again=lambda: (), store=tmp_path)
    one.write(one.turn("Second", "Two."))
    machine.run()
    assert kept(machine) == []
    assert b"regrettable" not in b"".join(journal.file(number).read_bytes() for number in journal.segments())
