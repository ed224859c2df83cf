"""Rooms of the engine: each is made once, and threads that make them in different orders do not wait for ever."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.lazy import reset, shared_property
from tests.gitrepo import Repo
from tests.waiting import let_others_go

PATIENCE = 60.0
ROOMS = ("_repository", "_graph", "_history", "_provider", "_vectors", "_searcher")


class House:
    """Two rooms, of which each slowly makes the other first when it is asked so."""

    def __init__(self) -> None:
        self._build_lock = threading.RLock()
        self.made: list[str] = []

    @shared_property
    def cellar(self) -> object:
        return self._slowly("cellar")

    @shared_property
    def floor(self) -> tuple[object, object]:
        made = self._slowly("floor")
        return made, self.cellar

    @shared_property
    def broken(self) -> object:
        self.made.append("broken")
        raise ValueError("dark")

    def _slowly(self, name: str) -> object:
        self.made.append(name)
        let_others_go()
        return object()


class SlowLock:
    """A lock that takes a moment: what one thread holds already, others come to want meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        let_others_go()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def at_once(owner: object, names: list[str]) -> list[tuple[str, Any]]:
    """Read attributes on threads that start together."""
    barrier = threading.Barrier(len(names))
    found: list[tuple[str, Any]] = []

    def read(name: str) -> None:
        barrier.wait(PATIENCE)
        found.append((name, getattr(owner, name)))

    threads = [threading.Thread(target=read, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(found) == len(names), "some wait for each other"
    return found


def test_rooms_are_made_once_and_never_wait_for_each_other() -> None:
    for _ in range(5):
        house = House()
        found = at_once(house, ["floor", "cellar"] * 4)
        assert sorted(house.made) == ["cellar", "floor"]
        assert {id(value) for name, value in found if name == "cellar"} == {id(house.cellar)}
        assert house.floor[1] is house.cellar


def test_a_room_that_could_not_be_made_is_tried_again_and_one_that_was_let_go_is_made_again() -> None:
    house = House()
    for _ in range(2):
        with pytest.raises(ValueError, match="dark"):
            _ = house.broken
    assert house.made == ["broken", "broken"]
    first = house.cellar
    reset(house)
    assert house.cellar is not first


def test_two_houses_do_not_share_rooms() -> None:
    one, other = House(), House()
    assert one.cellar is not other.cellar


def test_the_parts_of_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches and index runs come at once to an engine that was just opened: both work on the same vectors."""
    from cm_tui.engine.search.ranking.pipeline import Searcher
    from cm_tui.engine.search.vectors.by_source import ProjectVectors

    given: list[Any] = []
    vectors_made = ProjectVectors.__init__
    searcher_made = Searcher.__init__

    def slow_vectors(self: ProjectVectors, *args: Any, **options: Any) -> None:
        let_others_go()
        vectors_made(self, *args, **options)

    def slow_searcher(self: Searcher, db: Any, vectors: Any, *args: Any, **options: Any) -> None:
        let_others_go()
        given.append(options["sides"].__self__)
        searcher_made(self, db, vectors, *args, **options)

    monkeypatch.setattr(ProjectVectors, "__init__", slow_vectors)
    monkeypatch.setattr(Searcher, "__init__", slow_searcher)
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "def f():\n    pass\n")
    repo.commit()
    with Engine.open(repo.root) as engine:
        monkeypatch.setattr(engine, "_build_lock", SlowLock())
        for _ in range(5):
            given.clear()
            found = at_once(engine, [*ROOMS, *reversed(ROOMS)])
            for name in ROOMS:
                assert len({id(value) for told, value in found if told == name}) == 1, name
            assert given == [dict(found)["_vectors"]]
            engine.reset()
