"""Which sessions are of a project: its folders, worktrees, and where it lay before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.record import NEWEST, UNTIMED, HeadAt, Heads
from cm_tui.engine.platform.journal.journal import Journal
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, Codex, Cursor, OpenCode
from tests.gitrepo import Repo


def held_in(machine: Machine, folder: Path | str, name: str = "11111111") -> None:
    one = Claude(machine.claude, folder, f"{name}-aaaa-4aaa-8aaa-111111111111")
    one.clock = len(name) * 100 + sum(map(ord, name))
    one.write(one.turn(f"In {folder}", "Done."))


def test_sessions_of_the_project_and_of_others(machine: Machine):
    Repo(machine.base / "work" / "other").write("x.py")
    held_in(machine, machine.root, "aaaaaaaa")
    held_in(machine, machine.root / "shop", "bbbbbbbb")
    held_in(machine, machine.base / "work" / "other", "cccccccc")
    held_in(machine, machine.base / "work", "dddddddd")
    held_in(machine, machine.base / "gone", "eeeeeeee")
    found = plan(machine.transcripts())
    assert (found.sessions, found.new, found.others, found.imported) == (2, 2, 3, False)
    assert 1 <= len(found.elsewhere) <= 3
    assert str(machine.root) not in found.elsewhere
    machine.run()
    assert {record.root for record in machine.episodes()} == {str(machine.root)}
    after = plan(machine.transcripts())
    assert (after.sessions, after.new, after.imported) == (2, 0, True)
    assert after.sources[0].folders == (str(machine.root),)


def test_sessions_of_worktrees_those_that_are_there_and_those_that_were(machine: Machine):
    there, gone, below = (machine.base / "trees" / name for name in ("there", "gone", "below"))
    below = machine.root / ".claude" / "worktrees" / "fix"
    for number, tree in enumerate((there, gone, below)):
        machine.repo.git("worktree", "add", "-q", "-b", f"b{number}", str(tree))
    for tree in (there, gone, below):
        held_in(machine, tree, f"{ord(tree.name[0]):08}")
    shutil.rmtree(gone)
    shutil.rmtree(below)
    found = plan(machine.transcripts())
    assert found.sessions == 3
    assert found.sources[0].moved == (str(gone),)
    machine.run()
    roots = {record.prompts[0]: record.root for record in machine.episodes()}
    assert roots[f"In {there}"] == str(there)
    assert roots[f"In {gone}"] == roots[f"In {below}"] == str(machine.root)


def test_a_moved_project_is_known_by_what_its_sessions_say_of_it(machine: Machine):
    old = machine.base / "before" / "elsewhere"
    head = machine.repo.git("rev-parse", "HEAD")
    for number, (git, is_mine) in enumerate(
        [
            ({"commit_hash": head}, True),
            ({"commit_hash": "b" * 40}, False),
            ({"commit_hash": "--upload-pack=x"}, False),
            ({}, False),
        ]
    ):
        one = Codex(machine.codex, old, f"{number}2222222-bbbb-4bbb-8bbb-222222222222")
        one.write([one.meta(git=git), *one.turn(f"Prompt {number} {is_mine}", "Done.")])
    stored = OpenCode(machine.data, old, machine.repo.git("rev-list", "--max-parents=0", "HEAD"))
    stored.session("ses_a")
    stored.turn("ses_a", "Prompt 5 True", "Done.")
    stored.write_database()
    machine.run()
    assert sorted(machine.prompts()) == ["Prompt 0 True", "Prompt 5 True"]


def test_a_moved_project_is_known_by_its_remote(machine: Machine):
    machine.repo.git("remote", "add", "origin", "git@example.org:shop/shop.git")
    one = Codex(machine.codex, "/gone/shop")
    one.write([one.meta(git={"repository_url": "https://user:word@example.org/shop/shop"}), *one.turn("First", "One.")])
    machine.run()
    assert machine.prompts() == ["First"]


def test_a_moved_project_is_known_by_its_name_and_files(machine: Machine):
    for folder, path, name in (
        ("/gone/before/shop", "shop/money.py", "aaaaaaaa"),
        ("/gone/other/shop", "lib/unknown.rb", "bbbbbbbb"),
        ("/gone/before/market", "shop/money.py", "cccccccc"),
    ):
        one = Claude(machine.claude, folder, f"{name}-aaaa-4aaa-8aaa-111111111111")
        one.write([one.asked(f"In {folder}"), one.used("Edit", {"file_path": f"{folder}/{path}", "old_string": "a", "new_string": "b"}, "e"),
                   one.got("e", "done"), one.said("Done.")])  # fmt: skip
    machine.run()
    (record,) = machine.episodes()
    assert record.prompts == ("In /gone/before/shop",)
    assert (record.root, record.files) == (str(machine.root), ("shop/money.py",))
    assert "+++ b/shop/money.py" in record.patch


def test_a_person_says_where_a_project_lay_before(machine: Machine):
    held_in(machine, "/gone/market/sub")
    assert machine.run().episodes == 0
    assert machine.run(folders=["/gone/market"]).episodes == 1


def test_what_is_said_of_a_folder_does_not_take_over_one_that_is_there(machine: Machine):
    other = Repo(machine.base / "work" / "other")
    other.write("x.py")
    held_in(machine, other.root)
    assert machine.run(folders=[str(other.root)]).episodes == 0


def test_the_plan_leaves_nothing_behind(machine: Machine):
    held_in(machine, machine.root)
    plan(machine.transcripts())
    assert not Journal.of(machine.root).folder.exists()


# --- commits ---


def test_a_turn_stands_at_the_commit_that_was_checked_out_then(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    first = machine.repo.git("rev-parse", "HEAD")
    second = machine.repo.commit("second")
    log = machine.root / ".git" / "logs" / "HEAD"
    log.write_text(
        f"{'0' * 40} {first} A <a@example.org> 1772442000 +0000\tcommit (initial): begin\n"
        f"damage\n{first} {second} A <a@example.org> 1772442300 +0000\tcommit: second\n"
    )
    heads = Heads(machine.root)
    assert heads.at(1772442000.0).sha == heads.at(1772442299.0).sha == first
    assert heads.at(1772442300.0).sha == second
    assert heads.at(None).sha == heads.at(1772441999.0).sha == heads.at(None, 1772441999.0).sha == ""
    assert heads.at(None, 1772442300.0) == HeadAt(second, UNTIMED)
    one = Claude(machine.claude, machine.root)
    one.clock = 100
    one.write([one.asked("First"), one.said("One.", timestamp="2026-03-02T09:05:01Z")])
    machine.run()
    (event,) = [event for event in Journal.of(machine.root).read() if event.kind == "episode"]
    assert (event.data["base"], event.head) == (first, second)
    # Transcripts of Cursor have no times: the file's stands for them.
    untimed = Cursor(machine.cursor, machine.root)
    os.utime(untimed.write(untimed.turn("Second", "Two.")), (1772442310, 1772442310))
    machine.run()
    event = [event for event in Journal.of(machine.root).read() if event.kind == "episode"][-1]
    assert (event.data["base"], event.head, event.data["note"]) == (second, second, UNTIMED)


def test_before_the_log_it_stands_at_the_newest_commit_of_that_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    repo = Repo(tmp_path / "repo")
    shas = []
    for number in (1_000_000_000, 1_000_000_100, 1_000_000_050):
        monkeypatch.setitem(_environment(), "GIT_COMMITTER_DATE", f"{number} +0000")
        shas.append(repo.commit(str(number)))
    shutil.rmtree(repo.root / ".git" / "logs")
    heads = Heads(repo.root)
    assert heads.at(1_000_000_099.0) == (shas[0], NEWEST)
    # A clock that was set back hides no commit.
    assert heads.at(1_000_000_200.0) == (shas[2], NEWEST)
    assert heads.at(999_999_999.0).sha == ""


def _environment() -> dict[str, str]:
    from tests import gitrepo

    return gitrepo._ENVIRONMENT
