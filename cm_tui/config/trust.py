"""What the user trusts: checkouts with settings, and files of definitions; two files of the user's, which `grant` and the user write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cm_tui import paths
from cm_tui.state_file import holding, read_object, write_json

# --- which checkouts a person trusts with which settings: one file of the user's, which `grant` writes ---

Answer = Literal["trusted", "refused"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said about the settings of a checkout."""

    root: str
    """Real path of the checkout."""
    answer: Answer
    digest: str
    """Of the held-back values that were shown; others are another question."""
    settings: tuple[str, ...]
    """Their names."""
    time: float
    """Seconds since the epoch."""


def digest(settings: Mapping[str, Any]) -> str:
    """Return a digest of held-back settings: the same for the same values, in whatever order they stand."""
    plain = json.dumps(settings, sort_keys=True, ensure_ascii=True, default=str)
    return sha256(plain.encode()).hexdigest()


def is_trusted(root: Path, settings: Mapping[str, Any]) -> bool:
    """Return whether a person trusted exactly these settings for the checkout at a root."""
    found = decision(root)
    return found is not None and found.answer == "trusted" and found.digest == digest(settings)


def decision(root: Path) -> Decision | None:
    """Return what was last said about a checkout; None when nothing was, or the file cannot be read."""
    return read().get(key_of(root))


def decisions() -> tuple[Decision, ...]:
    """Return all decisions, the newest first."""
    return tuple(sorted(read().values(), key=lambda one: -one.time))


def key_of(root: Path) -> str:
    """Return the name of a checkout in the file: its real path."""
    return os.path.realpath(root)


def read() -> dict[str, Decision]:
    """Return all decisions by checkout; nothing where it is damaged: then nothing is trusted."""
    try:
        kept = read_object(paths.trust_file())["checkouts"]
        return {
            str(root): Decision(
                str(root), one["answer"], str(one["digest"]), tuple(map(str, one["settings"])), float(one["time"])
            )
            for root, one in kept.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


# --- which files of definitions a person trusts, by their content: one file of the user's, for all checkouts ---


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
