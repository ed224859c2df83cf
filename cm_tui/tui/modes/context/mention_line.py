"""Completion of mentions while a prompt is typed."""

from __future__ import annotations

import re

from textual.content import Content
from textual.widgets import Static

from cm_tui.tui.modes.context.view import ContextView
from cm_tui.tui.widgets.text import one_line

_MOST = 8
_BEGUN = re.compile(r"(?:^|\s)(@\S*)$")


class MentionLine:
    """The line below the prompt: mentions that begin like the word before the cursor; Tab takes the first.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: ContextView) -> None:
        self._screen = screen
        self.found: tuple[str, ...] = ()

    def look(self) -> None:
        """Ask for mentions that begin like the word before the cursor."""
        begun = self._begun()
        if not begun:
            self._screen.drop_question("mentions")
            self._show(())
            return
        self._screen.ask(
            "mentions", lambda engine: engine.complete_mention(begun, limit=_MOST), self._show, lambda _: self._show(())
        )

    def take(self) -> bool:
        """Put the first one in the place of what was begun; returns whether there was one."""
        begun, box = self._begun(), self._screen.prompt_input
        if not begun or not self.found:
            return False
        at = box.cursor_position
        box.value = f"{box.value[: at - len(begun)]}{self.found[0]} {box.value[at:].lstrip()}"
        box.cursor_position = at - len(begun) + len(self.found[0]) + 1
        self._show(())
        return True

    def _begun(self) -> str:
        box = self._screen.prompt_input
        match = _BEGUN.search(box.value[: box.cursor_position])
        return match[1] if match else ""

    def _show(self, found: tuple[str, ...]) -> None:
        self.found = found
        line = self._screen.query_one("#context-mentions", Static)
        first, *others = found or ("",)
        line.update(
            Content.assemble(
                ("⇥ ", "$accent"), (one_line(first), "bold"), (one_line("  ".join(["", *others])), "$muted")
            )
        )
        line.display = bool(found)
