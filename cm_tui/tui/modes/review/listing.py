"""What is listed: found by words, by kind, by state; proposals or topics."""

from __future__ import annotations

from collections import Counter

from cm_tui.model.page import MOST_ROWS
from cm_tui.tui.modes.review.inbox import Inbox, read_inbox
from cm_tui.tui.modes.review.proposal_commands import ChoiceRow, choose, follow
from cm_tui.tui.modes.review.query import SHOWN, InboxFilter
from cm_tui.tui.modes.review.signs import kind_of, kind_words
from cm_tui.tui.modes.review.topic_commands import read_in_memory
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.state.filter_line import with_field
from cm_tui.tui.widgets.text import count


def next_state(screen: ReviewView) -> None:
    """List those that wait, those that were put off, decided, approved by a policy, or all, in turn."""
    now = screen.stock.where.state
    state = SHOWN[(SHOWN.index(now) + 1) % len(SHOWN)] if now in SHOWN else SHOWN[0]
    screen.filter_input.value = with_field(screen.filter_input.value, "state", "" if state == SHOWN[0] else state)


def choose_kind(screen: ReviewView) -> None:
    """Choose a kind from those that there are, with how many of each."""
    where = InboxFilter(screen.stock.where.text, (), screen.stock.where.state)
    chosen_now = screen.stock.where.kinds

    def got(found: Inbox) -> None:
        many = Counter(kind_of(item) for item in found.rows)
        rows = [ChoiceRow("", "all kinds", count(sum(many.values()), "proposal"))]
        rows += [
            ChoiceRow(kind, f"{kind_words(kind)}  kind:{kind}", f"{number:,}") for kind, number in many.most_common()
        ]
        choose(screen, "Which kind?", rows, chosen, value=chosen_now[0] if chosen_now else "")

    def chosen(kind: str) -> None:
        screen.filter_input.value = with_field(screen.filter_input.value, "kind", kind)

    screen.ask("kinds", lambda engine: read_inbox(engine, where, MOST_ROWS), got)


def switch_to_topics(screen: ReviewView) -> None:
    """Show the topics, or the proposals again."""
    screen.unzoom()
    screen.toggle_class("-topics")
    screen.list_shown.focus()
    screen.retitle()
    screen.tell_done("")
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
    """Copy what the panel says."""
    text = "\n".join(line.content.plain.rstrip() for line in screen.panel.lines.rows)
    copy_and_tell(screen, text, "What the panel says is copied.")
