"""Copies of transcripts from `cm rescue`: their places, and which have outlived their originals.

A copy has the path of its original below the name of the agent, is compressed, and has the original's time of change.
Next to the copies are marks, empty files named by a digest: of transcripts that are not copied, and of those with
erased content.
"""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

from cm_tui import paths
from cm_tui.engine.memory.transcripts.files import DOCUMENTS, LINES, FoundFile, found_files
from cm_tui.files import SUFFIX, replacing, write_atomically
from cm_tui.locks import locked

FOLDER = "rescue"
ENDING = ".gz"
Mark = Literal["withheld", "erased"]
_ENDINGS = tuple(f"{ending}{ENDING}" for ending in (*LINES, *DOCUMENTS))
DEPTH = 6
"""Levels of folders that hold transcripts."""
_ANY_DEPTH = 100
_LEVEL = 1
"""Of compression: the fastest."""
_WAIT_SECONDS = 60.0
_ERASURES = "erasures"
"""File that every erasure replaces."""
_SIZE_BYTES = 4
"""The end of a compressed file holds the size of its content."""
_SAME_SECONDS = 2.0
"""Some file systems store times with this precision."""


def folder() -> Path:
    """Return the folder of all copies; not made here."""
    return paths.state_dir() / FOLDER


def mark_of(mark: Mark, name: str) -> Path:
    """Return the file of a mark, existing or not, by the name of a transcript or a session."""
    return folder() / mark / sha256(os.fsencode(name)).hexdigest()[:32]


def copy_of(agent: str, file: Path) -> Path:
    """Return where the copy of a transcript is, or would be."""
    whole = Path(os.path.abspath(file))  # noqa: PTH100 - links are kept
    drive = [whole.drive.rstrip(":")] if whole.drive else []
    return folder().joinpath(agent, *drive, *whole.parts[1:-1], f"{whole.name}{ENDING}")


def original_of(agent: str, copy: Path) -> Path:
    """Return the transcript that a file is the copy of."""
    first, *rest = copy.relative_to(folder() / agent).with_name(copy.name.removesuffix(ENDING)).parts
    return Path(f"{first}:\\", *rest) if os.name == "nt" else Path("/", first, *rest)


def is_current(agent: str, found: FoundFile) -> bool:
    """Return whether a transcript needs no copying, by times alone: copied unchanged, or excluded."""
    kept = (copy_of(agent, found.path), mark_of("withheld", str(found.path)))
    return mark_of("erased", str(found.path)).exists() or any(_has_time(one, found.changed) for one in kept)


def is_complete(agent: str, found: FoundFile) -> bool:
    """Return whether the copy of a transcript holds all of it."""
    copy = copy_of(agent, found.path)
    with suppress(OSError):
        return _has_time(copy, found.changed) and _content_size(copy) == found.size % 2**32
    return False


def _has_time(file: Path, changed: float) -> bool:
    with suppress(OSError):
        return abs(file.stat().st_mtime - changed) < _SAME_SECONDS
    return False


def _content_size(copy: Path) -> int:
    """Return the size of the content of a copy, modulo 4 GB."""
    with copy.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _SIZE_BYTES))
        return int.from_bytes(stream.read(_SIZE_BYTES), "little")


def copies_below(agent: str, place: Path, *, depth: int = DEPTH) -> Iterator[tuple[Path, FoundFile]]:
    """Yield the originals below a place, existing or not, with their copies."""
    held = copy_of(agent, place / "x").parent
    for found in found_files(held, _ENDINGS, depth=depth, links=False):
        original = place / found.path.relative_to(held)
        yield original.with_name(original.name.removesuffix(ENDING)), found


def all_copies(agent: str) -> Iterator[FoundFile]:
    """Yield all copies of an agent's transcripts, wherever the originals were."""
    return found_files(folder() / agent, _ENDINGS, depth=_ANY_DEPTH, links=False)


# --- writing ---


@contextmanager
def changing() -> Iterator[None]:
    """Make the copying of one transcript and an erasure mutually exclusive.

    Raises StoreError if the other one takes too long; OSError if the folder cannot be used.
    """
    paths.private_dir(folder())
    with locked(folder() / "one.lock", _WAIT_SECONDS):
        yield


@contextmanager
def alone() -> Iterator[None]:
    """Block other rescues, and remove the partial copy of a killed one.

    Raises StoreError if another rescue is running; OSError if the folder cannot be used.
    """
    paths.private_dir(folder())
    with locked(folder() / "lock", 1.0):
        for left in found_files(folder(), SUFFIX, depth=_ANY_DEPTH, links=False):
            left.path.unlink(missing_ok=True)
        yield


@contextmanager
def writing(copy: Path, changed: int) -> Iterator[gzip.GzipFile]:
    """Yield a compressing file, which replaces a copy when the block ends without an error.

    `changed`: when the original was changed, in nanoseconds. Raises OSError if it cannot be written; an existing copy
    is unchanged.
    """
    paths.private_dir(copy.parent)
    with replacing(copy, durable=True) as temporary:
        with temporary.open("wb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed:
            yield packed
        os.utime(temporary, ns=(changed, changed))


def keep_longer(copy: Path, size: int) -> None:
    """Give a copy another name if its transcript has become shorter: only the copy has what was removed.

    `size`: of the transcript. Raises OSError if it cannot be renamed.
    """
    with suppress(FileNotFoundError):
        if _content_size(copy) > size:
            name, _, endings = copy.name.partition(".")
            copy.rename(copy.with_name(f"{name}.{copy.stat().st_mtime_ns}.{endings}"))


def remove(copy: Path) -> None:
    """Remove a copy, and the longer ones before it. Raises OSError if one cannot be removed."""
    name, _, endings = copy.name.partition(".")
    for one in (copy, *copy.parent.glob(f"{glob.escape(name)}.[0-9]*.{glob.escape(endings)}")):
        one.unlink(missing_ok=True)


def write_mark(mark: Mark, name: str, changed: float = 0.0) -> None:
    """Make a mark of a transcript, with the time of its last change.

    Raises OSError if it cannot be written.
    """
    file = mark_of(mark, name)
    paths.private_dir(file.parent)
    file.touch(mode=0o600)
    os.utime(file, (changed, changed))


def note_erasure() -> None:
    """Record an erasure: a rescue's data on erased turns is outdated.

    Raises OSError if it cannot be written.
    """
    write_atomically(folder() / _ERASURES, os.urandom(8).hex())


def erasures() -> tuple[int, int]:
    """Return what changes with every erasure."""
    try:
        found = (folder() / _ERASURES).stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_ino, found.st_mtime_ns
