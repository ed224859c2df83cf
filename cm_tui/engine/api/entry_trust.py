"""Trusting entries that came with a repository, and revoking trust: only for a user at a terminal.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cm_tui import model
from cm_tui.counts import count
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import writing
from cm_tui.engine.memory.entries.entry_record import digest
from cm_tui.engine.platform.git.identity import claim
from cm_tui.errors import RefusedError

State = Literal["nothing", "held", "refused"]
"""`nothing`: none waits. `held`: some were never shown to the user. `refused`: the user refused all of them."""

Answer = Literal["trusted", "refused", "undecided"]

MOST = 200
"""Most entries to show at once: no user would read more."""


@dataclass(frozen=True, slots=True)
class HeldEntries:
    """Untrusted entries that came with a repository."""

    root: str
    file: str
    state: State
    entries: tuple[model.Entry, ...]
    trusted: int
    """How many were trusted before."""


def held_entries(root: Path) -> HeldEntries:
    """Return the entries at a root that wait for trust. Raises CmError if a file cannot be read."""
    entries = Entries(root)
    ledger = entries.ledger.read()
    found = entries.all().entries
    held = tuple(one for one in found if one.held)
    refused = set(ledger.refused)
    state: State = "nothing" if not held else "refused" if all(digest(one) in refused for one in held) else "held"
    trusted = set(ledger.trusted)
    known = sum(one.scope == "project" and digest(one) in trusted for one in found)
    return HeldEntries(str(root), str(entries.files["project"].path), state, held, known)


def undecided(root: Path) -> tuple[model.Entry, ...]:
    """Return the entries included in a clone without a decision of the user.

    Raises CmError if a file cannot be read.
    """
    entries = Entries(root)
    held = [one for one in entries.all().entries if one.held]
    refused = set(entries.ledger.read().refused) if held else set()
    return tuple(one for one in held if digest(one) not in refused)


def decide(shown: HeldEntries, answer: Answer) -> None:
    """Write down what a person said to exactly the entries that were shown.

    Raises RefusedError if there are too many to trust at once; StoreError if it cannot be written.
    """
    if answer == "trusted" and len(shown.entries) > MOST:
        raise RefusedError(
            f"{count(len(shown.entries), 'entry', 'entries')} are too many to review at once.",
            hint=f"Edit {shown.file} and remove unwanted entries.",
        )
    _write(Path(shown.root), {digest(one): None for one in shown.entries}, answer)


def decide_entry(root: Path, shown: model.Entry, answer: Answer) -> None:
    """Write down what a person said to exactly the entry that was shown.

    Raises StoreError if it cannot be written.
    """
    _write(root, {digest(shown): None}, answer)


def _write(root: Path, digests: dict[str, None], answer: Answer) -> None:
    claim(root)
    entries = Entries(root)
    with writing():
        ledger = entries.ledger.read()
        ledger.trusted = [one for one in ledger.trusted if one not in digests]
        ledger.refused = [one for one in ledger.refused if one not in digests]
        if answer == "trusted":
            ledger.trusted += digests
        elif answer == "refused":
            ledger.refused += digests
        entries.ledger.write(ledger)


def revoke(root: Path) -> int:
    """Revoke the decisions on entries that came with a repository; return how many were trusted.

    Raises StoreError if it cannot be written.
    """
    entries = Entries(root)
    with writing():
        ledger = entries.ledger.read()
        was = len(ledger.trusted)
        if ledger.trusted or ledger.refused:
            ledger.trusted, ledger.refused = [], []
            entries.ledger.write(ledger)
    return was
