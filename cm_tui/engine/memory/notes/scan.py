"""Scanning the folders of notes without reading a file; a long-lived process watches them instead."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import load_config
from cm_tui.config.load import Stamps, stamps_of
from cm_tui.engine.memory.notes.places import DEEPEST, ENDINGS, Folder, Found, Places, agent_folders, below_a_link
from cm_tui.errors import CmError
from cm_tui.files import Stamp
from cm_tui.lru import LRU
from cm_tui.same_names import name_key

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify


# --- scanning the folders of notes, without reading a file ---

MOST_NOTES = 100_000
"""Further notes are not scanned: no project has that many."""


@dataclass(frozen=True)
class FolderScan:
    """The notes in folders.

    Args:
        found: each with its change stamp, by id.
        sign: change stamp of all of them.
        notes: messages on skipped paths.
    """

    found: Mapping[str, tuple[Found, Stamp]]
    sign: int
    notes: tuple[str, ...] = ()

    def with_changes(self, places: Places, files: Collection[str]) -> FolderScan | None:
        """Return the same with some files updated; None: more than files has changed.

        `files`: absolute paths.
        """
        found, sign = dict(self.found), self.sign
        for file in files:
            place = _place_in(places, file)
            if place is None:
                return None
            if (old := found.pop(place.id, None)) is not None:
                sign -= _sign_of_one(place.id, old)
            if (stamp := stamp_of(place)) is not None:
                found[place.id] = (place, stamp)
                sign += _sign_of_one(place.id, found[place.id])
        return FolderScan(found, sign, self.notes)


def sign_of(found: Mapping[str, tuple[Found, Stamp]]) -> int:
    """Return an id of the state of some notes, in any order."""
    return sum(_sign_of_one(id_, one) for id_, one in found.items())


def _sign_of_one(id_: str, one: tuple[Found, Stamp]) -> int:
    place, stamp = one
    said = f"{id_}\0{place.base}\0{stamp.changed_ns}\0{stamp.size}\0{stamp.inode}"
    return int.from_bytes(hashlib.blake2b(said.encode("utf-8", "surrogateescape"), digest_size=8).digest())


def _place_in(places: Places, file: str) -> Found | None:
    """Return the place of a file in a folder of notes; None: it is a folder, or not a note."""
    for folder in places.folders:
        base = f"{folder.base}{os.sep}"
        if file.startswith(f"{folder.folder}{os.sep}") and file.endswith(ENDINGS):
            path = file[len(base) :].replace(os.sep, "/")
            # Skip what the folder scan skips.
            plain = _is_text(path) and not any(
                part.startswith(".") for part in path[len(folder.path) :].split("/")[:-1]
            )
            return folder.place_of(path) if plain else None
    return None


def scan_folders(places: Places) -> FolderScan:
    """Scan all folders; links are skipped."""
    found: dict[str, tuple[Found, Stamp]] = {}
    notes: list[str] = []
    for folder in places.folders:
        if folder.leads_away:
            notes.append(f"{folder.folder} is a symbolic link or below one: its notes are skipped.")
            continue
        for path, stamp in _walk(folder, notes):
            if len(found) >= MOST_NOTES:
                return FolderScan(
                    found, sign_of(found), (*notes, f"More than {MOST_NOTES:,} notes: the rest is skipped.")
                )
            one = folder.place_of(path)
            found.setdefault(one.id, (one, stamp))
    return FolderScan(found, sign_of(found), tuple(notes))


def fixed(places: Places) -> Iterator[tuple[Found, Stamp]]:
    """Yield the existing notes that are single files."""
    for one in places.single():
        if (stamp := stamp_of(one)) is not None:
            yield one, stamp


def stamp_of(place: Found) -> Stamp | None:
    """Return a note's change stamp; None: no ordinary file."""
    if below_a_link(place.base, place.path):
        return None
    try:
        found = os.lstat(f"{place.base}{os.sep}{place.path}")
    except (OSError, ValueError):
        return None
    return Stamp.of(found) if stat.S_ISREG(found.st_mode) else None


def _walk(folder: Folder, notes: list[str]) -> Iterator[tuple[str, Stamp]]:
    """Yield the files of a folder by their paths below its base, each level sorted by name."""
    waiting = [(folder.path, 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(folder.base / path if path else folder.base) as entries:
                level = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            notes.append(f"{folder.base / path} cannot be read: {error.strerror or error}.")
            continue
        notes += _skipped(path, level) if folder.writable else ()
        for entry in level:
            below = f"{path}/{entry.name}" if path else entry.name
            if not _is_text(below):
                notes.append(f"{_printable(below)} has a name that is not valid text, and is skipped.")
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEPEST and not entry.name.startswith("."):
                        waiting.append((below, depth + 1))
                elif entry.name.endswith(ENDINGS) and entry.is_file(follow_symlinks=False):
                    yield below, Stamp.of(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # removed meanwhile


def _skipped(path: str, level: Sequence[os.DirEntry[str]]) -> Iterator[str]:
    """Yield messages on notes that are skipped, or overwrite each other in a checkout on macOS or Windows."""
    names: dict[str, str] = {}
    for entry in level:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.startswith("."):
            with suppress(OSError):
                if any(name.endswith(ENDINGS) for name in os.listdir(entry.path)):  # noqa: PTH208 - paths are not needed
                    yield f"{_printable(entry.name)} in {path or 'your notes'} is a hidden folder: its notes are skipped."
        elif is_folder or entry.name.endswith(ENDINGS):
            other = names.setdefault(name_key(entry.name), entry.name)
            if other != entry.name:
                yield (
                    f"{_printable(other)} and {_printable(entry.name)} in {path or 'your notes'} have the same name on macOS and "
                    "Windows: move one to another name."
                )


def _is_text(name: str) -> bool:
    """Return whether a name can be written down; one of a system may be any bytes."""
    return name.isprintable() and "\\" not in name


def _printable(name: str) -> str:
    return repr(name.encode("ascii", "backslashreplace").decode()[:120])


# --- the existing notes, without scanning all files for each request ---

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
            found = self._events.watch(0, _LOOK_MS, _LOOK_MS, None)
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
