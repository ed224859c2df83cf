"""The keyword index is kept up by SQL; it must equal what DuckDB's own full-text extension builds."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import code_source, passages, tokens
from cm_tui.engine.search.ranking.keyword import KeywordIndex, best_positions
from cm_tui.engine.search.ranking.retrieve import bm25
from tests.shop import SHOP, Project
from tests.tiers import examples

EVEN = {"path": 1.0, "title": 1.0, "body": 1.0}


def contents(db: Database, schema: str) -> dict[str, Any]:
    """The index without its row numbers."""
    occurrences = db.rows(
        f"SELECT d.name, f.field, t.term, count(*) FROM {schema}.terms o JOIN {schema}.docs d USING (docid) "
        f"JOIN {schema}.dict t USING (termid) JOIN {schema}.fields f USING (fieldid) GROUP BY ALL ORDER BY ALL"
    )
    return {
        "occurrences": occurrences,
        "dictionary": db.rows(f"SELECT term, df FROM {schema}.dict ORDER BY term"),
        "lengths": db.rows(f"SELECT name, len FROM {schema}.docs ORDER BY name"),
        "stats": db.rows(f"SELECT num_docs, round(coalesce(avgdl, 0), 6) FROM {schema}.stats"),
    }


def rebuild(db: Database) -> dict[str, Any]:
    """What the extension builds from the same terms, in tables of its own."""
    extension = next(resources.files("duckdb_extension_fts").joinpath("extensions").iterdir())
    db.execute(f"LOAD '{extension / 'fts.duckdb_extension'}'")
    symbols = code_source.symbols_of(db, {row[0] for row in db.rows("SELECT DISTINCT blob FROM passage")})
    db.execute("CREATE OR REPLACE TABLE expected (id INTEGER, path VARCHAR, title VARCHAR, body VARCHAR)")
    for key, path, blob, symbol, start, end, text in db.rows(
        "SELECT id, path, blob, symbol, start_line, end_line, text FROM passage"
    ):
        own = symbols.get(blob, [])
        owner = next((one for one in own if one.idx == symbol), None)
        names, inside = code_source.words_of(own, owner, start, end)
        fields = (path, names, f"{inside}\n{text}")
        db.execute("INSERT INTO expected VALUES (?, ?, ?, ?)", [key, *(" ".join(tokens.terms(f)) for f in fields)])
    db.execute(
        "PRAGMA create_fts_index('expected', 'id', 'path', 'title', 'body', stemmer='none', stopwords='none', "
        "ignore='(\\s)+', lower=0, strip_accents=0, overwrite=1)"
    )
    return contents(db, "fts_main_expected")


words = st.sampled_from(["cart", "parseConfig", "the", "routing", "検索", "x1", "Cart cart", "def run(x)"])
files = st.dictionaries(
    st.sampled_from(["a.py", "lib/b.py", "lib/cart.py", "d/e/f.md"]),
    st.one_of(st.none(), st.lists(words, min_size=1, max_size=6).map("\n\n".join)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(files, min_size=1, max_size=4))
def test_kept_up_equals_rebuilt(make_project: Callable[[], Project], steps: list[dict[str, str | None]]) -> None:
    project = make_project()
    for step in steps:
        project.put(step)
    held = {path: text for path, text in _last(steps).items() if text is not None}
    assert {row[0] for row in project.db.rows("SELECT DISTINCT path FROM passage")} == set(held)
    if held:
        assert contents(project.db, "fts_main_passage") == rebuild(project.db)
    else:
        assert contents(project.db, "fts_main_passage")["occurrences"] == []
        assert contents(project.db, "fts_main_passage")["dictionary"] == []


def test_rows_of_a_later_run_are_in_order_of_term_as_well(make_project: Callable[[], Project]) -> None:
    # Old terms have smaller numbers than new ones, whichever comes first in the text.
    project = make_project()
    project.put({"a.py": "zebra apple"})
    last = project.db.value("SELECT max(rowid) FROM fts_main_passage.terms")
    project.put({"b.py": "other apple more zebra"})
    sql = "SELECT termid, docid, fieldid FROM fts_main_passage.terms WHERE rowid > ? ORDER BY rowid"
    rows = project.db.rows(sql, [last])
    assert rows == sorted(rows)
    assert len(rows) == 6


def _last(steps: list[dict[str, str | None]]) -> dict[str, str | None]:
    state: dict[str, str | None] = {}
    for step in steps:
        state.update(step)
    return state


@pytest.mark.parametrize("query", ["cart", "price", "parse config", "shopping cart total price", "検索"])
def test_bm25_equals_match_bm25(shop: Project, query: str) -> None:
    rebuild(shop.db)
    index = KeywordIndex(shop.db)
    documents = index.documents()
    ours = bm25(documents, index.terms(tokens.terms(query)), EVEN).sum(axis=0)
    theirs = dict(
        shop.db.rows(
            "SELECT id, fts_main_expected.match_bm25(id, ?) AS score FROM expected WHERE score IS NOT NULL",
            [" ".join(tokens.terms(query))],
        )
    )
    assert theirs
    expected = [theirs.get(key, 0.0) for key in documents.ids.tolist()]
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


def test_nothing_changes_nothing(shop: Project) -> None:
    generation = passages.generation(shop.db)
    assert shop.put(SHOP) == passages.PassageDelta(0, 0)
    assert passages.generation(shop.db) == generation


def test_passage_ids_are_never_used_again(shop: Project) -> None:
    highest = shop.db.value("SELECT max(id) FROM passage")
    text = shop.texts[str(shop.blobs[str(SHOP["shop/日本.py"])])]
    shop.put({"shop/日本.py": None, "README.md": None})
    shop.put({"shop/日本.py": text})
    assert shop.db.value("SELECT min(id) FROM passage WHERE path = 'shop/日本.py'") > highest


def test_a_rolled_back_change_leaves_the_index_alone(shop: Project) -> None:
    before = contents(shop.db, "fts_main_passage")

    def fail() -> None:
        with shop.db.transaction():
            shop.put({"shop/cart.py": "entirely different"})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert contents(shop.db, "fts_main_passage") == before


def test_a_new_generation_is_seen_at_once(shop: Project) -> None:
    index = KeywordIndex(shop.db)
    assert index.terms(["zebra"]) == []
    shop.put({"zoo.py": "zebra crossing"})
    [term] = index.terms(["zebra"])
    assert len(term.postings.documents) == 1


def test_a_moved_file_keeps_its_hash(shop: Project) -> None:
    text = SHOP["shop/cart.py"]
    before = shop.db.rows("SELECT hash FROM passage WHERE path = 'shop/cart.py' ORDER BY start_line")
    shop.put({"shop/cart.py": None, "shop/basket.py": text})
    assert shop.db.rows("SELECT hash FROM passage WHERE path = 'shop/basket.py' ORDER BY start_line") == before


@settings(max_examples=examples(100))
@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 20))
def test_the_best_positions_are_those_of_a_whole_sort(worth: list[int], most: int) -> None:
    expected = [at for at in sorted(range(len(worth)), key=lambda at: (-worth[at], at)) if worth[at] > 0][:most]
    assert best_positions(np.array(worth, dtype=np.float32), most).tolist() == expected
