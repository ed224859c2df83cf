"""What is embedded ahead, in another process, is what would have been embedded here."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from cm_tui.engine.search.embed import bundled
from cm_tui.engine.search.embed.bundled import BundledProvider
from cm_tui.engine.search.embed.worker_process import EmbeddingProcess

TEXTS = [f"def load_record_{i}(name): return {i}" for i in range(50)]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "WORTH_A_PROCESS", 10)
    provider = BundledProvider()
    provider.batch = 16
    yield provider
    provider.forget_prepared()


def test_prepared_vectors_are_the_same_and_given_out_once(provider):
    expected = BundledProvider().embed(TEXTS)
    provider.prepare([*TEXTS[:30], *TEXTS[:5]])
    provider.prepare(TEXTS[30:45])
    np.testing.assert_allclose(provider.embed(TEXTS[::-1]), expected[::-1], atol=1e-6)
    assert provider._loaded is not None, "the last five were not prepared"
    assert provider._worker._rows == {}
    np.testing.assert_allclose(provider.embed(TEXTS), expected, atol=1e-6)


def test_this_process_need_not_load_the_model(provider):
    provider.prepare(TEXTS)
    assert provider.embed([*TEXTS, *TEXTS[:2]]).any(), "a text may be there twice"
    assert provider._loaded is None


def test_a_few_texts_are_not_worth_a_process(provider):
    provider.prepare(TEXTS[:9])
    assert provider._worker is None


def test_what_a_lost_process_did_not_make_is_made_here(provider):
    expected = BundledProvider().embed(TEXTS)
    provider.prepare(TEXTS[:20])
    provider.embed(TEXTS[:1])
    os.kill(provider._worker._workers[0]._process.pid, signal.SIGKILL)
    provider.prepare(TEXTS[20:])
    np.testing.assert_allclose(provider.embed(TEXTS), expected, atol=1e-6)


def test_a_process_that_cannot_start_is_no_obstacle(provider, monkeypatch):
    monkeypatch.setattr("cm_tui.worker_process.sys.executable", "/nowhere/python")
    provider.prepare(TEXTS)
    np.testing.assert_allclose(provider.embed(TEXTS), BundledProvider().embed(TEXTS), atol=1e-6)


def test_closing_ends_the_process_though_nobody_took_anything():
    ahead = EmbeddingProcess()
    ahead.prepare(TEXTS, 5)
    ahead.take(TEXTS[:1], np.empty((1, 256), dtype=np.float32))
    process = ahead._workers[0]._process
    ahead.close()
    ahead.close()
    assert process.returncode is not None
    assert ahead.take(TEXTS[:1], np.empty((1, 256), dtype=np.float32)) == [0]
