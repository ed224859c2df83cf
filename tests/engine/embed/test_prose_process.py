"""Much prose is embedded by a process of its own, with the same vectors, and without it where that goes away."""

from __future__ import annotations

import numpy as np
import pytest

from cm_tui.engine.search.embed import prose_process
from cm_tui.engine.search.embed.prose import ProseProvider
from cm_tui.engine.search.embed.prose_process import MANY, ProseBeside

TEXTS = ["We reverted the cache.", "The suite runs on four workers now.", "一条消息"]


@pytest.fixture
def beside():
    beside = ProseBeside(ProseProvider())
    yield beside
    beside._end()


def test_many_are_embedded_elsewhere_with_the_same_vectors(beside: ProseBeside, monkeypatch: pytest.MonkeyPatch):
    own = ProseProvider()
    wanted = own.embed(TEXTS)
    here = list[int]()
    monkeypatch.setattr(beside._own, "embed", lambda texts: here.append(len(texts)) or own.embed(texts))
    beside.left = MANY
    assert np.allclose(beside.embed(TEXTS), wanted, atol=1e-5)
    assert not here
    assert beside.fingerprint == own.fingerprint


def test_few_are_embedded_here(beside: ProseBeside):
    beside.left = MANY - 1
    assert beside.embed(TEXTS).shape == (3, 384)
    assert beside._process is None


def test_a_process_that_goes_away_loses_nothing(beside: ProseBeside):
    beside.left = MANY
    wanted = beside.embed(TEXTS)
    assert beside._process is not None
    process = beside._process._workers[0]._process
    assert process is not None
    process.kill()
    assert np.allclose(beside.embed(TEXTS), wanted, atol=1e-5)


def test_it_ends_when_nothing_is_asked_of_it(beside: ProseBeside, monkeypatch: pytest.MonkeyPatch):
    beside.left = MANY
    beside.embed(TEXTS)
    beside.let_go_if_unused()
    assert beside._process is not None
    monkeypatch.setattr(prose_process, "IDLE_S", -1.0)
    beside.let_go_if_unused()
    assert beside._process is None
