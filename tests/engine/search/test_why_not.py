"""Why not this one: every way in which something is not among the hits, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from cm_tui.config import Config
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.lifts import Move, with_weight
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.why_not import WhyNot
from cm_tui.errors import UsageError
from cm_tui.model import Profile
from cm_tui.model.score_text import lacks, side_by_side
from tests.shop import SHOP, Project

QUESTION = "how is the tax of an order computed"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Searcher, WhyNot]]:
    """The shop and many orders: tests only ask."""
    filler = "    rounded = round(amount)\n"
    orders = {
        f"{'tests' if n % 3 == 2 else 'more'}/file_{n}.py": f"def order_{n}(order):\n{filler * n}    return order.tax\n"
        for n in range(30)
    }
    with closing(Database(tmp_path_factory.mktemp("orders"))) as db:
        project = Project(db)
        project.put(SHOP)
        project.put(orders)
        searcher = Searcher(db, None, Config())
        yield searcher, WhyNot(db, searcher)


def code(searcher: Searcher, **values) -> Profile:
    return replace(searcher.profiles()["code"], **values)


def test_ranks_are_those_of_the_search(asked):
    searcher, why = asked
    hits = searcher.search(QUESTION, mode="keyword", limit=1000).hits
    assert len(hits) > 20
    for hit in hits:
        standing = why.of(QUESTION, f"{hit.path}:{hit.start_line}-{hit.end_line}", mode="keyword")
        assert (standing.state, standing.hit) == ("shown" if hit.rank <= 10 else "ranked", hit)
        assert (standing.first, standing.last) == (hits[0], hits[9])
        assert standing.total == len(hits)


def test_what_is_said_to_lift_it_lifts_it(asked):
    searcher, why = asked
    hits = searcher.search(QUESTION, mode="keyword", limit=1000).hits
    promised = 0
    for hit in hits[10:]:
        standing = why.of(QUESTION, hit.path, mode="keyword")
        for lift in standing.lifts:
            said = re.fullmatch(r"With (\S+|keyword weight) ([\d.]+) instead of ([\d.]+) it would be hit (\d+)\.", lift)
            if said is None:
                continue
            promised += 1
            move = Move(said[1].replace(" ", "_"), float(said[3]), float(said[2]))
            again = searcher.search(QUESTION, profile=with_weight(code(searcher), move), mode="keyword").hits
            assert again[int(said[4]) - 1].path == hit.path
    assert promised


def test_the_parts_of_two_hits_add_up_to_their_difference(asked):
    searcher, _ = asked
    one, other, *_ = searcher.search(QUESTION, mode="keyword").hits
    pairs = side_by_side(one, other)
    assert sum(pair.difference for pair in pairs) == pytest.approx(one.score - other.score)
    assert [abs(pair.difference) for pair in pairs[:-1]] == sorted(
        (abs(p.difference) for p in pairs[:-1]), reverse=True
    )
    assert pairs[-1].name == "scale"
    swapped = {pair.name: pair.difference for pair in side_by_side(other, one)}
    assert swapped == {pair.name: -pair.difference for pair in pairs}
    assert lacks(one, one, "itself") == ""
    worst = min(pairs[:-1], key=lambda pair: pair.difference)
    if worst.difference < -0.001:
        assert worst.name in lacks(one, other, "it")


def test_below_the_least_score(asked):
    searcher, why = asked
    hits = searcher.search(QUESTION, mode="keyword", limit=1000).hits
    least = (hits[4].score + hits[5].score) / 2
    profile = code(searcher, min_score=least)
    standing = why.of(QUESTION, hits[9].path, profile=profile, mode="keyword")
    assert (standing.state, standing.hit.rank, standing.shown) == ("below", 10, 5)
    assert "below the profile's least score" in standing.said
    said = float(re.search(r"min_score\) of ([\d.]+)", standing.lifts[0])[1])
    lower = searcher.search(QUESTION, profile=code(searcher, min_score=said), mode="keyword").hits
    assert hits[9].path in [hit.path for hit in lower]


def test_no_candidate_says_no_word_of_it(asked):
    _, why = asked
    standing = why.of("frobnicate the tax", "README.md", mode="keyword")
    assert standing.state == "no candidate"
    assert "contains no word of the query" in standing.said
    assert standing.lifts == ("It does not contain: tax.",)


def test_a_filter_that_leaves_it_out_is_named_with_the_rank_without_it(asked):
    searcher, why = asked
    [rank] = [
        hit.rank for hit in searcher.search(QUESTION, mode="keyword", limit=1000).hits if hit.path == "more/file_7.py"
    ]
    for text in ("path:more", "-in:tests"):
        assert why.of(f"{QUESTION} {text}", "more/file_7.py", mode="keyword").state in {"shown", "ranked"}
    standing = why.of(f"{QUESTION} -path:more", "more/file_7.py", mode="keyword")
    assert standing.state == "filtered"
    assert standing.said == "The filter -path:more excludes more/file_7.py."
    assert standing.lifts == (f"Without -path:more it would be at rank {rank}.",)


def test_another_profile_searches_it(asked):
    _, why = asked
    standing = why.of(QUESTION, "README.md", profile="notes")
    assert standing.state == "not searched"
    assert "searches note;" in standing.said


def test_names_that_are_nowhere_have_neighbours(asked):
    _, why = asked
    assert why.of(QUESTION, "oder_12").nearest[0] == "order_12"
    assert "more/file_12.py" in why.of(QUESTION, "file_112.py").nearest
    standing = why.of(QUESTION, "%_nothing'\0\udcff")
    assert (standing.state, standing.hit, standing.nearest) == ("unknown", None, ())


@pytest.mark.parametrize(
    "name", ["more/file_3.py", "./more/file_3.py", "file_3.py", "order_3", "ORDER_3", "order_3()", "more/file_3.py:2"]
)
def test_ways_to_name_it(asked, name: str):
    _, why = asked
    standing = why.of(QUESTION, name, mode="keyword")
    assert standing.hit is not None
    assert standing.hit.path == "more/file_3.py"


def test_of_a_folder_the_best_passage_stands_for_it(asked):
    searcher, why = asked
    standing = why.of(QUESTION, "more", mode="keyword")
    best = next(hit for hit in searcher.search(QUESTION, mode="keyword", limit=99).hits if hit.path.startswith("more/"))
    assert standing.hit == best
    assert standing.notes[0].startswith("more: 20 files match")
    assert standing.passages == 20


def test_nothing_named_and_no_words(asked):
    _, why = asked
    with pytest.raises(UsageError, match="No result given"):
        why.of(QUESTION, "  ")
    assert why.of("", "order_3").state == "no candidate"
    assert why.of("path:more", "order_3").state in {"shown", "ranked"}
    with pytest.raises(UsageError, match="Unknown profile"):
        why.of(QUESTION, "order_3", profile="nope")


def test_what_is_left_outside_of_a_small_pool_comes_in_with_a_larger_one(asked, monkeypatch: pytest.MonkeyPatch):
    searcher, why = asked
    monkeypatch.setattr("cm_tui.engine.search.ranking.retrieve._FILES", 1)
    profile = code(searcher, pool=8)
    inside = {hit.passage for hit in searcher.search(QUESTION, profile=profile, mode="keyword", limit=99).hits}
    wide = searcher.search(QUESTION, profile=code(searcher), mode="keyword", limit=99).hits
    outside = [hit for hit in wide if hit.passage not in inside]
    promised = 0
    for hit in outside:
        standing = why.of(QUESTION, f"{hit.path}:{hit.start_line}", profile=profile, mode="keyword")
        assert standing.state == "no candidate"
        for lift in standing.lifts:
            if said := re.fullmatch(r"With a pool of (\d+) it would be a candidate, at rank (\d+)\.", lift):
                promised += 1
                larger = code(searcher, pool=int(said[1]))
                wider = searcher.search(QUESTION, profile=larger, mode="keyword", limit=99).hits
                assert wider[int(said[2]) - 1].path == hit.path
    assert promised
