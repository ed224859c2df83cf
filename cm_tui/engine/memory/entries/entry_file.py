"""A file of entries: read as it is, written as a whole; a damaged one is set aside, never overwritten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.memory.entries.entry_record import read_entry
from cm_tui.engine.platform.git.conflict_marks import conflict_line
from cm_tui.errors import RefusedError, StoreError
from cm_tui.files import (
    Stamp,
    permissions_of,
    read_below,
    read_bounded,
    read_regular,
    remove_left_overs,
    set_aside,
    shared_dir,
    wait_until_quiet,
    write_if_unchanged,
)
from cm_tui.model import Entry, Scope
from cm_tui.same_names import twin_of
from cm_tui.state_file import holding, reported

FILE = "memory.json"
"""Name of a project's file, below its folder `.cm`."""
MOST_BYTES = 32_000_000
Stamps = list[Stamp | None]
"""What tells of several files that one of them has changed."""
_MOST_ATTEMPTS = 5
"""Of writing a file that another program saves again and again."""
_WRITABLE = 0o222
_VERSION = 1


@dataclass(slots=True)
class Content:
    """Content of a file."""

    items: list[Any] = field(default_factory=list)
    """Its entries as JSON values, including unreadable ones, which stay in place."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """The readable ones by id, in the order of the file."""
    other: dict[str, Any] = field(default_factory=dict)
    """The file's other data."""
    damaged: str = ""
    """Why all of it cannot be understood; empty: it can."""
    conflict: int = 0
    """Line of a git conflict; 0: none."""
    notes: tuple[str, ...] = ()
    """Messages for the user."""
    data: bytes | None = None
    """All of it, as it was read; None: there is no file."""


class EntryFile:
    """One file of entries. `root`: the project's root; None: the user's file."""

    def __init__(self, scope: Scope, root: Path | None) -> None:
        self.scope = scope
        self._root = root
        self.path = folder() / "user.json" if root is None else root / paths.PROJECT_FOLDER / FILE

    def read(self) -> Content:
        """Read the file.

        Raises RefusedError if it is a link, or is below one; StoreError if it is too long, or cannot be read.
        """
        try:
            data = self._bytes()
        except FileNotFoundError:
            twin = self._twin()
            return Content() if twin is None else Content(notes=(_twin_note(twin, self.path),))
        except OSError as error:
            if self._root is not None and self._leads_away():
                raise self._refusal() from error
            raise StoreError(
                f"Cannot read the entries in {self.path}: {error.strerror or error}.",
                hint="Check its permissions and size.",
            ) from error
        content = _content(data, self.scope, self.path)
        content.data = data
        return content

    def read_complete(self) -> Content:
        """Read the file; a half-written one is read again. Raises as `read` does."""
        content = self.read()
        if content.damaged:
            wait_until_quiet(self.path)
            content = self.read()
        return content

    def refuse_unwritable(self, content: Content) -> None:
        """Refuse to write a file that is read-only, in conflict, or whose name is another file's on macOS and Windows.

        Raises RefusedError if it may not be written.
        """
        if content.conflict:
            raise RefusedError(
                f"{self.path} has a conflict of git at line {content.conflict}: nothing is written to it.",
                hint="Resolve it in an editor first.",
            )
        permissions = permissions_of(self.path)
        if permissions is not None and not permissions & _WRITABLE:
            raise RefusedError(f"{self.path} is read-only.", hint="Make it writable for you.")
        if permissions is None and (twin := self._twin()) is not None:
            raise RefusedError(_twin_note(twin, self.path), hint=f"Rename it to {self.path}.")

    def write(self, content: Content, redo: Callable[[Content], None]) -> str:
        """Write the whole file.

        `content`: the new content; `redo`: makes the same change in another program's newer content. Returns a note on
        a damaged file that was set aside, else an empty text. Raises RefusedError if its folder is a link, or
        `refuse_unwritable` refuses it; StoreError if it cannot be written; CmError from `redo`.
        """
        for _ in range(_MOST_ATTEMPTS):
            self.refuse_unwritable(content)
            note = self._write_unless_changed(content)
            if note is not None:
                return note
            found = self.read_complete()
            if found.damaged:
                # A truncated file: it is set aside, and the entries read earlier stay.
                content = replace(content, damaged=found.damaged, data=found.data)
            else:
                redo(found)
                content = found
        raise StoreError(f"Another program keeps saving {self.path}: nothing is written.", hint="Try again.")

    def _write_unless_changed(self, content: Content) -> str | None:
        """Return the result of `write`; None: another program changed the file, and nothing is written."""
        plain = {**content.other, "version": content.other.get("version", _VERSION), "entries": content.items}
        data, note, before = _json(plain).encode("utf-8"), "", content.data
        with reported(self.path, "write the entries in"):
            if content.damaged:
                if read_regular(self.path, MOST_BYTES) != before:
                    return None
                note, before = self._set_aside(), None
            return note if self._write(data, before) else None

    def _write(self, data: bytes, before: bytes | None) -> bool:
        if self._root is None:
            paths.private_dir(self.path.parent)
            permissions: int | None = 0o600
        else:
            if self._leads_away():
                raise self._refusal()
            shared_dir(self.path.parent)
            permissions = permissions_of(self.path)
        remove_left_overs(self.path)
        return write_if_unchanged(self.path, data, before, permissions)

    def _bytes(self) -> bytes:
        if self._root is None:
            return read_bounded(self.path, MOST_BYTES)
        # It comes with a repository: no part of the way may lead elsewhere.
        return read_below(self._root, f"{paths.PROJECT_FOLDER}/{FILE}", MOST_BYTES)

    def _twin(self) -> Path | None:
        """Return the file or folder with the name of a missing file on macOS and Windows."""
        return None if self._root is None else twin_of(self._root, f"{paths.PROJECT_FOLDER}/{FILE}")

    def _leads_away(self) -> bool:
        return any(os.path.islink(part) for part in (self.path.parent, self.path))  # noqa: PTH114 - the link itself

    def _refusal(self) -> RefusedError:
        return RefusedError(
            f"{self.path} is a link, or is below one: its entries are neither read nor written.",
            hint="Put an ordinary folder there, or use the user's entries: `cm remember --scope user`.",
        )

    def _set_aside(self) -> str:
        """Give a file that cannot be understood another name."""
        kept = set_aside(self.path)
        return f"{self.path} could not be understood; it is kept as {kept.name}." if kept else ""


def folder() -> Path:
    """Return the folder of the user's entries and of the ledgers."""
    return paths.data_dir() / "entries"


def writing() -> AbstractContextManager[None]:
    """Hold all files of entries: no other process or thread changes one meanwhile.

    Raises StoreError if another one holds the lock, or the folder cannot be used.
    """
    return holding(folder() / "lock")


def _content(data: bytes, scope: Scope, path: Path) -> Content:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if (line := conflict_line(data.decode("utf-8", "replace"))) is not None:
            return Content(damaged="a conflict of git", conflict=line, notes=(_conflict(path, line),))
        return _damaged(path, "not JSON" if not isinstance(error, UnicodeDecodeError) else "not UTF-8")
    items = found.get("entries") if isinstance(found, dict) else found
    if not isinstance(items, list):
        return _damaged(path, "no list of entries")
    other = {name: value for name, value in found.items() if name != "entries"} if isinstance(found, dict) else {}
    content = Content(items=items, other=other)
    unread = twice = 0
    for item in items:
        entry = read_entry(item, scope)
        if entry is None:
            unread += 1
        elif entry.id in content.entries:
            twice += content.entries[entry.id] != entry
        else:
            content.entries[entry.id] = entry
    content.notes = tuple(_notes(path, unread, twice))
    return content


def _damaged(path: Path, why: str) -> Content:
    said = f"{path} cannot be understood ({why}): none of its entries is known. Fix it; the next `cm remember` puts it aside."
    return Content(damaged=why, notes=(said,))


def _twin_note(twin: Path, path: Path) -> str:
    return f"{twin} has the name of {path} on macOS and Windows: entries are neither read from it nor written."


def _conflict(path: Path, line: int) -> str:
    return f"{path} has a conflict of git at line {line}: none of its entries is known until it is resolved."


def _notes(path: Path, unread: int, twice: int) -> Iterator[str]:
    if unread:
        yield f"{count(unread, 'entry', 'entries')} of {path} cannot be understood and {noun(unread, 'is', 'are')} left as {noun(unread, 'it is', 'they are')}."
    if twice:
        yield f"{count(twice, 'entry', 'entries')} of {path} {noun(twice, 'has', 'have')} the id of another one; the first counts."


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1)
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Text from another program: JSON's escapes preserve it.
        text = json.dumps(value, ensure_ascii=True, indent=1)
    return text + "\n"
