"""The bundled model gives what fastembed gives for the same folder, and refuses to run damaged."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.search.embed import bundled
from cm_tui.engine.search.embed.bundled import BundledProvider, bundled_folder
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.embed.provider import passage_text
from cm_tui.errors import ModelError

TEXTS = [
    "def parse_config(path): return tomllib.loads(path.read_text())",
    "class HTTPServer2: pass",
    "connect to the database with retries",
    "naïve Straße 日本語 — ünïcode",
    "x",
    "",
    "!!! ???",
    "word " * 2000,
    *(f"def function_{i}(a, b):\n    return a * {i} + b" for i in range(70)),
]


@pytest.fixture(scope="module")
def provider() -> BundledProvider:
    return BundledProvider()


def test_equals_fastembed_on_the_same_folder(provider):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="test/code-static-256",
        pooling=PoolingType.DISABLED,
        normalization=False,
        sources=ModelSource(hf="test/none"),
        dim=256,
        model_file="model.onnx",
    )
    model = TextEmbedding("test/code-static-256", specific_model_path=str(bundled_folder()), threads=1)
    expected = np.array(list(model.embed(TEXTS, batch_size=64)))
    np.testing.assert_allclose(provider.embed(TEXTS), expected, atol=2e-6)


def test_the_model_is_in_memory_once_and_gone_with_its_last_user(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(bundled_folder(), folder)
    users = [BundledProvider(folder) for _ in range(3)]
    for one in users:
        one.embed_query("tax")
    assert users[0]._loaded is users[1]._loaded is users[2]._loaded is bundled._models[folder]
    del one
    users.clear()
    gc.collect()
    assert folder not in bundled._models


def test_rows_are_unit_vectors_and_texts_without_tokens_are_zeros(provider):
    lengths = np.linalg.norm(provider.embed(TEXTS), axis=1)
    assert np.isclose(lengths, 1, atol=1e-5).sum() >= len(TEXTS) - 2
    assert provider.embed([""]).tolist() == [[0.0] * 256]
    assert provider.embed([]).shape == (0, 256)


def test_a_query_is_the_same_whatever_else_is_embedded(provider):
    together = provider.embed(TEXTS)
    for row, text in enumerate(TEXTS[:4]):
        np.testing.assert_allclose(provider.embed_query(text), together[row], atol=2e-6)


def test_related_texts_are_nearer_than_others(provider):
    query = provider.embed_query("where is the configuration file parsed")
    parse, server = provider.embed(TEXTS[:2]) @ query
    assert parse > server + 0.1


def test_odd_queries_do_not_break_it(provider):
    for text in ["\udcff broken", "\x00", "a" * 100_000, "<b>'; DROP TABLE x; --"]:
        assert provider.embed_query(text).shape == (256,)


@pytest.mark.parametrize("damage", ["model", "tokenizer", "missing", "no checksums"])
def test_a_damaged_model_is_refused_with_the_way_to_mend_it(tmp_path, damage):
    folder = tmp_path / "model"
    shutil.copytree(bundled_folder(), folder)
    if damage == "model":
        data = bytearray((folder / "model.onnx").read_bytes())
        data[4_000_000] ^= 1
        (folder / "model.onnx").write_bytes(data)
    elif damage == "tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    elif damage == "missing":
        (folder / "model.onnx").unlink()
    else:
        (folder / "checksums").write_bytes(b"\xff")
    with pytest.raises(ModelError) as caught:
        BundledProvider(folder).embed_query("anything")
    assert "bundled model" in caught.value.message
    assert "Install cm again" in caught.value.hint


def test_checksums_cover_every_file_and_the_card_is_there():
    folder = bundled_folder()
    named = (folder / "checksums").read_text().split()[1::2]
    assert {file.name for file in folder.iterdir()} == {*named, "checksums", "MODEL_CARD.md"}


def test_nothing_heavy_is_imported_before_the_first_text():
    code = (
        "import sys\n"
        "from cm_tui.config import EmbeddingConfig\n"
        "from cm_tui.engine.search.embed.choice import provider_for\n"
        "provider = provider_for(EmbeddingConfig())\n"
        "assert provider.fingerprint == 'bundled/code-static-256.2/256/r1'\n"
        "assert not {'onnxruntime', 'tokenizers', 'fastembed', 'httpx'} & sys.modules.keys()\n"
        "provider.embed_query('x')\n"
        "assert not {'fastembed', 'httpx'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_no_provider_says_that_vectors_are_off():
    provider = provider_for(EmbeddingConfig(provider="none"))
    with pytest.raises(ModelError, match="disabled"):
        provider.embed_query("x")


def test_what_is_embedded_has_no_path():
    assert passage_text("parse(path)", "body") == "parse(path)\nbody"
    assert passage_text("", "body") == "body"


def test_folder_is_package_data():
    assert bundled_folder().is_relative_to(Path(sys.modules["cm_tui"].__file__).parent)
