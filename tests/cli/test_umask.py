"""What cm keeps is the user's alone, whatever their umask; what it makes for others has the umask that they chose."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cm_tui.agent_hooks import command
from tests.cli.conftest import Shop, git
from tests.daemon.conftest import daemons_allowed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only these systems have permissions")


class Watched:
    """`cm` under a umask; after each run nobody else may read anything that it keeps."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self._files = {shop.home}

    def cm(self, *words: str, stdin: str = "", cwd: Path | None = None) -> None:
        done = self.shop.cm(*words, stdin=stdin, cwd=cwd)
        assert done.code == 0, (words, done.err)
        # Also of files that have gone by then, the folder was read while they were there.
        self._files.update(self.shop.home.rglob("*"))
        wrong = {str(path): oct(mode) for path in self._files if (mode := _others(path))}
        assert not wrong, words


@contextmanager
def umask(mode: int) -> Iterator[None]:
    before = os.umask(mode)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.process
def test_a_whole_run_leaves_private_files(new_shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # A hook that gets no response in time starts a daemon in the background, which could outlive the one stopped below.
    monkeypatch.setattr(command, "_start_daemon", lambda _: None)
    run = Watched(new_shop)
    prompt = {"session_id": "s1", "cwd": str(new_shop.root), "prompt": "Where is the tax?"}
    with umask(0o000):
        with daemons_allowed(new_shop.home):
            run.cm("index")
            run.cm("search", "tax")
            run.cm("remember", "taxes are rounded")
            run.cm("remember", "--scope", "user", "never on fridays")
            run.cm("episodes", "record", "taxes", "--tag", "money")
            run.cm("episodes", "tag", "last", "--add", "bug")
            run.cm("forget", "last")
            run.cm("undo")
            run.cm("import")
            run.cm("backup", str(new_shop.home / "shop.backup"))
            run.cm("restore", str(new_shop.home / "shop.backup"), "--yes")
            run.cm("hook", "prompt", stdin=json.dumps(prompt))
            run.cm("git-hooks", "install")
            (new_shop.root / "shop" / "late.py").write_text("def came_late():\n    return 1\n")
            git(new_shop.root, "add", "-A")
            git(new_shop.root, "commit", "-qm", "Come late")
            run.cm("index")
            # The store is open, with its log beside it.
            assert new_shop.home.joinpath("data/run/owner.sock").exists()
        run.cm("rebuild")
        run.cm("doctor")
        # Without git, git's library makes a repository for comparisons.
        plain = tmp_path / "plain"
        (plain / ".cm").mkdir(parents=True)
        (plain / "notes.py").write_text("def noted():\n    return 1\n")
        run.cm("index", cwd=plain)
        assert list(new_shop.home.rglob("shadow"))


def test_a_git_hook_can_be_run_by_all_who_share_the_repository(new_shop: Shop):
    for mode in (0o000, 0o077):
        with umask(mode):
            Watched(new_shop).cm("git-hooks", "install")
        hook = new_shop.root / ".git" / "hooks" / "post-commit"
        assert stat.S_IMODE(hook.stat().st_mode) == 0o755
        hook.unlink()


def test_the_folders_of_others_keep_the_users_umask(new_shop: Shop):
    for mode in (0o022, 0o027):
        with umask(mode):
            done = new_shop.cm("agent", "install", "claude-code", "--scope", "project")
        assert done.code == 0, done.err
        made = [path for path in new_shop.root.rglob("*") if ".claude" in path.parts or path.name == ".mcp.json"]
        assert made
        for path in made:
            wanted = (0o777 if path.is_dir() else 0o666) & ~mode
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path
        git(new_shop.root, "clean", "-fdxq")


def _others(path: Path) -> int:
    """What others may do with a file or folder; nothing when it has gone meanwhile."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    return 0 if stat.S_ISLNK(found.st_mode) else stat.S_IMODE(found.st_mode) & 0o077
