"""Every method gives the same record straight from the store and through the daemon."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from cm_tui.daemon.rpc import METHODS, plain
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError
from cm_tui.model import (
    Assembly,
    Entry,
    EntryEdit,
    EpisodeEdit,
    EpisodeFilter,
    IngestRun,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    PackRequest,
    SymbolKey,
)
from tests.daemon.both_engines import KINDS, MARK, at_home, failure, indexed, refused
from tests.daemon.watched import Watched


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
    "known_names": [lambda engine: engine.known_names(["add_tax", "money", "kubernetes"], common=True)],
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
    "assembly_members": [lambda engine: failure(lambda: engine.assembly_members("PyObject")).message],
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
    "redo": [
        lambda engine: (
            engine.edit_episodes(["last"], EpisodeEdit(rating=1)),
            engine.redo(engine.undo().change).words,
            engine.undo(),
        )[1],
    ],
    "secrets": [lambda engine: engine.secrets()],
    "erase": [lambda engine: engine.erase([engine.episode("last").id], dry_run=True)],
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
        lambda engine: (engine.forget_memory("last"), engine.episodes(), engine.forget_memory("last", undo=True))[1],
        lambda engine: engine.forget_memory(engine.remember("Nothing.").id),
        lambda engine: engine.forget_memory(engine.remember("Mine too.").id, actor="agent", agent="a", reason="old"),
    ],
    "stale_items": [
        lambda engine: engine.stale_items(),
        lambda engine: engine.stale_items(kind="episode", everything=True, limit=1),
    ],
    "mentions_of": [lambda engine: engine.mentions_of(engine.remember("`add_tax` adds the tax.").id).mentions],
    "fix_stale": [lambda engine: refused(lambda: engine.fix_stale(engine.remember("`add_tax` is fine.").id))],
    "confirm_stale": [lambda engine: refused(lambda: engine.confirm_stale(engine.remember("`add_tax` is so.").id))],
    "record_episode": [
        lambda engine: engine.record_episode("round", type="task", plan="half up", files=("shop/money.py",)),
        lambda engine: len(engine.record_episode("round", type="task", plan="half up", actor="agent").id),
    ],
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
        lambda engine: refused(lambda: engine.propose_fact(" ", scope="user", agent="a")),
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
        lambda engine: refused(lambda: engine.decide_narrated([], NarratedDecision("defer"))),
    ],
    "undo_narrated": [
        lambda engine: (
            engine.decide_narrated([proposed(engine, "Tax is hard.").id], NarratedDecision("approve")),
            engine.undo_narrated(proposed(engine, "Tax is hard.").id).done,
        )[1],
        lambda engine: refused(lambda: engine.undo_narrated(proposed(engine, "Tax is easy.").id)),
    ],
    "narrator_cost": [lambda engine: engine.narrator_cost()],
    "change_topics": [
        lambda engine: engine.change_topics("create", ["money"], title="Money", tags=("tax",)).id,
        lambda engine: refused(lambda: engine.change_topics("merge", ["money"])),
    ],
    "topics": [lambda engine: [(one.id, one.tags) for one in engine.topics(retired=True).topics]],
    "work_state": [
        lambda engine: dataclasses.replace(engine.work_state(), ended=0.0, episode=""),
        lambda engine: failure(lambda: engine.work_state("nothing-of-that-name")).message,
        lambda engine: engine.work_state("last").decisions,
    ],
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
        lambda engine: type(failure(lambda: engine.ingest_again(engine.ingest("keep", "Fine.").id))).__name__,
    ],
    "doctor": [lambda engine: [check.name for check in engine.doctor()]],
    "reminders": [
        lambda engine: engine.reminders(paths=["shop/cart.py"]),
        lambda engine: engine.reminders(command="ls"),
    ],
    "team_vectors": [lambda engine: engine.team_vectors()],
    "publish_vectors": [lambda engine: engine.publish_vectors(dry_run=True).model],
    "pull_vectors": [lambda engine: type(failure(engine.pull_vectors)).__name__],
}


def proposed(engine: Engine, text: str) -> NarratedProposal:
    """Propose something as an agent; whenever that is, it is the same."""
    return dataclasses.replace(engine.propose_fact(text, why="so", agent="a"), first=0, last=0)


def rule_of(engine: Engine, text: str) -> Entry:
    return engine.remember(text, category="rule", actor="agent", agent="a")


CHANGING = {"rebuild", "reset", "save_profile", "reset_profile", "retention", "purge"}
"""What is tested on a project of its own, below."""

VOLATILE = {
    "took_ms", "seconds", "indexed_at", "disk_bytes", "store", "root", "identity", "name", "estimated_seconds", "head",
    "indexed_head", "sha", "time", "asked", "text", "id", "began", "ended", "timestamp", "commit", "change", "proposal",
    "target", "words", "made_from",
    # A daemon also reads what was recorded beside the questions: in how many steps, nobody knows.
    "generation",
}  # fmt: skip


def test_every_method_is_in_the_contract():
    assert set(CALLS) | CHANGING == set(METHODS)


def test_both_engines_give_the_same_records(tmp_path: Path):
    """All are asked in the order of the table: some change what later ones see."""
    given: dict[tuple[str, int], dict[str, Any]] = {}
    for kind in KINDS:
        home = tmp_path / kind / "home"
        home.mkdir(parents=True)
        with at_home(kind, home), indexed(kind, tmp_path / kind / "shop") as engine:
            # What it writes is seen where nothing else writes meanwhile.
            asked = cast("Engine", Watched(engine)) if kind == "local" else engine
            for name, calls in CALLS.items():
                for number, call in enumerate(calls):
                    given.setdefault((name, number), {})[kind] = _outcome(call, asked)
    wrong = []
    for (name, number), outcomes in given.items():
        try:
            _check_same(outcomes)
        except (CmError, AssertionError) as error:
            error.add_note(f"{name}, call {number}")
            wrong.append(error)
    if wrong:
        raise ExceptionGroup(f"{len(wrong)} calls", wrong)


def _check_same(outcomes: dict[str, Any]) -> None:
    for outcome in outcomes.values():
        if isinstance(outcome, Exception):
            raise outcome
    assert outcomes["local"] == outcomes["remote"]


def _outcome(call: Callable[[Engine], Any], engine: Engine) -> Any:
    try:
        answer = call(engine)
    except (CmError, AssertionError) as error:
        return error
    return type(answer), _steady(plain(answer))


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
