"""The bundled model's table: numpy and a runtime for graphs make the same of it."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from cm_tui.engine.search.embed.bundled import BundledProvider, bundled_folder, read_table

MODEL = bundled_folder() / "model.onnx"
TEXTS = [
    "def parse(options): return options",
    "how is a websocket closed",
    "x",
    "",
    "\n\n",
    "Übergröße 日本語 ABC_def9",
    "again " * 700,
    "class A:\n    pass\n" * 300,
]


def test_vectors_are_those_of_the_graph():
    provider = BundledProvider()
    pieces, _ = provider._load()
    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    found = provider.embed(TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        counts = pieces.count([text])
        if not len(counts.piece):
            assert not vector.any()
            continue
        (expected,) = session.run(
            None, {"input_ids": counts.piece[None], "attention_mask": counts.times[None].astype(np.int64)}
        )
        np.testing.assert_allclose(vector, expected[0], atol=1e-6)


def test_a_text_has_the_same_vector_alone_and_among_others():
    provider = BundledProvider()
    together = provider.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(provider.embed([text])[0], vector)


@pytest.mark.parametrize("cut", [0, 1, 100, 1_000_000])
def test_what_is_no_model_is_said(cut):
    with pytest.raises(ValueError, match="no static model"):
        read_table(MODEL.read_bytes()[:cut])
