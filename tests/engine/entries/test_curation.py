"""Entries are moved and merged as one change each, which can be taken back; what both scopes have is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.entries.curation import merge, move
from cm_tui.engine.memory.entries.duplicates import WORDS, duplicates
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import EntryFile
from cm_tui.engine.memory.entries.entry_undo import forgotten, undo_entry_change
from cm_tui.engine.memory.entries.entry_writing import CHANGED, State
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.search.ranking.tokens import STOP_WORDS, stem, words
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import Entry, EntryEdit
from cm_tui.model.author import Author

PERSON, AGENT = Author(), Author("agent", "codex", "s1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


def last_change(root: Path):
    return [event for event in Journal.of(root).read(START) if event.kind == CHANGED][-1]


def by_scope(entries: Entries) -> dict[str, list[str]]:
    found = entries.all().entries
    return {scope: [one.content for one in found if one.scope == scope] for scope in ("project", "user")}


def test_a_move_keeps_id_and_author_and_is_one_change(root: Path):
    entries = Entries(root)
    one, _ = entries.add("Tests need redis.", AGENT)
    moved = move(entries, one, "user", PERSON).after
    assert moved == replace(one, scope="user")
    assert by_scope(entries) == {"project": [], "user": ["Tests need redis."]}
    assert forgotten(entries) == ()
    done = undo_entry_change(entries, [last_change(root)], PERSON)
    assert done.words == f"moved the entry {one.id} to the scope user"
    assert by_scope(entries) == {"project": ["Tests need redis."], "user": []}
    assert entries.named(one.id) == one
    with pytest.raises(UsageError, match="already"):
        move(entries, one, "project", PERSON)


def test_a_move_that_was_killed_half_way_can_be_undone_and_finished(root: Path, monkeypatch: pytest.MonkeyPatch):
    entries = Entries(root)
    one, _ = entries.add("Tests need redis.", PERSON)
    write, written = EntryFile.write, []

    def killed(file: EntryFile, *given: Any) -> str:
        if written:
            raise KeyboardInterrupt
        written.append(file.scope)
        return write(file, *given)

    def half_moved() -> None:
        written.clear()
        with monkeypatch.context() as patch:
            patch.setattr(EntryFile, "write", killed)
            with pytest.raises(KeyboardInterrupt):
                move(entries, one, "user", PERSON)
        assert by_scope(entries) == {"project": ["Tests need redis."], "user": ["Tests need redis."]}

    half_moved()
    undo_entry_change(entries, [last_change(root)], PERSON)
    assert by_scope(entries) == {"project": ["Tests need redis."], "user": []}
    half_moved()
    with Engine.open(root) as engine:
        engine.move_entry(one.id, "user")
    assert by_scope(entries) == {"project": [], "user": ["Tests need redis."]}


def test_a_moved_entry_that_changed_since_is_a_conflict(root: Path):
    entries = Entries(root)
    one, _ = entries.add("Tests need redis.", PERSON)
    move(entries, one, "user", PERSON)
    event = last_change(root)
    entries.change(entries.named(one.id), EntryEdit(content="Tests need valkey."), PERSON)
    assert undo_entry_change(entries, [event], PERSON).conflicts
    undo_entry_change(entries, [event], PERSON, theirs_too=True)
    assert by_scope(entries) == {"project": ["Tests need redis."], "user": []}


def both_scopes(root: Path) -> tuple[Entries, Entry]:
    entries = Entries(root)
    one, _ = entries.add("Here.", PERSON)
    content = entries.files["user"].read()
    content.items.append({"id": one.id, "content": "Everywhere.", "category": "Knowledge"})
    entries.files["user"].write(content, lambda _: None)
    return entries, one


def test_an_id_that_both_scopes_have_is_told_and_needs_the_scope(root: Path):
    entries, one = both_scopes(root)
    found = entries.all()
    assert [entry.scope for entry in found.entries] == ["project", "user"]
    assert f"Both scopes have an entry {one.id}" in found.notes[0]
    with pytest.raises(UsageError, match="Ambiguous entry") as caught:
        entries.named(one.id)
    assert "scope" in (caught.value.hint or "")
    assert entries.named(one.id, "user").content == "Everywhere."
    with pytest.raises(RefusedError, match="already"):
        move(entries, one, "user", PERSON)
    with Engine.open(root) as engine:
        with pytest.raises(UsageError, match="Ambiguous entry"):
            engine.forget_memory(one.id)
        with pytest.raises(UsageError, match="Ambiguous entry"):
            engine.update_entry(one.id, EntryEdit(content="x"))
        engine.update_entry(one.id, EntryEdit(content="All over."), scope="user")
        engine.forget_memory(one.id, scope="project")
        assert engine.entry(one.id).content == "All over."
        with pytest.raises(NotFoundError):
            engine.update_entry(one.id, EntryEdit(content="x"), scope="project")
        with pytest.raises(UsageError, match="Unknown scope"):
            engine.entry(one.id, scope="world")


def test_a_merge_loses_no_word_and_is_taken_back_as_one(root: Path):
    entries = Entries(root)
    one, _ = entries.add("Tests need redis.", PERSON, keywords=["redis"])
    two, _ = entries.add("Start redis before the tests.", AGENT, scope="user", keywords=["start"])
    three, _ = entries.add("Tests need redis. Really.", AGENT)
    before = entries.all().entries
    merged = merge(entries, [one, two, three], PERSON).after
    assert merged is not None
    assert merged.content == "Start redis before the tests.\n\nTests need redis. Really."
    assert (merged.id, merged.scope, merged.keywords[:2]) == (one.id, "project", ("redis", "start"))
    assert merged.made_from == (f"entry/{two.id}", f"entry/{three.id}")
    assert entries.all().entries == (merged,)
    assert {gone.id for gone in forgotten(entries)} == {two.id, three.id}
    done = undo_entry_change(entries, [last_change(root)], PERSON)
    assert done.words.startswith("merged the entries")
    assert set(entries.all().entries) == set(before)


def test_what_cannot_be_merged_is_left(root: Path):
    entries = Entries(root)
    one, _ = entries.add("a" * 15_000, PERSON)
    two, _ = entries.add("b" * 15_000, PERSON)
    for found, error in (([one], UsageError), ([one, one], UsageError), ([one, two], UsageError)):
        with pytest.raises(error):
            merge(entries, found, PERSON)
    with pytest.raises(RefusedError):
        merge(entries, [one, replace(two, held=True)], PERSON)
    entries.put([State(two, None)], PERSON)
    with pytest.raises(NotFoundError):
        merge(entries, [replace(one, content="x"), two], PERSON)
    assert entries.all().entries == (one,)


def test_only_a_person_moves_and_merges(root: Path):
    with Engine.open(root) as engine:
        one, two = engine.remember("One."), engine.remember("Two.")
        with pytest.raises(RefusedError):
            engine.move_entry(one.id, "user", actor="agent")
        with pytest.raises(RefusedError):
            engine.merge_entries([one.id, two.id], actor="agent")
        engine.merge_entries([one.id, two.id])
        assert engine.undo().words == f"undone: merged the entries {one.id}, {two.id}"
        engine.move_entry(one.id, "user")
        assert engine.entry(one.id).scope == "user"
        assert engine.undo().words == f"undone: moved the entry {one.id} to the scope user"


def test_never_recalled_is_listed_and_in_no_answer(root: Path):
    with Engine.open(root) as engine:
        one = engine.remember("The wallaby ships on mondays.")
        assert engine.recall("wallaby").hits
        done = engine.update_entry(one.id, EntryEdit(never_recall=True))
        assert done.entry is not None
        assert done.entry.changed_by == ""
        assert not engine.recall("wallaby").hits
        assert engine.entries(match="wallaby").rows[0].never_recall
        wish = engine.update_entry(one.id, EntryEdit(never_recall=False), actor="agent", agent="a")
        assert wish.proposal
        engine.undo()
        assert engine.recall("wallaby").hits


def test_likeness_says_which_words_differ():
    made = [entry(n, text) for n, text in enumerate(["Always use named exports in this codebase.",
            "Use named exports in this codebase, not default ones.", "Redis runs on port 80."])]  # fmt: skip
    assert duplicates(made) == [], "half of the words are not enough by themselves"
    near = np.array([1, 0], np.float32)
    [pair] = duplicates(made, {0: near, 1: near, 2: near})
    assert (pair.first, pair.second) == (made[0], made[1]), "vectors alone say nothing where no word is shared"
    assert pair.only_first == ("Always",)
    assert pair.only_second == ("not", "default", "ones")
    assert (pair.words, pair.cosine, pair.likeness) == (0.4286, 1.0, 0.7143)


def entry(number: int, text: str) -> Entry:
    return Entry(f"g{number:06}", "Knowledge", "", text, (), "project", number)


_TEXTS = st.lists(st.lists(st.sampled_from(["red", "green", "blue", "not", "cart", "tax", "price", "round"]), max_size=7).map(" ".join), max_size=12)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts=_TEXTS)
def test_the_quick_way_finds_what_comparing_all_finds(texts: list[str]):
    made = [entry(number, text or "empty") for number, text in enumerate(texts)]
    sets = [{stem(word) for word in words(one.content) if word == "not" or word not in STOP_WORDS} for one in made]
    wanted = {
        (made[i].id, made[j].id)
        for i in range(len(made))
        for j in range(i + 1, len(made))
        if sets[i] | sets[j] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= WORDS
    }
    found = duplicates(made)
    assert {(pair.first.id, pair.second.id) for pair in found} == wanted
    assert duplicates(list(reversed(made))) == found
