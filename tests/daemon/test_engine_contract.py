"""One contract for both engines: straight to the store, and through the daemon."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CancelledError, CmError, NotFoundError, NotIndexedError, RefusedError, UsageError
from cm_tui.model import (
    Cancel,
    EntryEdit,
    EpisodeEdit,
    EpisodeFilter,
    Page,
    SearchResult,
)
from tests.cli.conftest import git
from tests.daemon.both_engines import KINDS, MARK, at_home, indexed, opened
from tests.daemon.conftest import make_project


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def cm_home(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with at_home(kind, tmp_path_factory.mktemp("home")) as home:
        yield home


@pytest.fixture(scope="module", name="open_engine")
def opener(kind: str, cm_home: Path) -> Callable[[Path], Engine]:
    return partial(opened, kind)


@pytest.fixture(scope="module")
def engine(kind: str, cm_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Of an indexed project that tests only ask."""
    with indexed(kind, tmp_path_factory.mktemp("asked") / "shop") as engine:
        yield engine


@pytest.fixture
def new_engine(open_engine: Callable[[Path], Engine], tmp_path: Path) -> Iterator[Engine]:
    """Of a project of its own, not indexed."""
    engine = open_engine(make_project(tmp_path / "shop"))
    yield engine
    engine.close()


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
        (lambda engine: engine.edit_episodes(["no-such-episode"], EpisodeEdit(forgotten=True)), NotFoundError),
        (lambda engine: engine.forget_memory("last", undo=True), NotFoundError),
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
        (lambda engine: engine.record_episode(" ", type="task"), UsageError),
        (lambda engine: engine.record_episode("x", type="task", files=("../y",)), RefusedError),
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
    assert not file.exists()
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
