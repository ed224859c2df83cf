"""The settings that a running application goes by: theme and keys, and what of them changes while it runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key
from textual.widgets import Input

from cm_tui.config import Config, load_config
from cm_tui.config.load import stamps_of
from cm_tui.config.mistakes import nearest
from cm_tui.counts import noun
from cm_tui.errors import CmError
from cm_tui.tui.screens.app_commands import APP_COMMANDS
from cm_tui.tui.screens.commands import Command, key_name
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.state.change_history import own_change
from cm_tui.tui.state.remembered import current_keys, former_keys
from cm_tui.tui.tasks.watches import EVERY, Watch
from cm_tui.tui.theme.themes import CM_DARK
from cm_tui.tui.widgets.rowlist import RowList

NO_KEY = "–"
"""Written for a command that has no key any more."""
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "meta", "super", "hyper"})
_KEYS = frozenset(key.value for key in Keys) | frozenset(KEY_NAME_REPLACEMENTS.values())


class Keymap:
    """The keys of all commands: as they come, under those that the settings give.

    Args:
        keys: of `tui.keys`: keys by the id of a command, as the person wrote them.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._given = keys
        self.own = {name: ",".join(_split(written)) for name, written in current_keys(keys).items()}
        """Keys by the id that the command has today, in the spelling of the terminal's library."""

    def shown(self, command: Command[Any], mode: str, *, typing: bool = False) -> str:
        """Return the key of a command in a mode, written for people; with `typing` one that works in an input, or ""."""
        own = self.own.get(command.id)
        keys = _split(own or command.key)
        left = [key for key in keys if own or not self._takers(key, command, mode)]
        if typing:
            left = [key for key in left if command.priority or _passes_an_input(key)]
        if not left:
            return "" if typing else NO_KEY
        return command.shown_as if command.shown_as and left[0] == _split(command.key)[0] else key_name(left[0])

    def _takers(self, key: str, command: Command[Any], mode: str) -> list[str]:
        rooms = {"app", mode}
        return [
            name for name, keys in self.own.items()
            if name != command.id and name.partition(".")[0] in rooms and key in _split(keys)
        ]  # fmt: skip

    def problems(self) -> list[str]:
        """Return the mistakes in the key settings; imports every mode, so call it on a worker thread."""
        rooms = {mode: _commands_of(mode) for mode in TITLES}
        known = {command.id: command for commands in (APP_COMMANDS, *rooms.values()) for command in commands}
        messages = [former] if (former := former_keys(self._given)) else []
        for name in self.own:
            if name not in known:
                near = nearest(name, known)
                suggestion = f" Did you mean {near}?" if near else ""
                messages.append(f"tui.keys: unknown command {name}; it is ignored.{suggestion}")
        for name in self.own:
            if name in known:
                messages += self._of_command(known[name], rooms)
        return list(dict.fromkeys(messages))

    def _of_command(self, command: Command[Any], rooms: Mapping[str, Sequence[Command[Any]]]) -> Iterator[str]:
        room = command.id.partition(".")[0]
        others = [other for mode in (rooms if room == "app" else (room,)) for other in rooms[mode]]
        moving = {key for binding in RowList.BINDINGS for key in _split(_key_of(binding))}
        for key in _split(self.own[command.id]):
            if not _is_key(key):
                yield f"tui.keys: {command.id}: unknown key {key}."
            if key in moving and not command.priority:
                yield f"tui.keys: {command.id}: {key_name(key)} moves the cursor in lists, which take the key first."
            for other in (*others, *APP_COMMANDS):
                if other.id == command.id:
                    continue
                own = self.own.get(other.id)
                if own is not None and key in _split(own):
                    first, second = sorted((command.id, other.id))
                    yield f"tui.keys: {first} and {second} both use {key_name(key)}; only one of them receives it."
                elif own is None and key in (keys := _split(other.key)):
                    rest = [key_name(one) for one in keys if one != key]
                    left = f"which still has {' and '.join(rest)}" if rest else "which has no key now"
                    yield f"tui.keys: {command.id} takes {key_name(key)} from {other.id} ({other.label}), {left}."


def _commands_of(mode: str) -> Sequence[Command[Any]]:
    module = importlib.import_module(f"cm_tui.tui.modes.{mode}.screen")
    commands: Sequence[Command[Any]] = getattr(module, f"{mode.title()}Screen").mode_commands
    return commands


def _split(keys: str) -> list[str]:
    """Return keys by their long names: `question_mark` for `?`."""
    found = (key.strip() for key in keys.split(","))
    return [_character_to_key(key) if len(key) == 1 else key for key in found if key]


def _key_of(binding: Any) -> str:
    return str(binding[0] if isinstance(binding, tuple) else binding.key)


def _passes_an_input(key: str) -> bool:
    """Return whether an input neither types a key nor edits with it."""
    edits = {one for binding in Input.BINDINGS for one in _split(_key_of(binding))}
    return ("+" in key or key[1:].isdigit()) and key not in edits


def _is_key(key: str) -> bool:
    """Return whether a terminal can send a key of that name."""
    *modifiers, last = key.split("+")
    named = key in _KEYS or last in _KEYS or len(last) == 1 or _is_character(last)
    return named and _MODIFIERS.issuperset(modifiers)


def _is_character(name: str) -> bool:
    import unicodedata

    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


_HERE = ("tui.", "profiles.", "search.", "agents.")
"""Settings that count at once: here, or wherever the next question about them is asked."""


class SettingsInForce:
    """Applies settings, and reports those that cannot be applied.

    Args:
        app: has theme and keymap.
        root: the project's root folder, whose settings count.
    """

    def __init__(self, app: ModeApp, root: Path) -> None:
        self._app = app
        self._applied = ""
        """The theme that was put on last, by settings or person."""
        self.keymap = Keymap(app.config.tui.keys)
        self._root, self._seen = root, stamps_of(root)
        self._watch = Watch(app.tasks, "app.settings", self._look, self._take, self._refuse)

    def begin(self) -> None:
        """Apply all of them, and look after their files from now on."""
        self._apply_theme()
        self._apply_keys()
        self._app.set_interval(EVERY, self._watch.look)

    # --- the theme ---

    def _apply_theme(self) -> None:
        """Take the theme of the settings, unless another one was chosen here while they said the same."""
        configured, chosen = self._app.config.tui.theme, self._app.state.theme
        names = [chosen, configured] if self._app.state.theme_over == configured else [configured, chosen]
        found = next((name for name in names if name and self._is_theme(name)), CM_DARK.name)
        self._applied = self._app.theme = found

    def _is_theme(self, name: str) -> bool:
        if name in self._app.available_themes:
            return True
        self._app.tell(f"Unknown theme: {name}.", severity="warning")
        return False

    def theme_chosen(self) -> None:
        """Remember a theme that the person chose, and say where the settings say otherwise."""
        before, theme = self._applied, self._app.theme
        if theme == before:
            return
        self._take_theme(theme)
        configured = self._app.config.tui.theme
        if configured and theme != configured:
            words = f"{theme} is used here from now on. Your settings have tui.theme = “{configured}”; change it there to use it everywhere."
            self._app.tell(words, timeout=8)

        def show(name: str) -> None:
            # First, as a theme that is taken already is not taken for one that the user chose.
            self._take_theme(name)
            self._app.theme = name

        label, about, mode = f"chose the theme {theme}", frozenset({"theme"}), self._app.current_mode
        self._app.history.add(own_change(label, mode, about, partial(show, before), partial(show, theme)))

    def _take_theme(self, theme: str) -> None:
        """Note a theme that is used here from now on."""
        configured = self._app.config.tui.theme
        self._applied, own = theme, theme != configured
        self._app.state.theme, self._app.state.theme_over = (theme, configured) if own else (None, None)
        self._app.remember()

    # --- the keys ---

    def _apply_keys(self) -> None:
        self.keymap = Keymap(self._app.config.tui.keys)
        self._app.set_keymap(self.keymap.own)
        if self.keymap.own:
            self._app.tasks.work(self.keymap.problems, self._report_keys, topic="app.keys")

    def _report_keys(self, problems: Sequence[str]) -> None:
        if problems:
            self._app.tell("\n".join(problems), title="Custom keys", severity="warning", timeout=12)

    # --- changes while it runs ---

    def _look(self) -> Callable[[], Config] | None:
        """Return how to read the settings, where one of their files was written or removed."""
        before, self._seen = self._seen, stamps_of(self._root)
        return None if self._seen == before else partial(load_config, self._root)

    def _take(self, config: Config) -> None:
        """A file was written or removed."""
        before, self._app.config = self._app.config, config
        names = [name for name in _differing(before, config) if name not in self._app.project.saved_here]
        self._app.project.saved_here.clear()
        if "tui.theme" in names:
            # What the person wrote just now is newer than what was chosen here.
            self._app.state.theme = self._app.state.theme_over = None
            self._apply_theme()
            self._app.remember()
        if "tui.keys" in names:
            self._apply_keys()
        self._app.project.config_news += 1
        self._app.modes.show_project()
        if names:
            self._say(names)

    def _say(self, names: Sequence[str]) -> None:
        here = [name for name in names if name.startswith(_HERE)]
        later = [name for name in names if name not in here]
        daemon = self._app.tasks.engine is not None and self._app.tasks.engine.uses_daemon
        when = "with the next index run (^r)" if daemon else "when cm is restarted"
        messages = [f"In force now: {', '.join(here)}."] if here else []
        messages += [f"{', '.join(later)} {noun(len(later), 'applies', 'apply')} {when}."] if later else []
        self._app.tell(" ".join(messages), title="Settings were changed", timeout=6)

    def _refuse(self, error: CmError) -> None:
        # The daemon reads the same file and answers nothing by half of it.
        daemon = self._app.tasks.engine is not None and self._app.tasks.engine.uses_daemon
        stays = (
            "Theme and keys are unchanged; requests work again once it is fixed."
            if daemon
            else "The previous settings stay in force."
        )
        self._app.tell(f"{error.one_line} {stays}", title="Settings were changed", severity="warning", timeout=12)


def _differing(before: Config, after: Config) -> list[str]:
    """Return the names of settings that are others now, such as `tui.theme`."""
    old, new = before.model_dump(), after.model_dump()
    names = []
    for section, values in new.items():
        if section == "profiles":
            names += [
                f"profiles.{name}"
                for name in sorted({*old[section], *values})
                if old[section].get(name) != values.get(name)
            ]
        else:
            names += [f"{section}.{name}" for name, value in values.items() if old[section].get(name) != value]
    return names
