"""Sessions are followed as they go on: by so many bytes or lines, or when they came to rest."""

from __future__ import annotations

import os
import time

import pytest

from cm_tui.engine.memory.importers import run
from cm_tui.engine.memory.importers.run import Follower, is_wanted
from cm_tui.model import Cancel, ImportSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude


@pytest.fixture
def follower(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Follower:
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    # What a test wrote a moment ago is under way, however long the test takes.
    monkeypatch.setattr(run, "REST_SECONDS", 3_600.0)
    return Follower(machine.root)


def look(follower: Follower) -> ImportSummary | None:
    return follower.look(Cancel())


def test_only_what_a_person_imported_once_is_followed(machine: Machine):
    assert not is_wanted(machine.root)
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    machine.run()
    assert is_wanted(machine.root)


def test_a_few_lines_wait_and_many_are_taken(machine: Machine, follower: Follower):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."), old=False)
    assert look(follower) is None
    for number in range(run.LINES // 2):
        one.write(one.turn(f"Prompt {number}", "Done."), old=False)
    done = look(follower)
    assert done is not None
    assert done.episodes == run.LINES // 2 + 1
    assert look(follower) is None


def test_a_few_lines_of_many_bytes_are_taken(machine: Machine, follower: Follower):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "x " * run.BYTES), old=False)
    done = look(follower)
    assert done is not None
    assert done.episodes == 1


def test_what_came_to_rest_is_taken(machine: Machine, follower: Follower, monkeypatch: pytest.MonkeyPatch):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    done = look(follower)
    assert done is not None
    assert done.episodes == 1
    one.write(one.turn("Second", "Two."), old=False)
    assert look(follower) is None
    monkeypatch.setattr(run, "REST_SECONDS", -1.0)
    assert look(follower) is not None
    assert machine.prompts() == ["First", "Second"]


def test_a_turn_that_waits_is_not_read_again_and_again(
    machine: Machine, follower: Follower, monkeypatch: pytest.MonkeyPatch
):
    one = Claude(machine.claude, machine.root)
    file = one.write([one.asked("First"), one.said("I begin.", over=False)], old=False)
    monkeypatch.setattr(run, "REST_SECONDS", -1.0)
    done = look(follower)
    assert done is not None
    assert (done.episodes, done.waiting) == (0, 1)
    assert look(follower) is None
    rested = time.time() - run.QUIET_SECONDS - 60
    os.utime(file, (rested, rested))
    done = look(follower)
    assert done is not None
    assert done.episodes == 1


def test_a_prompt_without_an_answer_is_taken_when_nothing_more_came(
    machine: Machine, follower: Follower, monkeypatch: pytest.MonkeyPatch
):
    one = Claude(machine.claude, machine.root)
    file = one.write([one.asked("First")], old=False)
    monkeypatch.setattr(run, "REST_SECONDS", -1.0)
    done = look(follower)
    assert done is not None
    assert (done.episodes, done.waiting) == (0, 1)
    assert look(follower) is None
    rested = time.time() - run.QUIET_SECONDS - 60
    os.utime(file, (rested, rested))
    done = look(follower)
    assert done is not None
    assert (done.unanswered, done.waiting) == (1, 0)
    assert look(follower) is None


def test_where_a_person_said_that_transcripts_lie_is_remembered(machine: Machine):
    machine.transcripts().state.keep_environment(machine.environment, ["/gone/market"])
    one = Claude(machine.claude, "/gone/market")
    one.write(one.turn("First", "One."))
    done = look(Follower(machine.root))
    assert done is not None
    assert machine.prompts() == ["First"]
