from collections.abc import Iterator

import pytest

from cm_tui.engine.code.graph.graph import Graph
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import SymbolKey
from tests.engine.graph.conftest import Project

FILES = {
    "pkg/__init__.py": "",
    "pkg/config.py": """
        class ConfigParser:
            \"\"\"Reads settings.\"\"\"

            def parse(self, text: str) -> dict:
                return {}

        def parse_config(path):
            return ConfigParser().parse(path)
        """,
    "pkg/other.py": "class Other:\n    def parse(self):\n        pass\n\ndef parsefgig():\n    pass\n",
    "web/app.ts": "export function parseHTTPConfig(a: string) { return a }\n",
    "web/a.ts": "export type MakeStore = { a: string }\n",
    "web/b.ts": "export function makeStore() { return 1 }\n",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """Of the files above; only asked."""
    one = Project(tmp_path_factory.mktemp("asked")).write(FILES)
    yield one.graph
    one.db.close()


def test_symbols_come_by_path_and_line_with_honest_totals(graph):
    page = graph.symbols(kind="method", limit=1)
    assert ([s.qualname for s in page.rows], page.total) == (["ConfigParser.parse"], 2)
    page = graph.symbols(file="pkg/config.py")
    assert [(s.qualname, s.kind, s.parent) for s in page.rows] == [
        ("ConfigParser", "class", None),
        ("ConfigParser.parse", "method", "ConfigParser"),
        ("parse_config", "function", None),
    ]
    assert page.rows[0].doc == "Reads settings."
    with pytest.raises(NotFoundError, match=r"pkg/config\.py"):
        graph.symbols(file="pkg/confg.py")
    with pytest.raises(UsageError, match="function, method"):
        graph.symbols(kind="functions")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("parse", "Other.parse"),
        ("parse_c", "parse_config"),
        ("parseconfig", "parse_config"),
        ("cp", "ConfigParser"),
        ("phc", "parseHTTPConfig"),
        ("othparse", "Other.parse"),
        ("parsfig", "parse_config"),
        ("makeStore", "makeStore"),
        ("MakeStore", "MakeStore"),
        ("makestore", "MakeStore"),
    ],
)
def test_fuzzy_matches_put_the_best_fit_first(graph, typed, first):
    assert graph.symbols(match=typed).rows[0].qualname == first


def test_fuzzy_matches_take_signs_as_letters(graph):
    assert graph.symbols(match="%").total == 0
    assert {s.name for s in graph.symbols(match="_").rows} == {"parse_config"}


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("parse", ["pkg/config.py", "pkg/other.py"]),
        ("ConfigParser.parse", ["pkg/config.py"]),
        ("ConfigParser::parse", ["pkg/config.py"]),
        ("ConfigParser#parse", ["pkg/config.py"]),
        ("pkg.other.Other.parse", ["pkg/other.py"]),
        ("pkg/other/Other.parse()", ["pkg/other.py"]),
    ],
)
def test_definitions_match_the_end_of_a_name(graph, name, paths):
    assert [s.path for s in graph.definitions(name).rows] == paths


def test_a_name_is_not_matched_in_its_middle(graph):
    with pytest.raises(NotFoundError, match="Did you mean ConfigParser"):
        graph.definitions("ConfigParse")
    with pytest.raises(NotFoundError) as unlike:
        graph.definitions("spar")
    assert "Did you mean" not in str(unlike.value.hint)


def test_a_key_names_one_symbol(graph):
    key = graph.definitions("Other").rows[0].key
    assert graph.definitions(key).total == 1
    with pytest.raises(NotFoundError):
        graph.callers(SymbolKey("pkg/config.py", "Gone", "class"))


def test_depth_is_one_to_three(graph):
    for depth in (0, 4):
        with pytest.raises(UsageError):
            graph.callers("parse", depth=depth)


def test_dependencies_and_importers(project):
    p = project(
        {
            "pkg/__init__.py": "from .a import one\n",
            "pkg/a.py": "import json\nfrom . import b\nfrom .b import *\n\ndef one(): pass\n",
            "pkg/b.py": "",
            "main.py": "import pkg.b as pb\nimport numpy.linalg\nfrom pkg import a\n",
        }
    )
    rows = [(i.line, i.qualname, i.target, i.resolution) for i in p.graph.dependencies("pkg/a.py").rows]
    assert rows == [
        (1, "json", None, "external"),
        (2, ".b", "pkg/b.py", "import"),
        (3, ".b.*", "pkg/b.py", "import"),
    ]
    importers = [(i.path, i.line) for i in p.graph.importers("pkg/b.py").rows]
    assert importers == [("main.py", 1), ("pkg/a.py", 2), ("pkg/a.py", 3)]
    assert [(i.path, i.line) for i in p.graph.importers("pkg.b").rows] == importers
    assert [i.path for i in p.graph.importers("pkg/a.py").rows] == ["main.py", "pkg/__init__.py"]
    assert [i.path for i in p.graph.importers("numpy").rows] == ["main.py"]
    with pytest.raises(NotFoundError):
        p.graph.importers("nobody")


def test_a_namespace_of_a_language_without_facts_of_its_own_fails_no_question(project):
    p = project({**FILES, "Shop.vb": "Namespace Shop\n    Class Cart\n    End Class\nEnd Namespace\n"})
    assert [edge.qualname for edge in p.graph.callers("ConfigParser.parse").rows] == ["parse_config"]
