"""One modal question: a text, answers by button or key with what follows from each, or a line of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input

from cm_tui import model
from cm_tui.model.text import harmless
from cm_tui.tui.screens.commands import key_name
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Words


def _do_nothing() -> None:
    """Leave everything as it is."""


@dataclass(frozen=True)
class Option:
    """An answer: its button, its keys, and what follows from it."""

    label: str
    """Empty: there is no button."""
    keys: str = ""
    """With commas between them, the first one is written on the button; empty: no single key gives this answer."""
    then: Callable[[], object] = _do_nothing
    disabled: bool = False

    @property
    def words(self) -> str:
        """What the button says."""
        first = self.keys.partition(",")[0]
        return f"{self.label} ({key_name(first)})" if first else self.label


@dataclass(frozen=True)
class Line:
    """A line of text that is asked for."""

    then: Callable[[str], object]
    value: str = ""
    hint: str = ""
    check: Callable[[str], str | None] = lambda _: None
    """Returns what is wrong with an answer, or None."""
    wrong: str = ""
    """What was wrong with the previous answer."""
    adds: bool = False
    """What is typed comes behind the value; else it replaces the value."""


class Question(ModalScreen[Callable[[], object]]):
    """Asks over a mode; what follows from the answer runs once the question is closed.

    Args:
        text: the question with its consequences.
        options: the answers.
        title: of the box.
        subtitle: at the lower border of the box.
        detail: the whole text in question, which scrolls.
        body: more widgets above the answers.
        line: a line of text to ask for.
        look: a class of the style sheet: `large`, `sides` or `line`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # No letters: a query that is typed while a question appears must not choose its answer.
        ("left", "app.focus_previous"),
        ("right", "app.focus_next"),
        ("up,k", "scroll(-1)"),
        ("down,j", "scroll(1)"),
        ("pageup", "scroll(-10)"),
        ("pagedown,space", "scroll(10)"),
    ]

    def __init__(
        self, text: str, options: Sequence[Option], *, title: str = "", subtitle: str = "", detail: str = "",
        body: Iterable[Widget] = (), line: Line | None = None, look: str = "",
    ) -> None:  # fmt: skip
        super().__init__(classes=look)
        self._text, self._detail, self._body, self._line = text, detail, body, line
        self._title, self._subtitle = title, subtitle
        self._options = options
        for place, option in enumerate(options):
            if option.keys:
                self._bindings.bind(option.keys, f"answer({place})", option.label)

    def compose(self) -> ComposeResult:
        """Text, detail, body, line, buttons."""
        with Vertical(classes="question-box") as box:
            box.border_title, box.border_subtitle = Content(self._title), Content(self._subtitle)
            if self._text:
                yield Words(Content(harmless(self._text)), classes="question-text")
            if self._detail:
                with VerticalScroll(classes="question-detail", can_focus=False):
                    yield Words(Content(harmless(self._detail)))
            yield from self._body
            if self._line is not None:
                yield Input(self._line.value, select_on_focus=not self._line.adds)
                yield Words(Content(self._line.hint), id="prompt-hint")
            if any(option.label for option in self._options):
                with Horizontal(classes="question-buttons"):
                    for place, option in enumerate(self._options):
                        variant: Literal["default", "primary"] = "default" if place else "primary"
                        yield Button(Content(option.words), variant, disabled=option.disabled)

    def on_mount(self) -> None:
        """Begin at the line, or at the answer that Enter takes."""
        if self._line is None:
            self.query("Button, Page").first().focus()
        elif self._line.wrong:
            self._reject(self._line.wrong)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer of the button."""
        self.action_answer([*self.query(Button)].index(event.button))

    def action_answer(self, place: int) -> None:
        """Give an answer by its place."""
        self.dismiss(self._options[place].then)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the line as the answer, unless something is wrong with it."""
        line, value = self._line, event.value
        if line is not None:
            wrong = line.check(value)
            if wrong is None:
                self.dismiss(lambda: line.then(value))
            else:
                self._reject(wrong)

    def _reject(self, wrong: str) -> None:
        hint = self.query_one("#prompt-hint", Words)
        hint.update(Content(wrong))
        hint.add_class("-wrong")

    def action_scroll(self, lines: int) -> None:
        """Scroll the detail."""
        for detail in self.query(".question-detail"):
            detail.scroll_relative(y=lines, animate=False)


def side_by_side(*sides: tuple[str, Widget | Sequence[Widget]]) -> list[Widget]:
    """Return titled panels next to each other, for the body of a question."""
    panels = []
    for title, inside in sides:
        panel = Vertical(*([inside] if isinstance(inside, Widget) else inside), classes="panel")
        panel.border_title = Content(title)
        panels.append(panel)
    return [Horizontal(*panels, classes="question-sides")]


class Host(Protocol):
    """A screen, a widget or the application: what a dialog opens over."""

    @property
    def app(self) -> App[Any]:
        """The application."""


def ask(host: Host, question: ModalScreen[Callable[[], object]]) -> None:
    """Show a question or a list, and do what follows; `host` is the application, or a mode or dialog of it."""
    host.app.push_screen(question, lambda then: then() if then is not None else None)


def confirm(
    host: Host, text: str, yes: str, then: Callable[[], object], *, no: Callable[[], object] = _do_nothing,
    others: Sequence[Option] = (), detail: str = "",
) -> None:  # fmt: skip
    """Ask before something that takes long or is hard to undo; `yes` is the label of the button that does it."""
    ask(host, Question(text, [Option(yes, "y", then), *others, Option("Cancel", "n,escape", no)], detail=detail))


def rule_text(entry: model.Entry) -> str:
    """Return what agents get of an entry: its title unless the content repeats it, and the content."""
    return entry.content if entry.title in entry.content else f"{entry.title}\n{entry.content}"


def confirm_rule(host: Host, rule: str, scope: str, yes: str, then: Callable[[], object]) -> None:
    """Show the whole text of a Rule before agents get it as an instruction."""
    where = "all your projects" if scope == "user" else "this project"
    confirm(host, f"Let agents follow this Rule in {where}? u undoes it.", yes, then, detail=rule)


def ask_line(host: Host, title: str, line: Line) -> None:
    """Ask for a line of text."""
    subtitle = " enter accepts · esc closes "
    ask(host, Question("", [Option("", "escape")], title=f" {title} ", subtitle=subtitle, line=line, look="line"))


def confirm_by_word(
    host: Host, text: str, yes: str, word: str, title: str, hint: str, then: Callable[[], object]
) -> None:
    """Ask twice before something that nothing undoes: the second time, a word has to be typed."""

    def check(typed: str) -> str | None:
        return None if typed.strip().lower() == word else f"Type `{word}`, or cancel with esc."

    line = Line(lambda _: then(), hint=hint, check=check)
    confirm(host, text, yes, lambda: ask_line(host, title, line))


R = TypeVar("R")


@dataclass(frozen=True)
class Finder(Generic[R]):
    """The input of a list, whose words narrow it down."""

    words: Callable[[R], str]
    """Text of a row, which has to have every typed word."""
    placeholder: str
    typed: Callable[[str], R] | None = None
    """Makes a row of typed text where no row has it."""


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
        finder: the input above the list; None: no input.
        refused: why a row cannot be chosen; empty: it can.
        look: a class of the style sheet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "close"), ("down", "move(1)"), ("up", "move(-1)")]

    def __init__(
        self, title: str, hint: str, rows: Sequence[R], draw: Callable[[R, int], Content] | RowList[R],
        then: Callable[[R], object] | None = None, *, empty: str = "", close: str = "", choose: str = "",
        finder: Finder[R] | None = None, refused: Callable[[R], str] = lambda _: "", look: str = "",
    ) -> None:  # fmt: skip
        super().__init__(classes=look)
        self._title, self._hint = title, hint
        self._rows, self._empty, self._then = rows, empty, then
        self._finder, self._refused = finder, refused
        self.list = draw if isinstance(draw, RowList) else RowList(draw=draw, id="dialog-list")
        for keys, action in ((close, "close"), (choose, "choose")):
            if keys:
                self._bindings.bind(keys, action, show=False)

    def compose(self) -> ComposeResult:
        """Input, list, note."""
        with Vertical(classes="list-box") as box:
            box.border_title, box.border_subtitle = Content(self._title), Content(self._hint)
            if self._finder is not None:
                yield Input(placeholder=self._finder.placeholder, id="dialog-words", compact=True)
            yield from self.above()
            yield self.list
            yield from self.below()
            yield Words(id="dialog-note")

    def above(self) -> Iterable[Widget]:
        """For a subclass to give: what is above the list."""
        return ()

    def below(self) -> Iterable[Widget]:
        """For a subclass to give: what is below it."""
        return ()

    def on_mount(self) -> None:
        """Fill the list; a subclass overrides `opened`, for Textual calls the `on_mount` of each class, this one last."""
        self.list.set_rows(self._rows, cursor=self.list.cursor, empty=self._empty)
        (self.list if self._finder is None else self.query_one(Input)).focus()
        self.opened()

    def opened(self) -> None:
        """For a subclass: what follows once the list is filled."""

    @on(Input.Changed, "#dialog-words")
    def _changed(self, event: Input.Changed) -> None:
        self.narrow(event.value.strip())

    def narrow(self, text: str) -> None:
        """List what has every word."""
        rows, finder = self._rows, self._finder
        if finder is not None:
            rows = [
                row for row in rows if all(word in finder.words(row).casefold() for word in text.casefold().split())
            ]
        self.list.set_rows(rows, empty=f"⏎ Use {text}" if finder is not None and finder.typed else self._empty)

    # --- the choice ---

    @on(Input.Submitted, "#dialog-words")
    def _submitted(self, event: Input.Submitted) -> None:
        self.submit(event.value.strip())

    def submit(self, text: str) -> None:
        """Choose the row under the cursor, or what was typed."""
        if self.list.current is not None:
            self.choose(self.list.current)
        elif self._finder is not None and self._finder.typed is not None and text:
            self.choose(self._finder.typed(text))

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
        """Show words below the list."""
        note = self.query_one("#dialog-note", Words)
        note.update(Content(words) if isinstance(words, str) else words)
        note.display = True

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.list.action_choose()

    def action_move(self, by: int) -> None:
        """Move the cursor, whatever has the focus."""
        self.list.cursor += by

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
