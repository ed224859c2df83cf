"""The record of a turn shows what lies in the folder, and nothing of another repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.memory.projection.recorder import record_turn
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.platform.journal.event import Event, Position
from tests.gitrepo import Repo


def recorded(root: Path) -> tuple[str, str]:
    """Patch and note of a turn that ends now."""
    stop = Event("1", 1_000.0, "hook.stop", "", {}, Position(1, 0))
    record = record_turn(root, Turn(Position(1, 0), prompts=["Do it"]), stop, now=1_000.0)
    assert record is not None
    return record.patch, record.note


@pytest.mark.parametrize("how", ["pointer", "commondir", "refs", "HEAD"])
def test_what_another_repository_holds_is_in_no_patch(tmp_path: Path, how: str):
    victim = Repo(tmp_path / "victim")
    victim.write("a.py", "words of the victim\n")
    victim.commit()
    claims = Repo(tmp_path / "claims", init=how != "pointer")
    place = claims.root / ".git"
    if how == "pointer":
        place.write_text(f"gitdir: {victim.root}/.git\n")
    elif how == "commondir":
        (place / "commondir").write_text(f"{victim.root}/.git\n")
    else:
        claims.commit()
        claims.git("config", "core.logAllRefUpdates", "false")
        (place / "objects/info/alternates").write_text(f"{victim.root}/.git/objects\n")
        (place / how).rename(tmp_path / "aside")
        (place / how).symlink_to(victim.root / ".git" / how)
    patch, note = recorded(claims.root)
    assert patch == ""
    assert "knows nothing of this folder" in note


def test_worktrees_and_clones_that_borrow_objects_have_patches(tmp_path: Path):
    repo = Repo(tmp_path / "real")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    repo.git("clone", "-q", "--shared", str(repo.root), str(tmp_path / "borrows"))
    for root in (repo.root, tmp_path / "tree", tmp_path / "borrows"):
        (root / "a.py").write_text("x = 2\n")
        patch, note = recorded(root)
        assert "+x = 2" in patch
        assert note == ""
