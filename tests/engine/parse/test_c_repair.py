"""C and C++ behind macros: what a preprocessor would make of them is found, nothing is invented, and it takes no longer."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.code.parse.c_heads import read_heads
from cm_tui.engine.code.parse.c_structure import blank, read_structure
from cm_tui.engine.code.parse.parse_blob import parse_blob, without_plain_macros
from cm_tui.engine.code.parse.records import ParsedBlob
from tests.tiers import examples


def read(language: str, text: str) -> ParsedBlob:
    return parse_blob("0" * 40, language, text.encode())


def names(blob: ParsedBlob) -> set[str]:
    return {symbol.qualname for symbol in blob.symbols}


CASES = [
    ("c", "EXPORT int f(void);\nEXPORT box_t* g(box_t* a) { return h(a); }\n", {"f", "g"}),
    ("c", "extern LIB_API box_t * CALLTYPE f(box_t *a);\nint g(void) { return 1; }\n", {"f", "g"}),
    ("c", "struct loop {\n  void* data;\n  LOOP_FIELDS\n};\nstruct handle {\n  HANDLE_FIELDS\n};\n", {"loop", "handle"}),
    ("c", "#define FIELDS \\\n  /* public */ \\\n  void* a; \\\n  /* private,\\\n   really */ \\\n  MORE \\\n\nstruct box {\n  FIELDS\n};\n", {"box"}),
    ("c", "enum {\n#define X(a) A_##a,\n  ALL(X)\n#undef X\n  A_MAX\n};\ntypedef enum {\n  ONE,\n  TWO SINCE_2\n} kind;\nint f(void);\n", {"kind", "f"}),
    ("c", "TEST_IMPL(opens) {\n  int r = 0;\n  return check(r);\n}\nTEST_2(opens, again) {\n  return 1;\n}\n", {"TEST_IMPL", "TEST_2"}),
    ("c", "EXPORTED(void init(struct heap* heap)) {\n  heap->min = 0;\n}\n", {"init"}),
    ("c", "int main(argc, argv)\n  int argc;\n  char **argv;\n{\n  return 0;\n}\nSTATIC int g(void) { return 1; }\n", {"main", "g"}),
    ("c", "int f(int a) {\n#if A\n  if (a) {\n#else\n  if (b()) {\n#endif\n    return 1;\n  }\n  return 0;\n}\nint g(void) { return 2; }\n", {"f", "g"}),
    ("c", "#if A\nstatic int f(int a)\n#else\nint f(int a, int b)\n#endif\n{\n  return a;\n}\nint g(void) { return 2; }\n", {"f", "g"}),
    ("c", '#ifdef __cplusplus\nextern "C" {\n#endif\nAPI int f(void);\n#ifdef __cplusplus\n}\n#endif\n', {"f"}),
    ("cpp", "template <> struct formatter<a::b> : base { int go() { return 1; } };\n", {"formatter", "formatter.go"}),
    ("cpp", "template <typename T> class Box {};\ntemplate <> class Box<int> { void f(); };\n", {"Box", "Box.f"}),
    ("cpp", "template <typename T>\nclass LIB_EXPORT Foo : public Bar<T> {\n public:\n  void f() {}\n};\nstruct API pipe {\n  int a;\n};\n", {"Foo", "Foo.f", "pipe"}),
    ("cpp", "LIB_OPEN\nnamespace detail {\nLIB_CONSTEXPR LIB_INLINE auto f(int x) -> int { return x; }\n}\nLIB_CLOSE\n", {"detail", "detail.f"}),
    ("cpp", "class Lock {\n public:\n  explicit Lock(Mutex& mu) ACQUIRES_LOCK(mu) : mu_(mu) {}\n  void unlock() RELEASES_LOCK(mu_) { go(); }\n  T* get() noexcept LIFETIME_BOUND { return p; }\n  int left GUARDED_BY(mu_);\n};\n", {"Lock", "Lock.Lock", "Lock.unlock", "Lock.get"}),
    ("cpp", "struct A {\n  explicit operator bool() const { return true; }\n  T* operator->() const { return p; }\n  bool operator==(A o) { return 1; }\n};\n", {"A.operator bool", "A.operator->", "A.operator=="}),
    ("cpp", 'TEST_CASE("opens a door", "[door]") {\n  CHECK(open());\n}\nint after() { return 1; }\n', {"TEST_CASE", "after"}),
    ("cpp", 'DEFINE_FLAG(int, level, 3, "how much");\nint f(T* absl_nonnull a, int b) { return g(a); }\n', {"f"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "wanted"), CASES, ids=[text[:30] for _, text, _ in CASES])
def test_definitions_behind_macros_are_found(language: str, text: str, wanted: set[str]) -> None:
    blob = read(language, text)
    assert wanted <= names(blob)
    assert blob.error is None


def test_lines_and_signatures_are_those_of_the_text() -> None:
    text = "struct loop {\n  LOOP_FIELDS\n};\n\nLIB_API int CALLTYPE\nadd(int a, int b) {\n  return sum(a, b);\n}\nEXPORT int f(void) SINCE(3);\n"
    blob = read("c", text)
    found = {symbol.name: symbol for symbol in blob.symbols}
    assert (found["loop"].start_line, found["loop"].end_line) == (1, 3)
    assert found["add"].end_line == 8
    assert found["f"].signature == "EXPORT int f(void) SINCE(3)"
    assert [(call.name, call.line) for call in blob.references if call.kind == "call"] == [("sum", 7)]


def test_nothing_is_invented() -> None:
    """Calls, keywords and variables stay what they are, broken as the text around them may be."""
    text = (
        "LIB_API int f(int a) {\n  Lock lock(mutex);\n  FOR_EACH(door, doors) { stop(); }\n  if (a) { return g(); }\n}\n"
        'FLAG(int, level, 1, "x");\nstatic const int table[] = { ONE(1), TWO(2) };\n'
    )  # fmt: skip
    kinds = {symbol.qualname: symbol.kind for symbol in read("cpp", text).symbols}
    assert {name for name, kind in kinds.items() if kind not in {"variable", "constant", "field"}} == {"f"}


def test_a_member_whose_name_is_a_call_keeps_its_name() -> None:
    text = "struct A {\n  result_type(min)() const { return 1; }\n};\nvoid EXPORTED(go)(int a) { stop(a); }\n"
    assert {"A.min", "go"} <= names(read("cpp", text))


@pytest.mark.parametrize(
    ("language", "text", "line", "name"),
    [
        ("cpp", "int a;\nMAKE_CLASS(Foo) : public Bar<Foo {\n  int x;\n};\nint f() { return 1; }\n", 2, "MAKE_CLASS"),
        (
            "javascript",
            "// @flow\nconst a = 1;\nexport class Queue {\n  parse: Object;\n  +ready: ?Push<<T>;\n  run() { }\n}\n",
            3,
            "Queue",
        ),
        (
            "kotlin",
            "package a\n\n@On(all = [])\n// a comment\n@Off\ninternal class Settings {\n  fun go(): Int = 1\n}\n",
            6,
            "Settings",
        ),
    ],
)
def test_what_an_error_swallowed_is_named_with_its_line(language: str, text: str, line: int, name: str) -> None:
    blob = read(language, text)
    assert name not in {symbol.name for symbol in blob.symbols}
    assert blob.error is not None
    assert f"line {line} (" in blob.error
    assert name in blob.error


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(:\n  pass\n\nclass A:\n  def g(self): pass\n"),
        ("python", 'text = """\nclass NotOne:\n"""\nx = = 1\n'),
        ("c", "int f(void) {\n  int a = = 1;\n  CALL(struct x, 3)\n  return g(a);\n}\n"),
        ("kotlin", "expect class Platform() {\n  val name: String\n}\nactual fun go(): Int = 1\n"),
        ("go", "package a\n\nfunc f() {\n\tx := = 1\n}\n"),
    ],
)
def test_an_error_that_swallowed_nothing_is_not_listed(language: str, text: str) -> None:
    assert read(language, text).error is None


HOSTILE = [
    "#if A\n{\n" * 3_000,
    "(" * 1_000 + "FOO BAR " * 20_000,
    "a<" * 40_000,
    "FOO(" * 1_200 + "\n",
    "/*" * 60_000,
    'R"x(' * 30_000,
    "#define A /* x\\\n" * 8_000,
    "CAPS int f(MACRO(x y), z) CAPS " * 4_000 + "{",
    "template <" * 1_000 + "CAPS struct A {" * 400,
    "class A : B<(" * 900,
    "operator" * 20_000,
    "\n#endif {" * 20_000,
    "enum { A_B C_D\n" * 900 + "}" * 900,
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:12] for text in HOSTILE])
@pytest.mark.deep
def test_twice_the_text_takes_about_twice_the_time(text: str) -> None:
    """The passes over the text are linear: nothing here is what the grammar itself takes."""

    def seconds(data: bytes) -> float:
        begun = time.process_time()
        plain = without_plain_macros(data)
        structure = read_structure(plain)
        list(read_heads(blank(plain, structure.variants), structure.closing))
        return time.process_time() - begun

    data = text.encode()
    seconds(data[:1000])
    small = min(seconds(data) for _ in range(2))
    assert seconds(data * 4) < 16 * small + 2.0  # quadratic in what is four times as much: sixteen times


PIECES = st.sampled_from(
    ["#if A\n", "#else\n", "#endif\n", "{", "}", "(", ")", ";", "struct ", "class ", "enum ", "template <", ">", "FOO ", "BAR(x) ",
     "int ", "f", "::", "operator", '"', "'", "/*", "*/", "//", "\n", "\\\n", "#define X ", "=", ":", ",", "é", "~", 'R"(', "[", "]"]
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_any_text_is_read_and_keeps_its_length(text: str) -> None:
    data = text.encode()
    plain = without_plain_macros(data)
    structure = read_structure(plain)
    spared = blank(plain, structure.variants)
    assert len(spared) == len(data)
    assert [at for at, byte in enumerate(spared) if byte == 10] == [at for at, byte in enumerate(data) if byte == 10]
    assert all(spared[start] in b"([{" and start < end for start, end in structure.closing.items())
    for language in ("c", "cpp"):
        blob = parse_blob("0" * 40, language, data)
        assert all(1 <= symbol.start_line <= symbol.end_line <= blob.lines for symbol in blob.symbols)
