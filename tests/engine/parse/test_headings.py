"""Headings of documents that are read by lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.code.parse.headings import DOCUMENTS, headings
from cm_tui.engine.code.parse.markdown import links
from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob
from cm_tui.engine.code.parse.tree_query import Findings

RST = """\
=======
The Pot
=======

How to cook.

Getting *started*
-----------------

Buy a pot. A line of signs within
---
a paragraph is none.

::

    Indented
    --------

``boil()`` and :ref:`cool <label>`
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

Water first.

.. _serving:
Serving
-------

On plates.

=====  ======
Plate  Colour
=====  ======
Deep   white
=====  ======
"""
ADOC = """\
= The Pot
:toc:

== Getting started

----
== not a heading
----

=== Water [[water]]

====
An example, not a heading.
====

## Serving ##
"""
ORG = """\
* TODO [#A] The Pot :kitchen:
** Water
#+BEGIN_SRC sh
* no heading
#+END_SRC
* [[https://example.org][Serving]]
"""
TEX = r"""
\chapter{The Pot}
\section[short]{Water \emph{first} and {more}}\label{sec:water}
\subsection*{Salt}
Text with \section in it is none.
\section{Serving}
"""


def read(language: str, text: str) -> ParsedBlob:
    return parse_blob("0" * 40, language, text.encode())


def outline(language: str, text: str) -> list[tuple[str, int, int]]:
    return [(symbol.qualname, symbol.start_line, symbol.end_line) for symbol in read(language, text).symbols]


def test_restructured_text() -> None:
    lines = RST.split("\n")
    assert outline("rst", RST) == [
        ("The Pot", 1, 34),
        ("The Pot > Getting started", 7, 24),
        ("The Pot > Getting started > boil() and cool", 19, 24),
        ("The Pot > Serving", 25, 34),
    ]
    assert lines[24] == "Serving"
    assert [symbol.signature for symbol in read("rst", RST).symbols][0::3] == ["The Pot", "Serving"]


def test_the_first_style_is_the_highest_level() -> None:
    text = "One\n~~~\n\na\n\nTwo\n===\n\nb\n\nThree\n~~~~~\n\nc\n"
    assert [(name, start) for name, start, _ in outline("rst", text)] == [("One", 1), ("One > Two", 6), ("Three", 11)]


def test_asciidoc() -> None:
    assert [name for name, *_ in outline("asciidoc", ADOC)] == [
        "The Pot", "The Pot > Getting started", "The Pot > Getting started > Water", "The Pot > Serving",
    ]  # fmt: skip


def test_org() -> None:
    assert [name for name, *_ in outline("org", ORG)] == ["The Pot", "The Pot > Water", "Serving"]


def test_latex() -> None:
    assert [name for name, *_ in outline("latex", TEX)] == [
        "The Pot", "The Pot > Water first and more", "The Pot > Water first and more > Salt", "The Pot > Serving",
    ]  # fmt: skip


def test_sections_are_cut_at_their_headings() -> None:
    blob = read("rst", RST)
    starts = {symbol.start_line for symbol in blob.symbols}
    assert {symbol.kind for symbol in blob.symbols} == {"section"}
    assert starts & {chunk.start_line for chunk in blob.chunks}


@pytest.mark.parametrize("language", sorted(DOCUMENTS))
@given(
    st.lists(
        st.sampled_from(
            ["", "Title", "=====", "-----", "== a", "* b", "  c", "....", r"\section{x", "`", "#+end_x", "\x00"]
        )
    )
)
def test_any_lines_have_an_outline_that_fits(language: str, lines: list[str]) -> None:
    rows = [heading.row for heading in headings(language, lines)]
    assert rows == sorted(set(rows))
    blob = read(language, "\n".join(lines))
    assert all(1 <= symbol.start_line <= symbol.end_line <= max(blob.lines, 1) for symbol in blob.symbols)
    assert all(symbol.name for symbol in blob.symbols)


def test_a_line_of_backticks_takes_no_time() -> None:
    (found,) = links(Findings(), [f"[x](b.md) {'`' * 100_000}"], [])
    assert found.module == "b.md"


NEVER_CLOSED = {
    "rst role": ":a" * 50_000 + "\n======",
    "asciidoc anchor": "= " + "[" * 100_000,
    "org link": "* " + "[[" * 50_000,
    "csharp element": "/// " + "<param" * 20_000 + "\nclass A { void f(){} }",
    "razor comment": "@*a" * 40_000,
    "razor comment in code": "@code {" + "/*a" * 10_000,
    "razor raw string": '@code {"""' + '"a' * 50_000,
    "razor escaped quote": '@code {"' + '\\"' * 50_000 + "\\",
    "razor escaped apostrophe": "@code {" + "\\'a" * 40_000,
    "razor directive": "@using a" + " " * 100_000 + "b",
}


@pytest.mark.parametrize("what", NEVER_CLOSED)
def test_what_is_never_closed_takes_no_time(what: str) -> None:
    language = what.split(maxsplit=1)[0]
    assert read(language, NEVER_CLOSED[what]).language == language
