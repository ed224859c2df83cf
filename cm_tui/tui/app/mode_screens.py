"""The screens of the modes: how each is made, and those that were shown."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.message import Message
from textual.screen import Screen

from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.screens.mode_screen import ModeScreen

M = TypeVar("M", bound=ModeScreen)


def screens() -> dict[str, str | Callable[[], Screen[Any]]]:
    """What makes each mode's screen, imported when it is first shown."""
    return {name: _maker(name) for name in TITLES}


def _maker(name: str) -> Callable[[], Screen[None]]:
    def make() -> Screen[None]:
        module = importlib.import_module(f"cm_tui.tui.modes.{name}.screen")
        screen: Screen[None] = getattr(module, f"{name.title()}Screen")()
        return screen

    return make


class ModeScreens:
    """The modes of a running application.

    Args:
        app: the application.
    """

    def __init__(self, app: App[int]) -> None:
        self._app = app

    def shown(self) -> list[ModeScreen]:
        """Every mode that was shown so far."""
        stacks = (self._app._screen_stacks.get(name, []) for name in TITLES)  # noqa: SLF001 - Textual has no other way
        return [stack[0] for stack in stacks if stack and isinstance(stack[0], ModeScreen)]

    def screen(self, kind: type[M]) -> M:
        """The screen of a mode, once it was shown."""
        return next(screen for screen in self.shown() if isinstance(screen, kind))

    def broadcast(self, message: type[Message]) -> None:
        """Send a message to every mode that was shown."""
        for screen in self.shown():
            screen.post_message(message())
