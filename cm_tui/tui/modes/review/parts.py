"""The widgets of the narrator mode, and what is said around them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from textual import getters
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.errors import CmError
from cm_tui.model import Progress, Topic, TopicMap, TopicOverlap
from cm_tui.model.dates import age, local_day
from cm_tui.tui.modes.review.detail_panel import BLANK, DetailLine, DetailList, DetailPanel, text_lines, title
from cm_tui.tui.modes.review.inbox import OF_USER, REFUSED, SELECTED, flat, place_of
from cm_tui.tui.modes.review.proposal_lines import ProposalList
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Panel, Split
from cm_tui.tui.widgets.text import count, elide_end, elide_path, fit, one_line

_LIST_BAR, _SIZE, _WHEN = 10, 14, 15
_LEAST_TITLE, _ROOMY = 10, 56
_KB = 1024
_NEARLY_FULL = 0.9
_RETIRED = ("✗", "$muted")


def share_of(topic: Topic) -> float:
    """Return how much of its size cap a note has."""
    return topic.bytes / topic.cap_bytes if topic.cap_bytes else 0.0


def kilobytes(topic: Topic) -> str:
    """Return size and cap, as the lifecycle counts them."""
    return f"{-(-topic.bytes // _KB):,} of {topic.cap_bytes // _KB:,} KB"


def size_bar(topic: Topic, width: int) -> Content:
    """Return size against cap as a bar."""
    share = share_of(topic)
    return share_bar(share, width, "$error" if share > 1 else "$warning" if share > _NEARLY_FULL else "$primary")


class TopicList(RowList[Topic]):
    """Topics, then the notes that have a size cap besides; some of them selected."""

    selected: tuple[str, ...] = ()
    """Ids, in the order in which they were selected."""
    notes: Collection[str] = ()
    """Ids of those that are no topics."""

    def key_of(self, row: Topic) -> str:
        """Return its id."""
        return row.id

    def list_topics(self, topics: Sequence[Topic], notes: Sequence[Topic], empty: str, *, at: str = "") -> None:
        """Show other rows, with the cursor on the one that it was on, or on a topic by its id."""
        self.notes = {one.id for one in notes}
        self.selected = tuple(name for name in self.selected if any(one.id == name for one in topics))
        self.refill([*topics, *notes], empty=empty, at=at or None)

    def draw_line(self, row: Topic, line: int, width: int) -> Content:
        """One line of a row."""
        return self._named(row, width) if line == 0 else self._about(row, width)

    def _named(self, row: Topic, width: int) -> Content:
        sign = SELECTED if row.id in self.selected else _RETIRED if row.retired else (" ", "")
        sign = REFUSED if row.advice and not sign[0].strip() else sign
        told, when = f"{kilobytes(row):>{_SIZE}}", f"{age(time.time() - row.modified):>{_WHEN}}"
        if width < _ROOMY:
            when = ""
        room = width - 6 - _LIST_BAR - len(told) - len(when)
        if room < _LEAST_TITLE:
            told, room = "", width - 6 - _LIST_BAR
        name = fit(flat(row.title) or one_line(row.id), max(6, room))
        style = "$muted" if row.retired else "$secondary" if row.id in self.notes else "$foreground"
        whose = OF_USER if row.scope == "user" else (" ", "")
        return Content.assemble(
            " ", sign, whose, " ", (name, style), " ", size_bar(row, _LIST_BAR), (told, "$soft"), (when, "$muted")
        )

    def _about(self, row: Topic, width: int) -> Content:
        facts = [] if width >= _ROOMY else [age(time.time() - row.modified)]
        facts += [f"≈ {one.share:.0%} {place_of(one.id)}" for one in row.overlaps[:1] if not row.advice]
        facts += [" ".join(f"#{flat(tag, 40)}" for tag in row.tags)] if row.tags else []
        advice, told = flat(row.advice[0]) if row.advice else "", " · ".join(facts)
        both = Content.assemble((advice, "$warning"), (" · " if advice and told else "", "$muted"), (told, "$muted"))
        if row.retired:
            both = Content.styled("retired: D brings it back", "$muted")
        return Content.assemble("    ", both.truncate(max(1, width - 5), ellipsis=True))


def short(topic: Topic, width: int = 40) -> str:
    """Return what a topic is called, in a sentence."""
    return elide_end(flat(topic.title) or one_line(topic.id), width)


_BAR, _NAME = 20, 10


def topic_lines(topic: Topic, width: int, text: str) -> list[DetailLine]:
    """Return the lines of a topic.

    Args:
        topic: what it is.
        width: in cells.
        text: of the note, as far as it was read.
    """
    lines = [*_facts(topic, width), *_overlaps(topic, width), *_advice(topic, width)]
    if text:
        lines += [BLANK, title("Text", "⏎ opens it in Memory" if not topic.retired else ""), *text_lines(text, width)]
    return lines


def _facts(topic: Topic, width: int) -> Iterator[DetailLine]:
    whose = "for all projects" if topic.scope == "user" else "of this project"
    yield from text_lines(flat(topic.title) or one_line(topic.id), width, "bold")
    state = (
        ("✗ retired: kept, and no longer recalled; D brings it back", "$warning") if topic.retired else (whose, "$soft")
    )
    yield DetailLine(Content.styled(*state))
    yield DetailLine(Content.styled(elide_path(one_line(topic.id), width), "$muted"), f"note:{topic.id}")
    yield BLANK
    much = f" {kilobytes(topic)} ({share_of(topic):.0%}), {count(topic.lines, 'line')}"
    yield DetailLine(Content.assemble((fit("Size", _NAME), "bold $primary"), size_bar(topic, _BAR), (much, "$soft")))
    yield _fact("Changed", f"{local_day(topic.modified)}, {age(time.time() - topic.modified)}")
    used = f"{local_day(topic.used)}, {age(time.time() - topic.used)}" if topic.used else "never, as far as is known"
    yield _fact("Recalled", used)
    tags = " ".join(f"#{flat(tag, 60)}" for tag in topic.tags) or "none"
    derived = ", from its headings and words" if topic.tags_derived else ""
    for place, line in enumerate(text_lines(f"{tags}{derived}", max(8, width - _NAME))):
        yield _fact("Tags" if place == 0 else "", line.content.plain)


def _fact(name: str, words: str) -> DetailLine:
    return DetailLine(Content.assemble((fit(name, _NAME), "bold $primary"), (words, "$soft")))


def _overlaps(topic: Topic, width: int) -> Iterator[DetailLine]:
    if not topic.overlaps:
        return
    yield BLANK
    yield title("Overlaps", "tags that both have, of those that either has")
    for one in topic.overlaps:
        yield _overlap(one, width)


def _overlap(one: TopicOverlap, width: int) -> DetailLine:
    name = elide_path(one_line(one.id), max(8, width - _BAR - 7))
    return DetailLine(
        Content.assemble(share_bar(one.share, _BAR), f" {one.share:4.0%}  ", (name, "$foreground")), f"topic:{one.id}"
    )


def _advice(topic: Topic, width: int) -> Iterator[DetailLine]:
    if topic.advice:
        yield BLANK
    for words in topic.advice:
        yield from text_lines(flat(words), width, "$warning", lead="▲ ")


class NarratorParts(ListMode):
    """The filter above; proposals or topics at the left, what the cursor is on at the right."""

    FILTER, PROBLEM = "review-filter", "review-problem"

    def compose_body(self) -> Iterable[Widget]:
        """The filter above; the list at the left, what the cursor is on at the right."""
        yield Input(placeholder="/ words, kind:command,fix state:deferred", id="review-filter", compact=True)
        yield Static(id="review-problem", markup=False)
        yield Static(id="review-progress", markup=False)
        with Split(id="review-body"):
            proposals = ProposalList(empty="Reading what is proposed…", id="proposals")
            yield Panel(proposals, TopicList(empty="Reading the topics…", id="topics"), id="review-list-panel")
            yield DetailPanel(id="detail-panel")

    proposals = getters.query_one(ProposalList)
    topic_list = getters.query_one(TopicList)
    panel = getters.query_one(DetailPanel)

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

    def show_done(self, words: str) -> None:
        """Say what was done last, where it does not cover what is decided next."""
        room = max(10, self.query_one("#review-list-panel").size.width - 4)
        self.label("review-list-panel", subtitle=elide_end(one_line(words), room))

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
        self._screen.show_failure_in(self._screen.topic_list, error, is_read=self.found is not None)

    def show(self) -> None:
        """Show the one under the cursor."""
        row, screen = self.row, self._screen
        if row is None:
            return
        screen.panel.label("Note" if row.id in screen.topic_list.notes else "Topic", "")
        text = self._texts.get(row.id)
        screen.panel.show(("topic", row.id), partial(topic_lines, row, text=text or ""))
        if text is not None or row.retired:
            screen.drop_question("text")
            return

        def got(told: str) -> None:
            self._texts[row.id] = told
            if self.row == row:
                screen.panel.show(("topic", row.id), partial(topic_lines, row, text=told))

        screen.ask("text", lambda engine: engine.note(row.id, lines=LINES).text, got, lambda _: None, delay=SETTLING)


_STAGES = {
    "read": "reading episodes", "weigh": "weighing what was seen", "propose": "making proposals",
    "model": "asking the model", "done": "done",
}  # fmt: skip
_PROGRESS_BAR = 24


def progress_text(step: Progress | None, width: int) -> Content:
    """Return how far it is; nothing, where none is on its way."""
    if step is None:
        return Content("")
    share = step.done / step.total if step.total else 0.0
    numbers = f" {step.done:,} of {step.total:,}" if step.total > 1 else ""
    words = f" ◐ The narrator is {_STAGES.get(step.stage, step.stage)} "
    bar = share_bar(share, max(4, min(_PROGRESS_BAR, width - len(words) - len(numbers) - 12)), "$accent")
    return Content.assemble((words, "$accent"), bar, (f"{numbers}  N stops it", "$soft"))
