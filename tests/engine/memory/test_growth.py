"""A journal that has grown by much: it becomes searchable in pieces, and the answers are those of all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.index.summary import run_to_end
from cm_tui.engine.journal import Journal
from cm_tui.engine.local import LocalEngine
from cm_tui.engine.memory import episode_source, episode_sync
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.search.source import SourceContext
from cm_tui.model import CancelledError
from tests.gitrepo import Repo

MANY = 25


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    repo = Repo(tmp_path / "repo")
    repo.write("depot.py", "def paint(colour):\n    return colour\n")
    repo.commit()
    return repo


def test_what_is_read_in_pieces_is_what_is_read_at_once(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    with LocalEngine.open(repo.root) as engine:
        run_to_end(engine.index())
        ids = _record(repo)
        Journal.of(repo.root).append("episode.forgotten", {"ids": [ids[3], ids[-1]]})
        monkeypatch.setattr(SourceContext, "most", 4, raising=False)
        _pieces(monkeypatch, 4)
        run_to_end(engine.index())
        pieces = _held(engine)
        assert len(pieces) == MANY - 2
        episode_sync.sync(engine._db, repo.root, engine._read_text, again=True)
        assert _held(engine) == pieces
