"""A project with a journal, and a miner that finds what is simple: for tests of passes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import mining, pass_run
from cm_tui.engine.memory.narrator.turn import Miner, Observation, Turn
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.event import line_of
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.model import NarratedProposal, NarratorReport

DAY = 86_400.0
START = 1_760_000_000.0


def sayings(turn: Turn) -> Iterable[Observation]:
    """Find `always …` in prompts, commands that were run, and files after an answer of the turn before."""
    for prompt in turn.record.prompts:
        if prompt.startswith("break"):
            raise ValueError(prompt)
        if prompt.startswith("die"):
            os._exit(1)
        if prompt.startswith("always "):
            terms = tuple(prompt.split()[1:])
            yield Observation("statement", "", prompt, prompt, f"“{prompt}”", 0.999, terms=terms)
    for step in turn.record.steps:
        yield Observation("command", "", step.text, f"Run `{step.text}`", step.text, 0.8, opposes=step.failed)
    if turn.before is not None and turn.before.record.answer:
        claim = f"{turn.before.record.answer} {' '.join(turn.record.files)}"
        yield Observation("cochange", "", claim, claim, claim, 0.8)


def use(patch: pytest.MonkeyPatch, *chosen: Miner, version: int = 1) -> None:
    """Have these miners look instead of those that there are."""
    patch.setattr(mining, "MINERS", chosen)
    patch.setattr(mining, "VERSION", version)


def serve() -> None:
    """Look at episodes as a worker process does, with the miner of tests."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, sayings)
        mining.main()


def narrate_and_die(root: str, statements: str) -> None:
    """Make a pass that is killed after so many statements to the store, if it takes so many."""
    left = int(statements)
    execute = Cursor.execute

    def counted(cursor: Cursor, sql: str, parameters: Any = None) -> Cursor:
        nonlocal left
        left -= "narrator_" in sql or sql in ("BEGIN", "COMMIT")
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(cursor, sql, parameters)

    with pytest.MonkeyPatch.context() as patch, Engine.open(Path(root)) as engine:
        use(patch, sayings)
        patch.setattr(pass_run, "_BATCH", 20)
        patch.setattr(mining, "_START", WORKER)
        patch.setattr(mining, "_TASK_ITEMS", 10)
        patch.setattr(Cursor, "execute", counted)
        passed(engine)


WORKER = "from tests.engine.narrator.passes import serve; serve()"
"""Code of such a process."""


def line(number: int, record: EpisodeRecord) -> bytes:
    """Return the line of an episode, with an id by its number."""
    at = START + number
    fields: dict[str, Any] = {"id": f"{int(at * 1e9):016x}{number:08x}", "time": at, "kind": "episode", "head": None}
    return line_of({**fields, "data": record.to_event_data()})


def put(root: Path, records: Iterable[tuple[int, EpisodeRecord]]) -> list[str]:
    """Append episodes with ids by their numbers, which a journal made anew has too."""
    journal, ids = Journal.of(root), []
    for number, record in records:
        written = line(number, replace(record, root=str(root)))
        journal.append_line(written)
        ids.append(written[7:31].decode())
    return ids


def said(prompt: str, session: str, days_ago: float = 1.0, *, also: str = "", **more: Any) -> EpisodeRecord:
    """Return the record of a turn, with another prompt if there is one."""
    prompts = (prompt, also) if also else (prompt,)
    return EpisodeRecord(agent="codex", session=session, prompts=prompts, at=time.time() - days_ago * DAY, **more)


def passed(engine: Engine, **options: Any) -> NarratorReport:
    """Make a pass; returns its report."""
    report = list(engine.narrate(**options))[-1].narrated
    assert report is not None
    return report


def proposed(engine: Engine) -> list[NarratedProposal]:
    """Return what waits, whole."""
    rows = engine.narrated(limit=1_000).rows
    # How sure something is grows old with each second.
    whole = (engine.narrated_proposal(one.id) for one in rows)
    return [replace(one, confidence=round(one.confidence, 2), parts=()) for one in whole]


def new_project(root: Path) -> Path:
    """Make an empty repository."""
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def opened(root: Path) -> Iterator[Engine]:
    """Yield the engine of a project."""
    with Engine.open(root) as engine:
        yield engine
