"""Commands for a proposal: approve, edit, reject, defer, and show its evidence."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cm_tui import model
from cm_tui.model.page import MOST_ROWS
from cm_tui.tui.modes.review import inbox
from cm_tui.tui.modes.review.deciding import accept, accept_read, confirm, decide, decline, decline_read
from cm_tui.tui.modes.review.dialogs import FIRST, LineDialog, RejectDialog, read_in_memory, with_reason
from cm_tui.tui.modes.review.proposal_lines import whole_text
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.commands import on_item
from cm_tui.tui.screens.episode_commands import read_episode
from cm_tui.tui.screens.messages import OpenMemory, ReadEpisode
from cm_tui.tui.screens.question import ask as ask_for
from cm_tui.tui.screens.question import confirm as ask_whether
from cm_tui.tui.screens.question import confirm_rule
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.screens.small_lists import ChoiceRow, choose
from cm_tui.tui.screens.writing import Answer, edited_outside
from cm_tui.tui.state.filter_line import with_field
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import count, elide_end, one_line

_LISTED, _LONGEST = 8, 60
_NOTES = (
    (".cm/notes/project.md", "of this project"), ("user:preferences.md", "for all your projects"),
)  # fmt: skip


def as_decided(decision: model.NarratedDecision) -> Callable[[ReviewView, model.NarratedProposal], None]:
    """Make the function of a command that decides on the proposal under the cursor."""
    return lambda screen, one: decide(screen, [one], decision)


def select(screen: ReviewView) -> None:
    """Select the row under the cursor, or not any more, and go to the next."""
    rows: Any = screen.list_shown
    key = rows.key_of(rows.current)
    there = key in rows.selected
    rows.selected = tuple(one for one in rows.selected if one != key) if there else (*rows.selected, key)
    screen.retitle()
    rows.cursor += 1
    rows.redraw()
    screen.refresh_keys()


def approve(screen: ReviewView) -> None:
    """Approve the selected items after one question that shows all their texts, or the item under the cursor."""
    chosen = screen.selected
    if not chosen:
        on_item({inbox.Other: accept, model.NarratedProposal: as_decided(model.NarratedDecision("approve"))})(screen)
        return
    ready = [
        one
        for one in chosen
        if not inbox.cannot_fix(one) and not (isinstance(one, model.NarratedProposal) and one.problem)
    ]
    if not ready:
        screen.cm.refuse("Approve: none of the selected items can be approved")
        return
    stays = (
        f" {len(chosen) - len(ready):,} of the selected items cannot be approved." if len(ready) < len(chosen) else ""
    )
    them, each = ("them", "each") if len(ready) > 1 else ("it", "it")
    words = (
        f"Approve {count(len(ready), 'item')}? Agents may then treat {them} as your own words.{stays} u undoes {each}."
    )
    do = partial(_decide_together, screen, ready, model.NarratedDecision("approve"), accept_read)
    ask_whether(screen, words, "Approve", do, detail="\n\n".join(map(whole_text, ready)))


def _decide_together(
    screen: ReviewView,
    items: Sequence[inbox.Item],
    decision: model.NarratedDecision,
    other: Callable[[ReviewView, inbox.Other], None],
) -> None:
    screen.proposals.selected = ()
    decide(screen, [one for one in items if isinstance(one, model.NarratedProposal)], decision)
    for one in items:
        if isinstance(one, inbox.Other):
            other(screen, one)


def defer(screen: ReviewView) -> None:
    """Put off the selected items, or the one under the cursor; what an outdated memory says is still true."""
    later = model.NarratedDecision("defer")
    if screen.selected:
        _decide_together(screen, screen.selected, later, confirm)
    else:
        on_item({inbox.Other: confirm, model.NarratedProposal: as_decided(later)})(screen)


def approve_as_rule(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Have it written as an approved Rule, after a confirmation that shows its text."""
    text = (screen.details.of(one) or one).text
    confirm_rule(
        screen,
        text,
        one.scope,
        "Approve",
        lambda: decide(screen, [one], model.NarratedDecision("approve", as_rule=True)),
    )


def edit(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Change the line in a dialog, then have it written."""

    def submit(text: str, answer: Answer) -> None:
        answer("")
        _approve_as(screen, one, text)

    screen.app.push_screen(LineDialog(screen.details.of(one) or one, submit))


def edit_outside(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Change the line in the person's own editor, then have it written."""
    before = (screen.details.of(one) or one).text
    edited = edited_outside(screen, one.id, before, "the proposal is unchanged")
    if edited is not None:
        shutil.rmtree(edited[1].parent, ignore_errors=True)
        line = " ".join(edited[0].split())
        if line != " ".join(before.split()):
            _approve_as(screen, one, line)


def _approve_as(screen: ReviewView, one: model.NarratedProposal, text: str) -> None:
    decide(screen, [one], model.NarratedDecision("approve", text=text if text != one.text else None))


def approve_elsewhere(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Have it written into another note, which is chosen from those that there are."""

    def chosen(target: str) -> None:
        decide(screen, [one], model.NarratedDecision("approve", target=target if target != one.target else None))

    def got(found: model.TopicMap) -> None:
        rows = [ChoiceRow(one.target, inbox.place_of(one.target), "as it is proposed")]
        rows += [ChoiceRow(name, inbox.place_of(name), what) for name, what in _NOTES]
        rows += [ChoiceRow(each.id, inbox.place_of(each.id), each.title) for each in found.topics if not each.retired]
        known = {row.value: row for row in reversed(rows)}
        typed = "a note, such as topics/router.md or user:style.md"
        choose(screen, "Approve into which note?", [*reversed(known.values())], chosen, typed=typed)

    screen.ask("targets", lambda engine: engine.topics(), got)


def reject(screen: ReviewView) -> None:
    """Reject the selected items, or the one under the cursor; proposals of the narrator with a reason."""
    items = screen.selected or tuple(filter(None, (screen.item,)))
    if len(items) == 1 and isinstance(items[0], inbox.Other):
        decline(screen, items[0])
    elif any(isinstance(one, model.NarratedProposal) for one in items):
        _reject(screen, items)
    elif items:
        words = f"Reject {count(len(items), 'item')}? Requests are removed, memories archived, entries excluded."
        do = partial(_decide_together, screen, items, model.NarratedDecision("reject"), decline_read)
        ask_whether(screen, words, "Reject", do, detail="\n".join(map(inbox.title_of, items)))


def _reject(screen: ReviewView, items: Sequence[inbox.Item]) -> None:
    """Ask for a reason, of which those that were given last come first."""
    known = screen.choices.get("reasons")
    given = [str(reason) for reason in known] if isinstance(known, list) else []
    reasons = list(dict.fromkeys([*given, *FIRST]))

    def answered(reason: str) -> None:
        screen.choices["reasons"] = with_reason(given, reason)
        screen.remember()
        _decide_together(screen, items, model.NarratedDecision("reject", reason), decline_read)

    what = inbox.title_of(items[0]) if len(items) == 1 else count(len(items), "item")
    ask_for(screen, RejectDialog(what, reasons, answered))


def approve_kind(screen: ReviewView, one: model.NarratedProposal) -> None:
    """Approve all of this kind that fit the words of the filter, after a question that says how many."""
    where = model.NarratedFilter(("waiting",), (one.kind,), screen.stock.where.text)

    def got(page: model.Page[model.NarratedProposal]) -> None:
        fit = [each for each in page.rows if not each.problem and each.relation != "contradicts"]
        left = len(page.rows) - len(fit)
        if not fit:
            screen.cm.refuse("Approve all: review each of them individually")
            return
        words = _all_words(one.kind, fit, left)
        ask_whether(screen, words, "Approve all", lambda: decide(screen, fit, model.NarratedDecision("approve")))

    screen.ask("kind", lambda engine: engine.narrated(where, limit=MOST_ROWS), got)


def _all_words(kind: str, fit: list[model.NarratedProposal], left: int) -> str:
    lines = [f"· {elide_end(inbox.title_of(each), _LONGEST)}" for each in fit[:_LISTED]]
    lines += [f"· and {count(len(fit) - _LISTED, 'more', 'more')}"] if len(fit) > _LISTED else []
    stays = f"\n\n{left:,} that contradict saved memories, or cannot be written, keep waiting." if left else ""
    listed = "\n".join(lines)
    return f"Approve {count(len(fit), 'proposal')} of the kind “{inbox.kind_words(kind)}”?\n\n{listed}{stays}\n\nu undoes all of it."


# --- where it leads ---


def open_evidence(screen: ReviewView) -> None:
    """Show the episode under the cursor, or the newest one, in Episodes."""
    if isinstance(screen.item, inbox.Other):
        _newest_of(screen, inbox.session_of(screen.item))
        return
    current = screen.panel.lines.current if screen.focused is screen.panel.lines else None
    if current is not None and current.goal.startswith("episode:"):
        follow(screen, current.goal)
        return
    listed = screen.proposal
    one = listed and (screen.details.of(listed) or listed)
    if one is not None and one.evidence:
        first = one.evidence[0]
        screen.post_message(ReadEpisode(first.episode, first.session))
    elif one is not None and one.evidence_ids:
        read_episode(screen, one.evidence_ids[0])


def _newest_of(screen: ReviewView, session: str) -> None:
    def call(engine: Engine) -> model.Episode | None:
        rows = engine.episodes(where=model.EpisodeFilter(session=session), limit=1).rows
        return rows[0] if rows else None

    def got(found: model.Episode | None) -> None:
        if found is None:
            screen.cm.refuse("Evidence: that session was not recorded")
        else:
            screen.post_message(ReadEpisode(found.id, found.session))

    screen.ask("episode", call, got)


def follow(screen: ReviewView, goal: str) -> None:
    """Go where a line of the panel leads."""
    kind, _, name = goal.partition(":")
    if kind == "episode":
        episode, _, session = name.partition(" ")
        screen.post_message(ReadEpisode(episode, session))
    elif kind == "topic":
        screen.topics.go_to(name)
    elif kind == "note" and name:
        screen.post_message(OpenMemory("note" if "." in name else "entry", name))


def choose_kind(screen: ReviewView) -> None:
    """Choose a kind from those that there are, with how many of each."""
    where = inbox.InboxFilter(screen.stock.where.text, (), screen.stock.where.state)
    chosen_now = screen.stock.where.kinds

    def got(found: inbox.Inbox) -> None:
        many = Counter(item.kind for item in found.rows)
        rows = [ChoiceRow("", "all kinds", count(sum(many.values()), "proposal"))]
        rows += [
            ChoiceRow(kind, f"{inbox.kind_words(kind)}  kind:{kind}", f"{number:,}")
            for kind, number in many.most_common()
        ]
        choose(screen, "Which kind?", rows, chosen, value=chosen_now[0] if chosen_now else "")

    def chosen(kind: str) -> None:
        screen.filter_input.value = with_field(screen.filter_input.value, "kind", kind)

    screen.ask("kinds", lambda engine: inbox.read_inbox(engine, where, MOST_ROWS), got)


def switch_to_topics(screen: ReviewView) -> None:
    """Show the topics, or the proposals again."""
    screen.unzoom()
    screen.toggle_class("-topics")
    screen.list_shown.focus()
    screen.retitle()
    screen.show_done("")
    if screen.on_topics:
        screen.topics.read()
        screen.topics.show()
    else:
        screen.show_rows()
        screen.show_item()
    screen.refresh_keys()


def read(screen: ReviewView) -> None:
    """Go into the panel, to the evidence; there, go where the line leads."""
    lines = screen.panel.lines
    if screen.focused is lines:
        if lines.current is not None and lines.current.goal:
            follow(screen, lines.current.goal)
        return
    if screen.on_topics:
        read_in_memory(screen)
        return
    lines.focus()
    lines.to_goal()


def copy(screen: ReviewView) -> None:
    """Copy the panel's text."""
    text = "\n".join(line.content.plain.rstrip() for line in screen.panel.lines.rows)
    copy_and_report(screen, text, "Panel text copied.")


def run_pass(screen: ReviewView) -> None:
    """Have the narrator look at what is new."""

    def ask_or_start(cost: model.ModelCost) -> None:
        if not cost.model:
            screen.cm.narrator_run.start()
        else:
            ask_whether(screen, cost_words(cost), "Run the pass", screen.cm.narrator_run.start)

    screen.ask("cost", lambda engine: engine.narrator_cost(), ask_or_start)


def cost_words(cost: model.ModelCost) -> str:
    """Return what a pass would take of a model."""
    ceiling = f", and {cost.ceiling:,} at most; the rest is done without it" if cost.ceiling else ""
    notes = "".join(f"\n{one_line(note)}" for note in cost.notes)
    return (
        f"Run the narrator with the model {one_line(cost.model)}?\n\nAbout {cost.estimated:,} tokens{ceiling}.{notes}"
    )


def stop_pass(screen: ReviewView) -> None:
    """Stop the pass."""
    screen.cm.narrator_run.stop()
    screen.cm.tell("Stopping the pass. Its progress is kept; the next one continues from there.")
