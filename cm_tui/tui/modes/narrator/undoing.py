"""Taking decisions back: that on the chosen proposal, whenever it was made, or the last one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cm_tui.model import NarratedChange, NarratedFilter, NarratedProposal, NarratedState
from cm_tui.tui.modes.narrator.inbox import key_of
from cm_tui.tui.modes.narrator.signs import title_of
from cm_tui.tui.modes.narrator.view import NarratorView
from cm_tui.tui.screens.undo import UNDO, undo
from cm_tui.tui.widgets.text import count, elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_DECIDED: tuple[NarratedState, ...] = ("approved", "rejected", "deferred")
_LONGEST = 48


def undo_decision(screen: NarratorView) -> None:
    """Take back what was decided on the chosen proposal; where it still waits, the last decision."""
    if screen.on_topics:
        undo(screen, screen.reload)
        return
    if screen.is_doing(UNDO):
        return
    chosen = screen.proposal
    if chosen is not None and chosen.state != "waiting":
        screen.undone.drop({chosen.id})
        _take_back(screen, (chosen.id,))
        return
    step = screen.undone.pop()
    if step is None:
        screen.do(_last, partial(_found_last, screen), once=UNDO)
    elif step.ids:
        _take_back(screen, step.ids)
    else:
        undo(screen, screen.reload)


def _last(engine: Engine) -> NarratedProposal | None:
    rows = engine.narrated(NarratedFilter(_DECIDED), limit=1).rows
    return rows[0] if rows else None


def _found_last(screen: NarratorView, last: NarratedProposal | None) -> None:
    if last is None:
        screen.cm.refuse("Undo: nothing was decided yet")
    else:
        _take_back(screen, (last.id,))


def _take_back(screen: NarratorView, ids: tuple[str, ...]) -> None:
    def call(engine: Engine) -> list[NarratedChange]:
        return [engine.undo_narrated(name) for name in ids]

    def done(changes: list[NarratedChange]) -> None:
        refused = [change for change in changes if not change.done]
        if refused:
            words = f"It stays as it was decided: {one_line(refused[0].problem)}"
            screen.cm.tell(words, severity="warning", timeout=8)
        if len(refused) < len(changes):
            _tell(screen, [change for change in changes if change.done])
        screen.reload()

    screen.do(call, done, once=UNDO)


def _tell(screen: NarratorView, changes: list[NarratedChange]) -> None:
    one = changes[0].proposal
    if one is not None:
        screen.pending = key_of(one)
    what = f"“{elide_end(title_of(one), _LONGEST)}”" if one is not None else one_line(changes[0].id)
    words = f"{what} waits again" if len(changes) == 1 else f"{count(len(changes), 'proposal')} wait again"
    screen.tell_done(f" ↶ {words} ")
