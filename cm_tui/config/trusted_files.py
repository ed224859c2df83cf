"""Which files of definitions a person trusts, by their content: one file of the user's, for all checkouts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cm_tui import paths
from cm_tui.state_file import holding, read_object, write_json


def file() -> Path:
    """Return the file that says it."""
    return paths.data_dir() / "trusted-definitions.json"


def trusted(root: Path) -> frozenset[str]:
    """Return the digests of the trusted files in a checkout; empty when the record cannot be read."""
    return frozenset(_read().get(os.path.realpath(root), ()))


def change(root: Path, *, add: Iterable[str] = (), remove: Iterable[str] | None = ()) -> None:
    """Write down what a person decided; called by `engine.api.definition_trust` alone.

    `add`: digests that are trusted now. `remove`: digests that are not any more; None: all. Raises StoreError if it
    cannot be written.
    """
    where = file()
    with holding(where.with_suffix(".lock")):
        kept, key = _read(), os.path.realpath(root)
        gone = set(kept.get(key, ())) if remove is None else set(remove)
        kept[key] = sorted({*kept.get(key, ())} - gone | {*add})
        if not kept[key]:
            del kept[key]
        write_json(where, {"version": 1, "checkouts": kept}, indent=1, keep_damaged=True)


def _read() -> dict[str, list[str]]:
    """Return digests by checkout; nothing where the file is damaged: then nothing is trusted."""
    try:
        kept = read_object(file())["checkouts"]
        return {str(root): [str(one) for one in digests] for root, digests in kept.items()}
    except (KeyError, TypeError, AttributeError):
        return {}
