"""Copies of transcripts: private, whole, only of what may be kept, and read by an import once the originals have gone."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.erasure.scan import scan_files
from cm_tui.engine.memory.importers.rescue import plan, refused, rescue
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError
from cm_tui.locks import locked
from cm_tui.model import Cancel, EpisodeFilter, RescueSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode, iso, write_lines
from tests.forked import run_python

DAY = 86_400.0
OTHER = "99999999-aaaa-4aaa-8aaa-111111111111"


def run(machine: Machine, root: Path | None = None) -> RescueSummary:
    would = refused(machine.environment, root)
    last = list(rescue(machine.environment, root, Cancel()))[-1]
    assert last.rescued is not None
    assert would == last.rescued.withheld, "what a dry run says is refused"
    return last.rescued


def copied() -> dict[str, bytes]:
    """The copies by the name of the original file, unpacked."""
    found = (one.path for agent in ("claude-code", "codex") for one in copies.all_copies(agent))
    return {path.name.removesuffix(".gz"): gzip.decompress(path.read_bytes()) for path in found}


def stored(text: str) -> bool:
    """Whether any file of the copies holds a text, compressed or not."""
    files = [path for path in copies.folder().rglob("*") if path.is_file()]
    contents = [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files]
    return any(text.encode() in content for content in contents)


def both(machine: Machine) -> tuple[Claude, Codex]:
    claude, codex = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    claude.write([*claude.turn("First", "One."), *claude.turn("Second", "Two.")])
    codex.write([codex.meta(), *codex.turn("Third", "Three.")])
    return claude, codex


def bare(records: list[EpisodeRecord]) -> list[dict[str, object]]:
    return [record.to_event_data() for record in records]


# --- what there is ---


def test_the_plan_counts_what_is_deleted_soon_by_times_alone(machine: Machine):
    now = LONG_AGO + 100 * DAY
    for number, days in enumerate((1, 24, 26, 31)):
        one = Claude(machine.claude, machine.root, f"{number}1111111-aaaa-4aaa-8aaa-111111111111")
        os.utime(one.write(one.turn("x", "y")), (now - days * DAY, now - days * DAY))
    agent = one.file.with_name("agent-1.jsonl")
    write_lines(agent, one.turn("a part", "done"))
    codex = Codex(machine.codex, machine.root)
    codex.write([codex.meta()])
    third = OpenCode(machine.data, machine.root)
    third.turn(third.session("s"), "x", "y")
    third.write_database()
    found = {one.agent: one for one in plan(machine.environment, now=now).sources}
    claude = found["claude-code"]
    assert (claude.sessions, claude.files, claude.days, claude.expiring, claude.unsaved) == (4, 5, 30, 2, 2)
    assert (found["codex"].days, found["codex"].expiring, found["codex"].new) == (None, 0, 1)
    assert (found["opencode"].files, found["opencode"].days) == (0, None)
    (machine.claude / "settings.json").write_text('{"cleanupPeriodDays": 60}')
    assert plan(machine.environment, now=now).sources[0].expiring == 0
    (machine.claude / "settings.json").write_text("no settings")
    assert plan(machine.environment, now=now).sources[0].expiring == 2
    run(machine)
    claude = plan(machine.environment, now=now).sources[0]
    assert (claude.expiring, claude.unsaved, claude.new) == (2, 0, 0)


def test_a_plan_writes_nothing(machine: Machine, cm_home: Path):
    both(machine)
    plan(machine.environment)
    plan(machine.environment, machine.root)
    assert not copies.folder().exists()


# --- the copies ---


def test_copies_are_private_and_whole_and_the_second_run_copies_nothing(machine: Machine):
    claude, codex = both(machine)
    done = run(machine)
    assert (done.copied, done.kept, done.withheld, done.notes) == (2, 0, {}, ())
    assert copied() == {one.file.name: one.file.read_bytes() for one in (claude, codex)}
    for path in [copies.folder(), *copies.folder().rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    before = {path: path.stat().st_mtime_ns for path in copies.folder().rglob("*.gz")}
    again = run(machine)
    assert (again.copied, again.kept, again.bytes) == (0, 2, 0)
    assert before == {path: path.stat().st_mtime_ns for path in copies.folder().rglob("*.gz")}
    claude.write(claude.turn("More", "Yes."), old=False)
    assert (run(machine).copied, copied()[claude.file.name]) == (1, claude.file.read_bytes())


def test_a_packed_transcript_is_copied_and_read_from_its_copy(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    packed = write_lines(claude.file.with_suffix(".jsonl.gz"), [gzip.compress(json.dumps(r).encode() + b"\n") for r in claude.turn("First", "One.")])  # fmt: skip
    run(machine)
    packed.unlink()
    assert machine.run().episodes == 1


def test_of_one_project_only_its_transcripts_are_copied(machine: Machine, tmp_path: Path):
    claude, _ = both(machine)
    elsewhere = Claude(machine.claude, tmp_path / "elsewhere", OTHER)
    elsewhere.write(elsewhere.turn("Else", "Where."))
    assert run(machine, machine.root).copied == 2
    assert elsewhere.file.name not in copied()
    assert run(machine).copied == 1
    assert {claude.file.name, elsewhere.file.name} <= set(copied())


def test_no_link_is_followed(machine: Machine, tmp_path: Path):
    outside = Claude(tmp_path / "outside", machine.root, OTHER)
    outside.write(outside.turn("secret plan", "hidden"))
    folder = machine.claude / "projects" / "p"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to(outside.file)
    (machine.claude / "projects" / "folder").symlink_to(outside.file.parent)
    (machine.claude / "history.jsonl").symlink_to(outside.file)
    done = run(machine)
    assert (done.copied, done.notes[1:]) == (0, ())
    assert "history.jsonl could not be copied" in done.notes[0]
    assert not stored("secret plan")


@pytest.mark.process
@pytest.mark.parametrize("step", [1, 2])
def test_a_killed_rescue_goes_on_where_it_was(machine: Machine, cm_home: Path, step: int):
    claude, codex = both(machine)
    script = (
        "import os, signal, sys, cm_tui.files as files\n"
        "from cm_tui.engine.memory.importers.rescue import rescue\n"
        "from cm_tui.model import Cancel\n"
        "sync, left = files._sync, [int(sys.argv[1])]\n"
        "def kill(file):\n"
        "    left[0] -= 1\n"
        "    sync(file) if left[0] else os.kill(os.getpid(), signal.SIGKILL)\n"
        "files._sync = kill\n"
        "list(rescue(os.environ, None, Cancel()))\n"
    )
    killed = run_python(script, str(step), **machine.environment)
    assert killed.returncode == -signal.SIGKILL
    assert len(copied()) == step - 1
    assert list(copies.folder().rglob("*.cm-new"))
    assert run(machine).copied == 3 - step
    assert set(copied()) == {claude.file.name, codex.file.name}
    assert not list(copies.folder().rglob("*.cm-new"))


def test_two_rescues_do_not_run_at_once(machine: Machine):
    both(machine)
    run(machine)
    with locked(copies.folder() / "lock", 0.0), pytest.raises(StoreError, match="Another process"):
        run(machine)


# --- what must not be kept ---


def test_nothing_of_folders_and_sessions_that_are_never_recorded(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    private, session, moved = (
        Claude(machine.claude, machine.base / "private" / "x", OTHER),
        Claude(machine.claude, machine.root),
        Claude(machine.claude, machine.root, "77777777-aaaa-4aaa-8aaa-111111111111"),
    )
    for one in (private, session):
        one.write(one.turn("hush", "hush"))
    moved.write([*moved.turn("open", "open"), moved.asked("hush", cwd=str(machine.base / "private"))])
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", json.dumps([str(machine.base / "private")]))
    gate.mark_session(session.session, never=True)
    done = run(machine)
    assert (done.copied, done.withheld) == (
        0,
        {"this folder is never recorded": 2, "this session is never recorded": 1},
    )
    assert not stored("hush")
    assert plan(machine.environment).unsaved == 0
    monkeypatch.delenv("CM_MEMORY__NEVER_RECORD")
    assert run(machine).copied == 2


def test_a_session_with_a_turn_in_a_pause_is_not_copied(machine: Machine):
    one, later = Claude(machine.claude, machine.root), Claude(machine.claude, machine.root, OTHER)
    one.write([*one.turn("before", "yes"), *one.turn("hush", "yes")])
    later.clock = 1_000
    os.utime(later.write(later.turn("after", "yes")), (LONG_AGO + 2_000,) * 2)
    gate.begin("", None, now=LONG_AGO + 12)
    gate.end("", now=LONG_AGO + 100)
    done = run(machine)
    assert (done.copied, done.withheld) == (1, {"recording is paused": 1})
    assert set(copied()) == {later.file.name}


def test_where_recording_is_off_nothing_is_copied(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    both(machine)
    monkeypatch.setenv("CM_AGENTS__RECORD", "false")
    assert run(machine).withheld == {"recording of the project is off": 2}


def test_while_nobody_knows_of_pauses_nothing_is_copied(machine: Machine):
    both(machine)
    paths.private_dir(gate.folder())
    gate.file().write_text("damaged")
    with pytest.raises(StoreError):
        run(machine)
    assert not copied()


# --- the import ---


def test_an_import_from_copies_records_the_same_episodes(machine: Machine):
    claude, codex = both(machine)
    side = Claude(machine.claude, machine.root)
    side.side = {"isSidechain": True, "agentId": "a1"}
    side.file = claude.file.with_name("agent-a1.jsonl")
    side.write(side.turn("A part", "Done."))
    run(machine)
    assert machine.run().episodes == 4
    from_originals = bare(machine.episodes())
    for file in (claude.file, codex.file, side.file):
        file.unlink()
    again = machine.run()
    assert (again.transcripts, again.notes) == (0, ())
    with Engine.open(machine.root) as engine:
        engine.reset(drop_episodes=True)
    assert machine.run().episodes == 4
    assert bare(machine.episodes()) == from_originals
    assert machine.run().transcripts == 0


def test_what_was_imported_before_it_grew_is_not_imported_again(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("First", "One."))
    machine.run()
    os.utime(claude.write(claude.turn("Second", "Two.")), (LONG_AGO + 50,) * 2)
    content = claude.file.read_bytes()
    run(machine)
    claude.file.unlink()
    done = machine.run()
    assert (done.episodes, done.known, done.notes) == (1, 0, ())
    assert machine.prompts() == ["First", "Second"]
    # The agent's own file comes back, as from a backup of the machine, and goes on.
    claude.file.write_bytes(content)
    claude.write(claude.turn("Third", "Three."))
    machine.run()
    assert machine.prompts() == ["First", "Second", "Third"]


def test_what_an_agent_removed_from_a_transcript_stays_in_a_copy(machine: Machine):
    claude, _ = both(machine)
    run(machine)
    whole = claude.file.read_bytes()
    claude.file.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    for _ in range(2):
        run(machine)
    assert [content == whole for content in copied().values()].count(True) == 1
    assert len(copied()) == 3
    assert machine.run().episodes == 3
    assert sorted(machine.prompts()) == ["First", "Second", "Third"]
    gate.mark_session(claude.session, never=True)
    claude.write(claude.turn("Fourth", "Four."))
    run(machine)
    assert not stored("Second")


def test_an_original_is_read_and_not_its_copy(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("First", "One."))
    run(machine)
    next(copies.folder().rglob("*.jsonl.gz")).write_bytes(b"damaged")
    assert machine.run().episodes == 1


def test_a_damaged_copy_is_reported(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("First", "One."))
    run(machine)
    copy = next(copies.folder().rglob("*.jsonl.gz"))
    copy.write_bytes(copy.read_bytes()[:-20])
    claude.file.unlink()
    assert any("damaged" in note for note in machine.run().notes)


def test_secrets_of_a_copy_are_redacted_when_it_is_imported(machine: Machine):
    secret = "xox" + "b-283746501928-Kq7RzmW2pLx9"
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn(f"use {secret}", "Done."))
    run(machine)
    claude.file.unlink()
    assert machine.run().redacted == 1
    assert "[redacted" in machine.prompts()[0]
    assert any("1 copy of transcripts" in note for note in scan_files(None)[1])


# --- erasing ---


def test_the_copy_of_a_session_goes_with_an_erased_turn_and_does_not_come_back(machine: Machine):
    claude, codex = both(machine)
    fork = Claude(machine.claude, machine.root, OTHER)
    fork.clock = claude.clock
    repeated = [{**json.loads(line), "sessionId": OTHER} for line in claude.file.read_text().splitlines()]
    fork.write([*repeated, *fork.turn("Fork", "Yes.")])
    run(machine)
    machine.run()
    with Engine.open(machine.root) as engine:
        first = next(one.id for one in engine.episodes().rows if one.prompts == ("First",))
        report = engine.erase([first])
    assert "2 rescued copies of transcripts removed" in " ".join(report.notes)
    assert set(copied()) == {codex.file.name}
    assert not stored("First")
    claude.write(claude.turn("More", "Yes."), old=False)
    done = run(machine)
    assert (done.copied, done.kept, done.withheld) == (0, 1, {"one of its turns was erased": 2})


def test_a_turn_that_an_unread_session_repeats_is_erased_there_too(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("First", "One."))
    machine.run()
    fork = Claude(machine.claude, machine.base / "elsewhere", OTHER)
    fork.write([{**json.loads(line), "sessionId": OTHER} for line in claude.file.read_text().splitlines()])
    assert run(machine).copied == 2
    with Engine.open(machine.root) as engine:
        engine.erase([one.id for one in engine.episodes().rows])
    assert not copied()


def test_a_session_that_a_hook_told_of_and_that_is_erased_is_never_copied(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("Told", "Yes."))
    who = {"agent": "claude-code", "session": claude.session, "root": str(machine.root)}
    asked = Journal.of(machine.root).append("hook.prompt", {**who, "prompt": "Told"})
    with Engine.open(machine.root) as engine:
        engine.erase([asked.id])
    assert run(machine).withheld == {"one of its turns was erased": 1}


def test_an_erasure_that_did_not_get_to_the_copies_is_finished_by_the_next(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    both(machine)
    run(machine)
    machine.run()
    with Engine.open(machine.root) as engine:
        first = next(one.id for one in engine.episodes().rows if one.prompts == ("First",))
        with monkeypatch.context() as full:
            full.setattr(copies, "note_erasure", lambda: (_ for _ in ()).throw(OSError("disk full")))
            with pytest.raises(StoreError, match="cannot be removed"):
                engine.erase([first])
        assert stored("First")
        engine.erase(found=True)
    assert not stored("First")


def test_an_erasure_before_the_first_rescue_counts_too(machine: Machine):
    claude, _ = both(machine)
    machine.run()
    with Engine.open(machine.root) as engine:
        engine.erase([one.id for one in engine.episodes().rows if one.prompts == ("First",)])
    for mark in (copies.folder() / "erased").iterdir():
        # As after an erasure by an earlier version.
        mark.unlink()
    assert run(machine).withheld == {"one of its turns was erased": 1}
    assert claude.file.name not in copied()


def test_a_turn_that_a_hook_told_of_is_erased_from_the_copy(machine: Machine):
    began = time.time() - 3_600
    claude = Claude(machine.claude, machine.root)
    claude.clock = began - LONG_AGO
    claude.write(claude.turn("Told", "Yes."), old=False)
    journal = Journal.of(machine.root)
    who = {"agent": "claude-code", "session": claude.session, "root": str(machine.root)}
    asked = journal.append("hook.prompt", {**who, "prompt": "Told"})
    journal.append("hook.stop", {**who, "answer": "Yes."})
    run(machine)
    assert copied()
    with Engine.open(machine.root) as engine:
        engine.erase([asked.id])
    assert not copied()
    assert run(machine).copied == 0


def test_purged_episodes_go_from_the_copies(machine: Machine):
    claude, codex = both(machine)
    run(machine)
    machine.run()
    with Engine.open(machine.root) as engine:
        engine.retention(apply=True, older_than=0)
        engine.purge(
            [one.id for one in engine.episodes(where=EpisodeFilter(state="archived")).rows if one.prompts == ("First",)]
        )
    assert set(copied()) == {codex.file.name}
    assert run(machine).copied == 0
    assert claude.file.exists()


# --- prompts of sessions that are gone ---


def history(machine: Machine, *lines: tuple[str, str, str, float]) -> None:
    rows = [
        {"display": text, "pastedContents": {}, "timestamp": int((LONG_AGO + at) * 1_000), "project": folder, "sessionId": session}
        for session, folder, text, at in lines
    ]  # fmt: skip
    write_lines(machine.claude / "history.jsonl", rows)


def test_prompts_of_a_deleted_session_become_episodes_once(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    claude, root = Claude(machine.claude, machine.root), str(machine.root)
    claude.write(claude.turn("First", "One."))
    private = str(machine.base / "private")
    history(
        machine, (claude.session, root, "First", 5), (OTHER, root, "/clear", 90), (OTHER, root, "Lost one", 100),
        (OTHER, root, "Lost two", 200), ("88888888-hush", private, "hush", 300), ("../../x", root, "odd", 1),
    )  # fmt: skip
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", json.dumps([private]))
    done = run(machine)
    assert (done.copied, done.prompts) == (1, 1)
    assert not stored("hush")
    assert not stored("odd")
    assert run(machine).prompts == 0
    assert machine.run().episodes == 3
    lost = [record for record in machine.episodes() if record.session == OTHER]
    assert [(record.prompts, record.turn, record.answer) for record in lost] == [
        (("Lost one",), 1, ""),
        (("Lost two",), 2, ""),
    ]
    assert lost[0].at == LONG_AGO + 100
    assert "deleted the transcript" in lost[0].verdict
    assert machine.run().transcripts == 0


def test_prompts_of_a_session_that_is_recorded_are_not_recorded_again(machine: Machine):
    claude = Claude(machine.claude, machine.root)
    claude.write(claude.turn("First", "One."))
    history(machine, (claude.session, str(machine.root), "First", 5))
    machine.run()
    claude.file.unlink()
    assert run(machine).prompts == 1
    assert machine.run().episodes == 0
    assert machine.prompts() == ["First"]


def test_prompts_of_an_erased_session_go_and_stay_away(machine: Machine):
    history(machine, (OTHER, str(machine.root), "Lost one", 100))
    run(machine)
    machine.run()
    with Engine.open(machine.root) as engine:
        engine.erase([one.id for one in engine.episodes().rows])
    assert not stored("Lost one")
    assert run(machine).prompts == 0


def test_a_list_of_prompts_that_is_damaged_costs_only_its_damage(machine: Machine):
    history(machine, (OTHER, str(machine.root), "Lost one", 100))
    with (machine.claude / "history.jsonl").open("ab") as file:
        file.write(b'{"display": 5, "sessionId": {}, "project": []}\n\xff\xfe\n[1]\n{"display": "torn')
    assert (run(machine).prompts, iso(0)[:4]) == (1, "2026")
