"""One contract for both engines: straight to the store, and through the daemon."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from cm_tui.daemon.client import RemoteEngine
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.rpc import METHODS, plain
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.local import stale
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.recalls import recall_log
from cm_tui.errors import CancelledError, CmError, NotFoundError, NotIndexedError, RefusedError, UsageError
from cm_tui.model import (
    Assembly,
    Cancel,
    Entry,
    EntryEdit,
    EpisodeEdit,
    EpisodeFilter,
    IngestRun,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    PackRequest,
    Page,
    SearchResult,
    SymbolKey,
)
from cm_tui.model.tuning import Mark
from tests.cli.conftest import git
from tests.daemon.conftest import daemons_allowed, make_project
from tests.daemon.watched import Watched


@pytest.fixture(scope="module", params=["local", "remote"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def cm_home(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all tests of a kind of engine."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        # The recall log is written late, by a timer: the write would be attributed to a later call.
        patch.setattr(recall_log, "DELAY_SECONDS", 1e6)
        # On a busy machine too, what names became is looked at to the end.
        patch.setattr(stale, "_WAIT_S", 60.0)
        if kind == "local":
            yield home
        else:
            with daemons_allowed(home, in_process=True):
                yield home


@pytest.fixture(scope="module", name="open_engine")
def opener(kind: str, cm_home: Path) -> Callable[[Path], Engine]:
    def opened(root: Path) -> Engine:
        engine = open_engine(root)
        assert isinstance(engine, LocalEngine if kind == "local" else RemoteEngine)
        return engine

    return opened


@pytest.fixture(scope="module")
def engine(open_engine: Callable[[Path], Engine], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Of an indexed project that tests only ask."""
    root = make_project(tmp_path_factory.mktemp("asked"))
    for path, text in DEFINITIONS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    engine = open_engine(root)
    for prompt in ("why is the tax wrong", "no git here", "round it\x1b[31m"):
        head = None if prompt.startswith("no git") else engine.status().head
        said = {"agent": "codex", "session": "s", "prompts": [prompt], "patch": "+round\n", "root": str(engine.root)}
        Journal.of(engine.root).append("episode", said, head=head)
    for _ in engine.index():
        pass
    yield engine
    engine.close()


@pytest.fixture
def new_engine(open_engine: Callable[[Path], Engine], tmp_path: Path) -> Iterator[Engine]:
    """Of a project of its own, not indexed."""
    engine = open_engine(make_project(tmp_path / "shop"))
    yield engine
    engine.close()


def _failure(asked: Callable[[], object]) -> CmError:
    with pytest.raises(CmError) as told:
        asked()
    return told.value


def _refused(asked: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as told:
        asked()
    return str(told.value)


DEFINITIONS = {
    ".cm/retrieval/release.yaml": (
        "name: release\nenabled: true\nmaxContribution: 400\nsteps:\n  - {type: kv_get, keys: [release]}\n"
        '  - {type: format, template: "Codename: {{release.codename}} {{who}}", maxTokens: 200}\n'
        "params: {who: nobody}\n"
    ),
    ".cm/retrieval/broken.yaml": "name: broken\nsteps:\n  - {type: kv_gt}\n",
    ".cm/retrieval/sends.yaml": "name: sends\nsteps: [{type: derive_query, method: llm_rephrase}, {type: vector_search}]\n",
    ".cm/rules/architecture.json": '{"rules": [{"name": "architecture", "condition": {"field": "task.text", "op": '
    '"contains", "value": "refactor"}, "action": {"include": "kv://notes"}}]}',
    ".cm/ingestion/keep.yaml": (
        "name: keep\ntriggers: [manual]\nprocessors: [{type: normalizer}]\n"
        'routes: [{foreach: items, writeTo: "kv://kept/{{digest}}", value: "{{text}}"}]\n'
    ),
    ".cm/ingestion/outside.yaml": (
        "name: outside\ntriggers: [manual]\nprocessors: [{type: normalizer}]\n"
        'routes: [{foreach: items, writeTo: "log://said", value: "{{text}}"}]\n'
    ),
    ".cm/memory/kv.json": '{"release": {"codename": "Basilisk"}, "notes": "Keep cents."}',
}


def traced(made: Assembly) -> dict[str, Any]:
    """What an assembly says, without ids, times and what costs differently in each run."""
    sources = [
        (one.id, one.kind, one.section, one.cut, one.why_cut if one.cut == "held" else "", one.rules, one.file, one.cap)
        for one in made.sources
    ]
    return {
        "prompt": made.prompt, "budget": made.budget, "within": made.tokens <= made.budget, "sources": sources,
        "rules": made.rules, "warnings": made.warnings, "steps": sorted(f"{one.source} {one.name}" for one in made.steps),
        "of": (made.session, made.agent, made.files, made.without, made.definition, made.tokenizer, bool(made.id)),
        "codename": "Basilisk" in made.text,
    }  # fmt: skip


def ran(run: IngestRun) -> dict[str, Any]:
    """What a run says, without its id and times."""
    return {**plain(dataclasses.replace(run, time=0.0, ms=0.0)), "id": "", "event": bool(run.event)}


NOWHERE = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"), "/nowhere")
MARK = Mark("where is tax added", "shop/money.py", "add_tax", 6, 8, right=True)
REQUEST = PackRequest("shop/money.py", 6, 8, "add_tax", "by hand")
CALLS: dict[str, list[Callable[[Engine], Any]]] = {
    "status": [lambda engine: engine.status()],
    "stale_reason": [lambda engine: engine.stale_reason()],
    "freshness": [lambda engine: engine.freshness().behind],
    "plan": [lambda engine: engine.plan(), lambda engine: engine.plan(full=True, since="HEAD")],
    "index": [lambda engine: list(engine.index()), lambda engine: list(engine.index(paths=["shop/money.py"]))],
    "search": [
        lambda engine: engine.search("add a tax"),
        lambda engine: engine.search("Cart", profile="memory", mode="keyword", limit=2),
        lambda engine: engine.search("Cart", profile=engine.profiles()["notes"]),
        lambda engine: engine.search("half of a pair \udcff and \0"),
        lambda engine: engine.search(""),
        lambda engine: engine.search("tax of a cart", by="file"),
        lambda engine: engine.search("tax of a cart", by="file", limit=1, profile="notes", mode="keyword"),
        lambda engine: engine.search("tax path:shop lang:py -kind:class"),
        lambda engine: engine.search("kind:function in:code"),
        lambda engine: engine.search("add_txa lang:pyhton path:../x"),
    ],
    "retrieve": [
        lambda engine: dataclasses.replace(engine.retrieve("tax"), table=None),
        lambda engine: dataclasses.replace(engine.retrieve("add_txa path:shop"), table=None),
    ],
    "why_not": [
        lambda engine: engine.why_not("tax of a cart", "pay"),
        lambda engine: engine.why_not("tax of a cart", "shop/money.py:7", limit=1, mode="keyword"),
        lambda engine: engine.why_not("tax -path:shop", "add_tax"),
        lambda engine: engine.why_not("tax", "add_txa"),
        lambda engine: engine.why_not("tax", "package-lock.json"),
        lambda engine: engine.why_not("tax", "shop", profile=engine.profiles()["notes"]),
    ],
    "rank": [
        lambda engine: engine.rank(engine.retrieve("tax"), engine.profiles()["code"], limit=3),
        lambda engine: engine.rank(engine.retrieve("add_txa path:shop"), engine.profiles()["code"], limit=3),
        lambda engine: engine.rank(engine.retrieve("tax"), engine.profiles()["code"], limit=2, by="file"),
    ],
    "profiles": [lambda engine: engine.profiles()],
    "packaged_profiles": [lambda engine: engine.packaged_profiles()],
    "files": [lambda engine: engine.files(), lambda engine: engine.files("shop")],
    "skipped": [lambda engine: engine.skipped()],
    "symbols": [
        lambda engine: engine.symbols(),
        lambda engine: engine.symbols(file="shop/cart.py", kind="method", limit=1),
        lambda engine: engine.symbols(match="adtx"),
    ],
    "definitions": [lambda engine: engine.definitions("add_tax"), lambda engine: engine.definitions("Cart.total")],
    "callers": [
        lambda engine: engine.callers("add_tax", depth=3),
        lambda engine: engine.callers(SymbolKey("shop/money.py", "add_tax", "function")),
        lambda engine: engine.callers("add_tax", at="HEAD"),
    ],
    "callees": [lambda engine: engine.callees("pay"), lambda engine: engine.callees("receipt", depth=2)],
    "dependencies": [lambda engine: engine.dependencies("shop/checkout.py")],
    "importers": [lambda engine: engine.importers("shop.money"), lambda engine: engine.importers("shop/cart.py")],
    "source": [lambda engine: engine.source("shop/money.py", 6, 8), lambda engine: engine.source("weird name [x].py")],
    "pack": [
        lambda engine: engine.pack("what is the tax"),
        lambda engine: engine.pack("tax", budget=50, neighbours=False),
    ],
    "pack_items": [lambda engine: engine.pack_items([REQUEST], question="tax?"), lambda engine: engine.pack_items([])],
    "neighbours": [lambda engine: engine.neighbours([REQUEST])],
    "mainline": [lambda engine: engine.mainline(), lambda engine: engine.mainline(match="Open the", before=9, limit=1)],
    "resolve": [lambda engine: engine.resolve("HEAD"), lambda engine: engine.resolve("#1")],
    "history": [lambda engine: (list(engine.backfill()), dataclasses.replace(engine.history(), running=False))[1]],
    "backfill": [lambda engine: list(engine.backfill())[-1], lambda engine: list(engine.backfill(depth=1))[-1]],
    "wants_history": [lambda engine: (list(engine.backfill()), engine.wants_history())[1]],
    "catch_up": [lambda engine: (list(engine.backfill()), list(engine.catch_up()))[1]],
    "symbols_at": [
        lambda engine: engine.symbols_at("HEAD", kind="function"),
        lambda engine: engine.symbols_at("#1", file="shop/cart.py", match="tot", limit=1),
    ],
    "files_at": [lambda engine: engine.files_at("HEAD"), lambda engine: engine.files_at("#1", "shop")],
    "changes": [lambda engine: engine.changes("#1", "HEAD")],
    "symbol_history": [
        lambda engine: engine.symbol_history("add_tax", callers=True),
        lambda engine: engine.symbol_history(SymbolKey("shop/money.py", "add_tax", "function")),
    ],
    "drift": [lambda engine: engine.drift(), lambda engine: engine.drift("#1", limit=2)],
    "prune": [lambda engine: engine.prune(before="HEAD", dry_run=True)],
    "episodes": [
        lambda engine: engine.episodes(),
        lambda engine: engine.episodes(match="tax codex", limit=1),
        lambda engine: engine.episodes(before=engine.episodes().rows[0].id),
    ],
    "recall": [
        lambda engine: engine.recall("why is the tax wrong"),
        lambda engine: engine.recall("tax", limit=1, where=EpisodeFilter(agents=("codex",))),
    ],
    "episode": [lambda engine: engine.episode("last"), lambda engine: engine.episode(engine.episodes().rows[1].id)],
    "sessions": [
        lambda engine: engine.sessions(),
        lambda engine: engine.sessions(where=EpisodeFilter(agents=("codex",), text="tax"), limit=1),
    ],
    "episode_stats": [
        lambda engine: engine.episode_stats(),
        lambda engine: engine.episode_stats(where=EpisodeFilter(text="tax"), days=3),
    ],
    "edit_episodes": [
        lambda engine: (engine.edit_episodes(["last"], EpisodeEdit(("bug",), pinned=True)).ids, engine.undo().words)[1],
    ],
    "undo": [
        lambda engine: (
            (engine.edit_episodes(["last"], EpisodeEdit(rating=1)), engine.undo(dry_run=True), engine.undo())[1].words
        ),
    ],
    "secrets": [lambda engine: engine.secrets()],
    "erase": [lambda engine: engine.erase([engine.episode("last").id], dry_run=True)],
    "forget": [lambda engine: (engine.forget("last"), engine.episodes(), engine.forget("last", undo=True))[1]],
    "remember": [lambda engine: engine.remember("Tax is rounded half up.", category="rule", keywords=("tax", "cents"))],
    "entries": [
        lambda engine: (engine.remember("Carts are kept for a day."), engine.entries(match="carts day"))[1],
        lambda engine: engine.entries(category="Rule", scope="project", limit=1),
    ],
    "entry": [lambda engine: engine.entry(engine.remember("Prices are in cents.").id)],
    "update_entry": [
        lambda engine: engine.update_entry(engine.remember("Old.").id, EntryEdit("New.", title="A title")),
        lambda engine: engine.update_entry(engine.remember("Mine.").id, EntryEdit("Yours."), actor="agent", agent="a"),
    ],
    "notes": [
        lambda engine: (
            (engine.append_note("Prices are in cents.", name="prices"), engine.notes(match="prices"))[1].total
        ),
        lambda engine: engine.notes(kind="instructions", scope="project"),
    ],
    "note": [
        lambda engine: (engine.append_note("Carts are kept.", name="carts"), engine.note("carts", lines=1))[1].text,
    ],
    "search_notes": [
        lambda engine: (
            (engine.append_note("Tax is a share.", name="tax"), engine.search_notes("tax share", min_score=0.0))[1]
            .hits[0]
            .path
        ),
        lambda engine: engine.search_notes("nothing of that", limit=1, min_score=0.9).hits,
    ],
    "day_logs": [lambda engine: [one.text.count("Told") for one in engine.day_logs()]],
    "append_note": [lambda engine: engine.append_note("Told.", actor="agent", agent="a", session="s").id],
    "write_note": [
        lambda engine: engine.write_note("user:style.md", "One.\n").conflict,
        lambda engine: engine.write_note("user:style.md", "Two.\n", base="None.\n").conflict,
    ],
    "publish_rules": [
        lambda engine: (
            (engine.remember("Round half up.", category="rule"), engine.publish_rules("GEMINI.md"))[1].change != ""
        ),
        lambda engine: engine.publish_rules("GEMINI.md", remove=True).rules,
        lambda engine: engine.publish_rules("AGENTS.md", remove=True, dry_run=True).diff,
    ],
    "note_conflicts": [lambda engine: engine.note_conflicts()],
    "move_note": [
        lambda engine: (engine.append_note("Moved.", name="here"), engine.move_note("here", "topics/there"))[1].id,
    ],
    "delete_note": [lambda engine: (engine.append_note("Gone.", name="gone"), engine.delete_note("gone"))[1].words],
    "propose_entry": [
        lambda engine: engine.propose_entry("Rounded half up, everywhere.", category="rule", agent="a"),
        lambda engine: engine.propose_entry("Rounded half up, everywhere.", category="rule", agent="b"),
    ],
    "forget_memory": [
        lambda engine: engine.forget_memory(engine.remember("Nothing.").id),
        lambda engine: engine.forget_memory(engine.remember("Mine too.").id, actor="agent", agent="a", reason="old"),
    ],
    "stale_items": [
        lambda engine: engine.stale_items(),
        lambda engine: engine.stale_items(kind="episode", everything=True, limit=1),
    ],
    "mentions_of": [lambda engine: engine.mentions_of(engine.remember("`add_tax` adds the tax.").id).mentions],
    "fix_stale": [lambda engine: _refused(lambda: engine.fix_stale(engine.remember("`add_tax` is fine.").id))],
    "confirm_stale": [lambda engine: _refused(lambda: engine.confirm_stale(engine.remember("`add_tax` is so.").id))],
    "record_task": [lambda engine: len(engine.record_task("round", plan="half up", files=("shop/money.py",)))],
    "proposals": [lambda engine: engine.proposals()],
    "decide": [
        lambda engine: engine.decide(engine.proposals().rows[0].id, accept=False),
        lambda engine: engine.decide(engine.proposals().rows[0].id, accept=True),
    ],
    "approve_entry": [lambda engine: engine.approve_entry(rule_of(engine, "Round half up, here."))],
    "move_entry": [lambda engine: engine.move_entry(engine.remember("Moved away.").id, "user")],
    "merge_entries": [
        lambda engine: engine.merge_entries([engine.remember(text).id for text in ("Tea at one.", "Tea at two.")]),
    ],
    "duplicate_entries": [
        lambda engine: (
            [engine.remember(f"Receipts are printed on thick blue paper {n}.") for n in (1, 2)],
            [pair.only_second for pair in engine.duplicate_entries().rows if "thick" in pair.first.content],
        )[1],
    ],
    "promote_episode": [
        lambda engine: engine.promote_episode("last", content="Tax is a share.", category="rule"),
        lambda engine: engine.promote_episode(engine.episodes().rows[0].id, title="What was asked"),
    ],
    "inject": [
        lambda engine: len(engine.inject(prompt="tax", files=("shop/money.py",)).rows) > 0,
        lambda engine: engine.inject(budget=0).text,
    ],
    "cache_for_session": [lambda engine: engine.cache_for_session("s1", "k", "v")],
    "cached_for_session": [
        lambda engine: (engine.cache_for_session("s2", "k", "v"), engine.cached_for_session("s2", "k"))[1],
        lambda engine: engine.cached_for_session("s3", "k"),
    ],
    "note_recalled": [lambda engine: engine.note_recalled(["entry/gggggg1"], actor="agent", agent="a")],
    "recall_counts": [
        lambda engine: [one.path for one in engine.recall_counts(["entry/gggggg1", "entry/never"])],
    ],
    "put_mark": [
        lambda engine: engine.put_mark(MARK),
        lambda engine: engine.put_mark(dataclasses.replace(MARK, question="how  is a cart\tsummed", right=False)),
    ],
    "marks": [lambda engine: engine.marks()],
    "propose_weights": [lambda engine: engine.propose_weights()],
    "remove_mark": [lambda engine: engine.remove_mark(MARK), lambda engine: engine.remove_mark(MARK)],
    "imports": [
        lambda engine: engine.imports(environment=NOWHERE),
        lambda engine: engine.imports(agents=["codex"], environment=NOWHERE),
    ],
    "import_sessions": [lambda engine: list(engine.import_sessions(environment=NOWHERE))],
    "narrate": [
        lambda engine: [step.stage for step in engine.narrate(dry_run=True)],
        lambda engine: dataclasses.replace(list(engine.narrate(since=0.0))[-1].narrated, proposals=()),
    ],
    "narrated": [
        lambda engine: [one.text for one in engine.narrated().rows],
        lambda engine: engine.narrated(
            NarratedFilter(("approved", "rejected"), ("command",), "tax", policy=False), limit=1
        ),
    ],
    "propose_fact": [
        lambda engine: proposed(engine, "Tax is added last."),
        lambda engine: _refused(lambda: engine.propose_fact(" ", scope="user", agent="a")),
    ],
    "narrated_proposal": [
        lambda engine: dataclasses.replace(
            engine.narrated_proposal(proposed(engine, "Tax is paid late.").id), first=0, last=0
        )
    ],
    "decide_narrated": [
        lambda engine: [done.problem for done in engine.decide_narrated(["nzzzzzz"], NarratedDecision("reject", "no"))],
        lambda engine: [
            (done.done, done.words)
            for done in engine.decide_narrated(
                [proposed(engine, "Tax is due.").id], NarratedDecision("approve", text="Tax.")
            )
        ],
        lambda engine: _refused(lambda: engine.decide_narrated([], NarratedDecision("defer"))),
    ],
    "undo_narrated": [
        lambda engine: (
            engine.decide_narrated([proposed(engine, "Tax is hard.").id], NarratedDecision("approve")),
            engine.undo_narrated(proposed(engine, "Tax is hard.").id).done,
        )[1],
        lambda engine: _refused(lambda: engine.undo_narrated(proposed(engine, "Tax is easy.").id)),
    ],
    "narrator_cost": [lambda engine: engine.narrator_cost()],
    "change_topics": [
        lambda engine: engine.change_topics("create", ["money"], title="Money", tags=("tax",)).id,
        lambda engine: _refused(lambda: engine.change_topics("merge", ["money"])),
    ],
    "topics": [lambda engine: [(one.id, one.tags) for one in engine.topics(retired=True).topics]],
    "episode_moments": [lambda engine: engine.episode_moments()],
    "assemble": [
        lambda engine: traced(engine.assemble("refactor the tax", session="s", agent="a", files=("shop/money.py",))),
        lambda engine: traced(engine.assemble("tax @nope.py @shop/cart.py", budget=300, keep=False)),
        lambda engine: traced(engine.assemble("refactor", without=("definition://pack", "rule://architecture"))),
        lambda engine: traced(engine.assemble("half of a pair \udcff and \0")),
    ],
    "run_definition": [
        lambda engine: traced(engine.run_definition("release", values={"who": "Ada"})),
        lambda engine: traced(engine.run_definition("pack", values={"text": "tax"}, budget=500, session="s")),
    ],
    "assemblies": [
        lambda engine: (
            (
                (
                    engine.assemble("list me", session="listed"),
                    engine.assemblies(session="listed", match="list", limit=1),
                )[1]
            )
            .rows[0]
            .prompt
        ),
        lambda engine: engine.assemblies(match="nothing like that"),
    ],
    "assembly": [
        lambda engine: (engine.assemble("show me"), traced(engine.assembly("last")))[1],
        lambda engine: (made := engine.assemble("whole record"), engine.assembly(made.id) == made)[1],
    ],
    "compare_assemblies": [
        lambda engine: (
            [engine.assemble("refactor", without=off) for off in ((), ("definition://release",))],
            (found := engine.compare_assemblies("last~1", "last")),
            ([(one.id, one.what, one.first_cut, one.second_cut) for one in found.changes], found.rules, found.warnings),
        )[2],
    ],
    "context_definitions": [
        lambda engine: [dataclasses.astuple(one) for one in engine.context_definitions().items],
        lambda engine: [one.text for one in engine.context_definitions().problems],
    ],
    "new_definition": [lambda engine: (engine.root / engine.new_definition("ingestion", "fresh")).unlink()],
    "complete_mention": [
        lambda engine: engine.complete_mention("@shop/ca"),
        lambda engine: engine.complete_mention("@", limit=2),
    ],
    "read_memory": [
        lambda engine: plain(engine.read_memory("kv://release")),
        lambda engine: engine.read_memory("graph://callers?name=add_tax").paths,
        lambda engine: engine.read_memory("working://*", session="nobody").value,
    ],
    "write_memory": [
        lambda engine: engine.write_memory("kv://port", "8123", ttl=60).value,
        lambda engine: (
            engine.write_memory("working://plan", "round", session="w"),
            engine.read_memory("working://plan", session="w").value,
            engine.write_memory("working://plan", "", session="w").value,
        )[1:],
    ],
    "ingest": [
        lambda engine: ran(engine.ingest("keep", "Said once.")),
        lambda engine: ran(engine.ingest("keep", "Said once.")),
        lambda engine: ran(engine.ingest("keep", "Said once.", values={"who": "Ada"})),
    ],
    "ingest_pending": [lambda engine: engine.ingest_pending()],
    "ingest_runs": [
        lambda engine: (engine.ingest("keep", "Listed."), ran(engine.ingest_runs(pipeline="keep", limit=1).rows[0]))[1],
        lambda engine: engine.ingest_runs(outcome="failed"),
    ],
    "ingest_again": [
        lambda engine: type(_failure(lambda: engine.ingest_again(engine.ingest("keep", "Fine.").id))).__name__,
    ],
    "doctor": [lambda engine: [check.name for check in engine.doctor()]],
}


def proposed(engine: Engine, text: str) -> NarratedProposal:
    """Propose something as an agent; whenever that is, it is the same."""
    return dataclasses.replace(engine.propose_fact(text, why="so", agent="a"), first=0, last=0)


def rule_of(engine: Engine, text: str) -> Entry:
    return engine.remember(text, category="rule", actor="agent", agent="a")


CHANGING = {"rebuild", "reset", "save_profile", "reset_profile", "record_episode", "retention", "purge"}
"""What is tested on a project of its own, below."""

_answers: dict[tuple[str, int], dict[str, Any]] = {}
VOLATILE = {
    "took_ms", "seconds", "indexed_at", "disk_bytes", "store", "root", "identity", "name", "estimated_seconds", "head",
    "indexed_head", "sha", "time", "asked", "text", "id", "began", "ended", "timestamp", "commit", "change", "proposal",
    "target", "words", "made_from",
    # A daemon also reads what was recorded beside the questions: in how many steps, nobody knows.
    "generation",
}  # fmt: skip


def test_every_method_is_in_the_contract():
    assert set(CALLS) | CHANGING == set(METHODS)


@pytest.mark.parametrize(("name", "number"), [(name, n) for name, calls in CALLS.items() for n in range(len(calls))])
def test_both_engines_give_the_same_records(kind: str, engine: Engine, name: str, number: int):
    # What it writes is seen where nothing else writes meanwhile.
    answer = CALLS[name][number](cast("Engine", Watched(engine)) if kind == "local" else engine)
    seen = _answers.setdefault((name, number), {})
    seen[kind] = (type(answer), _steady(plain(answer)))
    if len(seen) == 2:
        assert seen["local"] == seen["remote"]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        # A name counts among a pack's tokens.
        named = "markdown" in value or str(value.get("path", "")).startswith("episode/")
        left_out = VOLATILE | {"tokens"} if named else VOLATILE
        return {key: _steady(item) for key, item in value.items() if key not in left_out}
    if isinstance(value, str):
        # Each engine has a memory of its own, whose episodes and entries have names of their own.
        return re.sub(r"(episode|entry)/\w+", r"\1/ID", value)
    return [_steady(item) for item in value] if isinstance(value, list) else value


def test_files_are_counted_by_the_limit_and_ranked_from_all_passages(engine: Engine):
    candidates, profile = engine.retrieve("tax of a cart"), engine.profiles()["code"]
    every = engine.rank(candidates, profile, limit=2**31)
    paths = list(dict.fromkeys(hit.path for hit in every.hits))
    assert len(paths) < len(every.hits)
    for limit in (0, 1, len(paths), 2**31):
        result = engine.rank(candidates, profile, limit=limit, by="file")
        assert [file.path for file in result.files] == paths[:limit]
        assert (result.hits, result.total, result.total_files) == ((), every.total, len(paths))
    few = dataclasses.replace(profile, limit=2)
    assert len(engine.rank(candidates, few, by="file").files) == 2
    assert len(engine.rank(candidates, dataclasses.replace(few, quotas={"code": 3}), by="file").files) <= 3
    assert sum(len(file.hits) + file.more for file in result.files) == every.total
    with pytest.raises(UsageError):
        engine.search("tax", by="folder")


def test_records_come_back_as_what_they_are(engine: Engine):
    result = engine.search("add_tax")
    assert isinstance(result, SearchResult)
    best = result.hits[0]
    assert best.path == "shop/money.py"
    assert abs(sum(part.contribution for part in best.parts) - best.score) < 1e-6
    page = engine.callers("add_tax")
    assert isinstance(page, Page)
    assert page.rows[0].qualname == "Cart.total"
    assert isinstance(page.rows, tuple)


@pytest.mark.parametrize("number", [10**400, 2**63, 2**31, 0, -(10**400)])
def test_numbers_beyond_reason_mean_all_or_nothing(engine: Engine, number: int):
    every = engine.symbols(limit=1000)
    assert engine.symbols(limit=number).rows == (every.rows if number > 0 else ())
    assert len(engine.symbols(match="cart", limit=number).rows) == (
        len(engine.symbols(match="cart").rows) if number > 0 else 0
    )
    assert engine.symbols_at("HEAD", limit=number).total == every.total
    for match in ("", "shop"):
        assert engine.mainline(match=match, limit=number).total == engine.mainline(match=match).total
        engine.mainline(match=match, before=number)
    assert engine.search("cart", limit=number).total == engine.search("cart").total
    assert engine.pack("cart", budget=number).question == "cart"
    assert engine.episodes(limit=number).total == engine.episodes().total
    assert engine.drift(limit=number).total == engine.drift().total


def test_root_is_the_repository(engine: Engine):
    assert (engine.root / ".git").is_dir()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda engine: engine.search("x", profile="nope"), UsageError),
        (lambda engine: engine.definitions("no_such_thing"), NotFoundError),
        (lambda engine: engine.source("../../etc/passwd"), RefusedError),
        (lambda engine: engine.source("/etc/passwd"), RefusedError),
        (lambda engine: engine.symbols(file="missing.py"), NotFoundError),
        (lambda engine: engine.symbols(kind="nonsense"), UsageError),
        (lambda engine: engine.symbols_at("HEAD", kind="nonsense"), UsageError),
        (lambda engine: engine.dependencies("../outside.py"), RefusedError),
        (lambda engine: engine.plan(since="no-such-ref"), NotFoundError),
        (lambda engine: list(engine.index(since="no-such-ref")), NotFoundError),
        (lambda engine: engine.resolve("no-such-ref"), NotFoundError),
        (lambda engine: engine.resolve("--upload-pack=x"), UsageError),
        (lambda engine: engine.symbols_at("#99"), NotFoundError),
        (lambda engine: engine.symbol_history("never_was"), NotFoundError),
        (lambda engine: engine.episode("no-such-episode"), NotFoundError),
        (lambda engine: engine.erase(), UsageError),
        (lambda engine: engine.erase(["no-such-event"]), NotFoundError),
        (lambda engine: engine.imports(agents=["nobody"]), UsageError),
        (lambda engine: list(engine.import_sessions(agents=["nobody"])), UsageError),
        (lambda engine: engine.forget("no-such-episode"), NotFoundError),
        (lambda engine: engine.forget("last", undo=True), NotFoundError),
        (lambda engine: engine.assemble("tax", budget=0), UsageError),
        (lambda engine: engine.assemble("x" * 200_000), UsageError),
        (lambda engine: engine.assemble("tax", files=("../up.py",)), RefusedError),
        (lambda engine: engine.run_definition("relase"), NotFoundError),
        (lambda engine: engine.run_definition("sends", values={"text": "tax"}), RefusedError),
        (lambda engine: engine.run_definition("broken"), UsageError),
        (lambda engine: engine.assembly("nosuch"), NotFoundError),
        (lambda engine: engine.assembly("last~9999"), NotFoundError),
        (lambda engine: engine.compare_assemblies("last", "nosuch"), NotFoundError),
        (lambda engine: engine.new_definition("rule", "../up"), UsageError),
        (lambda engine: engine.new_definition("retrieval", "release"), RefusedError),
        (lambda engine: engine.new_definition("recipe", "x"), UsageError),
        (lambda engine: engine.read_memory("nothing"), UsageError),
        (lambda engine: engine.read_memory("kx://a"), UsageError),
        (lambda engine: engine.read_memory("kv://nothing"), NotFoundError),
        (lambda engine: engine.read_memory("graph://callers"), UsageError),
        (lambda engine: engine.write_memory("markdown://x", "y"), UsageError),
        (lambda engine: engine.write_memory("working://x", "y"), UsageError),
        (lambda engine: engine.write_memory("kv://a", "1", ttl=0), UsageError),
        (lambda engine: engine.ingest("no-such-pipeline", "x"), NotFoundError),
        (lambda engine: engine.ingest("outside", "x"), RefusedError),
        (lambda engine: engine.ingest_again("no-such-run"), NotFoundError),
        (lambda engine: engine.remember("  "), UsageError),
        (lambda engine: engine.approve_entry(engine.remember("No rule.")), UsageError),
        (lambda engine: engine.move_entry("no-such-entry", "user"), NotFoundError),
        (lambda engine: engine.merge_entries(["no-such-entry"]), NotFoundError),
        (lambda engine: engine.promote_episode("no-such-episode"), NotFoundError),
        (lambda engine: engine.promote_episode("last", actor="agent"), RefusedError),
        (lambda engine: engine.entry("no-such-entry", scope="world"), UsageError),
        (lambda engine: engine.remember("x", category="Wisdom"), UsageError),
        (lambda engine: engine.entries(scope="world"), UsageError),
        (lambda engine: engine.note("nope.md"), NotFoundError),
        (lambda engine: engine.note("../up.md"), RefusedError),
        (lambda engine: engine.notes(kind="x"), UsageError),
        (lambda engine: engine.append_note(" "), UsageError),
        (lambda engine: engine.append_note("x", name="MEMORY.md", actor="agent"), RefusedError),
        (lambda engine: engine.write_note("con", "x"), UsageError),
        (lambda engine: engine.publish_rules("README.md"), NotFoundError),
        (lambda engine: engine.move_note("nope.md", "x"), NotFoundError),
        (lambda engine: engine.delete_note("nope.md"), NotFoundError),
        (lambda engine: engine.entry("no-such-entry"), NotFoundError),
        (lambda engine: engine.update_entry("no-such-entry", EntryEdit("x")), NotFoundError),
        (lambda engine: engine.forget_memory("no-such-thing"), NotFoundError),
        (lambda engine: engine.forget_memory("no-such-thing", undo=True), NotFoundError),
        (lambda engine: engine.record_task(" "), UsageError),
        (lambda engine: engine.record_task("x", files=("../y",)), RefusedError),
        (lambda engine: engine.decide("no-such-proposal", accept=True), NotFoundError),
        (lambda engine: engine.episodes(before="no-such-episode"), NotFoundError),
        (lambda engine: engine.prune(), UsageError),
        (lambda engine: engine.prune(older_than="soon"), UsageError),
        (lambda engine: list(engine.backfill(depth=1, since="HEAD")), UsageError),
        (lambda engine: list(engine.index(paths=["../elsewhere"])), RefusedError),
    ],
)
def test_errors_are_the_same_class_with_the_same_words(
    engine: Engine, call: Callable[[Engine], Any], error: type[CmError]
):
    with pytest.raises(error) as caught:
        call(engine)
    assert type(caught.value) is error
    assert caught.value.message
    assert "Internal" not in caught.value.message


def test_rank_again_with_another_profile(engine: Engine):
    candidates = engine.retrieve("cart total")
    code = engine.profiles()["code"]
    whole = engine.rank(candidates, code)
    turned = engine.rank(candidates, dataclasses.replace(code, keyword_weight=1.0, vector_weight=0.0), limit=1)
    assert len(turned.hits) == 1
    assert turned.hits[0].score != whole.hits[0].score


def test_candidates_are_good_however_many_came_after(engine: Engine):
    first = engine.retrieve("add tax")
    for number in range(40):
        engine.retrieve(f"cart {number}")
    assert engine.rank(first, engine.profiles()["code"]).hits[0].path == "shop/money.py"


def test_progress_tells_every_stage_and_ends_with_a_summary(new_engine: Engine):
    assert not new_engine.status().indexed
    with pytest.raises(NotIndexedError):
        new_engine.stale_reason()
    steps = list(new_engine.index())
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages[0] == "scan"
    assert {"store", "vectors", "done"} <= set(stages)
    assert steps[-1].summary is not None
    assert steps[-1].summary.files == new_engine.status().files
    assert new_engine.stale_reason() == ""


def test_what_is_not_indexed_has_no_answers(new_engine: Engine):
    assert new_engine.search("cart").hits == ()
    assert new_engine.files().total == 0


def test_cancel_stops_the_run(new_engine: Engine):
    cancel = Cancel()
    cancel.set()
    with pytest.raises(CancelledError):
        list(new_engine.index(cancel=cancel))
    assert list(new_engine.index())[-1].summary is not None


def test_reset_and_rebuild(new_engine: Engine):
    list(new_engine.index())
    before = new_engine.search("add_tax").hits
    new_engine.reset()
    assert not new_engine.status().indexed
    assert list(new_engine.rebuild())[-1].summary is not None
    assert [hit.path for hit in new_engine.search("add_tax").hits] == [hit.path for hit in before]
    assert list(new_engine.rebuild())[-1].stage == "done"


def recalled(engine: Engine, words: str) -> int:
    """How many episodes are found; entries of the user are those of all projects here."""
    return sum(hit.source == "episode" for hit in engine.search(words, profile="memory").hits)


def test_a_reset_keeps_what_was_recorded_unless_it_is_dropped(new_engine: Engine):
    list(new_engine.index())
    data = EpisodeRecord(prompts=("sell boulders",), answer="sold").to_event_data()
    Journal.of(new_engine.root).append("episode", data)
    new_engine.reset()
    list(new_engine.index())
    assert new_engine.episodes().total == 1
    assert recalled(new_engine, "boulders") == 1
    new_engine.reset(drop_episodes=True)
    list(new_engine.index())
    assert new_engine.episodes().total == 0
    assert recalled(new_engine, "boulders") == 0


def test_what_is_recorded_by_hand_is_listed_found_and_taken_back(new_engine: Engine):
    list(new_engine.index())
    one = new_engine.record_episode("sell boulders", answer="sold", type="command", outcome="ok", tags=["stone"])
    assert new_engine.episodes(where=EpisodeFilter(tags=("stone",))).rows == (one,)
    assert (one.actor, one.outcome, new_engine.sessions().rows[0].title) == ("person", "ok", "sell boulders")
    assert recalled(new_engine, "boulders") == 1
    assert new_engine.undo().ids == (one.id,)
    assert new_engine.episodes().total == recalled(new_engine, "boulders") == 0


def test_what_is_archived_is_found_on_request_and_purged(new_engine: Engine):
    list(new_engine.index())
    data = EpisodeRecord(prompts=("sell boulders",), at=1_000_000.0).to_event_data()
    id_ = Journal.of(new_engine.root).append("episode", data).id
    assert (new_engine.retention().archived, new_engine.retention().waiting) == (0, 1)
    assert new_engine.retention(apply=True, older_than=30).rows[0].id == id_
    assert new_engine.episodes().total == 0
    archived = EpisodeFilter(state="archived")
    assert [one.id for one in new_engine.episodes(where=archived, match="boulders").rows] == [id_]
    assert new_engine.episode(id_).prompts == ("sell boulders",)
    assert new_engine.purge(older_than=30).ids == (id_,)
    assert new_engine.episodes(where=archived).total == 0


def test_saved_profile_is_used_from_then_on(new_engine: Engine):
    list(new_engine.index())
    file = new_engine.save_profile(dataclasses.replace(new_engine.profiles()["code"], limit=1))
    assert file.is_relative_to(new_engine.root)
    assert new_engine.profiles()["code"].limit == 1
    assert len(new_engine.search("cart").hits) == 1
    taken_back = new_engine.reset_profile("code")
    assert (taken_back.file, taken_back.removed) == (file, ("limit",))
    assert new_engine.profiles()["code"] == new_engine.packaged_profiles()["code"]
    assert new_engine.reset_profile("code").removed == ()
    with pytest.raises(UsageError):
        new_engine.reset_profile("nope")


def test_marks_are_kept_with_the_project(new_engine: Engine):
    new_engine.put_mark(MARK)
    assert new_engine.marks().rows == (MARK,)
    assert (new_engine.root / ".cm/marks.json").exists()
    for wrong in (dataclasses.replace(MARK, path="../x"), dataclasses.replace(MARK, start_line=0)):
        with pytest.raises(UsageError):
            new_engine.put_mark(wrong)
    new_engine.remove_mark(MARK)
    assert new_engine.marks().rows == ()


def test_an_edit_is_found(new_engine: Engine):
    list(new_engine.index())
    (new_engine.root / "shop/new.py").write_text("def zebra_crossing():\n    return 1\n")
    list(new_engine.index(paths=["shop/new.py"]))
    assert new_engine.definitions("zebra_crossing").total == 1
    (new_engine.root / "shop/new.py").unlink()
    list(new_engine.index())
    with pytest.raises(NotFoundError):
        new_engine.definitions("zebra_crossing")


def test_behind_says_that_head_moved(new_engine: Engine):
    list(new_engine.index())
    git(new_engine.root, "commit", "-q", "--allow-empty", "-m", "on")
    assert "HEAD moved" in new_engine.stale_reason()


def test_wrong_arguments_are_a_type_error(engine: Engine):
    with pytest.raises(TypeError):
        engine.search()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        engine.search("x", colour="red")  # type: ignore[call-arg]
