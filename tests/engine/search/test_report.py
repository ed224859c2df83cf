"""Long queries are taken apart: what each line is, the places that traces name, and what comes of it in a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cm_tui.config import Config
from cm_tui.engine.search.ranking.frames import Frame
from cm_tui.engine.search.ranking.named_places import framed
from cm_tui.engine.search.ranking.passage_cache import PassageCache, PassageRecord
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.report import NAMES, WEIGHTS, Part, Report, is_report, read
from cm_tui.engine.search.ranking.traits import traits_of
from cm_tui.engine.search.ranking.wording import CODE_WORDING
from cm_tui.model import CODE
from tests.shop import Project
from tests.tiers import examples

PLAIN = traits_of("shop/m0.py", "text", None, ())
REPORT = """\
The price is wrong on Mondays

### Describe the bug

When I pay, `tax_of` gives the price without tax. See [the page](https://example.org/tax) and @someone.

```python
from shop.money import tax_of
tax_of(100)
```

>>> pay(100)
0

Traceback (most recent call last):
  File "/home/x/venv/lib/python3.12/site-packages/click/core.py", line 1078, in main
    rv = self.invoke(ctx)
  File "/home/x/src/shop/cart.py", line 6, in add_item
    cart.items.append(product)
  File "/home/x/src/shop/payment.py", line 3, in charge
    raise ValueError("no tax")
ValueError: the price of 12 pears has no tax

**Environment**
- OS: Ubuntu 24.04
- Python version: 3.12.1
"""

TRACES = {
    "python": ('  File "a/b.py", line 3, in outer\n    inner()\n  File "a/c.py", line 9, in inner\n    x', [("a/c.py", 9, "inner"), ("a/b.py", 3, "outer")]),
    "pytest": ("a/b.py:3: in outer\n    inner()\na/c.py:9: ValueError", [("a/c.py", 9, ""), ("a/b.py", 3, "outer")]),
    "ipython": ("~/a/b.py in outer(self, x)\n      1 def\n----> 2   inner()\n~/a/c.py in inner(x)\n", [("~/a/c.py", 0, "inner"), ("~/a/b.py", 0, "outer")]),
    "node": ("    at Object.<anonymous> (/x/lib/a.js:12:5)\n    at async run (file:///x/lib/b.mjs:3:1)", [("/x/lib/a.js", 12, ""), ("/x/lib/b.mjs", 3, "run")]),
    "java": ("\tat org.shop.Cart.total(Cart.java:42)\n\tat org.shop.Main.main(Main.java:7)", [("Cart.java", 42, "total"), ("Main.java", 7, "main")]),
    "c#": ("   at Shop.Cart.Total(Int32 x) in C:\\src\\Cart.cs:line 42", [("C:/src/Cart.cs", 42, "Total")]),
    "go": ("main.(*Cart).Total(0xc0000)\n\t/src/shop/cart.go:42 +0x1d", [("/src/shop/cart.go", 42, "Total")]),
    "rust": ("   4: shop::cart::total\n             at ./src/cart.rs:42:9", [("./src/cart.rs", 42, "total")]),
    "ruby": ("lib/cart.rb:42:in `total'\n\tfrom lib/main.rb:3:in `block in run'", [("lib/cart.rb", 42, "total"), ("lib/main.rb", 3, "run")]),
    "php": ("#0 /src/Cart.php(42): Shop\\Cart->total()\n#1 /src/main.php(3): run()", [("/src/Cart.php", 42, "total"), ("/src/main.php", 3, "run")]),
    "gdb": ("#0  0x00007 in cart_total (c=0x0) at src/cart.c:42", [("src/cart.c", 42, "cart_total")]),
    "compiler": ("src/cart.c:42:7: error: expected ';'", [("src/cart.c", 42, "")]),
}  # fmt: skip


@pytest.mark.parametrize("language", TRACES)
def test_the_places_of_a_trace_are_read_the_innermost_first(language: str) -> None:
    text, places = TRACES[language]
    assert read(f"It fails\n\n```\n{text}\n```\n").frames == tuple(Frame(*place) for place in places)


@pytest.mark.parametrize(
    "line",
    [
        "panic: assignment to entry in nil map",
        "http: panic serving 127.0.0.1:51224: no route",
        "2024/05/01 12:00:00 [Recovery] panic recovered:",
        "runtime error: index out of range [3] with length 2",
    ],
)
def test_what_go_prints_of_a_panic_is_an_error(line: str) -> None:
    assert read(f"It fails\n\n{line}\n").texts("error") == [line]


def test_every_line_is_what_it_is() -> None:
    report = read(REPORT)
    assert report.title == "The price is wrong on Mondays"
    assert report.texts("name") == ["tax_of"]
    assert report.texts("heading") == ["### Describe the bug", "**Environment**"]
    assert report.texts("error") == ["ValueError: the price of 12 pears has no tax"]
    assert report.texts("environment") == ["- OS: Ubuntu 24.04\n- Python version: 3.12.1"]
    assert report.texts("code") == ["from shop.money import tax_of\ntax_of(100)\n>>> pay(100)"]
    assert report.texts("output") == ["0"]
    (prose,) = report.texts("prose")
    assert "the page" in prose
    assert not any(word in prose for word in ("https", "someone", "Describe"))
    assert [frame.function for frame in report.frames] == ["charge", "add_item", "main"]
    assert report.described(9) == "Read as a report: 3 frames, 1 error, 9 terms."


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("TypeError: no cart\n\nIt comes at night.\n" + "x " * 200, "TypeError: no cart"),
        ("### Bug description\n\nThe cart is empty\n" + "x " * 200, "The cart is empty"),
        ('  File "a.py", line 3, in f\n    g()\nKeyError: 1\n' + "    x\n" * 60, "KeyError: 1"),
        ("Fix the cart. " + "Then add a test and say what changed. " * 30, "Fix the cart."),
        ("word" * 400, "word" * 50),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, title: str) -> None:
    assert is_report(text)
    assert read(text).title == title


@pytest.mark.parametrize(
    "text", ["how is a route matched", "a\nb\nc", "why does `x` fail\nin shop/money.py", "x" * 600]
)
def test_questions_are_no_reports(text: str) -> None:
    assert not is_report(text)
    assert Query(text).report is None


def test_lines_may_end_as_terminals_paste_them() -> None:
    for end in ("\r", "\r\n"):
        assert is_report(REPORT.replace("\n", end))
        assert read(REPORT.replace("\n", end)) == read(REPORT)


def test_words_count_by_where_they_stand() -> None:
    query = Query(REPORT)
    weights = query.weights_in(CODE_WORDING)
    assert weights["wrong"] > weights["pay"] > weights["ubuntu"]
    assert "describe" not in weights
    assert query.documents == 0.0


@settings(max_examples=examples(300))
@given(
    st.text(max_size=2_000)
    | st.lists(st.sampled_from([*REPORT.split("\n"), "```", "    x", "@@ -1 +1 @@", "\0", "\ud800"]), max_size=60).map(
        "\n".join
    )
)
def test_any_text_can_be_taken_apart(text: str) -> None:
    report = read(text)
    assert {part.kind for part in report.parts} <= {*WEIGHTS} == {*NAMES}
    assert all(part.text.strip() for part in report.parts if part.kind not in ("title", "prose"))
    assert len(report.title) <= 400
    report.paths()
    assert report.embedding_texts()


@pytest.mark.parametrize(
    "piece", ["[", "`", "a/", "[a](", "x:", "Error", "at x.y", "**", "#1 in ", " ", "a.b-", "<!--", 'File "']
)
def test_reading_takes_time_by_length_alone(piece: str) -> None:
    # One that grew with the square would take minutes.
    read(piece * 40_000)
    read(f"{piece * 400}\n" * 50)


def test_the_place_that_a_trace_names_is_lifted(searcher: Searcher) -> None:
    found = searcher.search(REPORT)
    inner = next(hit for hit in found.hits if hit.path == "shop/payment.py")
    (part,) = [part for part in inner.parts if part.name == "frame"]
    assert part.value == 1.0
    assert all(part.value < 1 for hit in found.hits if hit != inner for part in hit.parts if part.name == "frame")
    assert any("from its title" in part.detail for hit in found.hits for part in hit.parts)
    assert any(note.startswith("Read as a report: 3 frames, 1 error, ") for note in found.notes)
    without = searcher.search(REPORT.partition("\nTraceback")[0])
    assert inner.score > next((hit.score for hit in without.hits if hit.passage == inner.passage), 0.0) + 0.2
    assert not any(part.name == "frame" for hit in without.hits for part in hit.parts)


def test_only_the_innermost_frames_bring_their_whole_files_along() -> None:
    class Records(PassageCache):
        def __init__(self) -> None:
            ids = iter(range(100))
            self.all = [
                PassageRecord(
                    None,
                    (),
                    PLAIN,
                    next(ids),
                    CODE,
                    f"shop/m{file}.py",
                    first,
                    first + 9,
                    "text",
                    None,
                    "python",
                    False,
                )
                for file in range(8)
                for first in (1, 11, 21)
            ]

        def called(self, names: Sequence[str]) -> dict[str, list[str]]:
            return {name: [f"shop/{name}"] for name in names}

        def at(self, paths: Sequence[str]) -> NDArray[np.int64]:
            return np.array([one.id for one in self.all if one.path in paths], dtype=np.int64)

        def get(self, ids: Sequence[int]) -> list[PassageRecord]:
            return [one for one in self.all if one.id in ids]

    frames = [Frame(f"shop/m{file}.py", 5, "run") for file in range(7)]
    report = Report("It fails", (Part("prose", "It fails, see shop/m7.py"),), tuple(frames))
    files = Counter(Records().all[id_].path for id_ in framed(Records(), report))
    assert files == {**{f"shop/m{file}.py": 3 if file < 2 else 1 for file in range(7)}, "shop/m7.py": 3}


def test_a_trace_without_its_innermost_frame_says_less(searcher: Searcher) -> None:
    def lift(report: str) -> float:
        hits = searcher.search(report, limit=50).hits
        return max(part.value for hit in hits for part in hit.parts if part.name == "frame")

    cut = REPORT.partition("ValueError")[0]
    assert read(cut).is_cut
    assert not read(REPORT).is_cut
    assert lift(cut) == 0.5 * lift(REPORT)
    named = (
        "See shop/payment.py in the source.\n\nTraceback (most recent call last):\n"
        + 'File "/x/click/core.py", line 1, in main\n' * 6
    )
    assert lift(f"The tax is wrong\n\n{named}") == 0.4, "a file that a sentence names counts as before"


@pytest.mark.parametrize("language", ["node", "java", "go", "ruby"])
def test_a_trace_that_begins_with_its_innermost_frame_has_it_also_when_it_is_cut(language: str) -> None:
    assert not read(f"It fails\n\n{TRACES[language][0]}").is_cut


def test_the_name_of_a_file_is_no_evidence_in_a_report(searcher: Searcher) -> None:
    title = "Wrong total of the cart"
    report = f"{title}\n\n" + "\n".join(f"Step {number}: put a thing in, and look at the price." for number in range(9))
    lifted = [
        {part.name for part in searcher.search(text).hits[0].parts} & {"file-name", "path"} for text in (title, report)
    ]
    assert lifted == [{"file-name", "path"}, set()]


def test_what_writes_a_message_is_found_by_its_words(shop: Project) -> None:
    shop.put({"shop/stock.py": 'def take(name):\n    raise KeyError(f"nothing is left of {name} in the store")\n'})
    searcher = Searcher(shop.db, None, Config())
    report = "It stops at noon\n\n```\nKeyError: 'nothing is left of pears in the store'\n```\n\nWhat can be done about it? It worked last week."
    first = searcher.search(report).hits[0]
    assert first.path == "shop/stock.py"
    assert any(part.name == "message" for part in first.parts)


def test_what_looks_like_a_filter_in_a_report_is_part_of_it(searcher: Searcher) -> None:
    found = searcher.search(REPORT.replace("When I pay", "path:nowhere lang:rust when I pay"))
    assert found.hits
    assert not found.filters
