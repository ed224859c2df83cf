"""Granting and revoking trust in a repository: only for a user at a terminal.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from cm_tui import paths
from cm_tui.config.held import RepositoryTrust
from cm_tui.config.trust import Answer, Decision, decision, digest, key_of, read
from cm_tui.errors import RefusedError
from cm_tui.state_file import holding, write_json


def decide(asked: RepositoryTrust, answer: Answer) -> None:
    """Write down what a person said to exactly what was shown.

    Raises RefusedError if they are to be trusted, and could not be shown whole; StoreError if it cannot be written.
    """
    if answer == "trusted" and asked.unshowable:
        raise RefusedError(
            f"These settings cannot be trusted: {asked.unshowable}.", hint=f"Read {asked.file}, and shorten it."
        )
    _change(asked.root, Decision(asked.root, answer, digest(asked.values), asked.names, time.time()))


def revoke(root: Path) -> bool:
    """Forget what was said about a checkout; gives whether it was trusted.

    Raises StoreError if it cannot be written.
    """
    found = decision(root)
    if found is not None:
        _change(key_of(root), None)
    return found is not None and found.answer == "trusted"


def _change(key: str, new: Decision | None) -> None:
    file = paths.trust_file()
    with holding(file.with_suffix(".lock")):
        kept = read()
        kept.pop(key, None)
        if new is not None:
            kept[key] = new
        plain = {root: asdict(one) for root, one in kept.items()}
        write_json(file, {"version": 1, "checkouts": plain}, indent=1, keep_damaged=True)
