"""Which checkouts a person trusts with which settings: one file of the user's, which `grant` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cm_tui import paths
from cm_tui.state_file import read_object

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
