"""Undoing decisions: that on the chosen proposal, whenever it was made, or the last one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.model import NarratedChange, NarratedDecision, NarratedFilter, NarratedProposal, NarratedState
from cm_tui.tui.modes.review.inbox import key_of
from cm_tui.tui.modes.review.signs import STATES, title_of
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.undo import earlier_change
from cm_tui.tui.screens.undo_commands import UNDO, undo_change
from cm_tui.tui.state.change_history import ChangeHistory, Finish, UndoableChange
from cm_tui.tui.widgets.text import count, elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_DECIDED: tuple[NarratedState, ...] = ("approved", "rejected", "deferred")
_LONGEST = 48


def note_decision(screen: ReviewView, names: Sequence[str], decision: NarratedDecision, label: str) -> UndoableChange:
    """Note a decision that is being made, so that it can be undone; its `about` are the ids of its proposals.

    Args:
        screen: the mode.
        names: of the proposals, each with the digest of what was shown.
        decision: what becomes of them.
        label: the same in words.
    """
    by_id = {name.partition("@")[0]: name for name in names}

    def undo(mode: ModeScreen, finish: Finish) -> None:
        def failed() -> None:
            screen.cm.history.drop(change)

        take_back(mode, screen, [id_ for id_ in by_id if id_ in change.about], finish, failed)

    def redo(mode: ModeScreen, finish: Finish) -> None:
        wanted = [name for id_, name in by_id.items() if id_ in change.about]

        def redone(changes: Sequence[NarratedChange]) -> None:
            refused = [one for one in changes if not one.done]
            forget_decisions(screen.cm.history, {one.id for one in refused})
            if refused:
                screen.cm.tell(f"It waits: {one_line(refused[0].problem)}", severity="warning", timeout=8)
            if len(refused) < len(changes):
                finish("")
            screen.cm.show_undone()

        mode.do(lambda engine: engine.decide_narrated(wanted, decision), redone, once=UNDO)

    change = UndoableChange(label, screen.MODE, undo, redo, frozenset(by_id))
    screen.cm.history.add(change)
    return change


def forget_decisions(history: ChangeHistory, ids: Collection[str]) -> None:
    """Forget decisions: they were not made, or were undone."""
    for change in (*history.newest_first, *filter(None, [history.next_redo])):
        if change.mode == "review" and change.about & set(ids):
            change.about -= set(ids)
            if not change.about:
                history.drop(change)


def undo_chosen(screen: ReviewView, chosen: NarratedProposal) -> None:
    """Undo what was decided on a proposal, whenever that was."""
    ids = frozenset({chosen.id})
    here = next((one for one in screen.cm.history.newest_first if one.about & ids and one.mode == screen.MODE), None)
    if here is not None and here.about == ids:
        undo_change(screen, here)
    else:
        forget_decisions(screen.cm.history, ids)
        _take_back_earlier(screen, chosen)


def undo_last_decision(screen: ReviewView) -> None:
    """Undo the last decision of the project, which was not made in this run."""

    def found(last: NarratedProposal | None) -> None:
        if last is None:
            screen.cm.refuse("Undo: nothing was decided yet")
        else:
            _take_back_earlier(screen, last)

    screen.do(_last, found, once=UNDO)


def _take_back_earlier(screen: ReviewView, one: NarratedProposal) -> None:
    """Undo a decision that is no change of this run by itself; `U` makes it again."""

    def undone(change: NarratedChange) -> None:
        if not change.change:
            return
        label = f"{STATES[one.state][1]}: “{elide_end(title_of(one), _LONGEST)}”"
        screen.cm.history.undone_earlier(earlier_change(screen, change.change, label, {one.id}))

    take_back(screen, screen, [one.id], screen.cm.report, undone=undone)


def _last(engine: Engine) -> NarratedProposal | None:
    rows = engine.narrated(NarratedFilter(_DECIDED), limit=1).rows
    return rows[0] if rows else None


def take_back(
    mode: ModeScreen,
    screen: ReviewView,
    ids: Sequence[str],
    finish: Finish,
    refused: Callable[[], None] = lambda: None,
    *,
    undone: Callable[[NarratedChange], None] = lambda _: None,
) -> None:
    """Have decisions undone.

    Args:
        mode: the mode on screen.
        screen: the narrator mode, which shows what came of it.
        ids: of the proposals.
        finish: gets words for the user, where something was undone.
        refused: called where nothing was.
        undone: gets each decision that was undone.
    """

    def call(engine: Engine) -> list[NarratedChange]:
        return [engine.undo_narrated(name) for name in ids]

    def done(changes: list[NarratedChange]) -> None:
        stays = [change for change in changes if not change.done]
        if stays:
            words = f"It stays as it was decided: {one_line(stays[0].problem)}"
            screen.cm.tell(words, severity="warning", timeout=8)
        if len(stays) < len(changes):
            forget_decisions(screen.cm.history, {change.id for change in stays})
            for change in changes:
                if change.done:
                    undone(change)
            finish(f"Undone: {_words(screen, [change for change in changes if change.done])}")
        else:
            refused()
        screen.cm.show_undone()

    def failed(error: CmError) -> None:
        refused()
        screen.cm.tell_error(error)

    mode.do(call, done, failed, once=UNDO)


def _words(screen: ReviewView, changes: Sequence[NarratedChange]) -> str:
    """Return what waits again, and show it in the list."""
    one = changes[0].proposal
    if one is not None:
        screen.pending = key_of(one)
    what = f"“{elide_end(title_of(one), _LONGEST)}”" if one is not None else one_line(changes[0].id)
    words = f"{what} waits again" if len(changes) == 1 else f"{count(len(changes), 'proposal')} wait again"
    screen.tell_done(f" ↶ {words} ")
    return words
