"""The question whether a repository's settings are trusted: what they are, and what they would do."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.config.held import RepositoryTrust

Choice = Literal["trusted", "refused", "revoked", "later"]


class TrustQuestion(ModalScreen[Choice]):
    """Shows what a repository asks for beyond what counts at once.

    No single key trusts: whoever is typing when the question comes up must not have answered it.

    Args:
        asked: what it asks for.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "later", "Not now"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, asked: RepositoryTrust) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        """What is asked for, what would happen, and the answers."""
        with Vertical(id="trust-box") as box:
            box.border_title = "Settings of this repository"
            with VerticalScroll(id="trust-text", can_focus=False):
                yield Static(Content(question(self._asked)))
            with Horizontal(id="trust-buttons"):
                yield Button(Content("Not now (esc)"), id="later", variant="primary")
                if self._asked.state == "trusted":
                    yield Button(Content("Take trust back"), id="revoked")
                else:
                    yield Button(Content("Keep held back"), id="refused")
                    yield Button(Content("Trust"), id="trusted", disabled=bool(self._asked.unshowable))

    def on_mount(self) -> None:
        """Begin at the answer that changes nothing."""
        self.query_one("#later", Button).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        choices: dict[str | None, Choice] = {"trusted": "trusted", "refused": "refused", "revoked": "revoked"}
        self.dismiss(choices.get(event.button.id, "later"))

    def action_scroll(self, lines: int) -> None:
        """Show what stands further up or down."""
        self.query_one("#trust-text").scroll_relative(y=lines, animate=False)

    def action_later(self) -> None:
        """Decide nothing."""
        self.dismiss("later")


def question(asked: RepositoryTrust) -> str:
    """Return what is asked, in words."""
    effects = "\n".join(f"  • {effect}" for effect in asked.effects)
    settings = "\n".join(f"  {setting.name} = {setting.value}" for setting in asked.settings)
    told = {
        "trusted": "You trusted it to",
        "refused": "You said no when this repository wanted to",
    }.get(asked.state, "This repository wants to")
    whole = f"It cannot be trusted: {asked.unshowable}.\n\n" if asked.unshowable else ""
    return f"{whole}{told}\n{effects}\n\nIts file {asked.file} says\n{settings}\n\nWhat else a repository may set counts already."
