"""Going back and forth, and writing state down: without a screen."""

from __future__ import annotations

from cm_tui.tui.app.state_writer import StateWriter
from cm_tui.tui.state.navigation import Trail
from cm_tui.tui.state.remembered import AppState, load_state, state_file


def test_back_and_forth_and_what_is_only_looked_at():
    trail: Trail[str] = Trail()
    assert not trail.can_go_back
    for place in ("a", "b", "c"):
        trail.go(place)
    trail.look("x")
    assert [trail.back(), trail.back(), trail.back()] == ["c", "b", "a"]
    assert not trail.can_go_back
    assert trail.forward() == "b"
    trail.go("d")
    assert not trail.can_go_forward
    assert trail.back() == "b"


def keeper_of(root, state, later, workers, failed):
    return StateWriter(root, lambda: state, lambda _, call: later.append(call), workers.append, failed.append)


def test_many_changes_are_written_once_and_the_newest_wins(tmp_path):
    state, later, workers = AppState(), [], []
    keeper = keeper_of(tmp_path, state, later, workers, [])
    for query in ("a", "ab"):
        state.of("search")["query"] = query
        keeper.changed()
    assert len(later) == 1
    later.pop()()
    state.of("search")["query"] = "abc"
    keeper.changed()
    later.pop()()
    state.of("search")["query"] = "not said to have changed"
    for write in reversed(workers):  # a slow worker comes last
        write()
    assert load_state(tmp_path)[0].screens == {"search": {"query": "abc"}}


def test_a_state_that_cannot_be_written_is_told_and_tried_again(tmp_path):
    folder = state_file(tmp_path).parent
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    later, failed = [], []
    keeper = keeper_of(tmp_path, AppState(mode="pack"), later, [], failed)
    keeper.flush()
    assert len(failed) == 1
    folder.unlink()
    keeper.flush()
    assert load_state(tmp_path)[0].mode == "pack"
