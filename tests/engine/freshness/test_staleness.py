"""The check before a question sees what changed, and costs next to nothing when nothing did."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.config import Config
from cm_tui.engine.code.freshness.scheduler import EVERYTHING, Changes, path_filter
from cm_tui.engine.code.freshness.staleness import StalenessCheck
from tests.gitrepo import Repo
from tests.tiers import examples

OLD = 1_700_000_000


class Project:
    """A repository and its staleness check; `index` stands for a run that reads everything."""

    def __init__(self, root: Path, budget: float = 60.0) -> None:
        self.repo = Repo(root)
        self.repo.write(".gitignore", "ignored/\n*.tmp\n")
        for name in ("a.py", "pkg/b.py", "pkg/deep/größe 1.py"):
            self.old(name, "x = 1\n")
        self.repo.commit("one")
        self.looked = 0
        self.staleness = StalenessCheck(root, self._make_filter, budget_s=budget)
        self.index()

    def _make_filter(self):
        return path_filter(self.repo.root, self.repo.root.parent / "shadow", Config())

    def old(self, name: str, content: str) -> Path:
        """Written long ago, as far as the clock says."""
        file = self.repo.write(name, content)
        os.utime(file, (OLD, OLD))
        return file

    def files(self) -> list[str]:
        root = self.repo.root
        return [p.relative_to(root).as_posix() for p in root.rglob("*.py") if "ignored" not in p.parts]

    def index(self, changes: Changes = EVERYTHING) -> None:
        # Twice: what changed while it was read for the first time is not trusted.
        for _ in range(2):
            start = self.staleness.begin()
            self.staleness.finish(start, self.files(), (), changes)

    def found(self) -> Changes:
        return self.staleness.check().changes


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "repo")


def test_nothing_changed(project: Project):
    assert not project.staleness.check()
    assert not project.staleness.check(thorough=True)
    assert project.staleness.is_current(EVERYTHING)


def test_a_folder_that_became_a_link_or_a_file_is_seen_until_it_is_indexed(project: Project, tmp_path: Path):
    root = project.repo.root
    # Elsewhere lies what looks the same, to whoever follows the link.
    (root / "pkg").rename(tmp_path / "elsewhere")
    (root / "pkg").symlink_to(tmp_path / "elsewhere")
    assert "pkg" in (project.found().paths or ())
    assert not project.staleness.is_current(Changes.of(["pkg"]))
    start = project.staleness.begin()
    project.staleness.finish(start, ["a.py"], ["pkg"])
    start = project.staleness.begin()
    project.staleness.finish(start, ["a.py"], ["pkg"])
    assert not project.staleness.check(thorough=True)
    (root / "pkg").unlink()
    (root / "pkg").write_text("")
    assert "pkg" in (project.found().paths or ())


def test_before_the_first_run_everything_is_behind(tmp_path: Path):
    staleness = StalenessCheck(tmp_path, lambda: lambda _: True)
    assert staleness.check().changes == EVERYTHING
    assert not staleness.is_current(EVERYTHING)
    assert not staleness.is_current(Changes.of(["a.py"]))


def test_each_kind_of_change_is_seen_until_it_is_indexed(project: Project):
    root = project.repo.root
    steps = {
        "an edit": (lambda: project.repo.write("a.py", "x = 2\n"), {"a.py"}),
        "an edit of the same length": (lambda: project.repo.write("a.py", "x = 3\n"), {"a.py"}),
        "an edit whose time was set back": (lambda: project.old("a.py", "x = 4\n"), {"a.py"}),
        "a file put in its place": (lambda: project.repo.write("n.tmp", "x = 5\n").rename(root / "a.py"), {"a.py"}),
        "a new file": (lambda: project.repo.write("pkg/new 日本.py", ""), {"pkg/new 日本.py"}),
        "a new folder": (lambda: project.repo.write("more/c.py", ""), {"more"}),
        "a rename": (lambda: (root / "a.py").rename(root / "z.py"), {"a.py", "z.py"}),
        "a removal": ((root / "z.py").unlink, {"z.py"}),
        "an edit below": (lambda: project.repo.write("pkg/deep/größe 1.py", "y"), {"pkg/deep/größe 1.py"}),
    }
    for what, (change, paths) in steps.items():
        change()
        assert project.found().paths == paths, what
        assert project.found().paths == paths, f"{what}, asked again"
        project.index()
        assert not project.staleness.check(), what


def test_head_is_seen(project: Project):
    project.repo.commit("two")
    assert project.staleness.check().why == "HEAD moved"
    project.index()
    assert not project.staleness.check()


def test_rules_mean_everything(project: Project):
    project.repo.write(".gitignore", "other/\n")
    assert project.found() == EVERYTHING
    project.index()
    project.repo.write(".cm/config.toml", "")
    assert project.found() == EVERYTHING


def test_what_the_walk_ignores_is_nothing(project: Project):
    project.repo.write("ignored/x.py", "")
    project.repo.write("a.tmp", "")
    project.repo.write("pkg/__pycache__/b.pyc", "")
    project.repo.write("node_modules/x/index.js", "")
    (project.repo.root / "link.py").symlink_to("a.py")
    (project.repo.root / "link.py").unlink()
    project.repo.git("status")
    assert not project.staleness.check()


def test_a_run_for_some_paths_vouches_for_no_other(project: Project):
    project.repo.write("a.py", "x = 2\n")
    project.repo.write("pkg/b.py", "x = 2\n")
    project.index(Changes.of(["a.py"]))
    assert project.found().paths == {"pkg/b.py"}


def test_an_edit_during_a_run_is_behind(project: Project):
    start = project.staleness.begin()
    project.repo.write("a.py", "x = 2\n")
    project.repo.write("pkg/late.py", "x = 2\n")
    # Another run begins and ends meanwhile: it vouches for nothing that the first one has read.
    project.staleness.begin()
    project.staleness.finish(start, project.files())
    assert project.found().paths == {"a.py", "pkg/late.py"}
    project.index()
    assert not project.staleness.check()


def test_an_empty_folder_is_asked_for_once_and_then_watched(project: Project):
    (project.repo.root / "empty").mkdir()
    assert project.found().paths == {"empty"}
    project.index()
    assert not project.staleness.check()
    project.repo.write("empty/x.py", "")
    assert project.found().paths == {"empty/x.py"}


def test_a_removed_project_is_told(project: Project):
    import shutil

    shutil.rmtree(project.repo.root)
    assert project.staleness.check()


def test_only_a_project_that_is_checked_in_turns_is_checked_briefly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = Project(tmp_path / "repo", budget=0.0)
    budgets: list[float | None] = []
    changed = project.staleness._changed
    monkeypatch.setattr(project.staleness, "_changed", lambda budget: (budgets.append(budget), changed(0.0))[1])
    project.staleness._budget_s = 0.003
    project.staleness.check(briefly=True)
    for number in range(200):
        project.old(f"pkg/m{number}.py", "x = 1\n")
    project.index()
    for briefly in (False, True):
        project.staleness.check(briefly=briefly)
    assert budgets == [0.003, 0.003, pytest.approx(0.0005)]


def test_a_small_budget_sees_everything_in_turns(tmp_path: Path):
    project = Project(tmp_path / "repo", budget=0.0)
    for n in range(300):
        project.old(f"many/f{n}.py", "x = 1\n")
    project.index()
    project.repo.write("many/f150.py", "x = 2\n")
    checks = 0
    while not project.staleness.check():
        checks += 1
        assert checks < 20
    assert project.found().paths == {"many/f150.py"}
    project.index()
    # What changed last is looked at in every check.
    project.repo.write("many/f150.py", "x = 3\n")
    assert project.found().paths == {"many/f150.py"}


def test_settled_is_what_the_index_has(project: Project):
    assert project.staleness.is_current(Changes.of(["a.py", "pkg", "editor.swp"]))
    project.repo.write("pkg/new.py", "")
    assert not project.staleness.is_current(Changes.of(["pkg/new.py"]))
    assert not project.staleness.is_current(Changes.of(["pkg"]))
    project.repo.write("a.py", "x = 2\n")
    assert not project.staleness.is_current(Changes.of(["a.py"]))


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_edits_are_found_and_nothing_else_is(tmp_path_factory, seed: int):
    chance = random.Random(seed)
    project = Project(tmp_path_factory.mktemp("p") / "repo")
    for _ in range(6):
        name = f"{chance.choice(['', 'pkg/', 'pkg/deep/', 'new/'])}{chance.choice('abc')}.py"
        file = project.repo.root / name
        before = file.exists()
        if chance.random() < 0.3:
            file.unlink(missing_ok=True)
            changed = before
        else:
            project.repo.write(name, f"x = {chance.random()}\n")
            changed = True
        found = project.found().paths
        assert found is not None
        assert bool(found) == changed
        assert not changed or any(name == path or name.startswith(f"{path}/") for path in found)
        project.index()
        assert not project.staleness.check()
