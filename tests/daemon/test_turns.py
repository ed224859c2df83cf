"""Clients that ask at once: each has its share, and what is the same is answered once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.daemon.long_work import PAUSE_S, SLICE_S, Slices
from cm_tui.daemon.turns import Turns
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.model import Cancel
from tests.daemon.conftest import until
from tests.fake_clock import FakeClock
from tests.tiers import examples


class Asked:
    """Questions of clients, each working until it is told to end; keeps the order in which they got their turns."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.go_on = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def ask(self, client: str) -> None:
        before = self.turns.waiting + len(self.order)

        def work() -> None:
            with self.turns.take(client):
                with self._lock:
                    self.order.append(client)
                assert self.go_on.wait(60)

        self._threads.append(threading.Thread(target=work))
        self._threads[-1].start()
        until(lambda: self.turns.waiting + len(self.order) > before)

    def end(self) -> list[str]:
        self.go_on.set()
        for thread in self._threads:
            thread.join(60)
        return self.order


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_each_waiting_client_is_served_before_any_is_served_again(clients: list[str]) -> None:
    asked = Asked(Turns(1))
    asked.ask("first")
    for client in clients:
        asked.ask(client)
    order = asked.end()[1:]
    assert sorted(order) == sorted(clients)
    waiting = {client: clients.count(client) for client in clients}
    since: dict[str, int] = dict.fromkeys(waiting, 0)
    for client in order:
        waiting[client] -= 1
        since = {other: 0 if other == client else turns + 1 for other, turns in since.items()}
        assert all(turns <= len(since) for other, turns in since.items() if waiting[other])


def test_fifty_questions_of_one_cost_another_one_turn() -> None:
    asked = Asked(Turns(1))
    for _ in range(50):
        asked.ask("loop")
    asked.ask("person")
    assert asked.end().index("person") <= 2


def test_so_many_work_at_once_and_no_more() -> None:
    asked = Asked(Turns(3))
    for number in range(5):
        asked.ask(str(number))
    assert len(asked.order) == 3
    assert asked.turns.waiting == 2
    assert len(asked.end()) == 5


def test_a_turn_is_handed_on_when_a_question_fails() -> None:
    turns = Turns(1)
    with pytest.raises(ValueError, match="wrong"), turns.take("a"):
        raise ValueError("wrong")
    with turns.take("b"):
        assert turns.waiting == 0


def test_long_work_gives_way_to_questions_for_a_moment_only() -> None:
    turns, clock = Turns(2), FakeClock()
    paused, given = Cancel().with_pauses(Slices(turns, clock)), []
    with mock.patch.object(Turns, "give_way", lambda _, seconds: given.append(seconds)):
        paused.check()
        assert given == [], "its slice is not over"
        clock.advance(SLICE_S * 1.2)
        paused.check()
        assert given == [PAUSE_S]
        paused.check()
        assert given == [PAUSE_S], "a new slice has begun"
    with turns.take("a"):
        # Returns though the question is still worked on.
        turns.give_way(0.001)
    turns.give_way(60)


class Question:
    """A question that counts how often it is looked for."""

    looks = 0

    def __hash__(self) -> int:
        self.looks += 1
        return 7


def test_identical_questions_in_flight_are_answered_once() -> None:
    same = SharedResults()
    asked: list[str] = []
    begun, go_on, question = threading.Event(), threading.Event(), Question()

    def answer() -> str:
        asked.append("asked")
        begun.set()
        assert go_on.wait(60)
        return "found"

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(same.get, question, answer) for _ in range(8)]
        assert begun.wait(60)
        # The first looks for it and keeps it; each of the others looks for it, and finds it.
        until(lambda: question.looks == 9, "the others to ask")
        go_on.set()
        assert [one.result(60)[0] for one in answers] == ["found"] * 8
    assert len(asked) == 1
    assert same.get(question, lambda: "again") == ("again", "ok")


def test_what_fails_fails_for_all_who_asked_and_is_asked_again() -> None:
    same = SharedResults()

    def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        same.get("it", fail)
    assert same.get("it", lambda: 1) == (1, "ok")
