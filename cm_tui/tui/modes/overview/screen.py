"""Overview: the project, its index, skipped files, next steps."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from cm_tui.tui.modes.overview.commands import OVERVIEW_COMMANDS
from cm_tui.tui.modes.overview.view import OverviewView
from cm_tui.tui.screens.commands import Command, bindings


class OverviewScreen(OverviewView):
    """The project and its index at a glance."""

    MODE = "overview"
    INTRO = (
        "What cm knows about this project. A project is indexed by itself when it is opened; keyword and symbol "
        "queries answer as soon as its files are parsed, vectors fill in behind."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(OVERVIEW_COMMANDS)

    def mode_commands(self) -> tuple[Command[OverviewView], ...]:
        """Everything that the overview can do."""
        return OVERVIEW_COMMANDS
