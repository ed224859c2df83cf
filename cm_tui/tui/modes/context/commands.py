"""The commands of the context mode."""

from __future__ import annotations

from cm_tui.model import Assembly
from cm_tui.tui.modes.context.view import TABS, ContextView
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.question import Line, ask_line
from cm_tui.tui.screens.save_text import ask_and_save, copy_and_report, number_in

_SMALL, _STEP, _LEAST = 1_000, 500, 100


def _no_source(screen: ContextView) -> str | None:
    if screen.is_past or screen.diff is not None:
        return "a snapshot stays as it is; esc goes back to now"
    return None if screen.current is not None else "there is no source under the cursor"


def _no_rule(screen: ContextView) -> str | None:
    row = screen.current
    return None if row and row.source and row.source.rules else "no rule decided over this source"


def _no_text(screen: ContextView) -> str | None:
    return None if screen.shown and screen.shown.text else "the context is empty"


def _nothing_off(screen: ContextView) -> str | None:
    return None if screen.off else "nothing is switched off"


def _not_now(screen: ContextView) -> str | None:
    if screen.is_past:
        return "this is a snapshot already"
    return None if screen.shown is not None else "the context is empty"


def _no_snapshot(screen: ContextView) -> str | None:
    if not screen.lists_snapshots:
        return "s lists the snapshots first"
    return None if screen.snapshots.current is not None else "there is no snapshot under the cursor"


def _no_file(screen: ContextView) -> str | None:
    row = screen.current
    if row is None:
        return "there is no source under the cursor"
    return None if row.source and row.source.file else "no file of the project says this"


def _no_pair(screen: ContextView) -> str | None:
    return None if _pair(screen) else "mark one or two snapshots with m first"


# --- what is asked ---


def ask_prompt(screen: ContextView) -> None:
    """Go to the prompt, or to the filter of the snapshots."""
    (screen.filter_input if screen.lists_snapshots else screen.prompt_input).focus()


def toggle(screen: ContextView) -> None:
    """Switch the source under the cursor off, or on again."""
    row = screen.current
    if row is not None:
        screen.off ^= {row.id}
        screen.assemble()


def toggle_rule(screen: ContextView) -> None:
    """Switch off the rule that applies to the source."""
    row = screen.current
    if row is not None and row.source is not None:
        screen.off ^= {f"rule://{row.source.rules[0]}"}
        screen.assemble()


def all_on(screen: ContextView) -> None:
    """Switch everything on again."""
    screen.off.clear()
    screen.assemble()


def set_budget(screen: ContextView) -> None:
    """Ask for the budget."""

    def done(answer: str) -> None:
        _set_budget(screen, number_in(answer) or screen.budget)

    def check(text: str) -> str | None:
        number = number_in(text)
        return None if number and number <= 1_000_000 else "Give a number, such as 4000 or 8k."

    ask_line(screen, "Budget in tokens", Line(done, str(screen.budget), "By a real tokenizer.", check))


def _set_budget(screen: ContextView, budget: int) -> None:
    screen.budget = budget
    screen.remember()
    screen.assemble()


# --- what is shown ---


def next_tab(screen: ContextView) -> None:
    """Show the next of text, reasons, latencies and files."""
    screen.tab = TABS[(TABS.index(screen.tab) + 1) % len(TABS)]
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


def open_snapshot(screen: ContextView) -> None:
    """Show the snapshot under the cursor."""
    row = screen.snapshots.current
    if row is not None:
        name = row.head.id
        screen.ask("snapshot", lambda engine: engine.assembly(name), screen.show_past)


def mark(screen: ContextView) -> None:
    """Mark the snapshot under the cursor, of three the last two."""
    row = screen.snapshots.current
    if row is None:
        return
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


def compare(screen: ContextView) -> None:
    """Show what differs between two snapshots."""
    pair = _pair(screen)
    if pair is not None:
        screen.ask("compare", lambda engine: engine.compare_assemblies(*pair), screen.compare)


# --- taking it away ---


def copy_text(screen: ContextView) -> None:
    """Copy what is handed over."""
    assert screen.shown is not None
    copy_and_report(screen, screen.shown.text, f"Context of {screen.shown.tokens:,} tokens.")
    _count_recalled(screen, screen.shown)


def save_text(screen: ContextView) -> None:
    """Ask for a file and write what is handed over there."""
    shown = screen.shown
    assert shown is not None
    ask_and_save(screen, "Save the context", shown.text, "context.md", lambda: _count_recalled(screen, shown))


def _count_recalled(screen: ContextView, one: Assembly) -> None:
    """Count what of the memory is taken along."""
    paths = tuple(dict.fromkeys(path for source in one.sources if source.text for path in source.paths))
    remembered = tuple(path for path in paths if path.startswith(("episode/", "entry/", "note/")))
    if remembered:
        screen.do(lambda engine: engine.note_recalled(remembered), lambda _: None)


def keep_snapshot(screen: ContextView) -> None:
    """Keep a snapshot of what is shown."""
    prompt, budget, off = screen.prompt, screen.budget, tuple(screen.off)
    screen.do(lambda engine: engine.assemble(prompt, budget=budget, without=off), screen.kept)


def edit_file(screen: ContextView) -> None:
    """Open the file that says this in the person's editor."""
    row = screen.current
    if row is not None and row.source is not None:
        screen.cm.edit(row.source.file, 1)
        screen.ask_definitions()
        screen.assemble()


CONTEXT_COMMANDS: tuple[Command[ContextView], ...] = (
    Command("context.prompt", "slash", "Prompt", "Edit the prompt; with snapshots, filter them", ask_prompt),
    Command("context.toggle", "space", "On/off", "Switch the source off, or on again", toggle, blocked=_no_source),
    Command("context.less", "left_square_bracket", "Less", "Give fewer tokens",
            lambda screen: _set_budget(screen, max(_LEAST, screen.budget - (_STEP if screen.budget > _SMALL else _LEAST))),
            bar=False),
    Command("context.more", "right_square_bracket", "More", "Give more tokens",
            lambda screen: _set_budget(screen, screen.budget + (_STEP if screen.budget >= _SMALL else _LEAST)),
            bar=False),
    Command("context.budget", "b", "Budget", "Set the budget in tokens", set_budget),
    Command("context.view", "v", "View", "Text, reasons, latencies, files", next_tab),
    Command("context.snapshots", "s", "Snapshots", "Snapshots of what agents received", switch_to_snapshots),
    Command("context.copy", "c,y", "Copy", "Copy the context", copy_text, blocked=_no_text),
    Command("context.rule", "r", "Rule", "Switch off the rule that applies to the source", toggle_rule,
            blocked=(_no_source, _no_rule)),
    Command("context.all", "A", "All on", "Switch everything on again", all_on, bar=False, blocked=_nothing_off),
    Command("context.mark", "m", "Mark", "Mark a snapshot to be compared", mark, bar=False, blocked=_no_snapshot,
            shown=lambda screen: screen.lists_snapshots),
    Command("context.compare", "x", "Compare", "What differs between two snapshots", compare, bar=False,
            blocked=(_no_snapshot, _no_pair), shown=lambda screen: screen.lists_snapshots),
    Command("context.keep", "K", "Keep", "Save a snapshot", keep_snapshot, bar=False, blocked=_not_now),
    Command("context.save", "w", "Save", "Write the context to a file", save_text, blocked=_no_text),
    Command("context.edit", "e", "Edit", "Open its definition in $EDITOR", edit_file, blocked=_no_file),
)  # fmt: skip
