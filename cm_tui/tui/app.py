"""The application: modes, theme, keys, and the way between engine and screens."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import App, SuspendNotSupported
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.model import IndexPlan, ProjectStatus
from cm_tui.tui.app_commands import APP_COMMANDS
from cm_tui.tui.basket import Basket
from cm_tui.tui.commands import Command, CommandPalette, key_name
from cm_tui.tui.gateway import (
    Answer,
    DoorFailed,
    Gateway,
    IndexEnded,
    IndexStep,
    was_cancelled,
)
from cm_tui.tui.messages import AddToPack, BasketChanged, OpenPath, OpenSymbol, ProjectChanged
from cm_tui.tui.project import ProjectView
from cm_tui.tui.screens.base import ModeScreen
from cm_tui.tui.session import SessionLog
from cm_tui.tui.state import load_state, save_state
from cm_tui.tui.theme import CM_DARK, CM_LIGHT, DARK_PARTS

if TYPE_CHECKING:
    from cm_tui.engine.memory import Door

_PACKAGE = Path(__file__).resolve().parent.parent


def style_sheets() -> list[str | PurePath]:
    """Every style sheet: beside the package in a checkout, inside it in a wheel."""
    for folder in (_PACKAGE / "styles", _PACKAGE.parent / "styles"):
        if sheets := sorted(folder.glob("*.tcss")):
            return list(sheets)
    raise CmError("The style sheets of the application are missing.", hint="Install cm-tui again.")


def _mode(name: str) -> Callable[[], Screen[None]]:
    """A screen by mode, imported when it is first shown."""

    def make() -> Screen[None]:
        import importlib

        module = importlib.import_module(f"cm_tui.tui.screens.{name}")
        screen: Screen[None] = getattr(module, f"{name.title()}Screen")()
        return screen

    return make


class CmApp(App[int]):
    """The full-screen application over one project.

    Args:
        open_door: opens the engine; called on a worker thread.
        root: the project's root folder.
        config: the configuration.
        mend: puts a damaged store out of the way, so that the door opens again; None: not possible.
    """

    TITLE = "cm"
    MODE_TITLES: ClassVar[dict[str, str]] = {
        "overview": "Overview", "search": "Search", "symbols": "Symbols", "pack": "Pack", "health": "Health",
    }  # fmt: skip
    MODES: ClassVar = {name: _mode(name) for name in MODE_TITLES}
    DEFAULT_MODE = "overview"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 - declared so by Textual
    COMMANDS: ClassVar = {CommandPalette}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    APP_COMMANDS = APP_COMMANDS

    def __init__(
        self,
        open_door: Callable[[], Door],
        root: Path,
        config: Config,
        mend: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(css_path=style_sheets())
        self.root = root
        self.config = config
        self.mend = mend
        self.project = ProjectView()
        self.session = SessionLog()
        self.basket = Basket(self._basket_changed)
        self.gateway = Gateway(self, open_door)
        self.state, self._state_note = load_state(root)
        self.basket.restore(self.state.of("pack").get("items"))
        self._key_overrides = dict(config.tui.keys)
        self.register_theme(CM_DARK)
        self.register_theme(CM_LIGHT)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of score parts for themes that have none."""
        return DARK_PARTS

    # --- the beginning and the end ---

    def on_mount(self) -> None:
        """Theme and keys, then the door, in the background."""
        self.theme = self._first_theme()
        if self._key_overrides:
            self.set_keymap(self._key_overrides)
        if self.state.mode in self.MODE_TITLES and self.state.mode != self.current_mode:
            self.switch_mode(self.state.mode)
        if self._state_note:
            self.tell(self._state_note, severity="warning")
        self.gateway.open()

    def _first_theme(self) -> str:
        for name in (self.state.theme, self.config.tui.theme):
            if name and name in self.available_themes:
                return name
            if name:
                self.tell(f"There is no theme called {name}.", severity="warning")
        return CM_DARK.name

    async def on_unmount(self) -> None:
        """Stop work and let go of the store, off this thread, as work may take a step to notice."""
        await asyncio.to_thread(self.gateway.close)

    def remember(self) -> None:
        """Write down what the next run should find again."""
        self.state.mode = self.current_mode
        self.state.theme = self.theme
        for screen in self.mode_screens():
            screen.keep()
        self._save_state()

    def _save_state(self) -> None:
        try:
            save_state(self.root, self.state)
        except OSError as error:
            self.log(f"State not saved: {error}")

    def _basket_changed(self) -> None:
        """What was collected is kept at once, not only on leaving."""
        self.state.of("pack")["items"] = self.basket.values()
        self._save_state()
        self._tell_modes(BasketChanged)

    def leave(self) -> None:
        """Quit."""
        self.remember()
        self.exit(0)

    async def action_quit(self) -> None:
        """Textual's own way out, kept in step."""
        self.leave()

    # --- modes ---

    def mode_screens(self) -> list[ModeScreen]:
        """Every mode that was shown so far."""
        stacks = (self._screen_stacks.get(name, []) for name in self.MODE_TITLES)
        return [stack[0] for stack in stacks if stack and isinstance(stack[0], ModeScreen)]

    def mode_screen(self, name: str) -> ModeScreen:
        """The screen of a mode, once it was shown."""
        screen = self._screen_stacks[name][0]
        assert isinstance(screen, ModeScreen)
        return screen

    def _tell_modes(self, message: type[Message]) -> None:
        for screen in self.mode_screens():
            screen.post_message(message())

    async def action_go(self, mode: str) -> None:
        """Show a mode."""
        await self.switch_mode(mode)
        self._tell_modes(ProjectChanged)

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

    def _go(self, mode: str) -> None:
        self.call_later(self.action_go, mode)

    async def on_open_symbol(self, message: OpenSymbol) -> None:
        """Show a symbol in its mode."""
        await self.action_go("symbols")
        self.mode_screen("symbols").open_symbol(message)  # type: ignore[attr-defined]

    async def on_open_path(self, message: OpenPath) -> None:
        """Show a file in the symbols mode."""
        await self.action_go("symbols")
        self.mode_screen("symbols").open_path(message)  # type: ignore[attr-defined]

    def on_add_to_pack(self, message: AddToPack) -> None:
        """Put lines into the pack, and say what came of it."""
        added = self.basket.add(message.requests)
        what = message.requests[0].title or message.requests[0].path if len(message.requests) == 1 else f"{added} items"
        self.tell(f"Added to the pack: {what}" if added else f"Already in the pack: {what}", timeout=2)

    # --- engine ---

    def on_answer(self, message: Answer) -> None:
        """A request came back; an outdated one is dropped."""
        if not message.topic or self.gateway.is_latest(message.topic, message.request):
            message.deliver()

    def on_door_opened(self) -> None:
        """Ask for the project's state, then bring the index up to date."""
        self.project.door, self.project.error = "open", None
        self.session.add("The project is open.", "ok")
        self.gateway.start_waiting()
        self.refresh_status(then_index=True)
        self._tell_modes(ProjectChanged)

    def on_door_failed(self, message: DoorFailed) -> None:
        """The overview shows why."""
        self.project.door, self.project.error = "failed", message.error
        self.session.add(f"The project could not be opened: {message.error.message}", "error")
        self._tell_modes(ProjectChanged)
        if self.current_mode not in {"overview", "health"}:
            self.tell_error(message.error)

    def reopen(self) -> None:
        """Try the door again."""
        self.project.door, self.project.error = "opening", None
        self._tell_modes(ProjectChanged)
        self.gateway.open()

    def mend_and_reopen(self) -> None:
        """Put a damaged store out of the way, then open the door: the index is made anew."""
        mend = self.mend
        assert mend is not None
        self.project.door, self.project.error = "opening", None
        self._tell_modes(ProjectChanged)
        self.gateway.open(first=mend)

    def refresh_status(self, *, then_index: bool = False) -> None:
        """Ask for the project's state; on the first time, start indexing after it."""

        def got(status: ProjectStatus) -> None:
            self.project.status, self.project.status_error = status, None
            self._tell_modes(ProjectChanged)
            if then_index and status.indexed:
                self.start_index()
            elif then_index:
                self._plan_then_index()

        def failed(error: CmError) -> None:
            self.project.status_error = error
            self._tell_modes(ProjectChanged)

        self.gateway.ask("app.status", lambda door: door.status(), got, failed)

    def _plan_then_index(self) -> None:
        def got(plan: IndexPlan) -> None:
            self.project.plan = plan
            self.start_index()

        def failed(error: CmError) -> None:
            self.project.index_error = error
            self._tell_modes(ProjectChanged)

        self.gateway.ask("app.plan", lambda door: door.plan(), got, failed)

    def start_index(self) -> None:
        """Bring the index up to the working tree."""
        self._start(lambda door, cancel: door.index(cancel=cancel), "Index run started.")

    def start_full_index(self) -> None:
        """Read every file again."""
        self._start(lambda door, cancel: door.index(full=True, cancel=cancel), "Full index run started.")

    def start_rebuild(self) -> None:
        """Throw the index away and make it again."""
        self._start(lambda door, cancel: door.rebuild(cancel=cancel), "Building the index anew.")

    def _start(self, steps: Callable[..., object], words: str) -> None:
        if self.gateway.index(steps):  # type: ignore[arg-type]
            self.session.add(words)
            self.project.index_error, self.project.cancelled = None, False
        self._tell_modes(ProjectChanged)

    def stop_index(self) -> None:
        """Stop the index run."""
        self.gateway.cancel_index()

    def on_index_step(self, message: IndexStep) -> None:
        """Show how far it is; the first searchable step brings new counts."""
        before, self.project.progress = self.project.progress, message.progress
        if message.progress.searchable and not (before and before.searchable):
            self.refresh_status()
        self._tell_modes(ProjectChanged)

    def on_index_ended(self, message: IndexEnded) -> None:
        """Show what came of it."""
        self.project.progress = None
        self.project.summary = message.summary or self.project.summary
        self.project.cancelled = was_cancelled(message.error)
        self.project.index_error = None if self.project.cancelled else message.error
        if message.summary:
            self.session.add_summary(message.summary)
        if message.error:
            self.session.add(message.error.message, "warning" if self.project.cancelled else "error")
        if self.project.index_error and self.current_mode != "overview":
            self.tell_error(self.project.index_error)
        self.refresh_status()
        self._tell_modes(ProjectChanged)

    def edit(self, path: str, line: int) -> None:
        """Open a file of the project in the user's editor, over the whole terminal, and come back."""
        from cm_tui.tui.editor import command_for

        root = self.gateway.door.root if self.gateway.door else self.root
        try:
            command = command_for(root / path, line)
            with self.suspend():
                subprocess.run(command, check=False, cwd=root)
        except CmError as error:
            self.tell_error(error)
        except (OSError, SuspendNotSupported) as error:
            self.tell(f"The editor could not be started: {error}", severity="error")
        else:
            self.refresh()
            self.start_index()

    # --- words to the user ---

    def tell(
        self,
        text: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
        timeout: float = 5,
    ) -> None:
        """Show a short message; its text is never read as markup."""
        if severity != "information":
            self.session.add(f"{title} {text}".strip(), severity)
        self.notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    def tell_error(self, error: CmError) -> None:
        """Show an error with its hint."""
        self.tell(error.hint or error.message, title=error.message if error.hint else "", severity="error", timeout=10)

    # --- keys ---

    def keys_of(self, command: Command) -> str:
        """The key of a command as it is now, written for people."""
        keys = self._key_overrides.get(command.id, command.key)
        return command.shown_as or key_name(keys.split(",")[0])

    def show_help(self) -> None:
        """Help for the mode on screen."""
        from cm_tui.tui.screens.help import HelpScreen

        if isinstance(self.screen, ModeScreen):
            self.push_screen(HelpScreen(self.screen))

    def show_palette(self) -> None:
        """Find a command by name."""
        self.action_command_palette()

    def choose_theme(self) -> None:
        """Choose a theme from a list."""
        self.search_themes()

    def title_of(self, mode: str) -> Content:
        """A mode's title."""
        return Content(self.MODE_TITLES[mode])


def run(open_door: Callable[[], Door], root: Path, config: Config, *, mend: Callable[[], None] | None = None) -> int:
    """Run the application until the user leaves it.

    Args:
        open_door: opens the engine; called on a worker thread after the first frame.
        root: the project's root folder.
        config: the configuration.
        mend: puts a damaged store out of the way, so that the door opens again.

    Returns:
        The exit code.
    """
    app = CmApp(open_door, root, config, mend)
    app.run()
    return app.return_code or 0
