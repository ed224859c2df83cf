"""Files of models whose SHA-256 is known."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cm_tui.errors import ModelError

_Stamp = tuple[int, ...]
_verified: dict[Path, _Stamp] = {}
"""Files that this process has compared, as they were then."""


def check(folder: Path, name: str, listing: Path, hint: str) -> None:
    """Compare a file with its recorded SHA-256, once per process and change of the file.

    Arguments and errors as for `read_verified`.
    """
    file = folder / name
    stamp = _verified.get(file)
    if stamp is None or stamp != _stamp_of(file):
        read_verified(folder, name, listing, hint)


def read_verified(folder: Path, name: str, listing: Path, hint: str) -> bytes:
    """Return the bytes of a file whose SHA-256 is the one recorded.

    `listing`: folder whose file `checksums` records it; `hint`: what to do where it is missing or damaged. Raises
    ModelError if it is.
    """
    file = folder / name
    stamp = _stamp_of(file)
    try:
        words = (listing / "checksums").read_text(encoding="ascii").split()
        data = file.read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"The bundled model cannot be read: {error}", hint=hint) from error
    known = dict(zip(words[1::2], words[0::2], strict=False))
    if hashlib.sha256(data).hexdigest() != known.get(name):
        raise ModelError(f"The bundled model is damaged: {file} is not the file that cm came with.", hint=hint)
    if stamp is not None:
        _verified[file] = stamp
    return data


def _stamp_of(file: Path) -> _Stamp | None:
    """Return the file's change stamp; None: unknown."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
