"""The model for prose: the one that comes with the install, checked, and better at what people say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.search.embed import onnx_file, prose
from cm_tui.engine.search.embed.choice import prose_provider_for
from cm_tui.engine.search.embed.prose import ProseProvider
from cm_tui.engine.search.embed.prose_process import ProseProcesses
from cm_tui.errors import ModelError


def test_like_meanings_are_near():
    provider = ProseProvider()
    texts = ["We reverted the cache because parcels went to old addresses.", "The suite runs on four workers now.", ""]
    rows = provider.embed(texts)
    assert rows.shape == (3, 384)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    question = provider.embed_query("why did we undo caching")
    assert question @ rows[0] > question @ rows[1] + 0.2


def test_a_text_has_one_vector_whoever_is_embedded_beside_it():
    provider = ProseProvider()
    texts = ["one", "a longer text about the queue of webhooks " * 30, "\udcff half a pair \x00"]
    together = provider.embed(texts)
    for text, row in zip(texts, together, strict=True):
        # In int8 the scale of a run depends a little on what else is in it.
        assert provider.embed([text])[0] @ row > 0.98


def test_products_in_integers_give_nearly_the_vectors_of_those_in_floats(monkeypatch: pytest.MonkeyPatch):
    texts = [
        "We reverted the cache because parcels went to old addresses.", "The suite runs on four workers now.",
        "images are webp", "Orders older than a year are archived every night. " * 30, "why did we undo caching", "",
    ]  # fmt: skip
    rounded = ProseProvider().embed(texts)
    monkeypatch.setattr(onnx_file, "with_integer_products", lambda model: model)
    exact = ProseProvider().embed(texts)
    assert np.einsum("ij,ij->i", rounded, exact).min() > 0.97
    assert np.abs(rounded @ rounded.T - exact @ exact.T).max() < 0.06
    assert not np.array_equal(rounded, exact)


def test_settings_say_whose_vectors_serve_prose():
    assert isinstance(prose_provider_for(EmbeddingConfig()), ProseProcesses)
    assert prose_provider_for(EmbeddingConfig(provider="none")) is None
    assert prose_provider_for(EmbeddingConfig(provider="fastembed")) is None


def test_a_model_that_is_not_used_is_not_kept():
    provider = prose_provider_for(EmbeddingConfig())
    assert provider is not None
    before = provider.embed_query("a queue of webhooks")
    assert not provider.release_if_unused(3600)
    assert provider.release_if_unused(0)
    assert not provider.release_if_unused(0)
    assert provider.embed_query("a queue of webhooks") == pytest.approx(before)


def test_a_missing_or_damaged_model_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "model.onnx").write_bytes(b"not it")
    monkeypatch.setattr(prose, "_package", lambda: tmp_path)
    with pytest.raises(ModelError, match="damaged"):
        ProseProvider().check()
    monkeypatch.undo()
    monkeypatch.setattr(prose, "_PACKAGE", "no_such_package_at_all")
    with pytest.raises(ModelError, match="not installed"):
        ProseProvider().embed_query("anything")
