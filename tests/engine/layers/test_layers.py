"""Every kind of memory by reference: what it leads to, what it refuses, and what it never tells."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.layers import cypher, json_file
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.engine.memory.projection import ingested
from cm_tui.engine.memory.projection.ingested import Entity, Relation
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, NotFoundError, StoreError, UsageError
from cm_tui.model import EpisodeEdit
from tests.planted import GITHUB


def kv_file(root: Path, text: str) -> Path:
    file = root / ".cm" / "memory" / "kv.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_values_that_a_person_wrote_and_that_are_written(engine: Engine, root: Path) -> None:
    file = kv_file(root, '{"release": {"codename": "Ibis"}, "sessions/a": 1}')
    assert engine.read_memory("kv://release").value == '{"codename": "Ibis"}'
    assert engine.write_memory("kv://sessions/b", "two").text == "sessions/b: two"
    assert engine.read_memory("kv://sessions/*").text == "sessions/a: 1\n\nsessions/b: two"
    engine.write_memory("kv://sessions/a", "")
    assert json.loads(file.read_text()) == {"release": {"codename": "Ibis"}, "sessions/b": "two"}
    with pytest.raises(NotFoundError, match="Did you mean kv://release"):
        engine.read_memory("kv://relese")


def test_a_value_that_ends(root: Path) -> None:
    store = KvStore(root)
    store.put("a", 1, ttl=10, now=100)
    store.put("b", 2, now=100)
    assert store.get("a", now=109).value == 1  # type: ignore[union-attr]
    assert store.get("a", now=110) is None
    store.put("c", 3, now=111)
    assert set(json.loads((root / ".cm/memory/kv.json").read_text())) == {"b", "c"}


def test_many_writers_lose_nothing(root: Path) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            KvStore(root).put(f"{writer}/{number}", number)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(KvStore(root).all()) == 40


def test_a_file_that_is_no_json_is_told_and_stays(engine: Engine, root: Path) -> None:
    for text in ('{"a": 1,', "[1]", '{"a": NaN}', '{"a": 1, "a": 2}', "nonsense", '{"a": 1, "$expires": 3}'):
        file = kv_file(root, text)
        with pytest.raises(UsageError, match=r"kv\.json:1:\d+"):
            engine.read_memory("kv://a")
        with pytest.raises(UsageError, match=r"kv\.json:1:\d+"):
            engine.write_memory("kv://b", "1")
        assert file.read_text() == text
        made = engine.assemble("what is the price", budget=300)
        assert "price" in made.text, "everything else is still assembled"


def test_keys_that_are_none(engine: Engine) -> None:
    for key in ("", "../x", "a/../b", "a//b", "$expires", "x" * 201, "a\nb"):
        with pytest.raises(UsageError):
            engine.write_memory(f"kv://{key}", "1")


def test_records_are_checked_by_their_schema(engine: Engine, root: Path) -> None:
    folder = root / ".cm" / "memory" / "json"
    folder.mkdir(parents=True)
    schema = {
        "type": "object",
        "properties": {"port": {"type": "integer"}, "name": {"type": "string", "pattern": "^(a+)+$"}},
    }
    (folder / "server.schema.json").write_text(json.dumps(schema))
    engine.write_memory("json://server", '{"port": 80, "list": [{"x": 1}]}')
    assert engine.read_memory("json://server/list/0/x").value == "1"
    with pytest.raises(UsageError, match="'much' is not of type 'integer'"):
        engine.write_memory("json://server", '{"port": "much"}')
    (folder / "server.json").write_text('{\n "port": "much"}')
    with pytest.raises(UsageError, match=r"server\.json:2:10: 'much'"):
        engine.read_memory("json://server")
    # Backtracking would take for ever.
    with pytest.raises(UsageError):
        engine.write_memory("json://server", json.dumps({"name": "a" * 5_000 + "!"}))
    (folder / "server.schema.json").write_text('{"$ref": "https://example.org/schema.json"}')
    with pytest.raises(UsageError, match="not a usable schema"):
        engine.write_memory("json://server", "{}")
    with pytest.raises(NotFoundError):
        engine.read_memory("json://nothing")
    for name in ("../x", "a.schema", ""):
        with pytest.raises(UsageError):
            engine.write_memory(f"json://{name}", "{}")


def test_working_memory_is_of_a_session_and_of_its_turn(engine: Engine, root: Path, cm_home: Path) -> None:
    engine.write_memory("working://plan", "first the quagga", session="s1")
    assert engine.read_memory("working://plan", session="s1").text == "plan: first the quagga"
    assert engine.read_memory("working://*", session="s2").text == ""
    assert "quagga" in engine.assemble("go on", budget=500, session="s1", keep=False).text
    with pytest.raises(UsageError, match="needs a session"):
        engine.write_memory("working://plan", "x")
    for file in cm_home.rglob("*"):
        assert not file.is_file() or b"quagga" not in file.read_bytes()
    Journal.of(root).append("hook.stop", {"session": "s1", "root": str(root)})
    assert engine.read_memory("working://*", session="s1").text == "", "its turn has ended"


def test_a_session_caches_three_texts_for_half_an_hour(engine: Engine, cm_home: Path, monkeypatch: pytest.MonkeyPatch):
    start = time.time()

    def cached(after: float, session: str = "s1") -> list[str | None]:
        monkeypatch.setattr(time, "time", lambda: start + after)
        return [engine.cached_for_session(session, f"k{number}") for number in range(5)]

    for number in range(4):
        monkeypatch.setattr(time, "time", lambda number=number: start + number)
        engine.cache_for_session("s1", f"k{number}", f"v{number}")
    assert cached(10) == [None, "v1", "v2", "v3", None]
    assert cached(10, "s2") == [None] * 5
    monkeypatch.setattr(time, "time", lambda: start + 20)
    engine.cache_for_session("s1", "k1", f"token {GITHUB}")
    monkeypatch.setattr(time, "time", lambda: start + 21)
    engine.cache_for_session("s1", "k4", "v" * 100_000)
    found = cached(22)
    assert (found[2], found[3]) == (None, "v3")
    assert found[1] is not None
    assert GITHUB not in found[1]
    assert [found is not None for found in cached(20 + 1_799)] == [False, True, False, False, True]
    assert cached(20 + 1_801)[1] is None
    for session, key, value in (("", "k", "v"), ("s", "", "v"), ("s", "k" * 201, "v"), ("s", "k", "v" * 100_001)):
        with pytest.raises(UsageError):
            engine.cache_for_session(session, key, value)
    assert not any(b"vvvv" in file.read_bytes() for file in cm_home.rglob("*") if file.is_file()), "never on disk"


def test_notes_by_name_title_and_slug(engine: Engine, root: Path) -> None:
    folder = root / ".cm" / "notes" / "topics"
    folder.mkdir(parents=True)
    (folder / "architecture-notes.md").write_text("# How it is built\n\nLayers point downwards.\n")
    engine.search("x", profile="notes")
    for name in ("architecture-notes", "How it is built", "how-it-is-built", "topics/architecture-notes.md"):
        assert "downwards" in engine.read_memory(f"markdown://{name}").text
    with pytest.raises(NotFoundError, match="Did you mean markdown://architecture-notes"):
        engine.read_memory("markdown://architecture-note")


def test_views_of_the_graph(engine: Engine) -> None:
    assert "price calls tax" in engine.read_memory("graph://callers?name=tax").text
    assert "pay calls price" in engine.read_memory("graph://callees?name=pay").text
    assert "imports shop.py" in engine.read_memory("graph://importers?path=shop.py").text
    assert "function" in engine.read_memory("graph://symbols?path=shop.py").text
    for _ in engine.backfill():
        pass
    assert engine.read_memory("graph://cochange?path=shop.py").text.startswith(
        "till.py changed with shop.py in 3 commits"
    )
    for wrong in ("caller?name=x", "callers", "callers?nam=x", "callers?name=x&limit=0"):
        with pytest.raises(UsageError):
            engine.read_memory(f"graph://{wrong}")
    with pytest.raises(NotFoundError):
        engine.read_memory("graph://callers?name=nothing_like_it")


def test_entities_and_relations_that_pipelines_wrote(engine: Engine, root: Path) -> None:
    journal = Journal.of(root)
    event = ingested.write_graph(
        journal, [Entity("Ann", "person"), Entity("till", "part")], [Relation("Ann", "owns", "till")]
    )
    assert engine.read_memory("graph://entities?type=person").text == "Ann (person)"
    assert engine.read_memory("graph://relations?entity=till").text == "Ann owns till"
    engine.erase([event.id])
    assert engine.read_memory("graph://relations").text == ""


def test_cypher_only_reads(engine: Engine, root: Path) -> None:
    query = "MATCH (a:Symbol)-[:CALLS]->(b:Symbol) WHERE b.name = 'tax' RETURN a.name AS caller"
    assert engine.read_memory(f"graph://cypher?query={query}").text == "caller: price"
    files = "MATCH (a:File)-[:IMPORTS]->(b:File) RETURN a.path, b.path"
    assert "till.py" in engine.read_memory(f"graph://cypher?query={files}").text
    for wrong in (
        "LOAD FROM '/etc/passwd' RETURN *", "COPY (MATCH (n) RETURN n) TO '/tmp/x.csv'", "CREATE (:File {path: 'x'})",
        "MATCH (n) DETACH DELETE n", "INSTALL httpfs", "MATCH (n) RETURN n; CREATE (:File {path: 'y'})",
        "MATCH (n) CALL show_tables() RETURN *", "", "MATCH (n) WITH n LOAD FROM 'x' RETURN n",
        "MATCH (a:Nothing) RETURN a",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            engine.read_memory(f"graph://cypher?query={wrong}")
    assert cypher.checked("MATCH (n {name: 'DROP it; LOAD'}) RETURN n") == ["DROP it; LOAD"]


def test_the_log_has_what_happened_and_never_what_was_erased_or_forgotten(engine: Engine, root: Path) -> None:
    journal = Journal.of(root)
    told = journal.append("hook.prompt", {"session": "s1", "prompt": "why is the quagga here", "root": str(root)})
    journal.append("hook.edit", {"session": "s2", "paths": ["shop.py"], "root": str(root)})
    ingested.write_log(journal, "deploy", {"branch": "ibis", "text": "deployed"})
    assert "quagga" in engine.read_memory("log://hook.*").text
    assert "shop.py" in engine.read_memory("log://hook.edit?fields=paths").text
    assert engine.read_memory("log://deploy").text.endswith("deploy deployed")
    assert engine.read_memory("log://?since=-1s&limit=1").text
    assert "quagga" in engine.read_memory("log://?since=7d").text
    for wrong in ("log://?since=soon", "log://?limit=0", "log://?limit=x"):
        with pytest.raises(UsageError):
            engine.read_memory(wrong)
    engine.erase([told.id])
    assert "quagga" not in engine.read_memory("log://").text
    said = engine.record_episode("the okapi episode", type="task", answer="yes", session="s3", agent="codex")
    journal.append("hook.prompt", {"session": "s3", "prompt": "tell me of the okapi", "root": str(root)})
    assert "okapi" in engine.read_memory("log://").text
    engine.edit_episodes([said.id], EpisodeEdit(forgotten=True))
    assert "okapi" not in engine.read_memory("log://").text
    with pytest.raises(NotFoundError):
        engine.read_memory(f"episode://{said.id}")


def test_turns_of_a_session(engine: Engine) -> None:
    for number in range(3):
        engine.record_episode(f"ask {number}", type="task", answer=f"answer {number}", session="s1", agent="codex")
    found = engine.read_memory("episodic://session?limit=2", session="s1").text
    assert "ask 0" not in found
    assert found.index("ask 1") < found.index("ask 2")
    assert engine.read_memory("episodic://session").text == ""


def test_entries_that_no_agent_is_given_stay_out(engine: Engine) -> None:
    rule = engine.remember("Round to cents.", category="Rule", actor="agent", agent="codex")
    with pytest.raises(NotFoundError, match="not given to agents"):
        engine.read_memory(f"entry://{rule.id}")
    assert "Round" not in engine.read_memory("entries://Rule").text
    fact = engine.remember("The tax is 19 percent.", category="Knowledge")
    assert "19 percent" in engine.read_memory(f"entry://{fact.id}").text
    plain = engine.remember("Use tabs.\nNot blanks.", category="Rule")
    assert "- Use tabs.\n  Not blanks." in engine.read_memory("entries://Rule").text, "the title is not repeated"
    assert engine.read_memory(f"entry://{plain.id}").text == "Use tabs.\nNot blanks."


def test_files_and_symbols(engine: Engine) -> None:
    assert "def tax" in engine.read_memory("symbol://tax").text
    assert "def tax" in engine.read_memory("symbol://shop.py::tax").text
    assert engine.read_memory("file://shop.py#L9-L10").text == "```\ndef tax(net):\n    return net * 0.19\n```"
    for wrong in (
        "file://../../etc/passwd",
        "file:///etc/passwd",
        "file://shop.py#x",
        "file://nothing.py",
        "symbol://nothing",
    ):
        with pytest.raises(CmError):
            engine.read_memory(wrong)


def test_what_is_no_reference(engine: Engine) -> None:
    for text in ("", "x", "nope://x", "kv:/x", "kv://a\nb", "kv://" + "x" * 5_000, "definition://pack"):
        with pytest.raises(UsageError):
            engine.read_memory(text)
        with pytest.raises(UsageError):
            engine.write_memory(text, "x")


def test_an_index_that_is_not_there(engine: Engine) -> None:
    assert "def price" in engine.read_memory("vector://code?query=price+with+tax&min_score=0").text
    with pytest.raises(NotFoundError, match="Unknown index: 'nothing'"):
        engine.read_memory("vector://nothing?query=x")


def test_a_value_that_an_editor_saves_meanwhile_stays(root: Path) -> None:
    file = kv_file(root, '{"a": 1}')

    def change(_: object) -> tuple[object, None]:
        file.write_text('{"a": 2}')
        return {"a": 1, "b": 1}, None

    with pytest.raises(StoreError, match="Another program changed"):
        json_file.change(root, ".cm/memory/kv.json", change)
    assert json.loads(file.read_text()) == {"a": 2}
