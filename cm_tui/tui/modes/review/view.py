"""What the narrator mode shows: what waits for a person, or the topics; and the one under the cursor."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from textual import events, on

from cm_tui.errors import CmError
from cm_tui.model import NarratedProposal
from cm_tui.tui.modes.review.inbox import INCLUDED, OUTDATED, WISH, Item, Key, key_of, read_line, state_of
from cm_tui.tui.modes.review.parts import NarratorParts, TopicView, progress_text
from cm_tui.tui.modes.review.proposal_lines import UnreadRow, other_lines, proposal_lines
from cm_tui.tui.modes.review.stock import Details, Stock
from cm_tui.tui.widgets.header import Header
from cm_tui.tui.widgets.text import one_line

AFTER = 0.4
"""Seconds after a decision after which it is asked what there is now: of many in a row, after the last one."""
ROOMY = 28
"""Lines of the screen from which on a row has two lines."""
TITLES = {WISH: "Wish", OUTDATED: "Outdated memory", INCLUDED: "Entry of the clone"}
NOTHING = (
    "Nothing is proposed. The narrator looks for what sessions teach, such as commands that work, rules that you repeat, "
    "and errors with their fixes; it proposes to write that down, and you decide. n has it look now."
)
NO_EPISODES = (
    "Nothing can be proposed yet, as no session was recorded here. `cm agent install claude-code` (or codex, opencode) has "
    "an agent record its sessions from now on; past ones are imported from the Overview (1, then m), or by `cm import`."
)


class ReviewView(NarratorParts):
    """Keeps filter, list and panel in step with each other, and with what was decided."""

    def __init__(self) -> None:
        super().__init__()
        self.stock = Stock(self.ask, self.show_rows, self._failed)
        self.details = Details(self.ask, self._loaded, self._unread)
        self.topics = TopicView(self)
        self.pending: Key | None = None
        """What the cursor goes to as soon as it is listed."""
        self._wrong = ""
        """What is wrong with the line of the filter."""
        self._news = -1

    def on_mount(self) -> None:
        """Take up what the last run left."""
        self.stock.where, self._wrong = read_line(self.fill_filter(self.cm.state.of(self.MODE).get("filter")))
        self.set_class(self.cm.state.of(self.MODE).get("topics") is True, "-topics")
        self.proposals.refused = self.stock.refused.keys()
        self.list_shown.focus()

    def keep(self) -> None:
        """The filter, and which of the two is shown."""
        super().keep()
        self.cm.state.of(self.MODE).update(topics=self.on_topics)

    # --- what is meant ---

    @property
    def item(self) -> Item | None:
        """The proposal that is meant."""
        return None if self.on_topics else self.proposals.item

    @property
    def proposal(self) -> NarratedProposal | None:
        """The same, where it is the narrator's, as it was listed."""
        return self.item if isinstance(self.item, NarratedProposal) else None

    # --- asking ---

    def project_changed(self) -> None:
        """Load the list once the engine is open, and after each change."""
        view = self.cm.project
        if view.engine != "open":
            if self.stock.found is None:
                self.proposals.set_rows((), empty=view.why_not_searchable or "Opening the project…")
        elif self._news != view.index_news:
            self._news = view.index_news
            self.reload(delay=AFTER if self.stock.found is not None else 0.0)
        self.show_words("review-progress", progress_text(view.narrating, self.size.width))
        self.refresh_keys()

    def refresh_rows(self, *, delay: float = 0.0) -> None:
        """Ask for what the line of the filter leaves."""
        where, self._wrong = read_line(self.filter_input.value)
        self._say()
        self.stock.filter_by(where, delay=delay)

    def reload(self, *, delay: float = 0.0) -> None:
        """Ask for the same once more."""
        self.details.expire()
        self.stock.read(delay=delay)
        if self.on_topics or self.topics.found is not None:
            self.topics.read(delay=delay)

    def _failed(self, error: CmError) -> None:
        self.show_failure_in(self.proposals, error, is_read=self.stock.found is not None)

    # --- showing proposals ---

    def show_rows(self) -> None:
        """Show what is listed by now."""
        rows = self.stock.rows
        self.proposals.refill(
            [*rows, *[UnreadRow()] * (self.stock.total - len(rows))], empty=self._empty_text(), at=self.pending
        )
        self.pending = None
        known = self.cm.project.waiting
        if known is not None and self.stock.found is not None:
            self.cm.project.waiting = known._replace(items=self.stock.waiting)
            self.query_one(Header).refresh_text()
        if not self.on_topics:
            if not self.proposals.rows:
                self.panel.clear("" if self.filter_input.value.strip() else self.INTRO)
            self.retitle()
        self._say()
        self.refresh_keys()

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
            self.stock.refused[key_of(self.proposal)] = f"{error.message} {error.hint}".strip()
            item = self.proposal
            why = self.stock.refused[key_of(item)]
            self.panel.show(key_of(item), lambda width: proposal_lines(item, width, is_whole=False, refused=why))
            self.proposals.redraw()
            self.refresh_keys()

    def after_decision(self, words: str) -> None:
        """Say what is done, in the border of the list, and show the rows without what goes."""
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
        """Say how many there are."""
        if self.on_topics:
            self.label("review-list-panel", self.topics.words)
            return
        stock = self.stock
        words = [f"{stock.waiting:,} {'waits' if stock.waiting == 1 else 'wait'}"] if stock.found is not None else []
        words += [f"{stock.deferred:,} put off"] if stock.deferred else []
        if self.filter_input.value.strip():
            words.append(f"{stock.total:,} here")
        self.label("review-list-panel", " · ".join(["Review", *words]))

    def _say(self) -> None:
        """Show the filter's problems and the list's warnings."""
        notes = self.stock.found.notes if self.stock.found and self.proposals.rows else ()
        self.say_problem(self._wrong, *notes)

    def _empty_text(self) -> str:
        found, text = self.stock.found, self.filter_input.value.strip()
        if text:
            return f"No matches for {one_line(text)}."
        if found is not None and not found.has_episodes:
            return NO_EPISODES
        notes = " ".join(found.notes) if found is not None else ""
        put_off = f" {self.stock.deferred:,} are put off: s lists them." if self.stock.deferred else ""
        return f"{NOTHING}{put_off} {notes}".strip()

    # --- room ---

    @on(events.Resize)
    def _resized(self) -> None:
        lines = 2 if self.size.height >= ROOMY else 1
        self.proposals.set_lines(lines)
        self.topic_list.set_lines(lines)

    def is_refused(self, item: Item) -> bool:
        """Return whether a decision on an item could not be done."""
        return key_of(item) in self.stock.refused


def _as_listed(whole: NarratedProposal, item: NarratedProposal) -> NarratedProposal:
    """Return a proposal whole, with what became of it by now."""
    return replace(whole, state=item.state, decided=item.decided, decided_by=item.decided_by, reason=item.reason)
