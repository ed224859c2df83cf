"""Files of models whose SHA-256 is known."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cm_tui.errors import ModelError


def read_verified(folder: Path, name: str, listing: Path, hint: str) -> bytes:
    """Return the bytes of a file whose SHA-256 is the one recorded.

    Args:
        folder: where it is.
        name: of the file.
        listing: folder whose file `checksums` records it.
        hint: what to do where it is missing or damaged.

    Raises:
        ModelError: it is.
    """
    try:
        words = (listing / "checksums").read_text(encoding="ascii").split()
        data = (folder / name).read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"The bundled model cannot be read: {error}", hint=hint) from error
    known = dict(zip(words[1::2], words[0::2], strict=False))
    if hashlib.sha256(data).hexdigest() != known.get(name):
        raise ModelError(f"The bundled model is damaged: {folder / name} is not the file that cm came with.", hint=hint)
    return data
