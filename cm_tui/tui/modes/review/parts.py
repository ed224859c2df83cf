"""The widgets of the narrator mode, and what is said around them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.errors import CmError
from cm_tui.model import Progress, Topic, TopicMap
from cm_tui.tui.modes.review.detail_panel import DetailLine, DetailList, DetailPanel
from cm_tui.tui.modes.review.proposal_lines import ProposalList
from cm_tui.tui.modes.review.topics import TopicList, topic_lines
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import count, elide_end, one_line


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
            yield DetailPanel()

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


SETTLING = 0.06
LINES = 200
"""Lines of a topic that are shown."""
NO_TOPICS = (
    "There are no topics yet. A topic is a note about one subject, which is found by its tags; c makes one, and the "
    "narrator proposes one where facts share a theme."
)


class TopicView:
    """What the mode shows of topics.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: NarratorParts) -> None:
        self._screen = screen
        self.found: TopicMap | None = None
        """What was read; None: nothing yet."""
        self.pending = ""
        """Id of the topic that the cursor goes to as soon as it is listed."""
        self._texts: dict[str, str] = {}

    @property
    def topic(self) -> Topic | None:
        """The topic that is meant; None where the cursor is on another note, or proposals are listed."""
        row = self.row
        return row if row is not None and row.id not in self._screen.topic_list.notes else None

    @property
    def row(self) -> Topic | None:
        """The topic or note under the cursor."""
        return self._screen.topic_list.current if self._screen.on_topics else None

    @property
    def words(self) -> str:
        """How many there are."""
        if self.found is None:
            return "Topics"
        retired = sum(one.retired for one in self.found.topics)
        words = [count(len(self.found.topics) - retired, "topic")]
        words += [f"{retired:,} retired"] if retired else []
        if selected := self._screen.topic_list.selected:
            words.append(f"{len(selected):,} selected")
        return " · ".join(words)

    def by_id(self, name: str) -> Topic | None:
        """Return a topic that is listed."""
        topics = self.found.topics if self.found is not None else ()
        return next((one for one in topics if one.id == name), None)

    def go_to(self, name: str) -> None:
        """Put the cursor on a topic, where it is listed."""
        if (place := self._screen.topic_list.place_of(name)) is not None:
            self._screen.topic_list.focus()
            self._screen.topic_list.cursor = place

    def read(self, *, delay: float = 0.0) -> None:
        """Ask which there are."""

        def got(found: TopicMap) -> None:
            self.found = found
            self._texts.clear()
            notes = [one for one in found.notes if self.by_id(one.id) is None]
            self._screen.topic_list.list_topics(found.topics, notes, NO_TOPICS, at=self.pending)
            self.pending = ""
            if self._screen.on_topics:
                self._screen.retitle()
                if not self._screen.topic_list.rows:
                    self._screen.panel.clear("")
            self._screen.refresh_keys()

        self._screen.ask("topics", lambda engine: engine.topics(retired=True), got, self._failed, delay=delay)

    def _failed(self, error: CmError) -> None:
        if self.found is None:
            self._screen.topic_list.set_rows((), empty=one_line(f"✖ {error.message} {error.hint}".strip()))
        else:
            self._screen.cm.tell_error(error)

    def show(self) -> None:
        """Show the one under the cursor."""
        row, screen = self.row, self._screen
        if row is None:
            return
        screen.panel.border_title = "Note" if row.id in screen.topic_list.notes else "Topic"
        screen.panel.border_subtitle = Content("")
        text = self._texts.get(row.id)
        screen.panel.show(("topic", row.id), partial(_lay, row, text or ""))
        if text is not None or row.retired:
            screen.drop_question("text")
            return

        def got(told: str) -> None:
            self._texts[row.id] = told
            if self.row == row:
                screen.panel.show(("topic", row.id), partial(_lay, row, told))

        screen.ask("text", lambda engine: engine.note(row.id, lines=LINES).text, got, lambda _: None, delay=SETTLING)


def _lay(topic: Topic, text: str, width: int) -> list[DetailLine]:
    return topic_lines(topic, width, text)


_STAGES = {
    "read": "reading episodes", "weigh": "weighing what was seen", "propose": "making proposals",
    "model": "asking the model", "done": "done",
}  # fmt: skip
_BAR = 24


def progress_text(step: Progress | None, width: int) -> Content:
    """Return how far it is; nothing, where none is on its way."""
    if step is None:
        return Content("")
    share = step.done / step.total if step.total else 0.0
    numbers = f" {step.done:,} of {step.total:,}" if step.total > 1 else ""
    words = f" ◐ The narrator is {_STAGES.get(step.stage, step.stage)} "
    bar = share_bar(share, max(4, min(_BAR, width - len(words) - len(numbers) - 12)), "$accent")
    return Content.assemble((words, "$accent"), bar, (f"{numbers}  N stops it", "$soft"))
