"""What every mode has in common: header, key bar, commands, and its part of the remembered state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, TypeVar, cast

from textual import events, on
from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.tui.screens.app_commands import APP_COMMANDS
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.frame import mode_tabs, project_facts, revision_text
from cm_tui.tui.screens.help import HelpRow, HelpScreen
from cm_tui.tui.screens.messages import OpenInMode, OpenRevision
from cm_tui.tui.screens.mode_app import ModePage
from cm_tui.tui.screens.mode_list import MODES
from cm_tui.tui.tasks.ask import Call, Fail, Then
from cm_tui.tui.widgets.header import Header, KeyBar, KeyEntry, RevisionBar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Panel, Split, Words

A = TypeVar("A")
T = TypeVar("T")


class _Layout(Compositor):
    """A compositor that finds every widget that is shown or resized since the last layout.

    Textual 8.2 compares with its newest map. After a scroll, a lookup renews that map with styles that were not laid out
    yet; a widget that they show then gets neither `Show` nor `Resize`, and a text that is wrapped to its width stays away.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: CompositorMap = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out, and return which widgets are hidden, shown and resized since the last time."""
        self._full_map = self._last
        found = super().reflow(parent, size)
        self._last = self._full_map
        return found


class ModeScreen(ModePage):
    """Base of the modes.

    A mode, the class `<Name>Screen`, declares `INTRO`, names its commands (`class SearchScreen(SearchView, commands=…)`), yields its
    widgets from `compose_body`, asks questions with `ask`, and overrides `project_changed`, `pack_selection_changed`,
    `revision_changed` and `keep` where it cares.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(APP_COMMANDS), ("enter", "nothing_listed")]
    INTRO: ClassVar[str] = ""
    """What the mode is for; the first lines of its help."""
    SHOWS_REVISION: ClassVar[bool] = False
    """True where the mode shows the past revision that was chosen; the others show now, and say so."""
    ZOOMS: ClassVar[tuple[str, ...]] = ()
    """Ids of the panels that `z` shows alone, the one first that is meant when none has the focus."""
    TAB_TO_INPUTS: ClassVar[bool] = False
    """Tab also goes to inputs; else `/` alone does, so that a letter typed after Tab is a command and not a query."""
    AUTO_FOCUS = ""

    mode_commands: ClassVar[tuple[Command[Any], ...]] = ()
    """The commands of this mode alone."""

    def __init_subclass__(cls, *, commands: Sequence[Command[Any]] = (), **how: Any) -> None:
        if commands:
            cls.MODE = cls.__name__.removesuffix("Screen").lower()
            zoom = Command(f"{cls.MODE}.zoom", "z", "Zoom", "Zoom the focused panel, and back", cls.zoom, bar=False)
            own = [zoom] if cls.ZOOMS and zoom.id not in {command.id for command in commands} else []
            cls.mode_commands = (*commands, *own)
            cls.BINDINGS = [*bindings(cls.mode_commands), *cls.__dict__.get("BINDINGS", ())]
        super().__init_subclass__(**how)

    def __init__(self) -> None:
        super().__init__()
        self._compositor = _Layout()

    def compose(self) -> ComposeResult:
        """Header, body, key bar."""
        cm = self.cm
        # Textual adds these at the first resize, and computes all styles again.
        self.add_class(*self._get_breakpoint_classes(self.app.size.width, self.app.HORIZONTAL_BREAKPOINTS or []))
        yield Header(lambda: mode_tabs(cm), lambda: project_facts(cm), cm.go)
        yield RevisionBar(self._revision_words, lambda: self.action_command("app.now"))
        yield from self.compose_body()
        yield KeyBar(self._key_entries, self.action_command, lambda: cm.bottom_line)

    def compose_body(self) -> Iterable[Widget]:
        """The mode's own widgets."""
        return ()

    @property
    def choices(self) -> dict[str, Any]:
        """What the next run finds again; changes to it are kept."""
        return self.cm.state.of(self.MODE)

    def kept(self, name: str, default: T, among: Collection[T] = ()) -> T:
        """Return a choice of the last run; the default where it has another type, or is not among the possible values."""
        value = self.choices.get(name)
        return value if type(value) is type(default) and (not among or value in among) else default

    # --- commands ---

    @property
    def all_commands(self) -> tuple[Command[Any], ...]:
        """Those of the mode, then those of the application."""
        return (*self.mode_commands, *APP_COMMANDS)

    def action_command(self, command_id: str) -> None:
        """Run a command by id: what keys and the key bar call."""
        self.run_command(self.command(command_id))

    def action_nothing_listed(self) -> None:
        """Give the reason for a key that chooses a row of an empty list."""
        if not isinstance(self.focused, RowList):
            raise SkipAction
        self.cm.refuse("Enter: nothing is listed")

    def command(self, command_id: str) -> Command[Any]:
        """A command by id."""
        return next(item for item in self.all_commands if item.id == command_id)

    def run_command(self, command: Command[Any]) -> None:
        """Run a command, or say why it is not possible now."""
        self.cm.running_command = command.label
        try:
            if reason := command.why_not(self):
                self.cm.refuse(f"{command.label}: {reason}")
                return
            self.cm.clear_notice()
            command.run(self)
        finally:
            self.cm.running_command = ""
        self.remember()

    def show_help(self) -> None:
        """Show what the mode is for, and all keys, with the reasons why commands are not possible now."""
        here, everywhere = self._help_rows(self.mode_commands), self._help_rows(APP_COMMANDS)
        self.app.push_screen(HelpScreen(self.cm.titles[self.MODE], self.INTRO, here, everywhere))

    def _help_rows(self, commands: Iterable[Command[Any]]) -> list[HelpRow]:
        return [
            HelpRow(self.cm.keys_of(command), command.label, command.help, command.why_not(self))
            for command in commands
        ]

    def _key_entries(self) -> list[KeyEntry]:
        """The key bar: help first."""
        typing = isinstance(self.focused, Input)
        shown = {command.run: command for command in reversed(self.all_commands) if command.in_bar(self)}
        # What a mode and the application both offer is shown once, where the mode has it.
        commands = sorted(
            (command for command in self.all_commands if shown.get(command.run) is command),
            key=lambda command: command.id != "app.help",
        )
        entries = [
            KeyEntry(command.id, self.cm.keys_of(command, typing=typing), command.label, command.why_not(self) is None)
            for command in commands
        ]
        if not typing:
            return entries
        first, *_, last = (self.cm.keys_of(self.command(f"app.{mode.name}"), typing=True) for mode in MODES)
        modes = KeyEntry("", f"{first}…{last}", "Modes", possible=True)
        leave = KeyEntry("", "esc", "Leave the input", possible=True)
        return [leave, modes, *(one for one in entries if one.keys)]

    def _revision_words(self) -> tuple[str, str] | None:
        text = revision_text(self.cm.revision, shown_here=self.SHOWS_REVISION)
        return None if text is None else (text, self.cm.keys_of(self.command("app.now")))

    # --- work ---

    def post_message(self, message: Message) -> bool:
        """Send a message; an answer leads to another mode only from the screen where it was asked for."""
        leads = isinstance(message, OpenInMode | OpenRevision)
        return not (leads and self.cm.refuses_late()) and super().post_message(message)

    def ask(self, topic: str, call: Call[T], then: Then[T], fail: Fail | None = None, *, delay: float = 0.0) -> int:
        """Ask the engine something; a newer question of the same topic replaces this one.

        Args:
            topic: what is asked; unique within the mode.
            call: asks the engine, on a worker thread.
            then: gets the answer, unless it is outdated by then.
            fail: gets the error; shown as a notification when not given.
            delay: seconds to wait for a newer question before this one leaves.
        """
        about = self.answers_are_of

        def current(deliver: Then[A]) -> Then[A]:
            return lambda answer: deliver(answer) if self.answers_are_of == about else None

        fail = fail or self.cm.tell_error
        return self.cm.tasks.ask(f"{self.MODE}.{topic}", call, current(then), current(fail), delay=delay)

    @property
    def answers_are_of(self) -> object:
        """For a mode to override: what answers are of; those that come once it is something else are dropped."""
        return None

    def do(self, call: Call[T], then: Then[T], fail: Fail | None = None, *, once: str = "") -> None:
        """Have the engine make a change, after earlier ones; no later request replaces it.

        Args:
            call: has the engine do it, on a worker thread.
            then: gets the answer.
            fail: gets the error; shown as a notification when not given.
            once: name of what must not be asked for again meanwhile; see `is_doing`.
        """
        self.cm.tasks.do(call, then, fail or self.cm.tell_error, once=once)

    def drop_question(self, topic: str) -> None:
        """Drop a request: its answer is outdated."""
        self.cm.tasks.drop(f"{self.MODE}.{topic}")

    # --- what others tell ---

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Keep the styles: they are current, as `switch_mode` computes them again after a change of the theme."""
        event.refresh_styles = False

    def on_mount(self) -> None:
        """Show what is known already. Textual calls the `on_mount` of a mode, which restores its state, before this one."""
        if self.split:
            self.split.set_share(self.choices.get("share"))
        self.query_one(RevisionBar).refresh_text()
        self.project_changed()
        self.restored = True

    def show_project(self) -> None:
        """Show the project's state."""
        self.query_one(Header).refresh()
        self.query_one(KeyBar).refresh()
        self.project_changed()

    def on_pack_selection_changed(self) -> None:
        """The pack changed."""
        self.query_one(Header).refresh()
        self.pack_selection_changed()

    def on_revision_changed(self) -> None:
        """Another revision is shown."""
        self.query_one(RevisionBar).refresh_text()
        self.query_one(KeyBar).refresh()
        self.revision_changed()

    def revision_changed(self) -> None:
        """For a mode to override: `self.cm.revision` has news."""

    def project_changed(self) -> None:
        """For a mode to override: `self.cm.project` has news."""

    def pack_selection_changed(self) -> None:
        """For a mode to override: `self.cm.pack_selection` has news."""

    def keep(self) -> None:
        """Write what should be found again into `self.choices`; a mode adds what is its own."""
        if self.split:
            self.choices["share"] = self.split.share

    # --- room ---

    @property
    def focus_chain(self) -> list[Widget]:
        """What Tab goes through."""
        chain = super().focus_chain
        if self.TAB_TO_INPUTS:
            return chain
        return [widget for widget in chain if not isinstance(widget, Input) or widget is self.focused]

    def zoom(self) -> None:
        """The panel with the focus alone, and back."""
        if self.has_class("-zoomed"):
            self.unzoom()
            return
        focused = (name for name in self.ZOOMS if self.query_one(f"#{name}").has_pseudo_class("focus-within"))
        self.add_class("-zoomed", f"-zoom-{next(focused, self.ZOOMS[0])}")
        self.query_one(Split).apply()

    def unzoom(self) -> None:
        """All panels again."""
        self.remove_class("-zoomed", *(f"-zoom-{name}" for name in self.ZOOMS))
        self.query_one(Split).apply()

    def label(self, panel: str, title: str | None = None, subtitle: str | None = None) -> None:
        """Change what the borders of a panel say, by its id; None: it stays."""
        self.query_one(f"#{panel}", Panel).label(title, subtitle)

    def show_words(self, name: str, words: Content | str, *, wrong: bool = False) -> None:
        """Show words in a line of the mode, by its id; without words there is no line."""
        line = self.query_one(f"#{name}", Words)
        line.update(words)
        line.set_class(wrong, "-warning")
        line.display = bool(words)

    def remember(self) -> None:
        """Something that `keep` writes may have changed."""
        self.cm.remember()

    @on(events.DescendantFocus)
    def refresh_keys(self) -> None:
        """Draw the key bar again, after something made commands possible or impossible."""
        self.query_one(KeyBar).refresh()


class ModePart(Widget):
    """A part of a mode that asks the engine by itself."""

    @property
    def mode(self) -> ModeScreen:
        """The mode that it is a part of."""
        return cast("ModeScreen", self.screen)


class ModePanel(Panel, ModePart):
    """A panel of a mode that asks the engine by itself."""
