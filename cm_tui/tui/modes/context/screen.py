"""Context: what an agent would be handed over for a prompt, and what it was handed over before."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from textual import events, on
from textual.content import Content
from textual.widgets import Input

from cm_tui.model import Assembly
from cm_tui.tui.modes.context.rows import SnapshotRow, SnapshotRows, SourceRow, SourceRows
from cm_tui.tui.modes.context.view import TABS, TYPING, ContextView
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.save_text import ask_and_save, ask_budget, copy_and_report, note_recalled
from cm_tui.tui.state.filter_line import following
from cm_tui.tui.widgets.text import one_line

_SMALL, _STEP, _LEAST = 1_000, 500, 100

Reason = Callable[[ContextView], str | None]
_no_row: Reason = unless(lambda screen: screen.current, "no source under the cursor")
_fixed: Reason = unless(
    lambda screen: not screen.is_past and screen.diff is None, "a snapshot cannot be changed; esc returns to now"
)
_no_rule: Reason = unless(
    lambda screen: (row := screen.current) and row.source and row.source.rules, "no rule applies to this source"
)
_no_file: Reason = unless(
    lambda screen: (row := screen.current) and row.source and row.source.file, "not defined by a file of the project"
)
_no_text: Reason = unless(lambda screen: screen.shown and screen.shown.text, "the context is empty")
_nothing_off: Reason = unless(lambda screen: screen.off, "nothing is disabled")
_past: Reason = unless(lambda screen: not screen.is_past, "this is already a snapshot")
_nothing: Reason = unless(lambda screen: screen.shown, "the context is empty")
_no_snapshots: Reason = unless(lambda screen: screen.lists_snapshots, "s lists the snapshots first")
_no_snapshot: Reason = unless(lambda screen: screen.snapshots.current, "no snapshot under the cursor")
_no_pair: Reason = unless(lambda screen: _pair(screen) is not None, "mark one or two snapshots with m first")


# --- what is asked ---


def ask_prompt(screen: ContextView) -> None:
    """Go to the prompt, or to the filter of the snapshots."""
    (screen.filter_input if screen.lists_snapshots else screen.prompt_input).focus()


def _toggle(screen: ContextView, name: str) -> None:
    """Switch a source or a rule off, or on again."""
    screen.off ^= {name}
    screen.assemble()


def toggle_rule(screen: ContextView, row: SourceRow) -> None:
    """Disable the rule that applies to the source."""
    if row.source is not None:
        _toggle(screen, f"rule://{row.source.rules[0]}")


def all_on(screen: ContextView) -> None:
    """Enable everything again."""
    screen.off.clear()
    screen.assemble()


def set_budget(screen: ContextView) -> None:
    """Ask for the budget."""
    ask_budget(screen, screen.budget, "Counted with a real tokenizer.", partial(_set_budget, screen), most=1_000_000)


def _set_budget(screen: ContextView, budget: int) -> None:
    screen.budget = budget
    screen.remember()
    screen.assemble()


# --- what is shown ---


def next_tab(screen: ContextView) -> None:
    """Show the next of text, reasons, timing and files."""
    screen.tab = following(screen.tab, TABS)
    screen.diff = None
    if screen.tab == "files":
        screen.ask_definitions()
    screen.show_details()
    screen.remember()


def switch_to_snapshots(screen: ContextView) -> None:
    """List the snapshots, or the sources again."""
    screen.lists_snapshots = not screen.lists_snapshots
    screen.show_lists()
    screen.list_shown.focus()
    screen.show_details()
    screen.refresh_keys()


def open_snapshot(screen: ContextView, row: SnapshotRow) -> None:
    """Show a snapshot."""
    screen.ask("snapshot", lambda engine: engine.assembly(row.head.id), screen.show_past)


def mark(screen: ContextView, row: SnapshotRow) -> None:
    """Mark a snapshot, of three the last two."""
    if row.head.id in screen.marked:
        screen.marked.remove(row.head.id)
    else:
        screen.marked = [*screen.marked, row.head.id][-2:]
    screen.redraw_snapshots()
    screen.refresh_keys()


def _pair(screen: ContextView) -> tuple[str, str] | None:
    """Return the two snapshots that are compared, the earlier one first: those marked, or one and that under the cursor."""
    row = screen.snapshots.current
    names = list(screen.marked)
    if len(names) == 1 and row is not None and row.head.id not in names:
        names.append(row.head.id)
    first, second = sorted(names) if len(names) == 2 else ("", "")
    return (first, second) if first else None


def compare(screen: ContextView, pair: tuple[str, str]) -> None:
    """Show what differs between two snapshots."""
    screen.ask("compare", lambda engine: engine.compare_assemblies(*pair), screen.compare)


# --- taking it away ---


def copy_text(screen: ContextView, shown: Assembly) -> None:
    """Copy what is handed over."""
    copy_and_report(screen, shown.text, f"Context of {shown.tokens:,} tokens.")
    note_recalled(screen, shown.recalled)


def save_text(screen: ContextView, shown: Assembly) -> None:
    """Ask for a file and write what is handed over there."""
    ask_and_save(screen, "Save the context", shown.text, "context.md", partial(note_recalled, screen, shown.recalled))


def keep_snapshot(screen: ContextView) -> None:
    """Keep a snapshot of what is shown."""
    prompt, budget, off = screen.prompt, screen.budget, tuple(screen.off)
    screen.do(lambda engine: engine.assemble(prompt, budget=budget, without=off), screen.show_kept)


def edit_file(screen: ContextView, row: SourceRow) -> None:
    """Open the file that says this in the person's editor."""
    if row.source is not None:
        screen.cm.edit(row.source.file, 1)
        screen.ask_definitions()
        screen.assemble()


CONTEXT_COMMANDS: tuple[Command[ContextView], ...] = (
    Command("context.prompt", "slash", "Prompt", "Edit the prompt; with snapshots, filter them", ask_prompt),
    Command("context.toggle", "space", "On/off", "Disable the source, or enable it again",
            with_target("current", lambda screen, row: _toggle(screen, row.id)), blocked=(_fixed, _no_row)),
    Command("context.less", "left_square_bracket", "Less", "Decrease the budget",
            lambda screen: _set_budget(screen, max(_LEAST, screen.budget - (_STEP if screen.budget > _SMALL else _LEAST))),
            bar=False),
    Command("context.more", "right_square_bracket", "More", "Increase the budget",
            lambda screen: _set_budget(screen, screen.budget + (_STEP if screen.budget >= _SMALL else _LEAST)),
            bar=False),
    Command("context.budget", "b", "Budget", "Set the budget in tokens", set_budget),
    Command("context.view", "v", "View", "Text, reasons, timing, files", next_tab),
    Command("context.snapshots", "s", "Snapshots", "Snapshots of what agents received", switch_to_snapshots),
    Command("context.copy", "c,y", "Copy", "Copy the context", with_target("shown", copy_text), blocked=_no_text),
    Command("context.rule", "r", "Rule", "Disable the rule that applies to the source",
            with_target("current", toggle_rule), blocked=(_fixed, _no_row, _no_rule)),
    Command("context.all", "A", "Enable all", "Enable everything again", all_on, bar=False, blocked=_nothing_off),
    Command("context.mark", "m", "Mark", "Mark a snapshot for comparison", with_target("snapshots.current", mark), bar=False,
            blocked=(_no_snapshots, _no_snapshot), shown=lambda screen: screen.lists_snapshots),
    Command("context.compare", "x", "Compare", "Compare two snapshots", with_target(_pair, compare),
            bar=False, blocked=(_no_snapshots, _no_snapshot, _no_pair), shown=lambda screen: screen.lists_snapshots),
    Command("context.keep", "K", "Keep", "Save a snapshot", keep_snapshot, bar=False, blocked=(_past, _nothing)),
    Command("context.save", "w", "Save", "Write the context to a file", with_target("shown", save_text), blocked=_no_text),
    Command("context.edit", "e", "Edit", "Open its definition in $EDITOR", with_target("current", edit_file),
            blocked=(_no_row, _no_file)),
)  # fmt: skip

_MOST = 8
_BEGUN = re.compile(r"(?:^|\s)(@\S*)$")


class MentionLine:
    """The line below the prompt: mentions that begin like the word before the cursor; Tab takes the first.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: ContextView) -> None:
        self._screen = screen
        self.found: tuple[str, ...] = ()

    def look(self) -> None:
        """Ask for mentions that begin like the word before the cursor."""
        begun = self._begun()
        if not begun:
            self._screen.drop_question("mentions")
            self._show(())
            return
        self._screen.ask(
            "mentions", lambda engine: engine.complete_mention(begun, limit=_MOST), self._show, lambda _: self._show(())
        )

    def take(self) -> bool:
        """Put the first one in the place of what was begun; returns whether there was one."""
        begun, box = self._begun(), self._screen.prompt_input
        if not begun or not self.found:
            return False
        at = box.cursor_position
        box.value = f"{box.value[: at - len(begun)]}{self.found[0]} {box.value[at:].lstrip()}"
        box.cursor_position = at - len(begun) + len(self.found[0]) + 1
        self._show(())
        return True

    def _begun(self) -> str:
        box = self._screen.prompt_input
        match = _BEGUN.search(box.value[: box.cursor_position])
        return match[1] if match else ""

    def _show(self, found: tuple[str, ...]) -> None:
        self.found = found
        first, *others = found or ("",)
        more = one_line("  ".join(["", *others]))
        words = Content.assemble(("⇥ ", "$accent"), (one_line(first), "bold"), (more, "$muted")) if found else ""
        self._screen.show_words("context-mentions", words)


class ContextScreen(ContextView, commands=CONTEXT_COMMANDS):
    """Why an agent knows something, or does not."""

    INTRO = (
        "The context that an agent would receive for a prompt, by the files in .cm: the sources in order, their tokens, "
        "what was cut and why. space disables a source, r the rule that applies to it, [ and ] change the budget; "
        "the result changes at once. v shows the text, the reasons, the timing and the files. s lists snapshots of "
        "what agents received; m marks two of them, x shows the difference."
    )
    ZOOMS = ("context-detail-panel", "context-list-panel")

    def __init__(self) -> None:
        super().__init__()
        self._mentions = MentionLine(self)

    # --- what is typed ---

    @on(Input.Changed, "#context-prompt")
    def _typed(self) -> None:
        self._mentions.look()
        self.assemble(delay=TYPING if self.focused is self.prompt_input else 0.0)
        self.remember()

    @on(Input.Changed, "#context-filter")
    def _filtered(self) -> None:
        if self.lists_snapshots:
            self.ask_snapshots(delay=TYPING)

    def on_key(self, event: events.Key) -> None:
        """Tab in the prompt takes the first mention."""
        if event.key == "tab" and self.focused is self.prompt_input and self._mentions.take():
            event.stop()
            event.prevent_default()

    # --- the lists ---

    def show_row(self) -> None:
        """Show the source under the cursor."""
        if not self.lists_snapshots:
            self.show_details()

    @on(SourceRows.Chosen, "#context-sources")
    def _read(self) -> None:
        self.lines.focus()

    @on(SnapshotRows.Chosen, "#context-snapshots")
    def _open(self, event: SnapshotRows.Chosen) -> None:
        open_snapshot(self, event.row)

    def on_resize(self) -> None:
        """Lay the panel out for its new width."""
        self.call_after_refresh(self.show_details)

    # --- back ---

    def leave(self) -> None:
        """Leave the input or the panel, then a comparison, then the snapshots, then a snapshot."""
        if isinstance(self.focused, Input):
            self.list_shown.focus()
        elif self.diff is not None:
            self.diff = None
            self.show_details()
            self.list_shown.focus()
        elif self.focused is self.lines:
            self.list_shown.focus()
        elif self.lists_snapshots:
            switch_to_snapshots(self)
        elif self.is_past:
            self.assemble()
        self.refresh_keys()
