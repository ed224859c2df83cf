"""Scanning the folders of notes, without reading a file."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cm_tui.engine.memory.notes.places import DEEPEST, ENDINGS, Folder, Found, Places, below_a_link
from cm_tui.files import Stamp
from cm_tui.same_names import name_key

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
