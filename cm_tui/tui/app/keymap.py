"""Keys of the person's own: which command has which key now, and what of the settings cannot be as it was meant."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key
from textual.widgets import Input

from cm_tui.config.mistakes import nearest
from cm_tui.tui.screens.app_commands import APP_COMMANDS
from cm_tui.tui.screens.commands import Command, key_name
from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.state.former_names import current_keys, former_keys
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
        said = [former] if (former := former_keys(self._given)) else []
        for name in self.own:
            if name not in known:
                near = nearest(name, known)
                meant = f"; the nearest is {near}" if near else ""
                said.append(f"tui.keys: there is no command {name}{meant}. It is ignored.")
        for name in self.own:
            if name in known:
                said += self._of_command(known[name], rooms)
        return list(dict.fromkeys(said))

    def _of_command(self, command: Command[Any], rooms: Mapping[str, Sequence[Command[Any]]]) -> Iterator[str]:
        room = command.id.partition(".")[0]
        beside = [other for mode in (rooms if room == "app" else (room,)) for other in rooms[mode]]
        moving = {key for binding in RowList.BINDINGS for key in _split(_key_of(binding))}
        for key in _split(self.own[command.id]):
            if not _is_key(key):
                yield f"tui.keys: {command.id}: there is no key {key}."
            if key in moving and not command.priority:
                yield f"tui.keys: {command.id}: {key_name(key)} moves in lists, which have the keyboard first."
            for other in (*beside, *APP_COMMANDS):
                if other.id == command.id:
                    continue
                own = self.own.get(other.id)
                if own is not None and key in _split(own):
                    first, second = sorted((command.id, other.id))
                    yield f"tui.keys: {first} and {second} both have {key_name(key)}; only one of them gets it."
                elif own is None and key in (keys := _split(other.key)):
                    rest = [key_name(one) for one in keys if one != key]
                    left = f"which still has {' and '.join(rest)}" if rest else "which has no key now"
                    yield f"tui.keys: {command.id} takes {key_name(key)} from {other.id} ({other.label}), {left}."


def _commands_of(mode: str) -> Sequence[Command[Any]]:
    module = importlib.import_module(f"cm_tui.tui.modes.{mode}.commands")
    commands: Sequence[Command[Any]] = getattr(module, f"{mode.upper()}_COMMANDS")
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
