"""Episodes that were forgotten are shown nowhere until they are shown again; a journal that was replaced is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal import integrity
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError
from cm_tui.model import EpisodeEdit


def index(engine: Engine, **how: bool) -> None:
    for _ in engine.index(**how):
        pass


def record(engine: Engine, prompt: str) -> str:
    return Journal.of(engine.root).append("episode", EpisodeRecord(prompts=(prompt,)).to_event_data()).id


def shown(engine: Engine) -> tuple[set[str], set[str]]:
    """Ids in the list, and in the search."""
    hits = engine.search("prompt", profile="memory", limit=100).hits
    return {one.id for one in engine.episodes().rows}, {hit.path.removeprefix("episode/") for hit in hits}


def test_what_is_forgotten_is_shown_nowhere_until_that_is_undone(engine: Engine):
    ids = [record(engine, f"prompt number {n}") for n in range(3)]
    index(engine)
    assert engine.forget_memory(ids[1][:20]).id == ids[1]
    left = {ids[0], ids[2]}
    for how in ({}, {}, {"full": True}):
        assert shown(engine) == (left, left)
        index(engine, **how)
    assert engine.episode(ids[1]).state == "forgotten"
    with pytest.raises(NotFoundError):
        engine.edit_episodes([ids[1]], EpisodeEdit(forgotten=True))
    for _ in engine.rebuild():
        pass
    assert shown(engine) == (left, left)
    assert engine.forget_memory(ids[1], undo=True).id == ids[1]
    for how in ({}, {}, {"full": True}):
        assert shown(engine) == (set(ids), set(ids))
        index(engine, **how)
    with pytest.raises(NotFoundError):
        engine.forget_memory(ids[1], undo=True)
    engine.forget_memory(ids[1])
    assert shown(engine) == (left, left)


def test_a_longer_journal_in_the_place_of_another_is_noticed_by_all_who_follow_it(engine: Engine, tmp_path: Path):
    for n in range(3):
        record(engine, f"prompt number {n}")
    index(engine)
    journal = Journal.of(engine.root)
    runs: list[list[str]] = []
    consumer = JournalConsumer(lambda _, files, __: runs.append(list(files)))
    consumer.on_nudge(engine.root)
    assert shown(engine)[0]
    assert integrity.check(engine.root).events == 3
    shutil.rmtree(journal.folder)
    other = Journal(tmp_path / "other")
    other.append("hook.edit", {"paths": ["from_the_other.py"], "root": str(engine.root)})
    ids = {
        other.append("episode", EpisodeRecord(prompts=(f"prompt of another {n}",)).to_event_data()).id for n in range(9)
    }
    shutil.copytree(other.folder, journal.folder)
    consumer.on_nudge(engine.root)
    consumer.close()
    assert runs == [["from_the_other.py"]]
    index(engine)
    assert shown(engine) == (ids, ids)
    assert integrity.check(engine.root).events == 10
    # The same for a daemon that comes after it, and reads where the one before it stood.
    shutil.rmtree(journal.folder)
    other.append("hook.git", {"root": str(engine.root)})
    shutil.copytree(other.folder, journal.folder)
    again = JournalConsumer(lambda _, files, __: runs.append(list(files)))
    again.on_nudge(engine.root)
    again.close()
    assert runs[1:] == [[]], "it is the same journal, and has one event more"
