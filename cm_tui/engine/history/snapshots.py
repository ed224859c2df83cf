"""Snapshots: the files of one commit of the mainline, and what differs between two of them."""

from __future__ import annotations

from dataclasses import replace

from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history import symbol_diff
from cm_tui.engine.history.revisions import Revisions, snapshot_at
from cm_tui.engine.mainline import coverage
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Page, ResolvedRevision, SymbolChange
from cm_tui.model.history import BEFORE_FIRST

_NO_FILES = "(SELECT path, blob FROM file_span WHERE false)"


class Snapshots:
    """Finds snapshots in one store; each is a relation of (path, blob), as it may stand after FROM.

    Args:
        db: the store.
        repository: the checkout.
        revisions: resolves names.
    """

    def __init__(self, db: Database, repository: Repository, revisions: Revisions) -> None:
        self._db = db
        self._repository = repository
        self._revisions = revisions

    def require(self, revision: str) -> ResolvedRevision:
        """Resolve a name to a revision whose files can be answered.

        Raises:
            NotFoundError: there is no such revision, or it is not known.
        """
        resolved = self._revisions.resolve(revision)
        if not resolved.sha:
            raise NotFoundError(
                f"Nothing was there yet: {resolved.note}.", hint="`cm at '#1'` shows what the first commit brought."
            )
        if not resolved.known:
            raise NotFoundError(
                f"{revision} cannot be answered: {resolved.note}.",
                hint="`cm history backfill` reads the mainline as far back as git has it.",
            )
        return resolved

    def at(self, ordinal: int) -> str:
        """Return the snapshot at an ordinal that is known."""
        return snapshot_at(ordinal) if coverage.load(self._db).covers(ordinal) else "head_file"

    def changes(self, before: str, after: str, limit: int) -> Page[SymbolChange]:
        """Compare the symbols of two revisions.

        Raises:
            NotFoundError: there is no such revision, or it is not known.
        """
        older, note = self._before(before)
        newer = self.require(after)
        page = symbol_diff.changes(self._db, older, self.at(newer.moment.ordinal), limit)
        return replace(page, note="; ".join(filter(None, (page.note, note, newer.note))))

    def _before(self, revision: str) -> tuple[str, str]:
        """Return the snapshot that others are compared with, and what has to be said about it; empty before the first commit."""
        if revision.strip() != BEFORE_FIRST and self._revisions.resolve(revision).sha:
            resolved = self.require(revision)
            return self.at(resolved.moment.ordinal), resolved.note
        commits = self._revisions.commits
        commits.ensure()
        first = commits.at(1)
        cut_off = first is not None and self._repository.missing_parent(first.sha) is not None
        note = "#1 has parents that are not in this clone: what they had counts as added" if cut_off else ""
        return _NO_FILES, note
