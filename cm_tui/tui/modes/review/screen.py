"""Review: everything that waits for the user's decision, and the topics that approved lines are written into."""

from __future__ import annotations

from textual import on

from cm_tui.model import NarratedDecision, NarratedProposal, Topic
from cm_tui.tui.modes.review import proposal_commands as commands
from cm_tui.tui.modes.review import reasons
from cm_tui.tui.modes.review.deciding import undo_chosen, undo_last_decision
from cm_tui.tui.modes.review.detail_panel import DetailList
from cm_tui.tui.modes.review.inbox import Other
from cm_tui.tui.modes.review.other_deciding import accept, confirm, decline, open_in_memory
from cm_tui.tui.modes.review.parts import TopicList
from cm_tui.tui.modes.review.proposal_lines import ProposalList
from cm_tui.tui.modes.review.topic_commands import create, merge, retire_or_restore, select, split
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.app_commands import not_open, undo_last
from cm_tui.tui.screens.commands import Command, on_item, with_target
from cm_tui.tui.screens.list_mode import find


def _on_topics(screen: ReviewView) -> bool:
    return screen.on_topics


def _on_proposals(screen: ReviewView) -> bool:
    return not screen.on_topics


def _topic(screen: ReviewView) -> Topic | None:
    return screen.topics.topic


REVIEW_COMMANDS: tuple[Command[ReviewView], ...] = (
    # The key bar ends where there is no room any more: what is used most comes first.
    Command("review.approve", "a", "Approve", "Write it as shown; accept a request, fix a name, trust an entry",
            on_item({Other: accept, NarratedProposal: commands.as_decided(NarratedDecision("approve"))}), bar=False,
            shown=_on_proposals, blocked=reasons.APPROVE),
    Command("review.reject", "x", "Reject",
            "Reject it with a reason; decline a request, archive a memory, leave an entry out",
            on_item({Other: decline, NarratedProposal: commands.reject}), bar=False, shown=_on_proposals,
            blocked=reasons.DECIDE),
    Command("review.defer", "d", "Later", "Put it off, s lists those; an outdated memory: still true",
            on_item({Other: confirm, NarratedProposal: commands.as_decided(NarratedDecision("defer"))}), bar=False,
            shown=_on_proposals, blocked=reasons.DEFER),
    Command("review.edit", "e", "Edit", "Change the line, then approve it; open an outdated memory",
            on_item({Other: open_in_memory, NarratedProposal: commands.edit}), bar=False, shown=_on_proposals,
            blocked=reasons.cannot_edit),
    Command("review.undo", "u", "Undo", "Undo what was decided on the chosen one; where it waits, the last change",
            undo_last, blocked=not_open),
    Command("review.select", "space", "Select", "Select or deselect the topic; a merge keeps the first one",
            with_target(_topic, select), bar=False, shown=_on_topics, blocked=reasons.CURRENT_TOPIC),
    Command("review.create", "c", "New topic", "Make a topic with a title and tags", create, bar=False,
            shown=_on_topics, blocked=reasons.on_proposals),
    Command("review.merge", "M", "Merge",
            "Merge the selected topics, or this one with the most similar one", with_target(_topic, merge), bar=False,
            shown=_on_topics, blocked=reasons.MERGE),
    Command("review.split", "S", "Split", "Make sections of the topic a topic of their own", with_target(_topic, split),
            bar=False, shown=_on_topics, blocked=reasons.CURRENT_TOPIC),
    Command("review.retire", "D", "Retire", "Retire the topic: kept, not recalled; the same key restores it",
            with_target(_topic, retire_or_restore), bar=False, shown=_on_topics, blocked=reasons.TOPIC),
    Command("review.open", "o", "Evidence", "Show the evidence: the episode under the cursor, or the newest one",
            commands.open_evidence, bar=False, shown=_on_proposals, blocked=reasons.EVIDENCE),
    Command("review.run", "n", "Run now", "Run the narrator on new episodes; shows the cost of a model first",
            commands.run_pass, bar=False, shown=lambda screen: not screen.cm.project.narrating, blocked=reasons.RUN),
    Command("review.stop", "N", "Stop", "Stop the pass; what it read is kept", commands.stop_pass, bar=False,
            shown=lambda screen: bool(screen.cm.project.narrating), blocked=reasons.no_pass),
    Command("review.topics", "t", "Topics", "Show topics with size, tags, freshness and overlaps, or proposals again",
            commands.switch_to_topics, blocked=not_open),
    Command("review.state", "s", "State", "Waiting, deferred, decided, approved by a policy, all, in turn",
            commands.next_state, bar=False, shown=_on_proposals, blocked=reasons.on_topics),
    Command("review.kind", "f", "Kind", "Filter by kind: lists the kinds with their numbers", commands.choose_kind, bar=False,
            shown=_on_proposals, blocked=reasons.on_topics),
    Command("review.find", "slash", "Find", "Filter by words, `kind:` and `state:`", find,
            bar=False, shown=_on_proposals, blocked=reasons.on_topics),
    Command("review.read", "enter", "Read",
            "Focus the panel; open the evidence or the code in a line; esc returns", commands.read, palette=False,
            blocked=reasons.no_row),
    Command("review.rule", "R", "As Rule", "Write it as an approved Rule, which agents are given; asks first",
            on_item({NarratedProposal: commands.approve_as_rule}), bar=False, shown=_on_proposals, blocked=reasons.RULE),
    Command("review.elsewhere", "m", "Elsewhere", "Approve it into another note",
            on_item({NarratedProposal: commands.approve_elsewhere}), bar=False, shown=_on_proposals,
            blocked=reasons.MOVE),
    Command("review.kind-all", "A", "All of a kind",
            "Approve all of this kind that match the filter; asks first",
            on_item({NarratedProposal: commands.approve_kind}), bar=False, shown=_on_proposals,
            blocked=reasons.APPROVE_KIND),
    Command("review.outside", "E", "Editor", "Change the line in $VISUAL or $EDITOR, then approve it",
            on_item({NarratedProposal: commands.edit_outside}), bar=False, blocked=reasons.WRITE),
    Command("review.copy", "y", "Copy", "Copy the panel's text", commands.copy, bar=False, blocked=reasons.no_row),
    Command("review.zoom", "z", "Zoom", "Show the panel with the focus alone, and back", ReviewView.zoom, bar=False),
)  # fmt: skip


class ReviewScreen(ReviewView, commands=REVIEW_COMMANDS):
    """What waits for a person."""

    MODE = "review"
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

    @on(ProposalList.Highlighted, "#proposals")
    def _came_to(self) -> None:
        if not self.on_topics:
            self.show_item()
            self.refresh_keys()

    @on(ProposalList.Wanted)
    def _rows_wanted(self, event: ProposalList.Wanted) -> None:
        self.stock.read_on(event.many)

    @on(TopicList.Highlighted, "#topics")
    def _came_to_topic(self) -> None:
        if self.on_topics:
            self.topics.show()
            self.refresh_keys()

    @on(ProposalList.Chosen, "#proposals")
    @on(TopicList.Chosen, "#topics")
    @on(DetailList.Chosen, "#detail-lines")
    def _enter(self) -> None:
        commands.read(self)

    def step_back(self) -> bool:
        """List the proposals again after topics."""
        was_on_topics = self.on_topics
        if was_on_topics:
            commands.switch_to_topics(self)
        return was_on_topics
