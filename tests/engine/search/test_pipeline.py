"""The whole pipeline on a small project, with the real model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.config import Config
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.embed.provider import NoProvider
from cm_tui.engine.search.ranking import adjust, profiles
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.rerank import TimedReranker
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.errors import ModelError, UsageError
from cm_tui.model import Profile, SearchResult
from cm_tui.model.score_text import printed
from tests.shop import Project
from tests.tiers import examples

PROVIDER = provider_for(Config().embedding)
CODE = profiles.make("code", {})


@pytest.fixture
def vectors(shop: Project, tmp_path: Path) -> VectorIndex:
    """Of a shop that is free to be changed."""
    index = VectorIndex(shop.db, tmp_path, PROVIDER)
    list(index.fill())
    return index


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def check_sums(result: SearchResult) -> None:
    for hit in result.hits:
        assert 0 <= hit.score < 1
        contributions, total = printed(hit.parts, hit.score)
        # As they stand on the screen, in decimals: not a digit is off.
        assert (
            sum(Decimal(f"{one:.4f}") for one in contributions)
            == Decimal(f"{hit.score:.4f}")
            == Decimal(f"{total:.4f}")
        )
        for part, one in zip(hit.parts, contributions, strict=True):
            assert abs(one - part.contribution) < 1e-4
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score, abs=1e-6)
        assert all(part.name and part.group for part in hit.parts)
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


weights = st.floats(0, 2).map(lambda value: round(value, 3))
shares = st.floats(0, 1).map(lambda value: round(value, 3))
any_profile = st.builds(
    Profile,
    name=st.just("any"),
    fusion=st.sampled_from(["weighted", "rrf"]),
    keyword_weight=weights,
    vector_weight=weights,
    coordination=shares,
    pool=st.integers(1, 50),
    adjustments=st.fixed_dictionaries(
        {name: (shares if name in adjust.PENALTIES else weights) for name in adjust.NAMES}
    ),
    half_life_days=st.sampled_from([None, 1.0, 30.0]),
    diversity=st.sampled_from(["none", "file", "mmr"]),
    diversity_lambda=shares,
    min_score=st.sampled_from([0.0, 0.3]),
)
any_query = st.sampled_from(
    [
        "cart",
        "ShoppingCart",
        "how is the total price of a cart computed",
        "parse_config",
        "検索",
        "test add item",
        "refund()",
    ]
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(profile=any_profile, query=any_query, mode=st.sampled_from(["hybrid", "keyword", "vector"]))
def test_parts_add_up_and_more_results_never_change_the_first(
    searcher: Searcher, profile: Profile, query: str, mode: str
) -> None:
    candidates = searcher.retrieve(query, profile=profile, mode=mode)
    everything = searcher.rank(candidates, profile, limit=1000)
    check_sums(everything)
    assert everything.total == len(everything.hits)
    for limit in (1, 2, 5):
        few = searcher.rank(candidates, profile, limit=limit)
        assert few.hits == everything.hits[:limit]


def test_a_question_about_something_else_is_told_to_be_weak(searcher: Searcher) -> None:
    weak = searcher.search("how do volcanoes and glaciers form")
    assert any("weak" in note for note in weak.notes) or not weak.hits
    assert not any("weak" in note for note in searcher.search("add an item to the shopping cart").notes)
    assert not any("weak" in note for note in searcher.search("volcano", mode="keyword").notes)


def test_exactly_the_name_is_first(searcher: Searcher) -> None:
    first = searcher.search("ShoppingCart").hits[0]
    [part] = [part for part in first.parts if part.name == "exact-name"]
    assert (part.value, first.symbol) == (1.0, "ShoppingCart")
    assert not any(part.name == "exact-name" for part in searcher.search("where is the ShoppingCart").hits[0].parts)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("ShoppingCart", "shop/cart.py"),
        ("shopping_cart", "shop/cart.py"),
        ("parseConfig", "shop/config.py"),
        ("parse_config", "shop/config.py"),
        ("httpserver2", "shop/config.py"),
        ("server", "shop/config.py"),
        ("検索", "shop/日本.py"),
        ("検索エンジン", "shop/日本.py"),
        ("paying through a gateway", "shop/payment.py"),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_finds(searcher: Searcher, query: str, path: str, mode: str) -> None:
    assert paths(searcher.search(query, mode=mode))[0] == path


def test_a_test_is_ranked_down_unless_tests_are_asked_for(searcher: Searcher) -> None:
    plain = searcher.search("add item to cart")
    assert paths(plain)[0] == "shop/cart.py"
    [test] = [hit for hit in plain.hits if hit.path == "tests/test_cart.py" and hit.start_line > 1]
    assert any(part.name == "tests" and part.contribution < 0 for part in test.parts)
    asked = searcher.search("test that an item is added to the cart")
    assert not any(part.name == "tests" for hit in asked.hits for part in hit.parts)


def test_every_term_has_its_share(searcher: Searcher) -> None:
    hit = searcher.search("total price", mode="keyword").hits[0]
    shares = {part.name: part for part in hit.parts if part.group == "keyword"}
    assert set(shares) == {"keyword: total", "keyword: price"}
    assert [part.term for part in hit.parts if part.name == "keyword: price"] == ["pric"]
    assert all("BM25" in part.detail and "rank 1" in part.detail for part in shares.values())


def test_further_hits_of_a_file_say_against_which(searcher: Searcher) -> None:
    by_file = replace(searcher.profile("code"), diversity="file")
    hits = [hit for hit in searcher.search("cart item", profile=by_file).hits if hit.path == "shop/cart.py"]
    first, second = hits[:2]
    assert not any(part.group == "diversity" for part in first.parts)
    [penalty] = [part for part in second.parts if part.group == "diversity"]
    assert penalty.contribution < 0
    assert penalty.detail == f"against shop/cart.py:{first.start_line}-{first.end_line}"


@pytest.mark.parametrize(
    "query",
    ["", "   ", "!!! ??? ---", "\0", "😀", "'; DROP TABLE passage; --", "[red]<b>*[/]", "a" * 100_000, "x " * 60_000,
     "%s %d {} $1", "\ud800 broken", "SELECT * FROM passage WHERE 1=1"],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_odd_queries_get_an_answer(
    searcher: Searcher, asked: tuple[Project, VectorIndex], query: str, mode: str
) -> None:
    result = searcher.search(query, mode=mode)
    check_sums(result)
    if not any(character.isalnum() for character in query):
        assert result.hits == ()
        assert "no words" in result.notes[0]
    assert asked[0].db.value("SELECT count(*) FROM passage") > 5


def test_a_long_query_says_what_was_read(searcher: Searcher) -> None:
    assert "first 100,000 of 120,000" in searcher.search("x " * 60_000).notes[0]


def test_vectors_that_are_switched_off_are_not_waited_for(shop: Project, tmp_path: Path) -> None:
    config = Config.model_validate({"embedding": {"provider": "none"}})
    provider = provider_for(config.embedding)
    result = Searcher(shop.db, VectorIndex(shop.db, tmp_path, provider), config, provider=provider).search("cart")
    assert result.mode == "keyword"
    [note] = [note for note in result.notes if note.startswith("Keyword only")]
    assert note == "Keyword only: Vectors are disabled: `embedding.provider` is none."


@pytest.mark.parametrize(("rerank", "said"), [("on", 1), ("auto", 0), ("off", 0)])
def test_a_reranker_that_is_asked_for_and_not_there_is_said_once(searcher: Searcher, rerank: str, said: int) -> None:
    profile = replace(CODE, rerank=rerank)
    for result in (
        searcher.search("cart", profile=profile),
        searcher.rank(searcher.retrieve("cart", profile=profile), profile),
    ):
        assert sum("Not reranked" in note and "search.reranker" in note for note in result.notes) == said
        assert result.hits


class Broken(NoProvider):
    def embed_query(self, text: str) -> object:
        raise ModelError("model missing")


def test_without_a_model_it_is_keyword_only_and_says_so(shop: Project, vectors: VectorIndex) -> None:
    result = Searcher(shop.db, vectors, Config(), provider=Broken()).search("cart")
    assert result.mode == "keyword"
    assert result.notes == ("Keyword only: model missing",)
    assert result.hits
    assert not any(part.group == "vector" for hit in result.hits for part in hit.parts)


def test_without_vectors_it_is_keyword_only_and_says_so(shop: Project) -> None:
    result = Searcher(shop.db, None, Config()).search("cart")
    assert result.mode == "keyword"
    assert "no vector index" in result.notes[0]


def test_vectors_that_are_still_filling_in_are_said(shop: Project, vectors: VectorIndex) -> None:
    searcher = Searcher(shop.db, vectors, Config(), provider=PROVIDER)
    before = vectors.coverage()[0]
    shop.put({"new.py": "def brand_new(thing):\n    return thing\n"})
    vectors.refresh()
    result = searcher.search("cart")
    assert result.mode == "hybrid"
    assert result.notes == (f"Vectors cover {before} of {before + 1} passages.",)
    assert paths(searcher.search("brand_new"))[0] == "new.py"


def test_vector_mode_uses_no_words(searcher: Searcher) -> None:
    result = searcher.search("cart", mode="vector")
    assert result.mode == "vector"
    assert {part.group for hit in result.hits for part in hit.parts} <= {"vector", "adjust", "diversity", "scale"}
    assert any(part.group == "vector" for part in result.hits[0].parts)


def test_an_empty_index_answers_nothing(project: Project) -> None:
    assert Searcher(project.db, None, Config()).search("cart").hits == ()


def test_unknown_profile_and_mode_are_refused(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="Unknown profile: 'nope'"):
        searcher.search("cart", profile="nope")
    with pytest.raises(UsageError, match="Unknown mode"):
        searcher.search("cart", mode="psychic")


class Stub:
    """Likes texts that hold a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(self.word in text) for text in texts]


def test_a_reranker_is_blended_in(shop: Project, vectors: VectorIndex) -> None:
    searcher = Searcher(shop.db, vectors, Config(), provider=PROVIDER, reranker=Stub("refund"))
    profile = replace(CODE, rerank_alpha=0.9)
    result = searcher.search("cart", profile=profile)
    check_sums(result)
    assert "refund" in result.hits[0].snippet
    assert [part.name for part in result.hits[0].parts if part.name != "scale"][-1] == "rerank"
    off = searcher.search("cart", profile=replace(profile, rerank="off"))
    assert "refund" not in off.hits[0].snippet


class Slow(Stub):
    """Takes as many seconds as it is told, by a clock of its own."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.now = 0.0
        self.takes = 2.0
        self.asked = 0

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.now += self.takes
        self.asked += 1
        return super().scores(query, texts)


def test_a_reranker_that_is_too_slow_is_left_out_until_later() -> None:
    slow = Slow("refund")
    timed = TimedReranker(slow, lambda: slow.now)
    timed.scores("cart", ["one"])
    assert not timed.too_slow(), "the first question loads the model"
    timed.scores("cart", ["one"])
    assert "2.0 s per query" in timed.too_slow()
    slow.now += 700
    assert not timed.too_slow()
    slow.takes = 0.1
    for _ in range(3):
        timed.scores("cart", ["one"])
    assert not timed.too_slow()


def test_auto_leaves_out_what_is_too_slow_and_on_does_not(
    shop: Project, vectors: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.rerank._BUDGET", -1.0)
    slow = Slow("refund")
    searcher = Searcher(shop.db, vectors, Config(), provider=PROVIDER, reranker=slow)
    for _ in range(2):
        assert not any("Not reranked" in note for note in searcher.search("cart", profile=CODE).notes)
    found = searcher.search("cart", profile=CODE)
    assert any("Not reranked: it takes" in note for note in found.notes)
    assert slow.asked == 2
    assert not any("Not reranked" in note for note in searcher.search("cart", profile=replace(CODE, rerank="on")).notes)
    assert slow.asked == 3


def test_a_reranker_that_cannot_load_is_said(shop: Project, tmp_path: Path) -> None:
    config = Config.model_validate({"search": {"reranker": str(tmp_path)}})
    result = Searcher(shop.db, None, config).search("cart")
    assert result.hits
    assert any("Not reranked" in note and "no .onnx file" in note for note in result.notes)


@pytest.fixture
def notes(project: Project) -> Project:
    day = 86_400
    rows = [
        (1, "note", "2026-01-01-router.md", 1, 2, "", "The router hides its cache behind a flag.", "a", 1_000 * day),
        (2, "note", "2026-02-10-router.md", 1, 2, "", "The router hides its cache behind a flag.", "b", 1_030 * day),
        (3, "note", "MEMORY.md", 1, 2, "", "Deploys go out on Fridays.", "c", None),
    ]
    from cm_tui.engine.search.ranking import fts_writer
    from cm_tui.engine.search.ranking.wording import PROSE_WORDING

    with project.db.transaction():
        for key, source, path, start, end, title, text, digest, time in rows:
            project.db.execute(
                "INSERT INTO passage VALUES (?, ?, ?, NULL, NULL, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [key, source, path, start, end, title, text, digest, time],
            )
        fts_writer.add(project.db, [fts_writer.Document(row[0], (row[2], "", row[6])) for row in rows], PROSE_WORDING)
        project.db.set_meta("passage_generation", "1")
    return project


def test_notes_that_are_old_fade(notes: Project) -> None:
    searcher = Searcher(notes.db, None, Config())
    profile = replace(profiles.make("memory", {}), diversity="none")
    candidates = searcher.retrieve("router cache", profile=profile, mode="keyword")
    candidates = replace(candidates, table=replace(candidates.table, now=1_030 * 86_400))
    new, old = searcher.rank(candidates, profile).hits
    assert (new.path, old.path) == ("2026-02-10-router.md", "2026-01-01-router.md")
    [part] = [part for part in old.parts if part.group == "decay"]
    assert part.value == pytest.approx(0.5)
    assert "30.0 days old, half-life 30" in part.detail


def test_mmr_puts_a_repetition_behind_something_new(notes: Project) -> None:
    searcher = Searcher(notes.db, None, Config())
    base = profiles.make("notes", {"min_score": 0.0})
    plain = searcher.search("router hides cache behind flag Fridays", profile=base, mode="keyword")
    diverse = searcher.search(
        "router hides cache behind flag Fridays", profile=replace(base, diversity="mmr"), mode="keyword"
    )
    assert paths(plain)[2] == "MEMORY.md"
    assert paths(diverse)[1] == "MEMORY.md"
    check_sums(diverse)


def test_a_profile_sees_its_own_sources_only(notes: Project) -> None:
    assert Searcher(notes.db, None, Config()).search("router", profile="code").hits == ()


def test_rrf_says_the_arithmetic_that_it_does(searcher: Searcher) -> None:
    profile = replace(profiles.make("code", {}), fusion="rrf", adjustments={}, diversity="none")
    result = searcher.search("how is the total price of a cart computed", profile=profile)
    check_sums(result)
    for hit in result.hits:
        for part in hit.parts:
            if part.group != "scale":
                assert part.value * part.weight == pytest.approx(part.contribution)
            if part.group == "vector" and (found := re.search(r"rank (\d+) .*: 61 / \(60 \+ (\d+)\)", part.detail)):
                assert found[1] == found[2]
                assert part.value == pytest.approx(61 / (60 + int(found[1])))
    first = result.hits[0]
    assert any("61 / (60 + " in part.detail for part in first.parts if part.group == "vector")
    assert any("61 / (60 + " in part.detail for part in first.parts if part.group == "keyword")


@pytest.mark.parametrize("name", ["code", "memory", "notes"])
@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@pytest.mark.parametrize("query", ["cart", "ShoppingCart", "how is the total price of a cart computed", "refund()"])
def test_every_profile_has_the_one_scale(searcher: Searcher, name: str, fusion: str, query: str) -> None:
    profile = replace(profiles.make(name, {}), fusion=fusion, sources=("code",), min_score=0.0, calibrated=False)
    everything = searcher.search(query, profile=profile, limit=100)
    check_sums(everything)
    plain = searcher.search(query, profile=replace(profile, diversity="none"), limit=100)
    for least in (0.2, 0.35, 0.6, 0.9):
        some = searcher.search(query, profile=replace(profile, min_score=least, diversity="none"), limit=100)
        assert all(hit.score >= least for hit in some.hits)
        assert len(some.hits) == sum(hit.score >= least for hit in plain.hits)


def test_least_score(notes: Project) -> None:
    searcher = Searcher(notes.db, None, Config())
    query = "router hides cache behind flag Fridays"
    everything = searcher.search(query, profile=profiles.make("notes", {"min_score": 0.0}), mode="keyword")
    assert len(everything.hits) == 3
    least = everything.hits[1].score
    some = searcher.search(query, profile=profiles.make("notes", {"min_score": least}), mode="keyword")
    assert some.hits == everything.hits[:2]
    assert some.total == 2
