"""JSON files with one list, which users, git and other programs write too: read as they are, written as a whole.

A damaged file is set aside, never overwritten; what else a file holds stays in it. What was read or written last is kept in
memory, so that each further item of a long list costs little.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from cm_tui import paths
from cm_tui.engine.platform.git.conflict_marks import conflict_line
from cm_tui.errors import RefusedError, StoreError
from cm_tui.files import (
    permissions_of,
    read_below,
    read_bounded,
    read_regular,
    set_aside,
    wait_until_quiet,
    write_if_unchanged,
)
from cm_tui.lru import LRU
from cm_tui.same_names import twin_of
from cm_tui.state_file import make_room, reported

_MOST_ATTEMPTS = 5
"""Of writing a file that another program saves again and again."""
_WRITABLE = 0o222
VERSION = 1


@dataclass(slots=True)
class ListContent:
    """Content of a file."""

    items: list[Any] = field(default_factory=list)
    """Its list as JSON values, including invalid ones, which stay."""
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
    texts: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    """Items as they are in the file, by `id`, and the written text of each if known: a held item's `id` stays its own."""


C = TypeVar("C", bound=ListContent)
_last: LRU[Path, Any] = LRU(4_000_000, lambda content: len(content.data))
"""Contents as they were read or written last, with that many bytes together; not changed in here."""


class ListFile(ABC, Generic[C]):
    """One such file. `name`: of a project's file, below its folder `.cm`, or the user's own file."""

    key: ClassVar[str]
    """Key of the list, and what its items are called."""
    most_bytes: ClassVar[int]
    next_write: ClassVar[str]
    """What sets a damaged file aside."""
    instead: ClassVar[str] = "Replace it with a regular file or folder."
    """The hint where a project's folder is a link."""
    indent: ClassVar[int | None] = 1
    """Of an item's fields; None: an item a line."""

    def __init__(self, root: Path | None, name: str | Path) -> None:
        self._root = root
        self._inside = f"{paths.PROJECT_FOLDER}/{name}"
        self.path = Path(name) if root is None else root / self._inside

    @abstractmethod
    def understood(self, items: list[Any], other: dict[str, Any], last: C | None = None) -> C:
        """Return the content of a readable file. `last`: an earlier content, which may have some of the items."""

    @abstractmethod
    def empty(self) -> C:
        """Return the content of a file without items."""

    def listed(self, found: Any) -> Any:
        """Return the list in the JSON value of a file; anything else: no list."""
        return found.get(self.key) if isinstance(found, dict) else None

    def _joined(self, content: C, texts: Sequence[bytes]) -> bytes:
        head = _encoded({**self.head(content), self.key: []}, 1).removesuffix(b"[]\n}")
        return head + (b"[\n  %b\n ]\n}\n" % b",\n  ".join(texts) if texts else b"[]\n}\n")

    def _texts(self, content: C) -> list[bytes]:
        none = None, b""
        # No text in JSON has a line break: each one is between two parts.
        return [
            content.texts.get(id(item), none)[1] or _encoded(item, self.indent).replace(b"\n", b"\n  ")
            for item in content.items
        ]

    def head(self, content: C) -> dict[str, Any]:
        """Return what a file holds before its list."""
        return {**content.other, "version": content.other.get("version", VERSION)}

    # --- reading ---

    def read(self) -> C:
        """Read the file.

        Raises RefusedError if it is a link, or is below one; StoreError if it is too long, or cannot be read.
        """
        try:
            data = self._bytes()
        except FileNotFoundError:
            twin = self._twin()
            return self.empty() if twin is None else replace(self.empty(), notes=(self._twin_note(twin),))
        except OSError as error:
            if self._leads_away():
                raise self._refusal() from error
            raise StoreError(
                f"Cannot read the {self.key} in {self.path}: {error.strerror or error}.",
                hint="Check its permissions and size.",
            ) from error
        content: C | None = _last.get(self.path)
        if content is None or content.data != data:
            content = self._content(data)
            content.data, content.texts = data, {id(item): (item, b"") for item in content.items}
            if not content.damaged:
                _last.put(self.path, content)
        return replace(content, items=[*content.items])

    def read_complete(self) -> C:
        """Read the file; a half-written one is read again. Raises as `read` does."""
        content = self.read()
        if content.damaged:
            wait_until_quiet(self.path)
            content = self.read()
        return content

    def _content(self, data: bytes) -> C:
        try:
            found = json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            if (line := conflict_line(data.decode("utf-8", "replace"))) is not None:
                note = (
                    f"{self.path} has a git conflict at line {line}: its {self.key} are ignored until it is resolved."
                )
                return replace(self.empty(), damaged="a git conflict", conflict=line, notes=(note,))
            return self._damaged("not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON")
        items = self.listed(found)
        if not isinstance(items, list):
            return self._damaged(f"not a list of {self.key}")
        rest = found.items() if isinstance(found, dict) else ()
        return self.understood(items, {name: value for name, value in rest if name != self.key})

    def _damaged(self, why: str) -> C:
        note = (
            f"{self.path} is not valid ({why}): its {self.key} are ignored. "
            f"Fix it; the next {self.next_write} moves it aside."
        )
        return replace(self.empty(), damaged=why, notes=(note,))

    # --- writing ---

    def refuse_unwritable(self, content: C) -> None:
        """Refuse to write a file that is read-only, in conflict, or whose name is another file's on macOS and Windows.

        Raises RefusedError if it may not be written.
        """
        if content.conflict:
            raise RefusedError(
                f"{self.path} has a git conflict at line {content.conflict}; nothing was written.",
                hint="Resolve it in an editor first.",
            )
        permissions = permissions_of(self.path)
        if permissions is not None and not permissions & _WRITABLE:
            raise RefusedError(f"{self.path} is read-only.", hint="Make it writable for you.")
        if permissions is None and (twin := self._twin()) is not None:
            raise RefusedError(self._twin_note(twin), hint=f"Rename it to {self.path}.")

    def write(self, content: C, redo: Callable[[C], None]) -> str:
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
                # A truncated file: it is set aside, and the items read earlier stay.
                content = replace(content, damaged=found.damaged, data=found.data)
            else:
                redo(found)
                content = found
        raise StoreError(f"Another program keeps saving {self.path}; nothing was written.", hint="Try again.")

    def _write_unless_changed(self, content: C) -> str | None:
        """Return the result of `write`; None: another program changed the file, and nothing is written."""
        texts = self._texts(content)
        data, note, before = self._joined(content, texts), "", content.data
        with reported(self.path, f"write the {self.key} in"):
            if content.damaged:
                if read_regular(self.path, self.most_bytes) != before:
                    return None
                note, before = self._set_aside(), None
            if not self._write(data, before):
                return None
        self._keep(content, texts, data)
        return note

    def _keep(self, content: C, texts: Sequence[bytes], data: bytes) -> None:
        """Keep what was written as it will be read: new items are read from their texts."""
        known = content.texts
        pairs = zip(content.items, texts, strict=True)
        items = [item if id(item) in known else json.loads(text) for item, text in pairs]
        now = self.understood(items, self.head(content), content)
        now.data, now.texts = data, {id(item): (item, text) for item, text in zip(items, texts, strict=True)}
        _last.put(self.path, now)

    def _write(self, data: bytes, before: bytes | None) -> bool:
        if self._leads_away():
            raise self._refusal()
        return write_if_unchanged(self.path, data, before, make_room(self.path, private=self._root is None))

    def _set_aside(self) -> str:
        """Give a file that cannot be understood another name."""
        kept = set_aside(self.path)
        return f"{self.path} was not valid; it is kept as {kept.name}." if kept else ""

    # --- its place ---

    def _bytes(self) -> bytes:
        if self._root is None:
            return read_bounded(self.path, self.most_bytes)
        # It comes with a repository: no part of the way may lead elsewhere.
        return read_below(self._root, self._inside, self.most_bytes)

    def _twin(self) -> Path | None:
        """Return the file or folder with the name of a missing file on macOS and Windows."""
        return None if self._root is None else twin_of(self._root, self._inside)

    def _twin_note(self, twin: Path) -> str:
        return f"{twin} has the same name as {self.path} on macOS and Windows: {self.key} are neither read from it nor written."

    def _leads_away(self) -> bool:
        return self._root is not None and any(map(os.path.islink, (self.path.parent, self.path)))

    def _refusal(self) -> RefusedError:
        return RefusedError(
            f"{self.path} is a symbolic link or below one: its {self.key} are neither read nor written.",
            hint=self.instead,
        )


def _encoded(value: Any, indent: int | None) -> bytes:
    """Return a value as JSON; text of other programs that is no UTF-8 is kept by JSON's escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent).encode("ascii")
