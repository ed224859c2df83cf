"""A transcript may be anything: what can be read is, what cannot is counted, and nothing ends the import."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.transcripts import lines as lines_of
from cm_tui.engine.memory.transcripts.lines import opened, read_lines
from cm_tui.engine.memory.transcripts.tools import input_text
from cm_tui.engine.memory.transcripts.transcript import parse_time
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode, write_lines

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.just("\ud800")
    | st.just("a\0b\x1b[31m"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def test_lines_that_are_no_records_are_counted_and_stepped_over(machine: Machine):
    one = Claude(machine.claude, machine.root)
    first, second = one.turn("First", "One."), one.turn("Second", "Two.")
    one.write(
        [*first, b"{not json}\n", b"[1, 2]\n", b"\n", b"\0\0\0\n", b"\xff\xfe\xfa\n", b"[" * 100_000 + b"\n", *second]
    )
    done = machine.run()
    assert machine.prompts() == ["First", "Second"]
    assert done.broken == {"claude-code: not a record": 4}


def test_a_line_without_end_and_one_that_is_too_long_cost_no_memory(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lines_of, "LINE_BYTES", 100_000)
    one = Claude(machine.claude, machine.root)
    giant = b'{"type":"user","message":"' + b"x" * 3_000_000 + b'"}\n'
    one.write([*one.turn("First", "One."), giant, *one.turn("Second", "Two."), giant[:-1]])
    done = machine.run()
    assert machine.prompts() == ["First", "Second"]
    assert done.broken == {"claude-code: too long": 1}
    one.write([b"\n", *one.turn("Third", "Three.")])
    done = machine.run()
    assert done.broken == {"claude-code: too long": 1}
    assert machine.prompts() == ["First", "Second", "Third"]


def test_half_a_line_is_left_for_the_next_time(machine: Machine):
    one = Claude(machine.claude, machine.root)
    whole = json.dumps(one.asked("Second")).encode() + b"\n"
    one.clock = 0
    one.write([*one.turn("First", "One."), whole[:40]])
    done = machine.run()
    assert (done.episodes, done.broken) == (1, {})
    one.clock = 50
    one.write([whole[40:], one.said("Two.")])
    assert machine.run().broken == {}
    assert machine.prompts() == ["First", "Second"]


def test_halves_of_characters_and_bytes_that_are_no_text_are_stored_as_replacements(machine: Machine):
    one = Claude(machine.claude, machine.root)
    asked = json.dumps(one.asked("Half \ud83d of it \0 and \x1b[31mred")).encode()
    said = json.dumps(one.said("Bytes HERE")).encode().replace(b"HERE", b"\xff\xfe")
    one.write([asked + b"\n", said + b"\n"])
    machine.run()
    (record,) = machine.episodes()
    assert record.prompts == ("Half ? of it  and \x1b[31mred",)
    assert record.answer == "Bytes \ufffd\ufffd"


def test_a_clock_gone_wrong_is_no_time(machine: Machine):
    odd = ("9999-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "no time", 10**400, None, {}, -5.0, True)
    for number, when in enumerate(odd):
        one = Claude(machine.claude, machine.root, f"{number}1111111-aaaa-4aaa-8aaa-111111111111")
        one.write([one.asked(f"First {number}", timestamp=when), one.said("One.", timestamp=when)])
        assert machine.run().episodes == 1, when
        # It is dated by its file.
        assert machine.episodes()[number].at == LONG_AGO, when


def test_a_clock_that_jumps_back_ends_no_turn_before_it_began(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(
        [one.asked("First", timestamp="2026-03-02T10:00:00Z"), one.said("One.", timestamp="2026-03-02T09:00:00Z")]
    )
    machine.run()
    assert machine.episodes()[0].at == parse_time("2026-03-02T10:00:00Z")


def test_ids_that_repeat_lose_nothing(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records = [
        {**record, "uuid": "same", "parentUuid": "same"}
        for record in (*one.turn("First", "One."), *one.turn("Second", "Two."))
    ]
    one.write(records)
    machine.run()
    assert machine.prompts() == ["First", "Second"]


def test_a_transcript_that_was_truncated_is_read_from_its_beginning_and_told(machine: Machine):
    one = Claude(machine.claude, machine.root)
    file = one.write([*one.turn("First", "One."), *one.turn("Second", "Two.")])
    machine.run()
    file.write_bytes(b"")
    one.write(one.turn("Third", "Three."))
    done = machine.run()
    assert machine.prompts() == ["First", "Second", "Third"]
    assert done.notes == (f"{file} was truncated or replaced: it is read from its beginning",)


def test_a_transcript_that_was_replaced_by_a_longer_one_is_read_from_its_beginning(machine: Machine):
    one = Claude(machine.claude, machine.root)
    file = one.write(one.turn("First", "One."))
    machine.run()
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock = 900
    file.write_bytes(b"")
    write_lines(file, [*other.turn("Second", "Two."), *other.turn("Third", "Three.")])
    machine.run()
    assert machine.prompts() == ["First", "Second", "Third"]


def test_a_transcript_that_vanishes_half_way_is_told_and_the_others_are_imported(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    gone, there = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    file = gone.write(gone.turn("Gone", "Gone."))
    there.clock = 500
    there.write([there.meta(), *there.turn("There", "There.")])
    from cm_tui.engine.memory.transcripts import claude_code

    def vanish(self, transcript, facts, resume):
        file.unlink()
        with opened(file) as stream:
            yield from read_lines(stream)

    monkeypatch.setattr(claude_code.ClaudeCode, "read", vanish)
    done = list(Import(machine.transcripts()).run(Cancel()))[-1].imported
    assert machine.prompts() == ["There"]
    assert done is not None
    assert done.notes == (f"{file} could not be read to its end: No such file or directory",)


def test_what_is_no_ordinary_file_is_not_read(machine: Machine):
    folder = machine.claude / "projects" / "p"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "up").symlink_to(folder, target_is_directory=True)
    (folder / "empty.jsonl").write_bytes(b"")
    assert machine.run().transcripts == 0


def test_a_session_of_an_odd_folder_is_not_of_this_project(machine: Machine):
    odd = (
        "",
        "relative/path",
        "/nowhere\0/x",
        "/" + "x" * 5_000,
        "//server/share",
        "C:\\work\\shop",
        "/",
        5,
        None,
        ["/"],
    )
    for number, cwd in enumerate(odd):
        one = Claude(machine.claude, machine.root, f"{number}1111111-aaaa-4aaa-8aaa-111111111111")
        one.write([{**record, "cwd": cwd} for record in one.turn("First", "One.")])
        assert machine.run().episodes == 0, cwd


def test_a_turn_beyond_all_bounds_is_kept_in_part(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records = [one.asked("\U0001f600" * 20_000)]
    for number in range(150):
        path = f"{machine.root}/f{number}.py"
        records += [
            one.used("Write", {"file_path": path, "content": "\U0001f600" * 3_000}, f"w{number}"),
            one.got(f"w{number}", "y" * 100_000),
        ]
    one.write([*records, one.said("\U0001f600" * 50_000)])
    assert machine.run().episodes == 1
    (record,) = machine.episodes()
    assert record.step_count == 300
    assert (len(record.prompts[0]), len(record.answer)) == (8_000, 8_000)
    assert record.patch_cut
    assert len(record.files) == 150


def test_secrets_are_taken_out_wherever_they_stand(machine: Machine):
    secret = "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    one = Claude(machine.claude, machine.root)
    env = f"{machine.root}/.env"
    one.write([
        one.asked(f"{'a ' * 3_985}{secret} is it"),
        one.used("Bash", {"command": f"curl -H 'Authorization: Bearer {secret}' x"}, "b"),
        one.got("b", f"{'z ' * 190}{secret}"),
        one.used("Read", {"file_path": env}, "r"),
        one.got("r", "COLOUR=mauve"),
        one.used("ExitPlanMode", {"plan": f"use {secret}"}, "p"),
        one.used("Write", {"file_path": env, "content": f"TOKEN={secret}\nCOLOUR=mauve\n"}, "w"),
        one.got("w", "written"),
        one.said(f"I used {secret}."),
        {"type": "custom-title", "customTitle": f"All of {secret}"},
        one.asked("And?"), one.said("No."),
        {"type": "unknown", "text": secret},
    ])  # fmt: skip
    done = machine.run()
    assert done.redacted >= 5
    kept = b"".join(file.read_bytes() for file in Journal.of(machine.root).folder.rglob("*") if file.is_file())
    assert secret.encode()[:20] not in kept
    assert b"mauve" not in kept


def test_a_database_that_is_none_is_passed_over(machine: Machine):
    one = OpenCode(machine.data, machine.root)
    one.session("ses_a")
    one.turn("ses_a", "First", "One.")
    one.write_files()
    (one.base / "opencode.db").write_bytes(b"not a database at all" * 100)
    with sqlite3.connect(one.base / "opencode-next.db") as db:
        db.execute("CREATE TABLE session (id TEXT)")
    db.close()
    machine.run()
    assert machine.prompts() == ["First"]


@given(ANY)
def test_what_a_tool_was_given_is_always_words(value: object):
    words = input_text({"command": value, "else": value})
    assert isinstance(words, str)
    words.encode()


def test_an_import_goes_on_where_another_holds_the_project(machine: Machine):
    from cm_tui.errors import StoreError

    state = machine.transcripts().state
    with state.held(), pytest.raises(StoreError, match="Another"), state.held(0.0):
        pass
    assert isinstance(state.folder, Path)


@pytest.mark.parametrize("width", [0, 10, 20, 37])
def test_a_secret_that_is_cut_leaves_no_half(machine: Machine, width: int):
    """Wherever the cut is: in a line, or between lines over which it is broken."""
    secret = "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    written = f"{secret[:width]}\n{secret[width:]}" if width else secret
    one = Claude(machine.claude, machine.root)
    records = [one.asked("First")]
    for number in range(300, 420, 5):
        lines = "word\n" * (number // 5)
        records += [
            one.used("Bash", {"command": "env"}, f"b{number}"),
            one.got(f"b{number}", f"{lines}TOKEN={written}\nmore {'x ' * 400}"),
        ]
    one.write([*records, one.said("Done.")])
    machine.run()
    (record,) = machine.episodes()
    for step in record.steps:
        for piece in (secret[4:16], secret[16:28], secret[28:]):
            assert piece not in step.result
