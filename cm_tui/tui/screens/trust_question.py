"""The question whether a repository's settings are trusted: what they are, and what they would do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.config.held import RepositoryTrust, repository_trust
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.tui.screens.app_services import AppServices

T = TypeVar("T")

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


class TrustDialog:
    """Asks about a repository's settings, writes down the answer, and has it count.

    Args:
        app: shows the question.
        cm: the same application, as modes see it.
    """

    def __init__(self, app: App[Any], cm: AppServices) -> None:
        self._app = app
        self._cm = cm

    def ask_if_undecided(self) -> None:
        """Ask about settings that nobody has decided on."""
        self._look(lambda found: self._ask(found) if found.state == "held" else None)

    def ask_again(self) -> None:
        """Show what was decided, and let it be decided anew."""

        def show(found: RepositoryTrust) -> None:
            if found.state == "nothing":
                self._cm.tell("This repository's settings ask for nothing that needs trust.")
            else:
                self._ask(found)

        self._look(show)

    def _look(self, then: Callable[[RepositoryTrust], None]) -> None:
        def got(found: RepositoryTrust | CmError) -> None:
            if isinstance(found, CmError):
                self._cm.tell_error(found)
            else:
                then(found)

        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        self._cm.tasks.work(lambda: _or_error(lambda: repository_trust(root)), got, topic="app.trust")

    def _ask(self, found: RepositoryTrust) -> None:
        def answered(choice: Choice | None) -> None:
            if choice is not None and choice != "later":
                work = partial(_or_error, partial(_decide, found, choice))
                self._cm.tasks.work(work, partial(self._decided, choice), topic="app.trust")

        self._app.push_screen(TrustQuestion(found), answered)

    def _decided(self, choice: Choice, failed: CmError | None) -> None:
        if failed is not None:
            self._cm.tell_error(failed)
            return
        engine = self._cm.tasks.engine
        if choice == "refused":
            self._cm.tell("They stay held back.")
        elif engine is None or not engine.uses_daemon:
            self._cm.tell("Held back at once." if choice == "revoked" else "They count from the next start of cm.")
        else:
            self._cm.tell(
                "Held back again." if choice == "revoked" else "They count from now on; keys from the next start."
            )
            self._cm.lifecycle.start_index()
        self._cm.lifecycle.refresh_status()


def _decide(found: RepositoryTrust, choice: Choice) -> None:
    # Late: nothing else of the application can trust.
    from cm_tui.config import grant

    if choice == "revoked":
        grant.revoke(Path(found.root))
    else:
        grant.decide(found, "trusted" if choice == "trusted" else "refused")


def _or_error(work: Callable[[], T]) -> T | CmError:
    try:
        return work()
    except CmError as error:
        return error
