"""The owner keeps indexes fresh by itself: nobody sees a state that is older than their last save."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cm_tui.daemon import bootstrap
from cm_tui.daemon.open_engine import connect
from cm_tui.errors import NotFoundError, NotIndexedError
from tests.cli.conftest import git
from tests.daemon.conftest import make_project, until

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Door

NEW = "def find_the_giraffe():\n    return 1\n"


@pytest.fixture
def door(owned: Path, tmp_path: Path) -> Iterator[Door]:
    """Of an indexed project, through an owner that keeps it."""
    door = connect(make_project(tmp_path / "shop"))
    for _ in door.index():
        pass
    assert door.search("tax").hits
    yield door
    door.close()


def layer(door: Door, name: str):
    return next(layer for layer in door.freshness().layers if layer.name == name)


def is_defined(door: Door, name: str) -> bool:
    try:
        return bool(door.definitions(name).rows)
    except NotFoundError:
        return False


def test_a_save_is_in_the_next_answer(door: Door):
    until(lambda: not door.freshness().behind)
    (door.root / "zoo.py").write_text(NEW)
    assert is_defined(door, "find_the_giraffe")
    (door.root / "zoo.py").unlink()
    assert not is_defined(door, "find_the_giraffe")


def test_a_save_is_indexed_though_nobody_asks(door: Door):
    until(lambda: layer(door, "watcher").state == "on" and not door.freshness().behind)
    runs = door.freshness().runs
    (door.root / "zoo.py").write_text(NEW)
    until(lambda: door.freshness().runs > runs)
    # Symbols of a file are no question that looks at the disk first.
    assert "zoo.py" in [file.path for file in door.files().rows]
    assert layer(door, "watcher").did


def test_a_moved_head_is_in_the_next_answer(door: Door):
    git(door.root, "checkout", "-q", "-b", "other")
    (door.root / "zoo.py").write_text(NEW)
    git(door.root, "add", "-A")
    git(door.root, "commit", "-q", "-m", "giraffe")
    assert is_defined(door, "find_the_giraffe")
    git(door.root, "checkout", "-q", "-")
    assert not is_defined(door, "find_the_giraffe")


def test_every_layer_is_listed_with_how_to_switch_it_on(door: Door):
    layers = {layer.name: layer for layer in door.freshness().layers}
    assert {"watcher", "guard", "git hooks", "autostart"} <= layers.keys()
    assert layers["git hooks"].state == "off"
    assert "cm hooks install" in layers["git hooks"].note


def test_what_was_never_indexed_is_not_kept(owned: Path, tmp_path: Path):
    root = make_project(tmp_path / "shop")
    with pytest.raises(NotIndexedError):
        connect(root, create=False)
    bootstrap.start_owner()
    assert bootstrap.nudge(root)
    door = connect(root)
    with pytest.raises(NotIndexedError):
        door.freshness()
    assert door.search("tax").hits == ()
    with pytest.raises(NotIndexedError):
        door.freshness()
    door.close()


def test_a_removed_index_is_not_kept_and_may_come_back(door: Door):
    door.reset()
    with pytest.raises(NotIndexedError):
        door.freshness()
    for _ in door.index():
        pass
    assert is_defined(door, "add_tax")
    until(lambda: not door.freshness().behind)


def test_the_owner_ends_though_it_keeps_projects(door: Door):
    assert bootstrap.stop_owner()
    assert bootstrap.health() is None


def test_a_folder_that_became_a_link_leads_no_agent_out(door: Door, tmp_path: Path):
    """No question reads through the link: source is what was indexed, and gone with the next question about now."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/cart.py").write_text("SECRET = 1\n")
    until(lambda: not door.freshness().behind)
    (door.root / "shop").rename(tmp_path / "before")
    (door.root / "shop").symlink_to(tmp_path / "secrets")
    kept = door.source("shop/cart.py")
    assert kept.kept
    assert "SECRET" not in kept.text
    assert not is_defined(door, "add_tax")
    with pytest.raises(NotFoundError, match="not in the index"):
        door.source("shop/cart.py")
    assert "shop/cart.py" not in [file.path for file in door.files().rows]
    assert ("shop", "symbolic link") in [(file.path, file.reason) for file in door.skipped().rows]
    (door.root / "README.md").unlink()
    (door.root / "README.md").symlink_to(tmp_path / "secrets/cart.py")
    kept = door.source("README.md")
    assert kept.kept
    assert "SECRET" not in kept.text
    assert not is_defined(door, "SECRET")
    with pytest.raises(NotFoundError):
        door.source("README.md")


def test_before_the_first_question_it_says_when_it_will_watch(owned: Path, tmp_path: Path):
    with connect(make_project(tmp_path / "shop")) as door:
        for _ in door.index():
            pass
        assert layer(door, "watcher").note == "watches from the first question on"
        door.search("tax")
        until(lambda: layer(door, "watcher").state == "on")
