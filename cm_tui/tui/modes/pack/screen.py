"""Pack: what was collected, within a budget of tokens, ready to be pasted into a chat."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from cm_tui.tui.modes.pack.commands import PACK_COMMANDS
from cm_tui.tui.modes.pack.pack_list import PackList, PackRow
from cm_tui.tui.modes.pack.view import PackView
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.messages import OpenPath


class PackScreen(PackView):
    """Collect context for a chat."""

    MODE = "pack"
    INTRO = (
        "The pieces that you added with a in Search and Symbols, in order, with their tokens. The bar shows how full "
        "the budget is; pieces over the budget are dim and excluded. Or press / and ask a question: the "
        "best pieces for it are chosen. c copies the Markdown for a chat, w writes it to a file. Tokens are estimated."
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(PACK_COMMANDS), Binding("escape", "to_list", show=False)]

    def mode_commands(self) -> tuple[Command[PackView], ...]:
        """Everything that the pack mode can do."""
        return PACK_COMMANDS

    @on(PackList.Chosen, "#pack-list")
    def _open(self, event: PackList.Chosen) -> None:
        row: PackRow = event.row
        self.post_message(OpenPath(row.request.path, row.request.start_line))

    def action_to_list(self) -> None:
        """Back to the pieces."""
        self.pieces.focus()
