"""Time: the line of commits, what each changed, the life of every symbol, and drift."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.model import Drift, Moment, Place, SymbolKey
from cm_tui.tui.commands import bindings
from cm_tui.tui.messages import OpenMoment, OpenSymbol
from cm_tui.tui.screens.base import ModeScreen
from cm_tui.tui.screens.time_commands import TIME_COMMANDS
from cm_tui.tui.screens.time_text import head_text
from cm_tui.tui.travelling import TABS, Filled, Travelling
from cm_tui.tui.widgets.dialogs import Prompt
from cm_tui.tui.widgets.relations import Relation, RelationList, TabLine
from cm_tui.tui.widgets.ribbon import Ribbon
from cm_tui.tui.widgets.ribbonpanel import RibbonPanel
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import one_line
from cm_tui.tui.widgets.timedetail import TimeDetail
from cm_tui.tui.widgets.timelist import Spot, TimeList, TimeRow

_NEVER = object()
_PANELS = ("ribbon-panel", "time-panel", "detail-panel")
LOOK_AGAIN = 2.0
"""Seconds after which history that is being read is looked at again."""


class TimeScreen(ModeScreen):
    """The history of every symbol."""

    MODE = "time"
    SHOWS_PAST = True
    INTRO = (
        "Every commit of HEAD's first-parent line, the newest first; the one under the cursor is the point that all "
        "panels show. Changes are those of that commit, or those between it and the moment you marked with m. Enter "
        "stands there: Symbols shows that moment too, a bar on top says so, and 0 leads back to now. Grey commits are "
        "not known yet: b reads them, and what is known answers meanwhile."
    )
    COMMANDS_HERE = TIME_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(TIME_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_ribbon", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._seen_status: object = _NEVER
        self._pages: dict[str, Filled] = {}
        self._note = ""
        self._noted = ""
        """The commit that the note is about."""
        self._seen_history: object = None
        self._looked: Place | None = None
        """Since when changes were shown as new in this session; asked once, as asking is what is remembered."""

    def compose_body(self) -> Iterable[Widget]:
        """The line on the left; head, tabs and the symbol on the right."""
        with Split(id="time-body"):
            yield RibbonPanel(self.ask, self.drop_question, id="ribbon-panel")
            with Container(id="time-side"):
                yield Static(id="time-head", markup=False)
                yield Static(id="time-where", markup=False)
                with Vertical(id="time-panel", classes="panel"):
                    yield TabLine(TABS, id="time-tabs")
                    yield TimeList(id="time-list")
                    yield Static(id="time-note", markup=False)
                yield TimeDetail(self.ask, self.drop_question, id="detail-panel")

    def on_mount(self) -> None:
        """Take up what the last run left."""
        self.travelling = Travelling(self.ask, self.drop_question, self._fill)
        kept = self.cm.state.of(self.MODE)
        tab = kept.get("tab")
        self.tabs.active = tab if tab in TABS else TABS[0]
        self.ribbon.focus()
        self.set_interval(LOOK_AGAIN, self._look_again)
        super().on_mount()

    def keep(self) -> None:
        """The tab."""
        super().keep()
        self.cm.state.of(self.MODE)["tab"] = self.tabs.active

    # --- parts ---

    @property
    def line(self) -> RibbonPanel:
        """The ribbon with its filter."""
        return self.query_one("#ribbon-panel", RibbonPanel)

    @property
    def ribbon(self) -> Ribbon:
        """The commits."""
        return self.line.ribbon

    @property
    def tabs(self) -> TabLine:
        """The tabs of the upper panel."""
        return self.query_one("#time-tabs", TabLine)

    @property
    def rows(self) -> TimeList:
        """The rows of the open tab."""
        return self.query_one("#time-list", TimeList)

    @property
    def detail(self) -> TimeDetail:
        """The symbol of the row under the cursor."""
        return self.query_one("#detail-panel", TimeDetail)

    @property
    def point(self) -> Moment | None:
        """The moment that is shown."""
        return self.travelling.point

    @property
    def row(self) -> TimeRow | None:
        """The row under the cursor."""
        return self.rows.current

    @property
    def why_no_line(self) -> str | None:
        """Why there is no line to move on."""
        if reason := self.cm.project.why_not_searchable:
            return reason
        status = self.cm.project.status
        if status and not status.git:
            return "this project has no git repository"
        history = self.cm.project.history
        return "there are no commits yet" if history and history.head is None else None

    # --- news ---

    def project_changed(self) -> None:
        """Read the line again when the index has news; say how far history is known."""
        view = self.cm.project
        if reason := view.why_not_searchable:
            self.line.say(reason)
        elif view.status is not self._seen_status and view.status is not None:
            self._seen_status = view.status
            if view.status.git:
                self.line.say("Reading the line…")
                self.line.refill()
            else:
                self.ribbon.set_rows((), empty="This project has no git repository, so there is no past to show.")
            self.cm.lifecycle.refresh_history()
            self._forget("changes", "symbols", "life", "drift")
        if view.history != self._seen_history:
            self._seen_history = view.history
            self._forget("changes", "symbols", "life")
        self.line.show_known(view.history, view.reading, view.reading_error or view.history_error)
        self.refresh_keys()

    def _look_again(self) -> None:
        """Ask how far history is read by now, by whatever process, while somebody looks."""
        history = self.cm.project.history
        if self.is_current and history is not None and history.head is not None and not history.complete:
            self.cm.lifecycle.refresh_history()

    def past_changed(self) -> None:
        """Mark where the application stands."""
        self.ribbon.standing = self.cm.past.moment
        self.ribbon.redraw()

    # --- the point ---

    @on(RibbonPanel.Came)
    def _came(self, event: RibbonPanel.Came) -> None:
        self.travelling.point = event.moment
        if event.moment is not None and event.moment.sha != self._noted:
            self._note = ""
        self._point_changed()

    def _point_changed(self) -> None:
        self.ribbon.mark = self.travelling.mark
        self.ribbon.redraw()
        self.query_one("#time-head", Static).update(head_text(self.point, self.travelling.mark))
        where = self.query_one("#time-where", Static)
        where.update(Content(one_line(self._note)))
        where.display = bool(self._note)
        self._forget("changes", "symbols")
        self.refresh_keys()

    @on(Ribbon.Chosen, "#ribbon")
    def _chosen(self) -> None:
        self.stand()

    @on(Ribbon.Marked)
    def _marked(self) -> None:
        self.flip_mark()

    def stand(self) -> None:
        """Show this moment everywhere."""
        if self.point is not None:
            self.post_message(OpenMoment(self.point, self._note))

    def flip_mark(self) -> None:
        """Mark the point, or take its mark away."""
        mark = self.travelling.mark
        same = mark is not None and self.point is not None and mark.sha == self.point.sha
        self.travelling.mark = None if same else self.point
        self._point_changed()

    def find(self) -> None:
        """Type to find a commit."""
        self._unzoom()
        self.line.letters.focus()

    def action_into_ribbon(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.line.letters:
            self.ribbon.focus()

    def action_escape(self) -> None:
        """Leave zoom, then the filter, then the mark."""
        if self.has_class("-zoomed"):
            self._unzoom()
        elif self.line.letters.value or self.focused is self.line.letters:
            self.line.clear()
        elif self.travelling.mark is not None:
            self.travelling.mark = None
            self._point_changed()
        else:
            self.ribbon.focus()

    # --- going to a name ---

    def go_to(self, value: str = "", wrong: str = "") -> None:
        """Ask for a name of a moment, and go there."""

        def named(answer: str | None) -> None:
            if answer is None or not answer.strip():
                return
            ref = answer.strip()
            self.ask(
                "resolve", lambda door: door.resolve(ref), self._arrive,
                lambda error: self.go_to(ref, f"{error.message} {error.hint}".strip()),
            )  # fmt: skip

        hint = "A branch, tag, sha or HEAD~20, an ordinal such as #3112, or a date such as 2021-03-04."
        self.app.push_screen(Prompt("Go to", value, hint, wrong=wrong), named)

    def _arrive(self, place: Place) -> None:
        self._note, self._noted = place.note, place.moment.sha
        self.travelling.point = place.moment
        self.line.go(place.moment)
        self._point_changed()
        self.ribbon.focus()

    def ask_since(self, value: str = "last", wrong: str = "") -> None:
        """Ask since when, and show what changed from then to HEAD."""

        def named(answer: str | None) -> None:
            if answer is None or not answer.strip():
                return
            ref = answer.strip()
            if ref == "last":
                self._since_last()
                return
            self.ask(
                "since", lambda door: door.resolve(ref), self._since,
                lambda error: self.ask_since(ref, f"{error.message} {error.hint}".strip()),
            )  # fmt: skip

        hint = "`last`: since you last looked. Or a branch, tag, sha, ordinal such as #3112, or a date."
        self.app.push_screen(Prompt("What changed since", value, hint, wrong=wrong), named)

    def _since_last(self) -> None:
        def got(drift: Drift) -> None:
            self._looked = drift.since
            if drift.since is None:
                self.cm.tell(" ".join(drift.notes) or "This is the first time you look; from now on it is remembered.")
            else:
                self._since(drift.since)

        if self._looked is not None:
            self._since(self._looked)
        else:
            self.ask("since", lambda door: door.drift("last", looked=True, limit=1), got)

    def _since(self, place: Place) -> None:
        history = self.cm.project.history
        if history is None or history.head is None:
            return
        if place.moment.sha == history.head.sha:
            self.cm.tell(f"Nothing was committed since: #{place.moment.ordinal:,} is HEAD.")
        self._note, self._noted = place.note, history.head.sha
        self.travelling.mark, self.travelling.point = place.moment, history.head
        self.line.go(history.head)
        self._point_changed()
        self.activate("changes")
        self.rows.focus()

    # --- the tabs ---

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.tabs.active = tab
        self._show_tab()
        self.remember()

    def next_tab(self) -> None:
        """The tab to the right."""
        self.activate(TABS[(TABS.index(self.tabs.active) + 1) % len(TABS)])

    def next_detail(self) -> None:
        """The next view of the symbol."""
        self.detail.turn()

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        self.rows.focus()
        self.activate(event.tab)

    def _forget(self, *tabs: str) -> None:
        for tab in tabs:
            self._pages.pop(tab, None)
            self.tabs.counts.pop(tab, None)
        if self.tabs.active in tabs:
            self._show_tab()
        self.tabs.refresh()

    def _show_tab(self) -> None:
        """Show what is known of the open tab, or ask for it."""
        tab = self.tabs.active
        if tab in self._pages:
            self._draw_tab()
        elif reason := self.cm.project.why_not_searchable:
            self._fill(tab, Filled((), reason))
        else:
            self.travelling.fill(tab)

    def _fill(self, tab: str, filled: Filled | None) -> None:
        if filled is None:
            self.tabs.counts.pop(tab, None)
            if tab == self.tabs.active:
                self._reading()
            return
        self._pages[tab] = filled
        self.tabs.counts[tab] = filled.total
        if tab == self.tabs.active:
            self._draw_tab()

    def _reading(self) -> None:
        """What is on screen stays until the answer is there, but says so."""
        self.query_one("#time-panel").border_subtitle = Content("reading…")
        if not self.rows.rows:
            self.rows.set_rows((), empty="Reading…")

    def _draw_tab(self) -> None:
        filled = self._pages[self.tabs.active]
        first = next((index for index, row in enumerate(filled.rows) if row.mark), 0)
        same = [row.name for row in filled.rows] == [row.name for row in self.rows.rows]
        self.rows.set_rows(filled.rows, cursor=self.rows.cursor if same else first, empty=filled.note)
        self.query_one("#time-panel").border_subtitle = Content(filled.note if filled.rows else "")
        if not filled.rows:
            self.query_one("#time-note", Static).update("")
            self.detail.show(None)
        self.tabs.refresh()
        self.refresh_keys()

    @on(TimeList.Highlighted, "#time-list")
    def _show_row(self, event: TimeList.Highlighted) -> None:
        row: TimeRow = event.row
        self.query_one("#time-note", Static).update(Content(row.note))
        self.detail.show(row)
        self.refresh_keys()

    @on(TimeList.Chosen, "#time-list")
    def _enter_row(self, event: TimeList.Chosen) -> None:
        row: TimeRow = event.row
        if row.moment is not None:
            self.line.go(row.moment)
        elif row.key and row.key.qualname:
            self.open_row()

    # --- symbols ---

    def show_life(self) -> None:
        """The life of the symbol under the cursor, else of a name."""
        row = self.row
        if self.tabs.active == "life" or row is None or row.key is None:
            self._ask_name(row.key.qualname if row and row.key else "")
        else:
            self.open_life(row.key)

    def _ask_name(self, value: str) -> None:
        def named(answer: str | None) -> None:
            if answer and answer.strip():
                self._show_life_of(answer.strip())

        hint = "A name or qualified name; it may be gone today."
        self.app.push_screen(Prompt("The life of which symbol", value, hint), named)

    def open_life(self, key: SymbolKey) -> None:
        """Show the life of a symbol; other modes lead here too."""
        self._show_life_of(key)

    def _show_life_of(self, subject: SymbolKey | str) -> None:
        self.travelling.subject = subject
        self._pages.pop("life", None)
        self.activate("life")
        self.rows.focus()

    def open_row(self) -> None:
        """Show the row's symbol in Symbols, at its moment."""
        row = self.row
        spot = (row.spot or row.before) if row else None
        if spot is not None:
            self._open(spot)

    def _open(self, spot: Spot) -> None:
        def go(place: Place) -> None:
            self.post_message(OpenMoment(place.moment, place.note))
            self.post_message(OpenSymbol(spot.key))

        at = spot.at
        if at is None:
            self.cm.go_to_now()
            self.post_message(OpenSymbol(spot.key))
        else:
            self.ask("open", lambda door: door.resolve(at), go)

    @on(RelationList.Chosen, "#time-relations")
    def _open_relation(self, event: RelationList.Chosen) -> None:
        row: Relation = event.row
        spot = self.detail.spot
        if row.path and row.key and spot:
            self._open(Spot(row.key, spot.at))

    # --- room ---

    def zoom(self) -> None:
        """The panel with the focus alone, and back."""
        if self.has_class("-zoomed"):
            self._unzoom()
            return
        here = next(
            (name for name in _PANELS if self.query_one(f"#{name}").has_pseudo_class("focus-within")), _PANELS[1]
        )
        self.add_class("-zoomed", f"-zoom-{here}")
        self.query_one(Split).apply()

    def _unzoom(self) -> None:
        self.remove_class("-zoomed", *(f"-zoom-{name}" for name in _PANELS))
        self.query_one(Split).apply()
