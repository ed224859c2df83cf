"""A project that was taught something, to be decided on: for tests of decisions."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.notes import note_file
from cm_tui.engine.platform import list_file
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreBusyError
from cm_tui.model import (
    NarratedChange,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    NarratedState,
    Step,
    Verdict,
)
from tests.engine.narrator.passes import new_project, passed, put, said, sayings, use
from tests.waiting import until

NOTE = ".cm/notes/project.md"
EVERY: tuple[NarratedState, ...] = ("waiting", "deferred", "approved", "rejected")


def taught(root: Path, *sayings: str, sessions: int = 3, first: int = 0) -> list[str]:
    """Record sessions in which the same is said again and again; returns the ids of their episodes."""
    turns = [
        (first + place * 100 + session, said(f"always {one}", f"{place}-{session}", session + 1.0))
        for place, one in enumerate(sayings)
        for session in range(sessions)
    ]
    return put(root, turns)


def opened_project(root: Path, *sayings: str) -> Iterator[Engine]:
    """Yield the engine of a project in which something was said, and looked at."""
    if not root.exists():
        new_project(root)
    taught(root, *sayings)
    with Engine.open(root) as engine:
        passed(engine)
        yield engine


def one_of(engine: Engine, text: str = "", state: NarratedState = "waiting") -> NarratedProposal:
    """Return the only proposal in a state with some words, as it is listed."""
    rows = [one for one in engine.narrated(NarratedFilter((state,)), limit=1_000).rows if text in one.text]
    assert len(rows) == 1, [(one.id, one.text, one.state) for one in engine.narrated(NarratedFilter(EVERY)).rows]
    return rows[0]


def decided(engine: Engine, name: str, verdict: Verdict = "approve", **more: Any) -> NarratedChange:
    """Decide on one proposal; returns what became of it."""
    (done,) = engine.decide_narrated([name], NarratedDecision(verdict, **more))
    return done


def approved(engine: Engine, name: str, **more: Any) -> NarratedChange:
    """Approve a proposal, which has to be possible."""
    done = decided(engine, name, **more)
    assert done.done, done.problem
    return done


def note_of(engine: Engine, id_: str = NOTE) -> str:
    """Return what a note's file holds, to the byte; nothing where there is none."""
    file = engine.root / id_
    return file.read_bytes().decode() if file.exists() else ""


def states(engine: Engine) -> dict[str, NarratedState]:
    """Return the state of every proposal, by its text."""
    return {one.text: one.state for one in engine.narrated(NarratedFilter(EVERY), limit=1_000).rows}


def kinds(root: Path) -> list[str]:
    """Return the kinds of the events of a journal."""
    return [event.kind for event in Journal.of(root).read()]


def decide_and_die(root: str, name: str, left: str, as_rule: str = "") -> None:
    """Approve a proposal in a process that is killed before the write of some number, if it takes so many."""
    count = int(left)

    def die() -> None:
        nonlocal count
        count -= 1
        if count < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch, _waited_for(Path(root)) as engine:
        use(patch, sayings)
        for where, what in ((Journal, "_write"), (note_file, "write_if_unchanged"), (list_file, "write_if_unchanged")):
            patch.setattr(where, what, _counted(getattr(where, what), die))
        engine.decide_narrated([name], NarratedDecision("approve", as_rule=bool(as_rule)))


def _waited_for(root: Path) -> Engine:
    """Open a project once the process that has it open lets go of it."""
    opened: list[Engine] = []

    def is_open() -> bool:
        with suppress(StoreBusyError):
            opened.append(Engine.open(root))
        return bool(opened)

    until(is_open, "the other process to let go")
    return opened[0]


def _counted(call: Any, die: Any) -> Any:
    def counted(*args: Any, **more: Any) -> Any:
        die()
        return call(*args, **more)

    return counted


def ran(command: str) -> tuple[Step, ...]:
    """Return the steps of a turn that ran one command."""
    return (Step("tool", command, "Bash"),)
