"""One declaration of a command gives its key, its palette entry, its place in the key bar and its row of help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, Literal, TypeVar

from textual.binding import Binding, BindingType

S = TypeVar("S")
T = TypeVar("T")
S_contra = TypeVar("S_contra", contravariant=True)
"""The screen that a command is for."""


@dataclass(frozen=True)
class Command(Generic[S_contra]):
    """Something a person can ask for."""

    id: str
    """Names it in the keymap of the configuration (`tui.keys`)."""
    key: str
    label: str
    help: str
    run: Callable[[S_contra], object]
    bar: bool | Literal["possible"] = True
    """Shown in the key bar, always or as long as the command is possible."""
    priority: bool = False
    """Works even while an input has the focus."""
    shown_as: str = ""
    """How the key is written; derived from the key when empty."""
    palette: bool = True
    blocked: Callable[[S_contra], str | None] | Sequence[Callable[[S_contra], str | None]] = ()
    """Functions that return why the command is not possible now, or None; the first reason counts."""
    shown: Callable[[S_contra], bool] | None = None
    """Says whether the command belongs into the key bar now, though it does not always."""

    def in_bar(self, screen: S_contra) -> bool:
        """True when the command belongs into the key bar."""
        if self.bar == "possible":
            return self.why_not(screen) is None
        return self.bar or (self.shown is not None and self.shown(screen))

    def why_not(self, screen: S_contra) -> str | None:
        """Why the command is not possible now; None when it is."""
        reasons = (self.blocked,) if callable(self.blocked) else self.blocked
        return next(filter(None, (reason(screen) for reason in reasons)), None)


_KEY_NAMES = {
    "question_mark": "?", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]", "plus": "+",
    "minus": "-", "enter": "⏎", "escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→",
    "pageup": "PgUp", "pagedown": "PgDn", "delete": "del", "full_stop": ".", "comma": ",", "equals_sign": "=",
    "less_than_sign": "<", "greater_than_sign": ">", "colon": ":",
}  # fmt: skip


def key_name(key: str) -> str:
    """A key as a person writes it: `ctrl+s` is `^s`, `question_mark` is `?`."""
    *modifiers, last = key.strip().split("+") if key not in {"+", "plus"} else ["plus"]
    name = _KEY_NAMES.get(last, last)
    for modifier in reversed(modifiers):
        name = f"^{name}" if modifier == "ctrl" else f"{modifier}+{name}"
    return name


def bindings(commands: Iterable[Command[Any]]) -> list[BindingType]:
    """Key bindings of commands; every key runs through `action_command`, which can say why not."""
    return [
        Binding(
            command.key,
            f"command('{command.id}')",
            command.label,
            show=command.bar is True,
            id=command.id,
            priority=command.priority,
            key_display=command.shown_as or None,
        )
        for command in commands
    ]


def unless(holds: Callable[[S], object], why: str) -> Callable[[S], str | None]:
    """Make the reason why a command is not possible: something is missing or false."""
    return lambda screen: None if holds(screen) else why


def with_target(target: Callable[[S], T | None] | str, run: Callable[[S, T], object]) -> Callable[[S], None]:
    """Make the function of a command that needs something of the screen, such as what is under the cursor.

    `target`: finds it, or the attribute that it is, such as `snapshots.current`.
    """
    find = attrgetter(target) if isinstance(target, str) else target

    def command(screen: S) -> None:
        if (item := find(screen)) is not None:
            run(screen, item)

    return command


def on_item(runs: Mapping[type, Callable[[Any, Any], None]]) -> Callable[[Any], None]:
    """Make the function of a command on the item under the cursor, `screen.item`, of those for each type of item."""

    def command(screen: Any) -> None:
        for kind, run in runs.items():
            if isinstance(screen.item, kind):
                run(screen, screen.item)
                return

    return command
