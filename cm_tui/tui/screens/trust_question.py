"""The question whether a repository's settings or files of definitions are trusted: what they are, and what they would do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.config.held import RepositoryTrust
from cm_tui.counts import noun

if TYPE_CHECKING:
    from cm_tui.engine.api.definition_trust import HeldFile

Choice = Literal["trusted", "refused", "revoked", "later"]

_LABELS: dict[Choice, str] = {"trusted": "Trust", "refused": "Keep held back", "revoked": "Take trust back"}


class TrustQuestion(ModalScreen[Choice]):
    """Shows the settings of a repository that need trust.

    No single key trusts, so that typing while the question appears does not answer it.

    Args:
        title: of what is asked about.
        text: what it is, and what would happen.
        answers: beside "not now".
        whole: all of it could be shown; what could not is not trusted.
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

    def __init__(self, title: str, text: str, answers: Sequence[Choice], *, whole: bool = True) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._answers = answers
        self._whole = whole

    def compose(self) -> ComposeResult:
        """What is asked for, what would happen, and the answers."""
        with Vertical(id="trust-box") as box:
            box.border_title = self._title
            with VerticalScroll(id="trust-text", can_focus=False):
                yield Static(Content(self._text))
            with Horizontal(id="trust-buttons"):
                yield Button(Content("Not now (esc)"), id="later", variant="primary")
                for answer in self._answers:
                    yield Button(Content(_LABELS[answer]), id=answer, disabled=answer == "trusted" and not self._whole)

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


def about_settings(asked: RepositoryTrust) -> TrustQuestion:
    """Return the question about a repository's settings."""
    answers: tuple[Choice, ...] = ("revoked",) if asked.state == "trusted" else ("refused", "trusted")
    return TrustQuestion("Settings of this repository", _settings(asked), answers, whole=not asked.unshowable)


def about_files(files: Sequence[HeldFile]) -> TrustQuestion:
    """Return the question about files of definitions: those that wait, and those that are trusted."""
    waiting, trusted = [one for one in files if not one.trusted], [one for one in files if one.trusted]
    parts: list[str] = []
    answers: list[Choice] = []
    if waiting:
        parts += [
            noun(len(waiting), "This file waits. It wants to", "These files wait. They want to"),
            *map(_file, waiting),
        ]
    if trusted:
        parts += [noun(len(trusted), "You trusted this file to", "You trusted these files to"), *map(_file, trusted)]
        answers.append("revoked")
    if waiting:
        answers.append("trusted")
    parts.append("Trust is for what a file holds now: one changed byte, and it waits again.")
    return TrustQuestion("Files of definitions", "\n\n".join(parts), answers)


def _file(one: HeldFile) -> str:
    return "\n".join([json.dumps(one.path), *(f"  • {json.dumps(ask)[1:-1]}" for ask in one.asks)])


def _settings(asked: RepositoryTrust) -> str:
    effects = "\n".join(f"  • {effect}" for effect in asked.effects)
    settings = "\n".join(f"  {setting.name} = {setting.value}" for setting in asked.settings)
    told = {
        "trusted": "You trusted it to",
        "refused": "You said no when this repository wanted to",
    }.get(asked.state, "This repository wants to")
    whole = f"It cannot be trusted: {asked.unshowable}.\n\n" if asked.unshowable else ""
    return f"{whole}{told}\n{effects}\n\nIts file {asked.file} says\n{settings}\n\nWhat else a repository may set counts already."
