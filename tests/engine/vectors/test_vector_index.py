"""Embedding passages, searching them, and staying in step with the store."""

from __future__ import annotations

import signal
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.bundled import BundledProvider
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.vectors import index as vector_index
from cm_tui.engine.search.vectors.codec import path_words, unpack
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.engine.search.vectors.live import Rows
from cm_tui.errors import CancelledError, ModelError
from cm_tui.model import Cancel
from tests.forked import run_python
from tests.planted import GITHUB
from tests.tiers import examples

from .conftest import CountingProvider, everything, filled


def test_a_passage_is_found_by_its_text(passages, opened, provider):
    ids = passages.add(*(f"text {n}" for n in range(50)))
    index = opened()
    assert index.state == "none"
    assert index.coverage() == (0, 50)
    steps = list(index.fill())
    assert steps[0] == (0, 50)
    assert steps[-1] == (50, 50)
    assert index.state == "exact"
    found, cosines = index.search(provider.embed_query("title\ntext 7"), 5)
    assert found[0] == ids[7]
    assert len(found) == 5
    assert found.dtype == np.int64
    assert cosines.dtype == np.float32
    assert np.all(np.diff(cosines) <= 0)


def test_search_equals_comparing_everything(passages, opened, provider):
    ids = np.array(passages.add(*(f"text {n}" for n in range(300))))
    provider.batch = 100
    index = opened()
    filled(index)
    query = provider.embed_query("anything")
    cosines = index.vectors_for(ids) @ query
    found, scores = index.search(query, 20)
    assert found.tolist() == ids[np.argsort(-cosines)[:20]].tolist()
    np.testing.assert_allclose(scores, np.sort(cosines)[::-1][:20], atol=1e-6)
    assert index.search(query, 10)[0].tolist() == found[:10].tolist()


def test_a_search_takes_no_memory_for_all_vectors():
    rows, dimensions = 20_000, 64
    codes = np.random.default_rng(7).integers(-127, 128, (rows, dimensions)).astype(np.int8)
    codes[5] = 0
    live = Rows.of(np.arange(rows), np.zeros(rows, dtype=np.uint64), codes)
    queries = unpack(codes[[3, 4]])
    tracemalloc.start()
    found, cosines = live.nearest(queries, 10)
    _, peak = tracemalloc.get_traced_memory()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < rows * dimensions, "floats of all rows are four times that"
    assert kept < 100_000
    expected = np.round((unpack(codes) @ queries.T).max(axis=1), 6)
    assert found.tolist() == np.lexsort((np.arange(rows), -expected))[:10].tolist()
    np.testing.assert_allclose(cosines, expected[found], atol=1e-6)
    only = np.array([7, 4, 5, 19_999])
    assert live.nearest(queries, 1, only)[0].tolist() == [4]
    more = live.extended(np.array([rows]), np.zeros(1, dtype=np.uint64), codes[3:4])
    assert more.nearest(queries[:1], 2)[0].tolist() == [3, rows], "lengths of rows that were added"


def test_edges_of_search(passages, opened, provider):
    index = opened()
    query = provider.embed_query("x")
    assert len(index.search(query, 5)[0]) == 0
    passages.add("only one")
    filled(index)
    assert len(index.search(query, 5)[0]) == 1
    assert len(index.search(query, 0)[0]) == 0
    assert len(index.search(np.zeros(16, dtype=np.float32), 5)[0]) == 0
    assert index.notes == []
    for _ in range(2):
        assert len(index.search(query[:8], 5)[0]) == 0
    assert len(index.notes) == 1
    assert "8 dimensions" in index.notes[0]


def test_vectors_for_unknown_passages_are_zeros(passages, opened):
    (known,) = passages.add("a")
    index = opened()
    assert not index.vectors_for([known]).any()
    filled(index)
    matrix = index.vectors_for([999, known, -1])
    assert matrix.shape == (3, 16)
    assert not matrix[[0, 2]].any()
    assert np.linalg.norm(matrix[1]) == pytest.approx(1, abs=1e-5)


def test_unchanged_text_is_never_embedded_twice(passages, opened, provider):
    """Across renames, copies, deletion and return, and processes."""
    first = passages.add("one", "two", path="src/old_name.py")
    index = opened()
    filled(index)
    assert len(provider.passages_asked) == 2
    passages.remove(*first)
    renamed = passages.add("one", "two", path="lib/new_name.py")
    passages.add("one", path="copy/of_it.py")
    assert filled(index) == (3, 3)
    assert len(provider.passages_asked) == 2
    passages.remove(*renamed)
    filled(index)
    passages.add("two", path="again.py")
    assert filled(opened()) == (2, 2)
    assert len(provider.passages_asked) == 2


def test_the_path_has_a_share_in_the_vector(passages, opened, provider):
    here, there = passages.add("same", path="search/rank.py") + passages.add("same", path="ui/colour.py")
    index = opened()
    filled(index)
    assert provider.asked.count("search rank") == 1
    near, far = index.vectors_for([here, there]) @ provider.embed_query("search rank")
    assert near > far + 0.1
    without = opened(path_weight=0.0)
    a, b = without.vectors_for([here, there])
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/engine/vector_index.py", "src engine vector index"),
        ("a-b/c.d.test.ts", "a b c d test"),
        ("Makefile", "Makefile"),
        (".github/ci.yml", "github ci"),
        ("", ""),
        # A token is none any more once its signs are gone: it would be sent to a provider.
        (f"keys/{GITHUB}.md", "keys [redacted: github token]"),
    ],
)
def test_words_of_paths(path, words):
    assert path_words(path) == words


def test_fill_goes_on_after_a_failure(passages, opened, provider):
    passages.add(*(f"text {n}" for n in range(40)))
    provider.fail_after = 20
    index = opened()
    with pytest.raises(ModelError):
        list(index.fill())
    assert index.coverage() == (24, 40)
    assert len(index.search(provider.embed_query("x"), 40)[0]) == 24
    provider.fail_after = None
    assert next(iter(index.fill())) == (24, 40)
    assert filled(opened()) == (40, 40)
    assert len(provider.passages_asked) == len(set(provider.passages_asked)) == 40


def test_fill_can_be_cancelled_and_resumed_by_another_process(passages, opened, provider):
    passages.add(*(f"text {n}" for n in range(40)))
    cancel = Cancel()
    index = opened()
    steps = index.fill(cancel)
    while next(steps)[0] < 16:
        pass
    cancel.set()
    with pytest.raises(CancelledError):
        next(steps)
    assert index.coverage() == (16, 40)
    again = opened()
    assert again.coverage() == (16, 40)
    steps = list(again.fill())
    assert steps[0] == (16, 40)
    assert again.coverage() == (40, 40)
    assert len(provider.passages_asked) == 40


def test_kill_9_in_the_middle_of_filling_loses_one_batch_at_most(db, passages, opened, tmp_path):
    passages.add(*(f"text {n}" for n in range(40)))
    folder = db.folder
    db.close()
    killed = run_python(KILLED, str(folder))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = Database(folder)
    model = BundledProvider()
    try:
        index = VectorIndex(again, folder, model)
        assert index.coverage() == (16, 40)
        assert filled(index) == (40, 40)
        assert index.verify() == ()
    finally:
        again.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from cm_tui.engine.search.embed.bundled import BundledProvider
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.engine.search.vectors.live import Rows

class Mortal(BundledProvider):
    batch = 8
    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)

folder = Path(sys.argv[1])
list(VectorIndex(Database(folder), folder, Mortal()).fill())
"""


def test_a_passage_that_vanishes_while_it_fills_does_no_harm(passages, opened):
    ids = passages.add(*(f"text {n}" for n in range(24)))
    index = opened()
    steps = index.fill()
    next(steps)
    passages.remove(ids[-1])
    list(steps)
    assert filled(index) == (23, 23)
    assert everything(index)[0] == ids[:-1]
    assert index.verify() == ()


def test_another_model_makes_the_vectors_stale_and_fills_again(passages, opened, provider, db):
    passages.add("one", "two")
    filled(opened())
    other = CountingProvider("fake/2", dimensions=8)
    index = opened(other)
    assert index.coverage() == (0, 2)
    assert index.state == "none"
    assert any("fake/1" in note and "fake/2" in note for note in index.notes)
    assert filled(index) == (2, 2)
    assert index.notes == []
    assert index.vectors_for([1]).shape == (1, 8)
    assert len(opened().search(provider.embed_query("x"), 5)[0]) == 2
    assert len(provider.passages_asked) == 2
    assert db.value("SELECT count(DISTINCT fingerprint) FROM embedding") == 2


def test_the_cache_keeps_what_is_used_and_a_bounded_rest(passages, opened, db):
    ids = passages.add(*(f"text {n}" for n in range(20)), path="a.py")
    index = opened(entries=5)
    filled(index)
    passages.remove(*ids[:12])
    filled(index)
    count = "SELECT count(*) FROM embedding WHERE hash NOT LIKE 'path:%'"
    assert db.value(count) == 8 + 5
    assert index.verify() == ()
    passages.remove(*ids[12:])
    filled(index)
    assert db.value("SELECT count(*) FROM embedding") == 5


def test_vectors_of_different_lengths_are_refused(passages, opened, provider):
    passages.add("one")
    index = opened()
    filled(index)
    passages.add("two")
    provider.dimensions = 8
    with pytest.raises(ModelError, match="8 dimensions, the stored vectors have 16"):
        list(index.fill())


def test_without_a_provider_there_is_nothing_and_no_failure(passages, opened):
    passages.add("one")
    index = opened(provider_for(EmbeddingConfig(provider="none")))
    assert list(index.fill()) == []
    assert index.state == "none"
    assert index.coverage() == (0, 1)


def test_the_bundled_model_finds_the_right_passage(passages, opened):
    model = provider_for(EmbeddingConfig())
    wanted = passages.add("def load(path): return tomllib.loads(path.read_text())", path="app/config.py")
    passages.add("def send(sock, data): sock.sendall(data)", "class Button: colour = 'red'", path="app/other.py")
    index = opened(model)
    filled(index)
    assert index.search(model.embed_query("where is the configuration file read"), 1)[0].tolist() == wanted


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from("arfo"), st.integers(0, 30)), max_size=12))
# The same text twice, in rows that the matrix product treats differently in the last bit.
@example(steps=[("a", 16), ("f", 0), ("a", 13)])
def test_any_changes_end_where_a_rebuild_ends(steps, tmp_path_factory):
    """Adds, removals, fills and reopenings in any order give what a fresh index of the same passages gives."""
    from .conftest import Passages

    folder = tmp_path_factory.mktemp("any")
    db = Database(folder)
    try:
        passages, provider, alive = Passages(db), CountingProvider(), []
        index = VectorIndex(db, folder, provider)
        for step, number in steps:
            if step == "a":
                texts = [f"text {number + n}" for n in range(number % 7 + 1)]
                alive += passages.add(*texts, path=f"p{number % 3}.py")
            elif step == "r" and alive:
                passages.remove(alive.pop(number % len(alive)))
            elif step == "f":
                filled(index)
            else:
                index = VectorIndex(db, folder, provider)
        filled(index)
        (folder / "vectors.bin").unlink(missing_ok=True)
        fresh = VectorIndex(db, folder, provider)
        ids, matrix = everything(index)
        fresh_ids, fresh_matrix = everything(fresh)
        assert ids == fresh_ids == sorted(alive)
        np.testing.assert_array_equal(matrix, fresh_matrix)
        assert index.verify() == fresh.verify() == ()
        query = provider.embed_query("q")
        for a, b in zip(index.search(query, 5), fresh.search(query, 5), strict=True):
            np.testing.assert_array_equal(a, b)
    finally:
        db.close()


def test_prose_is_filled_some_at_a_time_the_newest_first(passages, db, tmp_path, provider, monkeypatch):
    monkeypatch.setattr(vector_index, "_AT_ONCE", 10)
    passages.add(*(f"said {number}" for number in range(35)))
    db.execute("UPDATE passage SET source = 'episode'")
    prose = VectorIndex(db, tmp_path / "prose", provider, path_weight=0.0, scope="prose")
    told = list(prose.fill())
    assert told[0] == (0, 35)
    assert told[-1] == (35, 35)
    assert len(provider.asked) == 35
    assert any(text.endswith("said 34") for text in provider.asked[:10])
    assert any(text.endswith("said 0") for text in provider.asked[-5:])
    assert prose.refresh() == 0
    half = VectorIndex(db, tmp_path / "again", provider, path_weight=0.0, scope="prose")
    assert half.coverage() == (35, 35), "what the store has is found at once"


def test_prose_that_is_left_in_the_middle_goes_on_there(passages, db, tmp_path, provider, monkeypatch):
    monkeypatch.setattr(vector_index, "_AT_ONCE", 10)
    passages.add(*(f"said {number}" for number in range(35)))
    db.execute("UPDATE passage SET source = 'episode'")
    prose = VectorIndex(db, tmp_path / "prose", provider, path_weight=0.0, scope="prose")
    steps = prose.fill()
    for done, _ in steps:
        if done >= 16:
            break
    steps.close()
    made = len(provider.asked)
    assert prose.coverage()[0] == made < 35
    assert list(prose.fill())[-1] == (35, 35)
    assert len(provider.asked) == 35
