"""Rows of mentions: writing items and names, and selecting those to look up again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.mentions.check import Answer
from cm_tui.engine.memory.mentions.recognise import Named
from cm_tui.engine.memory.mentions.report import SOON, UNCOMMITTED, NameQuery
from cm_tui.engine.memory.mentions.settings import WAITS
from cm_tui.engine.memory.projection import entry_source, episode_source
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import CODE, ENTRIES, EPISODES

# --- memories as items for checking mentions: a text with a time and, if known, a commit ---

_SHA = re.compile(r"[0-9a-f]{40}")
_TEXTS = """
SELECT path, source, title, time, start_line, text FROM passage
WHERE source <> ? AND path IN (SELECT unnest(?::VARCHAR[])) ORDER BY path, start_line, end_line
"""


class MemoryItem(NamedTuple):
    """A memory."""

    kind: str
    """Its source: `entry`, `note`, `episode`."""
    path: str
    """As of its passages: `entry/ID`, `note/…`."""
    title: str
    text: str
    commit: str = ""
    """Sha of its commit; empty: unknown."""
    time: int | None = None
    """When it was written, seconds since the epoch; None: not known."""


CommitsOf = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the known commits at which items of some paths were written."""


def read(db: Database, paths: Sequence[str], commits_of: CommitsOf) -> list[MemoryItem]:
    """Return the items of some paths, from their passages. `paths`: of passages that are not code."""
    commits = commits_of(paths)
    found = []
    for path, rows in groupby(db.rows(_TEXTS, [CODE, list(paths)]), key=itemgetter(0)):
        lines: list[str] = []
        kind, title, time = "", "", None
        for _, source, named, written, start, text in rows:
            kind, title, time = kind or source, title or named, written
            # Blank lines between two passages belong to neither; an overlapping one begins at its stated line.
            lines += [""] * (start - 1 - len(lines))
            lines[start - 1 :] = text.split("\n")
        found.append(MemoryItem(kind, path, title, "\n".join(lines), commits.get(path, ""), time))
    return found


class WrittenAt:
    """Places items on the mainline. `revisions`: finds where commits lie that are off it."""

    def __init__(self, db: Database, revisions: Revisions) -> None:
        self._revisions = revisions
        rows = db.rows("SELECT sha, ord, time FROM line_commit ORDER BY ord")
        self._ordinals: dict[str, int] = {sha: ordinal for sha, ordinal, _ in rows}
        # Times need not rise along a mainline: as many commits as were made before count as there.
        self._times = np.sort(np.array([time for _, _, time in rows], dtype=np.int64))
        self._placed = cache(self._place)

    def ordinal(self, commit: str, time: int | None) -> int:
        """Return the ordinal for a commit, or for a time; -1: neither is known."""
        if commit and (found := self._ordinals.get(commit) or self._placed(commit)) is not None:
            return found
        if time is None or not len(self._times):
            return -1
        return int(np.searchsorted(self._times, time, side="right"))

    def _place(self, sha: str) -> int | None:
        try:
            return self._revisions.point(sha).ordinal or None if _SHA.fullmatch(sha) else None
        except (CmError, MissingError):
            return None


# --- rows of mentions ---

_ITEMS = """
SELECT p.path, p.source, p.number, p.newest FROM (
    SELECT path, any_value(source) AS source, count(*)::INTEGER AS number, max(id) AS newest FROM passage WHERE source <> ? GROUP BY path
) p LEFT JOIN mention_item i ON i.path = p.path
WHERE i.path IS NULL OR i.passages <> p.number OR i.newest <> p.newest ORDER BY p.newest DESC LIMIT ?
"""
_GONE = "SELECT id FROM mention_item WHERE path NOT IN (SELECT path FROM passage WHERE source <> ?)"
_TOUCHED = f"""
WITH changed AS (
    SELECT path, blob FROM ((SELECT path, blob FROM now_file EXCEPT SELECT path, blob FROM mention_file)
    UNION ALL (SELECT path, blob FROM mention_file EXCEPT SELECT path, blob FROM now_file))
), arrived AS (
    SELECT path FROM now_file WHERE path NOT IN (SELECT path FROM mention_file)
    UNION SELECT path FROM mention_file WHERE path NOT IN (SELECT path FROM now_file)
)
SELECT m.id FROM mention m WHERE m.path IN (SELECT path FROM changed)
UNION SELECT m.id FROM mention m WHERE contains(m.kinds, 'symbol')
    AND m.word IN (SELECT s.name FROM symbol s WHERE s.blob IN (SELECT blob FROM changed))
UNION SELECT m.id FROM mention m WHERE contains(m.kinds, 'symbol') AND m.state <> 'unknown'
    AND (m.state = 'gone' OR m.path = '') AND m.word IN (
    SELECT name FROM reference WHERE blob IN (SELECT blob FROM changed)
    UNION SELECT name FROM import WHERE blob IN (SELECT blob FROM changed)
)
UNION SELECT m.id FROM mention m WHERE contains(m.kinds, 'path') AND EXISTS (SELECT 1 FROM arrived)
    AND (m.word IN (SELECT split_part(path, '/', -1) FROM arrived) OR NOT contains(m.word, '.'))
UNION SELECT m.id FROM mention m WHERE contains(m.kinds, 'command') AND m.state <> 'alive' AND EXISTS (SELECT 1 FROM changed)
UNION SELECT m.id FROM mention m WHERE contains(m.kinds, 'path') AND m.ord = {UNCOMMITTED} AND EXISTS (SELECT 1 FROM changed)
"""  # noqa: S608 - a number

_CHANGED_TEXTS = """
SELECT p.text FROM passage p WHERE p.source = ? AND p.path IN (
    SELECT path FROM (SELECT path, blob FROM now_file EXCEPT SELECT path, blob FROM mention_file)
)
"""
_SETTINGS = "SELECT id, text FROM mention WHERE contains(kinds, 'setting') AND state <> 'alive' AND word IN (SELECT unnest(?::VARCHAR[]))"
_WORDS = re.compile(r"[A-Za-z][\w-]*")
_ITEM = ("id", "source", "path", "title", "time", "sha", "ord", "passages", "newest")
_MENTION = (
    "id",
    "item",
    "line",
    "kinds",
    "text",
    "word",
    "plain",
    "kind",
    "state",
    "path",
    "start_line",
    "became",
    "ord",
)
_NOT_YET = ("", "unknown", "", 0, "", 0)
"""The last columns of a name that was not looked up yet."""


class Changed(NamedTuple):
    """An item whose passages are others than when it was looked at."""

    path: str
    source: str
    passages: int
    newest: int


class Row(NamedTuple):
    """A stored name, to look up again."""

    id: int
    asked: NameQuery


def changed_items(db: Database, most: int) -> list[Changed]:
    """Return so many of the new and changed items, the last written first."""
    return [Changed(*row) for row in db.rows(_ITEMS, [CODE, most])]


def drop_forgotten(db: Database) -> int:
    """Remove items that are no longer remembered; return their number."""
    gone = [row[0] for row in db.rows(_GONE, [CODE])]
    _drop_items(db, gone)
    return len(gone)


def touched(db: Database) -> list[int]:
    """Return the names that file changes since the last comparison may affect."""
    return [*(row[0] for row in db.rows(_TOUCHED)), *_mentioned_now(db)]


def _mentioned_now(db: Database) -> list[int]:
    """Unknown settings all of whose parts are in a changed file."""
    words = {word for (text,) in db.rows(_CHANGED_TEXTS, [CODE]) for word in _WORDS.findall(text)}
    rows = db.rows(_SETTINGS, [sorted(words)]) if words else []
    return [id_ for id_, text in rows if words.issuperset(text.split("."))]


def waiting(db: Database, last: int) -> list[int]:
    """Return the names for which further history may give more.

    `last`: the newest known ordinal at their last lookup. A removal counts for sure after some commits.
    """
    sql = f"""
    SELECT m.id FROM mention m JOIN mention_item i ON i.id = m.item
    WHERE i.ord + {SOON} > ? OR m.ord + {SOON} > ? OR m.ord = {UNCOMMITTED} OR (m.ord = 0 AND m.kind <> '' AND m.state <> 'alive')
    """  # noqa: S608 - numbers
    return [row[0] for row in db.rows(sql, [last, last])]


def postponed(db: Database) -> list[int]:
    """Return the names that were postponed for lack of time."""
    return [row[0] for row in db.rows("SELECT id FROM mention WHERE ord = ?", [WAITS])]


def every(db: Database) -> list[int]:
    """Return all names."""
    return [row[0] for row in db.rows("SELECT id FROM mention")]


def names_to_look_up(db: Database, ids: Collection[int]) -> list[Row]:
    """Return names for the lookup."""
    sql = (
        "SELECT m.id, m.kinds, m.text, m.plain, i.ord FROM mention m JOIN mention_item i ON i.id = m.item "
        "WHERE m.id IN (SELECT unnest(?::INTEGER[]))"
    )
    rows = db.rows(sql, [list(ids)])
    return [Row(id_, NameQuery(tuple(kinds.split()), text, plain, at)) for id_, kinds, text, plain, at in rows]


def write_items(
    db: Database, items: Sequence[tuple[Changed, MemoryItem, int]], names: Sequence[Sequence[Named]]
) -> list[Row]:
    """Replace items and their names; the names are not looked up yet.

    `db`: the store; the caller holds the transaction. `items`: each with its passages and its ordinal. `names`: those
    of each.
    """
    sql = "SELECT id FROM mention_item WHERE path IN (SELECT unnest(?::VARCHAR[]))"
    _drop_items(db, [row[0] for row in db.rows(sql, [[one.path for one, _, _ in items]])])
    first = int(db.value("SELECT coalesce(max(id), 0) + 1 FROM mention_item"))
    number = int(db.value("SELECT coalesce(max(id), 0) + 1 FROM mention"))
    found, rows = list[Row](), list[tuple[Any, ...]]()
    for place, ((_, _, at), own) in enumerate(zip(items, names, strict=True)):
        for one in own:
            row = Row(number + len(found), NameQuery(one.kinds, one.text, one.plain, at))
            rows.append(
                (row.id, first + place, one.line, " ".join(one.kinds), one.text, _word(one), one.plain, *_NOT_YET)
            )
            found.append(row)
    of_items = [
        (first + place, new.source, new.path, item.title, item.time, item.commit, at, new.passages, new.newest)
        for place, (new, item, at) in enumerate(items)
    ]
    db.insert("mention_item", bulk.transpose(_ITEM, of_items))
    db.insert("mention", bulk.transpose(_MENTION, rows))
    return found


def write_answers(db: Database, rows: Iterable[Row], answers: dict[NameQuery, Answer]) -> int:
    """Store the results for names; return the number of changes.

    `db`: the store; the caller holds the transaction. `answers`: the result for each.
    """
    told = [(row.id, answers[row.asked]) for row in rows]
    if not told:
        return 0
    columns = (
        [id_ for id_, _ in told], [one.kind or "" for _, one in told], [one.finding.state for _, one in told],
        [one.finding.path for _, one in told], [one.finding.line for _, one in told],
        [one.finding.became for _, one in told], [one.finding.ordinal for _, one in told],
    )  # fmt: skip
    values = (
        "(SELECT unnest(?::INTEGER[]) AS id, unnest(?::VARCHAR[]) AS kind, unnest(?::VARCHAR[]) AS state, unnest(?::VARCHAR[]) AS path, "
        "unnest(?::INTEGER[]) AS start_line, unnest(?::VARCHAR[]) AS became, unnest(?::INTEGER[]) AS ord) v"
    )
    differs = "(m.kind, m.state, m.path, m.start_line, m.became, m.ord) IS DISTINCT FROM (v.kind, v.state, v.path, v.start_line, v.became, v.ord)"
    sql = f"SELECT v.* FROM {values} JOIN mention m ON m.id = v.id WHERE {differs}"  # noqa: S608 - our own columns
    changed = db.rows(sql, list(columns))
    if changed:
        db.execute(
            "UPDATE mention SET kind = v.kind, state = v.state, path = v.path, start_line = v.start_line, became = v.became, "  # noqa: S608
            f"ord = v.ord FROM {values} WHERE v.id = mention.id",
            [list(column) for column in zip(*changed, strict=True)],
        )
    return len(changed)


def remember_files(db: Database) -> None:
    """Record the current files as those that all names were compared with; the caller holds the transaction."""
    both = "SELECT path, blob FROM now_file EXCEPT SELECT path, blob FROM mention_file"
    gone = "SELECT path FROM (SELECT path, blob FROM mention_file EXCEPT SELECT path, blob FROM now_file)"
    db.execute(f"DELETE FROM mention_file WHERE path IN ({gone})")  # noqa: S608 - our own query
    db.execute(f"INSERT INTO mention_file {both}")


def _drop_items(db: Database, ids: Sequence[int]) -> None:
    if ids:
        db.execute("DELETE FROM mention WHERE item IN (SELECT unnest(?::INTEGER[]))", [list(ids)])
        db.execute("DELETE FROM mention_item WHERE id IN (SELECT unnest(?::INTEGER[]))", [list(ids)])


def _word(one: Named) -> str:
    """Key for looking up a name: the last part of a symbol, the last name of a path."""
    if one.kinds[0] == "path":
        return one.text.rstrip("/").rpartition("/")[2]
    return next(iter(QualifiedName(one.text).ends), one.text)


# --- known commits at which entries and episodes were written ---


class WrittenCommits:
    """Commits of one project's memories, by the path of their passages.

    `db`: the store with the episodes; `root`: of the entries' project.
    """

    def __init__(self, db: Database, root: Path) -> None:
        self._db = db
        self._root = root

    def of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the sha at which each was written; those without one are omitted."""
        wanted = set(paths)
        found: dict[str, str] = {}
        if any(path.startswith(f"{ENTRIES}/") for path in wanted):
            found |= self._of_entries()
        if any(path.startswith(f"{EPISODES}/") for path in wanted):
            ids = [path.removeprefix(f"{EPISODES}/") for path in wanted]
            rows = self._db.rows("SELECT id, sha FROM episode WHERE sha <> '' AND id IN (SELECT unnest(?))", [ids])
            found |= {episode_source.path_of(id_): sha for id_, sha in rows}
        return {path: sha for path, sha in found.items() if path in wanted}

    def _of_entries(self) -> dict[str, str]:
        try:
            entries = Entries(self._root).all().entries
        except CmError:
            return {}
        # A changed entry is as recent as its change: use that time.
        return {entry_source.path_of(one.id): one.commit for one in entries if one.commit and not one.changed_by}
