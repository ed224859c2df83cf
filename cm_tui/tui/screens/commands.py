"""One declaration of a command gives its key, its palette entry, its place in the key bar and its row of help."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider

if TYPE_CHECKING:
    from textual.screen import Screen


@dataclass(frozen=True)
class Command:
    """Something a person can ask for.

    `id` names it in the keymap of the configuration (`tui.keys`), `method` is the method of the screen, or else of
    the application, that does it. `blocked` gets the screen and says why the command is not possible now.
    """

    id: str
    key: str
    label: str
    help: str
    method: str
    bar: bool = True
    """Shown in the key bar."""
    priority: bool = False
    """Works even while an input has the focus."""
    shown_as: str = ""
    """How the key is written; derived from the key when empty."""
    palette: bool = True
    blocked: Callable[[Any], str | None] | None = None
    shown: Callable[[Any], bool] | None = None
    """Gets the screen and says whether the command belongs into the key bar now, though it does not always."""

    def in_bar(self, screen: Screen[Any]) -> bool:
        """True when the command belongs into the key bar."""
        return self.bar or (self.shown is not None and self.shown(screen))

    def why_not(self, screen: Screen[Any]) -> str | None:
        """Why the command is not possible now; None when it is."""
        return self.blocked(screen) if self.blocked else None


_KEY_NAMES = {
    "question_mark": "?", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]", "plus": "+",
    "minus": "-", "enter": "⏎", "escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→",
    "pageup": "PgUp", "pagedown": "PgDn", "delete": "del", "full_stop": ".", "comma": ",", "equals_sign": "=",
    "less_than_sign": "<", "greater_than_sign": ">",
}  # fmt: skip


def key_name(key: str) -> str:
    """A key as a person writes it: `ctrl+s` is `^s`, `question_mark` is `?`."""
    *modifiers, last = key.strip().split("+") if key not in {"+", "plus"} else ["plus"]
    name = _KEY_NAMES.get(last, last)
    for modifier in reversed(modifiers):
        name = f"^{name}" if modifier == "ctrl" else f"{modifier}+{name}"
    return name


def bindings(commands: Iterable[Command]) -> list[BindingType]:
    """Key bindings of commands; every key runs through `action_command`, which can say why not."""
    return [
        Binding(
            command.key,
            f"command('{command.id}')",
            command.label,
            show=command.bar,
            id=command.id,
            priority=command.priority,
            key_display=command.shown_as or None,
        )
        for command in commands
    ]


class CommandPalette(Provider):
    """Every command of the application and of the mode on screen, with its key."""

    def _rows(self) -> list[tuple[Command, str, Callable[[], None]]]:
        screen = self.screen
        run = getattr(screen, "run_command", None)
        if run is None:
            return []
        rows: list[tuple[Command, str, Callable[[], None]]] = []
        done: set[str] = set()
        for command in getattr(screen, "all_commands", tuple)():
            # What a mode and the application both offer is listed once.
            if command.palette and command.method not in done:
                done.add(command.method)
                reason = command.why_not(screen)
                keys = self.app.keys_of(command)  # type: ignore[attr-defined]
                text = f"not now: {reason}" if reason else f"{keys}  {command.help}"
                rows.append((command, text, partial(run, command)))
        return rows

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command, text, run in self._rows():
            yield DiscoveryHit(command.label, run, help=text)

    async def search(self, query: str) -> Hits:
        """Those that match what was typed."""
        matcher = self.matcher(query)
        for command, text, run in self._rows():
            score = max(matcher.match(command.label), 0.7 * matcher.match(command.help))
            if score > 0:
                yield Hit(score, matcher.highlight(command.label), run, help=text)
