"""Filters in a query: what is one, what is text, and both ways between a query and its parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.code.scan import languages
from cm_tui.engine.search.ranking.filters import Filter, ParsedQuery, Vocabulary

KNOWN = Vocabulary(languages.called(), "/home/me/shop")


def filters(text: str) -> list[str]:
    return [str(one) for one in KNOWN.parse(text).filters]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("how path:src/net does it", "how does it", ["path:src/net"]),
        ("path:./src//net/ x", "x", ["path:src/net"]),
        ("path:/home/me/shop/src x", "x", ["path:src"]),
        ("path:/home/me/shop x", "x", ["path:."]),
        ('path:"my folder/a b" x', "x", ['path:"my folder/a b"']),
        ("path:src/**/*.py x", "x", ["path:src/**/*.py"]),
        ("path:app/[slug]/page.tsx x", "x", ["path:app/[slug]/page.tsx"]),
        ("LANG:Py kind:Class In:TESTS x", "x", ["lang:python", "kind:class", "in:tests"]),
        ("lang:py,c++,rs x", "x", ["lang:python", "lang:cpp", "lang:rust"]),
        ("-lang:golang -path:vendor x", "x", ["-lang:go", "-path:vendor"]),
        ("lang:py lang:python x", "x", ["lang:python"]),
        ("in:docs", "", ["in:docs"]),
        ("kind:section in:docs setup", "setup", ["kind:section", "in:docs"]),
    ],
)
def test_what_is_a_filter(text: str, words: str, found: list[str]) -> None:
    asked = KNOWN.parse(text)
    assert (asked.words, [str(one) for one in asked.filters], asked.problems) == (words, found, ())


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:80/path:x", "std::io", "path::Path", "foo:bar", "in: the end", "path:", "lang: rust", "kind::x",
        "in://x", '"path:src lang:rust"', 'path:""', "f(path:str)", "mypath:src", "a-path:src", 'path:a"b"', "",
        "what is\n  the   path", "C:\\path:x",
    ],
)  # fmt: skip
def test_what_is_text(text: str) -> None:
    assert KNOWN.parse(text) == ParsedQuery(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lang:rsut x", ["lang:rsut: unknown language; it was searched as text. Did you mean lang:rst?"]),
        ("lang:pyhton x", ["lang:pyhton: unknown language; it was searched as text. Did you mean lang:python?"]),
        ("-kind:fonction x", [("-kind:fonction: unknown kind of symbol; it was searched as text. "
                              "Did you mean -kind:function? Available: module, namespace, class,")]),
        ("in:test", [("in:test: unknown group; it was searched as text. Did you mean in:tests? "
                     "Available: code, docs, tests.")]),
        ("path:../../etc", ["path:../../etc: it is outside the project; it was searched as text."]),
        ("path:/etc/passwd", ["path:/etc/passwd: it is outside the project; it was searched as text."]),
        ("path:/home/me/shopping", ["path:/home/me/shopping: it is outside"]),
        ('find path:"src net', ['path:"src: its quote is not closed; it was searched as text.']),
    ],
)  # fmt: skip
def test_what_names_nothing_is_text_and_said(text: str, said: list[str]) -> None:
    asked = KNOWN.parse(text)
    assert (asked.words, asked.filters) == (text, ())
    notes = [problem.words() for problem in asked.problems]
    assert len(notes) == len(said)
    assert all(note.startswith(start) for note, start in zip(notes, said, strict=True)), notes


def test_of_a_list_the_unknown_is_text() -> None:
    asked = KNOWN.parse("lang:py,rsut x")
    assert (asked.words, [str(one) for one in asked.filters]) == ("lang:rsut x", ["lang:python"])
    assert [one.text for one in asked.problems] == ["lang:rsut"]


def test_languages_of_the_project_are_meant_before_others() -> None:
    [problem] = KNOWN.parse("lang:rsut x").problems
    assert problem.among(["python", "rust"]).words().endswith("Did you mean lang:rust? Available: python, rust.")


def test_typescript_has_tsx_with_it() -> None:
    assert KNOWN.languages["ts"] == ("typescript", "tsx")
    assert set(languages.LANGUAGES) <= set(KNOWN.languages)


pieces = st.one_of(
    st.text(max_size=12),
    st.sampled_from(['"', " ", ":", "-", ",", "path:", "lang:", "path:src", 'path:"a b"', "-lang:py", "lang:py,xx", "kind:class",
                     "in:docs", 'in:"docs"', "path:../x", "path:**/a", "\0", "\ud800", '" path:x "', "lang:rsut"]),
)  # fmt: skip
texts = st.lists(pieces, max_size=12).map("".join) | st.lists(pieces, max_size=12).map(" ".join)


@given(texts)
def test_a_query_made_of_its_parts_has_the_same_parts(text: str) -> None:
    asked = KNOWN.parse(text)
    again = KNOWN.parse(str(asked))
    assert again.filters == asked.filters
    assert again.problems == asked.problems
    assert again.words.split() == asked.words.split()
    assert str(KNOWN.parse(str(again))) == str(again)


@given(st.text())
def test_text_without_a_name_of_a_filter_is_unchanged(text: str) -> None:
    if not any(f"{name}:" in text.lower() for name in ("path", "lang", "kind", "in")):
        assert KNOWN.parse(text) == ParsedQuery(text)


@given(st.sampled_from(["path", "lang", "kind", "in"]), st.text(min_size=1), st.booleans())
def test_a_known_filter_is_read_as_it_is_written(name: str, value: str, out: bool) -> None:
    for one in KNOWN.parse(f'{"-" * out}{name}:"{value}"').filters:
        assert KNOWN.parse(str(one)).filters == (one,)
        assert isinstance(one, Filter)
