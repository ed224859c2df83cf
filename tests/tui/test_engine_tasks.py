"""Requests leave, answers come back, outdated ones never arrive."""

from __future__ import annotations

import threading

from cm_tui.errors import CmError, StoreError
from cm_tui.model import Progress
from cm_tui.tui.tasks.engine_tasks import Answer, Gateway
from cm_tui.tui.tasks.errors import as_cm_error
from cm_tui.tui.tasks.long_run import IndexEnded, IndexStep


class Timer:
    def __init__(self, fire):
        self.fire = fire

    def stop(self):
        self.fire = lambda: None


class Target:
    """Stands for the application: keeps what is posted."""

    def __init__(self):
        self.posted = []
        self.timers = []

    def post_message(self, message):
        self.posted.append(message)
        return True

    def set_timer(self, delay, fire):
        self.timers.append(Timer(fire))
        return self.timers[-1]

    def deliver(self, gateway):
        for message in self.posted:
            if isinstance(message, Answer) and gateway.is_latest(message.topic, message.request):
                message.deliver()
        self.posted.clear()


class Door:
    closed = False

    def close(self):
        self.closed = True


async def opened():
    target, door = Target(), Door()
    gateway = Gateway(target, lambda: door)
    gateway.open()
    await gateway.settled()
    target.posted.clear()
    return target, gateway, door


async def test_a_late_answer_of_an_outdated_request_is_dropped():
    target, gateway, _ = await opened()
    release, got, lost = threading.Event(), [], []
    gateway.ask("topic", lambda _: release.wait() and "old", got.append, lost.append)
    gateway.ask("topic", lambda _: "new", got.append, lost.append)
    gateway.ask("other", lambda _: "else", got.append, lost.append)
    release.set()
    await gateway.settled()
    target.deliver(gateway)
    assert sorted(got) == ["else", "new"]
    assert lost == []
    gateway.close()


async def test_an_answer_already_on_its_way_is_dropped_too():
    target, gateway, _ = await opened()
    got = []
    gateway.ask("topic", lambda _: "old", got.append, got.append)
    await gateway.settled()
    gateway.ask("topic", lambda _: "new", got.append, got.append)
    await gateway.settled()
    target.deliver(gateway)
    assert got == ["new"]
    gateway.close()


async def test_a_delayed_request_leaves_once_for_many_keys():
    target, gateway, _ = await opened()
    asked, got = [], []
    for word in ("p", "pa", "par"):
        gateway.ask("search", lambda _, word=word: asked.append(word) or word, got.append, got.append, delay=0.06)
    assert gateway.busy
    for timer in target.timers:
        timer.fire()
    await gateway.settled()
    target.deliver(gateway)
    assert asked == ["par"]
    assert got == ["par"]
    gateway.close()


async def test_a_stopped_timer_that_is_heard_of_late_does_not_take_the_newer_request_with_it():
    target, gateway, _ = await opened()
    got = []
    gateway.ask("search", lambda _: "p", got.append, got.append, delay=0.06)
    fired = target.timers[0].fire
    gateway.ask("search", lambda _: "pa", got.append, got.append, delay=0.06)
    fired()
    assert gateway.busy
    target.timers[1].fire()
    await gateway.settled()
    target.deliver(gateway)
    assert got == ["pa"]
    gateway.close()


async def test_errors_arrive_where_the_question_came_from():
    target, gateway, _ = await opened()
    got = []

    def fails(_):
        raise StoreError("The disk is full.", hint="Make room.")

    gateway.ask("topic", fails, lambda value: None, got.append)
    await gateway.settled()
    target.deliver(gateway)
    assert [error.message for error in got] == ["The disk is full."]
    assert as_cm_error(ZeroDivisionError("x")).message == "ZeroDivisionError: x"
    gateway.close()


async def test_questions_before_the_door_is_open_wait_for_it():
    target, door = Target(), Door()
    gateway = Gateway(target, lambda: door)
    got = []
    gateway.ask("topic", lambda opened: opened, got.append, got.append)
    gateway.open()
    await gateway.settled()
    gateway.start_waiting()
    await gateway.settled()
    target.deliver(gateway)
    assert got == [door]
    gateway.close()
    assert door.closed


async def test_an_index_run_can_be_cancelled_and_only_one_runs():
    target, gateway, _ = await opened()
    started = threading.Event()

    def steps(_, cancel):
        done = 0
        while True:
            done += 1
            started.set()
            yield Progress("parse", done, 10**9)
            cancel.check()

    assert gateway.index(steps)
    started.wait()
    assert not gateway.index(steps)
    gateway.cancel_index()
    await gateway.settled()
    ended = [message for message in target.posted if isinstance(message, IndexEnded)]
    assert len(ended) == 1
    assert ended[0].cancelled
    assert any(isinstance(message, IndexStep) for message in target.posted)
    assert not gateway.indexing
    gateway.close()


async def test_a_door_that_does_not_open_says_why():
    target = Target()

    def broken():
        raise CmError("No.", hint="Try this.")

    gateway = Gateway(target, broken)
    gateway.open()
    await gateway.settled()
    assert target.posted[0].error.hint == "Try this."
    gateway.close()
