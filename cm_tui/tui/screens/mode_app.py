"""The application as modes see it: shows them, leads from one to another, and has words for the user."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, cast

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import AwaitMount
from textual.widgets import Input

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.model import RecordingState
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.messages import OpenInMode, OpenRevision, RevisionChanged
from cm_tui.tui.screens.mode_list import TITLES, screens
from cm_tui.tui.screens.typed_keys import TypedKeys, TypingUndo
from cm_tui.tui.state.change_history import ChangeHistory
from cm_tui.tui.state.pack_selection import PackSelection
from cm_tui.tui.state.project import ActivityLog, ProjectView
from cm_tui.tui.state.remembered import AppState
from cm_tui.tui.state.revision import ShownRevision
from cm_tui.tui.tasks.background_runs import NarratorRun, SessionImport
from cm_tui.tui.tasks.daemon_sync import DaemonSync
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.long_tasks import Origin
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle
from cm_tui.tui.tasks.watches import Watch
from cm_tui.tui.theme.themes import CM_DARK, CM_LIGHT, DARK_PARTS, ParsedOnce, style_sheets, text_levels
from cm_tui.tui.widgets.header import KeyBar
from cm_tui.tui.widgets.split import Split

Severity = Literal["information", "warning", "error"]


class ModePage(Screen[None]):
    """A mode as the application and the commands of all modes see it."""

    MODE: ClassVar[str] = ""
    UNDOES_EARLIER: ClassVar[bool] = False
    """True where undo goes on with what the user changed in the project before this run."""
    restored = False
    """True once the mode shows what was remembered; before that there is nothing of its own to keep."""

    @property
    def cm(self) -> ModeApp:
        """The application."""
        return cast("ModeApp", self.app)

    def is_doing(self, once: str) -> bool:
        """Return whether a change of this name is in progress, and notify the user if so."""
        doing = self.cm.tasks.is_doing(once)
        if doing:
            self.cm.refuse(f"{self.cm.running_command}: the previous one is still running")
        return doing

    @property
    def split(self) -> Split | None:
        """The two parts of the mode, where it has two."""
        return next(iter(self.query(Split)), None)

    # --- for a mode to override ---

    def show_help(self) -> None:
        """Show what the mode is for, and all keys."""

    def show_project(self) -> None:
        """Show the project's state."""

    def keep(self) -> None:
        """Write what should be found again into `self.choices`; a mode adds what is its own."""

    def undo_here(self) -> bool:
        """Undo what the cursor is on; False where that is nothing to undo."""
        return False

    def undo_earlier(self) -> None:
        """Undo what was changed before this run, with `UNDOES_EARLIER`."""

    def show_undone(self) -> None:
        """Show what there is now: the engine undid or redid something, in whatever mode."""


M = TypeVar("M", bound=ModePage)


class ModeScreens:
    """The modes of a running application.

    Args:
        app: the application.
    """

    def __init__(self, app: App[int]) -> None:
        self._app = app

    def shown(self) -> list[ModePage]:
        """Every mode that was shown so far."""
        stacks = (self._app._screen_stacks.get(name, []) for name in TITLES)  # noqa: SLF001 - Textual has no other way
        return [stack[0] for stack in stacks if stack and isinstance(stack[0], ModePage)]

    def screen(self, kind: type[M]) -> M:
        """The screen of a mode, once it was shown."""
        return next(screen for screen in self.shown() if isinstance(screen, kind))

    def show_project(self) -> None:
        """Have the mode on screen show the project's state; the others do once they are on screen again."""
        for screen in self.shown():
            if self._app.current_mode == screen.MODE and screen.is_running and screen.restored:
                screen.show_project()

    def broadcast(self, message: type[Message]) -> None:
        """Send a message to every mode that was shown."""
        for screen in self.shown():
            screen.post_message(message())


SIGN_S = 0.08
"""Seconds after which a change that is being made shows: a person is to see a sign within 0.1 s."""
_FRAME_S = 0.03
"""Seconds in which what was drawn reaches the terminal."""
_NOTICE_S = 6.0
"""Seconds that the bottom line says something."""


class ModeApp(App[int]):
    """Modes, the revision that all of them show, and messages for the user."""

    MODES: ClassVar = screens()
    DEFAULT_MODE = "overview"
    root: Path
    config: Config
    project: ProjectView
    pack_selection: PackSelection
    state: AppState
    tasks: EngineTasks
    lifecycle: ProjectLifecycle
    daemon_sync: DaemonSync
    session_import: SessionImport
    narrator_run: NarratorRun
    recording_watch: Watch[RecordingState]

    def __init__(self) -> None:
        super().__init__(css_path=style_sheets())
        self.register_theme(CM_DARK)
        self.register_theme(CM_LIGHT)
        # From the beginning: every widget is styled again when another theme is put on later.
        self.set_reactive(App.theme, CM_DARK.name)
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.titles: Mapping[str, str] = TITLES
        self.modes = ModeScreens(self)
        self.typed_keys = TypedKeys(self)
        self.typing_undo = TypingUndo()
        self.activity_log = ActivityLog()
        self.history = ChangeHistory()
        self.revision = ShownRevision(partial(self.modes.broadcast, RevisionChanged))
        self._running_command, self._latest_command, self._step = "", "", 0
        self.answering: Origin | None = None
        """Where the answer was asked for that is being handed over."""
        self._notice = ""
        """What the bottom line says: why something is not done, or what was done."""
        self._notice_style, self._noticed = "$warning", 0.0
        self._told_before: set[str] = set()
        """Messages that were there when the last key or button was pressed."""

    @property
    def checkout(self) -> Path:
        """The root of the checkout, as the engine has it once it is open."""
        return self.tasks.engine.root if self.tasks.engine else self.root

    @property
    def uses_daemon(self) -> bool:
        """True where the engine is open, and asks the daemon."""
        return self.tasks.engine is not None and self.tasks.engine.uses_daemon

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of score parts for themes that have none."""
        return DARK_PARTS

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, with the levels of text."""
        variables = super().get_css_variables()
        self.theme_variables = {**variables, **text_levels(variables)}
        return self.theme_variables

    # --- for the application to override ---

    def remember(self) -> None:
        """Write what is remembered soon: something of it may have changed."""

    @abstractmethod
    def keys_of(self, command: Command[Any], *, typing: bool = False) -> str:
        """Return the key of a command as it is now, written for people; with `typing` one that works in an input."""

    def open_project(self, folder: Path, *, without: Path | None = None) -> None:
        """Leave this project for another one, and remove a store that becomes unused."""

    def leave(self) -> None:
        """Quit."""

    # --- keys ---

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; a key waits until what the one before did is done."""
        if isinstance(event, events.Key | events.MouseDown):
            self._told_before = {one.identity for one in self._notifications}
        elif isinstance(event, events.Paste) and type(self.focused) is Input and len(event.text.splitlines()) > 1:
            # Textual's own keeps the first line alone.
            event.text = " ".join(event.text.split())
        if isinstance(event, events.Paste):
            self.typing_undo.follow(self.focused, event)
        if isinstance(event, events.Key) and "alt" in event.key.split("+")[:-1]:
            # Textual's inputs type the letter of a key that no command has.
            event.character = None
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif not self.typed_keys.holds(event):
            if event.key == "escape":
                self._go_on()
            if not self.typing_undo.follow(self.focused, event):
                await super().on_event(event)
            self.typed_keys.follow()

    # --- the project ---

    def stop_index(self) -> None:
        """Stop the index run, even one of another client."""
        if self.tasks.indexing:
            self.lifecycle.stop_index()
        elif self.project.job:
            self.daemon_sync.cancel(self.project.job)

    def edit(self, path: str, line: int) -> None:
        """Open a file of the project in the user's editor, over the whole terminal, and come back."""
        from cm_tui.tui.terminal.editor import edit_over

        try:
            edit_over(self, self.checkout, path, line)
        except CmError as error:
            self.tell_error(error)
        else:
            self.refresh()
            self.lifecycle.start_index()

    # --- modes ---

    def set_timer(self, *what: Any, **how: Any) -> Timer:
        """Start a timer that fires once, also where the process was too busy to start it in time.

        Textual 8.2.8 leaves out what is late, even where nothing follows: a mode that is gone to stayed undrawn.
        """
        timer = super().set_timer(*what, **how)
        timer._skip = False  # noqa: SLF001 - it has no public setting
        return timer

    def go(self, mode: str) -> None:
        """Show a mode."""
        self.call_later(self.action_go, mode)

    async def action_go(self, mode: str) -> None:
        """Show a mode; what was said about the one before is kept in Health, where it was a warning."""
        if mode != self.current_mode:
            self.clear_notifications()
        if isinstance(self.screen, ModePage) and not self._screen_stacks.get(mode):
            # Its code is imported now, which may take a second on a busy machine.
            self._say_below(f"◐ Opening {TITLES[mode]}…", "$accent")
            opening = self._noticed
            await asyncio.sleep(_FRAME_S)
            await self.switch_mode(mode)
            self._end_notice(opening)
        else:
            await self.switch_mode(mode)
        self.remember()
        self.modes.show_project()

    def go_to_now(self) -> None:
        """Show no past revision any more."""
        self.revision.go(None)

    async def on_open_in_mode(self, message: OpenInMode) -> None:
        """Show what a message leads to, in its mode."""
        mode, _, method = message.opens.partition(".")
        await self.action_go(mode)
        screen = next(screen for screen in self.modes.shown() if mode == screen.MODE)
        getattr(screen, method)(*(getattr(message, field.name) for field in fields(message)))  # type: ignore[arg-type]

    def on_open_revision(self, message: OpenRevision) -> None:
        """Show a past revision."""
        self.revision.go(message.moment, message.note, requested=message.requested)

    # --- requests and their answers ---

    @property
    def running_command(self) -> str:
        """Label of the command that a key has just asked for, while it runs."""
        return self._running_command

    @running_command.setter
    def running_command(self, label: str) -> None:
        if label and label != self._latest_command:
            self._go_on(label)
        self._running_command = label

    def _go_on(self, label: str = "") -> None:
        """Note that the user does something else now: what was asked for before opens nothing any more."""
        self._latest_command = label
        self._step += 1

    def origin(self) -> Origin:
        """Return where a request of this moment is made."""
        return Origin(self.screen if self.screen_stack else None, self.running_command, self._step)

    def refuses_late(self) -> bool:
        """Return whether what is being handed over leads nowhere, and say so.

        It was asked for on another screen, or by a command after which the user ran another one or pressed Escape: the
        next key would be for what has just come, and was meant for what was on screen.
        """
        origin = self.answering
        if origin is None or origin.screen is None:
            return False
        if origin.screen is self.screen and (not origin.command or origin.step == self._step):
            return False
        words = f"{origin.command or 'A request'}: result not shown, as you moved on. Repeat it to see it."
        if words != self._notice:
            self.refuse(words)
        return True

    def push_screen(
        self,
        screen: Screen[Any] | str,
        callback: Any = None,
        wait_for_dismiss: bool = False,
        *,
        mode: str | None = None,
    ) -> Any:
        """Open a dialog; an answer opens one only over the screen where it was asked for."""
        if self.refuses_late():
            return AwaitMount(self.screen, ())
        # They would cover what is asked.
        self.clear_information()
        return super().push_screen(screen, callback, wait_for_dismiss, mode=mode)  # type: ignore[call-overload]

    # --- words to the user ---

    @property
    def bottom_line(self) -> tuple[str, str]:
        """What the bottom line says before the keys, and its style: what is being or was done, or why something is not."""
        change = self.tasks.command_in_progress
        if change is None or time.monotonic() - change.since < SIGN_S:
            return self._notice, self._notice_style
        doing = f"◐ {change.command or 'Writing'}…"
        is_newer = self._notice and self._noticed >= change.since
        return (f"{doing}  {self._notice}", self._notice_style) if is_newer else (doing, "$accent")

    def commands_moved(self) -> None:
        """Show what is being done, where it takes long enough to be asked about."""
        if self.tasks.command_in_progress is not None and self.is_running:
            self.set_timer(SIGN_S, self._draw_bottom_line)
        self._draw_bottom_line()

    def refuse(self, text: str) -> None:
        """Show in the bottom line why something is not done; over a dialog, which has none, in a message."""
        self.activity_log.add(text, "warning")
        self._say_below(text, "$warning")

    def report(self, text: str) -> None:
        """Show in the bottom line what was done; over a dialog in a message."""
        self.activity_log.add(text, "ok")
        # A message of what was done may be about what is undone now.
        self.clear_information(past=True)
        self._say_below(text, "$success")

    def show_undone(self) -> None:
        """Have every mode show what there is now: the engine undid or redid a change."""
        for screen in self.modes.shown():
            if screen.restored:
                screen.show_undone()

    def _say_below(self, text: str, style: str) -> None:
        if not isinstance(self.screen, ModePage):
            self.notify(text, severity="warning" if style == "$warning" else "information", markup=False)
            return
        self._notice, self._notice_style, self._noticed = text, style, time.monotonic()
        self.set_timer(_NOTICE_S, partial(self._end_notice, self._noticed))
        self._draw_bottom_line()

    def clear_notice(self) -> None:
        """Remove the notice from the bottom line: it does not answer the next command."""
        if self._notice:
            self._notice = ""
            self._draw_bottom_line()

    def _end_notice(self, noticed: float) -> None:
        # There may be a newer one, with a timer of its own.
        if noticed == self._noticed:
            self.clear_notice()

    def _draw_bottom_line(self) -> None:
        # Below a dialog too: it stays open until what it asked for is done.
        for screen in self.screen_stack:
            for bar in screen.query(KeyBar):
                bar.refresh()

    def clear_information(self, *, past: bool = False) -> None:
        """Remove messages of what was done; warnings and errors stay.

        `past`: only those from before the last key: what comes by itself takes away nothing else that just came.
        """
        for one in [one for one in self._notifications if one.severity == "information"]:
            if not past or one.identity in self._told_before:
                self._unnotify(one)

    def clear_notifications(self) -> None:
        """Remove all messages and the notice in the bottom line."""
        super().clear_notifications()
        self.clear_notice()

    def tell(
        self,
        text: str,
        *,
        title: str = "",
        severity: Severity = "information",
        timeout: float = 4,
    ) -> None:
        """Show a short message; its text is never read as markup."""
        if severity != "information":
            self.activity_log.add(f"{title} {text}".strip(), severity)
        else:
            # A key that is pressed again and again would cover the screen with what it did before.
            self.clear_information(past=True)
        for same in [one for one in self._notifications if (one.title, one.message) == (title, text)]:
            self._unnotify(same)
        self.notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    def tell_error(self, error: CmError) -> None:
        """Show an error with its hint."""
        self.tell(error.hint or error.message, title=error.message if error.hint else "", severity="error", timeout=6)
