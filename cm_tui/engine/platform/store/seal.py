"""A record of the last commit, next to the store, to detect the loss of the log.

DuckDB keeps the last changes in a separate log until they are moved into its file. A killed process leaves that log
behind. If it is then lost, the file is valid, but older than earlier responses.
"""

from __future__ import annotations

import json
from contextlib import suppress

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import GENERATION, PASSAGE_GENERATION
from cm_tui.files import write_atomically
from cm_tui.state_file import read_object

FILE = "committed.json"


def write(db: Database) -> None:
    """Record the current commit; on a full disk the older record stays, which claims less."""
    note = _committed(db)
    if note == _noted(db):
        return
    with suppress(OSError):
        write_atomically(db.folder / FILE, json.dumps(note))


def lost(db: Database) -> str:
    """Return the lost part of the committed data, as a sentence without its full stop; empty: none."""
    committed = _committed(db)
    if any(noted > committed[key] for key, noted in _noted(db).items()):
        return "The index is older than earlier results: the log of its last changes is missing"
    return ""


def _committed(db: Database) -> dict[str, int]:
    return {GENERATION: db.number(GENERATION), PASSAGE_GENERATION: db.number(PASSAGE_GENERATION)}


def _noted(db: Database) -> dict[str, int]:
    """Return the record; empty if unreadable."""
    try:
        found = read_object(db.folder / FILE)
        return {key: int(found[key]) for key in (GENERATION, PASSAGE_GENERATION)}
    except (ValueError, KeyError, TypeError):
        return {}
