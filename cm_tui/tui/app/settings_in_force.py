"""The settings that a running application goes by: theme and keys, and what of them changes while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from cm_tui.config import Config
from cm_tui.counts import noun
from cm_tui.errors import CmError
from cm_tui.tui.app.keymap import Keymap
from cm_tui.tui.screens.app_services import Severity
from cm_tui.tui.state.change_history import ChangeHistory, Finish, UndoableChange
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.state.remembered import AppState
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.settings_watch import EVERY, SettingsWatch, differing
from cm_tui.tui.theme.themes import CM_DARK

_HERE = ("tui.", "profiles.", "search.", "agents.")
"""Settings that count at once: here, or wherever the next question about them is asked."""


class Themed(Protocol):
    """What is used of the application."""

    config: Config
    theme: str
    history: ChangeHistory

    @property
    def current_mode(self) -> str:
        """The mode on screen."""

    def set_keymap(self, keymap: dict[str, str]) -> None:
        """Give commands other keys."""

    def set_interval(self, interval: float, callback: Callable[[], None]) -> object:
        """Call a function again and again."""

    def tell(self, text: str, *, title: str = "", severity: Severity = "information", timeout: float = 4) -> None:
        """Show a short message."""

    def remember(self) -> None:
        """Write what is remembered soon."""


class SettingsInForce:
    """Applies settings, and says what of them cannot be applied.

    Args:
        app: has theme and keymap.
        themes: gives the names of all themes.
        state: remembers a theme that was chosen here.
        view: what is known of the project.
        tasks: has worker threads.
        root: the project's root folder, whose settings count.
        changed: called when screens have to draw again.
    """

    def __init__(
        self,
        app: Themed,
        themes: Callable[[], Sequence[str]],
        state: AppState,
        view: ProjectView,
        tasks: EngineTasks,
        root: Path,
        changed: Callable[[], None],
    ) -> None:
        self._app = app
        self._themes = themes
        self._state = state
        self._view = view
        self._tasks = tasks
        self._changed = changed
        self._applied = ""
        """The theme that was put on last, by settings or person."""
        self.keymap = Keymap(app.config.tui.keys)
        self._watch = SettingsWatch(root, partial(tasks.work, topic="app.settings"), self._take, self._refuse)

    def begin(self) -> None:
        """Apply all of them, and look after their files from now on."""
        self._apply_theme()
        self._apply_keys()
        self._app.set_interval(EVERY, self._watch.look)

    # --- the theme ---

    def _apply_theme(self) -> None:
        """Take the theme of the settings, unless another one was chosen here while they said the same."""
        said, chosen = self._app.config.tui.theme, self._state.theme
        names = [chosen, said] if self._state.theme_over == said else [said, chosen]
        found = next((name for name in names if name and self._is_theme(name)), CM_DARK.name)
        self._applied = self._app.theme = found

    def _is_theme(self, name: str) -> bool:
        if name in self._themes():
            return True
        self._app.tell(f"There is no theme called {name}.", severity="warning")
        return False

    def theme_chosen(self) -> None:
        """Remember a theme that the person chose, and say where the settings say otherwise."""
        before, theme = self._applied, self._app.theme
        if theme == before:
            return
        self._take_theme(theme)
        said = self._app.config.tui.theme
        if said and theme != said:
            words = f"{theme} is used here from now on. Your settings say tui.theme = “{said}”: change it there to have it everywhere."
            self._app.tell(words, timeout=8)

        def show(name: str, _: object, finish: Finish) -> None:
            # First, as a theme that is taken already is not taken for one that the user chose.
            self._take_theme(name)
            self._app.theme = name
            finish("")

        label, about = f"chose the theme {theme}", frozenset({"theme"})
        undo, redo = partial(show, before), partial(show, theme)
        self._app.history.add(UndoableChange(label, self._app.current_mode, undo, redo, about))

    def _take_theme(self, theme: str) -> None:
        """Note a theme that is used here from now on."""
        said = self._app.config.tui.theme
        self._applied, own = theme, theme != said
        self._state.theme, self._state.theme_over = (theme, said) if own else (None, None)
        self._app.remember()

    # --- the keys ---

    def _apply_keys(self) -> None:
        self.keymap = Keymap(self._app.config.tui.keys)
        self._app.set_keymap(self.keymap.own)
        if self.keymap.own:
            self._tasks.work(self.keymap.problems, self._tell_of_keys, topic="app.keys")

    def _tell_of_keys(self, problems: Sequence[str]) -> None:
        if problems:
            self._app.tell("\n".join(problems), title="Keys of your own", severity="warning", timeout=12)

    # --- changes while it runs ---

    def _take(self, config: Config) -> None:
        """A file was written or removed."""
        before, self._app.config = self._app.config, config
        names = [name for name in differing(before, config) if name not in self._view.saved_here]
        self._view.saved_here.clear()
        if "tui.theme" in names:
            # What the person wrote just now is newer than what was chosen here.
            self._state.theme = self._state.theme_over = None
            self._apply_theme()
            self._app.remember()
        if "tui.keys" in names:
            self._apply_keys()
        self._view.config_news += 1
        self._changed()
        if names:
            self._say(names)

    def _say(self, names: Sequence[str]) -> None:
        here = [name for name in names if name.startswith(_HERE)]
        later = [name for name in names if name not in here]
        daemon = self._tasks.engine is not None and self._tasks.engine.uses_daemon
        when = "with the next index run (^r)" if daemon else "when cm is opened again"
        said = [f"In force now: {', '.join(here)}."] if here else []
        said += [f"{', '.join(later)} {noun(len(later), 'counts', 'count')} {when}."] if later else []
        self._app.tell(" ".join(said), title="Settings were changed", timeout=6)

    def _refuse(self, error: CmError) -> None:
        # The daemon reads the same file and answers nothing by half of it.
        daemon = self._tasks.engine is not None and self._tasks.engine.uses_daemon
        stays = (
            "Theme and keys stay; questions are answered once it is mended."
            if daemon
            else "What was in force before stays."
        )
        self._app.tell(
            f"{error.message} {error.hint} {stays}", title="Settings were changed", severity="warning", timeout=12
        )
