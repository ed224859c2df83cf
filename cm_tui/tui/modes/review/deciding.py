"""Decisions: the next proposal is chosen at once, and what the engine refuses comes back with the reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cm_tui.errors import CmError
from cm_tui.model import (
    NarratedChange,
    NarratedDecision,
    NarratedProposal,
    NarratedState,
    Verdict,
)
from cm_tui.tui.modes.review.inbox import Item, key_of
from cm_tui.tui.modes.review.signs import STATES, title_of
from cm_tui.tui.modes.review.undoing import forget_decisions, note_decision
from cm_tui.tui.modes.review.view import AFTER, ReviewView
from cm_tui.tui.screens.writing import words_of_error
from cm_tui.tui.widgets.text import ago, count, elide_end, one_line

_LONGEST = 48
_STATE_AFTER: dict[Verdict, NarratedState] = {"approve": "approved", "reject": "rejected", "defer": "deferred"}
_VERDICTS: dict[NarratedState, Verdict] = {"approved": "approve", "rejected": "reject"}
"""What had been decided where a decision is refused."""


def decide(screen: ReviewView, items: Sequence[NarratedProposal], decision: NarratedDecision) -> None:
    """Decide on what is shown: each is done only as it was shown.

    Args:
        screen: the mode.
        items: as they are listed.
        decision: what becomes of them.
    """
    if not items:
        return
    # What was shown: whole where it was read, as it was listed where it was not.
    names = [f"{one.id}@{(screen.details.of(one) or one).digest}" for one in items]
    state = _STATE_AFTER[decision.verdict]
    note_decision(screen, names, decision, _label(items, state))
    as_decided = {key_of(one): replace(one, state=state, reason=decision.reason, decided_by="person") for one in items}
    screen.stock.decided({**as_decided})
    screen.after_decision(_words(items, state))
    screen.do(
        lambda engine: engine.decide_narrated(names, decision),
        partial(_answered, screen, items),
        partial(_failed, screen, items),
    )


def _words(items: Sequence[NarratedProposal], state: NarratedState) -> str:
    sign, word = STATES[state][0][0], STATES[state][1]
    return f" {sign} {word}, u undoes it: {_named(items)} "


def _label(items: Sequence[NarratedProposal], state: NarratedState) -> str:
    return f"{STATES[state][1]}: {_named(items)}"


def _named(items: Sequence[NarratedProposal]) -> str:
    return f"“{elide_end(title_of(items[0]), _LONGEST)}”" if len(items) == 1 else count(len(items), "proposal")


def _answered(screen: ReviewView, items: Sequence[NarratedProposal], changes: Sequence[NarratedChange]) -> None:
    refused = [(one, change) for one, change in zip(items, changes, strict=True) if not change.done]
    gone = {one.id for one, _ in refused}
    screen.stock.done(key_of(one) for one in items if one.id not in gone)
    elsewhere, others = [], []
    for one, change in refused:
        screen.details.drop(one.id)
        now = change.proposal
        if now is not None and now.state in _VERDICTS and one.state not in _VERDICTS:
            elsewhere.append(now)
        else:
            screen.stock.give_back(now or one, change.problem or "It could not be done.")
            others.append((one, change.problem))
    _decided_elsewhere(screen, elsewhere)
    came_back(screen, others)


def _decided_elsewhere(screen: ReviewView, items: Sequence[NarratedProposal]) -> None:
    """Report what another client, or a policy, had decided before: it stays so, and `u` undoes that."""
    for one in items:
        forget_decisions(screen.cm.history, {one.id})
        decision = NarratedDecision(_VERDICTS[one.state], one.reason)
        note_decision(screen, [one.id], decision, _label([one], one.state))
        screen.stock.decided({key_of(one): one})
    screen.stock.done(key_of(one) for one in items)
    if items:
        one = items[0]
        by = "a person" if one.decided_by in ("", "person") else f"the {one_line(one.decided_by)}"
        when = f" {ago(time.time() - one.decided)}" if one.decided is not None else ""
        more = f", and {count(len(items) - 1, 'more', 'more')}" if len(items) > 1 else ""
        words = f"{_named([one])}{more} was {one.state} elsewhere by {by}{when}. Nothing was changed; u undoes that."
        screen.cm.tell(words, severity="warning", timeout=8)
        screen.tell_done("")
        screen.show_rows()


def _failed(screen: ReviewView, items: Sequence[NarratedProposal], error: CmError) -> None:
    why = words_of_error(error)
    for one in items:
        screen.stock.give_back(one, why)
    came_back(screen, [(one, why) for one in items])


def came_back(screen: ReviewView, refused: Sequence[tuple[Item, str]]) -> None:
    """Show what could not be done; the cursor stays, so that the next key decides on nothing that was not looked at."""
    if refused:
        one, why = refused[0]
        forget_decisions(screen.cm.history, {each.id for each, _ in refused})
        more = f" So did {count(len(refused) - 1, 'more', 'more')}." if len(refused) > 1 else ""
        words = f"“{elide_end(title_of(one), _LONGEST)}” stays as it was, marked ▲: {one_line(why)}{more}"
        screen.cm.tell(words, severity="warning", timeout=8)
        screen.tell_done("")
        screen.show_rows()
    screen.reload(delay=AFTER)
