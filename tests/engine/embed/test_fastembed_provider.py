"""fastembed models: local folders, names it knows, and what goes wrong with either."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.search.embed.bundled import BundledProvider, bundled_folder
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.errors import ModelError


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "a model"
    shutil.copytree(bundled_folder(), copy)
    return copy


def local(folder, **settings):
    return provider_for(EmbeddingConfig(provider="fastembed", model="mine", path=str(folder), **settings))


def test_a_local_folder_works_also_twice_in_one_process(folder):
    texts = ["parse the config", "open a socket", "x " * 900]
    expected = BundledProvider().embed(texts)
    for _ in range(2):
        provider = local(folder)
        np.testing.assert_allclose(provider.embed(texts), expected, atol=2e-6)
        np.testing.assert_allclose(provider.embed_query(texts[0]), expected[0], atol=2e-6)
        assert provider.dimensions == 256


def test_an_absolute_model_file_outside_the_folder_works(folder, tmp_path):
    model = tmp_path / "elsewhere.onnx"
    (folder / "model.onnx").rename(model)
    provider = local(folder, model_file=str(model), dimensions=256, batch_size=8)
    assert provider.embed(["a"] * 20).shape == (20, 256)


def test_a_model_without_pooling_of_its_own_is_pooled_and_scaled(tmp_path):
    """A model whose output is one vector a token, such as MiniLM."""
    token_model(tmp_path)
    provider = local(tmp_path, pooling="mean")
    first, second = provider.embed(["a b", "b"])
    assert np.linalg.norm(first) == pytest.approx(1)
    # Token ids are 3 and 4; a token's vector is (id, 1), so the means are (3.5, 1) and (4, 1).
    np.testing.assert_allclose(first, np.array([3.5, 1]) / np.hypot(3.5, 1), atol=1e-5)
    np.testing.assert_allclose(second, np.array([4, 1]) / np.hypot(4, 1), atol=1e-5)


def test_forgotten_pooling_is_named(tmp_path):
    token_model(tmp_path)
    with pytest.raises(ModelError) as caught:
        local(tmp_path).embed(["a"])
    assert "pooling" in str(caught.value)


def test_the_fingerprint_follows_content_pooling_and_dimensions(folder):
    plain = local(folder).fingerprint
    assert local(folder).fingerprint == plain
    assert local(folder, pooling="mean").fingerprint != plain
    assert local(folder, dimensions=256).fingerprint != plain
    data = bytearray((folder / "model.onnx").read_bytes())
    data[: 64 * 1024] = bytes(64 * 1024)
    (folder / "model.onnx").write_bytes(data)
    assert local(folder).fingerprint != plain


def test_missing_damaged_and_wrong_models_are_explained(folder, tmp_path):
    with pytest.raises(ModelError, match=r"model\.onnx is missing"):
        local(tmp_path / "nowhere").embed(["x"])
    with pytest.raises(ModelError, match="256 dimensions, not 3"):
        local(folder, dimensions=3).embed(["x"])
    (folder / "model.onnx").write_bytes(b"garbage")
    with pytest.raises(ModelError, match="cannot be loaded"):
        local(folder).embed(["x"])


def test_an_unknown_name_is_refused_before_anything_is_downloaded():
    said: list[str] = []
    provider = provider_for(EmbeddingConfig(provider="fastembed", model="no/such-model"), said.append)
    with pytest.raises(ModelError, match="has no model named no/such-model"):
        provider.embed(["x"])
    assert said == []


def test_an_unreachable_hub_is_said_and_the_download_was_announced(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    said: list[str] = []
    provider = provider_for(EmbeddingConfig(provider="fastembed", model="BAAI/bge-small-en-v1.5"), said.append)
    with pytest.raises(ModelError) as caught:
        provider.embed(["x"])
    assert "BAAI/bge-small-en-v1.5" in caught.value.message
    assert "embedding.path" in caught.value.hint
    assert len(said) == 1
    assert "downloading" in said[0]


def token_model(folder):
    """Write a model of two tokens, `a` and `b`, by hand: ONNX is protobuf, and this graph is four nodes."""
    import json

    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[SEP]": 2, "a": 3, "b": 4}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 16, "pad_token": "[PAD]"}')
    (folder / "config.json").write_text('{"pad_token_id": 0, "hidden_size": 2}')
    table = np.stack([np.arange(5), np.ones(5)], axis=1).astype("<f4")
    (folder / "model.onnx").write_bytes(gather_model(table))


def gather_model(table):
    """ONNX: output[batch, token] = table[input_ids[batch, token]]."""

    def number(field, value):
        return varint(field << 3) + varint(value)

    def chunk(field, value):
        value = value.encode() if isinstance(value, str) else value
        return varint(field << 3 | 2) + varint(len(value)) + value

    def varint(value):
        out = b""
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])

    def tensor_type(kind, *dims):
        shape = b"".join(chunk(1, number(1, d) if isinstance(d, int) else chunk(2, d)) for d in dims)
        return chunk(1, number(1, kind) + chunk(2, shape))

    def value_info(name, kind, *dims):
        return chunk(1, name) + chunk(2, tensor_type(kind, *dims))

    weights = b"".join(number(1, d) for d in table.shape) + number(2, 1) + chunk(8, "table") + chunk(9, table.tobytes())
    gather = chunk(1, "table") + chunk(1, "input_ids") + chunk(2, "tokens") + chunk(4, "Gather")
    graph = (
        chunk(1, gather) + chunk(2, "g") + chunk(5, weights)
        + chunk(11, value_info("input_ids", 7, "batch", "sequence"))
        + chunk(12, value_info("tokens", 1, "batch", "sequence", table.shape[1]))
    )  # fmt: skip
    return number(1, 8) + chunk(7, graph) + chunk(8, chunk(1, "") + number(2, 17))
