"""Which journal belongs to a folder, without working out the identity each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.journal.journal import Journal
from tests.gitrepo import Repo


def name_of(root: Path) -> str:
    """From the map; checked against the identity itself."""
    name = Journal.of(root).folder.name
    assert Journal.of(root).folder.name == name == identify(root).folder.name
    return name


def test_it_follows_the_identity(tmp_path: Path):
    repo = Repo(tmp_path / "größe 1")
    seen = {name_of(repo.root)}
    repo.commit("first")
    seen.add(name_of(repo.root))
    repo.commit("second")
    assert name_of(repo.root) in seen
    repo.git("remote", "add", "origin", "https://example.org/team/app.git")
    seen.add(name_of(repo.root))
    repo.git("remote", "set-url", "origin", "https://example.org/team/other.git")
    seen.add(name_of(repo.root))
    assert len(seen) == 4


def test_a_hit_does_without_the_git_library(tmp_path: Path):
    repo = Repo(tmp_path / "repo")
    repo.commit("first")
    repo.git("pack-refs", "--all")
    Journal.of(repo.root)
    code = (
        "import sys; from pathlib import Path; from cm_tui.engine.platform.journal.journal import Journal;"
        f"Journal.of(Path({str(repo.root)!r})).append('note', {{}}); print('pygit2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_damaged_map_is_made_again(tmp_path: Path):
    repo = Repo(tmp_path / "repo")
    repo.commit("first")
    before = name_of(repo.root)
    for rubbish in ("", "[1]", '{"x": 1}', "\0\0"):
        (paths.data_dir() / "journal" / "roots.json").write_text(rubbish)
        assert name_of(repo.root) == before


def test_the_journal_is_not_where_stores_are_thrown_away(tmp_path: Path):
    repo = Repo(tmp_path / "repo")
    store = identify(repo.root).folder
    assert not Journal.of(repo.root).folder.is_relative_to(store)
