"""Messages that cross from one mode to another; the application routes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from textual.message import Message

from cm_tui import model


class OpenInMode(Message):
    """Leads to another mode: the application shows it, and calls a method of its screen with the fields of the message."""

    opens: ClassVar[str] = ""
    """Mode and method, such as `symbols.open_symbol`."""

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        cls.handler_name = "on_open_in_mode"


@dataclass
class OpenSymbol(OpenInMode):
    """Show a symbol in the symbols mode: by key, or whatever stands at a line of a file; with both the nearest one."""

    opens = "symbols.open_symbol"
    key: model.SymbolKey | None = None
    path: str = ""
    line: int = 0


@dataclass
class OpenPath(OpenInMode):
    """Show a file in Symbols, at a line; `back` is the mode that Escape returns to, `note` is shown there."""

    opens = "symbols.open_path"
    path: str
    line: int = 1
    back: str = ""
    note: str = ""


@dataclass
class OpenRevision(Message):
    """Stand at a revision of the past, in every mode that can show it."""

    moment: model.CommitPoint
    note: str = ""
    requested: str = ""


@dataclass
class OpenSymbolHistory(OpenInMode):
    """Show the life of a symbol in the history mode."""

    opens = "history.open_life"
    key: model.SymbolKey


@dataclass
class OpenEpisode(OpenInMode):
    """Show in the history mode what an agent saw."""

    opens = "history.open_episode"
    name: str


@dataclass
class ReadEpisode(OpenInMode):
    """Show an episode in the episodes mode, among those of its session."""

    opens = "episodes.open_turn"
    name: str
    session: str


@dataclass
class OpenSearch(OpenInMode):
    """Ask a question in the search mode, by a profile: `recall` is all memory; empty: one that searches code."""

    opens = "search.search_for"
    query: str
    profile: str = ""


@dataclass
class OpenMemory(OpenInMode):
    """Show an entry or a note in the memory mode: its kind, `entry` or `note`, and its id."""

    opens = "memory.open_item"
    kind: str
    name: str


@dataclass
class OpenReview(OpenInMode):
    """Show the review queue with a filter, such as `kind:outdated`."""

    opens = "review.open_queue"
    where: str


class AddToPack(Message):
    """Put lines of a file into the pack."""

    def __init__(self, *requests: model.PackRequest) -> None:
        super().__init__()
        self.requests = requests


class RevisionChanged(Message):
    """Sent to every mode: another revision is shown, or now."""


class PackSelectionChanged(Message):
    """Sent to every mode: what was chosen for the pack changed."""
