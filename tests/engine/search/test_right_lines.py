"""The right lines of a file: definitions by name, one hit a function, bodies before heads and imports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cm_tui.config import Config
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.scan.languages import LANGUAGES, language_of
from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.passage_cache import PassageRecord
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.signals import measure
from cm_tui.engine.search.ranking.traits import WITHOUT_SYMBOLS, Definition, roles, traits_of
from cm_tui.model import CODE, Hit
from tests.shop import Project

STEPS = "".join(
    f"        if self.count > {number}:\n            self.connection.reuse(pool={number}, retries={number})\n"
    for number in range(60)
)
CLIENT = f'''"""A client."""

import asyncio
import json
from shop.connection import Connection, reuse_connection, close_connection

CONNECTION_LIMIT = 10


class ClientSession:
    """Keeps connections."""

    def __init__(self, connection):
        self.connection = connection
        self.count = 0

    def _request(self, method, url):
{STEPS}        return self.connection.send(method, url)

    def close(self):
        """Shut everything that is still open, and wait until the last answer has arrived."""
        for waiting in self.connection.waiting():
            waiting.cancel()
            self.count -= 1
        self.connection.shut()


class Request:
    def request(self, url):
        return url
'''
SERVER = '''class Server:
    def close(self):
        """Stop listening."""
        self.socket.close()
'''
CART = """pub fn empty_cart(cart: &mut Cart) -> usize {
    let before = cart.items.len();
    cart.items.clear();
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cart_empties_the_cart() {
        let mut cart = Cart::with(3);
        assert_eq!(empty_cart(&mut cart), 3);
        assert!(cart.items.is_empty());
    }
}
"""
SCOPE = """function apply(change) {
  return change();
}

function $apply(change) {
  return digest(change);
}
"""
MAIL = """<?php
class Mail
{
    private int $attempts = 0;

    public function attemptsLeft(): int
    {
        return 3 - $this->attempts;
    }
}
"""
GUIDE = """# Guide

## Closing

How to close a session: call `close` when you are done with it, or use it in a `with` block.

## Installing

Install it from the registry, and set the environment variable that says where the certificates are.
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Tests only ask it."""
    folder = tmp_path_factory.mktemp("right-lines")
    root = folder / "project"
    files = {
        "shop/scope.js": SCOPE, "shop/Mail.php": MAIL, "shop/cart.rs": CART, "shop/client.py": CLIENT, "shop/server.py": SERVER, "docs/guide.md": GUIDE,
        "docs/old/guide.md": GUIDE,
        "tests/test_client.py": "def test_request():\n    assert request('a')\n\n\ndef request(url):\n    return url\n",
    }  # fmt: skip
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(folder / "home"))
        opened = Engine(root, folder / "store", Config())
        list(opened.index())
    yield opened
    opened.close()


def line_of(text: str, wanted: str) -> int:
    return 1 + next(row for row, line in enumerate(text.split("\n")) if wanted in line)


def shows(hit: Hit, path: str, line: int) -> bool:
    return hit.path == path and hit.start_line <= line <= hit.end_line


@pytest.mark.parametrize("query", ["ClientSession._request", "_request", "ClientSession::_request", "_request()"])
def test_a_long_method_is_first_by_its_exact_name_at_its_beginning(engine: Engine, query: str) -> None:
    assert shows(engine.search(query).hits[0], "shop/client.py", line_of(CLIENT, "def _request"))


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("$apply", "shop/scope.js", line_of(SCOPE, "function $apply")),
        ("apply", "shop/scope.js", 1),
        ("$attempts", "shop/Mail.php", line_of(MAIL, "private int")),
    ],
)
def test_a_dollar_sign_is_part_of_a_name(engine: Engine, query: str, path: str, line: int) -> None:
    assert shows(engine.search(query).hits[0], path, line)


def test_a_qualified_name_gives_that_very_one_and_its_namesakes_follow(engine: Engine) -> None:
    client, server = (
        ("shop/client.py", line_of(CLIENT, "def close")),
        ("shop/server.py", line_of(SERVER, "def close")),
    )
    for query, order in (("ClientSession.close", (client, server)), ("Server.close", (server, client))):
        hits = engine.search(query).hits
        assert shows(hits[0], *order[0])
        assert shows(hits[1], *order[1])


def parts_of(engine: Engine, query: str) -> set[str]:
    return {part.name for hit in engine.search(query).hits for part in hit.parts}


def test_only_names_without_other_words_lift_definitions(engine: Engine) -> None:
    assert "definition" in parts_of(engine, "ClientSession")
    assert "definition" in parts_of(engine, "ClientSession, CONNECTION_LIMIT")
    assert "definition" not in parts_of(engine, "what happens to a ClientSession that is closed")


def test_a_function_of_several_pieces_is_one_hit(engine: Engine) -> None:
    hits = engine.search("reuse a connection of the pool with retries", limit=50).hits
    assert hits[0].symbol == "ClientSession._request"
    assert [hit.symbol for hit in hits].count("ClientSession._request") == 1


def test_a_method_of_a_small_class_is_shown_by_its_own_name(engine: Engine) -> None:
    hit = engine.search("attemptsLeft").hits[0]
    assert (hit.symbol, hit.kind) == ("Mail.attemptsLeft", "method")
    assert engine.search("Mail").hits[0].symbol == "Mail"


def test_what_stands_between_the_methods_of_a_class_is_no_hit_of_its_own(engine: Engine) -> None:
    hits = engine.search("ClientSession", limit=50).hits
    assert [hit.symbol for hit in hits].count("ClientSession") == 1
    assert shows(hits[0], "shop/client.py", line_of(CLIENT, "class ClientSession"))


def test_the_body_that_does_the_work_is_before_imports_and_heads(engine: Engine) -> None:
    first = engine.search("how are connections shut when a session is closed").hits[0]
    assert shows(first, "shop/client.py", line_of(CLIENT, "Shut everything"))


def test_a_question_about_use_finds_the_section(engine: Engine) -> None:
    first = engine.search("how do I install it and where are certificates configured").hits[0]
    assert (first.path, first.kind) == ("docs/guide.md", "section")


@pytest.mark.parametrize("evidence", ["file-name", "path", "coherence"])
def test_what_speaks_for_a_file_lifts_its_best_passage_alone(engine: Engine, evidence: str) -> None:
    hits = engine.search("the client's connection", limit=50).hits
    inside = [hit for hit in hits if hit.path == "shop/client.py"]
    lifted = [hit for hit in inside if any(part.name == evidence for part in hit.parts)]
    assert len(inside) > 1
    assert lifted == inside[:1]


def test_a_name_of_one_word_is_hardly_a_name_in_a_question_about_code(engine: Engine) -> None:
    def share(query: str) -> float:
        hit = next(hit for hit in engine.search(query, limit=50).hits if hit.symbol == "ClientSession.close")
        return next(part.value for part in hit.parts if part.name == "name-share")

    assert share("close a session") == share("how do I close a session") == 1
    assert share("where is a session closed") == share("how does it close a session") < 0.5


def test_copies_of_a_section_are_one_hit(engine: Engine) -> None:
    query = "how do I install it and where are certificates configured"
    hits = engine.search(query, limit=50).hits
    assert [hit.path for hit in hits if hit.symbol == hits[0].symbol] == ["docs/guide.md"]
    assert {hit.path for hit in engine.search(f"{query} path:docs/old", limit=50).hits} == {"docs/old/guide.md"}
    said = engine.why_not(query, "docs/old/guide.md").said
    assert said.startswith("docs/guide.md:")
    assert said.endswith("has the same text and represents it at rank 1.")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("where is a session closed", "shop/client.py"),
        ("how does it close a session", "shop/client.py"),
        ("how do we close a session", "shop/client.py"),
        ("how do I close a session", "docs/guide.md"),
        ("how to close a session", "docs/guide.md"),
        ("can I close a session", "docs/guide.md"),
        ("why close a session", "docs/guide.md"),
        ("why did we close a session", "docs/guide.md"),
        ("why is a session closed instead of kept", "docs/guide.md"),
        ("why does it not close a session", "shop/client.py"),
        ("why isn't a session closed", "shop/client.py"),
        ("can you tell me why it does not close a session", "shop/client.py"),
        ("tell me why the session was closed", "docs/guide.md"),
        ("please explain how it closes a session", "shop/client.py"),
        ("could you please make it close a session", "shop/client.py"),
        ("can you make it close a session", "shop/client.py"),
        ("my session is not closed", "shop/client.py"),
        ("why doesn\u2019t it close a session", "shop/client.py"),
        ("my session isn\u2019t closed", "shop/client.py"),
        ("hi, can you make it close a session", "shop/client.py"),
        ("hey claude, please make it close a session", "shop/client.py"),
        ("ok so where is a session closed", "shop/client.py"),
        ("quick question: why does it not close a session", "shop/client.py"),
        ("hello, how do I close a session", "docs/guide.md"),
        ("document how you close a session in the guide", "docs/guide.md"),
        ("close a session with your options", "docs/guide.md"),
        ("where is it described how a session closes", "docs/guide.md"),
    ],
)
def test_the_kind_of_question_decides_between_code_and_documents(engine: Engine, query: str, path: str) -> None:
    assert engine.search(query).hits[0].path == path


@pytest.mark.parametrize(
    ("pasted", "typed"),
    [
        ("why doesn\u2019t my \u201copen_all\u201d work\u2026", 'why doesn\'t my "open_all" work.'),
        ("where\u00a0is the command\u2011line read", "where is the command-line read"),
        ("where is data\u200bbase closed", "where is database closed"),
        ("\u201copen_all\u201d", '"open_all"'),
        ("hey claude \u2014 can you split the parser", "hey claude - can you split the parser"),
    ],
)
def test_typographic_characters_are_read_as_typed_ones(pasted: str, typed: str) -> None:
    def reading(query: Query) -> object:
        return query.words, query.names, query.documents, query.is_name, query.embedding_texts

    assert reading(Query(pasted)) == reading(Query(typed))


@pytest.mark.parametrize(
    ("query", "words", "documents"),
    [
        ("hi, can you add an option", ["add", "option"], 0.0),
        ("Hey Claude, could you please fix the usage of flags?", ["fix", "usage", "flags"], 0.0),
        ("ok so how are options read", ["options", "read"], -0.6),
        ("do you know why a flag is lost?", ["flag", "lost"], 0.1),
        ("hello world example", ["hello", "world", "example"], 0.4),
        ("check your options", ["check", "options"], 0.4),
        ("check the options", ["check", "options"], 0.0),
        ("why isn\u2019t the user's flag hidden, it doesn't show", ["user", "flag", "hidden", "show"], 0.1),
        ("we can't open it; they're closed", ["open", "closed"], 0.0),
        ("don't", ["don", "t"], 0.0),
    ],
)
def test_a_greeting_hides_no_question(query: str, words: list[str], documents: float) -> None:
    assert (Query(query).words, Query(query).documents) == (words, documents)


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("core/content/testsuite/suite.go", True),
        ("pkg/testutil/helpers.go", True),
        ("lib/test_helpers/clock.rb", True),
        ("integration/client/daemon.go", True),
        ("src/integration/client.go", False),
        ("integration.go", False),
        ("src/testing.py", False),
        ("src/attest/util.py", False),
    ],
)
def test_suites_and_helpers_of_tests_are_tests(path: str, *, is_test: bool) -> None:
    assert ("tests" in roles(path)) is is_test


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("CHANGELOG.md", "news"),
        ("docs/changes.rst", "news"),
        ("HISTORY.md", "news"),
        ("website/blog/2.0.md", "news"),
        ("docs/zh-CN/guide.md", "translated"),
        ("README.ja.md", "translated"),
        ("docs/history.md", None),
        ("docs/fr.md/en/guide.md", None),
        ("src/changes.py", None),
        ("src/de/words.py", None),
        ("bin/tr", None),
    ],
)
def test_changelogs_blogs_and_translations_are_recognised_by_their_path(path: str, role: str | None) -> None:
    assert roles(path) & {"news", "translated"} == ({role} if role else set())


def test_tests_are_no_answer_to_how_something_is_tested(engine: Engine) -> None:
    assert "tests" in parts_of(engine, "how do I test a request")
    assert "tests" not in parts_of(engine, "test of a request")


def signal(query: str, name: str, path: str, *definitions: Definition) -> float:
    """Return a signal of a passage with some definitions."""
    traits = traits_of(path, "text", None, definitions)
    record = PassageRecord(None, definitions, traits, 1, CODE, path, 1, 1, "text", None, "text", generated=False)
    return float(measure(Query(query), [record], lambda _: 1.0)[name][0])


def test_a_list_of_changes_is_no_answer_to_how_something_is_changed() -> None:
    assert signal("how do I change the colors", "news", "CHANGELOG.md") == 1
    assert signal("changed colors", "news", "CHANGELOG.md") == 0


def test_a_question_about_code_asks_for_no_constant_or_type() -> None:
    option, kind = Definition("color", "color", "constant", False, 1), Definition("Color", "Color", "class", False, 9)
    assert signal("where are required options checked", "values", "a.py", option) == 1
    assert signal("required options", "values", "a.py", option) == 0
    assert signal("how is the type of a color chosen", "types", "a.py", kind) == 1
    assert signal("type of a color", "types", "a.py", kind) == 0


def test_a_question_about_code_is_hardly_about_a_verb_that_suits_any_code() -> None:
    read, width = (Definition(name, name, "function", False, 9) for name in ("read", "width"))
    for query in ("where is the width read", "how is a width written and read"):
        assert signal(query, "symbol-name", "a.py", read) < 0.5 * signal(query, "symbol-name", "a.py", width)
    assert (
        signal("width read", "symbol-name", "a.py", read) == signal("width read", "symbol-name", "a.py", width) == 0.5
    )
    assert signal("where is it read", "symbol-name", "a.py", read) == 1


@pytest.mark.parametrize("name", ["file-name", "path"])
def test_the_name_of_a_document_is_no_evidence_in_a_question_about_code(name: str) -> None:
    query = "is an option group printed"
    assert signal(f"where {query}", name, "book/option-groups.md") == 0
    assert signal(f"where {query}", name, "src/option_groups.py") > 0
    assert signal("how do I print an option group", name, "book/option-groups.md") > 0


def test_a_page_outside_the_documentation_is_part_of_the_program() -> None:
    assert "docs" not in roles("web/browse.html")
    assert "docs" in roles("docs/browse.html")
    assert signal("the grid is empty", "nameless", "web/browse.html") == 0.5


@pytest.mark.parametrize(
    ("path", "nameless"), [("a.py", 1), ("a.json", 1), ("a.csv", 1), ("a.erl", 0.5), ("A.JL", 0.5)]
)
def test_no_symbol_says_less_in_a_language_whose_symbols_are_not_read(path: str, nameless: float) -> None:
    assert signal("where is the basket emptied", "nameless", path) == nameless


def test_languages_without_symbols_have_none() -> None:
    found = {suffix: language_of(f"a.{suffix}") for suffix in WITHOUT_SYMBOLS}
    assert not {suffix for suffix, name in found.items() if name == "text" or LANGUAGES[name].grammar}


def test_names_of_tests_come_after_those_of_the_code(engine: Engine) -> None:
    code, test = engine.search("request").hits[:2]
    assert shows(code, "shop/client.py", line_of(CLIENT, "def request"))
    assert (test.path, test.symbol) == ("tests/test_client.py", "request")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ClientSesion", "ClientSession"),
        ("clientsesion", "ClientSession"),
        ("ClientSession.clsoe", "close"),
        ("__inti__", "__init__"),
    ],
)
def test_a_mistyped_name_has_what_was_meant_first(engine: Engine, typed: str, meant: str) -> None:
    found = engine.search(typed)
    first = found.hits[0]
    assert found.suggestions[0].name == meant
    assert first.path == "shop/client.py"
    assert [part.contribution for part in first.parts if part.name == "near-name"] == [pytest.approx(1.5)]


def test_a_known_name_lends_nothing_to_its_neighbours(engine: Engine) -> None:
    found = engine.search("request")
    assert not any(part.name == "near-name" for hit in found.hits for part in hit.parts)


def test_a_test_inside_a_source_file_ranks_as_a_test(engine: Engine) -> None:
    code, test = line_of(CART, "pub fn empty_cart"), line_of(CART, "let mut cart")
    first, *others = engine.search("empty the cart").hits
    assert shows(first, "shop/cart.rs", code)
    lowered = next(hit for hit in others if shows(hit, "shop/cart.rs", test))
    assert "tests" in {part.name for part in lowered.parts}
    wanted = next(hit for hit in engine.search("test for the empty cart").hits if shows(hit, "shop/cart.rs", test))
    assert "tests" not in {part.name for part in wanted.parts}


@pytest.mark.parametrize(
    ("english", "translated"),
    [
        (
            "where does it search the parent folders for the justfile",
            "wo werden die übergeordneten Ordner nach dem justfile durchsucht",
        ),
        ("how is the project root recognised", "cómo se reconoce la raíz del proyecto"),
        ("where is the .env file loaded", "onde o arquivo .env é carregado"),
        (
            "how are unknown recipe names turned into a did you mean hint",
            "jak nieznane nazwy receptur zamieniane są na podpowiedź",
        ),
        (
            "where does it forward ctrl-c or kill to child processes",
            "où est-ce que ctrl-c est transmis aux processus enfants",
        ),
        ("which code finds the file of a submodule", "quale codice trova il file di un sottomodulo"),
        ("what happens when there are too many arguments", "wat gebeurt er als er te veel argumenten zijn"),
        ("where is the terminal width read", "где читается ширина терминала"),
        (
            "how is a row with a cell that spans several lines laid out",
            "comment est disposée une ligne dont une cellule s'étend sur plusieurs lignes",
        ),
        ("where is it decided whether colors are printed", "wo wird entschieden, ob Farben ausgegeben werden"),
        ("where is the log file rotated", "日志文件在哪里轮转"),
        ("how is the date put into the file name", "cómo se pone la fecha en el nombre del archivo"),
        (
            "how does the async logger avoid blocking the event loop",
            "como o logger assíncrono evita bloquear o event loop",
        ),
        ("where are environment variables read for options", "gdzie odczytywane są zmienne środowiskowe dla opcji"),
        ("where is the progress bar drawn", "プログレスバーはどこで描画されますか"),
        ("how do I close a session", "wie schließe ich eine Sitzung"),
        ("how to close a session", "come chiudere una sessione"),
        ("can I close a session", "kan ik een sessie sluiten"),
        ("how can I retry only when the message of the error matches", "我怎么只在错误信息匹配时重试"),
        (
            "how do I get a part of the configuration as an own instance",
            "как мне получить часть конфигурации как отдельный объект",
        ),
        ("how do I install the completion scripts", "cómo instalo los scripts de autocompletado"),
        ("how do I set a default for an option", "comment définir une valeur par défaut pour une option"),
        ("where is it described how a session closes", "где описано, как закрывается сессия"),
        ("what are the requirements", "quali sono i requisiti"),
        ("license of the project", "qual é a licença do projeto"),
        ("why does a recipe run in another directory", "为什么配方在另一个目录中运行"),
        ("why does an abort signal reject the promise", "なぜ abort シグナルで promise が拒否されますか"),
        (
            "why does an empty environment variable count as not set",
            "waarom telt een lege omgevingsvariabele als niet ingesteld",
        ),
        ("why isn't a session closed", "wieso wird eine Sitzung nicht geschlossen"),
        ("can you tell me why it does not close a session", "¿me puedes decir por qué no cierra la sesión?"),
        ("why did we close a session", "pourquoi avons-nous fermé la session"),
        ("why is a session closed instead of kept", "waarom wordt een sessie gesloten in plaats van bewaard"),
        ("why did we choose sqlite", "dlaczego wybraliśmy sqlite"),
        ("can you add an option for the width", "幅のオプションを追加してください"),
        ("add a flag that skips the tests", "aggiungi un'opzione che salti i test"),
        ("please fix the usage of flags", "popraw proszę użycie opcji"),
        ("could you please make it close a session", "você pode fazer com que ele feche a sessão"),
        ("my scheduled job is never enqueued", "моя запланированная задача никогда не попадает в очередь"),
        ("my option is ignored", "mi opción se ignora"),
        ("the configuration is lost after a restart", "再起動すると設定が失われます"),
    ],
)
def test_a_question_in_another_language_is_of_the_same_kind(english: str, translated: str) -> None:
    def kind(query: Query) -> object:
        return query.documents, query.asks_for_reasons

    assert kind(Query(translated)) == kind(Query(english))


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("where is the session closed", []),
        ("wo werden Dateinamen der Sitzung gelesen", ["file", "name", "session", "read"]),
        ("où les fichiers de parse_config sont-ils lus", ["file", "parse_config", "read"]),
        ("dónde se añade un usuario", ["add", "append", "user"]),
        ("在哪里读取 parse_config 的文件", ["load", "read", "parse_config", "file"]),
        ("wo ist der Weihnachtsmann", []),
        ("gdzie jest zamykana sesja", []),
    ],
)
def test_words_of_code_are_known_in_other_languages(question: str, english: list[str]) -> None:
    assert Query(question).english == english


CHINESE = {
    "a/One.java": "class One {\n  /** 如果请求超时，取消等待的请求 */\n  void drop() { all.clear(); }\n}\n",
    "a/Two.java": "class Two {\n  /** 返回购物车当前的总价 */\n  long sum() { return total; }\n}\n",
    "a/Three.java": "class Three {\n  /** 是否可以发送一个邮件 */\n  boolean ready() { return address != null; }\n}\n",
}
ASKED_IN_ENGLISH = "where is a waiting request cancelled"


def test_english_questions_find_comments_in_chinese(project: Project) -> None:
    project.put(CHINESE)
    searcher = Searcher(project.db, None, Config())
    found = searcher.search(ASKED_IN_ENGLISH)
    assert found.hits[0].path == "a/One.java"
    assert any(note.startswith("Also searched in Chinese") and "请求" in note for note in found.notes)
    for other in ("One", "在哪里取消等待的请求", "wo werden wartende Antworten abgebrochen"):
        assert not any("in Chinese" in note for note in searcher.search(other).notes), other


def test_a_translated_document_makes_no_comments_chinese(project: Project) -> None:
    code = {f"b/m{n}.py": f"def run{n}():\n    # Stop the request of the client.\n    return {n}\n" for n in range(4)}
    project.put({**code, "docs/zh/guide.md": "# 返回\n\n如果请求超时，取消等待的请求。\n"})
    assert not any("in Chinese" in note for note in Searcher(project.db, None, Config()).search(ASKED_IN_ENGLISH).notes)


def test_every_row_of_the_glossary_can_be_found() -> None:
    for english, columns in tokens.packaged("glossary").items():
        assert len(columns) == 4
        assert english == english.lower()
        for word in " ".join(columns).split():
            assert tokens.without_accents(word.lower()) == word, english
            assert "ß" not in word, english
            assert word.isalnum(), english


@pytest.mark.parametrize(
    "question",
    ["wo werden wartende Antworten abgebrochen", "dónde se cancela todo lo que espera", "在哪里取消等待的响应"],
)
def test_a_question_in_another_language_finds_code_in_english(engine: Engine, question: str) -> None:
    found = engine.search(question)
    assert shows(found.hits[0], "shop/client.py", line_of(CLIENT, "waiting.cancel()"))
    assert any(note.startswith("Also searched in English: ") and "wait" in note for note in found.notes)


def test_a_noun_with_a_capital_is_no_name_in_german() -> None:
    assert [name.text for name in Query("wo wird die Sitzung von Client_Session geschlossen").names] == [
        "Client_Session"
    ]


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        ("comment lines and their option", 0.4),
        ("come back to the prompt", 0.0),
        ("die on a usage error", 0.4),
        ("le and la tokens of an example", 0.4),
        ("dove::sono", 0.0),
        ("plus one option", 0.4),
        ("why does 'wo ist die Datei' fail", 0.1),
        ("where is jak_gdzie split", -0.6),
    ],
)
def test_words_of_other_languages_in_code_change_no_kind(query: str, documents: float) -> None:
    assert Query(query).documents == documents
