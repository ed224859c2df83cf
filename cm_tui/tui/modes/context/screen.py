"""Context: what an agent would be handed over for a prompt, and what it was handed over before."""

from __future__ import annotations

import re
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from cm_tui.tui.modes.context.commands import CONTEXT_COMMANDS, open_snapshot, switch_to_snapshots
from cm_tui.tui.modes.context.rows import SnapshotRows, SourceRows
from cm_tui.tui.modes.context.view import TYPING, ContextView
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


class ContextScreen(ContextView, commands=CONTEXT_COMMANDS):
    """Why an agent knows something, or does not."""

    MODE = "context"
    INTRO = (
        "The context that an agent would receive for a prompt, by the files in .cm: the sources in order, their tokens, "
        "what was cut and why. space switches a source off, r the rule that applies to it, [ and ] change the budget; "
        "the result changes at once. v shows the text, the reasons, the latencies and the files. s lists snapshots of "
        "what agents received; m marks two of them, x shows the difference."
    )
    ZOOMS = ("context-detail-panel", "context-list-panel")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", show=False),
        Binding("down", "into_list", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._mentions = MentionLine(self)

    # --- what is typed ---

    @on(Input.Changed, "#context-prompt")
    def _typed(self) -> None:
        self._mentions.look()
        self.assemble(delay=TYPING if self.focused is self.prompt_input else 0.0)
        self.remember()

    @on(Input.Changed, "#context-filter")
    def _filtered(self) -> None:
        if self.lists_snapshots:
            self.ask_snapshots(delay=TYPING)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.list_shown.focus()

    def on_key(self, event: events.Key) -> None:
        """Tab in the prompt takes the first mention."""
        if event.key == "tab" and self.focused is self.prompt_input and self._mentions.take():
            event.stop()
            event.prevent_default()

    def action_into_list(self) -> None:
        """Down from an input goes into the list."""
        if isinstance(self.focused, Input):
            self.list_shown.focus()

    # --- the lists ---

    @on(SourceRows.Highlighted, "#context-sources")
    def _came_to(self) -> None:
        if not self.lists_snapshots:
            self.show_details()
            self.refresh_keys()

    @on(SnapshotRows.Highlighted, "#context-snapshots")
    def _came_to_snapshot(self) -> None:
        self.refresh_keys()

    @on(SourceRows.Chosen, "#context-sources")
    def _read(self) -> None:
        self.lines.focus()

    @on(SnapshotRows.Chosen, "#context-snapshots")
    def _open(self) -> None:
        open_snapshot(self)

    def on_resize(self) -> None:
        """Lay the panel out for its new width."""
        self.call_after_refresh(self.show_details)

    # --- back ---

    def action_escape(self) -> None:
        """Leave zoom, then the input or the panel, then a comparison, then the snapshots, then a snapshot."""
        if self.has_class("-zoomed"):
            self.unzoom()
        elif isinstance(self.focused, Input):
            self.list_shown.focus()
        elif self.diff is not None:
            self.diff = None
            self.show_details()
            self.list_shown.focus()
        elif self.focused is self.lines:
            self.list_shown.focus()
        elif self.lists_snapshots:
            switch_to_snapshots(self)
        elif self.is_past:
            self.assemble()
        self.refresh_keys()
