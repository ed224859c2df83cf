"""What is read from each language: golden files for whole samples, and the quirks of each language one by one."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob, ParsedSymbol
from cm_tui.engine.code.parse.tree_query import query_of
from cm_tui.engine.code.scan.languages import LANGUAGES, Language, language_of
from cm_tui.model.code import SYMBOL_KINDS
from tests.tiers import examples

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "golden"))
from render import SAMPLES, parse_sample, render  # noqa: E402

OURS = [
    "Billing.fs", "Counter.razor", "Inventory.scala", "Ledger.vb", "Mailer.php", "Orders.kt", "Parser.hs", "Player.swift",
    "Accounts.java", "Catalog.cs", "board.tsx", "buffer.c", "orders.ts", "parser.rs", "player.js", "scene.cpp", "server.go",
    "warehouse.py", "Shapes3.scala", "basket.ex", "cart.dart", "deploy.sh", "guide.md", "ledger.rb", "ring.zig", "script.fsx", "session.lua",
]  # fmt: skip


@pytest.fixture(scope="module")
def parsed() -> dict[str, ParsedBlob]:
    return {name: parse_sample(name) for name in OURS}


def symbol(blob: ParsedBlob, qualname: str, kind: str | None = None) -> ParsedSymbol:
    return next(s for s in blob.symbols if s.qualname == qualname and kind in {None, s.kind})


def calls(blob: ParsedBlob, qualname: str) -> set[str]:
    return {
        f"{r.receiver}.{r.name}" if r.receiver else r.name
        for r in blob.references
        if r.kind == "call" and r.symbol is not None and blob.symbols[r.symbol].qualname == qualname
    }


def named(blob: ParsedBlob, kind: str) -> set[str]:
    return {r.name for r in blob.references if r.kind == kind}


def read_query(name: str, suffix: str = ".scm") -> str:
    text = files("cm_tui.engine.code.parse").joinpath("queries", name + suffix).read_text("utf-8")
    return text if suffix == ".md" else re.sub(r'(?m)^\s*;.*$|"(?:[^"\\\\]|\\\\.)*"', "", text)


def source(language: str, text: str) -> ParsedBlob:
    return parse_blob("0" * 40, language, text.encode())


@pytest.mark.parametrize("name", OURS)
def test_a_sample_is_read_as_a_person_checked(name: str, parsed: dict[str, ParsedBlob]) -> None:
    assert render(parsed[name]) == (HERE / "golden" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OURS)
def test_chunks_hold_every_line_with_text_once(name: str, parsed: dict[str, ParsedBlob]) -> None:
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    held = [row for chunk in parsed[name].chunks for row in range(chunk.start_line, chunk.end_line + 1)]
    assert len(held) == len(set(held))
    assert {row for row, line in enumerate(lines, start=1) if line.strip()} <= set(held)


@pytest.mark.parametrize(
    "query", sorted((files("cm_tui.engine.code.parse") / "queries").iterdir(), key=str), ids=lambda one: one.name
)
def test_a_query_names_only_kinds_that_can_be_asked_for(query) -> None:
    if query.name.endswith(".scm"):
        assert set(re.findall(r"@def\.(\w+)", query.read_text(encoding="utf-8"))) <= set(SYMBOL_KINDS)


@pytest.mark.parametrize("name", OURS)
def test_symbols_lie_within_their_file_and_most_have_documentation(name: str, parsed: dict[str, ParsedBlob]) -> None:
    blob = parsed[name]
    assert blob.error is None
    assert all(1 <= s.start_line <= s.end_line <= blob.lines for s in blob.symbols)
    assert len({(s.qualname, s.kind, s.overload) for s in blob.symbols}) == len(blob.symbols)
    assert {s.kind for s in blob.symbols} <= set(SYMBOL_KINDS)
    assert blob.language == "markdown" or name == "script.fsx" or sum(bool(s.doc) for s in blob.symbols) >= 2


@settings(max_examples=examples(40), deadline=None)
@example(name="script.fsx", at=0.84375, junk=b"\x01" * 6)
@given(name=st.sampled_from(OURS), at=st.floats(0, 1), junk=st.binary(max_size=12))
def test_damaged_files_never_fail(name: str, at: float, junk: bytes) -> None:
    data = (SAMPLES / name).read_bytes()
    cut = int(len(data) * at)
    broken = data[:cut] + junk + data[cut + len(junk) // 2 :]
    blob = parse_blob("0" * 40, language_of(name, data), broken)
    count = len(blob.symbols)
    assert all(s.parent is None or s.parent < count for s in blob.symbols)
    assert all(1 <= s.start_line <= s.end_line <= blob.lines for s in blob.symbols)
    assert all(r.symbol is None or r.symbol < count for r in blob.references)
    assert all(r.symbol is None or r.symbol < count for r in blob.imports)


@pytest.mark.parametrize(
    "language", [language for language in LANGUAGES.values() if language.parsed], ids=lambda it: it.name
)
def test_every_query_fits_its_grammar_and_uses_known_words(language: Language) -> None:
    words = set(re.findall(r"@([\w.]+)", "\n".join(read_query(name) for name in language.queries)))
    vocabulary = set(re.findall(r"`@([\w.]+)`", read_query("README", ".md")))
    assert query_of(language).pattern_count > 0
    assert {w for w in words if not w.startswith(("_", "def."))} <= vocabulary


class TestRuby:
    def test_nesting_and_qualified_names_join(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["ledger.rb"]
        assert symbol(blob, "Accounting.Report.Monthly").kind == "class"
        assert symbol(blob, "Accounting.Account.initialize").kind == "constructor"
        assert symbol(blob, "Accounting.Account.find_or_open").kind == "method"  # class << self
        assert {"Auditable", "Comparable", "Forwardable", "ApplicationRecord"} <= named(blob, "inherit")

    def test_attributes_and_macros_are_members(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["ledger.rb"]
        kinds = {s.name: s.kind for s in blob.symbols}
        assert kinds["owner"] == kinds["balance"] == kinds["postings"] == "property"
        assert kinds["active"] == kinds["deposit"] == "method"

    def test_a_bare_name_is_a_call_unless_it_is_local(self) -> None:
        blob = source(
            "ruby", "def work(input)\n  result = prepare\n  cleanup\n  check if ready?\n  result\n  input\nend\n"
        )
        assert calls(blob, "work") == {"prepare", "cleanup", "check", "ready?"}

    def test_new_calls_the_class(self, parsed: dict[str, ParsedBlob]) -> None:
        assert "AuditEntry" in calls(parsed["ledger.rb"], "Accounting.Auditable.audit")


class TestPhp:
    def test_constructor_parameters_are_injected_and_bound(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["Mailer.php"]
        assert named(blob, "inject") == {"Transport", "Logger", "Clock"}
        assert ("attr", "transport", "Transport") in {(b.kind, b.name, b.type) for b in blob.bindings}

    def test_group_imports_and_files(self, parsed: dict[str, ParsedBlob]) -> None:
        rows = {(i.module, i.name, i.alias) for i in parsed["Mailer.php"].imports}
        assert ("App\\Support", "Retry", "RetryPolicy") in rows
        assert ("./bootstrap.php", None, None) in rows

    def test_traits_count_as_bases(self, parsed: dict[str, ParsedBlob]) -> None:
        assert {"CountsAttempts", "Tappable", "MailerContract", "AbstractMailer"} <= named(
            parsed["Mailer.php"], "inherit"
        )


class TestKotlin:
    def test_defaults_and_vararg_beside_parameters(self, parsed: dict[str, ParsedBlob]) -> None:
        place = symbol(parsed["Orders.kt"], "OrderService.place")
        assert (place.min_args, place.max_args) == (1, None)
        assert (
            symbol(parsed["Orders.kt"], "OrderId.short").min_args,
            symbol(parsed["Orders.kt"], "OrderId.short").max_args,
        ) == (0, 1)

    def test_companion_members_belong_to_the_class(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["Orders.kt"], "OrderService.forTests").doc == "Makes a service for tests."

    def test_extensions_belong_to_their_receiver(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["Orders.kt"], "List.only").kind == "method"
        assert symbol(parsed["Orders.kt"], "Order.isEmpty").kind == "property"

    def test_primary_constructor_injects(self, parsed: dict[str, ParsedBlob]) -> None:
        assert {"Repository", "PaymentGateway", "Clock"} <= named(parsed["Orders.kt"], "inject")


class TestSwift:
    def test_extension_members_belong_to_the_type(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["Player.swift"]
        shuffle = symbol(blob, "Player.shuffle")
        assert blob.symbols[shuffle.parent or 0].qualname == "Player"
        assert symbol(blob, "Player.count").kind == "property"

    def test_kinds_of_types(self, parsed: dict[str, ParsedBlob]) -> None:
        kinds = {s.qualname: s.kind for s in parsed["Player.swift"].symbols}
        assert kinds["PlayerError"] == "enum"
        assert kinds["PlayerDelegate"] == "interface"
        assert kinds["Player.Position"] == "struct"
        assert kinds["SegmentCache"] == "class"

    def test_a_subscript_is_no_call(self, parsed: dict[str, ParsedBlob]) -> None:
        assert calls(parsed["Player.swift"], "Player.subscript") == set()


class TestScala:
    def test_imports_are_multiplied_out(self, parsed: dict[str, ParsedBlob]) -> None:
        rows = {(i.module, i.name, i.alias) for i in parsed["Inventory.scala"].imports}
        assert rows >= {
            ("scala.concurrent", "Future", "Async"), ("com.example.common", "*", None), ("java.util", "*", None),
        }  # fmt: skip
        assert not any(i.name == "List" for i in parsed["Inventory.scala"].imports)

    def test_only_the_first_parameter_list_counts(self, parsed: dict[str, ParsedBlob]) -> None:
        put = symbol(parsed["Inventory.scala"], "Shelf.put")
        assert (put.min_args, put.max_args) == (2, 2)
        assert symbol(parsed["Inventory.scala"], "Shelf.apply").max_args is None

    def test_scala_3(self, parsed: dict[str, ParsedBlob]) -> None:
        kinds = {s.qualname: s.kind for s in parsed["Shapes3.scala"].symbols}
        assert kinds["Color"] == "enum"
        assert kinds["Color.Green"] == "constant"
        assert kinds["Shape.describe"] == "method"
        assert kinds["Angle"] == "type"


class TestLua:
    def test_functions_of_tables_however_written(self, parsed: dict[str, ParsedBlob]) -> None:
        kinds = {s.qualname: s.kind for s in parsed["session.lua"].symbols}
        assert {"Session.new", "Session.expired", "M.open", "M.close", "M.handlers.retry", "M.sweep"} <= kinds.keys()
        assert kinds["M"] == "namespace"
        assert kinds["Session"] == "class"
        assert kinds["encode"] == "function"

    def test_required_modules_are_imports_and_no_variables(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["session.lua"]
        assert "cjson" not in {s.name for s in blob.symbols}
        assert [(i.module, i.name, i.alias) for i in blob.imports][:3] == [
            ("cjson.safe", None, "cjson"), ("session.store", None, "store"), ("lib.emitter", "Emitter", "Emitter"),
        ]  # fmt: skip

    def test_long_comments_are_documentation(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["session.lua"], "decode").doc.startswith("Reads a session from its text.")


class TestBash:
    def test_sourced_files(self, parsed: dict[str, ParsedBlob]) -> None:
        assert [i.module for i in parsed["deploy.sh"].imports] == [
            "./lib/log.sh",
            "./lib/retry.sh",
            "/etc/profile.d/deploy.sh",
        ]

    def test_calls_leave_out_what_the_shell_brings(self, parsed: dict[str, ParsedBlob]) -> None:
        assert calls(parsed["deploy.sh"], "main") == {"usage", "build_archive", "upload", "cleanup"}
        assert "log.error" in calls(parsed["deploy.sh"], "upload")

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

    def test_documentation_stands_before_specs(self, parsed: dict[str, ParsedBlob]) -> None:
        start = symbol(parsed["basket.ex"], "Shop.Basket.start_link")
        assert start.doc.startswith("Opens a basket.")
        assert calls(parsed["basket.ex"], "Shop.Basket.start_link") == {"GenServer.start_link", "via"}

    def test_a_pipe_gives_one_argument_more(self, parsed: dict[str, ParsedBlob]) -> None:
        arities = {r.name: r.arity for r in parsed["basket.ex"].references if r.kind == "call"}
        assert arities["put_line"] == 3
        assert arities["refresh"] == 1

    def test_implementations_belong_to_the_type(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["basket.ex"]
        assert symbol(blob, "Shop.Basket.print").parent == 0
        assert symbol(blob, "Shop.Printable").kind == "interface"


class TestDart:
    def test_bodies_beside_signatures_belong_to_them(self, parsed: dict[str, ParsedBlob]) -> None:
        add = symbol(parsed["cart.dart"], "Cart.add")
        assert (add.start_line, add.end_line) == (62, 69)
        assert calls(parsed["cart.dart"], "Cart.add") >= {"prices.priceOf", "CartLine", "_repository.save", "notify"}

    def test_constructors(self, parsed: dict[str, ParsedBlob]) -> None:
        kinds = {s.qualname for s in parsed["cart.dart"].symbols if s.kind == "constructor"}
        assert kinds >= {"Cart.Cart", "Cart.empty", "Cart.fromJson", "CartView.CartView"}

    def test_a_field_in_the_constructor_is_injected(self, parsed: dict[str, ParsedBlob]) -> None:
        assert {"PriceSource", "Repository", "Clock"} <= named(parsed["cart.dart"], "inject")

    def test_exports_are_passed_on(self, parsed: dict[str, ParsedBlob]) -> None:
        assert [(i.module, i.name) for i in parsed["cart.dart"].imports if i.reexport] == [
            ("./src/cart_view.dart", "*")
        ]

    def test_what_a_future_holds_is_the_type(self, parsed: dict[str, ParsedBlob]) -> None:
        assert ("return", "", "Money") in {(b.kind, b.name, b.type) for b in parsed["cart.dart"].bindings}


class TestZig:
    def test_a_function_that_gives_a_type_is_a_struct(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["ring.zig"]
        assert symbol(blob, "Ring").kind == "struct"
        push = symbol(blob, "Ring.push")
        assert (push.kind, push.min_args, push.max_args) == ("method", 1, 1)
        assert symbol(blob, "Ring.init").doc == "Makes a ring."

    def test_whole_receivers(self, parsed: dict[str, ParsedBlob]) -> None:
        assert "self.allocator.free" in calls(parsed["ring.zig"], "Ring.deinit")

    def test_tests_keep_their_sentence(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["ring.zig"], "a ring wraps around").kind == "function"


class TestHaskell:
    def test_signature_and_equations_are_one(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["Parser.hs"]
        factorial = symbol(blob, "factorial")
        assert (factorial.start_line, factorial.end_line) == (83, 85)
        assert factorial.signature == "factorial :: Int -> Int"
        assert sum(s.name == "factorial" for s in blob.symbols) == 1

    def test_instances_belong_to_the_type(self, parsed: dict[str, ParsedBlob]) -> None:
        assert {"Parser.fmap", "Settings.decode", "Parser.show"} <= {s.qualname for s in parsed["Parser.hs"].symbols}

    def test_local_names_are_no_calls(self, parsed: dict[str, ParsedBlob]) -> None:
        found = calls(parsed["Parser.hs"], "parseFile")
        assert {"readText", "strip", "runParser", "settings", "Map.map"} <= found
        assert not found & {"go", "acc", "n", "path", "limit", "text", "step", "trimmed"}

    def test_hidden_names_are_not_imported(self, parsed: dict[str, ParsedBlob]) -> None:
        rows = {(i.module, i.name) for i in parsed["Parser.hs"].imports}
        assert ("Config.Types", "*") in rows
        assert ("Config.Types", "Section") not in rows


class TestFSharp:
    def test_definitions_end_before_the_comment_of_the_next(self, parsed: dict[str, ParsedBlob]) -> None:
        payment = symbol(parsed["Billing.fs"], "Shop.Billing.Payment")
        assert (payment.kind, payment.start_line, payment.end_line) == ("enum", 8, 11)
        assert symbol(parsed["Billing.fs"], "Shop.Billing.CustomerId").kind == "type"

    def test_modules_nest(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["Billing.fs"], "Shop.Billing.Invoices.Format.short").kind == "function"
        assert symbol(parsed["Billing.fs"], "Shop.Billing.Invoices.MaxLines").kind == "constant"
        assert symbol(parsed["Billing.fs"], "Shop.Billing.Line.IsFree").kind == "property"  # type Line with

    def test_interfaces(self, parsed: dict[str, ParsedBlob]) -> None:
        assert symbol(parsed["Billing.fs"], "Shop.Billing.IInvoiceStore").kind == "interface"
        assert {"Document", "IDisposable"} <= named(parsed["Billing.fs"], "inherit")


class TestMarkdown:
    def test_sections_follow_levels_of_both_kinds(self, parsed: dict[str, ParsedBlob]) -> None:
        assert [(s.qualname, s.start_line, s.end_line) for s in parsed["guide.md"].symbols] == [
            ("Operating the shop", 9, 47),
            ("Operating the shop > Install", 13, 30),
            ("Operating the shop > Install > From source", 22, 30),
            ("Operating the shop > Run it daily", 32, 37),
            ("Operating the shop > Troubleshooting", 39, 47),
            ("Operating the shop > Troubleshooting > Install", 45, 47),
            ("Appendix", 49, 52),
        ]

    def test_links_to_files_are_imports(self, parsed: dict[str, ParsedBlob]) -> None:
        assert [(i.module, i.line) for i in parsed["guide.md"].imports] == [
            ("./install.md", 11), ("../src/build.py", 24), ("docs/reference.md", 52),
        ]  # fmt: skip

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
    def test_members_of_the_page_and_its_directives(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["Counter.razor"]
        lines = {s.qualname: (s.start_line, s.end_line) for s in blob.symbols}
        assert lines["OnInitializedAsync"] == (31, 36)
        assert symbol(blob, "Start").doc == "Where counting starts."
        assert named(blob, "inject") == {"ICartService", "NavigationManager"}
        assert named(blob, "inherit") == {"ShopComponent", "IDisposable"}
        assert {"PageTitle", "CartSummary"} <= named(blob, "type")
        assert not any("Razor" in s.qualname for s in blob.symbols)

    def test_a_block_that_never_closes_reaches_to_the_end(self) -> None:
        blob = source("razor", '<p>@x</p>\n@code {\n    void Go() { Run("}"); }\n')
        assert "Run" in calls(blob, "Go")


class TestVisualBasic:
    def test_blocks_and_members(self, parsed: dict[str, ParsedBlob]) -> None:
        blob = parsed["Ledger.vb"]
        spans = {s.qualname: (s.kind, s.start_line, s.end_line) for s in blob.symbols}
        assert spans["Shop.Accounts.Ledger"] == ("class", 20, 52)
        assert spans["Shop.Accounts.Ledger.New"] == ("constructor", 27, 29)
        assert spans["Shop.Accounts.Ledger.Name"] == ("property", 41, 41)
        assert spans["Shop.Accounts.Ledger.Size"] == ("property", 43, 47)
        assert spans["Shop.Accounts.Helpers.Format"] == ("function", 56, 58)
        assert named(blob, "inherit") == {"BookBase", "IBook"}

    def test_lambdas_of_several_lines_do_not_close_their_function(self) -> None:
        text = "Class A\n Sub Run()\n  Dim f = Function(x)\n   Return x\n  End Function\n  Go()\n End Sub\n Sub Other()\n End Sub\nEnd Class\n"
        spans = {s.name: (s.start_line, s.end_line) for s in source("vbnet", text).symbols}
        assert spans == {"A": (1, 10), "Run": (2, 7), "Other": (8, 9)}
