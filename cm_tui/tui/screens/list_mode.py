"""What modes with a filter line have in common: the line, the list below it, and the way back from the panel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.undo import undo_earlier
from cm_tui.tui.state.filter_line import following, with_field
from cm_tui.tui.tasks.ask import Listing
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import one_line

TYPING = 0.12
"""Seconds without a key after which letters are looked for."""


class InputMode(ModeScreen):
    """An input above a list: Down and Enter go into the list where it has rows, Escape leads back step by step."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "escape"), ("down", "into_list")]

    @property
    @abstractmethod
    def list_shown(self) -> RowList[Any]:
        """The list that is on screen."""

    @property
    @abstractmethod
    def filter_input(self) -> Input:
        """Where the filter is typed."""

    @abstractmethod
    def leave(self) -> None:
        """Take the next step back."""

    def show_row(self) -> None:
        """For a mode to override: show what the cursor of the list on screen is on."""

    @on(RowList.Highlighted)
    def _came_to_row(self, event: RowList.Highlighted) -> None:
        if event.rows is self.list_shown:
            self.show_row()
            self.refresh_keys()

    @on(Input.Submitted)
    def _line_entered(self) -> None:
        # A handler that a mode overrides would be called as it is here.
        self.action_into_list()

    def action_into_list(self) -> None:
        """Go from an input into the list; where that is empty, letters typed on are still for the input."""
        if isinstance(self.focused, Input) and self.list_shown.rows:
            self.list_shown.focus()

    def action_escape(self) -> None:
        """Leave zoom, else take the next step back."""
        if self.has_class("-zoomed"):
            self.unzoom()
        else:
            self.leave()


class ListMode(InputMode):
    """A filter line, a list, and a panel for the row under the cursor.

    A mode declares the ids in `FILTER` and `PROBLEM`, and overrides what is abstract, and `step_back` where Escape leads
    through more than the panel and the filter.
    """

    FILTER: ClassVar[str] = ""
    """Id of the input."""
    PROBLEM: ClassVar[str] = ""
    """Id of the widget below it."""
    UNDOES_EARLIER = True

    # --- for a mode to give ---

    @property
    @abstractmethod
    def text_shown(self) -> Widget:
        """The lines about the row under the cursor."""

    @abstractmethod
    def refresh_rows(self, *, delay: float = 0.0) -> None:
        """Request the rows that match the filter line."""

    @abstractmethod
    def reload(self) -> None:
        """Request the same rows again."""

    def step_back(self) -> bool:
        """Leave a state of the mode on Escape; False if it is in none."""
        return False

    # --- the filter ---

    @on(events.DescendantFocus)
    def _offer_keys(self, event: events.DescendantFocus) -> None:
        self.list_shown.is_filter_focused = event.widget is self.filter_input

    @property
    def filter_input(self) -> Input:
        """Where the filter is typed."""
        return self.query_one(f"#{self.FILTER}", Input)

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        if event.input is self.filter_input:
            event.stop()
            self.refresh_rows(delay=TYPING if self.focused is self.filter_input else 0.0)
            self.remember()

    def fill_filter(self, line: str) -> str:
        """Write a line into the filter without asking for it, and return it."""
        with self.prevent(Input.Changed):
            self.filter_input.value = line
        return line

    def keep(self) -> None:
        """The filter."""
        super().keep()
        self.choices.update(filter=self.filter_input.value)

    def say_problem(self, *lines: str) -> None:
        """Show the problems of the filter, and warnings."""
        self.show_words(self.PROBLEM, "\n".join(filter(None, lines)))

    def show_failure_in(self, rows: RowList[Any], error: CmError, *, is_read: bool) -> None:
        """Show why nothing can be read; rows that were read stay."""
        if is_read:
            self.cm.tell_error(error)
        else:
            rows.set_rows((), empty=one_line(f"✖ {error.one_line}"))
            self.refresh_keys()

    @property
    def no_matches(self) -> str:
        """The words for an empty list where the filter is why; empty where it is not."""
        text = self.filter_input.value.strip()
        return f"No matches for {one_line(text)}." if text else ""

    # --- what is written meanwhile ---

    @on(events.ScreenResume)
    def _entered(self) -> None:
        self.poll(at_once=True)

    def poll(self, *, at_once: bool = False) -> None:
        """Look whether something was written meanwhile, while the mode is on screen."""
        if self.is_current:
            self.look(at_once=at_once)

    def look(self, *, at_once: bool) -> None:
        """For a mode to override: ask whether something was written, where it is time to or `at_once`."""

    # --- undo ---

    def undo_earlier(self) -> None:
        """Undo the user's last change of the project."""
        undo_earlier(self)

    def show_undone(self) -> None:
        """List what there is now."""
        self.reload()

    # --- back ---

    def leave(self) -> None:
        """Leave the input or the panel, then a state of the mode, then the filter."""
        if isinstance(self.focused, Input) or self.focused is self.text_shown:
            self.list_shown.focus()
        elif self.step_back():
            return
        elif self.filter_input.value:
            self.filter_input.value = ""
        else:
            self.list_shown.focus()


L = TypeVar("L", bound=Listing[Any, Any])


class ListingMode(ListMode, Generic[L]):
    """A list of what fits the filter, which is read again with each change of the project.

    A mode makes its `stock`, and gives the list in `stock_list`.
    """

    stock: L
    _wrong = ""
    """What is wrong with the line of the filter."""
    _news = -1

    @property
    @abstractmethod
    def stock_list(self) -> RowList[Any]:
        """The list of what fits."""

    @abstractmethod
    def read_line(self, text: str) -> tuple[Any, str]:
        """Parse a filter line; return the filter and the problems."""

    def on_mount(self) -> None:
        """Restore the filter of the last run."""
        self.stock.where, self._wrong = self.read_line(self.fill_filter(self.kept("filter", "")))
        self.list_shown.focus()

    def project_changed(self) -> None:
        """Load the list once the engine is open, and after each change."""
        view = self.cm.project
        if view.engine != "open":
            if self.stock.found is None:
                self.stock_list.say(view.why_not_searchable or "Opening the project…")
        elif self._news != view.index_news:
            self._news = view.index_news
            self.index_changed()
        self.refresh_keys()

    def index_changed(self) -> None:
        """Request the rows: the index is another one."""
        self.reload()

    def refresh_rows(self, *, delay: float = 0.0) -> None:
        """Ask for what the line of the filter leaves."""
        where, self._wrong = self.read_line(self.filter_input.value)
        self.say_notes()
        self.stock.filter_by(where, delay=delay)

    def reload(self, *, delay: float = 0.0) -> None:
        """Request the same rows again."""
        self.stock.read(delay=delay)

    def say_notes(self) -> None:
        """Show the filter's problems and the list's warnings."""
        self.say_problem(self._wrong, *(self.stock.found.notes if self.stock.found else ()))

    def show_failure(self, error: CmError) -> None:
        """Show why the rows cannot be read."""
        self.show_failure_in(self.stock_list, error, is_read=self.stock.found is not None)


def next_value(field: str, turn: Sequence[str]) -> Callable[[Any], None]:
    """Make the function of a command that filters by the values of a field in turn; the first one is not written."""

    def command(screen: Any) -> None:
        value = following(getattr(screen.stock.where, field), turn)
        text = with_field(screen.filter_input.value, field, "" if value == turn[0] else value)
        screen.filter_input.value = text

    return command


def find(screen: InputMode) -> None:
    """Type what is looked for."""
    screen.unzoom()
    screen.filter_input.focus()
