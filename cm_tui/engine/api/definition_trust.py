"""Trusting definition files, and revoking trust: only for a user at a terminal.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cm_tui.config.trust import change
from cm_tui.engine.context.definitions.library import load


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A definition file that requests permissions."""

    path: str
    digest: str
    asks: tuple[str, ...]
    """Endings of a sentence that begins with `It wants to`."""
    trusted: bool


def asking_files(root: Path) -> tuple[HeldFile, ...]:
    """Return the files at a root that send data, run code or write outside `.cm`, trusted or not."""
    library = load(root)
    asking = [HeldFile(one.file, one.digest, one.asks, not one.is_held) for one in library.retrieval if one.asks]
    asking += [HeldFile(one.file, one.digest, one.asks, not one.is_held) for one in library.pipelines if one.asks]
    return tuple(asking)


def trust(root: Path, shown: tuple[HeldFile, ...]) -> None:
    """Record that the user trusts exactly the shown files. Raises StoreError if it cannot be written."""
    change(root, add=[one.digest for one in shown])


def revoke(root: Path) -> int:
    """Revoke all trust at a root; return the number of files. Raises StoreError if it cannot be written."""
    was = sum(one.trusted for one in asking_files(root))
    change(root, remove=None)
    return was
