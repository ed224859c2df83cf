"""Review: everything that waits for the user's decision, and the topics that approved lines are written into."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import BindingType

from cm_tui.tui.modes.review.commands import REVIEW_COMMANDS
from cm_tui.tui.modes.review.deciding import undo_chosen, undo_last_decision
from cm_tui.tui.modes.review.detail_panel import DetailList
from cm_tui.tui.modes.review.proposal_commands import read, switch_to_topics
from cm_tui.tui.modes.review.proposal_lines import ProposalList
from cm_tui.tui.modes.review.topics import TopicList
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.commands import Command, bindings


class ReviewScreen(ReviewView):
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
    BINDINGS: ClassVar[list[BindingType]] = bindings(REVIEW_COMMANDS)

    def mode_commands(self) -> tuple[Command[ReviewView], ...]:
        """All commands of the mode."""
        return REVIEW_COMMANDS

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

    # --- the lists ---

    @on(ProposalList.Highlighted, "#proposals")
    def _came_to(self, event: ProposalList.Highlighted) -> None:
        event.stop()
        if not self.on_topics:
            self.show_item()
            self.refresh_keys()

    @on(ProposalList.Wanted)
    def _rows_wanted(self, event: ProposalList.Wanted) -> None:
        event.stop()
        self.stock.read_on(event.many)

    @on(TopicList.Highlighted, "#topics")
    def _came_to_topic(self, event: TopicList.Highlighted) -> None:
        event.stop()
        if self.on_topics:
            self.topics.show()
            self.refresh_keys()

    @on(ProposalList.Chosen, "#proposals")
    @on(TopicList.Chosen, "#topics")
    @on(DetailList.Chosen, "#detail-lines")
    def _enter(self, event: ProposalList.Chosen) -> None:
        event.stop()
        read(self)

    @on(DetailList.Highlighted, "#detail-lines")
    def _came_to_line(self, event: DetailList.Highlighted) -> None:
        event.stop()

    def step_back(self) -> bool:
        """List the proposals again after topics."""
        was_on_topics = self.on_topics
        if was_on_topics:
            switch_to_topics(self)
        return was_on_topics
