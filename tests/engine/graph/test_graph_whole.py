"""Both ways of answering agree, callers and callees are each other's mirror, and other states of the code can be asked."""

from pathlib import Path

import pytest

import cm_tui
from cm_tui.engine.code.graph import generation_tables
from cm_tui.engine.code.graph.graph import Graph
from tests.bench import callers as bench


@pytest.fixture(scope="module")
def own_code(tmp_path_factory):
    """Some packages of this very project."""
    from cm_tui.engine.platform.store.database import Database

    root = Path(cm_tui.__file__).parent
    db = Database(tmp_path_factory.mktemp("own"))
    parts = ("engine/code/graph", "engine/code/parse", "engine/platform/store")
    files = [file for part in parts for file in sorted((root / part).rglob("*.py"))] + [root / "errors.py"]
    bench.load_files(db, ((f"cm_tui/{f.relative_to(root).as_posix()}", f.read_bytes()) for f in files))
    yield db
    db.close()


@pytest.mark.deep
def test_answers_by_name_are_those_of_resolving_everything(own_code, monkeypatch):
    monkeypatch.setattr(generation_tables, "SMALL", 0)
    whole = Graph(own_code)
    names = [
        "Database.rows",
        "TableSet",
        "NotFoundError",
        "parse_blob",
        "ImportRow",
        "ModuleIndex.first",
        "PythonModules.resolve",
    ]
    whole.callers(names[0])
    for name in names:
        for ask in ("callers", "callees"):
            page = getattr(Graph(own_code), ask)(name)
            assert page == getattr(whole, ask)(name)
        assert whole.callers(name).rows


def test_the_first_questions_about_a_past_state_do_not_resolve_all_of_it(own_code, monkeypatch):
    monkeypatch.setattr(generation_tables, "SMALL", 0)
    past = Graph(own_code, snapshot="(SELECT path, blob FROM now_file)")
    whole = Graph(own_code)
    whole.callers("Graph")
    sets = generation_tables.GenerationTables.of(own_code)._sets
    for number in range(generation_tables.PARTIAL_QUESTIONS + 2):
        assert past.callers("Database.rows").rows == whole.callers("Database.rows").rows
        (found,) = (one for one in sets.values() if one.is_past)
        assert found.resolver.is_whole == (number >= generation_tables.PARTIAL_QUESTIONS)


def test_every_site_is_claimed_once_or_said_to_be_ambiguous(own_code):
    sites = {}
    for path, line, _, name, receiver, kind, tier, choices, *_ in bench.resolve_all(Graph(own_code)):
        sites.setdefault((path, line, name, receiver, kind), set()).add((tier, choices))
    assert all(len(found) == 1 or {c for _, c in found} for found in sites.values())


def test_a_past_state_can_be_asked(project):
    p = project({"a.py": "def f(): pass\ndef g(): f()\n", "b.py": "from a import f\nf()\n"})
    p.db.execute("INSERT INTO file_span SELECT path, blob, 1, 2 FROM worktree WHERE path = 'a.py'")
    past = Graph(p.db, snapshot="(SELECT path, blob FROM file_span WHERE from_ord <= 1 AND coalesce(to_ord, 1) >= 1)")
    assert [e.path for e in past.callers("f").rows] == ["a.py"]
    assert [e.path for e in p.graph.callers("f").rows] == ["a.py", "b.py"]
    assert [e.path for e in past.callers("f").rows] == ["a.py"]


def test_the_measurement_finds_a_wrong_and_a_missing_edge(tmp_path, monkeypatch, capsys):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("def f(): pass\ndef g(): f()\n")
    assert bench.main([str(package)]) == 0
    assert '"precision": 1.0, "recall": 1.0' in capsys.readouterr().out
    real = bench.resolve_all

    def lying(graph, **options):
        return [(*row[:9], "g", *row[10:]) for row in real(graph, **options)]

    monkeypatch.setattr(bench, "resolve_all", lying)
    bench.main([str(package)])
    assert '"precision": 0.0, "recall": 0.0' in capsys.readouterr().out
