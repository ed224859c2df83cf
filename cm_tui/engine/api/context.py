"""The context: packs of code for a chat, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cm_tui.engine.api.needs import needs
from cm_tui.model import Pack, PackRequest


class ContextApi(Protocol):
    """What a chat needs to know, chosen by the engine or by a person."""

    @needs("files")
    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> Pack:
        """Choose what answers a question, within a budget of tokens."""

    @needs("files")
    def pack_items(self, items: Sequence[PackRequest], *, budget: int = 4000, question: str = "") -> Pack:
        """Make a pack of what a person chose, in that order."""

    @needs("files")
    def neighbours(self, items: Sequence[PackRequest]) -> tuple[PackRequest, ...]:
        """Return callers, callees and used types of what was chosen, nearest first."""
