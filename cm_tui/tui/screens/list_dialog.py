"""A list in a box over a mode, of which one row can be chosen; typed words narrow it down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.tui.widgets.rowlist import RowList

R = TypeVar("R")


class ListDialog(ModalScreen[Callable[[], object]], Generic[R]):
    """Shows rows; what follows from the choice runs once the dialog is closed. Shown by `question.ask`.

    Args:
        title: of the box.
        hint: at its lower border: what the keys do.
        rows: what is listed.
        draw: draws one row in a width, or the list to show.
        then: gets the row that is chosen; None: there is nothing to choose.
        empty: said when nothing is listed.
        close: keys that close, besides escape.
        choose: keys that choose, besides enter.
        cursor: place of the row that the cursor is on at first.
        words: text of a row, which has to have every typed word; None: there is no input.
        placeholder: said in the empty input.
        typed: makes a row of typed text where no row has it.
        refused: why a row cannot be chosen; empty: it can.
        look: a class of the style sheet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]

    def __init__(
        self, title: str, hint: str, rows: Sequence[R], draw: Callable[[R, int], Content] | RowList[R],
        then: Callable[[R], object] | None = None, *, empty: str = "", close: str = "", choose: str = "", cursor: int = 0,
        words: Callable[[R], str] | None = None, placeholder: str = "", typed: Callable[[str], R] | None = None,
        refused: Callable[[R], str] = lambda _: "", look: str = "",
    ) -> None:  # fmt: skip
        super().__init__(classes=look)
        self._title, self._hint = title, hint
        self._rows, self._cursor, self._empty, self._then = rows, cursor, empty, then
        self._words, self._placeholder, self._typed, self._refused = words, placeholder, typed, refused
        self.list = draw if isinstance(draw, RowList) else RowList(draw=draw, id="dialog-list")
        for keys, action in ((close, "close"), (choose, "choose")):
            if keys:
                self._bindings.bind(keys, action, show=False)

    def compose(self) -> ComposeResult:
        """Input, list, note."""
        with Vertical(classes="list-box") as box:
            box.border_title, box.border_subtitle = Content(self._title), Content(self._hint)
            if self._words is not None:
                yield Input(placeholder=self._placeholder, id="dialog-words", compact=True)
            yield from self.above()
            yield self.list
            yield from self.below()
            yield Static(id="dialog-note", markup=False)

    def above(self) -> Iterable[Widget]:
        """For a subclass to give: what is above the list."""
        return ()

    def below(self) -> Iterable[Widget]:
        """For a subclass to give: what is below it."""
        return ()

    def on_mount(self) -> None:
        """Fill the list; a subclass overrides `opened`, for Textual calls the `on_mount` of each class, this one last."""
        self.list.set_rows(self._rows, cursor=self._cursor, empty=self._empty)
        (self.list if self._words is None else self.query_one(Input)).focus()
        self.opened()

    def opened(self) -> None:
        """For a subclass: what follows once the list is filled."""

    @on(Input.Changed, "#dialog-words")
    def _changed(self, event: Input.Changed) -> None:
        self.narrow(event.value.strip())

    def narrow(self, text: str) -> None:
        """List what has every word."""
        rows, words_of = self._rows, self._words
        if words_of is not None:
            rows = [row for row in rows if all(word in words_of(row).casefold() for word in text.casefold().split())]
        self.list.set_rows(rows, empty=f"⏎ takes {text}" if self._typed is not None else self._empty)

    # --- the choice ---

    @on(Input.Submitted, "#dialog-words")
    def _submitted(self, event: Input.Submitted) -> None:
        self.submit(event.value.strip())

    def submit(self, text: str) -> None:
        """Choose the row under the cursor, or what was typed."""
        if self.list.current is not None:
            self.choose(self.list.current)
        elif self._typed is not None and text:
            self.choose(self._typed(text))

    @on(RowList.Chosen)
    def _chosen(self, event: RowList.Chosen) -> None:
        self.choose(event.row)

    def choose(self, row: R) -> None:
        """Choose a row, unless there is a reason against it."""
        if reason := self._refused(row):
            self.note(reason)
        elif self._then is not None:
            self.dismiss(partial(self._then, row))

    def note(self, words: Content | str) -> None:
        """Say something below the list."""
        note = self.query_one("#dialog-note", Static)
        note.update(Content(words) if isinstance(words, str) else words)
        note.display = True

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.list.action_choose()

    def action_move(self, by: int) -> None:
        """Move the cursor, whatever has the focus."""
        self.list.cursor += by

    def action_close(self) -> None:
        """Choose nothing."""
        self.dismiss(None)
