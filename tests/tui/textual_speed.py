"""Costs of Textual under test that say nothing about the application: waiting by the clock, styles, unseen drawing.

Textual's pilot takes an application for idle once the process needs little time, which costs 20 ms for every key and
says little where threads work. Here messages are counted instead: nothing is on its way once no queue holds one.
Styles are parsed for every application that starts; here, the same text with the same colours is parsed once.
Every change is drawn for a terminal that is not there; here, the screen is drawn when a test reads it, but for lists
that ask for rows when they come to draw them. A line that is drawn once or twice needs none of its seven caches.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import active_app
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message_pump import MessagePump
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from cm_tui.tui.modes.history.commit_panel import CommitList
from cm_tui.tui.modes.memory.inventory import ItemList
from cm_tui.tui.modes.review.proposal_lines import ProposalList

Key = tuple[object, ...]

FETCHING = (CommitList, ItemList, ProposalList)
"""Lists that ask for rows when they come to draw them."""
_UNDRAWN = (
    "_layout_required", "_scroll_required", "_repaint_required", "_recompose_required", "_dirty_widgets", "_callbacks",
)  # fmt: skip
TURNS = 20
"""Turns of the loop in which most messages are handled."""
LONGEST = 60
"""Seconds after which messages are taken never to come to an end."""
drawn: WeakKeyDictionary[Compositor, list[Strip]] = WeakKeyDictionary()
"""What tests have read of a screen that has not changed since."""


def waiting(app: App) -> list[object]:
    """Return what waits to be handled, or is being handled, by the application, its screen or what is on it."""
    typed = getattr(app, "typed_keys", None)
    found = ["typed keys"] * bool(typed is not None and typed.waiting) + ["a resize"] * (app._resize_event is not None)
    pumps: list[MessagePump] = [app]
    widgets: list[Widget] = [app.screen] if app.screen_stack else []
    while widgets:
        # Textual's own walk takes a fifth of the time of a key.
        pumps.append(widget := widgets.pop())
        widgets += widget._nodes._nodes
    return [*found, *(pump for pump in pumps if _is_busy(pump))]


def _is_busy(pump: MessagePump) -> bool:
    """Return whether a pump does anything but wait for the next message."""
    queue = pump._message_queue
    return (
        pump._running
        and not pump._closing
        and bool(pump._next_callbacks or queue.values or not queue.ready_event._waiters)
    )


def unrest(app: App) -> list[object]:
    """Return what is not at rest: messages that wait, what moves, and what the screen has left to lay out or draw."""
    return waiting(app) or [
        part
        for owner, parts in ((app.animator, ("_animations", "_scheduled")), (app.screen, _UNDRAWN))
        for part in parts
        if getattr(owner, part)
    ]


def strips_of(screen: Screen) -> list[Strip]:
    """Return what is on a screen, line by line; drawn again only after a change."""
    compositor = screen._compositor
    if compositor not in drawn or any(getattr(screen, part) for part in _UNDRAWN) or waiting(screen.app):
        drawn[compositor] = compositor.render_strips()
    return drawn[compositor]


class NoCache:
    """Stands for every cache of a line on screen."""

    def get(self, key: object, default: object = None) -> object:
        return default

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""


no_cache = NoCache()


async def messages_handled(min_sleep: float = 0, max_sleep: float = 0) -> None:
    """Wait until no message waits to be handled, in place of Textual's `wait_for_idle`."""
    app, turns = active_app.get(), 0
    async with asyncio.timeout(LONGEST):
        await asyncio.sleep(0)
        while app._exception is None and waiting(app):
            turns += 1
            # What takes longer waits for a timer or a thread, which would get less time.
            await asyncio.sleep(0 if turns < TURNS else 0.001)


async def screen_handled(pilot: Pilot) -> bool:
    """Wait for the same in place of the pilot's own way, which sends a message to each widget."""
    await messages_handled()
    return pilot.app._exception is None


def apply(patch: pytest.MonkeyPatch) -> None:
    """Wait for messages, not for the clock; parse a style once; draw what is read."""
    patch.setattr("textual.app.wait_for_idle", messages_handled)
    patch.setattr("textual.pilot.wait_for_idle", messages_handled)
    patch.setattr(Pilot, "_wait_for_screen", screen_handled)
    # Words to the user stay until they are cleared, however slow the machine is.
    patch.setattr(Notification, "has_expired", False)
    # A mode that is gone to is not drawn for 50 ms, which a test would wait for at full speed.
    delay = App.delay_update
    patch.setattr(App, "delay_update", lambda app: delay(app, 0.001))
    draw = Compositor.render_update

    def draw_what_is_exported(compositor: Compositor, full: bool = False, **options: Any) -> RenderableType | None:
        drawn.pop(compositor, None)
        if full:
            return draw(compositor, full, **options)
        compositor._dirty_regions.clear()
        for widget in compositor.visible_widgets:
            if isinstance(widget, FETCHING):
                width, last = widget.scrollable_content_region.width, widget.row_at(widget.size.height - 1)
                for index in range(widget.row_at(0), min(last + 1, len(widget.rows))):
                    # As words: their colours are for a terminal.
                    widget.draw_line(widget.rows[index], 0, width)
        return None

    patch.setattr(Compositor, "render_update", draw_what_is_exported)
    patch.setattr("textual.strip.FIFOCache", lambda _: no_cache)
    # As it is, by identity; but a call of Python code for each, a hundred thousand times in a start.
    patch.setattr(RuleSet, "__hash__", object.__hash__)
    parse = Stylesheet._parse_rules
    parsed: dict[Key, list[RuleSet]] = {}

    def parse_once(sheet: Stylesheet, css: str, *where: object, **options: object) -> list[RuleSet]:
        key = (css, where, tuple(options.items()), tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *where, **options)
        return parsed[key]

    patch.setattr(Stylesheet, "_parse_rules", parse_once)
