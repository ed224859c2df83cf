"""Asks what the tabs of the history mode show: changes, symbols, a life, drift; without a word on how it looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from cm_tui import model
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model.history import BEFORE_FIRST
from cm_tui.tui.modes.history import rows
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow, of_episode
from cm_tui.tui.state.revision import agent_of, before, name_of, reading, short_name_of
from cm_tui.tui.tasks.ask import Ask, Call, Engine, Then
from cm_tui.tui.widgets.relations import TabLine, TabPanel
from cm_tui.tui.widgets.split import Words, end_waiting, show_waiting
from cm_tui.tui.widgets.text import count, number_of, one_line

T = TypeVar("T")

TABS = ("changes", "symbols", "life", "drift", "episode")
SETTLING = 0.08
"""Seconds that the point stays before anything is asked about it, so that scrolling asks nothing."""
MOST = 1000
"""Rows of a tab."""


@dataclass(frozen=True)
class Filled:
    """What a tab shows."""

    rows: tuple[HistoryRow, ...]
    note: str
    """Said when there are no rows, else beside the title."""
    total: str = ""

    @classmethod
    def of(cls, found: Iterable[HistoryRow], page: model.Page[Any], empty: str, *notes: str) -> Filled:
        """Return the rows of a page with what is said beside the title, or why there are none."""
        rows_ = tuple(found)
        note = " · ".join(filter(None, notes)) if rows_ else page.note or empty
        return cls(rows_, note, number_of(len(page.rows), page.total))


@dataclass
class HistoryLoader:
    """The point, the other revision, and what is asked about them.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        filled: is called with a tab and what it shows, or what is being read for it.
        progress: returns the progress of reading the history, in words; empty while it is not being read.
    """

    _ask: Ask
    _drop: Callable[[str], None]
    _filled: Callable[[str, Filled | str], None]
    _progress: Callable[[], str]
    unread: set[str] = field(default_factory=set)
    """Tabs that show nothing yet because the history that they need is being read."""
    point: model.CommitPoint | None = None
    mark: model.CommitPoint | None = None
    is_since: bool = False
    """True when what changed since the mark was asked for."""
    subject: model.SymbolKey | str | None = None
    """Whose life is shown."""
    episode: model.Episode | None = None
    """What an agent saw and did."""
    drifted: bool = False
    """True when index and checkout were found to differ."""
    drift_seconds: float = 0.0
    """How long the last look for drift took."""

    @property
    def span(self) -> tuple[str, str]:
        """The two revisions that changes are shown between, the earlier one first."""
        assert self.point is not None
        if self.mark is None or self.mark.sha == self.point.sha:
            return before(self.point), self.point.sha
        low, high = self._ends(self.mark, self.point)
        return low.sha, high.sha

    @property
    def span_words(self) -> str:
        """The same for people."""
        if self.point is None:
            return ""
        if self.mark is None or self.mark.sha == self.point.sha:
            return f"by {short_name_of(self.point)}"
        low, high = self._ends(self.mark, self.point)
        return f"from {short_name_of(low)} to {short_name_of(high)}"

    def _ends(self, mark: model.CommitPoint, point: model.CommitPoint) -> tuple[model.CommitPoint, model.CommitPoint]:
        """Return the mark and the point, the earlier one first; what is off the mainline comes after its nearest ancestor there."""
        if self.is_since and mark.ahead:
            # It may have been HEAD once, and what it is compared with an ancestor of it.
            return mark, point
        low, high = sorted((mark, point), key=lambda moment: (moment.ordinal, moment.ahead))
        return low, high

    def drop(self, tab: str) -> None:
        """Drop the request for a tab, whose answer is outdated: whatever changes what a tab tells of has to call this."""
        self._drop(tab)

    def fill(self, tab: str) -> None:
        """Ask for what a tab shows."""
        getattr(self, f"_{tab}")()

    def _changes(self) -> None:
        if self.point is None:
            self._nothing("changes")
            return
        older, newer = self.span
        words = self.span_words

        def got(page: model.Page[model.SymbolChange]) -> None:
            found = rows.of_changes(page.rows, older, newer)
            self._filled("changes", Filled.of(found, page, f"No symbols changed {words}.", words, page.note))

        def call(engine: Engine) -> model.Page[model.SymbolChange]:
            return all_added(engine, newer) if older == BEFORE_FIRST else engine.changes(older, newer, limit=MOST)

        self._put("changes", call, got, reading(self.point))

    def _symbols(self) -> None:
        if self.point is None:
            self._nothing("symbols")
            return
        at = self.point.sha

        def got(page: model.Page[model.Symbol]) -> None:
            hint = "s shows all of them in Symbols" if page.total > len(page.rows) else ""
            found = rows.of_symbols(page.rows, at)
            self._filled("symbols", Filled.of(found, page, "No symbols existed.", page.note, hint))

        self._put("symbols", lambda engine: engine.symbols_at(at, limit=MOST), got, reading(self.point))

    def _nothing(self, tab: str) -> None:
        self._drop(tab)
        self._filled(tab, Filled((), "Choose a commit on the left."))

    def _life(self) -> None:
        subject = self.subject
        if subject is None:
            self._filled(
                "life", Filled((), "L on a symbol shows its life; L here asks for a name, also of removed symbols.")
            )
            return

        def got(answer: tuple[model.Page[model.SymbolHistory], model.HistoryStatus]) -> None:
            page, history = answer
            found = tuple(row for life in page.rows for row in rows.of_life(life, history))
            some = number_of(len(page.rows), page.total) if page.total > len(page.rows) else ""
            note = page.note if found else page.note or "No symbol of that name is known."
            if self._progress():
                note = "History is being read; earlier versions follow."
            self._filled("life", Filled(found, note, some))

        name = subject if isinstance(subject, str) else subject.qualname
        words = f"Reading the life of {one_line(name)}…"
        self._put("life", lambda engine: (engine.symbol_history(subject, callers=True), engine.history()), got, words)

    def _drift(self) -> None:
        self._filled("drift", "Reading…")
        self.look_for_drift()

    def look_for_drift(self) -> None:
        """Ask how index and checkout differ; what is on screen stays until the answer is there."""

        def call(engine: Engine) -> tuple[model.Drift, float]:
            begun = time.monotonic()
            return engine.drift(limit=MOST), time.monotonic() - begun

        def got(answer: tuple[model.Drift, float]) -> None:
            drift, self.drift_seconds = answer
            self.drifted = not drift.current
            self._filled("drift", drift_shown(drift))

        self._send("drift", call, got)

    def _episode(self) -> None:
        if self.episode is None:
            words = (
                "e opens the recorded episodes; r shows one here, with the commit that it started from in every panel."
            )
            self._filled("episode", Filled((), words))
        else:
            self._filled("episode", Filled(tuple(of_episode(self.episode)), f"what {agent_of(self.episode)} saw"))

    def _put(self, tab: str, call: Call[T], got: Then[T], words: str) -> None:
        self._filled(tab, words)
        self._send(tab, call, got)

    def _send(self, tab: str, call: Call[T], got: Then[T]) -> None:
        def failed(error: CmError) -> None:
            if isinstance(error, NotFoundError) and (words := self._progress()):
                self.unread.add(tab)
                self._filled(tab, Filled((), f"{words}. This commit appears once it is read."))
            else:
                self._filled(tab, Filled((), error.one_line))

        self.unread.discard(tab)
        self._ask(tab, call, got, failed, delay=SETTLING)


def all_added(engine: Engine, first: str) -> model.Page[model.SymbolChange]:
    """What the first commit here brought: everything, as there is nothing to compare it with."""
    page = engine.symbols_at(first, limit=MOST)
    note = "the first commit here: all of its content counts as added"
    return model.Page(tuple(model.SymbolChange("added", symbol) for symbol in page.rows), page.total, note)


def drift_shown(drift: model.Drift) -> Filled:
    """Compare index and checkout, with the key that updates the index."""
    found = list(rows.of_drift(drift.rows, drift.indexed_head))
    if found:
        head = "the index differs from the checkout; press i to update"
        notes = " · ".join((count(drift.files, "file"), *drift.notes))
        found.insert(0, rows.heading(f"{head} ({notes})"))
    elif not drift.current:
        found.append(rows.heading("No symbols differ, but the index is of another commit; press i to update"))
    words = "The index matches HEAD and the working tree: no drift."
    if drift.looked is not None:
        words += f" You last looked at {name_of(drift.looked)}; w shows what changed since."
    empty = " ".join(drift.notes) or words if not found else ""
    return Filled(tuple(found), empty, number_of(len(drift.rows), drift.total))


_FLEETING = frozenset({"drift"})
"""Tabs that reload whenever they are shown, because files change without an event."""


class TabsPanel(TabPanel):
    """Holds the rows of each tab, and requests those of a tab when it is opened.

    Args:
        request: asks for what a tab shows; `fill` takes it.
    """

    @dataclass
    class RowChanged(Message):
        """The cursor stands on another row, or on none."""

        row: HistoryRow | None

    def __init__(self, request: Callable[[str], None], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._request = request
        self._pages: dict[str, Filled] = {}

    def compose(self) -> ComposeResult:
        """Tabs, rows, a line."""
        yield TabLine(TABS, id="history-tabs")
        yield HistoryList(id="history-list")
        yield Words(id="history-note")

    rows = getters.query_one("#history-list", HistoryList)

    # --- filling ---

    def forget(self, *tabs: str) -> None:
        """What these tabs show is not right any more."""
        for tab in tabs:
            self._pages.pop(tab, None)
            self.tabs.counts.pop(tab, None)
        if self.tabs.active in tabs:
            self.show_tab()
        self.tabs.refresh()

    def fill(self, tab: str, filled: Filled | str) -> None:
        """Give a tab its rows; while they are being read, in words, what is on screen stays, dimmed, and the border says so."""
        active = tab == self.tabs.active
        if isinstance(filled, Filled):
            self._pages[tab] = filled
            self.tabs.counts[tab] = filled.total
            if active:
                self._draw()
            else:
                self.tabs.refresh()
            return
        self.tabs.counts.pop(tab, None)
        if active and self.rows.rows:
            show_waiting(self, filled)
        elif active:
            self.label(subtitle="")
            self.rows.set_rows((), empty=filled)

    def show_tab(self) -> None:
        """Show what is known of the open tab, and ask for what is not."""
        shown = self.tabs.active in self._pages
        if shown:
            self._draw()
        if not shown or self.tabs.active in _FLEETING:
            self._request(self.tabs.active)

    def _draw(self) -> None:
        end_waiting(self)
        filled = self._pages[self.tabs.active]
        first = next((index for index, row in enumerate(filled.rows) if row.mark), 0)
        same = [(row.lead, row.name) for row in filled.rows] == [(row.lead, row.name) for row in self.rows.rows]
        self.rows.set_rows(filled.rows, cursor=self.rows.cursor if same else first, empty=filled.note)
        self.label(subtitle=filled.note if filled.rows else "")
        if not filled.rows:
            self._describe(None)
        self.tabs.refresh()

    # --- tabs and rows ---

    @on(HistoryList.Highlighted, "#history-list")
    def _loaded(self, event: HistoryList.Highlighted) -> None:
        self._describe(event.row)

    def _describe(self, row: HistoryRow | None) -> None:
        # Its height never changes: a layout of the whole screen with each row would be felt.
        self.query_one("#history-note", Words).update(Content(one_line(row.note) if row else ""), layout=False)
        self.post_message(self.RowChanged(row))
