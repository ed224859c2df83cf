"""What cm keeps is the user's alone, whatever their umask; what it makes for others has the umask that they chose."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shop, git

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only these systems have permissions")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_whole_run_leaves_private_files(new_shop: Shop, tmp_path: Path, umask: int):
    files = {new_shop.home}
    environment = {**os.environ, "CM_HOME": str(new_shop.home), "CM_DAEMON__USE": "auto"}

    def cm(*words: str, stdin: str = "", cwd: Path = new_shop.root) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "cm_tui", *words],
            cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, umask=umask, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        files.update(new_shop.home.rglob("*"))
        wrong = {str(path): oct(mode) for path in files if (mode := _others(path))}
        assert not wrong, words

    prompt = {"session_id": "s1", "cwd": str(new_shop.root), "prompt": "Where is the tax?"}
    try:
        cm("index")
        cm("search", "tax")
        cm("remember", "taxes are rounded")
        cm("remember", "--scope", "user", "never on fridays")
        cm("episodes", "record", "taxes", "--tag", "money")
        cm("episodes", "tag", "last", "--add", "bug")
        cm("forget", "last")
        cm("undo")
        cm("import")
        cm("backup", str(new_shop.home / "shop.backup"))
        cm("restore", str(new_shop.home / "shop.backup"), "--yes")
        cm("hook", "prompt", stdin=json.dumps(prompt))
        cm("git-hooks", "install")
        (new_shop.root / "shop" / "late.py").write_text("def came_late():\n    return 1\n")
        git(new_shop.root, "add", "-A")
        git(new_shop.root, "commit", "-qm", "Come late")
        cm("index")
        # The store is open, with its log beside it.
        assert new_shop.home.joinpath("data/run/owner.sock").exists()
    finally:
        cm("serve", "--stop")
    environment["CM_DAEMON__USE"] = "never"
    cm("rebuild")
    cm("doctor")
    # Without git, git's library makes a repository for comparisons.
    plain = tmp_path / "plain"
    (plain / ".cm").mkdir(parents=True)
    (plain / "notes.py").write_text("def noted():\n    return 1\n")
    cm("index", cwd=plain)
    assert list(new_shop.home.rglob("shadow"))
    hook = new_shop.root / ".git" / "hooks" / "post-commit"
    assert stat.S_IMODE(hook.stat().st_mode) == 0o755


def test_the_folders_of_others_keep_the_users_umask(new_shop: Shop):
    for umask in (0o022, 0o027):
        done = subprocess.run(
            [sys.executable, "-m", "cm_tui", "agent", "install", "claude-code", "--scope", "project"],
            cwd=new_shop.root, env={**os.environ, "CM_HOME": str(new_shop.home)}, capture_output=True, text=True,
            umask=umask, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        made = [path for path in new_shop.root.rglob("*") if ".claude" in path.parts or path.name == ".mcp.json"]
        assert made
        for path in made:
            wanted = (0o777 if path.is_dir() else 0o666) & ~umask
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path
        git(new_shop.root, "clean", "-fdxq")


def _others(path: Path) -> int:
    """What others may do with a file or folder; nothing when it has gone meanwhile."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    return 0 if stat.S_ISLNK(found.st_mode) else stat.S_IMODE(found.st_mode) & 0o077
