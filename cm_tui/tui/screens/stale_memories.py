"""The list of what is remembered and names code that is gone, and what becomes of each: fixed, confirmed or archived."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from cm_tui.model import MemoryChange, Page, StaleItem
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count, elide_end, fit, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_COLOURS = {"gone": "$error", "renamed": "$warning", "moved": "$warning"}


class StaleList(RowList[StaleItem]):
    """Kind, state, title, and the worst of the names."""

    def draw(self, row: StaleItem, width: int) -> Content:
        """One item."""
        flagged = row.flagged
        state = flagged[0].state if flagged else ""
        title = elide_end(" ".join(one_line(row.title).split()), max(12, (width - 20) // 3))
        room = max(0, width - 20 - len(title))
        return Content.assemble(
            (fit(f" {row.kind}", 9), "$secondary"), (fit(state, 9), _COLOURS.get(state, "$muted")), (title, "bold"), "  ",
            (elide_end(one_line(row.words), room), "$soft"),
        )  # fmt: skip


class StaleScreen(ModalScreen[None]):
    """What is stale, with keys for each item.

    Args:
        mode: asks the engine.
        page: what is stale.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,t,q", "close", "Close"),
        Binding("f", "fix", "Fix"),
        Binding("c", "confirm", "Confirm"),
        Binding("a", "archive", "Archive"),
    ]

    def __init__(self, mode: ModeScreen, page: Page[StaleItem]) -> None:
        super().__init__()
        self._mode = mode
        self._page = page

    def compose(self) -> ComposeResult:
        """A box with the list."""
        with Vertical(id="stale-box") as box:
            box.border_subtitle = Content(" f writes the new name · c still true · a archives · esc closes ")
            yield StaleList(empty="Nothing that is remembered names code that is gone.")

    def on_mount(self) -> None:
        """Fill the list."""
        self._show(self._page)
        self.query_one(StaleList).focus()

    def action_close(self) -> None:
        """Back to the mode."""
        self.dismiss()

    def action_fix(self) -> None:
        """Write the new name in the place of the old one."""
        self._change(lambda engine, item: engine.fix_stale(item.path))

    def action_confirm(self) -> None:
        """Note that it is true all the same."""
        self._change(lambda engine, item: engine.confirm_stale(item.path))

    def action_archive(self) -> None:
        """Forget it; it can be brought back."""
        self._change(lambda engine, item: engine.forget_memory(item.path))

    def _change(self, change: Callable[[Engine, StaleItem], MemoryChange]) -> None:
        item = self.query_one(StaleList).current
        if item is None:
            return

        def make(engine: Engine) -> tuple[MemoryChange, Page[StaleItem]]:
            return change(engine, item), engine.stale_items()

        def done(answer: tuple[MemoryChange, Page[StaleItem]]) -> None:
            made, page = answer
            self._mode.cm.tell(f"{made.words}; u undoes it." if made.change else made.words)
            if self.is_attached:
                self._show(page)

        do_undoable(self._mode, make, done, of=lambda answer: answer[0], title=item.title)

    def _show(self, page: Page[StaleItem]) -> None:
        title = said(page.total) if page.total else "Nothing is stale"
        self.query_one("#stale-box").border_title = Content(f" {title} ")
        self.query_one(StaleList).set_rows(page.rows)


def said(number: int) -> str:
    """Return how many name what is gone: `3 memories name what is gone`."""
    names = "names" if number == 1 else "name"
    return f"{count(number, 'memory', 'memories')} {names} what is gone or renamed"


def list_stale(screen: ModeScreen) -> None:
    """List what is stale."""

    def got(page: Page[StaleItem]) -> None:
        screen.app.push_screen(StaleScreen(screen, page))

    screen.ask("stale", lambda engine: engine.stale_items(), got)
