"""Panels whose content belongs to another revision than the one that is wanted: dimmed, and with words that say so."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

WAITING = "-waiting"
"""The class of a panel that shows what is not wanted any more."""


def show_waiting(panel: Widget, words: str) -> None:
    """Dim a panel until its content is there, and say in its border what is being read."""
    panel.add_class(WAITING)
    panel.border_subtitle = Content(words)


def end_waiting(panel: Widget) -> None:
    """Show a panel's content as what was wanted; its border is for the panel to word again."""
    panel.remove_class(WAITING)
