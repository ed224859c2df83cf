"""Notes that another program saves are read by the daemon, though nobody asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.daemon.open_engine import open_engine
from tests.daemon.conftest import daemons_allowed, make_project, until


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


@pytest.mark.parametrize("saved", ["first, as I see it", "first"])
def test_what_an_editor_saved_over_is_there_again(cm_home: Path, tmp_path: Path, saved: str):
    with daemons_allowed(cm_home, in_process=True):
        engine = open_engine(make_project(tmp_path / "shop"))
        engine.append_note("first", name="router")
        note = engine.root / ".cm/notes/topics/router.md"
        opened = note.read_text()
        engine.append_note("From an agent.", name="router", actor="agent", agent="codex")
        note.write_text(opened.replace("first", saved))
        until(lambda: "From an agent." in note.read_text(), "it is put back")
        assert saved in note.read_text()
        engine.close()
