"""A journal that has grown by much: it becomes searchable in pieces, and the answers are those of all at once."""

from __future__ import annotations

from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import episode_sync, journal_source
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.search.ranking import passages
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel

MANY = 25
FEW = 4


@pytest.fixture
def grown(indexed_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine that has not seen many turns yet, of which it reads a few at once; two of them are forgotten."""
    monkeypatch.setattr(journal_source, "MOST", FEW)
    journal = Journal.of(indexed_engine.root)
    ids = []
    for turn in range(MANY):
        asked = f"Which gravel for bed number{turn}?"
        record = EpisodeRecord(agent="codex", session="s", prompts=(asked,), answer="The grey one.", turn=turn)
        ids.append(journal.append("episode", record.to_event_data()).id)
    journal.append("episode.forgotten", {"ids": [ids[3], ids[-1]]})
    return indexed_engine


def _held(engine: Engine) -> list[Any]:
    return engine._db.rows("SELECT path, title, text, time FROM passage WHERE source = 'episode' ORDER BY ALL")


def _texts(engine: Engine) -> list[str]:
    return [row[2] for row in _held(engine)]


def _index(engine: Engine, cancel: Cancel | None = None) -> None:
    for _ in engine.index(cancel=cancel):
        pass


def test_what_is_read_in_pieces_is_what_is_read_at_once(grown: Engine):
    shown = []
    for _ in range(MANY):
        shown += [number for number in range(MANY) if any(f"number{number}?" in text for text in _texts(grown))]
        if episode_sync.sync_before_question(grown._db, grown.root, grown._read_text) == "":
            break
    assert not {3, MANY - 1} & set(shown)
    pieces = _held(grown)
    assert len(pieces) == MANY - 2
    episode_sync.sync(grown._db, grown.root, grown._read_text, again=True)
    assert _held(grown) == pieces


def test_a_question_reads_on_as_long_as_it_can_wait_and_says_what_it_has_not_read(grown: Engine):
    said = episode_sync.sync_before_question(grown._db, grown.root, grown._read_text)
    assert said == episode_sync.PARTLY
    # The one that is forgotten later is never there.
    assert len(_held(grown)) == FEW - 1
    assert episode_sync.sync_before_question(grown._db, grown.root, grown._read_text, wait=60) == ""
    assert len(_held(grown)) == MANY - 2
    assert "number20" in grown.source(grown.recall("bed number20").hits[0].path).text


def test_what_was_read_before_a_run_is_stopped_stays(grown: Engine, monkeypatch: pytest.MonkeyPatch):
    cancel, sync = Cancel(), passages.sync

    def stopped(*args: Any) -> passages.PassageDelta:
        delta = sync(*args)
        if len(_held(grown)) >= 2 * FEW - 1:
            cancel.set()
        return delta

    with monkeypatch.context() as patch:
        patch.setattr(passages, "sync", stopped)
        with pytest.raises(CancelledError):
            _index(grown, cancel)
    assert len(_held(grown)) == 2 * FEW - 1
    _index(grown)
    assert len(_held(grown)) == MANY - 2
