"""The question whether entries that came with a repository are trusted: a list of them, and the text of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.counts import count, noun
from cm_tui.model import Entry
from cm_tui.tui.screens.entry_text import EntryScreen
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.entry_trust import HeldEntries
    from cm_tui.tui.screens.app_services import AppServices

MOST = 200
"""Most entries trusted at once: more could not be read."""


class HeldList(RowList[Entry]):
    """Entries with a mark at those that are chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]
    chosen: frozenset[str] = frozenset()

    def draw(self, row: Entry, width: int) -> Content:
        """Mark, category, title, and how the text begins."""
        title = " ".join(one_line(row.title[:200]).split())
        text = " ".join(one_line(row.content[:400]).split())
        room = width - 14
        title = elide_end(title, max(8, room // 2))
        rest = "" if text.startswith(title.rstrip("…")) and len(title) >= len(text) else text
        return Content.assemble(
            ("▪ " if row.id in self.chosen else "  ", "$accent"), (f"{row.category:<11} ", "$secondary"),
            (title, "bold"), "  ", (elide_end(rest, max(0, room - len(title) - 2)), "$muted"),
        )  # fmt: skip


class EntryTrustQuestion(ModalScreen["tuple[str, HeldEntries]"]):
    """Shows the entries that wait, and asks what becomes of them.

    No single key trusts, so that typing while the question appears does not answer it.

    Args:
        held: the entries that wait, and how many were trusted before.
        cm: the application.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "later", "Not now"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("v", "text", show=False),
        Binding("m", "mark", show=False),
    ]

    def __init__(self, held: HeldEntries, cm: AppServices) -> None:
        super().__init__()
        self._held = held
        self._cm = cm
        self._chosen: set[str] = set()

    def compose(self) -> ComposeResult:
        """What waits, and the answers."""
        held = self._held
        with Vertical(id="held-box") as box:
            box.border_title = "Entries of this repository"
            yield Static(Content(question(held)), id="held-text", markup=False)
            if held.entries:
                yield HeldList(id="held-list")
                yield Static(Content.styled("v shows the text · m marks one", "$muted"), id="held-hint")
            with Horizontal(id="held-buttons"):
                yield Button(Content("Not now (esc)"), id="later", variant="primary")
                if held.trusted:
                    yield Button(Content("Take trust back"), id="revoked")
                if held.entries:
                    yield Button(Content("Leave out"), id="refused")
                    yield Button(Content(""), id="trusted")

    def on_mount(self) -> None:
        """Begin at the answer that changes nothing."""
        if self._held.entries:
            self._rows.set_rows(self._held.entries)
            self._show_chosen()
        self.query_one("#later", Button).focus()

    @property
    def _rows(self) -> HeldList:
        return self.query_one(HeldList)

    def _show_chosen(self) -> None:
        many, chosen = len(self._held.entries), len(self._chosen)
        button = self.query_one("#trusted", Button)
        button.label = Content(
            f"Trust {chosen:,} marked" if chosen else "Trust it" if many == 1 else f"Trust all {many:,}"
        )
        button.disabled = (chosen or many) > MOST
        self._rows.chosen = frozenset(self._chosen)
        self._rows.redraw()

    # --- the list ---

    def action_move(self, by: int) -> None:
        """Move the cursor of the list, wherever the focus is."""
        if self._held.entries:
            self._rows.cursor += by

    def action_text(self) -> None:
        """Show the entry under the cursor whole."""
        if self._held.entries and self._rows.current is not None:
            self.app.push_screen(EntryScreen(self._rows.current, self._cm))

    def action_mark(self) -> None:
        """Mark the entry under the cursor, or not any more: of what is marked alone is it asked."""
        if self._held.entries and self._rows.current is not None:
            self._chosen ^= {self._rows.current.id}
            self._show_chosen()
            self._rows.cursor += 1

    @on(HeldList.Chosen)
    def _enter(self, event: HeldList.Chosen) -> None:
        event.stop()
        self.action_text()

    # --- the answer ---

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss((event.button.id or "later", self._meant()))

    def _meant(self) -> HeldEntries:
        """Return what is marked, or everything where nothing is."""
        if not self._chosen:
            return self._held
        return replace(self._held, entries=tuple(one for one in self._held.entries if one.id in self._chosen))

    def action_later(self) -> None:
        """Decide nothing."""
        self.dismiss(("later", self._held))


def question(held: HeldEntries) -> str:
    """Return what is asked, in words."""
    number, file = len(held.entries), one_line(held.file.removeprefix(f"{held.root}/"))
    known = f"You trusted {count(held.trusted, 'entry', 'entries')} of it before." if held.trusted else ""
    if not number:
        return f"{known}\n\nIts file is {file}. Without trust they are in no answer."
    said = "You left them out. " if held.state == "refused" else ""
    they, them = noun(number, "it", "they"), noun(number, "it", "them")
    many = f"More than {MOST:,} are not trusted at once: mark what you read.\n" if number > MOST else ""
    return (
        f"{count(number, 'entry', 'entries')} of {file} came with it, and {noun(number, 'is', 'are')} in no answer, to you or to "
        f"agents, until you trust {them}. {said}{known}\n\nTrusted, {they} may be taken for your own words by agents. Read {them} first.\n{many}"
    ).rstrip()
