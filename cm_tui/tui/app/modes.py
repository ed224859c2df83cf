"""The modes of the application: what they are called, and the way to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.screen import Screen

from cm_tui.tui.screens.mode_screen import ModeScreen

if TYPE_CHECKING:
    from cm_tui.tui.app.app import CmApp

TITLES = {
    "overview": "Overview", "search": "Search", "symbols": "Symbols", "pack": "Pack", "health": "Health", "history": "History",
}  # fmt: skip


def screens() -> dict[str, str | Callable[[], Screen[Any]]]:
    """What makes each mode's screen, imported when it is first shown."""
    return {name: _maker(name) for name in TITLES}


def _maker(name: str) -> Callable[[], Screen[None]]:
    def make() -> Screen[None]:
        import importlib

        module = importlib.import_module(f"cm_tui.tui.modes.{name}.screen")
        screen: Screen[None] = getattr(module, f"{name.title()}Screen")()
        return screen

    return make


class Modes:
    """The modes of a running application; the commands of their keys are its methods.

    Args:
        app: the application.
    """

    def __init__(self, app: CmApp) -> None:
        self._app = app

    def shown(self) -> list[ModeScreen]:
        """Every mode that was shown so far."""
        stacks = (self._app._screen_stacks.get(name, []) for name in TITLES)  # noqa: SLF001 - Textual has no other way
        return [stack[0] for stack in stacks if stack and isinstance(stack[0], ModeScreen)]

    def screen(self, name: str) -> ModeScreen:
        """The screen of a mode, once it was shown."""
        screen = self._app._screen_stacks[name][0]  # noqa: SLF001 - likewise
        assert isinstance(screen, ModeScreen)
        return screen

    def tell(self, message: type[Message]) -> None:
        """Send a message to every mode that was shown."""
        for screen in self.shown():
            screen.post_message(message())

    def go_overview(self) -> None:
        """Show the overview."""
        self._go("overview")

    def go_search(self) -> None:
        """Show search."""
        self._go("search")

    def go_symbols(self) -> None:
        """Show symbols."""
        self._go("symbols")

    def go_pack(self) -> None:
        """Show the pack."""
        self._go("pack")

    def go_health(self) -> None:
        """Show health."""
        self._go("health")

    def go_history(self) -> None:
        """Show history."""
        self._go("history")

    def _go(self, mode: str) -> None:
        self._app.call_later(self._app.action_go, mode)
