"""Trusting files of definitions, and taking it back: for a person at a terminal, and nobody else.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cm_tui.config import trusted_files
from cm_tui.engine.definitions.library import load


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file of definitions that asks for something."""

    path: str
    digest: str
    asks: tuple[str, ...]
    """Ends of a sentence that begins with `It wants to`."""
    trusted: bool


def asking_files(root: Path) -> tuple[HeldFile, ...]:
    """Return the files at a root that send data, run code or write outside `.cm`, trusted or not."""
    library = load(root)
    asking = [HeldFile(one.file, one.digest, one.asks, not one.is_held) for one in library.retrieval if one.asks]
    asking += [HeldFile(one.file, one.digest, one.asks, not one.is_held) for one in library.pipelines if one.asks]
    return tuple(asking)


def trust(root: Path, shown: tuple[HeldFile, ...]) -> None:
    """Write down that a person trusts exactly the files that were shown.

    Raises:
        StoreError: it cannot be written.
    """
    trusted_files.change(root, add=[one.digest for one in shown])


def revoke(root: Path) -> int:
    """Forget what was trusted at a root; returns how many files it was.

    Raises:
        StoreError: it cannot be written.
    """
    was = sum(one.trusted for one in asking_files(root))
    trusted_files.change(root, remove=None)
    return was
