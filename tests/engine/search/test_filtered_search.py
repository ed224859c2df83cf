"""Questions with filters, and with mistyped names, to a small repository of several languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.search.ranking import passing
from cm_tui.engine.search.ranking.near_names import NearNames, fold
from cm_tui.model import SearchResult
from tests.cli.conftest import git

FILES = {
    "src/net/client.py": '''"""Connections."""


class ClientSession:
    """Sends a request, and tries again."""

    def request(self, url):
        """Send one request."""
        return retry_request(url)


def retry_request(url):
    """Try a request again."""
    return url
''',
    "src/net/pool.rs": "/// Keeps a request open.\npub struct Pool { size: u32 }\n\npub fn open_request(size: u32) -> Pool { Pool { size } }\n",
    "src/network.py": "def network_request():\n    '''A request of the network.'''\n",
    "web/app/[slug]/page.tsx": "export function Page() { return <a>request</a>; }\n",
    "my docs/use.md": "# Use\n\nHow a request is sent.\n\n## Retry\n\nA request is tried again.\n",
    "tests/test_client.py": "def test_request():\n    assert retry_request('x') == 'x'\n",
    "notes.txt": "a request in plain text\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("several")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(tmp_path_factory.mktemp("home")))
        engine = Engine.open(root)
        list(engine.index())
        yield engine
        engine.close()


def paths(result: SearchResult) -> set[str]:
    return {hit.path for hit in result.hits}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("path:src/net", {"src/net/client.py", "src/net/pool.rs"}),
        ("path:src/net/pool.rs", {"src/net/pool.rs"}),
        ("path:src/netw", {"src/network.py"}),
        ("path:*.rs", {"src/net/pool.rs"}),
        ("path:src/*.py", {"src/network.py"}),
        ("path:src/**/*.py", {"src/network.py", "src/net/client.py"}),
        ("path:web/**/page.tsx", {"web/app/[slug]/page.tsx"}),
        ("path:web/app/[slug]", {"web/app/[slug]/page.tsx"}),
        ('path:"my docs"', {"my docs/use.md"}),
        ("path:src/net path:web", {"src/net/client.py", "src/net/pool.rs", "web/app/[slug]/page.tsx"}),
        ("path:src -path:src/net", {"src/network.py"}),
        ("lang:rs", {"src/net/pool.rs"}),
        ("lang:ts", {"web/app/[slug]/page.tsx"}),
        ("lang:py -in:tests", {"src/net/client.py", "src/network.py"}),
        ("in:tests", {"tests/test_client.py"}),
        ("in:docs", {"my docs/use.md", "notes.txt"}),
        ("in:code", {"src/net/client.py", "src/net/pool.rs", "src/network.py", "web/app/[slug]/page.tsx"}),
        ("kind:section", {"my docs/use.md"}),
        ("kind:struct", {"src/net/pool.rs"}),
        ("kind:method,struct", {"src/net/client.py", "src/net/pool.rs"}),
        ("-kind:function -kind:section", {"src/net/client.py", "src/net/pool.rs", "notes.txt"}),
        ("lang:rust in:docs", set()),
    ],
)
def test_only_what_passes_is_found(engine: Engine, filters: str, found: set[str], mode: str) -> None:
    for words in (f"{filters} request", f"request {filters}"):
        result = engine.search(words, mode=mode, limit=50)
        assert paths(result) == found
        assert result.filters == tuple(map(str, engine._searcher._filters.parse(filters).filters))
        assert result.query == words
        assert not result.beside


def test_what_passes_is_counted_by_itself(engine: Engine) -> None:
    # `request` is everywhere, so it says little; below a folder it is ranked as if there were no other.
    everything = engine.search("request retry", mode="keyword", limit=50)
    narrowed = engine.search("request retry path:src/net/client.py", mode="keyword", limit=50)
    assert narrowed.total < everything.total
    part = next(part for part in narrowed.hits[0].parts if part.name == "keyword: retry")
    whole = next(hit for hit in everything.hits if hit.passage == narrowed.hits[0].passage)
    assert part.value != next(part for part in whole.parts if part.name == "keyword: retry").value


@pytest.mark.parametrize("kind", ["class", "method", "function", "struct", "section"])
def test_hits_are_named_by_symbols_of_the_kind(engine: Engine, kind: str) -> None:
    for words in ("request", "retry_request", ""):
        hits = engine.search(f"kind:{kind} {words}", limit=50).hits
        assert hits
        assert {hit.kind for hit in hits} == {kind}


@pytest.mark.parametrize("profile", ["code", "any"])
def test_filters_alone_list_what_passes_by_path_and_line(engine: Engine, profile: str) -> None:
    code = engine.profiles()["code"]
    asked = (
        code
        if profile == "code"
        else replace(code, name="any", min_score=0.3, fusion="rrf", sources=("code", "episode"))
    )
    result = engine.search("lang:python,rust", profile=asked, limit=50)
    places = [(hit.path, hit.start_line) for hit in result.hits]
    assert places == sorted(places)
    assert {path for path, _ in places} == {
        "src/net/client.py",
        "src/net/pool.rs",
        "src/network.py",
        "tests/test_client.py",
    }
    [note] = result.notes
    assert note == f"No words to rank by: {result.total} passages match, listed by path and line."
    few = engine.search("lang:python,rust", profile=replace(asked, pool=2), limit=50)
    assert [(hit.path, hit.start_line) for hit in few.hits] == places[:2]
    assert "the first 2 by path and line are listed" in few.notes[0]
    assert engine.search("lang:python,rust", profile=asked, limit=1).hits == result.hits[:1]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("path:net request", "path:net: no indexed file there. path:**/net would match."),
        ("path:src/nett request", "path:src/nett: no indexed file there."),
        ("path:[ request", "path:[: no indexed file there."),
        ("path:*?[a]{b}(c)+$ request", "path:*?[a]{b}(c)+$: no indexed file there."),
        ("kind:enum request", "Nothing matches kind:enum."),
        ("lang:zig", "Nothing matches lang:zig."),
    ],
)
def test_where_nothing_passes_it_is_said(engine: Engine, query: str, note: str) -> None:
    result = engine.search(query)
    assert result.hits == ()
    assert result.notes == (note,)


def test_a_language_that_there_is_not_is_text_and_the_languages_of_the_project_are_named(engine: Engine) -> None:
    result = engine.search("request lang:rsut")
    assert len(result.hits) > 3
    assert result.filters == ()
    assert result.notes[0].startswith("lang:rsut: unknown language; it was searched as text. Did you mean lang:rust?")
    assert "Available: python, " in result.notes[0]


@pytest.mark.parametrize(
    "query",
    ["path:../../etc", 'path:"', 'path:"src', "path:" + "**/a" * 400, "path:" + "*" * 1900, "kind:" + "x" * 5000, "lang:\ud800",
     "path:\ud800 request", 'path:"\udcff"', "path:a\0b", "-path:. request", "path:. request", "in:code " * 300, "path:'; DROP TABLE passage; --",
     "path:src\\net", "-lang:python " * 50 + "request", 'path:"%_" request'],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_hostile_filters_get_an_answer(engine: Engine, query: str, mode: str) -> None:
    result = engine.search(query, mode=mode)
    assert len(result.hits) <= 10
    assert all(note for note in result.notes)
    assert len(engine.search("request").hits) > 3


def test_a_root_lets_everything_pass(engine: Engine) -> None:
    assert engine.search("path:. request", limit=50).hits == engine.search("request", limit=50).hits
    assert (
        engine.search(f"path:{engine.root}/src/net request", limit=50).hits
        == engine.search("path:src/net request", limit=50).hits
    )
    assert engine.search("-path:. request").hits == ()


def test_a_profile_without_code_reads_no_filters(engine: Engine) -> None:
    result = engine.search("path:src lang:rsut", profile="recall")
    assert result.filters == ()
    assert not any("lang:rsut" in note for note in result.notes)


def test_what_passes_is_found_once_a_generation(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = []
    original = passing.Filters._resolve
    monkeypatch.setattr(passing.Filters, "_resolve", lambda *a, **k: resolved.append(a) or original(*a, **k))
    for words in ("sen", "send", "send a"):
        engine.search(f"path:src/net/client.py lang:py {words}")
    assert len(resolved) == 1
    (engine.root / "src/net/more.py").write_text("def send_more():\n    pass\n")
    list(engine.index())
    assert "src/net/more.py" in paths(engine.search("path:src/net send"))
    (engine.root / "src/net/more.py").unlink()
    list(engine.index())
    assert "src/net/more.py" not in paths(engine.search("path:src/net send"))


def test_a_pack_says_what_it_was_made_of(engine: Engine) -> None:
    pack = engine.pack("how is a request retried path:src/net lang:python", neighbours=False)
    assert {item.path for item in pack.items} == {"src/net/client.py"}
    assert "Only passages matching path:src/net lang:python were searched." in pack.notes


# --- mistyped names ---


@pytest.mark.parametrize(
    ("query", "meant", "corrected"),
    [
        ("ClientSesion", "ClientSession", "ClientSession"),
        ("clientsession", "ClientSession", "ClientSession"),
        ("client_sesison", "ClientSession", "ClientSession"),
        ("how does ClientSesion.request work", "ClientSession", "how does ClientSession.request work"),
        ("where is `retry_requst` called", "retry_request", "where is `retry_request` called"),
        ("Poool", "Pool", "Pool"),
        ("lang:py ClientSesion", "ClientSession", "lang:python ClientSession"),
        ("lang:rust ClientSesion", "ClientSession", "lang:rust ClientSession"),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_name_that_is_nowhere_has_a_suggestion(
    engine: Engine, query: str, meant: str, corrected: str, mode: str
) -> None:
    result = engine.search(query, mode=mode)
    assert result.suggestions[0].name == meant
    assert result.suggestions[0].query == corrected
    assert len(result.suggestions) <= 3
    assert any(note.startswith(f"Did you mean {meant}") for note in result.notes)
    assert not engine.search(corrected).suggestions


@pytest.mark.parametrize(
    "query",
    ["ClientSession", "client_session", "request", "how is a requst sent", "lang:rust ClientSession", "xq", "zzzzzzzzzz",
     "", "検索", "x" * 3000, "Retry", "How a request"],
)  # fmt: skip
def test_what_is_somewhere_or_near_to_nothing_has_none(engine: Engine, query: str) -> None:
    result = engine.search(query)
    assert result.suggestions == ()
    assert not any("Did you mean" in note for note in result.notes)


def test_a_pasted_page_has_suggestions_in_time(engine: Engine) -> None:
    assert len(engine.search(" ".join(f"unknown_name_{n}x" for n in range(200))).hits) <= 10


def test_nearest_first_then_what_has_the_same_letters_then_what_is_used_most(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("getItem", 3), ("get_items", 90), ("getTime", 5), ("getltem", 7), ("set_item", 50), ("unrelated", 999)]
    rows += [("enqueue", 500), ("enqueue_at", 2)]
    monkeypatch.setattr("cm_tui.engine.search.ranking.near_names._USED", _values(rows))
    near = NearNames(engine._db)
    assert near.of("enque_at") == ("enqueue_at", "enqueue")
    assert near.of("get_itme") == ("getTime", "getItem", "get_items")
    assert near.of("getitemm") == ("getItem", "get_items", "set_item")
    assert near.of("GET_ITEM") == ("getItem",)
    assert near.of("xx") == near.of("") == near.of("___") == near.of("y" * 500) == ()


def _values(rows: list[tuple[str, int]]) -> str:
    return f"SELECT * FROM (VALUES {', '.join(map(str, rows))}) ORDER BY 1"


def test_folding() -> None:
    assert fold("Client_Session") == fold("clientSession") == "clientsession"
    assert fold("operator==") == "operator"
