"""Decisions on items that the narrator did not propose; each is one change that `u` undoes, where the engine can."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.model import Entry, MemoryChange, Proposal, StaleItem
from cm_tui.tui.modes.review.deciding import show_failed
from cm_tui.tui.modes.review.inbox import Other, flat, key_of
from cm_tui.tui.modes.review.view import AFTER, ReviewView
from cm_tui.tui.screens.messages import OpenMemory
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm as ask
from cm_tui.tui.screens.question import confirm_rule, rule_text
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.screens.writing import words_of_error
from cm_tui.tui.state.change_history import Finish, UndoableChange
from cm_tui.tui.tasks.ask import Call, Fail
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.entry_trust import Answer

_LONGEST = 48


def accept(screen: ReviewView, item: Other) -> None:
    """Do what an agent requests, write the new name into a memory, or trust an entry of the clone; a Rule asks first."""
    record = item.record
    if isinstance(record, Proposal):
        accepted = partial(_change, screen, item, "✓ accepted", lambda engine: engine.decide(record.id, accept=True))
        if record.after is not None and record.after.category == "Rule":
            confirm_rule(screen, rule_text(record.after), record.after.scope, "Accept", accepted)
        else:
            accepted()
    elif isinstance(record, StaleItem):
        _change(screen, item, "✓ fixed", lambda engine: engine.fix_stale(record.path))
    else:
        words, text = (
            "Trust this entry? Agents may then take it for your own words.",
            f"{record.title}\n\n{record.content}",
        )
        ask(screen, words, "Trust", lambda: _trust(screen, item, record, "trusted", "✓ trusted"), detail=text)


def decline(screen: ReviewView, item: Other) -> None:
    """Decline a request after a confirmation, archive a memory, or leave an entry of the clone out."""
    record = item.record
    if isinstance(record, StaleItem):
        _change(screen, item, "✗ archived", lambda engine: engine.forget_memory(record.path))
        return
    if isinstance(record, Entry):
        _trust(screen, item, record, "refused", "✗ excluded")
        return

    def decline_it() -> None:
        _begin(screen, item, "✗ declined", "")
        screen.do(
            lambda engine: engine.decide(record.id, accept=False),
            partial(_done, screen, item),
            partial(_failed, screen, item),
        )

    words = f"Decline “{_named(item)}”?\n\nNothing is changed, and the request is removed."
    ask(screen, words, "Decline", decline_it)


def confirm(screen: ReviewView, item: Other) -> None:
    """Keep a memory that names missing code: what it says is still true."""
    record = item.record
    if isinstance(record, StaleItem):
        _change(screen, item, "✓ still true", lambda engine: engine.confirm_stale(record.path))


def open_in_memory(screen: ReviewView, item: Other) -> None:
    """Show an entry or note in Memory, where it can be edited."""
    record = item.record
    if isinstance(record, StaleItem) and record.kind != "episode":
        screen.post_message(OpenMemory(record.kind, record.id))


def _change(screen: ReviewView, item: Other, done: str, call: Call[MemoryChange]) -> None:
    title = flat(item.record.words) if isinstance(item.record, Proposal) else item.title
    _begin(screen, item, done, ", u undoes it")
    do_undoable(screen, call, partial(_done, screen, item), partial(_failed, screen, item), title=title)


def _trust(screen: ReviewView, item: Other, entry: Entry, answer: Answer, done: str) -> None:
    """Write down what the user says to an entry of the clone; undo makes it wait again."""
    from cm_tui.engine.api.entry_trust import decide_entry

    root = screen.cm.root

    def write(said: Answer, mode: ModeScreen, then: Callable[[], None], fail: Fail) -> None:
        def written(_: None) -> None:
            # It is a passage of the index, or is none any more.
            mode.cm.lifecycle.start_index()
            then()

        mode.do(lambda _: decide_entry(root, entry, said), written, fail)

    def again(mode: ModeScreen, finish: Finish, said: Answer, words: str) -> None:
        def done() -> None:
            finish(words)
            screen.reload()

        write(said, mode, done, mode.cm.tell_error)

    change = UndoableChange(
        f"{done}: “{_named(item)}”", screen.MODE,
        lambda mode, finish: again(mode, finish, "undecided", f"Undone: “{_named(item)}” waits again"),
        lambda mode, finish: again(mode, finish, answer, ""),
    )  # fmt: skip

    def failed(error: CmError) -> None:
        screen.cm.history.drop(change)
        _failed(screen, item, error)

    _begin(screen, item, done, ", u undoes it")
    screen.cm.history.add(change)
    write(answer, screen, lambda: _done(screen, item, None), failed)


def _begin(screen: ReviewView, item: Other, done: str, undo: str) -> None:
    screen.stock.decided({key_of(item): None})
    screen.after_decision(f" {done}{undo}: “{_named(item)}” ")


def _done(screen: ReviewView, item: Other, change: MemoryChange | None) -> None:
    screen.stock.done([key_of(item)])
    if change is not None and not change.change:
        screen.show_done(f" {one_line(change.words)} ")
    screen.cm.lifecycle.count_waiting(again=True)
    screen.reload(delay=AFTER)


def _failed(screen: ReviewView, item: Other, error: CmError) -> None:
    screen.stock.restore(item, words_of_error(error))
    show_failed(screen, [(item, words_of_error(error))])


def _named(item: Other) -> str:
    return elide_end(item.title, _LONGEST)
