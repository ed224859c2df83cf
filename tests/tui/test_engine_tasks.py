"""Requests leave, answers come back, outdated ones never arrive."""

from __future__ import annotations

import threading

from cm_tui.engine.api.engine import Engine as Opened
from cm_tui.errors import CmError, StoreError
from cm_tui.model import Progress
from cm_tui.tui.tasks.ask import as_cm_error
from cm_tui.tui.tasks.engine_tasks import EngineOpened, EngineTasks
from cm_tui.tui.tasks.long_tasks import Answer, Origin, RunEnded, RunStep


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

    def deliver(self, tasks):
        for message in self.posted:
            if isinstance(message, Answer) and tasks.is_latest(message.topic, message.request):
                message.deliver()
        self.posted.clear()


class Engine:
    closed = uses_daemon = must_reopen = False

    def close(self):
        self.closed = True


async def opened():
    target, engine = Target(), Engine()
    tasks = EngineTasks(target, lambda: engine)
    tasks.open()
    await tasks.settled()
    target.posted.clear()
    return target, tasks, engine


async def test_a_late_answer_of_an_outdated_request_is_dropped():
    target, tasks, _ = await opened()
    release, got, lost = threading.Event(), [], []
    tasks.ask("topic", lambda _: release.wait() and "old", got.append, lost.append)
    tasks.ask("topic", lambda _: "new", got.append, lost.append)
    tasks.ask("other", lambda _: "else", got.append, lost.append)
    release.set()
    await tasks.settled()
    target.deliver(tasks)
    assert sorted(got) == ["else", "new"]
    assert lost == []
    tasks.close()


async def test_an_answer_already_on_its_way_is_dropped_too():
    target, tasks, _ = await opened()
    got = []
    tasks.ask("topic", lambda _: "old", got.append, got.append)
    await tasks.settled()
    tasks.ask("topic", lambda _: "new", got.append, got.append)
    await tasks.settled()
    target.deliver(tasks)
    assert got == ["new"]
    tasks.close()


async def test_a_command_is_in_progress_until_the_newest_answer_also_where_another_one_asked_for_it():
    origins = [Origin(None, "Mode"), Origin(), Origin(None, "Profile")]
    target, tasks, _ = await opened()
    tasks._origin = lambda: origins.pop(0)
    for _ in range(2):
        tasks.ask("topic", lambda _: "answer", lambda _: None, lambda _: None)
        assert tasks.command_in_progress.command == "Mode"
    await tasks.settled()
    target.deliver(tasks)
    assert tasks.command_in_progress is None
    tasks.ask("topic", lambda _: "answer", lambda _: None, lambda _: None)
    assert tasks.command_in_progress.command == "Profile"
    tasks.drop("topic")
    assert tasks.command_in_progress is None
    tasks.close()


async def test_a_delayed_request_leaves_once_for_many_keys():
    target, tasks, _ = await opened()
    asked, got = [], []
    for word in ("p", "pa", "par"):
        tasks.ask("search", lambda _, word=word: asked.append(word) or word, got.append, got.append, delay=0.06)
    assert tasks.busy
    for timer in target.timers:
        timer.fire()
    await tasks.settled()
    target.deliver(tasks)
    assert asked == ["par"]
    assert got == ["par"]
    tasks.close()


async def test_a_stopped_timer_that_is_heard_of_late_does_not_take_the_newer_request_with_it():
    target, tasks, _ = await opened()
    got = []
    tasks.ask("search", lambda _: "p", got.append, got.append, delay=0.06)
    fired = target.timers[0].fire
    tasks.ask("search", lambda _: "pa", got.append, got.append, delay=0.06)
    fired()
    assert tasks.busy
    target.timers[1].fire()
    await tasks.settled()
    target.deliver(tasks)
    assert got == ["pa"]
    tasks.close()


async def test_errors_arrive_where_the_question_came_from():
    target, tasks, _ = await opened()
    got = []

    def fails(_):
        raise StoreError("The disk is full.", hint="Make room.")

    tasks.ask("topic", fails, lambda value: None, got.append)
    await tasks.settled()
    target.deliver(tasks)
    assert [error.message for error in got] == ["The disk is full."]
    assert as_cm_error(ZeroDivisionError("x")).message == "ZeroDivisionError: x"
    tasks.close()


async def test_what_a_person_wants_is_done_in_turn_and_nothing_newer_takes_its_place():
    target, tasks, _ = await opened()
    go, done, got = threading.Event(), [], []

    def fails(_):
        done.append("fails")
        raise StoreError("The disk is full.")

    tasks.do(lambda _: go.wait(10) and done.append("tag"), got.append, got.append)
    tasks.do(fails, got.append, got.append)
    tasks.do(lambda _: done.append("undo") or "undone", got.append, got.append)
    go.set()
    await tasks.settled()
    target.deliver(tasks)
    assert done == ["tag", "fails", "undo"]
    assert [str(one) for one in got] == ["None", "The disk is full.", "undone"]
    tasks.close()


async def test_what_a_person_wanted_is_done_also_where_they_leave_at_once():
    _, tasks, engine = await opened()
    go, done = threading.Event(), []
    for name in ("pin", "forget"):
        tasks.do(lambda _, name=name: go.wait(10) and done.append((name, engine.closed)), done.append, done.append)
    tasks.stop()
    go.set()
    tasks.close()
    assert done == [("pin", False), ("forget", False)]


async def test_questions_before_the_door_is_open_wait_for_it():
    target, engine = Target(), Engine()
    tasks = EngineTasks(target, lambda: engine)
    got = []
    tasks.ask("topic", lambda opened: opened, got.append, got.append)
    tasks.open()
    await tasks.settled()
    tasks.start_waiting()
    await tasks.settled()
    target.deliver(tasks)
    assert got == [engine]
    tasks.close()
    assert engine.closed


async def test_an_index_run_can_be_cancelled_and_only_one_runs():
    target, tasks, _ = await opened()
    started = threading.Event()

    def steps(_, cancel):
        done = 0
        while True:
            done += 1
            started.set()
            yield Progress("parse", done, 10**9)
            cancel.check()

    assert tasks.start_run("index", steps)
    started.wait()
    assert not tasks.start_run("index", steps)
    tasks.stop_run("index")
    await tasks.settled()
    ended = [message for message in target.posted if isinstance(message, RunEnded)]
    assert len(ended) == 1
    assert ended[0].cancelled
    assert any(isinstance(message, RunStep) for message in target.posted)
    assert not tasks.indexing
    tasks.close()


async def test_a_door_that_does_not_open_says_why():
    target = Target()

    def broken():
        raise CmError("No.", hint="Try this.")

    tasks = EngineTasks(target, broken)
    tasks.open()
    await tasks.settled()
    assert target.posted[0].error.hint == "Try this."
    tasks.close()


async def test_a_store_that_failed_for_good_is_opened_again(tmp_path):
    target = Target()
    tasks = EngineTasks(target, lambda: Opened.open(tmp_path))
    tasks.open()
    await tasks.settled()
    db = tasks.engine._db
    db.set_meta("later", "1")
    db.execute("SET debug_checkpoint_abort='before_header'")
    got, lost = [], []
    for topic in ("one", "other", "third"):
        tasks.ask(topic, lambda engine: engine._db.execute("CHECKPOINT"), got.append, lost.append)
    await tasks.settled()
    assert [message.again for message in target.posted if isinstance(message, EngineOpened)] == [False, True]
    target.deliver(tasks)
    assert lost
    tasks.start_waiting()
    tasks.ask("again", lambda engine: engine._db.get_meta("later"), got.append, lost.append)
    await tasks.settled()
    target.deliver(tasks)
    assert "1" in got
    tasks.close()
