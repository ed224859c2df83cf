"""Decisions on all items: the next one is chosen at once, and what the engine refuses comes back with the reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.errors import CmError
from cm_tui.model.dates import age
from cm_tui.tui.modes.review.inbox import STATES, Item, Other, key_of, title_of
from cm_tui.tui.modes.review.view import AFTER, ReviewView
from cm_tui.tui.screens.app_commands import UNDO, undo_change
from cm_tui.tui.screens.messages import OpenMemory
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm as ask
from cm_tui.tui.screens.question import confirm_rule, rule_text
from cm_tui.tui.screens.undo import do_reversible, do_undoable, earlier_change
from cm_tui.tui.screens.writing import words_of_error
from cm_tui.tui.state.change_history import ChangeHistory, Finish, UndoableChange
from cm_tui.tui.tasks.ask import Call, Engine
from cm_tui.tui.widgets.text import count, elide_end, flat, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.entry_trust import Answer


_DECIDED: tuple[model.NarratedState, ...] = ("approved", "rejected", "deferred")
_LONGEST = 48


def note_decision(
    screen: ReviewView, names: Sequence[str], decision: model.NarratedDecision, label: str
) -> UndoableChange:
    """Note a decision that is being made, so that it can be undone; its `about` are the ids of its proposals.

    Args:
        screen: the mode.
        names: of the proposals, each with the digest of what was shown.
        decision: what becomes of them.
        label: the same in words.
    """
    by_id = {name.partition("@")[0]: name for name in names}

    def undo(mode: ModeScreen, finish: Finish) -> None:
        ids = [id_ for id_ in by_id if id_ in change.about]
        undo_decisions(mode, screen, ids, finish, lambda: screen.cm.history.drop(change))

    def redo(mode: ModeScreen, finish: Finish) -> None:
        left = [name for id_, name in by_id.items() if id_ in change.about]

        def redone(changes: Sequence[model.NarratedChange]) -> None:
            refused = [one for one in changes if not one.done]
            forget_decisions(screen.cm.history, {one.id for one in refused})
            if refused:
                screen.cm.tell(f"Still waiting: {one_line(refused[0].problem)}", severity="warning", timeout=8)
            if len(refused) < len(changes):
                finish("")
            screen.cm.show_undone()

        mode.do(lambda engine: engine.decide_narrated(left, decision), redone, once=UNDO)

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


def undo_chosen(screen: ReviewView, chosen: model.NarratedProposal) -> None:
    """Undo what was decided on a proposal, whenever that was."""
    ids = frozenset({chosen.id})
    here = next((one for one in screen.cm.history.newest_first if one.about & ids and one.mode == screen.MODE), None)
    if here is not None and here.about == ids:
        undo_change(screen, here)
    else:
        forget_decisions(screen.cm.history, ids)
        _undo_earlier(screen, chosen)


def undo_last_decision(screen: ReviewView) -> None:
    """Undo the last decision of the project, which was not made in this run."""

    def found(last: model.NarratedProposal | None) -> None:
        if last is None:
            screen.cm.refuse("Undo: there is no decision yet")
        else:
            _undo_earlier(screen, last)

    screen.do(_last, found, once=UNDO)


def _undo_earlier(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Undo a decision that is no change of this run by itself; `U` makes it again."""

    def undone(change: model.NarratedChange) -> None:
        if not change.change:
            return
        label = f"{STATES[one.state][1]}: “{elide_end(title_of(one), _LONGEST)}”"
        screen.cm.history.undone_earlier(earlier_change(screen, change.change, label, {one.id}))

    undo_decisions(screen, screen, [one.id], screen.cm.report, undone=undone)


def _last(engine: Engine) -> model.NarratedProposal | None:
    rows = engine.narrated(model.NarratedFilter(_DECIDED), limit=1).rows
    return rows[0] if rows else None


def undo_decisions(
    mode: ModeScreen,
    screen: ReviewView,
    ids: Sequence[str],
    finish: Finish,
    refused: Callable[[], None] = lambda: None,
    *,
    undone: Callable[[model.NarratedChange], None] = lambda _: None,
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

    def call(engine: Engine) -> list[model.NarratedChange]:
        return [engine.undo_narrated(name) for name in ids]

    def done(changes: list[model.NarratedChange]) -> None:
        stays = [change for change in changes if not change.done]
        if stays:
            words = f"The decision was not undone: {one_line(stays[0].problem)}"
            screen.cm.tell(words, severity="warning", timeout=8)
        if len(stays) < len(changes):
            forget_decisions(screen.cm.history, {change.id for change in stays})
            for change in changes:
                if change.done:
                    undone(change)
            finish(f"Undone: {_undone_words(screen, [change for change in changes if change.done])}")
        else:
            refused()
        screen.cm.show_undone()

    def failed(error: CmError) -> None:
        refused()
        screen.cm.tell_error(error)

    mode.do(call, done, failed, once=UNDO)


def _undone_words(screen: ReviewView, changes: Sequence[model.NarratedChange]) -> str:
    """Return what waits again, and show it in the list."""
    one = changes[0].proposal
    if one is not None:
        screen.pending = key_of(one)
    what = f"“{elide_end(title_of(one), _LONGEST)}”" if one is not None else one_line(changes[0].id)
    words = f"{what} waits again" if len(changes) == 1 else f"{count(len(changes), 'proposal')} wait again"
    screen.show_done(f" ↶ {words} ")
    return words


_STATES: dict[model.Verdict, model.NarratedState] = {"approve": "approved", "reject": "rejected", "defer": "deferred"}
_VERDICTS: dict[model.NarratedState, model.Verdict] = {"approved": "approve", "rejected": "reject"}
"""What had been decided where a decision is refused."""


def decide(screen: ReviewView, items: Sequence[model.NarratedProposal], decision: model.NarratedDecision) -> None:
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
    state, reason = _STATES[decision.verdict], decision.reason
    as_decided = {
        key_of(one): replace(one, text=decision.text or one.text, state=state, reason=reason, decided_by="person")
        for one in items
    }
    note_decision(screen, names, decision, _label([*as_decided.values()], state))
    screen.stock.decided({**as_decided})
    screen.after_decision(_words([*as_decided.values()], state))
    screen.do(
        lambda engine: engine.decide_narrated(names, decision),
        partial(_answered, screen, items),
        partial(_failed, screen, items),
    )


def _words(items: Sequence[model.NarratedProposal], state: model.NarratedState) -> str:
    sign, word = STATES[state][0][0], STATES[state][1]
    return f" {sign} {word}, u undoes it: {_named(items)} "


def _label(items: Sequence[model.NarratedProposal], state: model.NarratedState) -> str:
    return f"{STATES[state][1]}: {_named(items)}"


def _named(items: Sequence[Item]) -> str:
    return f"“{elide_end(title_of(items[0]), _LONGEST)}”" if len(items) == 1 else count(len(items), "proposal")


def _answered(
    screen: ReviewView, items: Sequence[model.NarratedProposal], changes: Sequence[model.NarratedChange]
) -> None:
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
            screen.stock.restore(now or one, change.problem or "It could not be done.")
            others.append((one, change.problem))
    _decided_elsewhere(screen, elsewhere)
    show_failed(screen, others)


def _decided_elsewhere(screen: ReviewView, items: Sequence[model.NarratedProposal]) -> None:
    """Report what another client, or a policy, had decided before: it stays so, and `u` undoes that."""
    for one in items:
        forget_decisions(screen.cm.history, {one.id})
        decision = model.NarratedDecision(_VERDICTS[one.state], one.reason)
        note_decision(screen, [one.id], decision, _label([one], one.state))
        screen.stock.decided({key_of(one): one})
    screen.stock.done(key_of(one) for one in items)
    if items:
        one = items[0]
        by = "the user" if one.decided_by in ("", "person") else f"the {one_line(one.decided_by)}"
        when = f" {age(time.time() - one.decided)}" if one.decided is not None else ""
        more = f", and {count(len(items) - 1, 'more', 'more')}" if len(items) > 1 else ""
        words = f"{_named([one])}{more} was {one.state} elsewhere by {by}{when}. Nothing was changed; u undoes it."
        screen.cm.tell(words, severity="warning", timeout=8)
        screen.show_done("")
        screen.show_rows()


def _failed(screen: ReviewView, items: Sequence[Item], error: CmError) -> None:
    why = words_of_error(error)
    for one in items:
        screen.stock.restore(one, why)
    show_failed(screen, [(one, why) for one in items])


def show_failed(screen: ReviewView, refused: Sequence[tuple[Item, str]]) -> None:
    """Show what could not be done; the cursor stays, so that the next key decides on nothing that was not looked at."""
    if refused:
        one, why = refused[0]
        forget_decisions(screen.cm.history, {each.id for each, _ in refused})
        more = f" {count(len(refused) - 1, 'more', 'more')} failed too." if len(refused) > 1 else ""
        words = f"“{elide_end(title_of(one), _LONGEST)}” was not changed, marked ▲: {one_line(why)}{more}"
        screen.cm.tell(words, severity="warning", timeout=8)
        screen.show_done("")
        screen.show_rows()
    screen.reload(delay=AFTER)


# --- decisions on items that the narrator did not propose; each is one change that `u` undoes, where the engine can ---


def accept(screen: ReviewView, item: Other) -> None:
    """Accept an item; a Rule and an entry of the clone ask first."""
    record, do = item.record, partial(accept_read, screen, item)
    if isinstance(record, model.Proposal) and record.after is not None and record.after.category == "Rule":
        confirm_rule(screen, rule_text(record.after), record.after.scope, "Accept", do)
    elif isinstance(record, model.Entry):
        words = "Trust this entry? Agents may then treat it as your own words."
        ask(screen, words, "Trust", do, detail=f"{record.title}\n\n{record.content}")
    else:
        do()


def accept_read(screen: ReviewView, item: Other) -> None:
    """Do what an agent requests, write the new name into a memory, or trust an entry of the clone."""
    record = item.record
    if isinstance(record, model.Proposal):
        _change(screen, item, "✓ accepted", lambda engine: engine.decide(record.id, accept=True))
    elif isinstance(record, model.StaleItem):
        _change(screen, item, "✓ fixed", lambda engine: engine.fix_stale(record.path))
    else:
        _trust(screen, item, record, "trusted", "✓ trusted")


def decline(screen: ReviewView, item: Other) -> None:
    """Decline an item; a request asks first."""
    if isinstance(item.record, model.Proposal):
        words = f"Decline {_named([item])}?\n\nNothing is changed, and the request is removed."
        ask(screen, words, "Decline", partial(decline_read, screen, item))
    else:
        decline_read(screen, item)


def decline_read(screen: ReviewView, item: Other) -> None:
    """Remove an agent's request, archive a memory, or leave an entry of the clone out."""
    record = item.record
    if isinstance(record, model.StaleItem):
        _change(screen, item, "✗ archived", lambda engine: engine.forget_memory(record.path))
        return
    if isinstance(record, model.Entry):
        _trust(screen, item, record, "refused", "✗ excluded")
        return
    _begin(screen, item, "✗ declined", "")
    screen.do(
        lambda engine: engine.decide(record.id, accept=False),
        partial(_done, screen, item),
        partial(_failed, screen, [item]),
    )


def confirm(screen: ReviewView, item: Other) -> None:
    """Keep a memory that names missing code: what it says is still true."""
    record = item.record
    if isinstance(record, model.StaleItem):
        _change(screen, item, "✓ still true", lambda engine: engine.confirm_stale(record.path))


def open_in_memory(screen: ReviewView, item: Other) -> None:
    """Show an entry or note in Memory, where it can be edited."""
    record = item.record
    if isinstance(record, model.StaleItem) and record.kind != "episode":
        screen.post_message(OpenMemory(record.kind, record.id))


def _change(screen: ReviewView, item: Other, done: str, call: Call[model.MemoryChange]) -> None:
    title = flat(item.record.words) if isinstance(item.record, model.Proposal) else item.title
    _begin(screen, item, done, ", u undoes it")
    do_undoable(screen, call, partial(_done, screen, item), partial(_failed, screen, [item]), title=title)


def _trust(screen: ReviewView, item: Other, entry: model.Entry, answer: Answer, done: str) -> None:
    """Write down what the user says to an entry of the clone; undo makes it wait again."""
    from cm_tui.engine.api.entry_trust import decide_entry

    def write(decision: Answer) -> Call[None]:
        return lambda engine: decide_entry(engine.root, entry, decision)

    def written(_: None) -> None:
        index()
        _done(screen, item, None)

    # It is a passage of the index, or is none any more.
    index = screen.cm.lifecycle.start_index
    _begin(screen, item, done, ", u undoes it")
    do_reversible(
        screen, f"{done}: {_named([item])}", item.id, write(answer), written,
        undo=write("undecided"), redo=write(answer), fail=partial(_failed, screen, [item]), after=index,
    )  # fmt: skip


def _begin(screen: ReviewView, item: Other, done: str, undo: str) -> None:
    screen.stock.decided({key_of(item): None})
    screen.after_decision(f" {done}{undo}: {_named([item])} ")


def _done(screen: ReviewView, item: Other, change: model.MemoryChange | None) -> None:
    screen.stock.done([key_of(item)])
    if change is not None and not change.change:
        screen.show_done(f" {one_line(change.words)} ")
    screen.cm.lifecycle.count_waiting(again=True)
    screen.reload(delay=AFTER)
