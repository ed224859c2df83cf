"""The list of files that are not indexed, and why."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from cm_tui.model import Page, SkippedFile
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count, elide_middle, fit, one_line


class SkippedList(RowList[SkippedFile]):
    """Reason and path."""

    def draw(self, row: SkippedFile, width: int) -> Content:
        """One file."""
        path = elide_middle(one_line(row.path), width - 26)
        return Content.assemble((fit(f" {row.reason}", 25), "$secondary"), (path, "$foreground"))


class SkippedScreen(ModalScreen[None]):
    """All of them, by reason."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,s,q", "close", "Close")]

    def __init__(self, page: Page[SkippedFile]) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        """A box with the list."""
        with Vertical(id="skipped-box") as box:
            box.border_title = Content(f" {count(self._page.total, 'file')} skipped ")
            box.border_subtitle = Content(" esc closes · index.include in config.toml includes files ")
            yield SkippedList(empty="No files were skipped.")

    def on_mount(self) -> None:
        """Fill the list."""
        rows = sorted(self._page.rows, key=lambda row: (row.reason, row.path))
        self.query_one(SkippedList).set_rows(rows)
        self.query_one(SkippedList).focus()

    def action_close(self) -> None:
        """Back to the mode."""
        self.dismiss()


def list_skipped(screen: ModeScreen) -> None:
    """List the files that are not indexed."""

    def got(page: Page[SkippedFile]) -> None:
        screen.app.push_screen(SkippedScreen(page))

    screen.ask("skipped", lambda engine: engine.skipped(), got)
