"""One contract for both doors: straight to the store, and through the owner."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui.daemon.client import RemoteMemory
from cm_tui.daemon.open_engine import connect
from cm_tui.daemon.rpc import METHODS, plain
from cm_tui.engine.api.engine import Door
from cm_tui.engine.journal import Journal
from cm_tui.engine.local import Memory
from cm_tui.errors import CancelledError, CmError, NotFoundError, NotIndexedError, RefusedError, UsageError
from cm_tui.model import Cancel, PackRequest, Page, SearchResult, SymbolKey
from tests.cli.conftest import git
from tests.daemon.conftest import make_project, owners_allowed


@pytest.fixture(scope="module", params=["local", "remote"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", autouse=True)
def cm_home(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all tests of a kind of door."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        if kind == "local":
            yield home
        else:
            with owners_allowed(home):
                yield home


@pytest.fixture(scope="module")
def open_door(kind: str, cm_home: Path) -> Callable[[Path], Door]:
    def opened(root: Path) -> Door:
        door = connect(root)
        assert isinstance(door, Memory if kind == "local" else RemoteMemory)
        return door

    return opened


@pytest.fixture(scope="module")
def door(open_door: Callable[[Path], Door], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """Of an indexed project that tests only ask."""
    door = open_door(make_project(tmp_path_factory.mktemp("asked")))
    for prompt in ("why is the tax wrong", "no git here", "round it\x1b[31m"):
        head = None if prompt.startswith("no git") else door.status().head
        said = {"agent": "codex", "session": "s", "prompts": [prompt], "patch": "+round\n", "root": str(door.root)}
        Journal.of(door.root).append("episode", said, head=head)
    for _ in door.index():
        pass
    yield door
    door.close()


@pytest.fixture
def new_door(open_door: Callable[[Path], Door], tmp_path: Path) -> Iterator[Door]:
    """Of a project of its own, not indexed."""
    door = open_door(make_project(tmp_path / "shop"))
    yield door
    door.close()


REQUEST = PackRequest("shop/money.py", 6, 8, "add_tax", "by hand")
CALLS: dict[str, list[Callable[[Door], Any]]] = {
    "status": [lambda door: door.status()],
    "behind": [lambda door: door.behind()],
    "freshness": [lambda door: door.freshness().behind],
    "plan": [lambda door: door.plan(), lambda door: door.plan(full=True, since="HEAD")],
    "index": [lambda door: list(door.index()), lambda door: list(door.index(paths=["shop/money.py"]))],
    "search": [
        lambda door: door.search("add a tax"),
        lambda door: door.search("Cart", profile="memory", mode="keyword", limit=2),
        lambda door: door.search("Cart", profile=door.profiles()["notes"]),
        lambda door: door.search("half of a pair \udcff and \0"),
        lambda door: door.search(""),
    ],
    "retrieve": [lambda door: dataclasses.replace(door.retrieve("tax"), table=None)],
    "rank": [lambda door: door.rank(door.retrieve("tax"), door.profiles()["code"], limit=3)],
    "profiles": [lambda door: door.profiles()],
    "files": [lambda door: door.files(), lambda door: door.files("shop")],
    "skipped": [lambda door: door.skipped()],
    "symbols": [
        lambda door: door.symbols(),
        lambda door: door.symbols(file="shop/cart.py", kind="method", limit=1),
        lambda door: door.symbols(match="adtx"),
    ],
    "definitions": [lambda door: door.definitions("add_tax"), lambda door: door.definitions("Cart.total")],
    "callers": [
        lambda door: door.callers("add_tax", depth=3),
        lambda door: door.callers(SymbolKey("shop/money.py", "add_tax", "function")),
        lambda door: door.callers("add_tax", at="HEAD"),
    ],
    "callees": [lambda door: door.callees("pay"), lambda door: door.callees("receipt", depth=2)],
    "dependencies": [lambda door: door.dependencies("shop/checkout.py")],
    "importers": [lambda door: door.importers("shop.money"), lambda door: door.importers("shop/cart.py")],
    "source": [lambda door: door.source("shop/money.py", 6, 8), lambda door: door.source("weird name [x].py")],
    "pack": [lambda door: door.pack("what is the tax"), lambda door: door.pack("tax", budget=50, neighbours=False)],
    "pack_items": [lambda door: door.pack_items([REQUEST], question="tax?"), lambda door: door.pack_items([])],
    "neighbours": [lambda door: door.neighbours([REQUEST])],
    "line": [lambda door: door.line(), lambda door: door.line(match="Open the", before=9, limit=1)],
    "resolve": [lambda door: door.resolve("HEAD"), lambda door: door.resolve("#1")],
    "history": [lambda door: (list(door.backfill()), dataclasses.replace(door.history(), running=False))[1]],
    "backfill": [lambda door: list(door.backfill())[-1], lambda door: list(door.backfill(depth=1))[-1]],
    "symbols_at": [
        lambda door: door.symbols_at("HEAD", kind="function"),
        lambda door: door.symbols_at("#1", file="shop/cart.py", match="tot", limit=1),
    ],
    "files_at": [lambda door: door.files_at("HEAD"), lambda door: door.files_at("#1", "shop")],
    "changes": [lambda door: door.changes("#1", "HEAD")],
    "life": [
        lambda door: door.life("add_tax", callers=True),
        lambda door: door.life(SymbolKey("shop/money.py", "add_tax", "function")),
    ],
    "drift": [lambda door: door.drift(), lambda door: door.drift("#1", limit=2)],
    "vacuum": [lambda door: door.vacuum(before="HEAD", dry_run=True)],
    "episodes": [
        lambda door: door.episodes(),
        lambda door: door.episodes(match="tax codex", limit=1),
        lambda door: door.episodes(before=door.episodes().rows[0].id),
    ],
    "episode": [lambda door: door.episode("last"), lambda door: door.episode(door.episodes().rows[1].id)],
    "episode_moments": [lambda door: door.episode_moments()],
    "doctor": [lambda door: [check.name for check in door.doctor()]],
}
CHANGING = {"rebuild", "reset", "save_profile"}
"""What is tested on a project of its own, below."""

_answers: dict[tuple[str, int], dict[str, Any]] = {}
VOLATILE = {
    "took_ms", "seconds", "indexed_at", "disk_bytes", "store", "root", "identity", "name", "estimated_seconds", "head",
    "indexed_head", "sha", "time", "asked", "text", "id"}  # fmt: skip


def test_every_method_is_in_the_contract():
    assert set(CALLS) | CHANGING == set(METHODS)


@pytest.mark.parametrize(("name", "number"), [(name, n) for name, calls in CALLS.items() for n in range(len(calls))])
def test_both_doors_give_the_same_records(kind: str, door: Door, name: str, number: int):
    answer = CALLS[name][number](door)
    seen = _answers.setdefault((name, number), {})
    seen[kind] = (type(answer), _steady(plain(answer)))
    if len(seen) == 2:
        assert seen["local"] == seen["remote"]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in VOLATILE}
    return [_steady(item) for item in value] if isinstance(value, list) else value


def test_records_come_back_as_what_they_are(door: Door):
    result = door.search("add_tax")
    assert isinstance(result, SearchResult)
    best = result.hits[0]
    assert best.path == "shop/money.py"
    assert abs(sum(part.contribution for part in best.parts) - best.score) < 1e-6
    page = door.callers("add_tax")
    assert isinstance(page, Page)
    assert page.rows[0].qualname == "Cart.total"
    assert isinstance(page.rows, tuple)


def test_root_is_the_repository(door: Door):
    assert (door.root / ".git").is_dir()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda door: door.search("x", profile="nope"), UsageError),
        (lambda door: door.definitions("no_such_thing"), NotFoundError),
        (lambda door: door.source("../../etc/passwd"), RefusedError),
        (lambda door: door.source("/etc/passwd"), RefusedError),
        (lambda door: door.symbols(file="missing.py"), NotFoundError),
        (lambda door: door.symbols(kind="nonsense"), UsageError),
        (lambda door: door.symbols_at("HEAD", kind="nonsense"), UsageError),
        (lambda door: door.dependencies("../outside.py"), RefusedError),
        (lambda door: door.plan(since="no-such-ref"), NotFoundError),
        (lambda door: list(door.index(since="no-such-ref")), NotFoundError),
        (lambda door: door.resolve("no-such-ref"), NotFoundError),
        (lambda door: door.resolve("--upload-pack=x"), UsageError),
        (lambda door: door.symbols_at("#99"), NotFoundError),
        (lambda door: door.life("never_was"), NotFoundError),
        (lambda door: door.episode("no-such-episode"), NotFoundError),
        (lambda door: door.episodes(before="no-such-episode"), NotFoundError),
        (lambda door: door.vacuum(), UsageError),
        (lambda door: door.vacuum(older_than="soon"), UsageError),
        (lambda door: list(door.backfill(depth=1, since="HEAD")), UsageError),
        (lambda door: list(door.index(paths=["../elsewhere"])), RefusedError),
    ],
)
def test_errors_are_the_same_class_with_the_same_words(door: Door, call: Callable[[Door], Any], error: type[CmError]):
    with pytest.raises(error) as caught:
        call(door)
    assert type(caught.value) is error
    assert caught.value.message
    assert "Internal" not in caught.value.message


def test_rank_again_with_another_profile(door: Door):
    candidates = door.retrieve("cart total")
    code = door.profiles()["code"]
    whole = door.rank(candidates, code)
    turned = door.rank(candidates, dataclasses.replace(code, keyword_weight=1.0, vector_weight=0.0), limit=1)
    assert len(turned.hits) == 1
    assert turned.hits[0].score != whole.hits[0].score


def test_candidates_are_good_however_many_came_after(door: Door):
    first = door.retrieve("add tax")
    for number in range(40):
        door.retrieve(f"cart {number}")
    assert door.rank(first, door.profiles()["code"]).hits[0].path == "shop/money.py"


def test_progress_tells_every_stage_and_ends_with_a_summary(new_door: Door):
    assert not new_door.status().indexed
    with pytest.raises(NotIndexedError):
        new_door.behind()
    steps = list(new_door.index())
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages[0] == "scan"
    assert {"store", "vectors", "done"} <= set(stages)
    assert steps[-1].summary is not None
    assert steps[-1].summary.files == new_door.status().files
    assert new_door.behind() == ""


def test_what_is_not_indexed_has_no_answers(new_door: Door):
    assert new_door.search("cart").hits == ()
    assert new_door.files().total == 0


def test_cancel_stops_the_run(new_door: Door):
    cancel = Cancel()
    cancel.set()
    with pytest.raises(CancelledError):
        list(new_door.index(cancel=cancel))
    assert list(new_door.index())[-1].summary is not None


def test_reset_and_rebuild(new_door: Door):
    list(new_door.index())
    before = new_door.search("add_tax").hits
    new_door.reset()
    assert not new_door.status().indexed
    assert list(new_door.rebuild())[-1].summary is not None
    assert [hit.path for hit in new_door.search("add_tax").hits] == [hit.path for hit in before]
    assert list(new_door.rebuild())[-1].stage == "done"


def test_saved_profile_is_used_from_then_on(new_door: Door):
    list(new_door.index())
    file = new_door.save_profile(dataclasses.replace(new_door.profiles()["code"], limit=1))
    assert file.is_relative_to(new_door.root)
    assert new_door.profiles()["code"].limit == 1
    assert len(new_door.search("cart").hits) == 1


def test_an_edit_is_found(new_door: Door):
    list(new_door.index())
    (new_door.root / "shop/new.py").write_text("def zebra_crossing():\n    return 1\n")
    list(new_door.index(paths=["shop/new.py"]))
    assert new_door.definitions("zebra_crossing").total == 1
    (new_door.root / "shop/new.py").unlink()
    list(new_door.index())
    with pytest.raises(NotFoundError):
        new_door.definitions("zebra_crossing")


def test_behind_says_that_head_moved(new_door: Door):
    list(new_door.index())
    git(new_door.root, "commit", "-q", "--allow-empty", "-m", "on")
    assert "HEAD moved" in new_door.behind()


def test_wrong_arguments_are_a_type_error(door: Door):
    with pytest.raises(TypeError):
        door.search()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        door.search("x", colour="red")  # type: ignore[call-arg]
