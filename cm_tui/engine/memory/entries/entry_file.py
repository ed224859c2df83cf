"""A file of entries: those of a project, or the user's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.memory.entries.entry_record import read_entry
from cm_tui.engine.platform.list_file import ListContent, ListFile
from cm_tui.files import Stamp
from cm_tui.model import Entry, Scope
from cm_tui.state_file import holding

FILE = "memory.json"
"""Name of a project's file, below its folder `.cm`."""
Stamps = list[Stamp | None]
"""What tells of several files that one of them has changed."""


@dataclass(slots=True)
class Content(ListContent):
    """Content of a file."""

    entries: dict[str, Entry] = field(default_factory=dict)
    """The readable ones by id, in the order of the file."""


class EntryFile(ListFile[Content]):
    """One file of entries. `root`: the project's root; None: the user's file."""

    key = "entries"
    most_bytes = 32_000_000
    next_write = "`cm remember`"
    instead = "Replace it with a regular folder, or save entries for all projects: `cm remember --scope user`."
    empty = Content

    def __init__(self, scope: Scope, root: Path | None) -> None:
        super().__init__(root, folder() / "user.json" if root is None else FILE)
        self.scope = scope

    def listed(self, found: Any) -> Any:
        """Return the list, which may be all of the file."""
        return super().listed(found) if isinstance(found, dict) else found

    def understood(self, items: list[Any], other: dict[str, Any]) -> Content:
        """Read the entries; of several with one id the first counts."""
        content = Content(items=items, other=other)
        unread = twice = 0
        for item in items:
            entry = read_entry(item, self.scope)
            if entry is None:
                unread += 1
            elif entry.id in content.entries:
                twice += content.entries[entry.id] != entry
            else:
                content.entries[entry.id] = entry
        content.notes = tuple(_notes(self.path, unread, twice))
        return content


def folder() -> Path:
    """Return the folder of the user's entries and of the ledgers."""
    return paths.data_dir() / "entries"


def writing() -> AbstractContextManager[None]:
    """Hold all files of entries: no other process or thread changes one meanwhile.

    Raises StoreError if another one holds the lock, or the folder cannot be used.
    """
    return holding(folder() / "lock")


def _notes(path: Path, unread: int, twice: int) -> Iterator[str]:
    if unread:
        yield f"{count(unread, 'entry', 'entries')} of {path} {noun(unread, 'is', 'are')} not valid: ignored and left unchanged."
    if twice:
        yield f"{count(twice, 'entry', 'entries')} of {path} {noun(twice, 'has', 'have')} the id of another one; only the first is used."
