"""Packs: order, budget, Markdown that survives a chat, and honesty about what was cut."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.context.packs import from_query, pack
from cm_tui.engine.context.packs.budget import tokens, weight
from cm_tui.engine.context.packs.from_query import auto_pack
from cm_tui.engine.context.packs.neighbours import neighbours_of
from cm_tui.engine.context.packs.pack import manual_pack
from cm_tui.errors import NotFoundError
from cm_tui.model import Edge, Hit, PackRequest, Page, ScorePart, SearchResult, Source, Symbol, SymbolKey
from tests.tiers import examples

FILES = {
    "a.py": "\n".join(f"line_{n} = compute(value, {n})" for n in range(1, 101)),
    "b.py": "\n".join(f"other_{n} = fetch('{n}')" for n in range(1, 41)),
    "guide.md": "# Guide\n\n````md\n```python\nx = 1\n```\n````\n\nend",
}
SYMBOLS = [
    Symbol("a.py", "Loader", "Loader", "class", "python", "class Loader", "", 1, 60),
    Symbol("a.py", "Loader.read", "read", "method", "python", "def read", "", 10, 20, parent="Loader"),
    Symbol("a.py", "helper", "helper", "function", "python", "def helper", "", 70, 75),
    Symbol("b.py", "fetch_all", "fetch_all", "function", "python", "def fetch_all", "", 5, 12),
]


def source(path: str, start: int, end: int) -> Source:
    if path.startswith("episode/"):
        return Source(path, start, "what was said", "markdown", source="episode")
    if path not in FILES:
        raise NotFoundError(f"{path} is not in the project.")
    lines = FILES[path].split("\n")[start - 1 : end]
    return Source(path, start, "\n".join(lines), "python" if path.endswith(".py") else "markdown")


def symbol_at(path: str, line: int) -> Symbol | None:
    around = [s for s in SYMBOLS if s.path == path and s.start_line <= line <= s.end_line]
    return max(around, key=lambda s: s.start_line, default=None)


def callers(key: SymbolKey) -> Page[Edge]:
    rows = {
        "Loader.read": [Edge("b.py", "fetch_all", "function", 8, "b.py", "call", "unique", start_line=5)],
    }.get(key.qualname, [])
    return Page(tuple(rows), len(rows))


def callees(key: SymbolKey) -> Page[Edge]:
    rows = {
        "Loader.read": [
            Edge("a.py", "helper", "function", 12, "a.py", "call", "same-file", start_line=70),
            Edge("", "open", "function", 13, "a.py", "call", "external"),
            Edge("b.py", "fetch_all", "function", 14, "a.py", "call", "ambiguous", start_line=5),
        ],
    }.get(key.qualname, [])
    return Page(tuple(rows), len(rows))


def hit(rank: int, path: str, start: int, end: int, symbol: str | None = None) -> Hit:
    text = source(path, start, end).text
    return Hit(
        rank,
        "code",
        path,
        start,
        end,
        symbol,
        "function",
        "python",
        1 / rank,
        text[:80].split("\n")[0],
        start,
        (),
        rank,
    )


def auto(
    hits: list[Hit],
    budget: int,
    *,
    neighbours: bool = True,
    question: str = "how is it read?",
    beside: tuple[Hit, ...] = (),
):
    def search(query: str) -> SearchResult:
        return SearchResult(query, "hybrid", "code", 1.0, tuple(hits), len(hits), beside=beside)

    return auto_pack(
        question,
        budget,
        neighbours,
        search=search,
        source=source,
        symbol_at=symbol_at,
        callers=callers,
        callees=callees,
    )


def places(pack, *, included: bool = True) -> list[str]:
    return [f"{i.path}:{i.start_line}-{i.end_line}" for i in pack.items if i.included is included]


def test_manual_keeps_the_order_given():
    pack = manual_pack(
        [PackRequest("b.py", 3, 4, "two"), PackRequest("a.py", 1, 2, "one")], 1000, "Why?", source=source
    )
    assert places(pack) == ["b.py:3-4", "a.py:1-2"]
    assert pack.markdown.startswith("Why?\n\n### `b.py:3-4` — `two`\n\n```python\nother_3 = fetch('3')\n")
    assert pack.tokens == tokens(pack.markdown)


def test_item_too_large_is_named_and_smaller_ones_after_it_stay():
    pack = manual_pack([PackRequest("a.py", 1, 100), PackRequest("b.py", 1, 2)], 120, "", source=source)
    assert places(pack) == ["b.py:1-2"]
    assert places(pack, included=False) == ["a.py:1-100"]
    assert "a.py:1-100" in pack.notes[0]


def test_what_is_remembered_is_named_by_what_was_asked():
    def remembered(path: str, start: int, _end: int) -> Source:
        return Source(path, start, "what was said " * 200, "markdown", source="episode", time=1_770_000_000)

    title = "Why does the connector\x1b[2J leak? " + "And how. " * 20
    asked = PackRequest("episode/18ec5032c524747f", 1, 8, title=title)
    pack = manual_pack(
        [asked, PackRequest("b.py", 1, 2)], 120, "", source=lambda *at: (remembered if "/" in at[0] else source)(*at)
    )
    assert "Why does the connector" in pack.notes[0]
    assert "18ec5032c524747f" not in pack.notes[0]
    assert "\x1b" not in pack.notes[0]
    assert len(pack.notes[0]) < 130


def test_nothing_fits():
    pack = manual_pack([PackRequest("a.py", 1, 100)], 5, "A question", source=source)
    assert (pack.markdown, pack.tokens) == ("", 0)
    assert pack.notes[0].startswith("Nothing fits into 5 tokens")


def test_vanished_file_is_a_note():
    pack = manual_pack([PackRequest("gone.py", 1, 3), PackRequest("b.py", 1, 1)], 100, "", source=source)
    assert places(pack) == ["b.py:1-1"]
    assert "gone.py:1-3 skipped" in pack.notes[0]


def test_fence_is_longer_than_any_inside():
    pack = manual_pack([PackRequest("guide.md", 1, 9)], 1000, "", source=source)
    assert "`````markdown\n# Guide" in pack.markdown
    assert pack.markdown.endswith("\nend\n`````")


@pytest.mark.parametrize("name", ["__init__.py", "a`b.py", "`x`", "[b]a*.py"])
def test_heading_is_code_whatever_the_name(name: str):
    span = pack.code(name)
    run = re.match("`+", span).group()
    assert span.endswith(run)
    assert name in span
    assert run not in name.split("`") or "`" not in name


def test_hits_grow_to_symbols_and_merge():
    pack = auto([hit(1, "a.py", 12, 13, "Loader.read"), hit(2, "a.py", 15, 16), hit(3, "b.py", 30, 31)], 4000)
    assert places(pack)[:2] == ["a.py:10-20", "b.py:30-31"]


def test_neighbours_follow_and_ambiguous_ones_stay_out():
    pack = auto([hit(1, "a.py", 12, 13, "Loader.read")], 4000)
    assert places(pack) == ["a.py:10-20", "a.py:70-75", "b.py:5-12"]
    assert pack.items[1].why == "called by Loader.read"
    assert pack.items[2].why == "calls Loader.read"
    assert places(auto([hit(1, "a.py", 12, 13)], 4000, neighbours=False)) == ["a.py:10-20"]


def test_too_large_a_symbol_gives_its_passage():
    pack = auto([hit(1, "a.py", 2, 4, "Loader")], 200, neighbours=False)
    assert places(pack) == ["a.py:2-4"]


@pytest.mark.parametrize(
    ("first", "shown"), [(2, "a.py:1-31"), (25, "a.py:1-31"), (40, "a.py:30-60"), (58, "a.py:30-60")]
)
def test_half_of_a_symbol_that_does_not_fit_whole_holds_the_hit(first: int, shown: str):
    assert places(auto([hit(1, "a.py", first, first + 2, "Loader")], 400, neighbours=False)) == [shown]


def test_a_likely_long_symbol_is_worth_more_than_many_unlikely_short_ones():
    others = [hit(rank, "b.py", 5 * rank, 5 * rank + 1) for rank in range(2, 8)]
    pack = auto([hit(1, "a.py", 2, 4, "Loader"), *others], 600, neighbours=False)
    assert places(pack)[0] == "a.py:1-31"
    assert places(auto([*others, hit(8, "a.py", 2, 4, "Loader")], 600, neighbours=False))[-1] == "a.py:2-4"


def test_a_hit_that_a_best_one_calls_comes_before_likelier_ones():
    others = [hit(rank, "b.py", 8 * rank, 8 * rank + 6) for rank in range(2, 5)]
    hits = [hit(1, "a.py", 12, 13, "Loader.read"), *others, hit(5, "a.py", 70, 75, "helper")]
    assert "a.py:70-75" in places(auto(hits, 400))
    assert "a.py:70-75" not in places(auto(hits, 400, neighbours=False))


@pytest.mark.parametrize(
    ("question", "shown"),
    [("where is it loaded", "a.py:1-31"), ("loader", "a.py:2-4"), ("how do I load it", "a.py:2-4")],
)
def test_short_symbols_are_less_likely_where_the_question_is_where_something_is_done(question: str, shown: str):
    short = [hit(rank, "b.py", 5 * rank, 5 * rank + 1) for rank in range(3, 8)]
    hits = [hit(1, "a.py", 70, 75, "helper"), hit(2, "a.py", 2, 4, "Loader"), *short]
    assert shown in places(auto(hits, 550, neighbours=False, question=question))


def test_cut_hits_are_named():
    hits = [hit(1, "a.py", 70, 75), hit(2, "b.py", 1, 40)]
    first = auto(hits[:1], 1000, neighbours=False).tokens
    pack = auto(hits, first + 60, neighbours=False)
    assert places(pack) == ["a.py:70-75", "b.py:1-1"]
    pack = auto(hits, first + 5, neighbours=False)
    assert places(pack, included=False) == ["b.py:1-40"]
    assert "b.py:1-40" in pack.notes[-1]


def test_no_hits_says_so():
    pack = auto([], 100)
    assert pack.markdown == ""
    assert pack.notes == ("No results for this question.",)


def test_neighbours_of_a_choice_leave_out_what_it_covers():
    chosen = [PackRequest("a.py", 10, 20), PackRequest("a.py", 65, 80)]
    found = tuple(neighbours_of(chosen, symbol_at=symbol_at, callers=callers, callees=callees))
    assert [(r.path, r.start_line, r.title) for r in found] == [("b.py", 5, "fetch_all")]


request = st.builds(
    lambda path, start, length, title: PackRequest(path, start, start + length, title),
    st.sampled_from([*FILES, "gone.py"]),
    st.integers(1, 100),
    st.integers(0, 40),
    st.text(max_size=12),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(request, max_size=8), st.integers(0, 1500), st.text(max_size=60))
def test_never_over_budget_order_kept_and_same_twice(requests, budget, question):
    pack = manual_pack(requests, budget, question, source=source)
    assert tokens(pack.markdown) == pack.tokens <= budget
    assert [(i.path, i.title) for i in pack.items] == [(r.path, r.title) for r in requests]
    assert pack == manual_pack(requests, budget, question, source=source)
    assert pack.markdown.count("\n### ") + pack.markdown.startswith("### ") >= sum(i.included for i in pack.items)


hits_strategy = st.lists(
    st.builds(
        lambda path, start, length: (path, start, min(start + length, FILES[path].count("\n") + 1)),
        st.sampled_from(["a.py", "b.py"]),
        st.integers(1, 40),
        st.integers(0, 30),
    ),
    max_size=6,
)


@settings(max_examples=examples(100), deadline=None)
@given(hits_strategy, st.integers(0, 2500), st.booleans(), st.text(max_size=40))
def test_automatic_never_over_budget_and_never_the_same_line_twice(spans, budget, neighbours, question):
    hits = [hit(rank, *span) for rank, span in enumerate(spans, 1)]
    pack = auto(hits, budget, neighbours=neighbours, question=question)
    assert tokens(pack.markdown) == pack.tokens <= budget
    lines = [(i.path, n) for i in pack.items if i.included for n in range(i.start_line, i.end_line + 1)]
    assert len(lines) == len(set(lines))
    assert pack == auto(hits, budget, neighbours=neighbours, question=question)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_weights_add_up_across_sections(left, right):
    left, right = f"{left}```", f"### {right}"
    assert weight(left + "\n\n" + right) == pytest.approx(weight(left) + weight("\n\n") + weight(right))


def test_estimate_is_sane():
    assert tokens("") == 0
    assert tokens("def parse_config(path: str) -> Config:") in range(9, 14)
    assert tokens("漢字") >= 2


def test_copies_of_one_text_are_in_a_pack_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(FILES, "old/b.py", FILES["b.py"])
    hits = [hit(1, "b.py", 30, 31), hit(2, "old/b.py", 30, 31), hit(3, "old/b.py", 35, 36)]
    assert places(auto(hits, 4000, neighbours=False)) == ["b.py:30-31", "old/b.py:35-36"]


def test_a_comment_above_a_symbol_belongs_to_it(monkeypatch: pytest.MonkeyPatch):
    documented = Symbol("a.py", "Loader.m", "m", "method", "python", "def m", "", 23, 40, parent="Loader")
    monkeypatch.setitem(globals(), "SYMBOLS", [*SYMBOLS, documented])
    assert places(auto([hit(1, "a.py", 21, 28, "Loader.m")], 4000, neighbours=False)) == ["a.py:21-40"]


@pytest.mark.parametrize(("budget", "shown"), [(230, "a.py:80-90"), (4000, "a.py:62-90")])
def test_a_symbol_is_shown_without_its_comment_where_both_do_not_fit(
    budget: int, shown: str, monkeypatch: pytest.MonkeyPatch
):
    documented = Symbol("a.py", "late", "late", "function", "python", "def late", "", 80, 90)
    monkeypatch.setitem(globals(), "SYMBOLS", [*SYMBOLS, documented])
    assert places(auto([hit(1, "a.py", 62, 82, "late")], budget, neighbours=False)) == [shown]


def test_the_head_of_a_large_class_brings_its_beginning_along():
    assert places(auto([hit(1, "a.py", 1, 1, "Loader")], 200, neighbours=False)) == ["a.py:1-12"]


def test_what_begins_in_the_middle_of_a_symbol_says_of_which():
    def inside(path, line):
        return Symbol(path, "Shop.total", "total", "method", "python", "def total(self) -> int", "", 1, 50)

    whole, middle = (
        manual_pack([PackRequest("a.py", first, 12)], 1000, "", source=source, symbol_at=inside) for first in (1, 10)
    )
    assert "Inside" not in whole.markdown
    assert "### `a.py:10-12`\n\nInside `def total(self) -> int`:\n\n```python\n" in middle.markdown
    assert middle.tokens == tokens(middle.markdown)


def test_hits_come_before_neighbours_and_further_hits_after_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(from_query, "_NEIGHBOURS_SHARE", 1.0)
    listed = [hit(1, "a.py", 12, 13, "Loader.read"), *(hit(n, "b.py", 20 + 2 * n, 20 + 2 * n) for n in range(2, 11))]
    pack = auto([*listed, hit(11, "a.py", 90, 91)], 4000)
    assert [item.why for item in pack.items if item.path == "a.py"] == [
        "hit 1, score 1.000",
        "hit 11, score 0.091",
        "called by Loader.read",
    ]
    hits_alone = sum(item.tokens for item in pack.items if item.why.startswith("hit "))
    small = auto([*listed, hit(11, "a.py", 90, 91)], hits_alone + 10, question="reading")
    assert places(small)[:2] == ["a.py:10-20", "b.py:24-40"]
    assert all(item.why.startswith("hit ") for item in small.items)


def test_methods_side_by_side_grow_together_whatever_they_cost_together(monkeypatch: pytest.MonkeyPatch):
    methods = [
        Symbol("a.py", f"Loader.m{n}", f"m{n}", "method", "python", f"def m{n}", "", first, first + 9, parent="Loader")
        for n, first in enumerate((21, 31))
    ]
    monkeypatch.setitem(globals(), "SYMBOLS", [*SYMBOLS, *methods])
    pack = auto([hit(1, "a.py", 22, 23, "Loader.m0"), hit(2, "a.py", 33, 34, "Loader.m1")], 500, neighbours=False)
    assert places(pack) == ["a.py:21-40"]


def test_a_section_ends_where_its_first_subsection_begins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(FILES, "long.md", "\n".join(f"Line {n} of what it says." for n in range(1, 61)))
    sections = [
        Symbol("long.md", "Top", "Top", "section", "markdown", "# Top", "", 1, 60),
        Symbol("long.md", "Top.Below", "Below", "section", "markdown", "## Below", "", 9, 60, parent="Top"),
    ]
    monkeypatch.setitem(globals(), "SYMBOLS", sections)
    assert places(auto([hit(1, "long.md", 3, 5, "Top")], 4000, neighbours=False)) == ["long.md:1-8"]


def remembered(rank: int, words: dict[str, float], cosine: float | None) -> Hit:
    """A turn of a session that has words of a question, with the BM25 of each."""
    parts = [ScorePart(f"keyword: {term}", value, 1.0, value, "", "keyword", term) for term, value in words.items()]
    if cosine is not None:
        parts.append(ScorePart("vector", cosine, 0.25, cosine / 4, "", "vector"))
    found = hit(rank, f"episode/{rank}", 1, 4)
    return replace(found, source="episode", parts=tuple(parts))


@pytest.mark.parametrize(
    ("question", "words", "cosine", "is_about"),
    [
        # Common words alone, though most of the question's.
        ("add type hints to rq/utils.py", {"add": 0.7, "type": 1.2, "rq": 0.4, "py": 0.4}, 0.27, False),
        # The rare words, and the meaning.
        ("add type hints to rq/utils.py", {"hint": 2.0, "type": 1.2, "util": 1.9}, 0.4, True),
        ("make the cron scheduler safe for several instances", {"cron": 1.6, "schedul": 1.6}, 0.57, True),
        ("make the cron scheduler safe for several instances", {"cron": 1.6, "schedul": 1.6}, 0.2, False),
        # Words without meaning count in no language.
        ("warum werden die worker beim deployment beendet?", {"worker": 1.0, "deploy": 1.6}, 0.35, True),
        # Without a vector yet, half of the words.
        ("why was the cache removed?", {"cach": 1.8}, None, True),
        ("how is the order of columns kept in exports?", {"order": 1.8}, None, False),
    ],
)
def test_memory_in_a_pack_is_about_the_question(
    question: str, words: dict[str, float], cosine: float | None, is_about: bool
):
    pack = auto([hit(1, "a.py", 1, 4, "f")], 2000, question=question, beside=(remembered(1, words, cosine),))
    assert any(item.path == "episode/1" for item in pack.items) is is_about
