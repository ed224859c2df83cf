"""Much prose is embedded by a process of its own, with the same vectors, and without it where that goes away."""

from __future__ import annotations

import numpy as np
import pytest

from cm_tui.engine.search.embed import prose_process
from cm_tui.engine.search.embed.prose import ProseProvider
from cm_tui.engine.search.embed.prose_process import MANY, ProseProcesses
from tests.waiting import until

TEXTS = ["We reverted the cache.", "The suite runs on four workers now.", "一条消息"]


@pytest.fixture
def beside():
    beside = ProseProcesses(ProseProvider())
    beside.keep_apart()
    yield beside
    beside._few.end()
    beside._many.end()


@pytest.mark.parametrize("left", [0, MANY])
def test_another_process_has_the_model_with_the_same_vectors(
    beside: ProseProcesses, left: int, monkeypatch: pytest.MonkeyPatch
):
    own = ProseProvider()
    wanted = own.embed(TEXTS)
    monkeypatch.setattr(beside._own, "embed", None)
    beside.left = left
    assert np.allclose(beside.embed(TEXTS), wanted, atol=1e-5)
    assert (beside._many.is_running, beside._few.is_running) == (bool(left), not left)
    assert np.allclose(beside.embed_query(TEXTS[0]), wanted[0], atol=1e-5)
    assert beside.fingerprint == own.fingerprint


def test_a_process_that_was_begun_answers_the_question(beside: ProseProcesses, monkeypatch: pytest.MonkeyPatch):
    assert beside.has_ended
    beside.begin()
    until(lambda: beside._few.is_running)
    assert not beside.has_ended
    process = beside._few._process
    monkeypatch.setattr(beside._own, "embed", None)
    assert beside.embed_query(TEXTS[0]).shape == (384,)
    assert beside._few._process is process


def test_a_command_embeds_few_itself():
    beside = ProseProcesses(ProseProvider())
    beside.begin()
    assert not beside.has_ended, "there is nothing to begin"
    beside.left = MANY - 1
    assert beside.embed(TEXTS).shape == (3, 384)
    assert not beside._many.is_running


def test_a_process_that_goes_away_loses_nothing(beside: ProseProcesses):
    beside.left = MANY
    wanted = beside.embed(TEXTS)
    process = beside._many._process._workers[0]._process
    process.kill()
    assert np.allclose(beside.embed(TEXTS), wanted, atol=1e-5)


def test_it_ends_when_nothing_is_asked_of_it(beside: ProseProcesses, monkeypatch: pytest.MonkeyPatch):
    beside.embed_query(TEXTS[0])
    beside.release_if_unused(0)
    assert beside._few.is_running
    monkeypatch.setattr(prose_process, "IDLE_S", -1.0)
    beside.release_if_unused(0)
    assert not beside._few.is_running
