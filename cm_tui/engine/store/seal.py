"""What was committed last, noted beside the store: tells a store that has lost its log from one that has not.

DuckDB keeps the last changes in a log of their own until they are moved into its file. A process that is killed leaves
that log behind. When it is lost then, the file is in order, and older than what was answered from it before.
"""

from __future__ import annotations

import json
from contextlib import suppress

from cm_tui.engine.store.database import Database
from cm_tui.engine.store.generations import GENERATION, PASSAGE_GENERATION
from cm_tui.files import write_atomically
from cm_tui.state_file import read_object

FILE = "committed.json"


def write(db: Database) -> None:
    """Note what is committed now; on a full disk the older note stays, which claims less."""
    note = _committed(db)
    if note == _noted(db):
        return
    with suppress(OSError):
        write_atomically(db.folder / FILE, json.dumps(note))


def lost(db: Database) -> str:
    """Return what a store has lost of what was committed, as a sentence without its full stop; empty when nothing."""
    committed = _committed(db)
    if any(noted > committed[key] for key, noted in _noted(db).items()):
        return "The index is older than what was answered from it: the log of its last changes is missing"
    return ""


def _committed(db: Database) -> dict[str, int]:
    return {GENERATION: db.number(GENERATION), PASSAGE_GENERATION: db.number(PASSAGE_GENERATION)}


def _noted(db: Database) -> dict[str, int]:
    """Return the note; what cannot be read notes nothing."""
    try:
        found = read_object(db.folder / FILE)
        return {key: int(found[key]) for key in (GENERATION, PASSAGE_GENERATION)}
    except (ValueError, KeyError, TypeError):
        return {}
