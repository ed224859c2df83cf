"""Notes that another program saves are read by the daemon, though nobody asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.daemon.open_engine import open_engine
from tests.daemon.conftest import daemons_allowed, make_project, until


@pytest.mark.deep
def test_a_note_that_is_saved_gets_its_vectors_though_nobody_asks(cm_home: Path, tmp_path: Path):
    with daemons_allowed(cm_home, in_process=True):
        engine = open_engine(make_project(tmp_path / "shop"))
        assert engine.uses_daemon
        assert engine.notes().total == 0
        note = engine.root / ".cm/notes/topics/router.md"
        note.parent.mkdir(parents=True)
        note.write_text("# Router\n\nThe gateway listens on port 8123.\n")
        until(lambda: engine.search_notes("which port is it on", min_score=0.0).mode == "hybrid", "it has vectors")
        engine.close()
