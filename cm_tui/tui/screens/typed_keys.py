"""Keys typed faster than their commands are done, each delivered once the one before had its effect; undo of typing."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App
from textual.events import Event, Key, Paste
from textual.widgets import Input

_LOOK_S = 0.002
_LONGEST_S = 0.5
"""Seconds after which a key no longer waits for the one before: what keeps messages coming may have nothing to do with it."""


class TypedKeys:
    """Holds keys back while the last one's messages are not all handled: it may lead to another mode or another widget.

    Args:
        app: has the keys, and the queues of messages.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._held: deque[Key] = deque()
        self._released: Key | None = None
        self._is_busy = False
        self._until = 0.0

    @property
    def waiting(self) -> bool:
        """True while keys wait for the effect of the one before."""
        return bool(self._held) or self._released is not None

    def holds(self, key: Key) -> bool:
        """Return whether a key has to wait; it comes again once it is its turn."""
        if key is self._released:
            self._released = None
            return False
        if self._is_busy:
            self._held.append(key)
        return self._is_busy

    def follow(self) -> None:
        """Hold further keys until the messages of the one that was just handed on are handled."""
        self._is_busy, self._until = True, monotonic() + _LONGEST_S
        asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        if not self._app.is_running:
            return
        if self._must_wait():
            asyncio.get_running_loop().call_later(_LOOK_S, self._look)
        else:
            # The application may be in the middle of something, such as opening a mode: that has no message in a queue.
            self._app.call_later(self._end)

    def _end(self) -> None:
        if self._must_wait():
            asyncio.get_running_loop().call_soon(self._look)
        elif self._held:
            self._released = self._held.popleft()
            self._app.post_message(self._released)
        else:
            self._is_busy = False

    def _must_wait(self) -> bool:
        stack, now = self._app.screen_stack, monotonic()
        if stack and not stack[-1].is_mounted:
            # However long a screen takes to open: nothing of it has the focus before.
            self._until = now + _LONGEST_S
            return True
        return now < self._until and (
            bool(self._app.message_queue_size)
            or (bool(stack) and any(one.message_queue_size for one in stack[-1].walk_children(with_self=True)))
        )


# --- undo of typing: Textual's inputs of one line have none ---

_MOST_VALUES = 50


class TypingUndo:
    """Earlier values of the inputs of one line, for `Ctrl+Z`: a run of letters at a time."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Input, deque[str]] = WeakKeyDictionary()
        self._in_word = False

    def follow(self, focused: object, event: Event) -> bool:
        """Note what an input holds before a key or a paste changes it; return whether the key was `Ctrl+Z`, and done."""
        if not isinstance(focused, Input) or not isinstance(event, Key | Paste):
            return False
        values = self._values.setdefault(focused, deque(maxlen=_MOST_VALUES))
        if isinstance(event, Key) and event.key == "ctrl+z":
            self._in_word = False
            while values and values[-1] == focused.value:
                values.pop()
            if values:
                focused.value = values.pop()
                focused.action_end()
            return True
        goes_on = self._in_word and not focused.selected_text
        self._in_word = isinstance(event, Key) and (event.character or "").isalnum()
        if not (goes_on and self._in_word) and (not values or values[-1] != focused.value):
            values.append(focused.value)
        return False
