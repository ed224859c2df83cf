"""Turns: begun by a prompt or an edit, ended by a stop, recorded by an episode."""

from __future__ import annotations

from typing import Any

from cm_tui.engine.memory.projection.turns import FORGOTTEN_SECONDS, Turns
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START


class Events:
    """Events of one session, a second apart."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.time = 0.0
        self.at = START

    def __call__(self, kind: str, *, later: float = 1.0, **data: Any) -> Any:
        before, self.time = self.at, self.time + later
        self.at = Position(1, before.offset + 10)
        event = Event(str(self.at), self.time, kind, "a" * 40, {"root": "/p", "session": "s", **data}, self.at)
        return event, self.turns.follow(event, before)


def test_a_turn_is_what_came_between_two_stops():
    add = Events()
    add("hook.prompt", prompt="do this")
    add("hook.edit", paths=["a.py"])
    add("hook.edit", paths=["a.py", "b.py"], session="another")
    add("hook.edit", paths=["a.py", "c.py"])
    assert add.turns.begin == START
    stop, turn = add("hook.stop")
    assert (turn.prompts, turn.files, turn.base, turn.begin) == (["do this"], ["a.py", "c.py"], "a" * 40, START)
    assert add.turns.begin == Position(1, 20)
    assert not add.turns.is_recorded(stop)
    add("episode", stop=stop.id, patch_digest="d1")
    assert add.turns.is_recorded(stop)
    _, turn = add("hook.stop")
    assert (turn.prompts, turn.patch_before) == ([], "d1")


def test_a_session_that_was_silent_for_a_day_is_waited_for_no_more():
    add = Events()
    add("hook.prompt", prompt="long ago")
    add("hook.prompt", prompt="now", session="another", later=FORGOTTEN_SECONDS + 1)
    _, turn = add("hook.stop")
    assert turn.prompts == []


def test_strange_events_end_nothing():
    add = Events()
    add("hook.edit", paths=7)
    add("hook.prompt", prompt=None)
    add("hook.git")
    add("episode", stop=["x"], patch_digest={})
    assert add("hook.stop")[1].files == []
