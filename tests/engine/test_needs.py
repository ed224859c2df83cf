"""Each method of the engine declares what its answer must reflect, and what it writes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.needs import declaration_of, is_in_process, is_request, needs

PUBLIC = [member for name, member in inspect.getmembers(Engine, inspect.isfunction) if not name.startswith("_")]
METHODS = [member for member in PUBLIC if is_request(member)]


def need_of(method: Callable[..., Any]) -> str:
    return declaration_of(method).need


def writes_of(method: Callable[..., Any]) -> tuple[str, ...]:
    return declaration_of(method).writes


CHANGES = {
    "MemoryChange", "NoteChange", "NarratedChange", "tuple[NarratedChange, ...]", "Edited", "Undone", "IngestRun",
    "tuple[IngestRun, ...]", "RuleBlock", "ErasureReport", "PurgeReport",
}  # fmt: skip
"""Records that a method returns which changes what is remembered."""
OTHERS = {
    "decide_narrated", "import_sessions", "narrate", "promote_episode", "propose_entry", "propose_fact",
    "record_episode", "remember", "reset", "retention", "write_memory", "approve_entry",
}  # fmt: skip
"""Those that return something else, and change it too."""


def test_every_public_method_is_a_request_or_belongs_to_the_process() -> None:
    """One that declares neither could not be called through the daemon."""
    assert [one.__qualname__ for one in PUBLIC if is_request(one) == is_in_process(one)] == []


def test_what_the_daemon_does_not_share_or_refuses_of_another_checkout() -> None:
    assert {one.__name__ for one in METHODS if not declaration_of(one).shared} == {
        "drift", "episode", "episodes", "rank", "source", "status",
    }  # fmt: skip
    assert {one.__name__ for one in METHODS if declaration_of(one).of_index} == {"history", "plan", "status"}
    assert {one.__name__ for one in METHODS if declaration_of(one).once} == {"append_note", "record_episode", "undo"}


def test_every_method_declares_what_it_needs() -> None:
    assert {need_of(method) for method in METHODS} == {"files", "head", "checkout", "nothing"}


def test_what_returns_a_change_declares_that_it_writes() -> None:
    returned = {method.__name__: inspect.signature(method).return_annotation for method in METHODS}
    changing = {name for name, record in returned.items() if record.replace("model.", "") in CHANGES}
    writers = {method.__name__ for method in METHODS if "memory" in writes_of(method)}
    assert changing - writers == set()
    assert writers - changing - OTHERS == set()


def test_what_else_is_written() -> None:
    declared: dict[str, set[str]] = {}
    for method in METHODS:
        for area in set(writes_of(method)) - {"memory"}:
            declared.setdefault(area, set()).add(method.__name__)
    assert declared == {
        "index": {"index", "rebuild", "reset", "backfill", "catch_up", "prune", "pull_vectors"},
        "settings": {"save_profile", "reset_profile"},
        "marks": {"put_mark", "remove_mark"},
        "definitions": {"new_definition", "context_definitions"},
        "log": {"note_recalled", "assemble", "run_definition", "narrate"},
    }


def test_a_dry_run_writes_nothing() -> None:
    @needs("nothing", writes=("memory",))
    def undo(*, dry_run: bool = False) -> None: ...

    for arguments, written in (({}, ("memory",)), ({"dry_run": False}, ("memory",)), ({"dry_run": True}, ())):
        assert declaration_of(undo).writes_of(arguments) == written


def test_every_room_is_there() -> None:
    rooms = {method.__module__.rpartition(".")[2] for method in METHODS}
    assert rooms == {
        "index",
        "search",
        "memory",
        "entries",
        "notes",
        "imports",
        "context",
        "stale",
        "narrator",
        "assembly",
        "erasure",
        "layers",
    }


def test_what_declares_nothing_is_refused() -> None:
    def forgotten() -> None: ...

    with pytest.raises(TypeError, match="forgotten"):
        need_of(forgotten)


def test_an_earlier_revision_does_not_depend_on_the_files_on_disk() -> None:
    @needs("files")
    def callers(*, at: str | None = None) -> None: ...

    @needs("checkout")
    def files(*, at: str | None = None) -> None: ...

    assert declaration_of(callers).need_of({"at": "HEAD~1"}) == "head"
    assert declaration_of(callers).need_of({"at": None}) == "files"
    assert declaration_of(files).need_of({"at": "HEAD~1"}) == "checkout"


def test_the_needs_of_the_questions_that_people_rely_on() -> None:
    declared: dict[str, set[str]] = {}
    for method in METHODS:
        declared.setdefault(need_of(method), set()).add(method.__name__)
    assert declared["files"] == {
        "assembly_members", "callees", "callers", "definitions", "dependencies", "importers", "neighbours", "pack", "pack_items", "retrieve",
        "search", "symbols", "why_not", "assemble", "run_definition",
    }  # fmt: skip
    assert declared["head"] == {
        "changes", "episode", "episodes", "files_at", "symbol_history", "mainline", "resolve", "source", "symbols_at",
        "publish_vectors",
    }  # fmt: skip
    assert declared["checkout"] == {
        "drift", "files", "skipped", "stale_items", "mentions_of", "fix_stale", "confirm_stale",
    }  # fmt: skip


# These read first what has just been recorded; retrieve and pack answer in a block.
INNER = {
    "search": "_search",
    "pack_items": "_pack_items",
    "assemble": "_assemble",
    "run_definition": "_assemble",
}


@pytest.mark.parametrize(
    "name", [*(method.__name__ for method in METHODS if need_of(method) == "files"), "files", "skipped", "source"]
)
def test_questions_about_the_present_are_answered_from_one_generation(name: str) -> None:
    method = getattr(Engine, INNER.get(name, name))
    assert hasattr(method, "__wrapped__") or "self._of_one_generation(" in inspect.getsource(method)
