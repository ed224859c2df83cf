"""What is changed while recording is paused shows in no patch that is recorded later."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cm_tui.engine.api import recording
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.memory.projection.recorder import record_turn
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.memory.recording import changes, gate
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import Journal
from tests.gitrepo import Repo

LONG_AGO = 1.0
"""When a turn began that changed everything that there is."""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(changes, "COARSE_SECONDS", 0.0)
    repo = Repo(tmp_path / "shop")
    for name in "abcd":
        repo.write(f"{name}.py", f"{name} = 1\n")
    repo.commit()
    return repo


def tick(repo: Repo) -> None:
    """Wait until the clock of the file system has gone on, and is not behind the other one."""
    file = repo.root / ".git" / "tick"
    begun = time.time()
    while not file.exists() or file.stat().st_ctime <= begun:
        file.write_text("")


def pause(repo: Repo) -> None:
    tick(repo)
    recording.pause(repo.root)
    tick(repo)


def resume(repo: Repo) -> None:
    tick(repo)
    recording.resume(repo.root)
    tick(repo)


def turn(base: str, began: float = 0.0, *, files: tuple[str, ...] = ()) -> Turn:
    return Turn(Position(1, 0), prompts=["Do it"], base=base, files=list(files), first=began or time.time())


def recorded(repo: Repo, one: Turn) -> EpisodeRecord:
    now = time.time()
    stop = Event("1", now, "hook.stop", one.base, {}, Position(1, 0))
    record = record_turn(repo.root.resolve(), one, stop, now=now)
    assert record is not None
    return record


def test_a_patch_leaves_out_what_was_changed_in_a_pause(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    repo.write("a.py", "a = 'before'\n")
    pause(repo)
    repo.write("b.py", "b = 'hidden'\n")
    repo.write("new.py", "n = 'hidden'\n")
    (repo.root / "d.py").unlink()
    resume(repo)
    repo.write("c.py", "c = 'after'\n")
    repo.write("b.py", "b = 'hidden, and more'\n")
    found = recorded(repo, turn(head, LONG_AGO, files=("b.py",)))
    assert "before" in found.patch
    assert "after" in found.patch
    assert "hidden" not in found.patch
    assert "d.py" not in found.patch
    assert found.files == ("b.py", "a.py", "c.py"), "what a hook told of after the pause was changed after it"
    assert found.note.startswith("3 files excluded from the patch")


def test_what_is_committed_after_a_pause_is_left_out_no_more(repo: Repo):
    pause(repo)
    repo.write("b.py", "b = 'hidden'\n")
    repo.write("new.py", "n = 'hidden'\n")
    resume(repo)
    head = repo.commit("all of it")
    repo.write("b.py", "b = 'hidden'\nmore = 1\n")
    repo.write("new.py", "n = 'hidden'\nmore = 2\n")
    found = recorded(repo, turn(head))
    assert "+more = 1" in found.patch
    assert "+more = 2" in found.patch
    assert found.note == ""


def test_a_pause_with_commits_that_a_turn_spans_leaves_no_patch(repo: Repo):
    head, began = repo.git("rev-parse", "HEAD"), time.time()
    pause(repo)
    repo.write("b.py", "b = 'hidden'\n")
    repo.commit("in the pause")
    resume(repo)
    repo.write("a.py", "a = 'after'\n")
    found = recorded(repo, turn(head, began))
    assert found.patch == ""
    assert found.prompts == ("Do it",)
    assert "paused" in found.note


def test_a_turn_that_spans_a_pause_without_commits(repo: Repo):
    head, began = repo.git("rev-parse", "HEAD"), time.time()
    repo.write("a.py", "a = 'before'\n")
    pause(repo)
    repo.write("b.py", "b = 'hidden'\n")
    resume(repo)
    found = recorded(repo, turn(head, began))
    assert "before" in found.patch
    assert "hidden" not in found.patch


def test_a_stop_that_is_read_in_a_pause_shows_nothing_of_it(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    repo.write("a.py", "a = 'before'\n")
    pause(repo)
    repo.write("b.py", "b = 'hidden'\n")
    found = recorded(repo, turn(head, LONG_AGO))
    assert "before" in found.patch
    assert "hidden" not in found.patch
    assert found.files == ("a.py",)


def test_a_pause_that_ran_out_is_settled_when_something_happens_next(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    tick(repo)
    began = time.time()
    tick(repo)
    repo.write("b.py", "b = 'hidden'\n")
    tick(repo)
    gate.begin(gate.EVERYWHERE, time.time(), now=began)
    changes.settle(repo.root)
    repo.write("c.py", "c = 'after'\n")
    found = recorded(repo, turn(head))
    assert "after" in found.patch
    assert "hidden" not in found.patch


def test_pauses_of_long_ago_leave_later_changes_in(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    repo.write("b.py", "b = 'later'\n")
    gate.begin(gate.EVERYWHERE, 2_000.0, now=1_000.0)
    changes.settle(repo.root)
    assert "later" in recorded(repo, turn(head)).patch


def test_two_pauses_leave_out_what_both_changed(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    for name in "ab":
        pause(repo)
        repo.write(f"{name}.py", f"{name} = 'hidden'\n")
        resume(repo)
    repo.write("c.py", "c = 'after'\n")
    found = recorded(repo, turn(head))
    assert "hidden" not in found.patch
    assert "after" in found.patch


def test_more_files_than_can_be_told_apart(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changes, "_FILES", 3)
    head = repo.git("rev-parse", "HEAD")
    pause(repo)
    for name in "abcd":
        repo.write(f"{name}.py", f"{name} = 'hidden'\n")
    resume(repo)
    assert recorded(repo, turn(head)).patch == ""
    head = repo.commit("all of it")
    repo.write("a.py", "a = 'after'\n")
    assert "after" in recorded(repo, turn(head)).patch


def test_odd_names_and_a_repository_without_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changes, "COARSE_SECONDS", 0.0)
    repo = Repo(tmp_path / "empty")
    pause(repo)
    repo.write("[x]*.py", "hidden = 1\n")
    repo.git("add", "-A")
    resume(repo)
    repo.write("xx.py", "after = 1\n")
    repo.git("add", "-N", "xx.py")
    found = recorded(repo, turn(""))
    assert "hidden" not in found.patch
    assert "after" in found.patch


def test_files_in_folders_that_are_never_recorded_are_in_no_patch(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", '["**/customers"]')
    repo.write("customers/x.py", "x = 1\n")
    head = repo.commit()
    repo.write("customers/x.py", "x = 'hidden'\n")
    repo.write("a.py", "a = 'shown'\n")
    found = recorded(repo, turn(head, LONG_AGO))
    assert "shown" in found.patch
    assert "hidden" not in found.patch
    assert found.files == ("a.py",)


def test_what_cannot_be_read_leaves_no_patch(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    recording.pause(repo.root)
    gate.file().write_text("nonsense")
    repo.write("a.py", "a = 2\n")
    assert recorded(repo, turn(head)).patch == ""


def test_the_daemon_settles_a_pause_before_it_records(repo: Repo):
    journal = Journal.of(repo.root)
    head = repo.git("rev-parse", "HEAD")
    recording.pause(repo.root)
    tick(repo)
    repo.write("b.py", "b = 'hidden'\n")
    tick(repo)
    # As a pause for a time does, it ends without anybody who looks.
    gate.end(journal.folder.name)
    tick(repo)
    who = {"root": str(repo.root.resolve()), "session": "s", "agent": "codex"}
    journal.append("hook.prompt", {**who, "prompt": "Go on"}, head=head)
    consumer = JournalConsumer(lambda root, files, source: None)
    consumer.on_nudge(repo.root)
    repo.write("c.py", "c = 'after'\n")
    journal.append("hook.stop", {**who, "answer": "Done"}, head=head)
    consumer.on_nudge(repo.root)
    consumer.close()
    (episode,) = [event.data for event in journal.read() if event.kind == "episode"]
    assert "after" in episode["patch"]
    assert "hidden" not in episode["patch"]
    assert episode["files"] == ["c.py"]
