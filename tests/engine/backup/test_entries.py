"""Entries come along with a backup: known where it is restored, once, and in the place of none."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cm_tui.engine.api import links
from cm_tui.engine.api.backup import back_up, look_at_backup, restore_backup
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.backup import stream
from cm_tui.engine.memory.entries import entry_backup
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import EntryFile
from cm_tui.engine.memory.entries.entry_record import entry_data
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError
from cm_tui.model import EntryEdit, EpisodeEdit
from cm_tui.model.author import Author
from tests.gitrepo import Repo
from tests.planted import GITHUB, leaked

PERSON = Author()


def shown(root: Path) -> list[str]:
    return [one.content for one in Entries(root).all().shown]


def test_entries_come_along_and_are_known(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Entries(repo.root).add("of the project", PERSON)
    Entries(repo.root).add("of the user", PERSON, scope="user")
    file = repo.root / ".cm/memory.json"
    stored = json.loads(file.read_text())
    stored["entries"].append({"id": "evil123", "content": f"came with a clone {GITHUB}"})
    file.write_text(json.dumps(stored))
    back_up(tmp_path / "shop.backup", repo.root)
    assert not leaked(str(list(stream.read(tmp_path / "shop.backup"))))
    with_file = Path(shutil.copytree(repo.root, tmp_path / "with"))
    file.unlink()
    without = Path(shutil.copytree(repo.root, tmp_path / "without"))
    for clone in (with_file, without):
        monkeypatch.setenv("CM_HOME", str(tmp_path / f"home of {clone.name}"))
        assert shown(clone) == []
        restore_backup(tmp_path / "shop.backup", clone)
        assert shown(clone) == ["of the project", "of the user"]
        before = (clone / ".cm/memory.json").read_bytes()
        assert restore_backup(tmp_path / "shop.backup", clone).notes == ()
        assert (clone / ".cm/memory.json").read_bytes() == before
    assert "evil123" in (with_file / ".cm/memory.json").read_text()
    assert "evil123" not in (without / ".cm/memory.json").read_text()


def test_what_is_there_stays(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Entries(repo.root).add("old text", PERSON)
    back_up(tmp_path / "shop.backup", repo.root)
    file = repo.root / ".cm/memory.json"
    file.write_text(file.read_text().replace("old text", "new text"))
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    notes = restore_backup(tmp_path / "shop.backup", repo.root).notes
    assert notes == ("1 entry of the backup has a different text here, which is kept",)
    assert [(one.content, one.held) for one in Entries(repo.root).all().entries] == [("new text", True)]


def linked(root: Path) -> list[str]:
    """Entries of a checkout after a person linked it."""
    links.link(links.memory_link(root))
    return shown(root)


@pytest.fixture
def two(repo: Repo, tmp_path: Path) -> Repo:
    """Another project, with an entry; both are in the backup."""
    other = Repo(tmp_path / "other")
    other.write("b.py", "y = 2\n")
    other.commit()
    other.git("remote", "add", "origin", "https://example.org/me/other.git")
    for one in (repo, other):
        Entries(one.root).add(f"of {one.root.name}", PERSON)
    back_up(tmp_path / "all", None)
    for one in (repo, other):
        (one.root / ".cm/memory.json").unlink()
    return other


def test_what_is_left_out_of_other_projects_is_told(
    repo: Repo, two: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    report = restore_backup(tmp_path / "all", repo.root)
    assert [(one.here, one.entries, one.new_entries) for one in sorted(report.projects, key=lambda one: one.here)] == [
        (False, 1, 0), (True, 1, 1),
    ]  # fmt: skip
    (note,) = [one for one in report.notes if "not restored" in one]
    assert note == "1 entry of other is not restored: use --all to restore every project in the file"
    assert shown(repo.root) == ["of shop"]
    assert linked(two.root) == []


@pytest.mark.parametrize("inside", [True, False])
def test_entries_of_other_projects_wait_for_a_checkout_and_come_once(
    repo: Repo, two: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
):
    monkeypatch.setenv("CM_HOME", str(tmp_path / "container"))
    root = repo.root if inside else None
    assert look_at_backup(tmp_path / "all", root, everything=True).projects[0].changes_something
    report = restore_backup(tmp_path / "all", root, everything=True)
    assert {one.new_entries for one in report.projects} == {1}
    assert any("1 entry of other waits for a checkout: run `cm link`" in one for one in report.notes)
    assert not any(one.changes_something for one in restore_backup(tmp_path / "all", root, everything=True).projects)
    assert not (two.root / ".cm/memory.json").exists()
    assert linked(two.root) == ["of other"]
    assert restore_backup(tmp_path / "all", root, everything=True).notes == ()
    # What is forgotten here stays forgotten.
    (two.root / ".cm/memory.json").unlink()
    assert entry_backup.take_waiting(two.root) == 0


def test_a_checkout_that_is_here_takes_its_entries(repo: Repo, two: Repo, tmp_path: Path):
    assert shown(two.root) == []
    report = restore_backup(tmp_path / "all", repo.root, everything=True)
    assert {one.new_entries for one in report.projects} == {1}
    assert "1 entry of other added" in report.notes
    assert (shown(repo.root), shown(two.root)) == (["of shop"], ["of other"])


def test_what_was_forgotten_or_erased_does_not_come_back(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = {"project": "granite of the project", "user": "granite of the user"}
    with Engine.open(repo.root) as engine:
        kept = engine.remember("kept")
        forgotten = [engine.remember(text, scope=scope).id for scope, text in first.items()]
        erased = engine.remember("xylophone quartz").id
    back_up(tmp_path / "one", repo.root)
    (repo.root / ".cm/memory.json").unlink()
    clone = Path(shutil.copytree(repo.root, tmp_path / "clone"))
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    restore_backup(tmp_path / "one", clone)
    with Engine.open(clone) as engine:
        engine.erase([erased])
        for id_ in forgotten:
            engine.forget_memory(id_)
        for _ in "twice":
            notes = restore_backup(tmp_path / "one", clone).notes
            assert notes == ("3 entries of the backup were forgotten or erased here and not restored",)
            assert [one.id for one in engine.entries().rows] == [kept.id]
        for id_ in forgotten:
            engine.forget_memory(id_, undo=True)
        assert sorted(shown(clone)) == sorted(["kept", *first.values()])
        assert restore_backup(tmp_path / "one", clone).notes == (
            "1 entry of the backup was forgotten or erased here and not restored",
        )


def test_entries_beyond_what_a_file_takes_are_told(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for text in ("granite", "gneiss"):
        Entries(repo.root).add(text, PERSON)
    back_up(tmp_path / "one", repo.root)
    (repo.root / ".cm/memory.json").unlink()
    monkeypatch.setattr(entry_backup, "MOST_ENTRIES", 1)
    notes = restore_backup(tmp_path / "one", repo.root).notes
    assert notes == ("2 entries of the backup are skipped: a file holds at most 20,000",)
    assert shown(repo.root) == []


def test_what_was_forgotten_here_comes_back_as_it_was_here(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = os.environ["CM_HOME"]
    with Engine.open(repo.root) as engine:
        ids = [engine.remember(text).id for text in ("granite", "gneiss")]
    back_up(tmp_path / "one", repo.root)
    clone = Path(shutil.copytree(repo.root, tmp_path / "clone"))
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    restore_backup(tmp_path / "one", clone)
    with Engine.open(clone) as engine:
        for id_ in ids:
            engine.forget_memory(id_)
    monkeypatch.setenv("CM_HOME", home)
    with Engine.open(repo.root) as engine:
        for id_ in ids:
            engine.update_entry(id_, EntryEdit("basalt"))
        engine.forget_memory(ids[1])
    back_up(tmp_path / "two", repo.root)
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    restore_backup(tmp_path / "two", clone)
    with Engine.open(clone) as engine:
        assert {one.content for one in engine.entries(forgotten=True).rows} == {"granite", "gneiss"}
        for id_ in ids:
            engine.forget_memory(id_, undo=True)
    assert shown(clone) == ["granite", "gneiss"]


def test_what_a_backup_brings_is_nobodys_last_change(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with Engine.open(repo.root) as engine:
        engine.remember("theirs")
        theirs = engine.record_episode("theirs").id
        engine.edit_episodes([theirs], EpisodeEdit(pinned=True))
    back_up(tmp_path / "one", repo.root)
    (repo.root / ".cm/memory.json").unlink()
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    with Engine.open(repo.root) as engine:
        mine = engine.remember("mine").id
        restore_backup(tmp_path / "one", repo.root)
        assert engine.undo().ids == (mine,)
        with pytest.raises(NotFoundError):
            engine.undo()
        list(engine.index())
        assert [(one.id, one.pinned) for one in engine.episodes().rows] == [(theirs, True)]
    assert shown(repo.root) == ["theirs"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("entry.changed", {"before": 5, "after": [], "scope": "project", "actor": "person"}),
        ("entry.changed", {"scope": "project", "actor": "person"}),
        ("episode.edited", {"ids": "x", "add_tags": []}),
        ("episode.edited", {"ids": ["x"], "rating": {}}),
        ("change.undone", {"ids": [], "change": {}}),
        ("episode.forgotten", {"ids": [5]}),
    ],
)
def test_malformed_changes_of_a_backup_stay_out(repo: Repo, tmp_path: Path, kind: str, data: dict[str, object]):
    Journal.of(repo.root).append(kind, data)
    kept = Journal.of(repo.root).append("episode", {"prompts": ["kept"]}).id
    back_up(tmp_path / "one", repo.root)
    shutil.rmtree(Journal.of(repo.root).folder)
    notes = restore_backup(tmp_path / "one", repo.root).notes
    assert notes == ("1 event of shop is skipped: unknown or damaged",)
    assert [event.id for event in Journal.of(repo.root).read()] == [kept]


def test_an_entry_that_waits_is_taken_even_after_a_kill(
    repo: Repo, two: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))
    journal = Journal.of(two.root)
    entry_backup.store_waiting(journal, [{**entry_data(Entries(two.root).draft("of other", PERSON)), "id": "abcdefg"}])

    def dies(*words: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EntryFile, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            entry_backup.take_waiting(two.root)
    assert entry_backup.take_waiting(two.root) == 1
    assert shown(two.root) == ["of other"]
    assert not entry_backup.waiting(journal)
