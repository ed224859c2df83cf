"""The widgets of the narrator mode, and what is said around them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.tui.modes.review.detail_panel import DetailList, DetailPanel
from cm_tui.tui.modes.review.proposal_list import ProposalList
from cm_tui.tui.modes.review.topic_list import TopicList
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import elide_end, one_line


class NarratorParts(ListMode):
    """The filter above; proposals or topics at the left, what the cursor is on at the right."""

    FILTER, PROBLEM = "review-filter", "review-problem"

    def compose_body(self) -> Iterable[Widget]:
        """The filter above; the list at the left, what the cursor is on at the right."""
        yield Input(placeholder="/ words, kind:command,fix state:deferred", id="review-filter", compact=True)
        yield Static(id="review-problem", markup=False)
        yield Static(id="review-progress", markup=False)
        with Split(id="review-body"):
            with Vertical(id="review-list-panel", classes="panel"):
                yield ProposalList(empty="Reading what is proposed…", id="proposals")
                yield TopicList(empty="Reading the topics…", id="topics")
            yield DetailPanel(partial(self.cm.tasks.work, topic="review.lines"), id="detail-panel")

    @property
    def proposals(self) -> ProposalList:
        """The list of proposals."""
        return self.query_one(ProposalList)

    @property
    def topic_list(self) -> TopicList:
        """The list of topics."""
        return self.query_one(TopicList)

    @property
    def panel(self) -> DetailPanel:
        """What the cursor is on."""
        return self.query_one(DetailPanel)

    @property
    def text_shown(self) -> DetailList:
        """The lines of the panel."""
        return self.panel.lines

    @property
    def on_topics(self) -> bool:
        """True while topics are listed."""
        return self.has_class("-topics")

    @property
    def list_shown(self) -> ProposalList | TopicList:
        """The list that is on screen."""
        return self.topic_list if self.on_topics else self.proposals

    def tell_done(self, words: str) -> None:
        """Say what was done last, where it does not cover what is decided next."""
        panel = self.query_one("#review-list-panel")
        panel.border_subtitle = Content(elide_end(one_line(words), max(10, panel.size.width - 4)))

    def retitle(self) -> None:
        """For the mode to give: say how many there are of what is listed."""
