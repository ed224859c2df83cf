"""What the shared extractor promises for every language, and what it makes of Python, TypeScript, Go, Rust, Java, C++, C#."""

from __future__ import annotations

import gc
import pickle
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cm_tui.engine.code.parse.chunks import MAX_CHARS, MAX_LINES, TEXT_LINES
from cm_tui.engine.code.parse.normalise import (
    bound_types,
    clean_doc,
    multiply,
    receiver_text,
    type_names,
    without_annotations,
)
from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob, ParsedSymbol
from cm_tui.engine.code.scan.languages import LANGUAGES, language_of
from cm_tui.engine.platform.git.encodings import decode
from tests.tiers import examples

SAMPLES = Path(__file__).parent / "samples"
PARSED = sorted(language.name for language in LANGUAGES.values() if language.grammar)


def read(language: str, source: str | bytes) -> ParsedBlob:
    return parse_blob("0" * 40, language, source.encode() if isinstance(source, str) else source)


def symbol(blob: ParsedBlob, qualname: str, overload: int = 0) -> ParsedSymbol:
    return next(s for s in blob.symbols if s.qualname == qualname and s.overload == overload)


def references(blob: ParsedBlob, kind: str) -> list[tuple[str | None, str, int | None]]:
    return [(r.receiver, r.name, r.arity) for r in blob.references if r.kind == kind]


def within(blob: ParsedBlob, name: str) -> str | None:
    """Qualname of the symbol that the first reference to a name stands in."""
    row = next(r for r in blob.references if r.name == name)
    return None if row.symbol is None else blob.symbols[row.symbol].qualname


def bindings(blob: ParsedBlob, kind: str) -> set[tuple[str | None, str, str]]:
    return {
        (None if b.scope is None else blob.symbols[b.scope].qualname, b.name, b.type)
        for b in blob.bindings
        if b.kind == kind
    }


def assert_whole(blob: ParsedBlob, data: bytes) -> None:
    """Chunks hold every line with text exactly once; rows point at what exists; ranges nest."""
    lines = decode(data).text.split("\n")
    held = [row for c in blob.chunks for row in range(c.start_line, c.end_line + 1)]
    assert len(held) == len(set(held))
    assert {row for row, line in enumerate(lines, 1) if line.strip()} <= set(held)
    count = len(blob.symbols)
    for s in blob.symbols:
        assert 1 <= s.start_line <= s.end_line <= blob.lines
        assert s.parent is None or 0 <= s.parent < count
    for row in [*blob.references, *blob.imports, *blob.chunks]:
        assert row.symbol is None or 0 <= row.symbol < count
    assert all(b.scope is None or 0 <= b.scope < count for b in blob.bindings)


class TestAnyContent:
    @settings(max_examples=examples(120), deadline=None)
    @given(language=st.sampled_from([*PARSED, "text", "json", "vbnet"]), data=st.binary(max_size=400))
    def test_any_bytes_are_read(self, language: str, data: bytes) -> None:
        blob = read(language, data)
        assert blob.bytes == len(data)
        assert_whole(blob, data)

    @settings(max_examples=examples(60), deadline=None)
    @example(name="script.fsx", at=0.84375, junk=b"\x01" * 6, drop=3)
    @given(
        name=st.sampled_from(sorted(p.name for p in SAMPLES.iterdir())), at=st.floats(0, 1), junk=st.binary(max_size=12),
        drop=st.integers(0, 200),
    )  # fmt: skip
    def test_torn_and_damaged_files_are_read(self, name: str, at: float, junk: bytes, drop: int) -> None:
        data = (SAMPLES / name).read_bytes()
        cut = int(len(data) * at)
        torn = data[:cut] + junk + data[cut + drop :]
        assert_whole(read(language_of(name, torn), torn), torn)

    @pytest.mark.parametrize("name", sorted(p.name for p in SAMPLES.iterdir()))
    def test_the_same_bytes_give_the_same_rows_across_a_pipe(self, name: str) -> None:
        data = (SAMPLES / name).read_bytes()
        language = language_of(name, data)
        first = read(language, data)
        assert pickle.loads(pickle.dumps(read(language, data))) == first
        # Line ends of Windows change no line.
        plain, windows = first, read(language, data.replace(b"\n", b"\r\n"))
        assert [(s.qualname, s.kind, s.start_line, s.end_line) for s in plain.symbols] == [
            (s.qualname, s.kind, s.start_line, s.end_line) for s in windows.symbols
        ]
        assert [(r.name, r.line) for r in plain.references] == [(r.name, r.line) for r in windows.references]

    @pytest.mark.parametrize("language", ["python", "typescript", "rust", "java", "cpp"])
    def test_absurd_nesting_is_cut_by_lines_and_said(self, language: str) -> None:
        data = b"f(" * 30_000 + b"1" + b")" * 30_000
        blob = read(language, data)
        assert blob.error == "nested too deeply"
        assert blob.symbols == []
        assert_whole(blob, data)

    def test_a_small_file_in_which_a_grammar_is_lost_is_cut_by_lines_in_seconds(self) -> None:
        data = (SAMPLES / "Billing.fs").read_bytes()
        torn = data[:1092] + data[1112:]
        began = time.thread_time()
        blob = read("fsharp", torn)
        assert blob.error == "parsing took too long"
        assert time.thread_time() - began < 60, "it takes minutes where nothing ends it"
        assert_whole(blob, torn)

    def test_a_long_chain_costs_little_and_keeps_its_calls(self) -> None:
        blob = read("python", "x" + ".a(1)" * 1500)
        assert len(references(blob, "call")) == 1500
        assert all(len(receiver or "") <= 161 for receiver, _, _ in references(blob, "call"))

    def test_invalid_bytes_move_no_line(self) -> None:
        blob = read("python", b"# \xff\xfe\nname = '\xe9'\n\ndef after():\n    call('\xff')\n")
        assert symbol(blob, "after").start_line == 4
        assert [r.line for r in blob.references if r.name == "call"] == [5]

    def test_a_syntax_error_keeps_the_rest(self) -> None:
        blob = read("python", "def one():\n    return 1\n\ndef (broken:\n\nclass Two:\n    def three(self): ...\n")
        assert {"one", "Two"} <= {s.qualname for s in blob.symbols}

    @pytest.mark.parametrize(
        "head", ["# @generated by make", "// Code generated by protoc-gen-go. DO NOT EDIT.", "/* This file is auto-generated, do not edit */",
                 "# This file was automatically generated by SWIG. Do not modify it.",
                 "//  This file is an amalgamation of multiple different files.", "/// Json amalgamated source (http://example.org)."]
    )  # fmt: skip
    def test_generated_files_say_so(self, head: str) -> None:
        assert read("python", f"{head}\nx = 1\n").generated

    def test_talk_of_generating_and_late_marks_do_not_count(self) -> None:
        assert not read("python", '"""Generates reports from a database."""\nx = 1\n').generated
        assert not read("python", "x = 1\n" * 500 + "# @generated\n").generated
        assert not read("python", '"""Tests of the amalgamation."""\nx = 1\n').generated

    def test_minified_files_count_as_generated(self) -> None:
        assert read("javascript", "var a=1;" * 2000).generated


class TestLanguageOf:
    @pytest.mark.parametrize(
        ("path", "head", "language"),
        [
            ("a/b.py", b"", "python"), ("A.PY", b"", "python"), ("x.d.ts", b"", "typescript"), ("x.tsx", b"", "tsx"),
            ("x.jsx", b"", "javascript"), ("Rakefile", b"", "ruby"), ("lib/Dockerfile", b"", "dockerfile"),
            ("run", b"#!/usr/bin/env python3\n", "python"), ("run", b"#!/bin/bash -e\n", "bash"),
            ("run", b"#!/usr/bin/env -S node --x\n", "javascript"), ("run", b"#!/usr/bin/python3.11\n", "python"),
            ("run", b"", "text"), ("a.unknown", b"", "text"), (".gitignore", b"", "text"),
            ("a.h", b"int f(void);\n", "c"), ("a.h", b"#pragma once\nnamespace a {\n", "cpp"), ("page.cshtml", b"", "razor"),
        ],
    )  # fmt: skip
    def test_names_and_first_lines(self, path: str, head: bytes, language: str) -> None:
        assert language_of(path, head) == language

    def test_no_name_belongs_to_two_languages(self) -> None:
        extensions = [e for language in LANGUAGES.values() for e in language.extensions]
        assert len(extensions) == len(set(extensions))


class TestChunks:
    def test_a_small_class_is_one_piece_a_large_one_is_header_and_methods(self) -> None:
        method = "    def m{}(self):\n" + "        call()\n" * 12 + "\n"
        small = read("python", "class A:\n    '''Doc.'''\n\n" + method.format(1))
        large = read("python", "class A:\n    '''Doc.'''\n\n" + "".join(method.format(i) for i in range(9)))
        assert len(small.chunks) == 1
        owners = [c.symbol is not None and large.symbols[c.symbol].qualname for c in large.chunks]
        assert owners == ["A", *(f"A.m{i}" for i in range(9))]

    def test_documentation_above_belongs_to_its_symbol(self) -> None:
        body = "".join(f"  call{i}();\n" for i in range(9))
        blob = read("javascript", f"import a from 'a';\n\n// What it is.\nfunction f() {{\n{body}}}\n")
        assert [(c.start_line, c.end_line) for c in blob.chunks] == [(1, 1), (3, 14)]

    def test_long_bodies_are_split_within_the_bounds(self) -> None:
        body = "".join(
            f"    value_{i} = compute(first, second, {i})\n" + ("\n" if i % 9 == 8 else "") for i in range(300)
        )
        source = f"def long():\n{body}"
        blob = read("python", source)
        lines = source.split("\n")
        assert len(blob.chunks) > 4
        for c in blob.chunks:
            assert c.end_line - c.start_line < MAX_LINES
            assert sum(len(line) + 1 for line in lines[c.start_line - 1 : c.end_line]) <= MAX_CHARS
        assert {blob.symbols[c.symbol].name for c in blob.chunks if c.symbol is not None} == {"long"}

    def test_tiny_neighbours_share_a_piece_that_names_none_of_them(self) -> None:
        blob = read("python", "A = 1\nB = 2\nC = 3\n")
        assert [(c.symbol, c.start_line, c.end_line) for c in blob.chunks] == [(None, 1, 3)]

    def test_text_is_cut_by_lines(self) -> None:
        blob = read("text", "word\n" * 120)
        assert [(c.start_line, c.end_line) for c in blob.chunks] == [(1, TEXT_LINES), (TEXT_LINES + 1, 100), (101, 120)]

    def test_blank_files_have_no_pieces(self) -> None:
        assert read("python", "\n \n\n").chunks == []
        assert read("text", b"").chunks == []


class TestPython:
    def test_overloads_are_numbered_and_range_over_their_decorators(self) -> None:
        source = "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...\n"
        blob = read("python", source)
        assert [(s.overload, s.start_line, s.end_line) for s in blob.symbols] == [(0, 1, 2), (1, 3, 4), (2, 5, 5)]

    def test_a_decorator_is_used_by_what_it_decorates(self) -> None:
        blob = read("python", "@route('/x', name=y())\nasync def page(): ...\n")
        assert references(blob, "decorate") == [(None, "route", 2)]
        assert (within(blob, "route"), within(blob, "y")) == ("page", "page")

    def test_calls_know_receiver_count_and_line(self) -> None:
        blob = read("python", 'a.b(x)[0].c(\n    *args\n)\n"".join(i for i in x)\nself.f(1, k=2)\n')
        assert references(blob, "call") == [("a", "b", 1), ("a.b()[]", "c", None), ('""', "join", 1), ("self", "f", 2)]
        assert [r.line for r in blob.references] == [1, 1, 4, 5]

    def test_annotations_are_type_uses_strings_and_unions_too(self) -> None:
        blob = read("python", "def f(a: 'list[m.A]', b: B | None = None) -> Literal['no']: ...\n")
        assert references(blob, "type") == [("m", "A", None), (None, "B", None)]

    def test_imports_of_every_form(self) -> None:
        blob = read("python", "import a.b as c, d\nfrom . import e as f\nfrom ..g import (h,\n  i)\nfrom j import *\n")
        assert [(i.module, i.name, i.alias, i.line) for i in blob.imports] == [
            ("a.b", None, "c", 1), ("d", None, None, 1), (".", "e", "f", 2), ("..g", "h", None, 3), ("..g", "i", None, 4),
            ("j", "*", None, 5),
        ]  # fmt: skip

    def test_an_attribute_takes_the_type_of_the_parameter_it_is_given(self) -> None:
        source = "class A:\n    def __init__(self, repo: Repo, x=None):\n        self.repo = repo\n        self.x = x or Thing()\n"
        assert bindings(read("python", source), "attr") == {
            ("A", "repo", "Repo"),
            ("A", "x", "call:Thing"),
            ("A", "x", "alias:x"),
        }

    def test_locals_are_no_symbols(self) -> None:
        blob = read("python", "def f():\n    local = 1\n    LOUD = 2\n    class C:\n        field = 3\n")
        assert [s.qualname for s in blob.symbols] == ["f", "f.C", "f.C.field"]


class TestOthers:
    def test_angular_and_constructor_injection(self) -> None:
        source = "class A { private http = inject(Http); constructor(private repo: Repo<X>, log?: Log) {} }"
        blob = read("typescript", source)
        assert references(blob, "inject") == [(None, "Http", None), (None, "Repo", None), (None, "Log", None)]
        assert {("A", "http", "Http"), ("A", "repo", "Repo")} <= bindings(blob, "attr")

    @pytest.mark.parametrize("language", ["typescript", "javascript"])
    def test_functions_in_all_their_clothes(self, language: str) -> None:
        blob = read(
            language,
            "const a = () => 1;\nclass B { c = async (x, y = 1) => x; }\nconst o = { d() {}, e: () => 2 };\n"
            "exports.f = function (z) {};\nB.prototype.g = function () {};\nfunction h() { const i = 1; }\n",
        )
        kinds = {s.qualname: s.kind for s in blob.symbols}
        assert kinds == {
            "a": "function", "B": "class", "B.c": "method", "o": "constant", "o.d": "method", "o.e": "method", "f": "function",
            "B.g": "method", "h": "function",
        }  # fmt: skip
        assert (symbol(blob, "B.c").min_args, symbol(blob, "B.c").max_args) == (1, 2)

    def test_reexports_and_requires(self) -> None:
        blob = read("typescript", "export { a as b } from './x';\nexport * from './y';\nimport z, * as w from 'w';\n")
        rows = [(i.module, i.name, i.alias, i.reexport) for i in blob.imports]
        assert ("./x", "a", "b", True) in rows
        assert ("./y", "*", None, True) in rows
        assert {("w", "default", "z", False), ("w", None, "w", False)} <= set(rows)

    def test_methods_outside_of_their_type_belong_to_it(self) -> None:
        go = read("go", "package p\ntype S struct{}\nfunc (s *S) Do(a, b int, c ...string) {}\n")
        rust = read("rust", "struct S;\nimpl Show for m::S { fn go(&self, x: u8) -> Self { self } }\n")
        cpp = read("cpp", "struct S { void go(int); };\nvoid S::go(int a) {}\nS::S() {}\n")
        assert symbol(go, "S.Do").kind == symbol(cpp, "S.go").kind == "method"
        assert go.symbols[symbol(go, "S.Do").parent or 0].name == "S"
        assert (symbol(go, "S.Do").min_args, symbol(go, "S.Do").max_args) == (2, None)
        assert symbol(rust, "m.S.go").min_args == 1
        assert symbol(cpp, "S.S").kind == "constructor"

    def test_a_grouped_declaration_gives_names_beside_each_other(self) -> None:
        blob = read("go", "package p\ntype S struct { a, b *T }\n")
        assert [s.qualname for s in blob.symbols] == ["S", "S.a", "S.b"]
        assert bindings(blob, "attr") == {("S", "a", "T"), ("S", "b", "T")}

    def test_functions_inside_macros_are_found(self) -> None:
        blob = read(
            "rust", "cfg_rt! {\n    pub async fn spawn(\n        n: u8,\n    ) -> A {\n        go(n)\n    }\n}\n"
        )
        assert (symbol(blob, "spawn").start_line, symbol(blob, "spawn").end_line) == (2, 6)
        assert within(blob, "go") == "spawn"

    def test_signatures_leave_annotations_out_and_references_keep_them(self) -> None:
        java = read("java", 'class A {\n  @Get("/(x)")\n  @Nullable public B find(@Id int id) { return null; }\n}\n')
        assert symbol(java, "A.find").signature == "public B find(@Id int id)"
        assert symbol(java, "A.find").start_line == 2
        assert {name for _, name, _ in references(java, "decorate")} == {"Get", "Nullable", "Id"}

    def test_a_dotted_type_is_one_reference(self) -> None:
        for language, source in (
            ("go", "package p\nvar x db.Row\n"),
            ("typescript", "let x: db.Row;"),
            ("cpp", "db::Row *x;"),
        ):
            rows = references(read(language, source), "type")
            assert rows == [("db", "Row", None)], language

    def test_extension_methods_take_one_argument_less(self) -> None:
        blob = read("csharp", "static class E { static int F(this A a, int b, params int[] c) => 1; }")
        assert (symbol(blob, "E.F").min_args, symbol(blob, "E.F").max_args) == (1, None)

    def test_void_takes_nothing(self) -> None:
        assert symbol(read("c", "int f(void) { return 1; }\n"), "f").max_args == 0


class TestText:
    @pytest.mark.parametrize(
        ("written", "names"),
        [
            ("Foo", ["Foo"]), ("Optional['a.B']", ["a.B"]), ("Union[A, B, None]", ["A", "B"]), ("A | None", ["A"]),
            ("list[A]", []), (": Foo[]", []), ("dict[str, A]", []), ("ClassVar[Final[A]]", ["A"]), ("Foo<Bar>", ["Foo"]),
        ],
    )  # fmt: skip
    def test_types_are_reduced_to_names(self, written: str, names: list[str]) -> None:
        python = LANGUAGES["python"]
        assert bound_types(written, python.transparent, python.builtin) == names

    def test_pointers_and_boxes_are_what_they_hold(self) -> None:
        rust = LANGUAGES["rust"]
        assert bound_types("&'a mut Box<dyn io::Read>", rust.transparent, rust.builtin) == ["io.Read"]
        assert bound_types("*pkg.Row", frozenset(), frozenset()) == ["pkg.Row"]

    @pytest.mark.parametrize(
        ("written", "short"),
        [
            ("a.b", "a.b"), ("a.f(x, 'y)').g[0]", "a.f().g[]"), ("a\n  .b()\n  .c", "a.b().c"), ("A::b->c", "A.b.c"),
            ('"text".x', '"".x'), ("x?.y!", "x.y!"), ("T::<U<V>>::new(1)", "T.new()"),
        ],
    )  # fmt: skip
    def test_receivers_leave_arguments_out(self, written: str, short: str) -> None:
        assert receiver_text(written) == short

    def test_imports_multiply_out(self) -> None:
        assert multiply("a::{b, c::{self, d as e}, f::*}") == [
            ("a", "b", None), ("a", "c", None), ("a::c", "d", "e"), ("a::f", "*", None),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("comment", "doc"),
        [
            ("/**\n * One.\n *\n * - two\n */", "One.\n\n- two"), ("// a\n// b", "a\nb"), ("# a", "a"), ('r"""A.\n    B.\n    """', "A.\nB."),
            ("/// <summary>Sum.</summary>", "Sum."), ("-- a", "a"), ("/* a */", "a"),
        ],
    )  # fmt: skip
    def test_comments_become_plain_text(self, comment: str, doc: str) -> None:
        assert clean_doc(comment) == doc

    def test_names_in_types(self) -> None:
        assert type_names("dict[str, a.B] | Literal['x']", LANGUAGES["python"].builtin) == [("B", "a")]

    def test_only_leading_annotations_go(self) -> None:
        assert without_annotations("@A(b = @C(1)) @D public @E int f()") == "public @E int f()"
        assert without_annotations('[Get("x")] [B] public int F()') == "public int F()"
        assert without_annotations("@interface A") == "@interface A"
        assert without_annotations("[Symbol.iterator]()") == "[Symbol.iterator]()"


def test_threads_that_parse_at_the_same_time_do_not_share_a_parser():
    code = Path(__file__).read_text(encoding="utf-8")
    sources = [f"A = {number}\n{code}" for number in range(12)]
    alone = [read("python", source) for source in sources]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(partial(read, "python"), sources)) == alone
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_nothing_of_a_parsed_file_stays_in_memory(language: str):
    source = (b"#define A 1\nint f() { g(1); }\n" if language == "cpp" else b"def f():\n    g(1)\n") * 500
    tracemalloc.start()
    try:
        read(language, source)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(4):
            read(language, source)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < len(source)
