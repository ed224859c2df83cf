"""Entries come along with a backup: known where it is restored, once, and in the place of none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cm_tui.engine.api.backup import back_up, restore_backup
from cm_tui.engine.backup import stream
from cm_tui.engine.entries import Author, Entries
from tests.gitrepo import Repo
from tests.planted import GITHUB, leaked

PERSON = Author()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.git("remote", "add", "origin", "https://example.org/me/shop.git")
    return repo


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
    assert notes == ("1 entry of the backup is there as another text, which stays",)
    assert [(one.content, one.held) for one in Entries(repo.root).all().entries] == [("new text", True)]
