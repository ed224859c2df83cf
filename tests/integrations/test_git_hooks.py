"""Git hooks with a real git: told of everything, never in the way, removed without a trace."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.integrations import git_hook_file, git_hooks
from cm_tui.integrations.external_layers import outside_layers
from tests.engine.freshness.waiting import SECONDS, until
from tests.gitrepo import Repo


class Fake:
    """A `cm` that writes down what it was called with, and sleeps as long as a file is there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.file = folder / "cm"
        self.log = folder / "log"
        self.sleep = folder / "sleep"
        self.done = folder / "done"
        self.log.touch()
        self.file.write_text(
            "#!/bin/sh\n"
            f'cd_="$(pwd -P)"\nprintf "%s | %s | %s\\n" "$*" "$cd_" "${{GIT_DIR-none}}" >>"{self.log}"\n'
            f'while [ -e "{self.sleep}" ]; do sleep 0.05; done\n'
            f'echo done >>"{self.done}"\n'
        )
        self.file.chmod(0o755)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()

    def wait_for(self, words: str) -> str:
        until(lambda: any(call.startswith(words) for call in self.calls()))
        return next(call for call in self.calls() if call.startswith(words))


@pytest.fixture
def cm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake(tmp_path / "it's bin")
    monkeypatch.setattr(git_hooks, "command", lambda: str(fake.file))
    return fake


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    repo = Repo(tmp_path / "mein größtes 日本 repo")
    shutil.rmtree(repo.root / ".git" / "hooks", ignore_errors=True)
    repo.write("a.py", "x = 1\n")
    repo.commit("one")
    repo.git("branch", "side")
    return repo


def hook(repo: Repo, name: str, content: bytes, mode: int = 0o755) -> Path:
    file = repo.write(f".git/hooks/{name}", content)
    file.chmod(mode)
    return file


def picture(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: names, modes, links and bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (mode, content)
    return found


def states(hooks) -> set[str]:
    return {one.state for one in hooks.hooks}


def test_each_event_is_told_with_its_arguments_in_its_folder(repo: Repo, cm: Fake):
    assert states(git_hooks.status(repo.root)) == {"missing"}
    assert states(git_hooks.install(repo.root)) == {"installed"}
    first = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "side")
    call = cm.wait_for(f"hook git post-checkout {first} {first} 1")
    # Git's own variables would bind whatever cm starts to this repository.
    assert call.endswith(f" | {repo.root.resolve()} | none")
    repo.write("b.py", "y = 1\n")
    repo.commit("two")
    cm.wait_for("hook git post-commit")
    repo.git("commit", "-q", "--amend", "-m", "two again")
    cm.wait_for("hook git post-rewrite amend")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "side")
    cm.wait_for("hook git post-merge 0")
    patch = repo.git("format-patch", "--stdout", "-1")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    (repo.root.parent / "p.patch").write_text(patch + "\n")
    repo.git("am", "-q", str(repo.root.parent / "p.patch"))
    cm.wait_for("hook git post-applypatch")


def test_installing_twice_changes_nothing_and_uninstalling_leaves_nothing(repo: Repo, cm: Fake):
    before = picture(repo.root / ".git")
    git_hooks.install(repo.root)
    once = picture(repo.root / ".git")
    git_hooks.install(repo.root)
    assert picture(repo.root / ".git") == once
    git_hooks.uninstall(repo.root)
    assert {**picture(repo.root / ".git"), "hooks": before.get("hooks")} == {**before, "hooks": before.get("hooks")}
    assert states(git_hooks.uninstall(repo.root)) == {"missing"}


SCRIPTS: dict[str, bytes] = {
    "sh": b"#!/bin/sh\necho old >>ran\nexit 3\n",
    "sh without a newline at its end": b"#!/bin/sh\necho old >>ran; exit 3",
    "bash that stops at errors": b"#!/usr/bin/env bash\nset -euo pipefail\ntrue\necho old >>ran\nexit 3\n",
    "sh with options": b"#!/bin/sh -eu\necho old >>ran\nexit 3\n",
    "sh that waits for its children": b"#!/bin/sh\necho old >>ran\nwait\nexit 3\n",
    "python": b"#!/usr/bin/env python3\nimport sys\nopen('ran', 'a').write('old\\n')\nsys.exit(3)\n",
    "not utf-8": b"#!/bin/sh\n# caf\xe9\necho old >>ran\nexit 3\n",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_hook_that_was_there_keeps_its_work_and_exit_code(repo: Repo, cm: Fake, script: bytes):
    hook(repo, "post-checkout", script)
    before = picture(repo.root / ".git" / "hooks")
    git_hooks.install(repo.root)
    git_hooks.install(repo.root)
    cm.sleep.touch()
    done = subprocess.run(
        ["git", "checkout", "-q", "side"], cwd=repo.root, check=False, capture_output=True, timeout=SECONDS
    )
    assert done.returncode == 1, done.stderr
    assert (repo.root / "ran").read_text() == "old\n"
    cm.sleep.unlink()
    cm.wait_for("hook git post-checkout")
    itself = subprocess.run([repo.root / ".git/hooks/post-checkout"], cwd=repo.root, check=False)
    assert itself.returncode == 3
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


def test_the_standard_input_is_the_old_hooks(repo: Repo, cm: Fake):
    hook(repo, "post-rewrite", b"#!/bin/sh\ncat >seen\n")
    git_hooks.install(repo.root)
    old = repo.git("rev-parse", "HEAD")
    repo.git("commit", "-q", "--amend", "-m", "again")
    cm.wait_for("hook git post-rewrite")
    assert (repo.root / "seen").read_text().split() == [old, repo.git("rev-parse", "HEAD")]


@pytest.mark.parametrize("absolute", [False, True])
def test_a_link_to_a_script_is_called_by_its_name_and_comes_back(repo: Repo, cm: Fake, absolute: bool):
    shared = hook(repo, "dispatch", b'#!/bin/sh\nbasename "$0" >>ran\nexit 3\n')
    link = repo.root / ".git" / "hooks" / "post-checkout"
    link.symlink_to(shared if absolute else "dispatch")
    before = picture(repo.root / ".git" / "hooks")
    git_hooks.install(repo.root)
    done = subprocess.run(
        ["git", "checkout", "-q", "side"], cwd=repo.root, check=False, capture_output=True, timeout=SECONDS
    )
    assert done.returncode == 1, done.stderr
    assert (repo.root / "ran").read_text() == "post-checkout\n"
    cm.wait_for("hook git post-checkout")
    assert shared.read_bytes().count(b"cm-tui") == 0
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


DISPATCH = """\
#!/usr/bin/env python3
import os, pathlib, subprocess, sys
folder = os.path.dirname(sys.argv[0])
from shared_by_hooks import say
say(os.path.basename(sys.argv[0]))
sys.exit(subprocess.call([os.path.join(folder, "lib", "exit.sh")]))
"""


def dispatching(repo: Repo, *names: str) -> None:
    """Hooks that ask by what name they are called, and use what lies beside them."""
    for name in names:
        hook(repo, name, DISPATCH.encode())
    hook(repo, "shared_by_hooks.py", b"def say(it):\n    open('ran', 'a').write(it + '\\n')\n", 0o644)
    hook(repo, "lib/exit.sh", b"#!/bin/sh\nexit 3\n")
    hook(repo, "post-commit.sample", b"#!/bin/sh\n")


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_is_called_by_its_name_and_finds_what_lay_beside_it(
    repo: Repo, cm: Fake, times: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    dispatching(repo, "post-checkout", "post-merge")
    before = picture(repo.root / ".git" / "hooks")
    git_hooks.install(repo.root)
    once = picture(repo.root / ".git" / "hooks")
    for _ in range(times - 1):
        assert states(git_hooks.install(repo.root)) == {"installed"}
    assert picture(repo.root / ".git" / "hooks") == once
    done = subprocess.run(
        ["git", "checkout", "-q", "side"], cwd=repo.root, check=False, capture_output=True, timeout=SECONDS
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == b""
    assert (repo.root / "ran").read_text() == "post-checkout\n"
    itself = subprocess.run([repo.root / ".git/hooks/post-merge"], cwd=repo.root, check=False)
    assert itself.returncode == 3
    cm.wait_for("hook git post-checkout")
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


def as_an_older_cm_left_it(repo: Repo, cm: Fake, name: str, script: bytes) -> None:
    hook(repo, name, script)
    git_hooks.install(repo.root)
    folder = repo.root / ".git" / "hooks"
    (folder / "cm-original" / name).rename(folder / f"{name}.cm-original")
    shutil.rmtree(folder / "cm-original")
    wrapper = folder / name
    wrapper.write_bytes(wrapper.read_bytes().replace(f"/cm-original/{name}".encode(), f"/{name}.cm-original".encode()))


@pytest.mark.parametrize("again", [False, True])
def test_a_hook_that_an_older_cm_moved_runs_and_comes_back(repo: Repo, cm: Fake, again: bool):
    hook(repo, "post-checkout", SCRIPTS["python"])
    before = picture(repo.root / ".git" / "hooks")
    as_an_older_cm_left_it(repo, cm, "post-checkout", SCRIPTS["python"])
    assert [one.state for one in git_hooks.status(repo.root).hooks].count("outdated") == 1
    if again:
        assert states(git_hooks.install(repo.root)) == {"installed"}
        assert (repo.root / ".git/hooks/cm-original/post-checkout").read_bytes() == SCRIPTS["python"]
        assert not (repo.root / ".git/hooks/post-checkout.cm-original").exists()
    itself = subprocess.run([repo.root / ".git/hooks/post-checkout"], cwd=repo.root, check=False)
    assert itself.returncode == 3
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


@pytest.mark.parametrize("is_link", [False, True])
def test_a_hook_of_a_killed_installation_comes_back(
    repo: Repo, cm: Fake, is_link: bool, monkeypatch: pytest.MonkeyPatch
):
    if is_link:
        hook(repo, "mine", SCRIPTS["python"])
        (repo.root / ".git/hooks/post-merge").symlink_to("mine")
    else:
        hook(repo, "post-merge", SCRIPTS["python"])
    before = picture(repo.root / ".git" / "hooks")

    def dies(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(git_hook_file, "write_if_unchanged", dies)
        with pytest.raises(KeyboardInterrupt):
            git_hook_file.HookFile(repo.root / ".git/hooks", "post-merge", None).install()
    assert not os.path.lexists(repo.root / ".git/hooks/post-merge")
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


def test_what_a_person_keeps_beside_the_originals_stays(repo: Repo, cm: Fake):
    hook(repo, "post-commit", SCRIPTS["python"])
    git_hooks.install(repo.root)
    hook(repo, "cm-original/mine", b"mine")
    git_hooks.uninstall(repo.root)
    assert (repo.root / ".git/hooks/post-commit").read_bytes() == SCRIPTS["python"]
    assert (repo.root / ".git/hooks/cm-original/mine").read_bytes() == b"mine"


def test_a_hook_that_is_switched_off_stays_off(repo: Repo, cm: Fake):
    hook(repo, "post-checkout", b"#!/bin/sh\necho old >>ran\n", 0o644)
    before = picture(repo.root / ".git" / "hooks")
    git_hooks.install(repo.root)
    repo.git("checkout", "-q", "side")
    cm.wait_for("hook git post-checkout")
    assert not (repo.root / "ran").exists()
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


def test_what_was_added_to_our_hook_stays(repo: Repo, cm: Fake):
    git_hooks.install(repo.root)
    file = repo.root / ".git" / "hooks" / "post-commit"
    file.write_bytes(file.read_bytes() + b"echo mine\n")
    git_hooks.install(repo.root)
    assert file.read_bytes().endswith(b"echo mine\n")
    git_hooks.uninstall(repo.root)
    assert b"echo mine\n" in file.read_bytes()
    assert b"cm hook git" not in file.read_bytes()


@pytest.mark.parametrize("change", [git_hooks.install, git_hooks.uninstall])
def test_what_another_program_writes_meanwhile_stays(
    repo: Repo, cm: Fake, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
):
    hook(repo, "post-commit", SCRIPTS["sh"])
    file = repo.root / ".git" / "hooks" / "post-commit"
    if change == git_hooks.uninstall:
        git_hooks.install(repo.root)
    before = file.read_bytes()
    theirs = before + b"echo theirs\n"
    without = git_hook_file.without_block

    def overtaken(script: bytes) -> bytes:
        if script == before:
            file.write_bytes(theirs)
        return without(script)

    monkeypatch.setattr(git_hook_file, "without_block", overtaken)
    with pytest.raises(RefusedError, match="changed by another program just now"):
        change(repo.root)
    assert file.read_bytes() == theirs


def test_an_older_block_is_replaced(repo: Repo, cm: Fake, monkeypatch: pytest.MonkeyPatch):
    hook(repo, "post-commit", SCRIPTS["sh"])
    before = picture(repo.root / ".git" / "hooks")
    git_hooks.install(repo.root)
    monkeypatch.setattr(git_hooks, "command", lambda: "/elsewhere/cm")
    assert states(git_hooks.status(repo.root)) == {"outdated"}
    assert states(git_hooks.install(repo.root)) == {"installed"}
    assert (repo.root / ".git/hooks/post-commit").read_bytes().count(b"# >>> cm-tui") == 1
    git_hooks.uninstall(repo.root)
    assert picture(repo.root / ".git" / "hooks") == before


def test_two_hooks_that_claim_the_same_place_are_told(repo: Repo, cm: Fake):
    hook(repo, "post-commit", SCRIPTS["python"])
    git_hooks.install(repo.root)
    hook(repo, "post-commit", SCRIPTS["python"] + b"# another\n")
    with pytest.raises(RefusedError, match="already exists"):
        git_hooks.install(repo.root)


@pytest.mark.parametrize("gone", ["not found", "not executable", "broken"])
def test_git_does_not_fail_without_cm(repo: Repo, cm: Fake, gone: str):
    git_hooks.install(repo.root)
    if gone == "not found":
        cm.file.unlink()
    elif gone == "not executable":
        cm.file.chmod(0o644)
    else:
        cm.file.write_text("#!/nowhere/python\n")
    folder = repo.root.parent / "only git"
    folder.mkdir()
    for tool in ("git", "sh", "dirname"):
        (folder / tool).symlink_to(shutil.which(tool) or "")
    environment = {**os.environ, "PATH": str(folder)}
    done = subprocess.run(
        ["git", "checkout", "side"], cwd=repo.root, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == "Switched to branch 'side'\n"


def test_git_returns_while_the_hook_is_still_at_work(repo: Repo, cm: Fake):
    git_hooks.install(repo.root)
    cm.sleep.touch()
    try:
        # Captured: a hook that held git's pipes would keep this from returning.
        done = subprocess.run(
            ["git", "checkout", "side"], cwd=repo.root, check=False, capture_output=True, timeout=SECONDS
        )
        assert done.returncode == 0
        cm.wait_for("hook git post-checkout")
        assert not cm.done.exists()
    finally:
        cm.sleep.unlink()
    until(cm.done.exists)


def test_a_relative_hooks_path_is_honoured(repo: Repo, cm: Fake):
    repo.git("config", "core.hooksPath", "meine hooks")
    hooks = git_hooks.install(repo.root)
    assert Path(hooks.folder) == repo.root / "meine hooks"
    assert not hooks.outside
    assert any("working tree" in note for note in hooks.notes)
    repo.git("checkout", "-q", "side")
    cm.wait_for("hook git post-checkout")
    assert not (repo.root / ".git" / "hooks" / "post-checkout").exists()


@pytest.mark.parametrize("written", ["absolute", "home"])
def test_a_shared_hooks_path_is_refused_unless_forced(
    repo: Repo, cm: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
):
    shared = tmp_path / "shared hooks"
    monkeypatch.setenv("HOME", str(tmp_path))
    repo.git("config", "core.hooksPath", str(shared) if written == "absolute" else "~/shared hooks")
    with pytest.raises(RefusedError, match="outside this repository"):
        git_hooks.install(repo.root)
    assert not shared.exists()
    assert git_hooks.status(repo.root).outside
    assert states(git_hooks.install(repo.root, force=True)) == {"installed"}
    subprocess.run(["git", "checkout", "-q", "side"], cwd=repo.root, check=True)
    cm.wait_for("hook git post-checkout")
    git_hooks.uninstall(repo.root, force=True)
    assert list(shared.iterdir()) == []


@pytest.mark.parametrize("force", [False, True])
def test_hooks_that_are_switched_off_are_told(repo: Repo, cm: Fake, force: bool):
    git_hooks.install(repo.root)
    repo.git("config", "core.hooksPath", os.devnull)
    found = git_hooks.status(repo.root)
    assert found.off
    assert states(found) == {"missing"}
    assert "disabled" in found.notes[0]
    with pytest.raises(RefusedError, match="disabled") as refused:
        git_hooks.install(repo.root, force=force)
    assert "core.hooksPath" in refused.value.hint
    (layer,) = (one for one in outside_layers(repo.root) if one.name == "git hooks")
    assert (layer.state, "disabled" in layer.note) == ("off", True)
    git_hooks.uninstall(repo.root, force=force)
    assert not list((repo.root / ".git" / "hooks").iterdir())


def test_uninstalling_finds_them_after_the_hooks_path_was_set(repo: Repo, cm: Fake):
    git_hooks.install(repo.root)
    repo.git("config", "core.hooksPath", "hooks")
    git_hooks.uninstall(repo.root)
    assert not list((repo.root / ".git" / "hooks").iterdir())


def test_worktrees_share_the_hooks_and_are_told_apart(repo: Repo, cm: Fake, tmp_path: Path):
    tree = tmp_path / "a work tree"
    repo.git("worktree", "add", "-q", "-b", "third", str(tree))
    assert git_hooks.install(tree).folder == git_hooks.status(repo.root).folder
    Repo(tree, init=False).git("checkout", "-q", "--detach")
    assert f" | {tree.resolve()} | none" in cm.wait_for("hook git post-checkout")


def test_a_submodule_has_hooks_of_its_own(repo: Repo, cm: Fake, tmp_path: Path):
    outer = Repo(tmp_path / "outer")
    outer.git("submodule", "add", "-q", str(repo.root), "inner")
    inner = Repo(outer.root / "inner", init=False)
    hooks = git_hooks.install(inner.root)
    assert Path(hooks.folder) == outer.root / ".git/modules/inner/hooks"
    inner.git("checkout", "-q", "--detach")
    assert f" | {inner.root.resolve()} | none" in cm.wait_for("hook git post-checkout")
    assert states(git_hooks.status(outer.root)) == {"missing"}


def test_a_folder_without_git_has_no_hooks(tmp_path: Path):
    with pytest.raises(NotFoundError, match="not a git repository"):
        git_hooks.install(tmp_path)


@pytest.mark.parametrize("how", ["pointer", "commondir", "link"])
def test_a_repository_that_knows_nothing_of_this_folder_gets_no_hooks(repo: Repo, cm: Fake, tmp_path: Path, how: str):
    claims = Repo(tmp_path / "claims", init=how == "commondir")
    if how == "pointer":
        claims.write(".git", f"gitdir: {repo.root}/.git\n")
    elif how == "link":
        (claims.root / ".git").symlink_to(repo.root / ".git")
    else:
        claims.write(".git/commondir", f"{repo.root}/.git\n")
    with pytest.raises(RefusedError, match="outside this repository"):
        git_hooks.install(claims.root)
    assert git_hooks.status(claims.root).outside
    assert not (repo.root / ".git/hooks").exists()
    git_hooks.install(repo.root)
    with pytest.raises(RefusedError, match="outside this repository"):
        git_hooks.uninstall(claims.root)
