"""Assembling for real: definitions, rules and mentions over a store, snapshots, and what goes wrong meanwhile."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from cm_tui.config.sections import ContextConfig
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.assembly import steps
from cm_tui.engine.context.assembly.snapshots import FOLDER, Snapshots
from cm_tui.engine.context.assembly.steps import keywords
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform import tokenizer
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError, NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.model import Assembly
from tests.waiting import let_others_go

Write = Callable[[str, str], Path]
RELEASE = """name: release
maxContribution: 400
steps:
  - {type: kv_get, keys: [release]}
  - {type: format, template: "Release codename: {{release.codename}}", maxTokens: 200}
"""


@pytest.fixture
def write(root: Path) -> Write:
    def written(path: str, text: str) -> Path:
        file = root / ".cm" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return written


def source(made: Assembly, id_: str):
    return next(one for one in made.sources if one.id == id_)


def test_the_documented_examples_reach_an_agent(engine: Engine, write: Write) -> None:
    write("retrieval/release.yaml", RELEASE)
    write("memory/kv.json", '{"release": {"codename": "Ibis"}}')
    write("notes/topics/architecture-notes.md", "# Architecture notes\n\nLayers point downwards.\n")
    rule = '{"condition": {"field": "task.text", "op": "contains", "value": "refactor"}, "action": {"include": "markdown://architecture-notes"}}'
    write("rules/architecture.json", rule)
    made = engine.assemble("refactor how the price is made")
    assert "Release codename: Ibis" in made.text
    assert "Layers point downwards." in made.text
    assert "def price(net):" in made.text
    assert source(made, "markdown://architecture-notes").rules == ("architecture",)
    assert made.tokens == tokenizer.count(made.text) <= made.budget == 4_000
    assert "Layers" not in engine.assemble("how is the price made").text


def test_rules_sources_and_budget_can_be_switched(engine: Engine, write: Write) -> None:
    write("retrieval/release.yaml", RELEASE)
    write("memory/kv.json", '{"release": {"codename": "Ibis"}, "off": "not on"}')
    write(
        "rules/a.json", '[{"name": "brings", "action": {"include": "kv://off", "cap": 50, "section": "suggestions"}}]'
    )
    made = engine.assemble("price", without=["definition://pack", "rule://brings"])
    assert source(made, "definition://pack").cut == "off"
    assert all(one.id != "kv://off" for one in made.sources)
    made = engine.assemble("price", without=["definition://pack"])
    assert source(made, "kv://off").section == "suggestions"
    assert source(made, "kv://off").cap == 50
    small = engine.assemble("price", budget=40)
    assert small.tokens <= 40
    assert any(one.cut == "budget" for one in small.sources)


def test_what_fails_or_is_slow_is_left_out_and_told(
    engine: Engine, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/kv.json", '{"a": ')
    write("retrieval/bad.yaml", "name: bad\nsteps: [{type: kv_get, keys: [a]}]\n")
    write("retrieval/slow.yaml", "name: slow\ntimeoutSeconds: 0.2\nsteps: [{type: rank}, {type: format}]\n")
    write("retrieval/worse.yaml", "name: worse\nsteps: [{type: log_search}]\n")
    write("retrieval/broken.yaml", "name: [")
    engine.assemble("what is loaded first takes longer", without=["definition://slow"])
    never = threading.Event()
    monkeypatch.setitem(dict_of_steps(), "rank", lambda *_: never.wait(60))
    monkeypatch.setitem(dict_of_steps(), "log_search", lambda *_: 1 / 0)
    # Returns before the step does.
    made = engine.assemble("price", budget=2_000)
    assert not never.is_set()
    never.set()
    assert "def price" in made.text
    assert source(made, "definition://bad").cut == "failed"
    assert "kv.json:1:7" in source(made, "definition://bad").why_cut
    assert "more than 0.2 s" in source(made, "definition://slow").why_cut
    assert "ZeroDivisionError" in source(made, "definition://worse").why_cut
    assert any("broken.yaml:1:" in one for one in made.warnings)
    assert {step.outcome for step in made.steps if step.source == "definition://slow"} == {"timeout"}
    assert "What is missing here" in made.text


def test_a_store_that_a_worker_cannot_read_is_told_and_ends_no_thread_with_an_error(
    engine: Engine, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/kv.json", '{"a": "b"}')
    write("rules/a.json", '[{"action": {"include": "kv://a"}}]')
    reading = Database.reading

    def closed_for_workers(store: Database) -> AbstractContextManager[int]:
        if threading.current_thread().name == "cm-assembly":
            raise StoreError("The store is closed.")
        return reading(store)

    monkeypatch.setattr(Database, "reading", closed_for_workers)
    made = engine.assemble("price", without=["definition://pack"])
    assert "The store is closed." in source(made, "kv://a").why_cut


def dict_of_steps() -> dict[str, object]:
    return steps.RUN  # type: ignore[return-value]


def test_a_definition_that_is_deleted_while_it_runs(
    engine: Engine, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("memory/kv.json", '{"release": {"codename": "Ibis"}}')
    file = write("retrieval/release.yaml", RELEASE)
    real = steps.RUN["kv_get"]
    monkeypatch.setitem(dict_of_steps(), "kv_get", lambda *given: (file.unlink(missing_ok=True), real(*given)))
    assert "Ibis" in engine.assemble("price").text
    assert "Ibis" not in engine.assemble("price").text


def test_identical_searches_are_made_once_and_kept_for_a_moment(engine: Engine, write: Write) -> None:
    for number in range(4):
        steps_ = "[{type: vector_search, index: code, topK: 3, minScore: 0}, {type: format, template: '{{path}} {{rank}} of N'}]"
        write(f"retrieval/v{number}.yaml", f"name: v{number}\nsteps: {steps_.replace('N', str(number))}\n")
    outcomes = [
        step.outcome for step in engine.assemble("net price", budget=3_000).steps if step.name == "vector_search"
    ]
    assert sorted(outcomes) in (["ok", "shared", "shared", "shared"], ["cached", "cached", "cached", "ok"]) or (set(outcomes) <= {
        "ok", "shared", "cached",
    } and outcomes.count("ok") == 1)  # fmt: skip
    again = [step.outcome for step in engine.assemble("net price", budget=3_000).steps if step.name == "vector_search"]
    assert again == ["cached"] * 4


def test_a_definition_that_asks_with_what_another_hands_over(engine: Engine, write: Write) -> None:
    write("memory/kv.json", '{"subject": "tax"}')
    write(
        "retrieval/a.yaml",
        "name: a\nenabled: false\nsteps: [{type: kv_get, keys: [subject]}, {type: format, template: '{{subject}}'}]\n",
    )
    view = "{type: graph_view_read, view: callers, params: {name: '{{query}}'}}"
    write("retrieval/b.yaml", f"name: b\nsteps: [{{type: derive_query, from: 'definition://a'}}, {view}]\n")
    assert "price calls tax" in source(engine.assemble("x"), "definition://b").text


def test_each_step(engine: Engine, write: Write) -> None:
    write("memory/kv.json", '{"n/1": {"score": 1}, "n/2": {"score": 5}, "n/3": {}}')
    one = "{type: kv_get, keys: ['n/*']}, {type: filter, where: {field: value.score, op: gt, value: 0}}"
    write(
        "retrieval/a.yaml",
        f"name: a\nsteps: [{one}, {{type: rank, by: combined, weights: {{recency: 0}}}}, {{type: format, template: '{{{{key}}}}={{{{value.score}}}}'}}]\n",
    )
    assert engine.run_definition("a").text.rstrip().endswith("n/1=1\nn/2=5")
    write(
        "retrieval/b.yaml",
        "name: b\nsteps: [{type: kv_get, keys: ['n/*']}, {type: format, template: '{{key}} {{value.score}}'}]\n",
    )
    made = engine.run_definition("b")
    assert "n/3" not in made.text
    assert any("'value.score'" in warning for warning in made.warnings)
    write(
        "retrieval/c.yaml",
        "name: c\nparams: {who: tax}\nsteps: [{type: derive_query, from: who, method: keyword_extract}, {type: graph_view_read, view: callers, params: {name: '{{who}}'}}, {type: format, maxTokens: 8}]\n",
    )
    assert (
        "price" not in engine.run_definition("c").text
        or tokenizer.count(engine.run_definition("c").sources[0].text) <= 8
    )
    assert keywords("How is ClientSession._request retried, and why the x_y?") == [
        "ClientSession._request",
        "retried",
        "x_y",
    ]


def test_a_model_that_is_switched_off_is_done_without(engine: Engine, write: Write, root: Path) -> None:
    from cm_tui.engine.api import definition_trust

    write(
        "retrieval/a.yaml",
        "name: a\nsteps: [{type: derive_query, method: llm_rephrase}, {type: vector_search, minScore: 0}]\n",
    )
    made = engine.assemble("how is the price made")
    assert source(made, "definition://a").cut == "held"
    with pytest.raises(RefusedError, match="cm trust"):
        engine.run_definition("a")
    definition_trust.trust(root, definition_trust.asking_files(root))
    made = engine.assemble("how is the price made")
    assert "price" in source(made, "definition://a").text or source(made, "definition://a").cut in (
        "duplicate",
        "budget",
    )
    assert any("is enabled" in warning for warning in made.warnings)


def test_mentions(engine: Engine, write: Write) -> None:
    write("notes/topics/till.md", "# Till\n\nIt is old.\n")
    said = engine.record_episode("why is it old", type="task", answer="because", session="s")
    prompt = f"see @shop.py#L4-L6, @tax, @note:till and @episode:{said.id}; mail a@example.org, `@price`, @shopp.py, @symbol:prize, @Override"
    made = engine.assemble(prompt, without=["definition://pack"])
    mentioned = {one.id for one in made.sources if one.kind == "mention"}
    assert mentioned == {
        "file://shop.py#L4-L6",
        "symbol://tax",
        "markdown://.cm/notes/topics/till.md",
        f"episode://{said.id}",
    }
    assert "It is old." in made.text
    assert any("@shopp.py: no such file. Did you mean @shop.py?" in one for one in made.warnings)
    assert any(one.startswith("@symbol:prize: no such symbol. Did you mean @price") for one in made.warnings)
    assert not any("Override" in one or "example" in one for one in made.warnings)
    assert engine.complete_mention("@sho") == ("@shop.py",)
    assert engine.complete_mention("@symbol:ta")[0] == "@symbol:tax"
    assert engine.complete_mention("@note:til") == ("@note:.cm/notes/topics/till.md",)


def test_a_mentioned_file_leaves_room_for_the_pack(engine: Engine, root: Path) -> None:
    (root / "shop.py").write_text((root / "shop.py").read_text() + "# Of no use here.\n" * 2_000)
    made = engine.assemble("how is the price made in @shop.py", budget=1_000)
    file = source(made, "file://shop.py")
    assert (file.cut, file.cap) == ("cap", 500)
    assert file.tokens <= 500
    assert source(made, "definition://pack").tokens
    named = engine.assemble("how is the price made in @shop.py#L1-L1500", budget=1_000)
    assert source(named, "file://shop.py#L1-L1500").tokens > 500


def test_running_a_definition_by_hand(engine: Engine, write: Write) -> None:
    write("retrieval/release.yaml", RELEASE.replace("name: release", "name: release\nenabled: false"))
    with pytest.raises(NotFoundError, match="Did you mean release"):
        engine.run_definition("relese")
    with pytest.raises(UsageError, match="has no parameter 'x'"):
        engine.run_definition("release", values={"x": "1"})
    assert engine.run_definition("release").text == ""
    write("memory/kv.json", '{"release": 1')
    with pytest.raises(CmError, match=r"kv\.json:1:14"):
        engine.run_definition("release")
    write("retrieval/wrong.yaml", "name: wrong\nsteps: 3\n")
    with pytest.raises(UsageError, match=r"wrong\.yaml:2:8"):
        engine.run_definition("wrong")
    pack = engine.run_definition("pack", values={"text": "how is the price made"}, budget=600)
    items = [item.path for item in engine.pack("how is the price made", budget=600).items if item.included]
    assert pack.sources[0].paths == tuple(dict.fromkeys(items))


def test_the_pack_is_a_definition_that_a_project_can_replace(engine: Engine, write: Write) -> None:
    whole = engine.pack("how is tax used by price")
    write("retrieval/pack.yaml", "name: pack\nsteps: [{type: code_pack, neighbours: false}]\n")
    alone = engine.pack("how is tax used by price")
    assert not any("calls" in item.why or "called" in item.why for item in alone.items if item.included)
    assert len(alone.items) <= len(whole.items)


def test_snapshots_are_kept_listed_and_compared(engine: Engine, root: Path) -> None:
    first = engine.assemble("how is the price made", session="s1", agent="codex")
    second = engine.assemble("how is the tax made", budget=60)
    engine.assemble("not kept", keep=False)
    assert [one.id for one in engine.assemblies().rows] == [second.id, first.id]
    assert [one.id for one in engine.assemblies(match="PRICE").rows] == [first.id]
    assert [one.agent for one in engine.assemblies(session="s1").rows] == ["codex"]
    assert engine.assembly("last") == second
    assert engine.assembly("last~1") == engine.assembly(first.id) == first
    found = engine.compare_assemblies("last~1", "last")
    assert found.changes[0].what == "changed"
    assert found.changes[0].diff.startswith("--- before")
    for wrong, kind in (
        ("last~2", NotFoundError),
        ("zzz", NotFoundError),
        ("../x", UsageError),
        (first.id[0], UsageError),
    ):
        with pytest.raises(kind):
            engine.assembly(wrong)
    folder = folder_of(root) / FOLDER
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.iterdir())
    damaged = folder / f"{second.id}.json.gz"
    damaged.write_bytes(damaged.read_bytes()[:50])
    assert [one.id for one in Snapshots(root, 10).heads()] == [first.id]


def test_only_so_many_snapshots_are_kept(engine: Engine, root: Path) -> None:
    made = engine.assemble("x", keep=False)
    snapshots = Snapshots(root, 5)
    for _ in range(9):
        snapshots.keep(made)
    assert len(list(snapshots.heads())) == 5
    assert Snapshots(root, 0).keep(made).id == ""
    assert ContextConfig().snapshots == 500


def test_a_snapshot_has_no_secret_and_none_is_kept_in_a_pause(engine: Engine, root: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    kept = engine.assemble(f"why is {secret} here")
    assert secret not in str(engine.assembly(kept.id))
    gate.begin(folder_of(root).name, None)
    made = engine.assemble("how is the price made")
    assert made.id == ""
    assert any("No snapshot was saved" in note for note in made.notes)
    assert len(engine.assemblies().rows) == 1


def test_a_cache_makes_an_answer_once_and_keeps_no_failure() -> None:
    cache, made = SharedResults(60), []
    begin = threading.Barrier(4)

    def make() -> int:
        let_others_go()
        made.append(1)
        return len(made)

    found: list[object] = []

    def ask() -> None:
        begin.wait()
        found.append(cache.get("key", make))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert {value for value, _ in found} == {1}  # type: ignore[misc]
    assert cache.get("key", make) == (1, "cached")
    with pytest.raises(ZeroDivisionError):
        cache.get("other", lambda: 1 // 0)
    assert cache.get("other", lambda: 2) == (2, "ok")
    assert SharedResults(0).get("key", os.getpid)[1] == "ok"


def test_a_prompt_that_is_no_utf8_is_assembled_for_and_kept(engine: Engine, write: Write) -> None:
    write("memory/kv.json", '{"a": "here"}')
    condition = '{"field": "task.text", "op": "matches", "value": "ref.ctor"}'
    write("rules/a.json", f'{{"name": "a", "condition": {condition}, "action": {{"include": "kv://a"}}}}')
    made = engine.assemble("refactor \ud83d @shop.py it \udc80")
    assert source(made, "kv://a").text
    assert source(made, "file://shop.py").text
    assert engine.assembly(made.id).prompt == made.prompt


def test_brackets_in_a_reference_are_letters(engine: Engine, write: Write) -> None:
    write("memory/kv.json", '{"page/[id]": "in brackets", "page/i": "one letter"}')
    write(
        "rules/a.json",
        '[{"action": {"exclude": "kv://page/[id]"}}, {"action": {"include": ["kv://page/[id]", "kv://page/i"]}}]',
    )
    made = engine.assemble("x", without=["definition://pack"])
    assert source(made, "kv://page/[id]").cut == "rule"
    assert source(made, "kv://page/i").text
