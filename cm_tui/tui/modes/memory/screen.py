"""Memory: what people and agents wrote down, entries and notes side by side, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import events, on

from cm_tui.model import Entry, EntryEdit, MemoryChange, Note, NoteChange, PackRequest, Scope
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.memory import writing
from cm_tui.tui.modes.memory.groups import SHOWS, key_of, path_of, title_of
from cm_tui.tui.modes.memory.inventory import ItemList
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.screens.app_commands import not_open, undo_last
from cm_tui.tui.screens.commands import Command, on_item, unless
from cm_tui.tui.screens.list_mode import find, next_value
from cm_tui.tui.screens.messages import AddToPack, OpenSearch
from cm_tui.tui.screens.question import Line, ask_line, confirm_rule, rule_text
from cm_tui.tui.screens.question import confirm as ask
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.screens.small_lists import open_names
from cm_tui.tui.screens.undo import do_undoable, with_titles
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.tasks.ask import Call
from cm_tui.tui.widgets.sourcelist import ProseList
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
        do_undoable(screen, lambda engine: engine.delete_note(item.id), partial(writing.report_note, screen))

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
        writing.report_note(screen, change)

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
            "copy", lambda engine: writing.merge_base(engine, item.id),
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


# --- why a command is not possible now ---

Reason = Callable[[MemoryView], str | None]
no_item: Reason = unless(lambda screen: screen.item, "nothing under the cursor")
no_rows: Reason = unless(lambda screen: screen.items.rows, "nothing is listed")


def entry_of(screen: MemoryView) -> Entry | None:
    """Return the entry under the cursor; None: it is none."""
    return screen.item if isinstance(screen.item, Entry) else None


def no_entry(screen: MemoryView) -> str | None:
    """Return why there is no entry."""
    return no_item(screen) or (None if isinstance(screen.item, Entry) else "not an entry")


def why_fixed(entry: Entry) -> str | None:
    """Return why an entry cannot be changed."""
    if entry.forgotten is not None:
        return "it was forgotten: d restores it"
    return "it is included in the clone: trust it first (T)" if entry.held else None


def unless_item(note: Callable[[Note], str | None], entry: Callable[[Entry], str | None]) -> Reason:
    """Make the reason why a command is not possible for the item under the cursor, of one for each type of item."""

    def reason(screen: MemoryView) -> str | None:
        item = screen.item
        if isinstance(item, Note):
            return note(item)
        return entry(item) if isinstance(item, Entry) else no_item(screen)

    return reason


def _not_writable(note: Note) -> str | None:
    return None if note.writable else "it can only be changed in other programs"


cannot_pin = unless_item(lambda _: "only entries can be pinned", why_fixed)
cannot_exclude = unless_item(lambda _: "only entries can be excluded from results", why_fixed)
cannot_edit = unless_item(writing.cannot_edit_note, why_fixed)
cannot_edit_outside = unless_item(lambda _: None, why_fixed)
cannot_move = unless_item(_not_writable, why_fixed)
cannot_forget = unless_item(
    _not_writable, lambda entry: "it is included in the clone: T excludes it" if entry.held else None,
)  # fmt: skip
no_piece = unless_item(
    lambda note: None if note.digest else "it cannot be read",
    lambda entry: "it is excluded from results" if entry.held or entry.forgotten is not None else None,
)


def cannot_approve(screen: MemoryView) -> str | None:
    """Return why there is nothing to approve."""
    entry = entry_of(screen)
    return None if entry is not None and entry.unapproved else no_item(screen) or "not an unapproved Rule"


def no_double(screen: MemoryView) -> str | None:
    """Return why there is nothing to merge an item with."""
    entry = entry_of(screen)
    if entry is not None and entry.id in screen.items.marks.doubles:
        return why_fixed(entry)
    return no_entry(screen) or "no near-duplicate entry"


def not_stale(screen: MemoryView) -> str | None:
    """Return why there is nothing to confirm."""
    item = screen.item
    if item is not None and screen.items.marks.is_stale(item):
        return None
    return no_item(screen) or "all names in it exist"


def cannot_fix(screen: MemoryView) -> str | None:
    """Return why a renamed symbol cannot be replaced."""
    if isinstance(screen.item, Note) and not_stale(screen) is None:
        return "it is your own file: e edits it"
    return not_stale(screen) or no_entry(screen)


# --- memory ---


def read(screen: MemoryView) -> None:
    """Go into the text."""
    screen.panel.prose.focus()


def search_memory(screen: MemoryView) -> None:
    """Search by meaning in Search, with the words of the filter: in all memory, or in notes where these alone are listed."""
    profile = "notes" if screen.where.show == "notes" else "recall"
    screen.post_message(OpenSearch(screen.where.text, profile))


# --- what is done with an item ---


def edit_note_outside(screen: MemoryView, note: Note) -> None:
    """Change the file of a note in the person's own editor."""
    line = screen.panel.prose.current
    screen.cm.edit(note.file, line.number if line is not None else 1)
    screen.reload()


def write(screen: MemoryView) -> None:
    """Write into the note under the cursor where cm may write there, else into the log of today."""
    item = screen.item
    writing.write_into_note(screen, item.id if isinstance(item, Note) and item.writable and item.kind != "day" else "")


def search_name(screen: MemoryView) -> None:
    """Ask in Search for what it is called."""
    item = screen.item
    if isinstance(item, Entry | Note):
        screen.post_message(OpenSearch(title_of(item)))


def jump(screen: MemoryView, by: int) -> None:
    """Go to the group before or after this one."""
    if not screen.items.jump(by):
        screen.cm.refuse(f"No group {'before' if by < 0 else 'after'} this one")


MEMORY_COMMANDS: tuple[Command[MemoryView], ...] = (
    # The key bar ends where there is no room any more: what is used most comes first.
    Command("memory.read", "enter", "Read",
            "Focus the text; open the code that a line names; esc returns", read,
            palette=False, blocked=no_item),
    Command("memory.find", "slash", "Find", "Filter by words, `kind:` and `state:`", find,
            blocked=not_open),
    Command("memory.accept", "plus", "Approve", "Approve an agent's Rule: agents follow it from then on",
            on_item({Entry: approve}), bar="possible", blocked=cannot_approve),
    Command("memory.merge", "x", "Merge", "Compare with a near-duplicate entry, and merge them",
            on_item({Entry: writing.merge}), bar="possible", blocked=no_double),
    Command("memory.fix", "F", "Fix names", "Replace renamed symbols by their new names",
            on_item({Entry: fix_names}), bar="possible", blocked=cannot_fix),
    Command("memory.true", "t", "Still true", "Confirm that it is still true, although it names missing code",
            on_item({Entry: confirm, Note: confirm}), bar="possible", blocked=not_stale),
    Command("memory.ask", "s", "Search", "Search entries, notes and past sessions by meaning",
            search_memory, blocked=not_open),
    Command("memory.new", "n", "New", "Write an entry: a rule, knowledge or experience", writing.new_entry,
            blocked=not_open),
    Command("memory.write", "w", "Write", "Append to a note: today's log, or the one under the cursor", write,
            blocked=not_open),
    Command("memory.edit", "e", "Edit", "Edit in place; concurrent changes are merged",
            on_item({Entry: writing.edit_entry, Note: writing.edit_note}), blocked=cannot_edit),
    Command("memory.forget", "d", "Forget", "Forget the entry or delete the note; d brings a forgotten entry back",
            on_item({Entry: forget, Note: forget}), blocked=cannot_forget),
    Command("memory.undo", "u", "Undo", "Undo the last change, of any mode; then your earlier ones in this project",
            undo_last, blocked=not_open),
    Command("memory.show", "f", "Show", "All, entries only, notes only", next_value("show", ("", *SHOWS)), blocked=not_open),
    Command("memory.pin", "p", "Pin", "Agents cannot change a pinned entry; the same key unpins it",
            on_item({Entry: flip_pin}), blocked=cannot_pin),
    Command("memory.move", "m", "Move", "Move it to all projects or to this one; rename a note",
            on_item({Note: move_note, Entry: move_entry}), bar=False, blocked=cannot_move),
    Command("memory.never", "r", "Never recall", "Exclude it from results and from agents; the same key reverts that",
            on_item({Entry: flip_never_recall}), bar=False, blocked=cannot_exclude),
    Command("memory.outside", "E", "Editor",
            "Change it in $VISUAL or $EDITOR: the file of a note, the text of an entry",
            on_item({Entry: writing.edit_entry_outside, Note: edit_note_outside}), bar=False,
            blocked=cannot_edit_outside),
    Command("memory.add", "a,space", "Pack", "Add it to the pack", add_to_pack, blocked=no_piece),
    Command("memory.copy", "y", "Copy", "Copy the text", copy_text, bar=False, blocked=no_item),
    Command("memory.copy-name", "Y", "Copy name", "Copy the id of an entry, the path of a note", copy_name,
            bar=False, blocked=no_item),
    Command("memory.search", "o", "In Search", "Search the code for its title", search_name, bar=False,
            blocked=no_piece),
    Command("memory.scope", "S", "Scope", "Both scopes, this project only, all projects only",
            next_value("scope", ("", "project", "user")),
            bar=False, blocked=not_open),
    Command("memory.before", "left_square_bracket", "Previous group", "Go to the previous group",
            partial(jump, by=-1), bar=False, blocked=no_rows),
    Command("memory.after", "right_square_bracket", "Next group", "Go to the next group",
            partial(jump, by=1), bar=False, blocked=no_rows),
)  # fmt: skip


class MemoryScreen(MemoryView, commands=MEMORY_COMMANDS):
    """What was written down."""

    INTRO = (
        "Entries are rules, knowledge and experience; notes are Markdown files: daily logs, topics, long-term memory. "
        "Search, packs and agents find both. / filters, s searches by meaning. Requests by agents wait in Review (7): a accepts, x declines. "
        "u undoes your last change."
    )
    ZOOMS = ("item-panel", "memory-list-panel")

    # --- the list ---

    def show_row(self) -> None:
        """Show the item under the cursor."""
        if self.items.item is not None:
            self.panel.show(self.items.item)

    @on(ItemList.Chosen, "#memory-list")
    def _enter(self) -> None:
        read(self)

    @on(ProseList.Chosen, "#item-text")
    def _open_code(self) -> None:
        """Open the code that the line under the cursor names."""
        open_names(self, self.panel.names)

    @on(ItemList.RowsRequested)
    def _rows_requested(self, event: ItemList.RowsRequested) -> None:
        self.stock.read_on(event.group.key, self.items.read_of(event.group, event.many))

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Where there is room for one of the two, the one with the focus is on screen."""
        self.set_class(event.widget is self.panel.prose, "-in-text")
