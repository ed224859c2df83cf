"""What is read from each language: golden files for whole samples, and the quirks of each language one by one."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob, ParsedSymbol
from cm_tui.engine.code.parse.tree_query import query_of
from cm_tui.engine.code.scan.languages import LANGUAGES, Language
from cm_tui.model.code import SYMBOL_KINDS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "golden"))
from render import SAMPLES, parse_sample, render  # noqa: E402

OURS = [
    "Billing.fs", "Counter.razor", "Inventory.scala", "Ledger.vb", "Mailer.php", "Orders.kt", "Parser.hs", "Player.swift",
    "Accounts.java", "Catalog.cs", "board.tsx", "buffer.c", "orders.ts", "parser.rs", "player.js", "scene.cpp", "server.go",
    "warehouse.py", "Shapes3.scala", "basket.ex", "cart.dart", "deploy.sh", "guide.md", "ledger.rb", "ring.zig", "script.fsx", "session.lua",
]  # fmt: skip


def symbol(blob: ParsedBlob, qualname: str, kind: str | None = None) -> ParsedSymbol:
    return next(s for s in blob.symbols if s.qualname == qualname and kind in {None, s.kind})


def calls(blob: ParsedBlob, qualname: str) -> set[str]:
    return {
        f"{r.receiver}.{r.name}" if r.receiver else r.name
        for r in blob.references
        if r.kind == "call" and r.symbol is not None and blob.symbols[r.symbol].qualname == qualname
    }


def read_query(name: str, suffix: str = ".scm") -> str:
    text = files("cm_tui.engine.code.parse").joinpath("queries", name + suffix).read_text("utf-8")
    return text if suffix == ".md" else re.sub(r'(?m)^\s*;.*$|"(?:[^"\\\\]|\\\\.)*"', "", text)


def source(language: str, text: str) -> ParsedBlob:
    return parse_blob("0" * 40, language, text.encode())


@pytest.mark.parametrize("name", OURS)
def test_a_sample_is_read_as_a_person_checked(name: str) -> None:
    """The golden file has every symbol, reference, import and binding, with all that is stored of it."""
    blob = parse_sample(name)
    assert render(blob) == (HERE / "golden" / f"{name}.txt").read_text(encoding="utf-8")

    # Its pieces hold every line with text once.
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    held = [row for chunk in blob.chunks for row in range(chunk.start_line, chunk.end_line + 1)]
    assert len(held) == len(set(held))
    assert {row for row, line in enumerate(lines, start=1) if line.strip()} <= set(held)
    # Symbols lie within it, and most have documentation.
    assert blob.error is None
    assert all(1 <= s.start_line <= s.end_line <= blob.lines for s in blob.symbols)
    assert len({(s.qualname, s.kind, s.overload) for s in blob.symbols}) == len(blob.symbols)
    assert {s.kind for s in blob.symbols} <= set(SYMBOL_KINDS)
    assert all(s.qualname.endswith(s.name) for s in blob.symbols)
    assert blob.language == "markdown" or name == "script.fsx" or sum(bool(s.doc) for s in blob.symbols) >= 2


@pytest.mark.parametrize(
    "query", sorted((files("cm_tui.engine.code.parse") / "queries").iterdir(), key=str), ids=lambda one: one.name
)
def test_a_query_names_only_kinds_that_can_be_asked_for(query) -> None:
    if query.name.endswith(".scm"):
        assert set(re.findall(r"@def\.(\w+)", query.read_text(encoding="utf-8"))) <= set(SYMBOL_KINDS)


@pytest.mark.parametrize(
    "language", [language for language in LANGUAGES.values() if language.grammar], ids=lambda it: it.name
)
def test_every_query_fits_its_grammar_and_uses_known_words(language: Language) -> None:
    words = set(re.findall(r"@([\w.]+)", "\n".join(read_query(name) for name in language.queries)))
    vocabulary = set(re.findall(r"`@([\w.]+)`", read_query("README", ".md")))
    assert query_of(language).pattern_count > 0
    assert {w for w in words if not w.startswith(("_", "def."))} <= vocabulary


class TestRuby:
    def test_a_bare_name_is_a_call_unless_it_is_local(self) -> None:
        blob = source(
            "ruby", "def work(input)\n  result = prepare\n  cleanup\n  check if ready?\n  result\n  input\nend\n"
        )
        assert calls(blob, "work") == {"prepare", "cleanup", "check", "ready?"}


class TestBash:
    def test_functions_after_text_that_the_grammar_cannot_read(self) -> None:
        text = "first() {\n  [[ $1 =~ ^(\\$(\\{[!#]?)?)([A-Z]*)$ ]] && x=( ${#a[@]} \n}\n\n# Second one.\nsecond()\n{\n  third\n}\n\nthird() { :; }\n"
        blob = source("bash", text)
        spans = {s.name: (s.start_line, s.end_line) for s in blob.symbols if s.kind == "function"}
        assert spans["second"] == (6, 9)
        assert spans["third"] == (11, 11)
        assert symbol(blob, "second").doc == "Second one."


class TestElixir:
    def test_clauses_are_one_function_and_arities_are_not(self) -> None:
        text = (
            "defmodule A do\n  def f(0), do: 1\n  def f(n) when n > 0, do: f(n - 1)\n\n  def f(a, b), do: a + b\nend\n"
        )
        spans = [(s.qualname, s.overload, s.start_line, s.end_line) for s in source("elixir", text).symbols]
        assert spans == [("A", 0, 1, 6), ("A.f", 0, 2, 3), ("A.f", 1, 5, 5)]


class TestMarkdown:
    def test_marks_are_taken_off_names(self) -> None:
        blob = source("markdown", "# The `run` *command* [here](x.md)\n\n## Same\n\n## Same\n\n#\n\ntext\n")
        assert [(s.name, s.overload) for s in blob.symbols] == [("The run command here", 0), ("Same", 0), ("Same", 1)]

    def test_links_in_code_are_none(self) -> None:
        blob = source("markdown", '`[a](b.md)`\n\n```\n[c](d.md)\n```\n\n[e](f%20g.md "title") [h](#i) ![j](k.png)\n')
        assert [i.module for i in blob.imports] == ["f g.md"]

    def test_a_long_section_is_cut(self) -> None:
        blob = source("markdown", "# Long\n\n" + "Words that fill a paragraph.\n\n" * 400)
        assert len(blob.chunks) > 5
        assert all(chunk.end_line - chunk.start_line < 70 for chunk in blob.chunks)


class TestRazor:
    def test_a_block_that_never_closes_reaches_to_the_end(self) -> None:
        blob = source("razor", '<p>@x</p>\n@code {\n    void Go() { Run("}"); }\n')
        assert "Run" in calls(blob, "Go")


class TestVisualBasic:
    def test_lambdas_of_several_lines_do_not_close_their_function(self) -> None:
        text = "Class A\n Sub Run()\n  Dim f = Function(x)\n   Return x\n  End Function\n  Go()\n End Sub\n Sub Other()\n End Sub\nEnd Class\n"
        spans = {s.name: (s.start_line, s.end_line) for s in source("vbnet", text).symbols}
        assert spans == {"A": (1, 10), "Run": (2, 7), "Other": (8, 9)}
