"""What the graph does not claim: calls on objects whose type is not known, qualified names that lead elsewhere."""

import pytest

from cm_tui.model import SymbolKey


def test_a_call_on_a_string_is_not_the_projects_own_method(project):
    files = {
        "a/Reader.java": "package a;\nclass Reader {\n  char charAt(int i) { return 'x'; }\n}\n",
        "a/Use.java": """
            package a;
            class Use {
              char known(Reader reader) { return reader.charAt(0); }
              char text(String text) { return text.charAt(0); }
              char unknown(java.util.List<Reader> all) { return all.stream().findFirst().orElseThrow().charAt(1); }
              char lambda() { return pick(r -> r.charAt(2)); }
            }
            """,
    }
    graph = project(files).graph
    page = graph.callers("charAt")
    assert [(edge.line, edge.resolution) for edge in page.rows] == [(3, "receiver"), (5, "ambiguous"), (6, "ambiguous")]
    assert [[key.qualname for key in edge.candidates] for edge in page.rows[1:]] == [["Reader.charAt"]] * 2
    outside = [edge for edge in graph.callees("Use.text").rows if edge.kind == ""]
    assert [edge.resolution for edge in outside] == ["external"]


def test_names_of_the_standard_library_are_not_the_projects_own(project):
    graph = project(
        {
            "include/fmt/format.h": """
                namespace fmt {
                int fprintf(FILE* f, const char* text);
                struct point_formatter {
                  int format(const point& p, context& c) const { return 0; }
                };
                int format(const char* text, int value);
                }
                """,
            "src/use.cc": """
                #include "fmt/format.h"
                void ours() { fmt::fprintf(stderr, "x"); }
                void theirs() { std::fprintf(stderr, "x"); }
                void text() { fmt::format("{}", 1); }
                void object(point_formatter& f) { f.format(p, c); }
                void member(unknown& f) { f.format(p, c); }
                """,
        }
    ).graph

    def called(name: str) -> list[tuple[int, str]]:
        return [(edge.line, edge.resolution) for edge in graph.callers(name).rows]

    assert called("fprintf") == [(2, "scope")]
    free = SymbolKey("include/fmt/format.h", "fmt.format", "function")
    member = SymbolKey("include/fmt/format.h", "fmt.point_formatter.format", "method")
    assert [line for line, word in called(free) if word != "ambiguous"] == [4]
    assert [line for line, word in called(member) if word != "ambiguous"] == []


def test_a_path_that_leads_elsewhere_is_no_guess(project):
    graph = project(
        {
            "Cargo.toml": '[package]\nname = "shop"\n',
            "src/lib.rs": "pub mod out;\n",
            "src/out.rs": """
                use std::fmt;
                pub struct Sink;
                impl Sink {
                    pub fn write_str(&mut self, text: &str) {}
                    pub fn made() -> Self { Sink }
                    pub fn twice(self) -> Self { self }
                    pub fn done(self) {}
                }
                fn a(f: &mut fmt::Formatter<'_>) { fmt::Formatter::write_str(f, "x"); }
                fn b(sink: &mut Sink) { Sink::write_str(sink, "x"); sink.write_str("y"); }
                fn c(other: impl Trait) { other.write_str("z"); }
                fn d() { Sink::made().twice().twice().done(); }
                fn e(sink: &mut Sink) { sink.write_str("a", "b"); }
                """,
        }
    ).graph
    found = [(edge.qualname, edge.resolution) for edge in graph.callers("Sink.write_str").rows]
    assert found == [("b", "same-file"), ("b", "receiver"), ("c", "ambiguous"), ("e", "ambiguous")]
    assert [edge.qualname for edge in graph.callers("Sink.done").rows if edge.resolution == "receiver"] == ["d"]


def test_classes_of_one_package_see_each_other_whatever_their_folders(project):
    graph = project(
        {
            "src/main/java/a/Text.java": "package a;\npublic class Text {\n  public static int sizeOf(String s) { return 0; }\n}\n",
            "src/test/java/a/TextTest.java": "package a;\nclass TextTest {\n  void t() { Text.sizeOf(null); }\n}\n",
            "src/main/java/b/Text.java": "package b;\npublic class Text {\n  public static int sizeOf(String s) { return 1; }\n}\n",
            "src/main/java/c/Use.java": "package c;\nimport static a.Text.sizeOf;\nclass Use {\n  void t() { sizeOf(null); }\n}\n",
            "src/main/java/d/Star.java": "package d;\nimport static b.Text.*;\nclass Star {\n  void t() { sizeOf(null); }\n}\n",
            "src/main/java/e/Lost.java": "package e;\nclass Lost {\n  void t() { Text.sizeOf(null); }\n}\n",
        }
    ).graph

    def called(path: str) -> list[tuple[str, bool]]:
        rows = graph.callers(SymbolKey(path, "Text.sizeOf", "method")).rows
        return [(edge.qualname, edge.resolution == "ambiguous") for edge in rows]

    assert called("src/main/java/a/Text.java") == [("Use.t", False), ("TextTest.t", False), ("Lost.t", True)]
    assert called("src/main/java/b/Text.java") == [("Star.t", False), ("Lost.t", True)]


def test_what_makes_an_object_calls_the_class_and_its_constructor(project):
    graph = project(
        {
            "a/Box.java": """
                package a;
                public class Box {
                  public Box(int n) {}
                  public Box with(int n) { return this; }
                  public static Box of() { return new Box(1).with(2).with(3); }
                }
                """
        }
    ).graph
    assert [(edge.line, edge.resolution) for edge in graph.callers("Box.with").rows] == [
        (5, "same-file"),
        (5, "receiver"),
    ]
    constructor = SymbolKey("a/Box.java", "Box.Box", "constructor")
    assert [edge.line for edge in graph.callers(constructor).rows] == [5]


def test_a_method_that_is_defined_outside_of_its_class_has_no_bare_name_elsewhere(project):
    graph = project(
        {
            "db.h": "namespace db {\nclass Store {\n public:\n  void Put(int k);\n  void Flush();\n};\n}\n",
            "db.cc": '#include "db.h"\nnamespace db {\nvoid Store::Put(int k) { Flush(); }\nvoid Store::Flush() {}\n}\n',
            "other.cc": '#include "db.h"\nnamespace db {\nvoid run() { Flush(); }\n}\n',
        }
    ).graph
    found = {(edge.site, edge.resolution == "ambiguous") for edge in graph.callers("Store.Flush").rows}
    assert found == {("db.cc", False), ("other.cc", True)}


@pytest.mark.parametrize("language", ["go", "rust"])
def test_a_bare_name_is_no_method(project, language):
    files = {
        "go": {
            "a.go": "package a\n\ntype T struct{}\n\nfunc (t T) Size() int { return 1 }\n\nfunc use(t T) int { return t.Size() + Size() }\n",
        },
        "rust": {
            "a.rs": "use outside::Size;\nimpl Other for Vec<T> { fn size(&self) -> u8 { 1 } }\nfn used() -> u8 { size() }\n",
        },
    }[language]
    graph = project(files).graph
    name = "Size" if language == "go" else "size"
    page = graph.callers(name)
    assert ([edge.resolution for edge in page.rows], page.unresolved) == ({"go": ["receiver"], "rust": []}[language], 1)


def test_a_field_and_the_method_that_reads_it_are_two_things(project):
    graph = project(
        {
            "src/lib.rs": """
                pub struct Span { end: usize }
                impl Span {
                    pub fn end(&self) -> usize { self.end }
                }
                fn use_it(span: Span) -> usize { span.end() }
                """
        }
    ).graph
    (edge,) = graph.callees("use_it").rows
    assert (edge.qualname, edge.kind, edge.start_line, edge.resolution) == ("Span.end", "method", 3, "receiver")


def test_what_could_not_be_resolved_is_counted_and_listed(project):
    one = project(
        {
            "cart.py": """
                class Cart:
                    def add(self, item):
                        pass

                def fill(cart: Cart, other, third):
                    cart.add(1)
                    other.add(2)
                    third.add(3); third.add(4)
                """,
            "set.go": "package a\n\nfunc x(s Set) { s.add(1) }\n",
        }
    )
    page = one.graph.callers("Cart.add")
    assert [edge.line for edge in page.rows] == [6]
    assert (page.total, page.unresolved, page.note) == (1, 3, "3 more sites could not be resolved")
    listed = one.graph.callers("Cart.add", unresolved=True)
    assert [(edge.line, edge.resolution, edge.qualname) for edge in listed.rows] == [
        (7, "unresolved", "fill"), (8, "unresolved", "fill"), (8, "unresolved", "fill"),
    ]  # fmt: skip
    assert listed.total == listed.unresolved == 3
    assert [key.qualname for key in listed.rows[0].candidates] == ["Cart.add"]
