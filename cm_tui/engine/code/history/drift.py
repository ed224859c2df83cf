"""Drift: differences between index and checkout by symbol, and changes since the user last looked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cm_tui.config import Config
from cm_tui.counts import count, noun
from cm_tui.engine.code.graph.generation_tables import NOW
from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.code.history.snapshots import SYMBOL_COLUMNS, Bodies, Snapshots, compare
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.code.parse.pool import PARSE_SECONDS, Pool
from cm_tui.engine.code.parse.records import Batch
from cm_tui.engine.code.parse.worker import Task
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Drift, DriftRow, IndexPlan, Page, ResolvedRevision, Symbol, SymbolChange
from cm_tui.model.history import SHORT_SHA, DriftState

LAST = "last"
_PARSED = 500
"""Files that are compared symbol by symbol; of more, every symbol counts as drifted."""
_SYMBOLS = f"""
SELECT {SYMBOL_COLUMNS}
FROM {NOW} f JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
WHERE f.path IN (SELECT unnest(?::VARCHAR[])) ORDER BY f.path, s.start_line, s.idx
"""  # noqa: S608 - our own relation
_WHY: dict[str, tuple[DriftState, str]] = {
    "added": ("unindexed", "new since it was indexed"),
    "moved": ("unindexed", "moved here since it was indexed"),
    "removed": ("tombstoned", "no longer defined in its file"),
    "changed": ("drifted", "its lines changed"),
    "signature": ("drifted", "its signature changed"),
}


class DriftDetector:
    """Compares the index with the checkout.

    `revisions`: resolves names; `snapshots`: compares two of them.
    """

    def __init__(
        self, db: Database, repository: Repository, config: Config, revisions: Revisions, snapshots: Snapshots
    ) -> None:
        self._db = db
        self._config = config
        self._revisions = revisions
        self._snapshots = snapshots
        self._repository = repository
        self._contents = ContentReader(repository)

    def find(self, plan: IndexPlan, since: str | None, limit: int, *, looked: bool) -> Drift:
        """Find every symbol that differs between the two.

        `since`: also what changed since this revision; `last`: since the user last looked. `limit`: how many rows and
        changes at most. `looked`: store the indexed commit as the one that the user last looked at.
        """
        notes = list(plan.notes)
        rows = list(self._rows(plan, notes))
        head, indexed = self._repository.head().sha, self._db.get_meta("indexed_head") or None
        seen = self._last_viewed()
        revision, changes = self._since(since, seen, limit, notes)
        files = len({*plan.added, *plan.modified, *plan.removed, *(old for old, _ in plan.renamed)})
        if looked and indexed:
            user_marks.set_mark(self._db.folder, "last_seen", indexed)
        return Drift(
            rows=tuple(rows[: max(0, limit)]),
            total=len(rows),
            current=not files and head == indexed,
            head=head,
            indexed_head=indexed,
            files=files,
            since=revision,
            looked=seen.moment if seen is not None else None,
            changes=changes,
            notes=tuple(notes),
        )

    def _last_viewed(self) -> ResolvedRevision | None:
        sha = user_marks.read(self._db.folder).get("last_seen")
        if sha is None or not self._repository.git:
            return None
        try:
            return self._revisions.resolve(sha)
        except NotFoundError:
            # Rewritten away and collected: its place is unknown.
            return None

    def _since(
        self, since: str | None, seen: ResolvedRevision | None, limit: int, notes: list[str]
    ) -> tuple[ResolvedRevision | None, Page[SymbolChange] | None]:
        if since is None:
            return None, None
        if since == LAST and seen is None:
            notes.append("No earlier visit is recorded; `--looked` records it from now on.")
            return None, None
        resolved = seen if since == LAST and seen is not None else self._revisions.resolve(since)
        head = self._revisions.commits.head()
        if head is None:
            return resolved, None
        if not resolved.sha:
            return resolved, self._snapshots.changes(since, f"#{head.ordinal}", limit)
        if since != LAST:
            self._snapshots.require(since)
        newer_than = resolved.asked
        if not resolved.known and not resolved.moment.ahead:
            notes.append(f"Changes since {resolved.moment.sha[:SHORT_SHA]} are unknown: {resolved.note}.")
            return resolved, None
        return resolved, self._snapshots.changes(newer_than, f"#{head.ordinal}", limit)

    # --- rows ---

    def _rows(self, plan: IndexPlan, notes: list[str]) -> Iterator[DriftRow]:
        moved = dict(plan.renamed)
        gone = self._indexed([*plan.removed, *moved])
        for path in sorted([*plan.removed, *moved]):
            why = f"its file moved to {moved[path]}" if path in moved else "its file no longer exists"
            yield from self._of_file(path, gone, "tombstoned", why)
        edited, new = list(plan.modified), [*plan.added, *moved.values()]
        if (many := len(edited) + len(new)) > _PARSED:
            notes.append(
                f"{count(many, 'file')} {noun(many, 'differs', 'differ')} and {noun(many, 'was', 'were')} not compared symbol by symbol."
            )
            indexed = self._indexed(edited)
            for path in edited:
                yield from self._of_file(path, indexed, "drifted", "its file was edited")
            for path in new:
                yield DriftRow(path, "", "", 0, "unindexed", "its file is new", f"cm index {path}")
            return
        yield from self._compared(edited, new)

    def _compared(self, edited: Sequence[str], new: Sequence[str]) -> Iterator[DriftRow]:
        before = self._indexed(edited)
        after = self._on_disk([*edited, *new])
        told: set[str] = set()
        for change in compare(before, after):
            symbol = change.symbol
            told.add(symbol.path)
            state, why = _WHY[change.change]
            if change.change == "moved" and change.before is not None:
                told.add(change.before.path)
                yield _row(change.before, "tombstoned", f"moved to {symbol.path}")
            line = change.before.start_line if change.before and change.change != "moved" else symbol.start_line
            yield replace(_row(symbol, state, why), line=line)
        for path in sorted({*edited, *new} - told):
            kind: DriftState = "drifted" if path in edited else "unindexed"
            why = "lines outside its symbols changed" if path in edited else "its file is new"
            yield DriftRow(path, "", "", 0, kind, why, f"cm index {path}")

    def _of_file(self, path: str, symbols: Bodies, state: DriftState, why: str) -> Iterator[DriftRow]:
        found = [symbol for key, (symbol, _) in symbols.items() if key.path == path]
        for symbol in found:
            yield _row(symbol, state, why)
        if not found:
            yield DriftRow(path, "", "", 0, state, why, f"cm index {path}")

    def _indexed(self, paths: Sequence[str]) -> Bodies:
        rows = self._db.rows(_SYMBOLS, [list(paths)]) if paths else []
        return {symbol.key: (symbol, body) for symbol, body in ((Symbol(*row[:-1]), row[-1]) for row in rows)}

    def _on_disk(self, paths: Sequence[str]) -> Bodies:
        """Symbols of current files; unreadable ones have none."""
        tasks: list[Task] = []
        for number, path in enumerate(paths):
            try:
                oid, data = self._contents.from_disk(path)
            except OSError:
                continue
            encoding = self._contents.attributes.encoding(path, data)
            tasks.append(Task(number, oid, language_of(path, data[:HEAD_BYTES]), data, encoding))
        pool = Pool(self._config.index.workers, PARSE_SECONDS, self._db.folder / "parsing-drift")
        found: Bodies = {}
        try:
            for batch in pool.parse(tasks):
                found |= _bodies(batch, paths)
        finally:
            pool.close()
        return found


def _row(symbol: Symbol, state: DriftState, why: str) -> DriftRow:
    return DriftRow(symbol.path, symbol.qualname, symbol.kind, symbol.start_line, state, why, f"cm index {symbol.path}")


def _bodies(batch: Batch, paths: Sequence[str]) -> Bodies:
    """Rows of parsed files as symbols; the number of each file is its index in `paths`."""
    languages = dict(zip(batch["blob"]["id"], batch["blob"]["language"], strict=True))
    names = ("qualname", "name", "kind", "signature", "doc", "start_line", "end_line", "overload", "body")
    columns = batch["symbol"]
    found: Bodies = {}
    for blob, qualname, name, kind, *rest, body in zip(columns["blob"], *(columns[n] for n in names), strict=True):
        symbol = Symbol(paths[blob], qualname, name, kind, languages[blob], *rest)
        found[symbol.key] = (symbol, body)
    return found
