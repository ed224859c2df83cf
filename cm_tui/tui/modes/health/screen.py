"""Health: daemon, jobs, freshness, checks, index contents, log, and repairs."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from cm_tui.tui.modes.health.commands import HEALTH_COMMANDS
from cm_tui.tui.modes.health.view import HealthView
from cm_tui.tui.screens.commands import Command, bindings


class HealthScreen(HealthView):
    """Check the installation and the index."""

    MODE = "health"
    INTRO = (
        "The daemon, its jobs and its log; each layer that keeps the index fresh, and what is behind; checks of the "
        "installation, with fixes; what the index contains; files that were not read in full; and what this session did."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(HEALTH_COMMANDS)

    def mode_commands(self) -> tuple[Command[HealthView], ...]:
        """Everything that the health mode can do."""
        return HEALTH_COMMANDS
