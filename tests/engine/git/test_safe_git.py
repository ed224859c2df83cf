"""Nothing that a repository's own settings name is ever run: those of an unpacked archive are a stranger's."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.recorder import record_turn
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.platform.git import safe_git
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.errors import CmError
from cm_tui.integrations import git_hooks
from tests.gitrepo import Repo

HOOKS = ("post-index-change", "post-checkout", "fsmonitor-watchman", "pre-commit", "reference-transaction")


class Planted(Repo):
    """A repository whose settings name programs, each of which leaves a mark."""

    def __init__(self, root: Path, marks: Path) -> None:
        super().__init__(root)
        self.marks = marks
        marks.mkdir()
        self.bin = marks.parent / f"bin of {root.name}"
        self.bin.mkdir()

    def program(self, name: str, then: str = "exec cat") -> str:
        """A program that leaves a mark, then passes on what it reads."""
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n: > '{self.marks}/{name}'\n{then}\n")
        file.chmod(0o755)
        return f"'{file}'"

    def ran(self) -> set[str]:
        found = {mark.name for mark in self.marks.iterdir()}
        for mark in self.marks.iterdir():
            mark.unlink()
        return found

    def plant(self) -> None:
        drivers = ("clean", "smudge", "process")
        for name in ("plain", "a=b", "in.parts"):
            for what in drivers if name == "plain" else ("clean",):
                then = "exit 1" if what == "process" else "exec cat"
                self.git("config", f"filter.{name}.{what}", self.program(f"{what} of {name}", then))
        self.git("config", "filter.plain.required", "true")
        included = self.bin / "more settings"
        included.write_text(f'[filter "included"]\n\tclean = "{self.program("included")}"\n')
        self.git("config", "include.path", str(included))
        for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "gpg.program",
                    "diff.plain.command", "diff.plain.textconv", "pager.diff", "pager.status"):  # fmt: skip
            self.git("config", key, self.program(key, "exit 1"))
        self.git("config", "submodule.recurse", "true")
        self.git("config", "diff.submodule", "diff")
        self.git("config", "status.submoduleSummary", "true")
        for name in HOOKS:
            hook = self.root / ".git/hooks" / name
            hook.write_text(f"#!/bin/sh\n: > '{self.marks}/hook {name}'\n")
            hook.chmod(0o755)


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    part = Repo(tmp_path / "part")
    part.write("part.py", "part = 1\n")
    part.commit()
    repo = Planted(tmp_path / "archive", tmp_path / "marks")
    for name in ("plain", "external", "equals", "dotted", "included", "process"):
        repo.write(f"{name}.py", f"{name} = 1\n")
    repo.git("submodule", "add", "-q", str(part.root), "sub")
    repo.write("gone.py", "gone = 1\n")
    repo.write("touched.py", "touched = 1\n")
    repo.commit()
    repo.plant()
    repo.write(
        ".gitattributes",
        "plain.py diff=plain filter=plain\nequals.py filter=a=b\ndotted.py filter=in.parts\nincluded.py filter=included\n",
    )
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/attributes").write_text("process.py filter=plain\nsub/* filter=plain\n")
    sub = Repo(repo.root / "sub", init=False)
    sub.git("config", "filter.inner.clean", repo.program("filter in the submodule"))
    (repo.root / ".git/modules/sub/info/attributes").write_text("* filter=inner\n")
    later = time.time() + 5
    for name in ("plain", "external", "equals", "dotted", "included", "process", "sub/part"):
        # As long as before: git has to look at the content to know.
        file = repo.root / f"{name}.py"
        file.write_text(file.read_text().replace("1", "2"))
        os.utime(file, (later, later))
    # Git writes its index anew when it finds that a file is as it was, and runs a hook then.
    os.utime(repo.root / "touched.py", (later, later))
    (repo.root / "gone.py").unlink()
    repo.ran()
    return repo


def plain_git(repo: Planted, *words: str) -> None:
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["git", *words], cwd=repo.root, check=False, timeout=30, **quiet)


def test_git_itself_would_run_them(planted: Planted):
    """What is planted works: else the other tests would show nothing."""
    quiet = ["-c", "filter.plain.required=false", "-c", "filter.plain.process=", "-c", "core.fsmonitor=false"]
    for words in (["diff"], [*quiet, "diff"], ["status"], [*quiet, "status"]):
        plain_git(planted, *words)
    ran = planted.ran()
    for name in ("core.fsmonitor", "process of plain", "clean of a=b", "clean of in.parts", "included",
                 "hook post-index-change", "filter in the submodule"):  # fmt: skip
        assert name in ran, ran
    assert {"diff.external", "diff.plain.command", "diff.plain.textconv"} & ran


def test_nothing_of_them_runs(planted: Planted):
    for words in (["diff"], ["diff", "HEAD"], ["diff", "--name-only", "-z"], ["status", "--porcelain=v1", "-z"],
                  ["ls-files", "--others", "--exclude-standard", "-z"], ["ls-files", "-m"]):  # fmt: skip
        found = safe_git.run(planted.root, *words)
        assert found.code == 0
        assert planted.ran() == set()
    assert "equals = 2" in safe_git.run(planted.root, "diff").data.decode()
    assert set(safe_git.status(planted.root)) >= {"plain.py", "equals.py", "gone.py"}
    assert safe_git.setting(planted.root, "core.hooksPath") == ""
    assert planted.ran() == set()


def test_no_part_of_the_engine_runs_any(planted: Planted, tmp_path: Path):
    root = planted.root
    with Engine.open(root) as engine:
        for _ in engine.index():
            pass
        assert engine.source("equals.py").text == "equals = 2"
        engine.status()
        engine.plan()
        engine.drift()
        for _ in engine.backfill():
            pass
        engine.files_at("HEAD")
        engine.doctor()
    Repository(root, tmp_path / "shadow").status()
    sha = planted.git("rev-parse", "HEAD")
    planted.ran()
    turn = Turn(Position(0, 0), prompts=["change it"], base=sha)
    stop = Event("1", time.time(), "hook.stop", sha, {}, Position(0, 1))
    record = record_turn(root, turn, stop, now=time.time())
    assert record is not None
    assert "+equals = 2" in record.patch
    assert "gone.py" in record.files
    git_hooks.status(root)
    git_hooks.install(root)
    git_hooks.uninstall(root)
    assert planted.ran() == set()


def test_a_base_that_is_no_commit_is_no_argument(planted: Planted, tmp_path: Path):
    written = tmp_path / "written"
    turn = Turn(Position(0, 0), prompts=["change it"], base=f"--output={written}")
    stop = Event("1", time.time(), "hook.stop", None, {}, Position(0, 1))
    record = record_turn(planted.root, turn, stop, now=time.time())
    assert record is not None
    assert record.patch == ""
    assert not written.exists()


def test_missing_objects_are_not_fetched_by_a_program_of_the_repository(tmp_path: Path):
    repo = Planted(tmp_path / "partial", tmp_path / "marks")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    oid = repo.git("rev-parse", "HEAD:a.py")
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "protocol.ext.allow", "always")
    program = repo.program("fetch", "exit 1").strip("'").replace(" ", "% ")
    repo.git("config", "remote.origin.url", f"ext::{program}")
    repo.write("a.py", "a = 2\n")

    plain_git(repo, "diff")
    assert repo.ran() == {"fetch"}
    safe_git.run(repo.root, "diff")
    assert repo.ran() == set()


def test_a_filter_of_the_person_stays_and_the_repository_cannot_change_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    repo = Planted(tmp_path / "large", tmp_path / "marks")
    own = tmp_path / "gitconfig"
    own.write_text(f'[filter "large"]\n\tclean = "{repo.program("the person")}"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    repo.write(".gitattributes", "a.py filter=large\n")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    repo.write("a.py", "a = 2\n")
    safe_git.run(repo.root, "diff")
    assert repo.ran() == {"the person"}

    repo.git("config", "filter.large.clean", repo.program("the repository"))
    repo.git("config", "filter.large.smudge", repo.program("the repository"))
    safe_git.run(repo.root, "diff")
    assert repo.ran() == {"the person"}

    repo.git("config", "lfs.extension.x.clean", repo.program("the repository"))
    assert "+a = 2" in safe_git.run(repo.root, "diff").data.decode()
    assert repo.ran() == set()


def test_settings_of_one_worktree_run_nothing_either(tmp_path: Path):
    repo = Planted(tmp_path / "main", tmp_path / "marks")
    repo.write(".gitattributes", "a.py filter=one\n")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    repo.git("config", "extensions.worktreeConfig", "true")
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", str(tree))
    Repo(tree, init=False).git("config", "--worktree", "filter.one.clean", repo.program("one"))
    (tree / "a.py").write_text("a = 2\n")
    plain_git(repo, "-C", str(tree), "diff")
    assert repo.ran() == {"one"}
    assert "+a = 2" in safe_git.run(tree, "diff").data.decode()
    assert repo.ran() == set()


def test_what_the_repository_calls_its_working_tree_does_not_count(tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.py").write_text("never = 1\n")
    repo = Repo(tmp_path / "claims")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    repo.git("config", "core.worktree", str(elsewhere))
    assert b"never" not in safe_git.run(repo.root, "diff").data


def test_a_program_called_git_in_the_repository_is_not_run(planted: Planted, monkeypatch: pytest.MonkeyPatch):
    file = planted.root / "git"
    file.write_text(f"#!/bin/sh\n: > '{planted.marks}/git'\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert safe_git.run(planted.root, "diff").code == 0
    assert planted.ran() == set()


def test_a_git_that_cannot_be_held_back_is_not_used(planted: Planted, monkeypatch: pytest.MonkeyPatch):
    """An older git does not know the variables that carry the settings."""
    older = planted.marks.parent / "older"
    older.mkdir()
    (older / "git").write_text('#!/bin/sh\nunset GIT_CONFIG_COUNT\nPATH="${PATH#*:}"\nexec git "$@"\n')
    (older / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{older}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(CmError, match="cannot be prevented from running"):
        safe_git.run(planted.root, "diff")
    assert planted.ran() == set()


def test_it_ends_when_it_is_long_or_slow(planted: Planted):
    found = safe_git.run(planted.root, "diff", most=20)
    assert (len(found.data), found.is_cut) == (20, True)
