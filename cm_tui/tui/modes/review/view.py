"""What the narrator mode shows: what waits for a person, or the topics; and the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from textual import events, getters, on
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.counts import noun
from cm_tui.errors import CmError
from cm_tui.model import NarratedProposal, Topic, TopicMap
from cm_tui.tui.modes.review.detail_panel import DetailList, DetailPanel, TopicList, progress_text, topic_lines
from cm_tui.tui.modes.review.inbox import INCLUDED, OUTDATED, WISH, InboxFilter, Item, Key, key_of, read_line, state_of
from cm_tui.tui.modes.review.proposal_lines import ProposalList, other_lines, proposal_lines
from cm_tui.tui.modes.review.stock import Details, Stock
from cm_tui.tui.screens.list_mode import ListingMode
from cm_tui.tui.widgets.header import Header
from cm_tui.tui.widgets.split import Panel, Split, Words
from cm_tui.tui.widgets.text import count, elide_end, one_line

SETTLING = 0.06
LINES = 200
"""Lines of a topic that are shown."""
NO_TOPICS = (
    "No topics yet. A topic is a note about one subject, found by its tags; c creates one, and the "
    "narrator proposes one where facts share a theme."
)


class TopicView:
    """What the mode shows of topics.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: ReviewView) -> None:
        self._screen = screen
        self.found: TopicMap | None = None
        """What was read; None: nothing yet."""
        self.pending = ""
        """Id of the topic that the cursor goes to as soon as it is listed."""
        self._texts: dict[str, str] = {}

    @property
    def topic(self) -> Topic | None:
        """The topic under the cursor; None where it is on another note, or proposals are listed."""
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

        def got(text_read: str) -> None:
            self._texts[row.id] = text_read
            if self.row == row:
                screen.panel.show(("topic", row.id), partial(topic_lines, row, text=text_read))

        screen.ask("text", lambda engine: engine.note(row.id, lines=LINES).text, got, lambda _: None, delay=SETTLING)


AFTER = 0.4
"""Seconds after a decision after which it is asked what there is now: of many in a row, after the last one."""
ROOMY = 28
"""Lines of the screen from which on a row has two lines."""
TITLES = {WISH: "Wish", OUTDATED: "Outdated memory", INCLUDED: "Entry of the clone"}
NOTHING = (
    "No proposals. The narrator looks for lessons in sessions, such as commands that work, rules that you repeat, "
    "and errors with their fixes; it proposes to save them, and you decide. n runs it now."
)
NO_EPISODES = (
    "No proposals yet, as no sessions are recorded here. `cm agent install claude-code` (or codex, opencode) makes "
    "an agent record its sessions from now on; past ones are imported from the Overview (1, then m), or by `cm import`."
)


class ReviewView(ListingMode[Stock]):
    """Keeps filter, list and panel in step with each other, and with what was decided."""

    FILTER, PROBLEM = "review-filter", "review-problem"

    def __init__(self) -> None:
        super().__init__()
        self.stock = Stock(self.ask, self.show_rows, self.show_failure)
        self.details = Details(self.ask, self._loaded, self._unread)
        self.topics = TopicView(self)
        self.pending: Key | None = None
        """What the cursor goes to as soon as it is listed."""

    def compose_body(self) -> Iterable[Widget]:
        """The filter above; the list at the left, what the cursor is on at the right."""
        yield Input(placeholder="/ words, kind:command,fix state:deferred", id="review-filter", compact=True)
        yield Words(id="review-problem")
        yield Words(id="review-progress")
        with Split(id="review-body"):
            proposals = ProposalList(empty="Reading proposals…", id="proposals")
            yield Panel(proposals, TopicList(empty="Reading topics…", id="topics"), id="review-list-panel")
            yield DetailPanel(id="detail-panel")

    proposals = getters.query_one(ProposalList)
    stock_list = proposals
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
        """Show what was done last, where it does not cover what is decided next."""
        room = max(10, self.query_one("#review-list-panel").size.width - 4)
        self.label("review-list-panel", subtitle=elide_end(one_line(words), room))

    def on_mount(self) -> None:
        """List topics again where they were listed."""
        self.set_class(self.kept("topics", False), "-topics")
        self.proposals.refused = self.stock.refused.keys()

    def keep(self) -> None:
        """The filter, and which of the two is shown."""
        super().keep()
        self.choices.update(topics=self.on_topics)

    # --- what is meant ---

    @property
    def item(self) -> Item | None:
        """The proposal that commands are about."""
        return None if self.on_topics else self.proposals.current

    @property
    def proposal(self) -> NarratedProposal | None:
        """The same, where it is the narrator's, as it was listed."""
        return self.item if isinstance(self.item, NarratedProposal) else None

    @property
    def selected(self) -> tuple[Item, ...]:
        """The selected items that are listed and not decided."""
        chosen = () if self.on_topics else self.proposals.selected
        rows = self.stock.rows if chosen else []
        return tuple(one for one in rows if key_of(one) in chosen and state_of(one) in ("waiting", "deferred"))

    # --- asking ---

    def project_changed(self) -> None:
        """Show how far a pass is, too."""
        self.show_words("review-progress", progress_text(self.cm.project.narrating, self.size.width))
        super().project_changed()

    def index_changed(self) -> None:
        """Request the rows, of many changes in a row after the last one."""
        self.reload(delay=AFTER if self.stock.found is not None else 0.0)

    def read_line(self, text: str) -> tuple[InboxFilter, str]:
        """Parse a filter line."""
        return read_line(text)

    def reload(self, *, delay: float = 0.0) -> None:
        """Request the same rows again."""
        self.details.expire()
        super().reload(delay=delay)
        if self.on_topics or self.topics.found is not None:
            self.topics.read(delay=delay)

    # --- showing proposals ---

    def show_rows(self) -> None:
        """Show what is listed by now."""
        rows = self.stock.rows
        self.proposals.refill(
            [*rows, *[None] * (self.stock.total - len(rows))], empty=self._empty_text(), at=self.pending
        )
        self.pending = None
        known = self.cm.project.waiting
        if known is not None and self.stock.found is not None:
            self.cm.project.waiting = known._replace(items=self.stock.waiting)
            self.query_one(Header).refresh()
        if not self.on_topics:
            if not self.proposals.rows:
                self.panel.clear("" if self.no_matches else self.INTRO)
            self.retitle()
        self.say_notes()
        self.refresh_keys()

    def show_row(self) -> None:
        """Show the topic or the proposal under the cursor."""
        if self.on_topics:
            self.topics.show()
        else:
            self.show_item()

    def show_item(self) -> None:
        """Show the one under the cursor; diff and evidence come a moment later, where they are not known yet."""
        item = self.item
        if item is None:
            return
        refused = self.stock.refused.get(key_of(item), "")
        if isinstance(item, NarratedProposal):
            whole = self.details.of(item)
            shown = item if whole is None else _as_listed(whole, item)
            lay = partial(proposal_lines, shown, is_whole=whole is not None, refused=refused)
            self.panel.show(key_of(item), lay)
            following = [one for one in self.stock.rows if isinstance(one, NarratedProposal)]
            place = next((place for place, one in enumerate(following) if one.id == item.id), -1)
            ahead = following[place + 1 : place + 12]
            if self.details.is_fresh(item):
                self.drop_question("detail")
                self.details.read_ahead(ahead)
            else:
                self.details.read(item, ahead)
        else:
            self.drop_question("detail")
            self.panel.show(key_of(item), lambda width: other_lines(item, width, refused=refused))
        title = "Proposal" if isinstance(item, NarratedProposal) else TITLES[item.kind]
        self.panel.label(title, one_line(item.id))

    def _loaded(self, whole: NarratedProposal) -> None:
        if self.proposal is not None and self.proposal.id == whole.id:
            self.show_item()
            self.refresh_keys()

    def _unread(self, name: str, error: CmError) -> None:
        """Say why one cannot be read whole: it may be gone meanwhile."""
        if self.proposal is not None and self.proposal.id == name:
            item, why = self.proposal, error.one_line
            self.stock.refused[key_of(item)] = why
            self.panel.show(key_of(item), lambda width: proposal_lines(item, width, is_whole=False, refused=why))
            self.proposals.redraw()
            self.refresh_keys()

    def after_decision(self, words: str) -> None:
        """Show what is being done in the border of the list, and the rows without what is removed."""
        self.show_done(words)
        here = self.item
        self.show_rows()
        if here is not None and self.item is not None and key_of(here) == key_of(self.item):
            # It stays in the list: the next one that waits is chosen all the same.
            rows = self.proposals.rows
            following = range(self.proposals.cursor + 1, len(self.stock.rows))
            self.proposals.cursor = next(
                (place for place in following if state_of(rows[place]) == "waiting"),  # type: ignore[arg-type]
                self.proposals.cursor,
            )

    def retitle(self) -> None:
        """Show how many there are."""
        if self.on_topics:
            self.label("review-list-panel", self.topics.words)
            return
        stock = self.stock
        words = [f"{stock.waiting:,} waiting"] if stock.found is not None else []
        words += [f"{stock.deferred:,} deferred"] if stock.deferred else []
        if self.filter_input.value.strip():
            words.append(f"{stock.total:,} here")
        words += [f"{len(chosen):,} selected"] if (chosen := self.selected) else []
        self.label("review-list-panel", " · ".join(["Review", *words]))

    def say_notes(self) -> None:
        """Show the filter's problems and, where nothing listed says them, the warnings."""
        self.say_problem(self._wrong, *(self.stock.found.notes if self.stock.found and self.proposals.rows else ()))

    def _empty_text(self) -> str:
        found = self.stock.found
        if self.no_matches:
            return self.no_matches
        if found is not None and not found.has_episodes:
            return NO_EPISODES
        notes = " ".join(found.notes) if found is not None else ""
        deferred = self.stock.deferred
        put_off = (
            f" {count(deferred, 'is', 'are')} deferred; s lists {noun(deferred, 'it', 'them')}." if deferred else ""
        )
        return f"{NOTHING}{put_off} {notes}".strip()

    # --- room ---

    @on(events.Resize)
    def _resized(self) -> None:
        lines = 2 if self.size.height >= ROOMY else 1
        self.proposals.set_lines(lines)
        self.topic_list.set_lines(lines)

    @property
    def is_reread(self) -> bool:
        """Return whether the proposal under the cursor is being read again, as a decision on it could not be done."""
        one = self.proposal
        return one is not None and key_of(one) in self.stock.refused and self.details.of(one) is None


def _as_listed(whole: NarratedProposal, item: NarratedProposal) -> NarratedProposal:
    """Return a proposal whole, with what became of it by now."""
    return replace(whole, state=item.state, decided=item.decided, decided_by=item.decided_by, reason=item.reason)
