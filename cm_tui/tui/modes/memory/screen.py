"""Memory: what people and agents wrote down, entries and notes side by side, and what becomes of them."""

from __future__ import annotations

from functools import partial

from textual import events, on
from textual.widgets import Input

from cm_tui.model import EPISODES, Entry, Episode, Note, Proposal
from cm_tui.tui.modes.memory.edits import (
    add_to_pack,
    approve,
    confirm,
    copy_name,
    copy_text,
    decide,
    fix_names,
    flip_never_recall,
    flip_pin,
    forget,
    move_entry,
    move_note,
)
from cm_tui.tui.modes.memory.groups import SHOWS, title_of
from cm_tui.tui.modes.memory.item_list import HitList, ItemList
from cm_tui.tui.modes.memory.item_panel import ItemPanel
from cm_tui.tui.modes.memory.reasons import (
    cannot_accept,
    cannot_edit,
    cannot_edit_outside,
    cannot_fix,
    cannot_forget,
    cannot_move,
    cannot_pin,
    entry_of,
    no_double,
    no_item,
    no_piece,
    no_proposal,
    no_rows,
    not_asked,
    not_open,
    not_stale,
    nothing_to_read,
)
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.modes.memory.writing import edit_entry, edit_entry_outside, edit_note, merge, new_entry, write_into_note
from cm_tui.tui.screens.app_commands import undo_last
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.list_mode import TYPING, find
from cm_tui.tui.screens.messages import OpenSearch, ReadEpisode
from cm_tui.tui.screens.named_code import open_names
from cm_tui.tui.state.filter_line import with_field
from cm_tui.tui.widgets.prose import ProseList


def find_item(screen: MemoryView) -> None:
    """Type what is looked for."""
    if screen.is_asking:
        screen.end_asking()
    find(screen)


def read(screen: MemoryView) -> None:
    """Go into the text; of a past session's turn, tell it among those of its session."""
    hit = screen.hits.current if screen.is_asking else None
    if hit is not None and hit.source == EPISODES:
        name = hit.path.partition("/")[2]

        def found(episode: Episode) -> None:
            screen.post_message(ReadEpisode(episode.id, episode.session))

        screen.ask("episode", lambda engine: engine.episode(name), found)
        return
    screen.panel.prose.focus()


def ask_in_words(screen: MemoryView) -> None:
    """Ask what is remembered, by meaning and by words."""
    screen.unzoom()
    screen.begin_to_ask()


def switch_side(screen: MemoryView) -> None:
    """Show the text, or why the answer ranks where it does."""
    screen.toggle_class("-why")


def next_show(screen: MemoryView) -> None:
    """List all, entries alone, notes alone, in turn; of answers, those of all memory or of notes alone."""
    if screen.is_asking:
        screen.question.next_profile()
        return
    turn = ("", *SHOWS)
    value = turn[(turn.index(screen.where.show) + 1) % len(turn)]
    screen.filter_input.value = with_field(screen.filter_input.value, "show", value)


def next_scope(screen: MemoryView) -> None:
    """List both scopes, that of the project alone, that of the user alone, in turn."""
    turn = ("", "project", "user")
    value = turn[(turn.index(screen.where.scope) + 1) % len(turn)]
    screen.filter_input.value = with_field(screen.filter_input.value, "scope", value)


# --- what is done with an item ---


def pin(screen: MemoryView) -> None:
    """Pin the entry, or not any more."""
    if (entry := entry_of(screen)) is not None:
        flip_pin(screen, entry)


def edit(screen: MemoryView) -> None:
    """Change it in place."""
    item = screen.item
    if isinstance(item, Entry):
        edit_entry(screen, item)
    elif isinstance(item, Note):
        edit_note(screen, item)


def edit_outside(screen: MemoryView) -> None:
    """Change it in the person's own editor."""
    item = screen.item
    if isinstance(item, Entry):
        edit_entry_outside(screen, item)
    elif isinstance(item, Note):
        line = screen.panel.prose.current
        screen.cm.edit(item.file, line.number if line is not None else 1)
        screen.reload()


def never_recall(screen: MemoryView) -> None:
    """Keep the entry out of all answers, or not any more."""
    if (entry := entry_of(screen)) is not None:
        flip_never_recall(screen, entry)


def merge_double(screen: MemoryView) -> None:
    """Merge the entry with the one that says nearly the same."""
    if (entry := entry_of(screen)) is not None:
        merge(screen, screen.items.marks.doubles[entry.id])


def fix(screen: MemoryView) -> None:
    """Write the new names of what the entry names."""
    if (entry := entry_of(screen)) is not None:
        fix_names(screen, entry)


def still_true(screen: MemoryView) -> None:
    """Say that it is true all the same."""
    if isinstance(screen.item, Entry | Note):
        confirm(screen, screen.item)


def drop(screen: MemoryView) -> None:
    """Forget the entry, bring it back, or delete the note."""
    item = screen.item
    if isinstance(item, Entry | Note):
        forget(screen, item)


def move(screen: MemoryView) -> None:
    """Move the entry to the other scope, or give the note another name."""
    item = screen.item
    if isinstance(item, Note):
        move_note(screen, item)
    elif isinstance(item, Entry):
        move_entry(screen, item)


def write(screen: MemoryView) -> None:
    """Write into the note under the cursor where cm may write there, else into the log of today."""
    item = screen.item
    write_into_note(screen, item.id if isinstance(item, Note) and item.writable and item.kind != "day" else "")


def answer_proposal(screen: MemoryView, *, accept: bool) -> None:
    """Accept the proposal, or decline it; approve the Rule."""
    item = screen.item
    if isinstance(item, Proposal):
        decide(screen, item, accept=accept)
    elif isinstance(item, Entry) and accept:
        approve(screen, item)


def ask_elsewhere(screen: MemoryView) -> None:
    """Ask in Search for what it is called."""
    item = screen.item
    if isinstance(item, Entry | Note):
        screen.post_message(OpenSearch(title_of(item)))


MEMORY_COMMANDS: tuple[Command[MemoryView], ...] = (
    # The key bar ends where there is no room any more: what is used most comes first.
    Command("memory.read", "enter", "Read", "Focus the text; open the code that a line names; esc returns", read, palette=False,
            blocked=nothing_to_read),
    Command("memory.find", "slash", "Find", "Filter by words and by fields such as `kind:` or `state:`", find_item,
            blocked=not_open),
    Command("memory.accept", "plus", "Accept", "Accept an agent's proposal, or approve a Rule",
            partial(answer_proposal, accept=True), bar=False, shown=lambda screen: cannot_accept(screen) is None,
            blocked=cannot_accept),
    Command("memory.decline", "minus", "Decline", "Decline an agent's proposal; nothing changes",
            partial(answer_proposal, accept=False), bar=False, shown=lambda screen: no_proposal(screen) is None,
            blocked=no_proposal),
    Command("memory.merge", "x", "Merge", "Compare with a near-duplicate entry, and merge them",
            merge_double, bar=False, shown=lambda screen: no_double(screen) is None, blocked=no_double),
    Command("memory.fix", "F", "Fix names", "Replace renamed symbols by their new names", fix,
            shown_as="F", bar=False, shown=lambda screen: cannot_fix(screen) is None, blocked=cannot_fix),
    Command("memory.true", "t", "Still true", "Confirm that it is still true, although it names missing code", still_true,
            bar=False, shown=lambda screen: not_stale(screen) is None, blocked=not_stale),
    Command("memory.ask", "s", "Search", "Search entries, notes and past sessions by meaning",
            ask_in_words, blocked=not_open),
    Command("memory.why", "v", "Why", "Switch between the text of a result and its score", switch_side,
            bar=False, shown=lambda screen: not_asked(screen) is None, blocked=not_asked),
    Command("memory.new", "n", "New", "Write an entry: a rule, knowledge or experience", new_entry,
            blocked=not_open),
    Command("memory.write", "w", "Write", "Write into a note: the log of today, or the one under the cursor", write,
            blocked=not_open),
    Command("memory.edit", "e", "Edit", "Edit in place; concurrent changes are merged", edit,
            blocked=cannot_edit),
    Command("memory.forget", "d", "Forget", "Forget the entry or delete the note; d brings a forgotten entry back", drop,
            blocked=cannot_forget),
    Command("memory.undo", "u", "Undo", "Undo the last change, of any mode; then your earlier ones in this project",
            undo_last, blocked=not_open),
    Command("memory.show", "f", "Show", "All, entries only, notes only", next_show, blocked=not_open),
    Command("memory.pin", "p", "Pin", "Agents cannot change a pinned entry; the same key unpins it", pin,
            blocked=cannot_pin),
    Command("memory.move", "m", "Move", "To all projects, or to this one; of a note: give it another name", move, bar=False,
            blocked=cannot_move),
    Command("memory.never", "r", "Never recall", "Exclude it from results and from agents; the same key reverts that",
            never_recall, bar=False, blocked=cannot_pin),
    Command("memory.outside", "E", "Editor", "Change it in $VISUAL or $EDITOR: the file of a note, the text of an entry",
            edit_outside, shown_as="E", bar=False, blocked=cannot_edit_outside),
    Command("memory.add", "a,space", "Pack", "Put it into the pack", add_to_pack, blocked=no_piece),
    Command("memory.copy", "y", "Copy", "Copy the text", copy_text, bar=False, blocked=no_item),
    Command("memory.copy-name", "Y", "Copy name", "Copy the id of an entry, the path of a note", copy_name,
            shown_as="Y", bar=False, blocked=no_item),
    Command("memory.search", "o", "In Search", "Search the code for its title", ask_elsewhere, bar=False,
            blocked=no_piece),
    Command("memory.scope", "S", "Scope", "Both scopes, this project only, all projects only", next_scope,
            shown_as="S", bar=False, blocked=not_open),
    Command("memory.before", "left_square_bracket", "Group before", "To the group before this one",
            lambda screen: screen.items.jump(-1), bar=False, blocked=no_rows),
    Command("memory.after", "right_square_bracket", "Group after", "To the group after this one",
            lambda screen: screen.items.jump(1), bar=False, blocked=no_rows),
    Command("memory.zoom", "z", "Zoom", "Show the panel with the focus alone, and back", MemoryView.zoom, bar=False),
)  # fmt: skip


class MemoryScreen(MemoryView, commands=MEMORY_COMMANDS):
    """What was written down."""

    MODE = "memory"
    INTRO = (
        "Entries are rules, knowledge and experience; notes are Markdown files: daily logs, topics, long-term memory. "
        "Search, packs and agents find both. / filters, s searches by meaning. Requests by agents are on top until you "
        "accept or decline them. u undoes your last change."
    )
    ZOOMS = ("item-panel", "memory-list-panel")

    # --- the list ---

    @on(ItemList.Highlighted, "#memory-list")
    def _came_to(self) -> None:
        if self.items.item is not None and not self.is_asking:
            self.panel.show(self.items.item)
        self.refresh_keys()

    # --- a question ---

    @on(Input.Changed, "#memory-question")
    def _asked(self) -> None:
        self.question.ask(self.question_input.value.strip(), delay=TYPING)

    @on(HitList.Highlighted, "#memory-hits")
    def _came_to_hit(self) -> None:
        hit = self.hits.current
        if self.is_asking and hit is not None:
            self.panel.show_hit(hit)
            self.explain(hit)

    @on(HitList.Chosen, "#memory-hits")
    def _enter_hit(self) -> None:
        read(self)

    @on(ItemList.Chosen, "#memory-list")
    def _enter(self) -> None:
        read(self)

    @on(ProseList.Chosen, "#item-text")
    def _open_code(self) -> None:
        """Open the code that the line under the cursor names."""
        open_names(self, self.panel.names)

    @on(ItemList.Wanted)
    def _rows_wanted(self, event: ItemList.Wanted) -> None:
        self.stock.read_on(event.group.key, self.items.read_of(event.group, event.many))

    @on(ItemPanel.Shown)
    def _shown(self) -> None:
        self.refresh_keys()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Where there is room for one of the two, the one with the focus is on screen."""
        self.set_class(event.widget is self.panel.prose, "-in-text")
