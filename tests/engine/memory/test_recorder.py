"""The record of a turn shows what lies in the folder, and nothing of another repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.recorder import PATCH_BYTES, record_turn
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.platform.journal.event import Event, Position
from tests.gitrepo import Repo


def record_of(root: Path, *written: str, began: float = 0.0) -> EpisodeRecord:
    """Record of a turn that ends now."""
    stop = Event("1", 1_000.0, "hook.stop", "", {}, Position(1, 0))
    turn = Turn(Position(1, 0), prompts=["Do it"], files=list(written), first=began)
    record = record_turn(root, turn, stop, now=1_000.0)
    assert record is not None
    return record


def recorded(root: Path) -> tuple[str, str]:
    """Patch and note of a turn that ends now."""
    record = record_of(root)
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
    assert "does not reference this folder" in note


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


def test_new_files_that_the_agent_wrote_are_in_the_patch_and_no_others(tmp_path: Path):
    repo = Repo(tmp_path / "shop")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    contents = {
        "a.py": "x = 2\n", "new/b.py": "# New\ny = 1", "dump.txt": "of the person\n", ".env": "TOKEN=mellon\n",
        "c.bin": b"\0\1", 'odd".py': "z = 1\n", "large.txt": "words\n" * PATCH_BYTES,
    }  # fmt: skip
    for path, content in contents.items():
        repo.write(path, content)
    (repo.root / "link.py").symlink_to(tmp_path / "elsewhere")
    record = record_of(repo.root, *(path for path in contents if path != "dump.txt"), "link.py", "gone.py")
    assert "+x = 2" in record.patch
    made = "diff --git a/new/b.py b/new/b.py\nnew file mode 100644\n--- /dev/null\n+++ b/new/b.py\n@@ -0,0 +1,2 @@\n"
    assert f"{made}+# New\n+y = 1\n" not in record.patch, "the large one leaves no room"
    (repo.root / "large.txt").unlink()
    record = record_of(repo.root, *(path for path in contents if path != "dump.txt"), "link.py", "gone.py")
    assert f"{made}+# New\n+y = 1\n" in record.patch
    assert not any(word in record.patch for word in ("of the person", "mellon", "c.bin", "odd", "link.py"))
    assert {"a.py", "new/b.py", "dump.txt"} <= set(record.files)


def test_files_that_were_changed_before_a_turn_began_are_not_of_it(tmp_path: Path):
    repo = Repo(tmp_path / "shop")
    for name in ("a.py", "b.py", "c.py"):
        repo.write(name, "x = 1\n")
    repo.commit()
    for name, at in (("a.py", 500.0), ("b.py", 900.0), ("new.py", 500.0)):
        os.utime(repo.write(name, "x = 2\n"), (at, at))
    (repo.root / "c.py").unlink()
    record = record_of(repo.root, began=800.0)
    assert record.files == ("b.py", "c.py")
    assert "a/a.py" in record.patch
    assert record_of(repo.root, "a.py", began=800.0).files == ("a.py", "b.py", "c.py")
