"""Two clones of one project that share a store: each gets answers of its own, whoever else asks meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import worktree_stores
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.git.identity import identify
from cm_tui.errors import NotFoundError, StoreBusyError, StoreError
from cm_tui.model import Progress
from tests.cli.conftest import git
from tests.daemon.conftest import make_project, until

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

ROUNDS = 1


@pytest.fixture
def checkouts(owned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A repository and a clone of it that shares its memory and, without room for a copy, its store.

    Each has a function that the other has not.
    """
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    monkeypatch.setattr(worktree_stores, "_has_room", lambda *_: False)
    first, second = make_project(tmp_path / "first"), tmp_path / "second"
    git(first, "clone", "-q", str(first), str(second))
    for root in (first, second):
        checkout_links.link(identify(first).text, identify(first).name, root)
        (root / "shop/own.py").write_text(f"def only_in_the_{root.name}():\n    return 1\n")
    return first, second


@pytest.fixture
def engines(checkouts: tuple[Path, Path]) -> Iterator[tuple[Engine, Engine]]:
    first, second = (open_engine(root) for root in checkouts)
    list(first.index())
    yield first, second
    first.close()
    second.close()


def own(engine: Engine) -> str:
    return f"only_in_the_{engine.root.name}"


def defined(engine: Engine, name: str) -> list[str]:
    try:
        return [symbol.name for symbol in engine.definitions(name).rows]
    except NotFoundError:
        return []


def test_each_checkout_gets_its_own_answers_in_turn(engines: tuple[Engine, Engine]) -> None:
    for _ in range(ROUNDS):
        for engine, other in (engines, engines[::-1]):
            assert defined(engine, own(engine)) == [own(engine)]
            assert defined(engine, own(other)) == []
            assert f"def {own(engine)}" in engine.source("shop/own.py").text
            assert own(engine) in engine.search(own(engine)).hits[0].snippet


def test_each_checkout_gets_its_own_answers_at_once(engines: tuple[Engine, Engine]) -> None:
    """Nobody starves, and nothing of the other's slips in between the check and the answer."""

    def ask(engine: Engine, other: Engine) -> list[list[str]]:
        return [found for _ in range(ROUNDS) for found in (defined(engine, own(engine)), defined(engine, own(other)))]

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, engine, other) for engine, other in (engines, engines[::-1]) * 2]
        answers = [one.result() for one in asked]
    for (engine, _), answer in zip((engines, engines[::-1]) * 2, answers, strict=True):
        assert answer == [[own(engine)], []] * ROUNDS


def test_a_run_of_another_checkout_is_followed_by_the_one_that_asks(engines: tuple[Engine, Engine]) -> None:
    first, second = engines
    assert defined(first, own(first)) == [own(first)]
    until(lambda: not first.freshness().behind)
    # Nothing has changed here, as far as whoever watches this folder can tell.
    list(second.index())
    assert first.freshness().behind
    assert str(second.root) in first.freshness().why
    status = first.status()
    assert any(str(second.root) in note for note in status.notes)
    answer = first.definitions(own(first))
    assert [symbol.name for symbol in answer.rows] == [own(first)]
    assert str(second.root) in answer.note
    assert str(second.root) not in first.definitions(own(first)).note
    list(second.index())
    assert "shop/own.py" in [file.path for file in first.files().rows]
    list(second.index())
    assert own(first) in first.source("shop/own.py").text


def test_a_store_is_awaited_by_other_checkouts_alone(checkouts: tuple[Path, Path]) -> None:
    pool, (first, second) = ProjectPool(), (ProjectRef(str(root)) for root in checkouts)

    def ask() -> None:
        with pool.acquire(second):
            pass

    with pool.acquire(first) as project, pool.acquire(first):
        assert not pool.is_awaited(project)
        (waiting := threading.Thread(target=ask)).start()
        until(lambda: pool.is_awaited(project))
    waiting.join()
    pool.close()


@dataclass
class Room:
    """What a daemon is made of, in this process, with a store that reflects the second checkout."""

    dispatcher: Dispatcher
    first: ProjectRef
    second: ProjectRef


@pytest.fixture
def room(checkouts: tuple[Path, Path]) -> Iterator[Room]:
    jobs, projects = Jobs(events := Events()), ProjectPool()
    found = Room(Dispatcher(projects, jobs, events), *(ProjectRef(str(root)) for root in checkouts))
    for where in (found.first, found.second):
        found.dispatcher.start("index", where, {}).wait()
    yield found
    jobs.close()
    found.dispatcher.sync_manager.close()
    projects.close()


def test_an_answer_that_is_another_checkouts_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Engine, **__: object) -> Iterator[Progress]:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run_index", fails)
        listed = room.dispatcher.call("files", room.first, {})
        assert room.second.folder in listed.note
        assert "The disk is full." in listed.note
        # Lines have no room for a note.
        with pytest.raises(StoreBusyError, match="reflects another checkout"):
            room.dispatcher.call("source", room.first, {"path": "shop/own.py"})
    assert "only_in_the_first" in room.dispatcher.call("source", room.first, {"path": "shop/own.py"}).text


def test_who_wants_answers_of_this_checkout_alone_never_gets_another_ones(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent must not be told of another checkout's files, not even with a note."""

    def fails(_: Engine, **__: object) -> Iterator[Progress]:
        raise StoreError("The disk is full.")

    alone = replace(room.first, own_index=True)
    questions = {"files": {}, "skipped": {}, "status": {}, "plan": {}, "history": {}, "search": {"query": "only_in_the_second"},
                 "definitions": {"name": "only_in_the_second"}, "source": {"path": "shop/own.py"}, "resolve": {"ref": "HEAD"}}  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(Engine, "run_index", fails)
        for name, arguments in questions.items():
            with pytest.raises(StoreBusyError, match="reflects another checkout"):
                room.dispatcher.call(name, alone, arguments)
    for name in ("plan", "status"):
        room.dispatcher.start("index", room.second, {}).wait()
        answer = room.dispatcher.call(name, alone, {})
        with room.dispatcher.pool.acquire(alone) as project:
            assert not project.engine.indexed_checkout()
        assert "only_in_the_second" not in str(answer)


def test_whoever_comes_later_waits_behind_another_checkout(room: Room) -> None:
    projects = room.dispatcher.pool
    _, store = projects.locate(room.first)
    came: list[str] = []

    def borrow(where: ProjectRef) -> None:
        with projects.acquire(where):
            came.append(where.folder)

    with ThreadPoolExecutor(3) as pool, projects.acquire(room.first):
        with projects.acquire(room.first, run=True):
            pool.submit(borrow, room.second)
            until(lambda: len(projects._waiting.get(store, ())) == 1)
            # Beside long work, which the other has to wait for anyway, nobody of the same checkout waits.
            borrow(room.first)
        pool.submit(borrow, room.first)
        until(lambda: len(projects._waiting.get(store, ())) == 2)
        assert came == [room.first.folder]
    assert came == [room.first.folder, room.second.folder, room.first.folder]
