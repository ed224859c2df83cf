import pytest

from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import SymbolKey

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
    "pkg/other.py": "class Other:\n    def parse(self):\n        pass\n",
    "web/app.ts": "export function parseHTTPConfig(a: string) { return a }\n",
}


def test_symbols_come_by_path_and_line_with_honest_totals(project):
    p = project(FILES)
    page = p.graph.symbols(kind="method", limit=1)
    assert ([s.qualname for s in page.rows], page.total) == (["ConfigParser.parse"], 2)
    page = p.graph.symbols(file="pkg/config.py")
    assert [(s.qualname, s.kind, s.parent) for s in page.rows] == [
        ("ConfigParser", "class", None),
        ("ConfigParser.parse", "method", "ConfigParser"),
        ("parse_config", "function", None),
    ]
    assert page.rows[0].doc == "Reads settings."
    with pytest.raises(NotFoundError, match=r"pkg/config\.py"):
        p.graph.symbols(file="pkg/confg.py")
    with pytest.raises(UsageError, match="function, method"):
        p.graph.symbols(kind="functions")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("parse", "Other.parse"),
        ("parse_c", "parse_config"),
        ("parseconfig", "parse_config"),
        ("cp", "ConfigParser"),
        ("phc", "parseHTTPConfig"),
        ("othparse", "Other.parse"),
    ],
)
def test_fuzzy_matches_put_the_best_fit_first(project, typed, first):
    assert project(FILES).graph.symbols(match=typed).rows[0].qualname == first


def test_fuzzy_matches_take_signs_as_letters(project):
    p = project(FILES)
    assert p.graph.symbols(match="%").total == 0
    assert {s.name for s in p.graph.symbols(match="_").rows} == {"parse_config"}


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
def test_definitions_match_the_end_of_a_name(project, name, paths):
    assert [s.path for s in project(FILES).graph.definitions(name).rows] == paths


def test_a_name_is_not_matched_in_its_middle(project):
    with pytest.raises(NotFoundError, match="Did you mean ConfigParser"):
        project(FILES).graph.definitions("ConfigParse")
    with pytest.raises(NotFoundError) as unlike:
        project(FILES).graph.definitions("spar")
    assert "Did you mean" not in str(unlike.value.hint)


def test_a_key_names_one_symbol(project):
    p = project(FILES)
    key = p.graph.definitions("Other").rows[0].key
    assert p.graph.definitions(key).total == 1
    with pytest.raises(NotFoundError):
        p.graph.callers(SymbolKey("pkg/config.py", "Gone", "class"))


@pytest.mark.parametrize("depth", [0, 4])
def test_depth_is_one_to_three(project, depth):
    with pytest.raises(UsageError):
        project(FILES).graph.callers("parse", depth=depth)


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
