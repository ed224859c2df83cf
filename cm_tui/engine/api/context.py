"""The context: packs of code and entries for a chat, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Injection, Pack, PackRequest


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

    @needs("nothing")
    def inject(
        self, *, budget: int = 2000, scope: str = "", category: str = "", prompt: str = "", files: Sequence[str] = ()
    ) -> Injection:
        """Return entries as text for a prompt: by scope and category, the most valuable within a budget of tokens.

        What waits for trust, is never recalled, or is a Rule that no person approved stays out, and is counted.

        Args:
            budget: tokens.
            scope: only those of `user` or `project`; empty: of both.
            category: only those of this one; empty: of all.
            prompt: what is asked: entries that are about it come first.
            files: paths that are worked on: entries that name them come first.

        Raises:
            UsageError: there is no such scope or category.
            StoreError: a file cannot be read.
        """
