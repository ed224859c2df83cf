"""Gemini CLI, Cursor and Copilot CLI: whole turns, whose they are, odd values, files that are cut off, and copies."""

from __future__ import annotations

import json
import os
import random
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.rescue import plan as rescue_plan
from cm_tui.engine.memory.importers.rescue import rescue
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.gemini import Gemini as GeminiFormat
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel, RescueSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.test_bad_input import ANY
from tests.engine.importers.test_every_prompt import LINES, check
from tests.engine.importers.test_odd_values import _places
from tests.engine.importers.transcripts import LONG_AGO, Copilot, Cursor, Gemini, write_lines
from tests.tiers import examples

NEW = ("gemini", "cursor", "copilot")
One = Gemini | Cursor | Copilot


def made(machine: Machine, agent: str, folder: Path | None = None, session: str = "") -> One:
    make, home = {
        "gemini": (Gemini, machine.gemini),
        "cursor": (Cursor, machine.cursor),
        "copilot": (Copilot, machine.copilot),
    }[agent]
    more = (session,) if session else ()
    one: One = make(home, folder or machine.root, *more)  # type: ignore[operator]
    return one


def turns_of(one: One, *pairs: tuple[str, str]) -> list[Any]:
    head = [one.meta()] if isinstance(one, Gemini) else [one.start()] if isinstance(one, Copilot) else []
    return [*head, *(record for asked, said in pairs for record in one.turn(asked, said))]


# --- whole turns ---


def test_a_turn_of_copilot_is_told_whole(machine: Machine):
    one = Copilot(machine.copilot, machine.root)
    path = str(machine.root / "shop/money.py")
    one.write([
        one.start(headCommit="a" * 40, repositoryHost="github.com", repository="ann/shop"), one.asked("Round the tax"),
        one.said("I look.", reasoningText="hm"), one.used("edit", {"path": path, "old_str": "x = 1", "new_str": "x = 2"}, "e"),
        one.got("e", "edited"), one.used("create", {"path": f"{machine.root}/shop/no.py", "file_text": "no"}, "c"),
        one.got("c", "denied", failed=True), one.used("bash", {"command": "pytest -q", "description": "tests"}, "b"),
        one.got("b", "2 passed"), one.said("It rounds."), one.event("session.title_changed", title="Rounding"), *one.turn("Thanks", "Welcome."),
    ])  # fmt: skip
    done = machine.run()
    assert (done.episodes, done.sessions, done.unknown, done.broken, done.notes) == (2, 1, {}, {}, ())
    first, second = machine.episodes()
    assert (first.prompts, first.answer, first.files) == (("Round the tax",), "It rounds.", ("shop/money.py",))
    assert "-x = 1\n+x = 2" in first.patch
    assert "no.py" not in first.patch
    assert first.tools == ("edit", "create", "bash")
    assert (first.outcome, first.verdict) == ("ok", "`pytest -q` passed")
    assert [step.tool or step.kind for step in first.steps] == ["thought", "said", "edit", "create", "bash"]
    assert (first.agent, first.session, first.turn, second.turn) == ("copilot", one.session, 1, 2)
    assert (second.title, second.prompts, first.tokens) == ("Rounding", ("Thanks",), 14)
    assert first.at == pytest.approx(LONG_AGO + 50)


def test_an_apply_patch_of_copilot_writes_its_files(machine: Machine):
    one = Copilot(machine.copilot, machine.root)
    patch = "*** Begin Patch\n*** Add File: shop/tax.py\n+y = 1\n*** End Patch"
    one.write(
        [one.start(), one.asked("Add it"), one.used("apply_patch", patch, "p"), one.got("p", "ok"), one.said("Done.")]
    )
    machine.run()
    (record,) = machine.episodes()
    assert record.files == ("shop/tax.py",)
    assert "+y = 1" in record.patch


@pytest.mark.parametrize("is_old", [False, True])
def test_a_turn_of_gemini_is_told_whole(machine: Machine, is_old: bool):
    one = Gemini(machine.gemini, machine.root)
    path = str(machine.root / "shop/money.py")
    diff = "Index: money.py\n===\n--- money.py\tCurrent\n+++ money.py\tProposed\n@@ -1,1 +1,1 @@\n-x = 1\n+x = 2\n"
    todos = {"todos": [{"description": "round", "status": "in_progress"}]}
    messages = [
        one.asked("Round the tax"),
        {**one.said("I look.", one.call("write_todos", todos)), "thoughts": [{"subject": "Tax", "description": "hm"}]},
        one.said("", one.call("replace", {"file_path": path, "old_string": "x", "new_string": "y"}, resultDisplay={"fileDiff": diff})),
        one.said("", one.call("write_file", {"file_path": "shop/no.py", "content": "no"}, status="cancelled")),
        one.said("", one.call("run_shell_command", {"command": "pytest -q"}, "Output: boom\nExit Code: 1")),
        one.said("It fails."), *one.turn("Thanks", "Welcome."),
    ]  # fmt: skip
    if is_old:
        one.name_project()
        one.write_document(messages, summary="Rounding")
    else:
        one.write(
            [
                one.meta(),
                messages[0],
                *(record for one_ in messages[1:] for record in (one_, one_)),
                {"$set": {"summary": "Rounding"}},
            ]
        )
    done = machine.run()
    assert (done.episodes, done.sessions, done.unknown, done.broken, done.notes) == (2, 1, {}, {}, ())
    first, second = machine.episodes()
    assert (first.prompts, first.answer, first.files) == (("Round the tax",), "It fails.", ("shop/money.py",))
    assert "@@ -1,1 +1,1 @@\n-x = 1\n+x = 2" in first.patch
    assert (first.outcome, first.verdict, first.plan) == ("failed", "`pytest -q` failed", "- [~] round")
    assert first.tools == ("write_todos", "replace", "write_file", "run_shell_command")
    assert [step.kind for step in first.steps] == ["thought", "said", "tool", "tool", "tool", "tool"]
    assert (first.tokens, first.agent, first.session, second.turn) == (5 * 20, "gemini", one.session, 2)
    assert second.prompts == ("Thanks",)
    assert machine.run().transcripts == 0


def test_a_turn_of_cursor_is_told_whole(machine: Machine):
    one = Cursor(machine.cursor, machine.root)
    path = str(machine.root / "shop/money.py")
    one.write([
        one.asked("Round the tax"), one.said("I look.", ("Read", {"path": path})),
        one.said("", ("StrReplace", {"path": path, "old_string": "x", "new_string": "y"}), ("Shell", {"command": "pytest"})),
        one.said("It rounds."), one.ended(), one.asked("More"), one.ended("aborted", error="User aborted"),
    ])  # fmt: skip
    done = machine.run()
    assert (done.episodes, done.unknown, done.broken, done.notes) == (2, {}, {}, ())
    first, second = machine.episodes()
    assert (first.prompts, first.answer, first.files, first.patch) == (
        ("Round the tax",),
        "It rounds.",
        ("shop/money.py",),
        "",
    )
    assert first.tools == ("Read", "StrReplace", "Shell")
    assert (first.session, first.at, second.outcome) == (one.session, LONG_AGO, "interrupted")


# --- whose they are ---


@pytest.mark.parametrize("agent", NEW)
def test_sessions_of_other_projects_are_counted(machine: Machine, agent: str):
    other = machine.base / "work" / "other"
    other.mkdir()
    one, two = made(machine, agent), made(machine, agent, other, "99999999-ffff-4fff-8fff-999999999999")
    if isinstance(two, Gemini):
        two.project = two.project.with_name("other")
        two.file = two.project / "chats" / two.file.name
    one.write(turns_of(one, ("First", "One.")))
    two.write(turns_of(two, ("Other", "Other.")))
    done = machine.run()
    assert machine.prompts() == ["First"]
    assert (done.looked_at.here, done.looked_at.others, done.looked_at.unread) == (1, 1, 0)


@pytest.mark.parametrize("is_known_by", ["the project", "a path", "the list", "nothing"])
def test_a_folder_of_gemini_that_is_a_digest_is_found(machine: Machine, is_known_by: str):
    inside = machine.root / "shop"
    one = Gemini(machine.gemini, machine.root if is_known_by == "the project" else inside)
    one.project = one.project.with_name(one.digest)
    one.file = one.project / "chats" / one.file.name
    call = [one.call("read_file", {"file_path": str(inside / "money.py")})] if is_known_by == "a path" else []
    if is_known_by == "the list":
        write_lines(machine.gemini / ".gemini" / "projects.json", [{"projects": {str(inside): "shop"}}])
    write_lines(one.file, [one.meta(), one.asked("First"), one.said("One.", *call)])
    done = machine.run()
    assert machine.prompts() == ([] if is_known_by == "nothing" else ["First"])
    assert done.looked_at.others == (is_known_by == "nothing")
    assert done.notes == ()


def test_a_name_of_cursor_that_two_folders_have_is_told_by_paths_alone(machine: Machine):
    twin = machine.root.parent.with_name(f"work-{machine.root.name}")
    twin.mkdir()
    one = Cursor(machine.cursor, machine.root)
    one.write(one.turn("First", "One."))
    assert machine.run().looked_at.others == 1
    one.file.unlink()
    one.write([one.asked("Second"), one.said("Two.", ("Read", {"path": f"{machine.root}/shop/money.py"}))])
    machine.run()
    assert machine.prompts() == ["Second"]


def test_an_old_session_of_copilot_is_known_by_the_file_beside_it(machine: Machine):
    one = Copilot(machine.copilot, machine.root)
    start = one.start()
    del start["data"]["context"]
    one.write([start, *one.turn("First", "One.")])
    (one.file.parent / "workspace.yaml").write_text(f"id: {one.session}\ncwd: {machine.root}\nbranch: main\n")
    machine.run()
    assert machine.prompts() == ["First"]


def test_files_of_other_kinds_are_no_transcripts_or_are_named(machine: Machine):
    copilot, gemini, cursor = (made(machine, agent) for agent in ("copilot", "gemini", "cursor"))
    write_lines(copilot.file.parent / "vscode.metadata.json", [{"workspaceFolder": "/w"}])
    write_lines(copilot.file.parent / "files" / "deep" / "data.jsonl", [{"a": 1}])
    old = write_lines(machine.copilot / "history-session-state" / "session_1.json", [{}])
    write_lines(machine.gemini / ".gemini" / "tmp" / "shop" / "logs.json", [[]])
    write_lines(machine.gemini / ".gemini" / "tmp" / "shop" / "logs" / "session-1.jsonl", [{"a": 1}])
    write_lines(machine.gemini / ".gemini" / "tmp" / "shop" / "chats" / "notes.json", [{}])
    text = write_lines(cursor.file.with_suffix(".txt"), [b"user:\nhello\n"])
    done = machine.run()
    assert (done.looked_at.total, done.looked_at.unread) == (2, 2)
    assert sorted(note.partition(" could")[0] for note in done.notes) == sorted(map(str, (old, text)))
    assert isinstance(gemini, Gemini)


@pytest.mark.parametrize("agent", NEW)
def test_links_to_folders_are_not_followed(machine: Machine, agent: str):
    one = made(machine, agent)
    one.write(turns_of(one, ("First", "One.")))
    project = one.project if isinstance(one, Gemini | Cursor) else one.file.parent
    away = machine.base / "away"
    project.rename(away)
    project.symlink_to(away, target_is_directory=True)
    assert machine.run().looked_at.total == 0


# --- odd values, and files that are cut off ---

_made: list[Machine] = []


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(ANY, min_size=3, max_size=12), seed=st.integers(0, 2**16))
@pytest.mark.parametrize("agent", [*NEW, "gemini, old"])
def test_any_value_in_any_place_is_read(
    tmp_path_factory: pytest.TempPathFactory, agent: str, values: list[Any], seed: int
):
    machine = _made[0] if _made else Machine(tmp_path_factory.mktemp("machine"))
    _made[:] = [machine]
    for folder in (machine.gemini, machine.cursor, machine.copilot, machine.transcripts().state.folder):
        shutil.rmtree(folder, ignore_errors=True)
    one, records = LINES[agent.partition(",")[0]](machine)
    records = json.loads(json.dumps(records))
    chance = random.Random(seed)
    for value in values:
        holder, name = chance.choice([place for place in _places(records[1:]) if place[1] != "id"])
        holder[name] = value
    if agent == "gemini, old":
        assert isinstance(one, Gemini)
        one.name_project()
        one.write_document([record for record in records if isinstance(record, dict) and "type" in record])
    else:
        one.write(records)
    assert machine.run().notes == ()
    assert machine.run().transcripts == 0


def test_a_document_of_gemini_that_is_cut_off_anywhere_keeps_what_is_whole(machine: Machine):
    one = Gemini(machine.gemini, machine.root)
    one.name_project()
    file = one.write_document([*one.turn("First", "One."), *one.turn("Second", "Two.")], summary="Rounding")
    data = file.read_bytes()
    for end in range(0, len(data), 23):
        shutil.rmtree(Journal.of(machine.root).folder, ignore_errors=True)
        file.write_bytes(data[:end])
        os.utime(file, (LONG_AGO, LONG_AGO))
        done = machine.run()
        whole = [name for name in ("First", "Second") if data.find(f'"{name}"'.encode()) + 40 < end]
        assert machine.prompts()[: len(whole)] == whole
        assert done.broken or done.looked_at.unread or done.looked_at.silent or len(whole) == 2 or end == 0
        file.write_bytes(data)
        os.utime(file, (LONG_AGO + 1, LONG_AGO + 1))
        machine.run()
        shown = [prompt for record in machine.episodes() if record.answer for prompt in record.prompts]
        assert shown == ["First", "Second"], end


def test_a_session_of_gemini_that_goes_on_in_the_newer_form_is_recorded_once(machine: Machine):
    one = Gemini(machine.gemini, machine.root)
    one.name_project()
    messages = one.turn("First", "One.")
    one.write_document(messages)
    machine.run()
    one.write([one.meta(), *messages, *one.turn("Second", "Two.")])
    machine.run()
    assert machine.prompts() == ["First", "Second"]
    assert {record.session for record in machine.episodes()} == {one.session}


def test_a_document_that_is_too_deep_or_no_object_costs_no_other(machine: Machine):
    one = Gemini(machine.gemini, machine.root)
    one.write(turns_of(one, ("First", "One.")))
    for number, data in enumerate(
        [b"[" * 100_000, b"[1, 2]", b'{"messages": {"a": 1}}', b'{"messages": [' + b"[" * 100_000, b""]
    ):
        write_lines(one.file.with_name(f"session-{number}.json"), [data])
    done = machine.run()
    assert machine.prompts() == ["First"]
    assert done.looked_at.unread == 5


def test_prompts_that_stand_in_a_record_of_all_messages_alone_are_taken_once(machine: Machine):
    one = Gemini(machine.gemini, machine.root)
    first, second = one.turn("First", "One."), one.turn("Second", "Two.")
    one.write([one.meta(), *first, {"$set": {"messages": [*first, *second]}}, *one.turn("Third", "Three.")])
    machine.run()
    one.write([{"$set": {"messages": [*first, *second, *one.turn("Fourth", "Four.")]}}])
    machine.run()
    assert [(record.prompts, record.answer) for record in machine.episodes()] == [
        (("First",), "One."), (("Second",), "Two."), (("Third",), "Three."), (("Fourth",), "Four."),
    ]  # fmt: skip


def test_prompts_that_were_withdrawn_are_not_recorded(machine: Machine):
    gemini, copilot = Gemini(machine.gemini, machine.root), Copilot(machine.copilot, machine.root)
    asked = gemini.asked("Oops")
    gemini.write([*turns_of(gemini, ("First", "One.")), asked, {"$rewindTo": asked["id"]}])
    copilot.clock = 500
    asked = copilot.asked("Oops")
    back = copilot.event("session.snapshot_rewind", upToEventId=asked["id"], eventsRemoved=1)
    copilot.write([*turns_of(copilot, ("Second", "Two.")), asked, back])
    machine.run()
    assert machine.prompts() == ["First", "Second"]


def test_sub_agents_of_gemini_hang_below_their_session(machine: Machine):
    one = Gemini(machine.gemini, machine.root)
    child = Gemini(machine.gemini, machine.root, "66666666-eeee-4eee-8eee-666666666666")
    child.file = one.file.parent / one.session / f"{child.session}.jsonl"
    one.write(turns_of(one, ("First", "One.")))
    child.write([child.meta(kind="subagent"), *child.turn("Survey", "Surveyed.")])
    machine.run()
    assert {(record.session, record.parent) for record in machine.episodes()} == {
        (one.session, ""),
        (child.session, one.session),
    }


# --- copies ---


def saved(machine: Machine) -> RescueSummary:
    last = list(rescue(machine.environment, None, Cancel()))[-1]
    assert last.rescued is not None
    return last.rescued


@pytest.mark.parametrize("agent", [*NEW, "gemini, old"])
def test_a_copy_is_read_once_the_transcript_has_gone(machine: Machine, agent: str):
    one = made(machine, agent.partition(",")[0])
    if agent == "gemini, old":
        assert isinstance(one, Gemini)
        one.name_project()
        file = one.write_document([*one.turn("First", "One."), *one.turn("Second", "Two.")])
    else:
        file = one.write(turns_of(one, ("First", "One."), ("Second", "Two.")))
    assert saved(machine).copied == 1
    assert saved(machine).kept == 1
    file.unlink()
    machine.run()
    assert machine.prompts() == ["First", "Second"]
    file.parent.rmdir()
    assert plan(machine.transcripts()).new == 0


@pytest.mark.parametrize(
    ("kept", "days"),
    [
        ({}, 30), ({"enabled": False}, None), ({"maxAge": "2w"}, 14), ({"maxAge": "24h"}, 1), ({"maxAge": "0d"}, None),
        ({"maxAge": 5}, None), ("x", 30),
    ],
)  # fmt: skip
def test_gemini_deletes_sessions_by_its_setting(machine: Machine, kept: Any, days: int | None):
    write_lines(machine.gemini / ".gemini" / "settings.json", [{"general": {"sessionRetention": kept}}])
    assert GeminiFormat(machine.environment).days_kept(Path()) == days
    one = Gemini(machine.gemini, machine.root)
    one.write(turns_of(one, ("First", "One.")))
    (source,) = rescue_plan(machine.environment, now=LONG_AGO + 29 * 86_400).sources
    assert (source.days, source.expiring) == (days, int(days is not None))


def test_where_folders_are_never_recorded_a_session_of_an_unknown_folder_is_not_copied(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    one = Gemini(machine.gemini, machine.base / "gone")
    one.project = one.project.with_name(sha256(b"gone").hexdigest())
    one.file = one.project / "chats" / one.file.name
    write_lines(one.file, turns_of(one, ("First", "One.")))
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", '["/never"]')
    assert saved(machine).withheld == {"its folder is unknown, and some folders are never recorded": 1}
    assert not list(copies.all_copies("gemini"))


def test_what_was_kept_of_each_prompt_is_found_by_a_reader_of_its_own(machine: Machine):
    for agent in NEW:
        one, records = LINES[agent](machine)
        one.write(records)
    check(machine, machine.run())
