"""A dialog in which a text is written: nothing of it is lost while it could not be stored."""

from __future__ import annotations

import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar, cast, get_args

from textual import events, getters
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, TextArea

from cm_tui.errors import CmError
from cm_tui.files import write_atomically
from cm_tui.model import Category, Scope
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.terminal.editor import edit_over
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import elide_end, one_line


class Choice(Widget, can_focus=True):
    """Words side by side, of which one counts.

    Args:
        label: what is chosen.
        options: values, and the words for each.
        value: the one that counts at first.
    """

    DEFAULT_CSS = """
    Choice { height: 1; padding: 0 1; color: $soft; }
    Choice:focus { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("left,h", "move(-1)"), ("right,l,space", "move(1)")]

    def __init__(
        self,
        label: str,
        options: Sequence[tuple[str, str]],
        value: str,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._options = options
        self.value = value

    def render(self) -> Content:
        """The label, and all words with the one that counts marked."""
        pieces = [Content.styled(f"{self._label:<9}", "$muted")]
        for value, words in self._options:
            chosen = value == self.value
            style = "bold $block-cursor-foreground on $block-cursor-background" if chosen else "$soft"
            pieces.append(Content.styled(f" {words} ", style).stylize(Style.from_meta({"value": value})))
        return Content.assemble(*pieces)

    def action_move(self, by: int) -> None:
        """Choose the next one, or the one before."""
        values = [value for value, _ in self._options]
        self.value = values[(values.index(self.value) + by) % len(values)]
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked on."""
        if value := event.style.meta.get("value"):
            self.value = value
            self.refresh()


V = TypeVar("V")
Answer = Callable[[str], None]
"""Takes what is wrong with what was written; empty: it is stored."""
Submit = Callable[[V, Answer], None]
"""Stores what was written, and says later what came of it."""
_TITLE = 70


_KEYS = " ctrl+s saves · esc cancels "


def words_of_error(error: CmError) -> str:
    """Return an error and what to do about it, in one line."""
    return one_line(error.one_line)


class WritingScreen(ModalScreen[None], Generic[V]):
    """Fields, a text below them, and what is wrong with either.

    Args:
        title: what is written.
        text: what stands there already.
        submit: stores it; the dialog stays until that is done.
        hint: said below the text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", show=False, priority=True), ("escape", "leave")]

    def __init__(self, title: str, text: str, submit: Submit[V], hint: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._submit = submit
        self._hint = hint
        self._began: V | None = None
        self._is_waiting = False

    def compose(self) -> ComposeResult:
        """Fields, text, hint."""
        with Vertical(classes="writing-box") as box:
            box.border_title = Content(f" {elide_end(one_line(self._title), _TITLE)} ")
            box.border_subtitle = Content(_KEYS)
            yield from self.fields()
            yield TextArea(self._text, id="writing-text", soft_wrap=True, show_line_numbers=False)
            yield Words(Content(self._hint), id="writing-hint")

    def fields(self) -> Iterable[Widget]:
        """For a subclass to give: what stands above the text."""
        return ()

    @abstractmethod
    def value(self) -> V:
        """Return what was written."""

    def wrong(self, value: V) -> str:  # noqa: ARG002 - for a subclass to look at
        """Return what is wrong with it, as far as that can be known here; empty: nothing."""
        return ""

    def on_mount(self) -> None:
        """Begin to write where nothing stands yet."""
        self._began = self.value()
        self.query_one(TextArea).focus()

    area = getters.query_one(TextArea)

    # --- the end ---

    def action_save(self) -> None:
        """Store it, and close once that is done."""
        value = self.value()
        if self._is_waiting:
            return
        if wrong := self.wrong(value):
            self.say(wrong)
            return
        self._wait(True)
        self._submit(value, self._answered)

    def _wait(self, is_waiting: bool) -> None:
        self._is_waiting = is_waiting
        self.query_one(".writing-box").border_subtitle = Content(" ◐ Saving… " if is_waiting else _KEYS)

    def _answered(self, wrong: str) -> None:
        if not self.is_attached:
            return
        self._wait(False)
        if wrong:
            self.say(wrong)
        else:
            self.dismiss()

    def say(self, wrong: str) -> None:
        """Show what is wrong."""
        hint = self.query_one("#writing-hint", Words)
        hint.update(Content(wrong))
        hint.add_class("-wrong")

    def action_leave(self) -> None:
        """Close."""
        self.leave_for(self.dismiss)

    def leave_for(self, then: Callable[[], object]) -> None:
        """Do what ends the dialog; what was written is thrown away after a question alone."""
        if self._is_waiting:
            return
        if self.value() == self._began:
            then()
        else:
            confirm(self, "Discard your text?", "Discard", then)


def _field(label: str, line: Input) -> Horizontal:
    """Return an input with its label."""
    line.compact = True
    words = Words(Content.styled(f"{label:<10}", "$muted"), classes="writing-label")
    return Horizontal(words, line, classes="writing-field")


_SCOPES = (("project", "this project"), ("user", "all projects"))


@dataclass(frozen=True)
class EntryDraft:
    """An entry as it is to be."""

    content: str = ""
    title: str = ""
    category: Category = "Knowledge"
    scope: Scope = "project"
    keywords: tuple[str, ...] = ()


class EntryDialog(WritingScreen[EntryDraft]):
    """Asks for an entry.

    Args:
        title: what is done with it.
        draft: what stands there already.
        submit: stores it.
    """

    def __init__(self, title: str, draft: EntryDraft, submit: Submit[EntryDraft]) -> None:
        super().__init__(title, draft.content, submit, "Empty title and keywords are taken from the text.")
        self._draft = draft

    def fields(self) -> Iterable[Widget]:
        """Everything but the text."""
        draft = self._draft
        yield Choice("category", [(one, one) for one in get_args(Category)], draft.category, id="entry-category")
        yield Choice("scope", _SCOPES, draft.scope, id="entry-scope")
        yield _field("title", Input(draft.title, placeholder="the first line of the text", id="entry-title"))
        words = Input(", ".join(draft.keywords), placeholder="separated by commas", id="entry-keywords")
        yield _field("keywords", words)

    def value(self) -> EntryDraft:
        """Return the entry."""
        words = self.query_one("#entry-keywords", Input).value.split(",")
        return EntryDraft(
            self.area.text.strip(),
            self.query_one("#entry-title", Input).value.strip(),
            cast("Category", self.query_one("#entry-category", Choice).value),
            cast("Scope", self.query_one("#entry-scope", Choice).value),
            tuple(dict.fromkeys(" ".join(word.split()) for word in words if word.strip())),
        )

    def wrong(self, value: EntryDraft) -> str:
        """Return what is wrong with it."""
        return "" if value.content else "Nothing to save yet."


@dataclass(frozen=True)
class NoteDraft:
    """What is to be written at the end of a note."""

    name: str
    """Of the note; empty: the log of today."""
    text: str


class NoteDialog(WritingScreen[NoteDraft]):
    """Asks what is to be written, and where to.

    Args:
        name: of the note that is suggested.
        text: what stands there already.
        submit: stores it.
    """

    def __init__(self, name: str, text: str, submit: Submit[NoteDraft]) -> None:
        super().__init__(
            "Append to a note", text, submit,
            "To: empty for today's log, `router` for a topic, `user:style.md` for your own note.",
        )  # fmt: skip
        self._note_name = name

    def fields(self) -> Iterable[Widget]:
        """The note."""
        yield _field("to", Input(self._note_name, placeholder="today's log", id="note-name"))

    def value(self) -> NoteDraft:
        """Return what was written."""
        return NoteDraft(self.query_one("#note-name", Input).value.strip(), self.area.text)

    def wrong(self, value: NoteDraft) -> str:
        """Return what is wrong with it."""
        return "" if value.text.strip() else "Nothing to save yet."


def edited_outside(screen: ModeScreen, name: str, text: str, otherwise: str) -> tuple[str, Path] | None:
    """Have a text changed in the user's own editor, through a file in a folder of its own.

    Args:
        screen: the mode.
        name: of the file.
        text: as it is.
        otherwise: the message where the editor left nothing new.

    Returns:
        The text and its file, whose folder the caller removes; None where nothing came of it.
    """
    folder = Path(tempfile.mkdtemp(prefix="cm-edit-"))
    file = folder / f"{one_line(name)}.md"
    try:
        write_atomically(file, f"{text}\n".encode())
        edit_over(screen.app, folder, file.name, 1)
        changed = file.read_text(encoding="utf-8").strip()
        screen.app.refresh()
        if changed not in {"", text.strip()}:
            return changed, file
        screen.cm.tell(f"No changes in the editor: {otherwise}.")
    except (CmError, OSError, UnicodeDecodeError) as error:
        screen.cm.tell_error(error if isinstance(error, CmError) else CmError(f"Cannot read the edited text: {error}"))
    shutil.rmtree(folder, ignore_errors=True)
    return None
