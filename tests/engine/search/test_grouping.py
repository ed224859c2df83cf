"""Files instead of passages: no hit is lost or counted twice, and the order is that of the ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking.grouping import MOST_INSIDE, by_file
from cm_tui.model import Hit


def hit(rank: int, path: str, source: str = "code") -> Hit:
    return Hit(rank, source, path, rank, rank + 1, None, None, "python", 1 / (rank + 1), "x", rank, (), rank)


rankings = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["code", "episode"])), max_size=40).map(
    lambda places: [hit(rank, path, source) for rank, (path, source) in enumerate(places, start=1)]
)


@given(rankings)
def test_every_hit_is_in_exactly_one_file_and_the_order_stays(hits: list[Hit]):
    files = by_file(hits, most_inside=len(hits) + 1)
    inside = [one for file in files for one in file.hits]
    assert sorted(inside, key=lambda one: one.rank) == hits
    for file in files:
        assert {(one.source, one.path) for one in file.hits} == {(file.hits[0].source, file.path)}
        assert list(file.hits) == sorted(file.hits, key=lambda one: one.rank)
        assert file.more == 0
        assert file.score == file.hits[0].score
    best = [file.hits[0].rank for file in files]
    assert best == sorted(best)
    assert [file.rank for file in files] == list(range(1, len(files) + 1))
    assert len({(file.hits[0].source, file.path) for file in files}) == len(files)


@given(rankings, st.integers(-1, 5))
def test_what_is_not_listed_inside_is_counted(hits: list[Hit], most: int):
    whole, cut = by_file(hits, most_inside=len(hits) + 1), by_file(hits, most_inside=most)
    assert [file.path for file in cut] == [file.path for file in whole]
    for short, long in zip(cut, whole, strict=True):
        assert short.hits == long.hits[: max(most, 1)]
        assert len(short.hits) + short.more == len(long.hits)


@given(rankings, st.integers(0, 40))
def test_more_hits_change_neither_the_first_files_nor_their_order(hits: list[Hit], first: int):
    few, all_ = by_file(hits[:first]), by_file(hits)
    assert [(file.rank, file.path, file.hits[0]) for file in few] == [
        (file.rank, file.path, file.hits[0]) for file in all_[: len(few)]
    ]


def test_three_stand_inside():
    [file] = by_file([hit(rank, "a") for rank in range(1, 6)])
    assert [one.rank for one in file.hits] == [1, 2, 3]
    assert (MOST_INSIDE, file.more) == (3, 2)
