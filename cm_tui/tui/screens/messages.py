"""Messages that cross from one mode to another; the application routes them."""

from __future__ import annotations

from textual.message import Message

from cm_tui.model import CommitPoint, PackRequest, SymbolKey


class OpenSymbol(Message):
    """Show a symbol in the symbols mode: by key, or whatever stands at a line of a file."""

    def __init__(self, key: SymbolKey | None = None, *, path: str = "", line: int = 1) -> None:
        super().__init__()
        self.key = key
        self.path = key.path if key else path
        self.line = line


class OpenPath(Message):
    """Show a file in Symbols, at a line; `back` is the mode that Escape returns to, `note` is shown there."""

    def __init__(self, path: str, line: int = 1, *, back: str = "", note: str = "") -> None:
        super().__init__()
        self.path = path
        self.line = line
        self.back = back
        self.note = note


class OpenRevision(Message):
    """Stand at a revision of the past, in every mode that can show it."""

    def __init__(self, moment: CommitPoint, note: str = "", asked: str = "") -> None:
        super().__init__()
        self.moment = moment
        self.note = note
        self.asked = asked


class OpenSymbolHistory(Message):
    """Show the life of a symbol in the history mode."""

    def __init__(self, key: SymbolKey) -> None:
        super().__init__()
        self.key = key


class OpenEpisode(Message):
    """Show in the history mode what an agent saw."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class ReadEpisode(Message):
    """Tell an episode in the episodes mode, among those of its session."""

    def __init__(self, name: str, session: str) -> None:
        super().__init__()
        self.name = name
        self.session = session


class OpenSearch(Message):
    """Ask a question in the search mode."""

    def __init__(self, query: str) -> None:
        super().__init__()
        self.query = query


class OpenMemory(Message):
    """Show an entry or a note in the memory mode: its kind, `entry` or `note`, and its id."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.kind = kind
        self.name = name


class OpenReview(Message):
    """Show the review queue with a filter, such as `kind:outdated`."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where


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
