"""Secrets and whole entries are gone for good: from the files, the journal, proposals and the index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.entries import curation, entry_backup, entry_record
from cm_tui.engine.memory.entries.entry_file import LedgerFile
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import Redacted
from cm_tui.errors import NotFoundError
from cm_tui.model import EntryEdit
from tests.earlier_filter import nothing_redacted
from tests.planted import GITHUB


@pytest.fixture
def engine(indexed_engine: Engine) -> Engine:
    return indexed_engine


def holders(engine: Engine, text: str) -> list[str]:
    """Files below home and project that hold a text."""
    found = []
    for base in (Path(os.environ["CM_HOME"]), engine.root):
        found += [str(file) for file in base.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]
    return found


def test_what_an_earlier_filter_let_in_is_found_and_goes(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    with nothing_redacted(), monkeypatch.context() as earlier:
        for module in (entry_record, curation):
            earlier.setattr(module, "redact", lambda text, *_: Redacted(text, 0))
        mine = engine.remember(f"sign in with {GITHUB}")
        engine.remember(f"everywhere {GITHUB}", scope="user")
        engine.update_entry(mine.id, EntryEdit(f"or {GITHUB}"), actor="agent", agent="codex")
    places = {finding.where for finding in engine.secrets().findings if finding.place == "file"}
    assert {Path(place).name for place in places} >= {"memory.json", "user.json"}
    report = engine.erase(found=True)
    assert {Path(file).name for file in report.files} >= {"memory.json", "user.json"}
    assert holders(engine, GITHUB) == []
    assert [(one.held, "[redacted" in one.content or "[erased]" in one.content) for one in engine.entries().rows] == [
        (False, True),
        (False, True),
    ]


def test_an_entry_goes_with_all_that_was_said_of_it(engine: Engine):
    kept = engine.remember("granite stays")
    gone = engine.remember("the word is xylophone-quartz")
    engine.update_entry(gone.id, EntryEdit("the word was xylophone-quartz"))
    engine.forget_memory(gone.id, actor="agent", agent="codex")
    assert engine.search("xylophone", profile="memory", mode="keyword").hits
    report = engine.erase([gone.id], dry_run=True)
    assert len(report.events) == 3
    assert holders(engine, "xylophone-quartz")
    engine.erase([gone.id])
    assert holders(engine, "xylophone-quartz") == []
    assert [one.id for one in engine.entries().rows] == [kept.id]
    assert engine.proposals().total == 0
    assert engine.search("xylophone", profile="memory", mode="keyword").hits == ()
    with pytest.raises(NotFoundError):
        engine.forget_memory(gone.id, undo=True)


@pytest.mark.parametrize("length", [24, 20])
def test_an_event_of_an_entry_takes_the_entry_along(engine: Engine, length: int):
    kept = engine.remember("granite stays")
    gone = engine.remember("the word is xylophone-quartz")
    engine.update_entry(gone.id, EntryEdit("the word was xylophone-quartz"))
    event = next(one for one in Journal.of(engine.root).read() if one.data.get("id") == gone.id)
    report = engine.erase([event.id[:length]])
    assert len(report.events) == 2
    assert report.reasons == (
        "the whole entry is erased, with all earlier versions: its changes contain the same text",
    )
    assert holders(engine, "xylophone-quartz") == []
    assert [one.id for one in engine.entries().rows] == [kept.id]


def test_what_a_killed_erasure_left_of_an_entry_goes_when_it_is_asked_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    gone = engine.remember("the word is xylophone-quartz")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as first:
        first.setattr(entry_backup, "drop", killed)
        with pytest.raises(KeyboardInterrupt):
            engine.erase([gone.id])
    assert holders(engine, "xylophone-quartz")
    engine.erase([gone.id])
    assert holders(engine, "xylophone-quartz") == []


def test_the_copy_of_a_deleted_note_goes_with_its_event(engine: Engine):
    engine.append_note("the word is xylophone-quartz", name="router")
    change = engine.delete_note("router").change
    assert any("note-changes" in file for file in holders(engine, "xylophone-quartz"))
    written = [event.id for event in Journal.of(engine.root).read(START) if event.kind == "note.changed"]
    engine.erase(dict.fromkeys([*written, change]))
    assert holders(engine, "xylophone-quartz") == []


def test_a_damaged_file_that_was_set_aside_keeps_no_secret_and_is_named(engine: Engine):
    file = engine.root / ".cm/memory.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'{{"entries": [{{"content": "sign in with {GITHUB}"}},')
    made = engine.remember("granite stays")
    (kept,) = file.parent.glob("memory.damaged-*.json")
    ledger = LedgerFile.of(engine.root).path
    ledger.with_name(f".{ledger.name}.0123abcd.cm-new").write_text(f'{{"proposals": "sign in with {GITHUB}')
    assert str(kept) in {one.where for one in engine.secrets().findings}
    assert str(kept) in engine.erase(found=True).files
    assert holders(engine, GITHUB) == []
    assert "sign in with" in kept.read_text()
    assert any(str(kept) in note for note in engine.erase([made.id]).notes)
