"""Each method of the engine declares what its answer must reflect."""

from __future__ import annotations

import inspect

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.needs import need_of, need_of_call, needs
from cm_tui.engine.local.engine import LocalEngine

METHODS = [
    member
    for name, member in inspect.getmembers(Engine, inspect.isfunction)
    if not name.startswith("_") and name != "close"
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_every_method_declares_what_it_needs(method) -> None:
    assert need_of(method) in {"files", "head", "checkout", "nothing"}


def test_every_room_is_there() -> None:
    rooms = {method.__module__.rpartition(".")[2] for method in METHODS}
    assert rooms == {
        "index",
        "search",
        "code",
        "history",
        "memory",
        "entries",
        "notes",
        "imports",
        "context",
        "tuning",
        "curation",
        "recalls",
        "stale",
        "narrator",
        "assembly",
        "ingestion",
    }


def test_what_declares_nothing_is_refused() -> None:
    def forgotten() -> None: ...

    with pytest.raises(TypeError, match="forgotten"):
        need_of(forgotten)


def test_an_earlier_revision_does_not_depend_on_the_files_on_disk() -> None:
    @needs("files")
    def callers(*, at: str | None = None) -> None: ...

    assert need_of_call(need_of(callers), {"at": "HEAD~1"}) == "head"
    assert need_of_call(need_of(callers), {"at": None}) == "files"
    assert need_of_call("checkout", {"at": "HEAD~1"}) == "checkout"


def test_the_needs_of_the_questions_that_people_rely_on() -> None:
    declared: dict[str, set[str]] = {}
    for method in METHODS:
        declared.setdefault(need_of(method), set()).add(method.__name__)
    assert declared["files"] == {
        "callees", "callers", "definitions", "dependencies", "importers", "neighbours", "pack", "pack_items", "retrieve",
        "propose_weights", "search", "symbols", "why_not", "assemble", "run_definition",
    }  # fmt: skip
    assert declared["head"] == {
        "changes", "episode", "episodes", "files_at", "symbol_history", "mainline", "resolve", "source", "symbols_at",
    }  # fmt: skip
    assert declared["checkout"] == {
        "drift", "files", "skipped", "stale_items", "mentions_of", "fix_stale", "confirm_stale",
    }  # fmt: skip


# These read first what has just been recorded.
INNER = {
    "search": "_search",
    "retrieve": "_retrieve",
    "pack": "_pack",
    "pack_items": "_pack_items",
    "assemble": "_assemble",
    "run_definition": "_assemble",
}


@pytest.mark.parametrize(
    "name", [*(method.__name__ for method in METHODS if need_of(method) == "files"), "files", "skipped", "source"]
)
def test_questions_about_the_present_are_answered_from_one_generation(name: str) -> None:
    assert getattr(LocalEngine, INNER.get(name, name)).__wrapped__
