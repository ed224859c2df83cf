"""What `cm bench writers` says: a mark that is neither in a file nor in a conflict is lost."""

from __future__ import annotations

import pytest

from cm_tui.bench import writers
from cm_tui.bench.writer_clients import NOTES
from cm_tui.engine.local.engine import LocalEngine
from tests.engine.one_file import engine, indexed_engine

__all__ = ["engine", "indexed_engine"]


def change(number: int, *, removed: int = 0, at: float = 0.0) -> dict[str, object]:
    gone = [f"quokka-editor-{removed}x"] if removed else []
    return {"wrote": [f"quokka-editor-{number}x"], "removed": gone, "file": NOTES[0], "at": at}


def test_every_mark_is_accounted_for(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch):
    engine.remember("It has quokka-editor-1x.")
    for name in NOTES:
        engine.write_note(name, "Port quokka-editor-2x.\n")
    opened = (engine.root / NOTES[1]).read_text()
    engine.write_note(NOTES[1], "Port quokka-editor-3x.\n", base=opened)
    (engine.root / NOTES[1]).write_text("By hand: quokka-editor-4x.\n")
    engine.notes()
    changes = [*(change(number) for number in (1, 2, 4, 6)), change(3, removed=6), change(5)]
    rows, lost = writers._verdict(engine.root, engine, changes)
    assert lost == ["quokka-editor-5x"]
    assert rows == {
        "marks that nobody took away": 5,
        "lost": 1,
        "only in a conflict that waits": 1,
        "conflicts that wait": 1,
        "more than once": 0,
        "taken away, and there again": 0,
        "taken away": 1,
    }


def test_a_save_over_a_save_is_told_with_its_time():
    changes = [change(1, at=10.0), change(2, at=10.012)]
    assert writers._saved_over("quokka-editor-1x", changes) == ", saved over after 12 ms"
    assert writers._saved_over("quokka-editor-2x", changes) == ""
