"""Going back and forth, and writing state down: without a screen."""

from __future__ import annotations

from pathlib import Path

from cm_tui.tui.app.kept_choices import StateWriter
from cm_tui.tui.state.navigation import Navigation
from cm_tui.tui.state.remembered import AppState, load_state, save_state, state_file


def test_back_and_forth_and_what_is_only_looked_at():
    navigation: Navigation[str] = Navigation()
    assert not navigation.can_go_back
    for place in ("a", "b", "c"):
        navigation.go(place)
    navigation.look("x")
    assert [navigation.back(), navigation.back(), navigation.back()] == ["c", "b", "a"]
    assert not navigation.can_go_back
    assert navigation.forward() == "b"
    navigation.go("d")
    assert not navigation.can_go_forward
    assert navigation.back() == "b"


def writer_of(root, state, timers, workers, failed):
    return StateWriter(root, lambda: state, lambda _, call: timers.append(call), workers.append, failed.append)


def test_many_changes_are_written_once_and_the_newest_wins(tmp_path):
    state, timers, workers = AppState(), [], []
    writer = writer_of(tmp_path, state, timers, workers, [])
    for query in ("a", "ab"):
        state.of("search")["query"] = query
        writer.changed()
    assert len(timers) == 1
    timers.pop()()
    state.of("search")["query"] = "abc"
    writer.changed()
    timers.pop()()
    state.of("search")["query"] = "not said to have changed"
    for write in reversed(workers):  # a slow worker comes last
        write()
    assert load_state(tmp_path)[0].screens == {"search": {"query": "abc"}}


def test_a_state_that_cannot_be_written_is_told_and_tried_again(tmp_path):
    folder = state_file(tmp_path).parent
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    timers, failed = [], []
    writer = writer_of(tmp_path, AppState(mode="pack"), timers, [], failed)
    writer.flush()
    assert len(failed) == 1
    folder.unlink()
    writer.flush()
    assert load_state(tmp_path)[0].mode == "pack"


def test_what_is_remembered_holds_no_secret(tmp_path: Path):
    token = "xox" + "b-283746501928-Kq7RzmW2pLx9"
    state = AppState(screens={"search": {"query": f"where is {token}", "last": [token, "add tax"], "rows": 7}})
    save_state(tmp_path, state)
    assert token not in state_file(tmp_path).read_text()
    kept = load_state(tmp_path)[0].screens["search"]
    assert kept["query"].startswith("where is [redacted")
    assert kept["last"][1:] == ["add tax"]
    assert kept["rows"] == 7
    assert state.screens["search"]["last"][0] == token
