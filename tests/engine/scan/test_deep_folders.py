"""Folders in each other by the thousand, as any clone may bring: more than a function may call itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.skip_rules import SkipRules, folders_of, folders_to
from cm_tui.engine.code.scan.working_tree import WorkingTreeScan
from cm_tui.engine.platform.git.repository import Repository
from tests.gitrepo import Repo

FOLDERS = "/".join("a" * (sys.getrecursionlimit() + 20))


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Repo]:
    repo = Repo(tmp_path / "r")
    repo.write("b.py", "y = 1\n")
    repo.commit()
    blob = repo.git("hash-object", "-w", "b.py")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{FOLDERS}/f.py")
    repo.git("checkout-index", "-a")
    yield repo
    # What removes it must not call itself for each folder either.
    subprocess.run(["rm", "-rf", str(repo.root)], check=True)


def scan_of(repo: Repo) -> WorkingTreeScan:
    repository = Repository(repo.root, repo.root.parent / "shadow")
    return WorkingTreeScan(repository, IndexConfig(), ContentReader(repository), {})


def test_a_file_below_them_is_scanned(deep: Repo):
    found = scan_of(deep).run()
    assert found.disk[f"{FOLDERS}/f.py"]
    assert found.skipped == {}


def test_a_change_below_them_is_accepted_unless_a_folder_above_is_left_out(deep: Repo):
    scan = scan_of(deep)
    assert scan.accepts(f"{FOLDERS}/new.py")
    assert not scan.accepts(f"node_modules/{FOLDERS}/new.py")


def test_a_link_above_them_counts_for_all(tmp_path: Path):
    repo = Repo(tmp_path / "r")
    (tmp_path / "elsewhere" / "x" / "y").mkdir(parents=True)
    repo.write("b.py", "y = 1\n")
    repo.commit()
    (repo.root / "link").symlink_to(tmp_path / "elsewhere")
    assert not scan_of(repo).accepts("link/x/y/f.py")


def test_rules_judge_each_folder_once(tmp_path: Path):
    rules = SkipRules(IndexConfig(), tmp_path, folders_of([f"{FOLDERS}/f.py"]))
    assert rules.by_path(f"{FOLDERS}/f.py") is None
    assert rules.by_path(f"node_modules/{FOLDERS}/f.py") == "dependency folder"


def test_folders_come_from_the_outermost_in():
    assert folders_to("a/b/c", {}) == ["a", "a/b", "a/b/c"]
    assert folders_to("a/b/c", {"a": 1}) == ["a/b", "a/b/c"]
    assert folders_to("", {}) == []
