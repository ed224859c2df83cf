"""What becomes of an entry or a note: pinned, moved, forgotten, brought back."""

from __future__ import annotations

from functools import partial

from cm_tui.model import Entry, EntryEdit, MemoryChange, Note, NoteChange, PackRequest, Scope
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.memory.groups import key_of, path_of, title_of
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.modes.memory.writing import merge_base, report_note
from cm_tui.tui.screens.messages import AddToPack
from cm_tui.tui.screens.question import Line, ask_line, confirm_rule, rule_text
from cm_tui.tui.screens.question import confirm as ask
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.screens.undo import do_undoable, with_titles
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.tasks.ask import Call
from cm_tui.tui.widgets.text import elide_end, one_line, sentence

_LONGEST = 60


def flip_pin(screen: MemoryView, entry: Entry) -> None:
    """Pin an entry, or not any more."""
    change(screen, entry, EntryEdit(pinned=not entry.pinned))


def flip_never_recall(screen: MemoryView, entry: Entry) -> None:
    """Keep an entry out of all answers, or not any more."""
    change(screen, entry, EntryEdit(never_recall=not entry.never_recall))


def change(screen: MemoryView, entry: Entry, edit: EntryEdit) -> None:
    """Change an entry, say what was done, and show it."""
    _change(screen, entry, lambda engine: engine.update_entry(entry.id, edit, scope=entry.scope))


def _change(screen: MemoryView, item: Entry | Note, call: Call[MemoryChange]) -> None:
    do_undoable(screen, call, partial(_changed, screen, title_of(item)), title=title_of(item))


def approve(screen: MemoryView, entry: Entry) -> None:
    """Approve a Rule as it is shown, after a confirmation: agents get it as an instruction."""
    approved = partial(_change, screen, entry, lambda engine: engine.approve_entry(entry))
    confirm_rule(screen, rule_text(entry), entry.scope, "Approve", approved)


def forget(screen: MemoryView, item: Entry | Note) -> None:
    """Forget an entry, or bring one back that was forgotten; delete a note after a question."""
    if isinstance(item, Entry):
        back = item.forgotten is not None
        _change(screen, item, lambda engine: engine.forget_memory(item.id, undo=back, scope=item.scope))
        return

    def delete() -> None:
        do_undoable(screen, lambda engine: engine.delete_note(item.id), partial(report_note, screen))

    ask(screen, f"Delete the note {one_line(item.id)}?\n\nIts file is deleted; u restores it.", "Delete", delete)


def move_entry(screen: MemoryView, entry: Entry) -> None:
    """Move an entry to the other scope after a question: what holds in all projects is given in all of them."""
    to: Scope = "project" if entry.scope == "user" else "user"
    place = "all your projects" if to == "user" else "this project only"
    words = f"Move “{elide_end(title_of(entry), _LONGEST)}” to {place}?\n\nu undoes it."
    ask(screen, words, "Move", lambda: _change(screen, entry, lambda engine: engine.move_entry(entry.id, to)))


# --- what is stale ---


def fix_names(screen: MemoryView, entry: Entry) -> None:
    """Write new names in the place of old ones, after a question that says which."""

    def found(would: MemoryChange) -> None:
        fix = partial(_change, screen, entry, lambda engine: engine.fix_stale(entry.id))
        ask(screen, f"{sentence(would.words)}.", "Write it", fix)

    screen.ask("fix", lambda engine: engine.fix_stale(entry.id, dry_run=True), found)


def confirm(screen: MemoryView, item: Entry | Note) -> None:
    """Confirm that an item which names removed code is still true."""
    _change(screen, item, lambda engine: engine.confirm_stale(path_of(item)))


def move_note(screen: MemoryView, note: Note) -> None:
    """Ask for another name of a note, also in the other scope, and give it that."""

    def moved(change: NoteChange) -> None:
        if change.note is not None:
            screen.pending = key_of(change.note)
        report_note(screen, change)

    def named(name: str) -> None:
        if name.strip() != note.id:
            do_undoable(screen, lambda engine: engine.move_note(note.id, name.strip()), moved, about={note.id: ""})

    hint = "user:NAME for all your projects, .cm/notes/NAME for this one, topics/NAME for a topic."
    line = Line(named, note.id, hint, lambda name: None if name.strip() else "Give it a name.")
    ask_line(screen, "Move the note to", line)


def _changed(screen: MemoryView, title: str, change: MemoryChange) -> None:
    screen.show_result(with_titles(change.words, {change.id: title}), undoable=bool(change.change))


# --- taking it elsewhere ---


def copy_text(screen: MemoryView) -> None:
    """Copy the text; of a note all of it, also what was not read yet."""
    item = screen.item
    if isinstance(item, Note) and not screen.panel.is_whole:
        screen.ask(
            "copy", lambda engine: merge_base(engine, item.id),
            lambda text: copy_and_report(screen, text, "Note copied."),
        )  # fmt: skip
    elif item is not None:
        text = item.content if isinstance(item, Entry) else screen.panel.text
        copy_and_report(screen, text, "Text copied.")


def copy_name(screen: MemoryView) -> None:
    """Copy what names it elsewhere: the path of a note's file, the id of an entry."""
    item = screen.item
    if item is not None:
        name = item.file if isinstance(item, Note) else item.id
        copy_and_report(screen, name, one_line(name))


def add_to_pack(screen: MemoryView) -> None:
    """Put it into the pack, and go to the next."""
    item = screen.item
    if isinstance(item, Entry):
        at, lines = item.timestamp / 1000, item.content.count("\n") + 1
        title = f"“{elide_end(title_of(item), _LONGEST)}”, {who_is(item.actor, item.agent)}, {local_day(at)}"
        request = PackRequest(path_of(item), 1, lines, title, "remembered")
    elif isinstance(item, Note):
        title = f"“{elide_end(title_of(item), _LONGEST)}”, {local_day(item.time or item.modified)}"
        request = PackRequest(path_of(item), 1, max(1, item.lines), title, "remembered")
    else:
        return
    screen.post_message(AddToPack(request))
    screen.list_shown.cursor += 1
