"""The table of notes, so that only notes with a changed file are read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cm_tui.engine.memory.notes.notes import ReadNote
from cm_tui.engine.platform.store.database import Database
from cm_tui.files import Stamp
from cm_tui.model import Note

_COLUMNS = "id, kind, scope, file, title, time, changed_ns, size, lines, digest, tags, writable, problem"


def stamps(db: Database) -> dict[str, Stamp]:
    """Return what each file was like when it was read, by the note's id."""
    return {id_: Stamp(*rest) for id_, *rest in db.rows("SELECT id, changed_ns, size, inode FROM note")}


def digests(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """Return what names the content of notes, by id."""
    return dict(db.rows("SELECT id, digest FROM note WHERE id IN (SELECT unnest(?::VARCHAR[]))", [ids]))


def remove(db: Database, ids: Iterable[str]) -> None:
    """Take notes off the table; called inside a transaction."""
    db.execute("DELETE FROM note WHERE id IN (SELECT unnest(?))", [list(ids)])


def clear(db: Database) -> None:
    """Empty the table; called inside a transaction."""
    db.execute("DELETE FROM note")


def add(db: Database, read: Sequence[tuple[ReadNote, Stamp]]) -> None:
    """Put notes on the table; called inside a transaction."""
    of_note = ("id", "kind", "scope", "file", "title", "time", "lines", "digest", "writable", "problem")
    of_stamp = ("changed_ns", "size", "inode")
    columns = {name: [getattr(one.note, name) for one, _ in read] for name in of_note}
    columns |= {name: [getattr(stamp, name) for _, stamp in read] for name in of_stamp}
    db.insert("note", columns | {"tags": [json.dumps(one.note.tags) for one, _ in read]})


def page(db: Database, words: Sequence[str], kind: str, scope: str, limit: int) -> tuple[list[Note], int]:
    """Return the matching notes, the last changed first, and their number.

    `words`: in lower case; each must be in id, title or tags. `kind`: only this kind; empty: any. `scope`: likewise.
    `limit`: the most to return.
    """
    where, values = ["(? IN ('', kind))", "(? IN ('', scope))"], [kind, scope]
    for word in words:
        where.append("contains(lower(id || ' ' || title || ' ' || tags), ?)")
        values.append(word)
    condition = " AND ".join(where)
    total = db.value(f"SELECT count(*) FROM note WHERE {condition}", values)  # noqa: S608 - only marks of parameters
    order = "ORDER BY changed_ns DESC, id LIMIT ?"
    rows = db.rows(f"SELECT {_COLUMNS} FROM note WHERE {condition} {order}", [*values, limit])  # noqa: S608
    return [_note(row) for row in rows], int(total)


def _note(row: Sequence[Any]) -> Note:
    id_, kind, scope, file, title, time, changed_ns, size, lines, digest, tags, writable, problem = row
    return Note(
        id_, kind, scope, file, title, time, changed_ns / 1e9, size, lines, digest, tuple(json.loads(tags)),
        writable=writable, problem=problem,
    )  # fmt: skip
