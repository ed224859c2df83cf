"""Messages that cross from one mode to another; the application routes them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from cm_tui.model import CommitPoint, PackRequest, SymbolKey


class OpenSymbol(Message):
    """Show a symbol in the symbols mode: by key, or whatever stands at a line of a file."""

    def __init__(self, key: SymbolKey | None = None, *, path: str = "", line: int = 1) -> None:
        super().__init__()
        self.key = key
        self.path = key.path if key else path
        self.line = line


@dataclass
class OpenPath(Message):
    """Show a file in Symbols, at a line; `back` is the mode that Escape returns to, `note` is shown there."""

    path: str
    line: int = 1
    back: str = ""
    note: str = ""


@dataclass
class OpenRevision(Message):
    """Stand at a revision of the past, in every mode that can show it."""

    moment: CommitPoint
    note: str = ""
    asked: str = ""


@dataclass
class OpenSymbolHistory(Message):
    """Show the life of a symbol in the history mode."""

    key: SymbolKey


@dataclass
class OpenEpisode(Message):
    """Show in the history mode what an agent saw."""

    name: str


@dataclass
class ReadEpisode(Message):
    """Tell an episode in the episodes mode, among those of its session."""

    name: str
    session: str


@dataclass
class OpenSearch(Message):
    """Ask a question in the search mode."""

    query: str


@dataclass
class OpenMemory(Message):
    """Show an entry or a note in the memory mode: its kind, `entry` or `note`, and its id."""

    kind: str
    name: str


@dataclass
class OpenReview(Message):
    """Show the review queue with a filter, such as `kind:outdated`."""

    where: str


class AddToPack(Message):
    """Put lines of a file into the pack."""

    def __init__(self, *requests: PackRequest) -> None:
        super().__init__()
        self.requests = requests


class ProjectChanged(Message):
    """Sent to every mode that is on the stack: status, plan, index progress or the engine changed."""


class RevisionChanged(Message):
    """Sent to every mode: another revision is shown, or now."""


class PackSelectionChanged(Message):
    """Sent to every mode: what was chosen for the pack changed."""
