"""The existing notes, without scanning all files for each request."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import load_config
from cm_tui.config.load import Stamps, stamps_of
from cm_tui.engine.memory.notes.places import ENDINGS, Found, Places, agent_folders
from cm_tui.engine.memory.notes.scan import FolderScan, fixed, scan_folders, sign_of
from cm_tui.errors import CmError
from cm_tui.files import Stamp
from cm_tui.lru import LRU

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_LONG_LIVED_S = 1.0
"""A process that asks again after so long is long-lived: from then on it watches the folders instead of scanning."""
_LOOK_MS = 1
_DELETED = 3
"""Number of deletions and moves in `watchfiles`."""
_MOST_TOLD = 1_000
"""Files that are looked at one by one; where more have changed, all are looked at."""
_MOST_PROJECTS = 32
"""Projects whose notes one process watches; the last used ones stay."""


@dataclass(frozen=True)
class NoteScan:
    """A look at all notes."""

    singles: Mapping[str, tuple[Found, Stamp]]
    folders: FolderScan

    @cached_property
    def found(self) -> Mapping[str, tuple[Found, Stamp]]:
        """Return each with its change stamp, by id."""
        return {**self.folders.found, **self.singles}

    @property
    def sign(self) -> str:
        """Return a change stamp of all of them."""
        return f"{self.folders.sign:x}/{sign_of(self.singles):x}"


class _Watched:
    """The note folders of one project, scanned again when the system reports a change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: FolderScan | None = None
        self._first = 0.0
        self._paths: dict[str, int] = {}
        self._events: RustNotify | None = None
        self._written: set[str] = set()

    def wrote(self, file: str) -> None:
        """Record that this process wrote or removed a file, before the system reports it."""
        with self._lock:
            self._written.add(file)

    def scan(self, places: Places) -> FolderScan:
        """Return the current content of the folders."""
        paths = {str(one.folder): _inode(one.folder) for one in places.folders if not one.leads_away}
        paths = {path: inode for path, inode in paths.items() if inode}
        with self._lock:
            now = time.monotonic()
            if self._known is None:
                self._first = now
            elif self._events is not None and paths == self._paths:
                told = self._changed_files()
                written, self._written = self._written, set()
                if told is not None:
                    told |= {one for one in written if one.startswith(tuple(f"{path}{os.sep}" for path in paths))}
                if told is not None and (known := self._known.with_changes(places, told)) is not None:
                    self._known = known if told else self._known
                    return self._known
            elif now - self._first > _LONG_LIVED_S:
                # Before the scan, so that changes during it are reported.
                self._watch(paths)
            self._known = scan_folders(places)
            return self._known

    def end(self) -> None:
        """Stop watching."""
        with self._lock:
            self._close()

    def _watch(self, paths: dict[str, int]) -> None:
        from watchfiles._rust_notify import RustNotify

        self._close()
        # Where the system cannot watch, the folders are looked through before each question.
        with suppress(OSError, RuntimeError):
            self._events = RustNotify(list(paths), False, False, 0, True, True)
        self._paths = paths

    def _changed_files(self) -> set[str] | None:
        """Return the files that the system reports as changed; None: too many, or unknown."""
        assert self._events is not None
        try:
            found = self._events.watch(0, 0, _LOOK_MS, None)
        except (OSError, RuntimeError):
            self._close()
            return None
        if isinstance(found, str):
            if found == "signal":
                raise KeyboardInterrupt
            return set()
        if any(kind == _DELETED and path in self._paths for kind, path in found):
            # In place of the folder there may be another one of the same number, which is not watched.
            self._close()
            return None
        files = {path for _, path in found if path.endswith(ENDINGS) or _may_be_folder(path)}
        return files if len(files) <= _MOST_TOLD else None

    def _close(self) -> None:
        if self._events is not None:
            with suppress(RuntimeError):
                self._events.close()
        self._events, self._paths = None, {}


def _inode(folder: Path) -> int:
    """Return the inode of a folder; 0: no such folder."""
    try:
        found = folder.stat()
    except (OSError, ValueError):
        return 0
    return found.st_ino if stat.S_ISDIR(found.st_mode) else 0


def _may_be_folder(path: str) -> bool:
    """Return whether a path is a folder, or was one: an editor writes its own files next to the saved one."""
    name = path.rpartition(os.sep)[2]
    if os.path.lexists(path):
        return os.path.isdir(path)  # noqa: PTH112 - a plain check
    return not name.startswith(".") and not name.endswith(("~", ".tmp", ".swp", ".swx"))


_watched: LRU[tuple[str, ...], _Watched] = LRU(_MOST_PROJECTS)
_lock = threading.Lock()


def places_of(root: Path) -> Places:
    """Return the places of a project's notes by the current settings."""
    variables = tuple(sorted(one for one in os.environ.items() if one[0].startswith("CM_")))
    try:
        extra = _note_folders(root, stamps_of(root), variables)
    except CmError:
        # Opening the project reports what is wrong with its settings.
        extra = ()
    return Places(root, extra, agent_folders(os.environ))


@lru_cache(maxsize=_MOST_PROJECTS)
def _note_folders(root: Path, _stamps: Stamps, _variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the folders that the settings name; all settings are checked, which takes longer than the rest of a look.

    `_stamps` and `_variables`: what the settings depend on. Raises CmError if the settings cannot be read.
    """
    return load_config(root).memory.note_folders


def scan_notes(places: Places) -> NoteScan:
    """Return the current notes."""
    key = (str(places.root), *(str(one.folder) for one in places.folders))
    with _lock:
        watched = _watched.get(key) or _Watched()
        left = _watched.put(key, watched)
    for _, one in left:
        one.end()
    return NoteScan({one.id: (one, stamp) for one, stamp in fixed(places)}, watched.scan(places))


def wrote(file: Path) -> None:
    """Take notice of a file that this process has written or removed: the next reader finds it changed."""
    for one in _watched.values():
        one.wrote(str(file))


def forget(root: Path) -> None:
    """Stop watching the notes of a project."""
    with _lock:
        left = [_watched.pop(key) for key in _watched if key[0] == str(root)]
    for one in left:
        if one is not None:
            one.end()
