"""Which files of definitions a person trusts, by their content: one file of the user's, for all checkouts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from cm_tui import paths
from cm_tui.errors import StoreError
from cm_tui.files import read_bounded, write_atomically
from cm_tui.locks import locked

_MOST_BYTES = 4_000_000
_LOCK_SECONDS = 10.0


def file() -> Path:
    """Return the file that says it."""
    return paths.data_dir() / "trusted-definitions.json"


def trusted(root: Path) -> frozenset[str]:
    """Return the digests of the trusted files in a checkout; empty when the record cannot be read."""
    return frozenset(_read().get(os.path.realpath(root), ()))


def stamp() -> tuple[int, int, int] | None:
    """Return the change stamp of the record of trust."""
    try:
        found = file().stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def change(root: Path, *, add: Iterable[str] = (), remove: Iterable[str] | None = ()) -> None:
    """Write down what a person decided; called by `engine.api.definition_trust` alone.

    Args:
        root: of the checkout.
        add: digests that are trusted now.
        remove: digests that are not any more; None: all.

    Raises:
        StoreError: it cannot be written.
    """
    where = file()
    try:
        paths.private_dir(where.parent)
        with locked(where.with_suffix(".lock"), _LOCK_SECONDS):
            kept, key = _read(), os.path.realpath(root)
            gone = set(kept.get(key, ())) if remove is None else set(remove)
            kept[key] = sorted({*kept.get(key, ())} - gone | {*add})
            if not kept[key]:
                del kept[key]
            write_atomically(where, json.dumps({"version": 1, "checkouts": kept}, indent=1), durable=True)
    except OSError as error:
        raise StoreError(f"Cannot write {where}: {error}", hint="Check the permissions of its folder.") from error


def _read() -> dict[str, list[str]]:
    """Return digests by checkout; nothing where the file is damaged: then nothing is trusted."""
    try:
        kept = json.loads(read_bounded(file(), _MOST_BYTES))["checkouts"]
        return {str(root): [str(one) for one in digests] for root, digests in kept.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
