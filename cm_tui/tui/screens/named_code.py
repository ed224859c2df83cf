"""Names of the code in a line of what is remembered: Enter opens the code; of several names one is chosen first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from cm_tui.model import Mention
from cm_tui.tui.screens.messages import OpenPath, OpenSearch
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line


class NameList(RowList[Mention]):
    """A name, and where it is or what became of it."""

    def draw(self, row: Mention, width: int) -> Content:
        """One name."""
        where = f"{row.path}:{row.start_line}" if row.start_line else row.path
        about = where if row.state in ("alive", "changed") else row.fate
        name = elide_end(one_line(row.text), max(12, width // 2))
        return Content.assemble(" ", (name, "bold"), "  ", (elide_end(one_line(about), width - len(name) - 4), "$soft"))


class NamesScreen(ModalScreen[Mention | None]):
    """The names in a line, of which one is opened.

    Args:
        names: at least two.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Close")]

    def __init__(self, names: Sequence[Mention]) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """A box with the list."""
        with Vertical(id="names-box") as box:
            box.border_title = " Code in this line "
            box.border_subtitle = Content(" ⏎ opens it · esc closes ")
            yield NameList()

    def on_mount(self) -> None:
        """Fill the list."""
        self.query_one(NameList).set_rows(self._names)
        self.query_one(NameList).focus()

    @on(NameList.Chosen)
    def _chosen(self, event: NameList.Chosen) -> None:
        event.stop()
        self.dismiss(event.row)

    def action_close(self) -> None:
        """Back to the text."""
        self.dismiss(None)


def names_in(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return the mentions that a line has, each name once, in the order of the line.

    Args:
        text: of the line.
        mentions: of all of the item.
    """
    found: dict[str, tuple[int, Mention]] = {}
    for one in mentions:
        place = re.search(rf"(?<![\w/.]){re.escape(one.text)}(?!\w)", text) if one.text else None
        if place is not None:
            found.setdefault(one.text, (place.start(), one))
    return tuple(one for _, one in sorted(found.values(), key=lambda at: at[0]))


def open_names(mode: ModeScreen, names: Sequence[Mention]) -> None:
    """Open the code that is named; of several names the user chooses one."""

    def chosen(one: Mention | None) -> None:
        if one is not None:
            _open(mode, one)

    if len(names) == 1:
        _open(mode, names[0])
    elif names:
        mode.app.push_screen(NamesScreen(names), chosen)


def _open(mode: ModeScreen, one: Mention) -> None:
    """Show the file at its line; a folder, or what is gone, is looked for in Search."""
    if one.path and one.state not in ("gone", "unknown") and not one.text.endswith("/"):
        mode.cm.go_to_now()
        mode.post_message(OpenPath(one.path, one.start_line or 1, back=mode.MODE))
    else:
        mode.post_message(OpenSearch(one.text))
