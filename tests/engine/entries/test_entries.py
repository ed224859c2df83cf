"""Entries are written whole, by many at once, and nothing that was in a file is lost."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.entries import entry_file
from cm_tui.engine.memory.entries.entries import Entries, page
from cm_tui.engine.memory.entries.entry_file import FILE
from cm_tui.engine.memory.entries.entry_record import CONTENT_CHARACTERS, entry_data, new_id, read_entry
from cm_tui.engine.memory.entries.entry_undo import restore, undo_entry_change
from cm_tui.engine.memory.entries.entry_writing import CHANGED, State
from cm_tui.engine.platform import list_file
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.files import private_umask
from cm_tui.model import Entry, EntryEdit
from cm_tui.model.author import Author
from tests.forked import Python
from tests.planted import GITHUB, leaked
from tests.tiers import examples

PERSON, AGENT = Author(), Author("agent", "codex", "s1")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    root = tmp_path / "shop"
    root.mkdir()
    return root


def file_of(root: Path) -> Path:
    return root / ".cm" / FILE


def texts(root: Path) -> list[str]:
    return [one.content for one in Entries(root).all().entries]


def changes(root: Path):
    return [event for event in Journal.of(root).read(START) if event.kind == CHANGED]


def test_an_entry_has_all_that_is_asked_of_it(root: Path):
    entry, notes = Entries(root).add("Use `parse_config` for settings, never os.environ.", AGENT, category="rule")
    assert notes == ()
    assert re.fullmatch(r"[a-z0-9]{7}", entry.id)
    assert not set(entry.id) <= set("0123456789abcdef"), "no beginning of an episode's id"
    assert (entry.category, entry.scope, entry.actor, entry.agent) == ("Rule", "project", "agent", "codex")
    assert entry.title == entry.content
    assert {"parse_config", "os.environ"} <= set(entry.keywords)
    stored = json.loads(file_of(root).read_text())["entries"][0]
    assert stored["id"] == entry.id
    assert stored["keywords"] == "|".join(entry.keywords)
    assert isinstance(stored["timestamp"], int)
    assert stored["timestamp"] > 1_500_000_000_000
    assert Entries(root).all().shown == (entry,)
    assert Entries(root).named(entry.id[:4].upper()) == entry


def test_scopes_have_their_files(root: Path, tmp_path: Path):
    Entries(root).add("here", PERSON)
    Entries(root).add("everywhere", PERSON, scope="user")
    other = tmp_path / "other"
    other.mkdir()
    assert texts(root) == ["here", "everywhere"]
    assert texts(other) == ["everywhere"]
    kept = tmp_path / "home/data/entries/user.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_a_projects_file_is_for_others_too(root: Path):
    before = os.umask(0o022)
    try:
        with private_umask():
            Entries(root).add("one", PERSON)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file_of(root).stat().st_mode) == 0o644


def test_the_same_words_are_written_once(root: Path):
    first, _ = Entries(root).add("Deploy on mondays.", PERSON)
    again, _ = Entries(root).add("Deploy on mondays.\n", AGENT)
    assert again == first
    assert len(changes(root)) == 1
    assert Entries(root).add("Deploy on mondays.", PERSON, category="Rule")[0].id != first.id


def test_no_secret_is_stored(root: Path, tmp_path: Path):
    entry, _ = Entries(root).add(f"log in with {GITHUB}", PERSON, title=f"t {GITHUB}", keywords=[GITHUB, "login"])
    Entries(root).change(entry, EntryEdit(content=f"or with {GITHUB}"), PERSON)
    assert entry.redacted == 2
    assert "login" in entry.keywords
    for file in (*root.rglob("*"), *(tmp_path / "home").rglob("*")):
        assert not file.is_file() or not leaked(file.read_text("utf-8", "replace")), file


@pytest.mark.parametrize("text", ["", " \n\t", "x" * (CONTENT_CHARACTERS + 1)])
def test_nothing_and_too_much_are_refused(root: Path, text: str):
    with pytest.raises(UsageError):
        Entries(root).add(text, PERSON)
    assert not file_of(root).exists()


def test_odd_characters_are_kept_or_replaced(root: Path):
    entry, _ = Entries(root).add("a\0b \udcff \x1b[31m 漢字 😀\r\nnext", PERSON)
    assert entry.content == "a b ? \x1b[31m 漢字 😀\nnext"
    assert texts(root) == [entry.content]


def test_a_change_and_its_way_back(root: Path):
    entries = Entries(root)
    entry, _ = entries.add("Port 80.", PERSON, category="Knowledge")
    changed = entries.change(entry, EntryEdit(content="Port 8080.", pinned=True), PERSON).after
    assert changed is not None
    assert (changed.content, changed.pinned, changed.category) == ("Port 8080.", True, "Knowledge")
    assert (changed.title, changed.keywords) == ("Port 8080.", ("port",))
    with pytest.raises(UsageError, match="already has this content"):
        entries.change(changed, EntryEdit(pinned=True), PERSON)
    with pytest.raises(NotFoundError, match="has changed meanwhile"):
        entries.change(entry, EntryEdit(content="Port 81."), PERSON)
    done = undo_entry_change(entries, changes(root)[-1:], PERSON)
    assert done.words == f"changed the entry {entry.id}"
    assert texts(root) == ["Port 80."]
    assert len(changes(root)) == 2, "taking back is no change that is taken back"


def test_what_is_forgotten_can_be_brought_back(root: Path):
    entries = Entries(root)
    entry, _ = entries.add("Once more.", AGENT)
    entries.put([State(entry, None)], PERSON)
    assert texts(root) == []
    back, event = restore(entries, entry.id, PERSON)
    assert replace(back, changed_by="") == entry
    assert entries.is_protected(back), "a person wants it there"
    assert event == changes(root)[-1].id
    with pytest.raises(NotFoundError):
        restore(entries, entry.id, PERSON)


def test_a_later_change_is_not_lost_by_taking_an_earlier_one_back(root: Path):
    entries = Entries(root)
    entry, _ = entries.add("one", PERSON)
    second = entries.change(entry, EntryEdit(content="two"), PERSON).after
    assert second is not None
    entries.change(second, EntryEdit(content="three"), AGENT)
    event = changes(root)[1]
    (conflict,) = undo_entry_change(entries, [event], PERSON).conflicts
    assert (conflict.yours, conflict.now, conflict.before) == ("two", "three", "one")
    assert texts(root) == ["three"]
    assert undo_entry_change(entries, [event], PERSON, dry_run=True, theirs_too=True).conflicts == ()
    assert texts(root) == ["three"]
    undo_entry_change(entries, [event], PERSON, theirs_too=True)
    assert texts(root) == ["one"]


@pytest.mark.parametrize("damage", [b"{", b"\xff\xfe", b'{"entries": 5}', b"[" * 50_000])
def test_a_damaged_file_is_kept_aside_and_told(root: Path, damage: bytes):
    file_of(root).parent.mkdir()
    file_of(root).write_bytes(damage)
    found = Entries(root).all()
    assert found.entries == ()
    assert "not valid" in found.notes[0]
    assert file_of(root).read_bytes() == damage
    _, notes = Entries(root).add("goes on", PERSON)
    [kept] = file_of(root).parent.glob("memory.damaged-*.json")
    assert kept.read_bytes() == damage
    assert kept.name in notes[0]
    assert texts(root) == ["goes on"]


def test_what_is_not_understood_stays_where_it_is(root: Path):
    file_of(root).parent.mkdir()
    odd = [
        5,
        {"id": "x"},
        {"id": "abc1234", "content": "old", "stars": 3},
        {"id": "abc1234", "content": "twin"},
        "\ud800",
    ]
    file_of(root).write_text(json.dumps({"made_by": "another", "entries": odd}))
    entries = Entries(root)
    notes = " ".join(entries.all().notes)
    assert "3 entries" in notes
    assert "1 entry" in notes
    entries.change(entries.named("abc1234"), EntryEdit(content="new"), PERSON)
    entries.add("one more", PERSON)
    stored = json.loads(file_of(root).read_text())
    assert stored["made_by"] == "another"
    assert [stored["entries"][n] for n in (0, 1, 3, 4)] == [odd[0], odd[1], odd[3], odd[4]]
    assert (stored["entries"][2]["content"], stored["entries"][2]["stars"]) == ("new", 3)


def test_a_list_alone_is_read_too(root: Path):
    file_of(root).parent.mkdir()
    file_of(root).write_text(json.dumps([{"id": "A1b2C3d", "category": "rule", "content": "as others have it"}]))
    entries = Entries(root)
    found = entries.named("A1b2C3d")
    assert (found.category, found.actor, found.held) == ("Rule", "person", True)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_links_lead_nowhere(root: Path, tmp_path: Path, what: str):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / FILE).write_text("[]")
    if what == "folder":
        (root / ".cm").symlink_to(outside)
    else:
        (root / ".cm").mkdir()
        (root / ".cm" / FILE).symlink_to(outside / FILE)
    for act in (Entries(root).all, lambda: Entries(root).add("x", PERSON)):
        with pytest.raises(RefusedError, match="link"):
            act()
    assert (outside / FILE).read_text() == "[]"
    assert Entries(root).files["user"].read().entries == {}


def test_a_pipe_is_not_waited_for(root: Path):
    (root / ".cm").mkdir()
    os.mkfifo(file_of(root))
    with pytest.raises(StoreError):
        Entries(root).all()


def test_nobody_loses_what_others_write_at_the_same_time(root: Path):
    code = (
        "import sys; from pathlib import Path; from cm_tui.engine.memory.entries.entries import Entries; from cm_tui.engine.memory.entries.entry_record import Author\n"
        "for n in range(12): Entries(Path(sys.argv[1])).add(f'{sys.argv[2]} {n}', Author())"
    )
    running = [Python(code, str(root), name) for name in ("a", "b", "c")]
    assert [one.end().returncode for one in running] == [0, 0, 0]
    assert sorted(texts(root)) == sorted(f"{name} {n}" for name in "abc" for n in range(12))
    assert len({one.id for one in Entries(root).all().entries}) == 36
    assert not [one for one in Entries(root).all().entries if one.held]
    assert len(changes(root)) == 36


def test_whoever_is_killed_leaves_every_entry_that_was_acknowledged(root: Path):
    code = (
        "import sys; from pathlib import Path; from cm_tui.engine.memory.entries.entries import Entries; from cm_tui.engine.memory.entries.entry_record import Author\n"
        "for n in range(10_000): print(Entries(Path(sys.argv[1])).add(f'entry {n}', Author())[0].id, flush=True)"
    )
    told: list[str] = []
    for _ in range(3):
        writer = Python(code, str(root))
        assert len(writer.lines(5)) >= 5
        told += writer.kill().stdout.split("\n")[:-1]
    found = Entries(root).all()
    assert found.notes == ()
    assert set(told) <= {one.id for one in found.shown}


def test_a_list_is_by_time_and_words(root: Path):
    entries = Entries(root)
    for text in ("tea in the morning", "coffee at noon", "tea at night"):
        entries.add(text, PERSON, category="Knowledge")
    found = entries.all()
    assert [one.content for one in page(found, "", "", "", held=True, limit=2).rows] == [
        "tea at night",
        "coffee at noon",
    ]
    assert page(found, "TEA knowledge", "", "", held=True, limit=9).total == 2
    assert page(found, "", "rule", "", held=True, limit=9).total == 0


_STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "change", "forget", "back"]), st.integers(0, 9), st.text(max_size=12)),
    max_size=12,
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_whatever_was_done_the_journal_leads_back_to_nothing(tmp_path_factory: pytest.TempPathFactory, steps):
    root = tmp_path_factory.mktemp("p")
    entries = Entries(root)
    for what, number, text in steps:
        now = entries.all().entries
        one: Entry | None = now[number % len(now)] if now else None
        try:
            if what == "add":
                entries.add(text, PERSON, scope="user" if number % 3 == 0 else "project")
            elif one is not None and what == "change":
                entries.change(one, EntryEdit(content=text, pinned=bool(number % 2)), AGENT)
            elif one is not None and what == "forget":
                entries.put([State(one, None)], PERSON)
        except UsageError:
            continue
    assert all(not one.held for one in entries.all().entries)
    for event in reversed(changes(root)):
        undo_entry_change(entries, [event], PERSON)
    assert entries.all().entries == ()


@given(
    st.dictionaries(st.text(max_size=9), st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists))
)
def test_whatever_a_file_says_is_an_entry_or_none(data):
    for extra in ({}, {"id": "abc1234", "content": "x"}, {"id": "abc1234", "content": "x", "timestamp": float("inf")}):
        entry = read_entry({**data, **extra}, "project")
        assert entry is None or read_entry(entry_data(entry), "project") == entry


def test_ids_are_not_given_twice():
    taken = {new_id(()) for _ in range(200)}
    assert new_id(taken) not in taken


ITEMS = st.sampled_from(
    [
        {"id": "aaaaaaa", "content": "One."},
        {"id": "aaaaaaa", "content": "Another with its id.", "mine": {"kept": [1, 2.5, None]}},
        {"id": "bbbbbbb", "content": "Two \ud800.\nLines", "category": "rule", "keywords": ["a", "b|c"]},
        {"id": "", "content": "no id"},
        "no entry",
        7,
        [],
    ]
)


@given(st.lists(ITEMS, max_size=6), st.lists(st.sampled_from(["add", "edit", "drop", "mine", "other"]), max_size=6))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_kept_of_a_file_is_what_is_in_it(root: Path, items: list, steps: list[str]):
    file, entries = file_of(root), Entries(root)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mine": {"a": [1]}, "entries": items}))
    for number, step in enumerate(steps):
        mine = [one for one in entries.files["project"].read().entries.values() if one.content.startswith("Added")]
        if step == "add":
            entries.add(f"Added {number}.", PERSON)
        elif step == "edit" and mine:
            entries.change(mine[-1], EntryEdit(content=f"Added again {number}."), PERSON)
        elif step == "drop" and mine:
            entries.put([State(mine[0], None)], PERSON)
        elif step == "other":  # another program writes
            found = json.loads(file.read_text())
            file.write_text(
                json.dumps({**found, "entries": [*found["entries"], {"id": f"other{number}", "content": "O."}]})
            )
        kept = entries.files["project"].read()
        held = list_file._last.items()
        list_file._last.clear()
        read = entries.files["project"].read()
        for path, content in held:
            list_file._last.put(path, content)
        assert (kept.items, kept.other, kept.entries, kept.notes) == (read.items, read.other, read.entries, read.notes)
        assert list(kept.entries) == list(read.entries)


def test_the_text_of_a_file_does_not_depend_on_what_was_kept_of_it(root: Path):
    entries = Entries(root)
    for number in range(4):
        entries.add(f"Number {number} “quoted”\nand more", PERSON, title="T")
        text = file_of(root).read_text("utf-8")
        assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"


def test_one_more_entry_reads_and_writes_no_other_entry_again(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries, read, written = Entries(root), [], []
    for number in range(3):
        entries.add(f"Number {number}", PERSON)
    monkeypatch.setattr(entry_file, "read_entry", lambda data, scope: read.append(data) or read_entry(data, scope))
    dumps = json.dumps
    monkeypatch.setattr(
        json, "dumps", lambda value, **how: written.append((value, how.get("indent"))) or dumps(value, **how)
    )
    entries.add("One more", PERSON)
    assert {one["content"] for one in read} == {"One more"}
    assert [value["content"] for value, indent in written if indent and "content" in value] == ["One more"]
