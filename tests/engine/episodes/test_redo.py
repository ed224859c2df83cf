"""A change that was undone is made again as it was: ids, marks and lines are those of before."""

from __future__ import annotations

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model import EntryEdit, EpisodeEdit


@pytest.fixture
def engine(indexed_engine: Engine) -> Engine:
    return indexed_engine


def contents(engine: Engine) -> dict[str, str]:
    return {one.id: one.content for one in engine.entries().rows}


def test_an_entry_keeps_its_id(engine: Engine):
    made = engine.remember("Tests need redis", category="Rule")
    written = engine.undo().change
    assert not contents(engine)
    again = engine.redo(written)
    assert contents(engine) == {made.id: "Tests need redis"}
    assert not engine.entries().rows[0].unapproved
    assert (again.ids, again.words) == ((made.id,), f"wrote the entry {made.id}")
    assert engine.undo().change == again.change, "a redo is a change of its own"
    engine.redo(again.change)
    changed = engine.update_entry(made.id, EntryEdit(content="Tests need valkey", pinned=True))
    forgotten = engine.forget_memory(made.id)
    engine.undo()
    engine.redo(forgotten.change)
    assert not contents(engine)
    engine.undo()
    engine.undo(change=changed.change)
    engine.redo(changed.change)
    assert contents(engine) == {made.id: "Tests need valkey"}


def test_what_was_forgotten_together_comes_back_together(engine: Engine):
    entries = [engine.remember(f"Entry {number}").id for number in (1, 2)]
    episodes = [engine.record_episode(f"episode {number}").id for number in (1, 2)]
    listed = (set(entries), set(episodes))

    def seen() -> tuple[set[str], set[str]]:
        return set(contents(engine)), {one.id for one in engine.episodes().rows}

    # An entry last: what the change is about does not depend on the order.
    for order in ([entries[0], *episodes, entries[1]], entries):
        whole = ""
        for name in order:
            whole = engine.forget_memory(name, change=whole).change
        assert not set(order) & set.union(*seen())
        undone = engine.undo()
        assert (undone.change, set(undone.ids)) == (whole, set(order))
        assert seen() == listed
        assert set(engine.redo(whole).ids) == set(order)
        assert not set(order) & set.union(*seen())
        assert len(engine.undo().ids) == len(order)
        assert seen() == listed
    assert undone.words == f"undone: forgot the entries {', '.join(entries)}"
    whole = engine.forget_memory(entries[0]).change
    engine.forget_memory(entries[1], change=whole)
    engine.forget_memory(episodes[0], change=whole)
    back = engine.forget_memory(entries[0], undo=True).change
    engine.forget_memory(episodes[0], undo=True, change=back)
    engine.update_entry(entries[0], EntryEdit(content="other words"))
    assert [one.id for one in engine.undo(change=whole).conflicts] == [entries[0]], "all or none"
    assert seen() == ({entries[0]}, set(episodes))


def test_what_was_not_undone_or_has_changed_since_is_not_made_again(engine: Engine):
    made = engine.remember("one")
    change = engine.undo(dry_run=True).change
    for name in (change, "no such change"):
        with pytest.raises(NotFoundError, match="was not undone"):
            engine.redo(name)
    edit = engine.update_entry(made.id, EntryEdit(content="two"))
    engine.undo()
    engine.update_entry(made.id, EntryEdit(content="three"))
    with pytest.raises(NotFoundError, match="has changed meanwhile"):
        engine.redo(edit.change)
    assert contents(engine) == {made.id: "three"}


def test_lines_of_a_note_come_back_where_they_were(engine: Engine):
    first = engine.append_note("the first paragraph", name="topics/net")
    file = engine.root / ".cm/notes/topics/net.md"
    once = file.read_bytes()
    second = engine.append_note("the second paragraph", name="topics/net")
    both = file.read_bytes()
    engine.undo()
    assert file.read_bytes() == once
    engine.redo(second.change)
    assert file.read_bytes() == both
    for _ in range(2):
        engine.undo()
    assert not file.exists()
    again = engine.redo(first.change)
    assert file.read_bytes() == once
    engine.undo(change=again.change)
    assert not file.exists(), "the file was made by it"


def test_other_lines_of_a_note_that_was_changed_meanwhile_stay(engine: Engine):
    engine.append_note("the first paragraph", name="topics/net")
    second = engine.append_note("the second paragraph", name="topics/net")
    engine.undo()
    file = engine.root / ".cm/notes/topics/net.md"
    file.write_text("\n".join(["above", *file.read_text().splitlines(), ""]))
    engine.redo(second.change)
    assert file.read_text() == "above\n# net\n\nthe first paragraph\n\nthe second paragraph\n"
    engine.undo()
    file.write_text("something else\n")
    with pytest.raises(UsageError, match="changed in the same lines"):
        engine.redo(second.change)
    assert file.read_text() == "something else\n"


def test_a_note_is_deleted_and_moved_again(engine: Engine):
    engine.append_note("a paragraph", name="topics/net")
    folder = engine.root / ".cm/notes/topics"
    moved = engine.move_note(".cm/notes/topics/net.md", "topics/web")
    engine.undo()
    engine.redo(moved.change)
    assert [one.name for one in folder.iterdir()] == ["web.md"]
    gone = engine.delete_note(".cm/notes/topics/web.md")
    engine.undo()
    engine.redo(gone.change)
    assert not (folder / "web.md").exists()
    engine.undo()
    assert (folder / "web.md").exists()


def test_episodes_are_edited_and_recorded_again(engine: Engine):
    one = engine.record_episode("look at the gravel").id
    tagged = engine.edit_episodes([one], EpisodeEdit(add_tags=("bug",), pinned=True, forgotten=True))
    engine.undo()
    again = engine.redo(tagged.change)
    assert again.ids == (one,)
    assert (engine.episode(one).tags, engine.episode(one).pinned, engine.episode(one).state) == (
        ("bug",), True, "forgotten",
    )  # fmt: skip
    engine.undo(change=again.change)
    assert (engine.episode(one).tags, engine.episode(one).pinned) == ((), False)
    recorded = engine.undo(dry_run=True).change
    engine.undo()
    assert engine.episodes().total == 0
    engine.redo(recorded)
    assert [each.id for each in engine.episodes().rows] == [one]


def test_what_is_made_again_elsewhere_says_so(engine: Engine):
    rule = engine.remember("Round up", category="Rule", actor="agent", agent="codex")
    approved = engine.approve_entry(engine.entry(rule.id))
    engine.undo()
    with pytest.raises(CmError, match="cannot be redone"):
        engine.redo(approved.change)
