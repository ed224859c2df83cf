"""Review: everything that waits for the user's decision, and the topics that approved lines are written into."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on

from cm_tui.model import NarratedProposal, Proposal, StaleItem
from cm_tui.tui.modes.review import proposal_commands as commands
from cm_tui.tui.modes.review.deciding import open_in_memory, undo_chosen, undo_last_decision
from cm_tui.tui.modes.review.dialogs import create, merge, retire_or_restore, split
from cm_tui.tui.modes.review.inbox import OUTDATED, SHOWN, Other, cannot_fix, session_of
from cm_tui.tui.modes.review.proposal_lines import ProposalList
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.app_commands import not_open, undo_last
from cm_tui.tui.screens.commands import Command, on_item, unless, with_target
from cm_tui.tui.screens.list_mode import find, next_value
from cm_tui.tui.widgets.rowlist import RowList

# --- why a command is not possible now ---

_NO_ROW = "nothing under the cursor"
_LINES = ("add", "replace")
Reason = Callable[[ReviewView], str | None]
on_topics: Reason = unless(lambda screen: not screen.on_topics, "topics are listed; t returns to proposals")
on_proposals: Reason = unless(lambda screen: screen.on_topics, "proposals are listed; t shows topics")
no_row: Reason = unless(lambda screen: screen.panel.lines.rows, _NO_ROW)
no_pass: Reason = unless(lambda screen: screen.cm.project.narrating, "no pass is in progress")
_no_item: Reason = unless(lambda screen: screen.item, _NO_ROW)
_by_itself: Reason = unless(
    lambda screen: not isinstance(screen.item, Other), "only proposals of the narrator are approved together"
)
_on_its_way: Reason = unless(
    lambda screen: not screen.cm.project.narrating, "a pass is already in progress; N stops it"
)


def _of_proposal(holds: Callable[[NarratedProposal], object], why: str) -> Reason:
    """Make a reason that concerns the narrator's proposals alone."""
    return unless(lambda screen: screen.proposal is None or holds(screen.proposal), why)


_no_line = _of_proposal(lambda one: one.action in _LINES, "it writes no line of its own")
_no_rule = _of_proposal(lambda one: one.as_rule, "it is not an instruction")
_replaces = _of_proposal(lambda one: one.action != "replace", "it changes an existing line")
_deferred = _of_proposal(lambda one: one.state != "deferred", "it is already deferred; u undoes that")


def _decided(screen: ReviewView) -> str | None:
    one = screen.proposal
    return f"already {one.state}; u undoes it" if one is not None and one.state not in ("waiting", "deferred") else None


DECIDE = (on_topics, _no_item, _decided)


# Only the engine knows whether a problem, such as a read-only note, is still there.
_rereads: Reason = unless(lambda screen: not screen.is_reread, "it has changed since you saw it; reading it again")
APPROVE = (*DECIDE, lambda screen: cannot_fix(screen.item), _rereads)


def _first(screen: ReviewView, reasons: Sequence[Reason]) -> str | None:
    return next(filter(None, (reason(screen) for reason in reasons)), None)


def _no_line_of_other(screen: ReviewView) -> str | None:
    if not isinstance(screen.item, Other):
        return None
    wish = "it is a request about an entry; accept it with a, then edit it in Memory (6)"
    return wish if isinstance(screen.item.record, Proposal) else "it has no line of its own"


WRITE = (_no_line_of_other, *DECIDE, _no_line)


def cannot_edit(screen: ReviewView) -> str | None:
    """An outdated memory is edited in Memory, of the others the line."""
    record = screen.item.record if isinstance(screen.item, Other) else None
    if isinstance(record, StaleItem):
        return "an episode cannot be edited" if record.kind == "episode" else None
    return _first(screen, WRITE)


RULE = (*WRITE, _no_rule, *APPROVE)
MOVE = (*WRITE, _replaces)


def _cannot_wait(screen: ReviewView) -> str | None:
    waits = not isinstance(screen.item, Other) or screen.item.kind == OUTDATED
    return None if waits else "it waits until you approve or reject it"


DEFER = (*DECIDE, _cannot_wait, _deferred)
APPROVE_KIND = (_by_itself, *DECIDE)


def _no_episode(screen: ReviewView) -> str | None:
    if isinstance(screen.item, Other):
        return None if session_of(screen.item) else "it has no session"
    return None if screen.proposal is not None and screen.proposal.evidence_ids else "it has no evidence episode"


def _or_selected(reasons: Sequence[Reason]) -> Reason:
    """Make a reason that counts where nothing is selected."""
    return lambda screen: None if screen.selected else _first(screen, reasons)


EVIDENCE = (on_topics, _no_item, _no_episode)


RUN = (not_open, _on_its_way)


# --- topics ---


def _no_topic(screen: ReviewView) -> str | None:
    if screen.topics.topic is not None:
        return None
    return "not a topic" if screen.topics.row is not None else _NO_ROW


def _retired(screen: ReviewView) -> str | None:
    topic = screen.topics.topic
    return "it is retired; D restores it" if topic is not None and topic.retired else None


def _nothing_to_merge(screen: ReviewView) -> str | None:
    topic = screen.topics.topic
    if len(screen.topic_list.selected) > 1 or (topic is not None and topic.overlaps):
        return None
    return "select two or more with space; the first one remains"


TOPIC = (on_proposals, _no_topic)
CURRENT_TOPIC = (*TOPIC, _retired)
MERGE = (*CURRENT_TOPIC, _nothing_to_merge)


# --- review ---


def _on_topics(screen: ReviewView) -> bool:
    return screen.on_topics


def _on_proposals(screen: ReviewView) -> bool:
    return not screen.on_topics


def _cannot_select(screen: ReviewView) -> str | None:
    return _first(screen, CURRENT_TOPIC if screen.on_topics else DECIDE)


REVIEW_COMMANDS: tuple[Command[ReviewView], ...] = (
    # The key bar ends where there is no room any more: what is used most comes first.
    Command("review.approve", "a", "Approve", "Write it as shown; accept a request, fix a name, trust an entry",
            commands.approve, bar=False, shown=_on_proposals, blocked=_or_selected(APPROVE)),
    Command("review.reject", "x", "Reject",
            "Reject it with a reason; decline a request, archive a memory, leave an entry out",
            commands.reject, bar=False, shown=_on_proposals, blocked=_or_selected(DECIDE)),
    Command("review.defer", "d", "Later", "Defer it, s lists deferred ones; an outdated memory: still true",
            commands.defer, bar=False, shown=_on_proposals, blocked=_or_selected(DEFER)),
    Command("review.edit", "e", "Edit", "Change the line, then approve it; open an outdated memory",
            on_item({Other: open_in_memory, NarratedProposal: commands.edit}), bar=False, shown=_on_proposals,
            blocked=cannot_edit),
    Command("review.undo", "u", "Undo", "Undo the decision on the selected item; if it is waiting, the last change",
            undo_last, blocked=not_open),
    Command("review.select", "space", "Select",
            "Select or deselect: a, x and d decide on all selected; a merge of topics keeps the first one",
            commands.select, blocked=_cannot_select),
    Command("review.create", "c", "New topic", "Create a topic with a title and tags", create, bar=False,
            shown=_on_topics, blocked=on_proposals),
    Command("review.merge", "M", "Merge",
            "Merge the selected topics, or this one with the most similar one", with_target("topics.topic", merge), bar=False,
            shown=_on_topics, blocked=MERGE),
    Command("review.split", "S", "Split", "Move sections of the topic to a new topic", with_target("topics.topic", split),
            bar=False, shown=_on_topics, blocked=CURRENT_TOPIC),
    Command("review.retire", "D", "Retire", "Retire the topic: kept, not recalled; the same key restores it",
            with_target("topics.topic", retire_or_restore), bar=False, shown=_on_topics, blocked=TOPIC),
    Command("review.open", "o", "Evidence", "Show the evidence: the episode under the cursor, or the newest one",
            commands.open_evidence, bar=False, shown=_on_proposals, blocked=EVIDENCE),
    Command("review.run", "n", "Run now", "Run the narrator on new episodes; shows the cost of a model first",
            commands.run_pass, bar=False, shown=lambda screen: not screen.cm.project.narrating, blocked=RUN),
    Command("review.stop", "N", "Stop", "Stop the pass; its progress is kept", commands.stop_pass, bar=False,
            shown=lambda screen: bool(screen.cm.project.narrating), blocked=no_pass),
    Command("review.topics", "t", "Topics", "Show topics with size, tags, freshness and overlaps, or proposals again",
            commands.switch_to_topics, blocked=not_open),
    Command("review.state", "s", "State", "Show waiting, deferred, decided, approved by a policy, all in turn",
            next_value("state", SHOWN), bar=False, shown=_on_proposals, blocked=on_topics),
    Command("review.kind", "f", "Kind", "Filter by kind, from a list with counts", commands.choose_kind, bar=False,
            shown=_on_proposals, blocked=on_topics),
    Command("review.find", "slash", "Find", "Filter by words, `kind:` and `state:`", find,
            bar=False, shown=_on_proposals, blocked=on_topics),
    Command("review.read", "enter", "Read",
            "Focus the panel; open the evidence or the code in a line; esc returns", commands.read, palette=False,
            blocked=no_row),
    Command("review.rule", "R", "As Rule", "Write it as an approved Rule, which agents receive; asks first",
            on_item({NarratedProposal: commands.approve_as_rule}), bar=False, shown=_on_proposals, blocked=RULE),
    Command("review.elsewhere", "m", "Elsewhere", "Approve it into another note",
            on_item({NarratedProposal: commands.approve_elsewhere}), bar=False, shown=_on_proposals,
            blocked=MOVE),
    Command("review.kind-all", "A", "All of a kind",
            "Approve all of this kind that match the filter; asks first",
            on_item({NarratedProposal: commands.approve_kind}), bar=False, shown=_on_proposals,
            blocked=APPROVE_KIND),
    Command("review.outside", "E", "Editor", "Change the line in $VISUAL or $EDITOR, then approve it",
            on_item({NarratedProposal: commands.edit_outside}), bar=False, blocked=WRITE),
    Command("review.copy", "y", "Copy", "Copy the panel's text", commands.copy, bar=False, blocked=no_row),
)  # fmt: skip


class ReviewScreen(ReviewView, commands=REVIEW_COMMANDS):
    """What waits for a person."""

    INTRO = (
        "Everything that waits for your decision: the narrator's proposals, agents' requests about entries, memories that "
        "name missing code, and entries included in the clone. Nothing is written or trusted before you approve it. "
        "Each proposal shows what it would write and where, why, how often it was seen, how sure it is, and its evidence. "
        "a approves and goes to the next, x rejects, d puts off, e edits, u undoes any of it, also days later. t shows "
        "the topics."
    )
    ZOOMS = ("detail-panel", "review-list-panel")

    def undo_here(self) -> bool:
        """Undo what was decided on the chosen proposal."""
        chosen = self.proposal
        if chosen is None or chosen.state == "waiting":
            return False
        undo_chosen(self, chosen)
        return True

    def undo_earlier(self) -> None:
        """Undo the last decision of the project, or what was changed last about topics."""
        if self.on_topics:
            super().undo_earlier()
        else:
            undo_last_decision(self)

    def open_queue(self, where: str) -> None:
        """Show what fits a filter; another mode leads here."""
        self.filter_input.value = where

    # --- the lists ---

    @on(ProposalList.RowsRequested)
    def _rows_requested(self, event: ProposalList.RowsRequested) -> None:
        self.stock.read_on(event.many)

    @on(RowList.Chosen)
    def _enter(self) -> None:
        commands.read(self)

    def step_back(self) -> bool:
        """List the proposals again after topics."""
        was_on_topics = self.on_topics
        if was_on_topics:
            commands.switch_to_topics(self)
        return was_on_topics
