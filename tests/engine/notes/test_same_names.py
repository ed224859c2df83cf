"""Names that are one name on macOS and Windows are one note here too; what may not be written is refused before anything is recorded."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.note_file import undo_note_change
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Places
from cm_tui.engine.memory.notes.scan import places_of, scan_folders, scan_notes
from cm_tui.engine.platform.git.conflict_marks import conflict_line
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, RefusedError, UsageError
from cm_tui.model.author import Author
from cm_tui.paths import data_dir
from cm_tui.same_names import name_key, same_names, twin_of
from tests.engine.notes.conftest import write

PERSON = Author()
CONFLICT = "# Router\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


SAME = [
    ("Router", "router"),
    ("router", "ROUTER"),
    ("café", decomposed("café")),
    (decomposed("café"), "café"),
    ("Café", decomposed("cAFÉ")),
    ("über/Ärger", decomposed("ÜBER/ärger")),
    ("net/Router", "NET/router"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("한글", decomposed("한글")),
    ("router.md", "Router"),
]


@pytest.mark.parametrize("prefix", ["topics/", "user:", "user:topics/", ".cm/notes/", ""])
@pytest.mark.parametrize(("first", "second"), SAME)
def test_two_spellings_of_a_name_are_one_note(changes: NoteChanges, prefix: str, first: str, second: str):
    if not prefix and "/" in first:
        prefix = "topics/"
    one = changes.append("one", f"{prefix}{first}", PERSON)
    other = changes.append("two", f"{prefix}{second}", PERSON)
    assert one.id == other.id
    assert one.note is not None
    file = Path(one.note.file)
    assert file.read_text().endswith("one\n\ntwo\n")
    assert [*file.parent.iterdir()] == [file]
    assert unicodedata.is_normalized("NFC", one.id)
    assert changes._notes.named(f"{prefix}{second}" if prefix != "topics/" else second).id == one.id


def test_a_file_that_another_system_wrote_keeps_its_spelling(root: Path, changes: NoteChanges):
    file = write(root, f".cm/notes/topics/{decomposed('Café')}.md", "theirs\n")
    assert changes.append("mine", "café", PERSON).id.endswith(f"{decomposed('Café')}.md")
    assert file.read_text() == "theirs\n\nmine\n"


def test_names_that_only_look_alike_are_different_notes(changes: NoteChanges):
    ids = {
        changes.append("x", name, PERSON).id for name in ("router", "routеr", "cafe", "café", "router-2", "router 2")
    }
    assert len(ids) == 6


def test_of_two_files_that_are_there_each_is_named_by_its_own_spelling(root: Path, changes: NoteChanges):
    files = [write(root, f".cm/notes/topics/{name}.md", f"{name}\n") for name in ("Router", "router")]
    for file in files:
        changes.append("more", file.stem, PERSON)
        assert file.read_text() == f"{file.stem}\n\nmore\n"
    with pytest.raises(UsageError, match=r"Router\.md and router\.md"):
        changes.append("more", "ROUTER", PERSON)
    with pytest.raises(UsageError, match="Ambiguous note"):
        changes._notes.named("ROUTER")
    assert any("same name on macOS" in note for note in scan_folders(places_of(root)).notes)
    changes.move("Router", "gateway")
    assert not scan_folders(places_of(root)).notes


def test_every_way_to_make_a_second_spelling_is_refused(root: Path, changes: NoteChanges):
    changes.append("one", "Router", PERSON)
    removed = changes.delete("Router")
    changes.append("two", "router", PERSON)
    changes.append("three", "other", PERSON)
    event = next(one for one in Journal.of(root).read() if one.id == removed.change)
    tries: list[Callable[[], object]] = [
        lambda: changes.write("topics/ROUTER", "text\n", None, ""),
        lambda: changes.move("other", "topics/ROUTER"),
        lambda: undo_note_change(changes._notes, event),
    ]
    for one in tries:
        with pytest.raises((UsageError, RefusedError)):
            one()
    assert sorted(file.name for file in (root / ".cm/notes/topics").iterdir()) == ["other.md", "router.md"]


def test_a_file_with_another_ending_is_not_doubled(root: Path, changes: NoteChanges):
    write(root, ".cm/notes/topics/Router.MD", "theirs\n")
    with pytest.raises(UsageError, match="not that of a note"):
        changes.append("mine", "router", PERSON)


def test_folders_that_differ_in_case_alone_have_labels_that_do_not(tmp_path: Path):
    names = ["Notes", "notes", "NOTES", decomposed("Café"), "café"]
    places = Places(tmp_path, [str(tmp_path / str(number) / name) for number, name in enumerate(names)])
    labels = [one.prefix for one in places.folders if one.prefix.startswith("extra:")]
    assert len({name_key(one) for one in labels}) == len(names)
    assert all(unicodedata.is_normalized("NFC", one) for one in labels)


@pytest.mark.parametrize("twin", [".cm/Memory.json", ".cm/MEMORY.JSON", ".CM/memory.json"])
def test_entries_are_not_written_next_to_a_file_of_the_same_name(root: Path, twin: str):
    write(root, twin, '{"entries": []}')
    entries = Entries(root)
    assert any("has the same name as" in note for note in entries.all().notes)
    with pytest.raises(RefusedError, match="has the same name as"):
        entries.add("One.", PERSON)
    assert not (root / ".cm/memory.json").exists()
    assert [*Journal.of(root).read()] == []


def test_same_names_of_a_folder(tmp_path: Path):
    for name in ("Router.md", "a.md", "A.md"):
        (tmp_path / name).touch()
    assert same_names(tmp_path, "router.md") == ["Router.md"]
    assert same_names(tmp_path, "a.md") == ["a.md"]
    assert same_names(tmp_path / "missing", "a.md") == []
    assert twin_of(tmp_path, "router.md") == tmp_path / "Router.md"
    assert twin_of(tmp_path, "Router.md") is None
    assert twin_of(tmp_path, "missing/a.md") is None
    for one, other in itertools.combinations(("straße", "STRASSE", "strasse"), 2):
        assert name_key(one) == name_key(other)


# --- what may not be written ---


def events(root: Path) -> int:
    return len([*Journal.of(root).read()])


CHANGES: dict[str, Callable[[NoteChanges], object]] = {
    "append": lambda changes: changes.append("more", "router", PERSON),
    "write": lambda changes: changes.write(".cm/notes/topics/router.md", "other\n", "one\n", ""),
    "delete": lambda changes: changes.delete("router"),
    "move": lambda changes: changes.move("router", "gateway"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_read_only_note_is_refused(root: Path, changes: NoteChanges, change: str):
    file = write(root, ".cm/notes/topics/router.md", "one\n")
    file.chmod(0o444)
    with pytest.raises(RefusedError, match="read-only") as refused:
        CHANGES[change](changes)
    assert "writable" in refused.value.hint
    assert file.read_text() == "one\n"
    assert events(root) == 0
    assert [*file.parent.iterdir()] == [file]


def test_a_change_of_a_note_that_became_read_only_is_not_taken_back(root: Path, changes: NoteChanges):
    change = changes.append("one", "router", PERSON)
    file, event = root / change.id, next(iter(Journal.of(root).read()))
    file.chmod(0o444)
    with pytest.raises(RefusedError, match="read-only"):
        undo_note_change(changes._notes, event)
    assert (file.exists(), events(root)) == (True, 1)


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_read_only_file_of_entries_is_refused(root: Path, scope: str):
    entries = Entries(root)
    one, _ = entries.add("One.", PERSON, scope=scope)
    file = root / ".cm/memory.json" if scope == "project" else data_dir() / "entries/user.json"
    before = file.read_text()
    file.chmod(0o444)
    for change in (lambda: entries.add("Two.", PERSON, scope=scope), lambda: entries.put([(one, None)], PERSON)):
        with pytest.raises(RefusedError, match="read-only"):
            change()
    assert (file.read_text(), events(root)) == (before, 1)


@pytest.mark.parametrize("cut", range(1, 6))
def test_nothing_is_added_to_a_note_in_conflict(root: Path, changes: NoteChanges, cut: int):
    text = "".join(CONFLICT.splitlines(keepends=True)[: len(CONFLICT.splitlines()) - cut + 1])
    file = write(root, ".cm/notes/topics/router.md", text)
    with pytest.raises(RefusedError, match="git conflict at line 3"):
        changes.append("more", "router", PERSON)
    assert (file.read_text(), events(root)) == (text, 0)
    changes.write(".cm/notes/topics/router.md", "resolved\n", text, "")
    changes.append("more", "router", PERSON)
    assert file.read_text() == "resolved\n\nmore\n"


def test_entries_in_conflict_stay_as_they_are(root: Path):
    entries, file = Entries(root), root / ".cm/memory.json"
    entries.add("One.", PERSON)
    whole = file.read_text()
    torn = whole.replace(' "entries"', '<<<<<<< HEAD\n "entries"') + "=======\n>>>>>>> other\n"
    file.write_text(torn)
    assert any("git conflict at line" in note for note in entries.all().notes)
    with pytest.raises(CmError, match="git conflict"):
        entries.add("Two.", PERSON)
    assert file.read_text() == torn
    assert [one.name for one in file.parent.iterdir() if "damaged" in one.name] == []
    file.write_text(whole)
    entries.add("Two.", PERSON)
    assert [one["content"] for one in json.loads(file.read_text())["entries"]] == ["One.", "Two."]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain\n", None),
        ("Title\n=======\n", None),
        ("<<<<<<< HEAD\n", 1),
        ("a\n>>>>>>> main\n", 2),
        ("<<<<<<<\n=======\n>>>>>>>\n", 1),
        ("see <<<<<<< HEAD\n", None),
        ("<<<<<<<< eight\n", None),
        ("```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n", None),
        ("```\ncode\n```\n<<<<<<< HEAD\n", 4),
        ("~~~~ text\n~~~\n<<<<<<< HEAD\n~~~~\n", None),
    ],
)
def test_where_a_conflict_begins(text: str, line: int | None):
    assert conflict_line(text) == line


def test_notes_in_hidden_folders_are_reported(root: Path, changes: NoteChanges):
    write(root, ".cm/notes/.private/a.md", "x\n")
    write(root, ".cm/notes/topics/.drafts/b.md", "x\n")
    write(root, ".cm/notes/.obsidian/app.json", "{}")
    notes = scan_notes(places_of(root)).folders.notes
    assert [name for name in (".private", ".drafts", ".obsidian") if any(name in note for note in notes)] == [
        ".private",
        ".drafts",
    ]
    assert changes.append("x", ".hidden", PERSON).id in scan_notes(places_of(root)).found


def test_an_old_note_is_edited_by_its_short_name(root: Path, changes: NoteChanges):
    file = write(root, ".cm/notes/topics/Router.md", "one\n")
    for name in ("Router", "router", ".cm/notes/topics/Router.md"):
        text = f"{name}\n"
        changes.write(name, text, file.read_text(), "")
        assert file.read_text() == text
    assert [*file.parent.iterdir()] == [file]
    assert Notes(root).named("ROUTER").id == ".cm/notes/topics/Router.md"
