"""Writing next to other programs: what they saved, removed or damaged counts, and no text reaches another repository."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.notes import overwritten
from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.scan import places_of, scan_notes
from cm_tui.engine.memory.projection import episode_sync
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, NotFoundError, RefusedError, StoreError
from cm_tui.model import EntryEdit
from cm_tui.model.author import Author
from tests.engine.notes.conftest import root
from tests.gitrepo import Repo

__all__ = ["root"]

AGENT = Author("agent", "codex", "s1")
NOTE = ".cm/notes/topics/router.md"
LONG_TERM = "MEMORY.md"
ENTRIES = ".cm/memory.json"


def contents(root: Path) -> list[str]:
    return sorted(item["content"] for item in json.loads((root / ENTRIES).read_text())["entries"])


def meanwhile(monkeypatch: pytest.MonkeyPatch, save: Callable[[], object]) -> None:
    """Have another program do something once, between what cm has read and what it writes."""
    append, done = Journal.append, list[bool]()

    def slowly(self: Journal, *words: Any, **more: Any) -> Any:
        if not done:
            done.append(True)
            save()
        return append(self, *words, **more)

    monkeypatch.setattr(Journal, "append", slowly)


# --- two repositories ---


def repository(root: Path, name: str) -> None:
    repo = Repo(root)
    repo.write("a.py", f"NAME = {name!r}\n")
    repo.commit(name)


def act(root: Path, mark: str, chance: random.Random) -> None:
    """Do one of the things that write files of the user."""
    notes, entries = NoteChanges(Notes(root)), Entries(root)
    what = chance.randrange(7)
    if what == 0:
        entries.add(f"entry {mark}", chance.choice((Author(), AGENT)))
    elif what == 1:
        notes.append(f"note {mark}", chance.choice(("router", LONG_TERM, "")), Author())
    elif what == 2 and (all_ := entries.all().shown):
        entries.change(chance.choice(all_), EntryEdit(content=f"changed {mark}"), Author())
    elif what == 3 and (root / NOTE).exists():
        text = (root / NOTE).read_text()
        notes.write(NOTE, f"{text}more {mark}\n", text, "")
    elif what == 4 and (root / NOTE).exists():
        notes.delete("router")
    elif what == 5:
        (root / chance.choice((NOTE, LONG_TERM, ENTRIES))).unlink(missing_ok=True)
    elif what == 6:
        entries.all()
        scan_notes(places_of(root))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_written_into_a_repository_it_was_not_written_in(root: Path, seed: int):
    chance = random.Random(seed)
    other = root.parent / "other"
    root.rmdir()
    owners = {root: "first", other: "second"}
    for path, name in owners.items():
        repository(path, name)
    for step in range(14):
        path = chance.choice([*owners])
        if chance.random() < 0.2:
            shutil.rmtree(path)
            owners[path] = f"again{step}"
            repository(path, owners[path])
        act(path, f"of-{owners[path]}-{step}", chance)
        for where, name in owners.items():
            texts = "\n".join(file.read_text() for file in where.rglob("*") if file.suffix in {".md", ".json"})
            strangers = {*texts.replace('"', " ").split()} & {
                word for word in texts.replace('"', " ").split() if word.startswith("of-") and f"of-{name}-" not in word
            }
            assert not strangers


@pytest.mark.parametrize("file", [ENTRIES, NOTE, LONG_TERM])
def test_what_was_in_a_file_that_was_removed_does_not_come_back(root: Path, file: str):
    def write(text: str) -> None:
        if file == ENTRIES:
            Entries(root).add(text, Author())
        else:
            NoteChanges(Notes(root)).append(text, "router" if file == NOTE else file, Author())

    write("removed text")
    write("removed too")
    (root / file).unlink()
    write("new text")
    assert "removed" not in (root / file).read_text()
    assert "new text" in (root / file).read_text()


def test_a_request_writes_no_file_of_the_user(root: Path):
    root.rmdir()
    repository(root, "first")
    with Engine.open(root) as engine:
        engine.append_note("first", name="router")
        engine.append_note("second", name="router")
        engine.remember("third")
        engine.remember("fourth")
        (root / NOTE).write_text("# By an editor\n")
        (root / ENTRIES).write_text('{"version": 1, "entries": []}')
        before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in root.rglob(".cm/**/*.*")}
        events = len([*Journal.of(root).read()])
        engine.notes()
        engine.search_notes("editor", min_score=0.0)
        engine.entries()
        engine.recall("first")
        engine.status()
        assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in root.rglob(".cm/**/*.*")} == before
        assert len([*Journal.of(root).read()]) == events


# --- another program saves between reading and writing ---


@pytest.mark.parametrize(
    ("saved", "expected"),
    [
        ("# Router\n\nOne.\nTheirs.\n", "# Router\n\nOne.\nTheirs.\n\nMine.\n"),
        ("# Router\n\nUno.\n", "# Router\n\nUno.\n\nMine.\n"),
        ("Theirs.\n# Router\n\nOne.\n", "Theirs.\n# Router\n\nOne.\n\nMine.\n"),
        ("# Router\n\nOne.\n\nTheirs.\n", "# Router\n\nOne.\n\nTheirs.\nMine.\n"),
        ("# Router\n\nOne.\n", "# Router\n\nOne.\n\nMine.\n"),
    ],
)
def test_a_note_that_is_saved_meanwhile_is_merged(
    root: Path, monkeypatch: pytest.MonkeyPatch, saved: str, expected: str
):
    changes = NoteChanges(Notes(root))
    changes.write(NOTE, "# Router\n\nOne.\n", None, "")
    meanwhile(monkeypatch, lambda: (root / NOTE).write_text(saved))
    changes.append("Mine.", "router", AGENT)
    assert (root / NOTE).read_text() == expected


def test_the_lines_of_both_stay_where_both_changed_the_same(root: Path, monkeypatch: pytest.MonkeyPatch):
    changes = NoteChanges(Notes(root))
    changes.write(NOTE, "Port 1.\n", None, "")
    meanwhile(monkeypatch, lambda: (root / NOTE).write_text("Port 3.\n"))
    changes.write(NOTE, "Port 2.\n", "Port 1.\n", "")
    assert (root / NOTE).read_text() == "Port 3.\nPort 2.\n"


@pytest.mark.parametrize("theirs", ["removed", "damaged"])
def test_a_note_that_is_gone_or_damaged_meanwhile_is_not_written(
    root: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
):
    changes = NoteChanges(Notes(root))
    changes.write(NOTE, "Port 1.\n", None, "")
    file = root / NOTE
    meanwhile(monkeypatch, file.unlink if theirs == "removed" else lambda: file.write_bytes(b"\xff\xfe"))
    with pytest.raises(RefusedError, match="has been removed" if theirs == "removed" else "UTF-8"):
        changes.append("Mine.", "router", AGENT)
    assert not file.exists() if theirs == "removed" else file.read_bytes() == b"\xff\xfe"


def test_a_note_that_is_created_meanwhile_keeps_both_texts(root: Path, monkeypatch: pytest.MonkeyPatch):
    (root / NOTE).parent.mkdir(parents=True)
    meanwhile(monkeypatch, lambda: (root / NOTE).write_text("Theirs.\n"))
    NoteChanges(Notes(root)).append("Mine.", "router", AGENT)
    assert {"Theirs.", "Mine."} <= {*(root / NOTE).read_text().splitlines()}


def test_entries_that_are_saved_meanwhile_stay(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries, file = Entries(root), root / ENTRIES
    entries.add("One.", AGENT)
    meanwhile(monkeypatch, lambda: file.write_text(file.read_text().replace('"One."', '"One, theirs."')))
    entries.add("Two.", AGENT)
    assert contents(root) == ["One, theirs.", "Two."]


def test_an_entry_that_both_change_keeps_the_text_on_disk(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries, file = Entries(root), root / ENTRIES
    one, _ = entries.add("One.", Author())
    entries.add("Two.", AGENT)
    meanwhile(monkeypatch, lambda: file.write_text(file.read_text().replace('"content": "One."', '"content": "Uno."')))
    with pytest.raises(NotFoundError, match="has changed meanwhile"):
        entries.change(one, EntryEdit(content="Mine."), Author())
    assert contents(root) == ["Two.", "Uno."]


def test_entries_whose_file_is_removed_meanwhile_stay_removed(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries, file = Entries(root), root / ENTRIES
    entries.add("One.", AGENT)
    meanwhile(monkeypatch, file.unlink)
    entries.add("Two.", AGENT)
    assert contents(root) == ["Two."]


def test_half_of_a_file_costs_no_entry(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries, file = Entries(root), root / ENTRIES
    entries.add("One.", AGENT)
    half = file.read_text()[:40]
    meanwhile(monkeypatch, lambda: file.write_text(half))
    entries.add("Two.", AGENT)
    assert contents(root) == ["One.", "Two."]
    assert [one.read_text() for one in root.glob(".cm/*damaged*")] == [half]


def test_a_file_that_is_saved_again_and_again_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.notes import note_file
    from cm_tui.engine.platform import list_file

    for module in (list_file, note_file):
        monkeypatch.setattr(module, "write_if_unchanged", lambda *_: False)
    changes, entries = NoteChanges(Notes(root)), Entries(root)
    (root / NOTE).parent.mkdir(parents=True)
    (root / NOTE).write_text("Theirs.\n")
    for write in (lambda: changes.append("Mine.", "router", AGENT), lambda: entries.add("Mine.", AGENT)):
        with pytest.raises(StoreError, match="keeps saving"):
            write()
    assert (root / NOTE).read_text() == "Theirs.\n"


# --- what an earlier version kept ---


def kept(root: Path, **more: Any) -> Path:
    folder = root.parent / "home/data/note-conflicts"
    folder.mkdir(parents=True, exist_ok=True)
    said = {"id": NOTE, "file": str(root / NOTE), "time": 1.0, "base": "Port 1.\n", "lost": "Port 2.\n", **more}
    file = folder / f"{len([*folder.iterdir()])}-1000.json"
    file.write_text(json.dumps(said))
    return file


def test_overwritten_lines_are_shown_once_and_kept_in_a_file(root: Path):
    (root / NOTE).parent.mkdir(parents=True)
    (root / NOTE).write_text("Port 3.\n")
    file, foreign = kept(root), kept(root, file="/elsewhere/router.md")
    damaged = kept(root)
    damaged.write_text("[")
    assert overwritten.count_below(root) == 1
    (one,) = overwritten.export(root)
    assert (one.id, one.mine, one.theirs, one.file) == (NOTE, "Port 2.\n", "Port 3.\n", str(file.with_suffix(".md")))
    assert {"Port 2.", "Port 3."} <= {*Path(one.file).read_text().splitlines()}
    assert Path(one.file).stat().st_mode & 0o777 == 0o600
    assert not file.exists()
    assert foreign.exists()
    assert (root / NOTE).read_text() == "Port 3.\n", "the note itself is the user's"
    assert overwritten.count_below(root) == 0
    assert overwritten.export(root) == ()


def test_texts_that_an_earlier_version_kept_are_removed(root: Path):
    folder = root.parent / "home/state/last-texts"
    folder.mkdir(parents=True)
    (folder / "0.json").write_text('["private"]')
    overwritten.remove_last_texts()
    overwritten.remove_last_texts()
    assert not folder.exists()


def test_an_error_of_the_disk_keeps_what_waits(root: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    file = kept(root)
    monkeypatch.setattr(overwritten, "write_atomically", full)
    with pytest.raises(CmError, match="No space"):
        overwritten.export(root)
    assert file.exists()


# --- a store that cannot be written ---


def test_a_full_disk_of_the_store_fails_no_change_and_no_question(
    indexed_engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    """What is in the user's files and the journal is done: a change that was made must not be reported as failed."""
    engine = indexed_engine
    known = engine.remember("Sand is washed twice.")
    engine.remember("Cement stays dry.")
    assert "Sand" in engine.recall("sand is washed").hits[0].snippet

    def full(*_: object, **__: object) -> None:
        raise StoreError("Cannot write the store.", hint="Free some space.")

    with monkeypatch.context() as patched:
        patched.setattr(episode_sync, "_sync", full)
        change = engine.append_note("Gravel is grey.")
        assert change.change
        assert [note for note in change.notes if "Free some space." in note]
        assert engine.remember("Lime is hot.").id
        assert engine.forget_memory(known.id).change
        found = engine.recall("cement stays dry, sand is washed")
        assert [note for note in found.notes if "cannot be searched yet" in note and "Free some space." in note]
        texts = " ".join(hit.snippet for hit in found.hits)
        assert "Cement" in texts
        assert "Sand" not in texts, "it was forgotten"
    assert "Gravel" in engine.recall("gravel").hits[0].snippet
