"""The graph: as good as comparing everything, kept in step, never trusted blindly."""

from __future__ import annotations

import numpy as np
import pytest

from cm_tui.engine.search.vectors.codec import pack, unpack
from cm_tui.engine.search.vectors.lazy_graph import HnswIndex
from cm_tui.engine.search.vectors.live import Rows
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel

from .conftest import everything, filled


@pytest.fixture
def large(passages, opened, provider):
    provider.batch = 100
    passages.add(*(f"text {n}" for n in range(300)))
    index = opened(graph_rows=100)
    filled(index)
    return index


def built(index):
    steps = list(index.build_graph())
    assert index.state == "graph"
    return steps


def test_recall_against_exact_search():
    generator = np.random.default_rng(5)
    centres = generator.standard_normal((60, 64))
    points = centres[generator.integers(0, 60, 6000)] + generator.standard_normal((6000, 64)) * 0.5
    rows = Rows.of(np.arange(6000) * 3, np.arange(6000, dtype=np.uint64), pack(points.astype(np.float32)))
    *_, (_, _, graph) = HnswIndex.build(rows, Cancel())
    shares = []
    for query in unpack(rows.codes[::100]) + generator.standard_normal((60, 64)).astype(np.float32) * 0.05:
        exact, cosines = rows.nearest(query, 50)
        found, scores = graph.nearest(rows, query, 50)
        shares.append(len(np.intersect1d(exact, found)) / 50)
        known = dict(zip(exact.tolist(), cosines.tolist(), strict=True))
        for id_, score in zip(found.tolist(), scores.tolist(), strict=True):
            assert score == pytest.approx(known.get(id_, score), abs=3e-6)
    assert np.mean(shares) >= 0.98


def test_small_indexes_have_no_graph(passages, opened):
    passages.add("a", "b")
    index = opened()
    filled(index)
    assert list(index.build_graph()) == []
    assert index.state == "exact"


def test_it_is_built_saved_and_found_again(large, opened, provider):
    assert large.state == "exact"
    assert built(large)[-1] == (300, 300)
    query = provider.embed_query("title\ntext 9")
    again = opened(graph_rows=100)
    assert again.state == "exact"
    first = again.search(query, 10)
    second = again.search(query, 10)
    assert again.state == "graph"
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert list(again.build_graph()) == []


def test_changes_show_without_building_it_again(large, opened, passages, provider):
    built(large)
    query = provider.embed_query("title\ntext 9")
    assert large.search(query, 1)[0].tolist() == [10]
    passages.remove(10, 11)
    (new,) = passages.add("a new one")
    filled(large)
    assert large.state == "graph"
    assert 10 not in large.search(query, 300)[0]
    assert large.search(provider.embed_query("title\na new one"), 1)[0].tolist() == [new]
    assert len(large.search(query, 1000)[0]) == 299
    reopened = opened(graph_rows=100)
    reopened.search(query, 1)
    np.testing.assert_array_equal(reopened.search(query, 50)[0], large.search(query, 50)[0])
    assert reopened.state == "graph"


def test_many_changes_wear_it_out(large, passages, provider):
    built(large)
    passages.remove(*range(1, 61))
    filled(large)
    assert large.state == "exact"
    assert built(large)[-1] == (240, 240)
    assert len(large.search(provider.embed_query("x"), 300)[0]) == 240


@pytest.mark.parametrize("name", ["vectors.hnsw", "vectors.hnsw.rows"])
@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: b"x" * len(data)])
def test_a_damaged_graph_is_not_used_and_that_is_said(large, opened, provider, name, damage):
    built(large)
    file = large._folder / name
    file.write_bytes(damage(file.read_bytes()))
    index = opened(graph_rows=100)
    query = provider.embed_query("title\ntext 9")
    for _ in range(3):
        assert index.search(query, 1)[0].tolist() == [10]
    assert index.state == "exact"
    assert any("graph could not be used" in note for note in index.notes)
    built(index)


def test_building_can_be_cancelled(large):
    cancel = Cancel()
    cancel.set()
    with pytest.raises(CancelledError):
        list(large.build_graph(cancel))
    assert large.state == "exact"
    assert everything(large)[0] == list(range(1, 301))
