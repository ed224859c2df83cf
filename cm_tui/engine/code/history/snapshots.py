"""Snapshots: the files of one commit, and differences between two commits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from cm_tui.engine.code.history import symbol_diff
from cm_tui.engine.code.history.revisions import Revisions, snapshot_at
from cm_tui.engine.code.history.side_reader import SideReader
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Page, ResolvedRevision, SymbolChange
from cm_tui.model.history import BEFORE_FIRST, SHORT_SHA

T = TypeVar("T")

_NO_FILES = "(SELECT path, blob FROM file_span WHERE false)"
_PARENT = re.compile(r"(.+)(?:~1?|\^1?)")
_ATTEMPTS = 5


class Snapshots:
    """Finds snapshots in one store; each is a relation of (path, blob), for a FROM clause.

    `revisions`: resolves names; `side`: the files of commits off the mainline.
    """

    def __init__(self, db: Database, repository: Repository, revisions: Revisions, side: SideReader) -> None:
        self._db = db
        self._repository = repository
        self._revisions = revisions
        self._side = side

    def require(self, revision: str) -> ResolvedRevision:
        """Resolve a name to an available revision; one off the mainline is read first.

        Raises NotFoundError if there is no such revision, or its content is unknown.
        """
        resolved = self._revisions.resolve(revision)
        if resolved.moment.ahead and not resolved.known:
            self._side.files(resolved.moment)
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

    def of(self, resolved: ResolvedRevision) -> str:
        """Return the snapshot of a revision that is known, or lies off the mainline.

        Raises NotFoundError if it lies off the mainline and cannot be read.
        """
        commit = resolved.moment
        return self._side.files(commit) if commit.ahead else self.at(commit.ordinal)

    def steadily(self, question: Callable[[], T]) -> T:
        """Run a query on a past state; repeat it once if the mainline has changed meanwhile."""
        for _ in range(_ATTEMPTS):
            version = coverage.load(self._db).version
            answer = question()
            if coverage.load(self._db).version == version:
                break
        return answer

    def changes(self, before: str, after: str, limit: int) -> Page[SymbolChange]:
        """Compare the symbols of two revisions.

        Raises NotFoundError if there is no such revision, or it is not known.
        """
        older, note = self._before(before)
        newer = self.require(after)
        page = symbol_diff.changes(self._db, older, self.of(newer), limit)
        return replace(page, note="; ".join(filter(None, (page.note, note, newer.said))))

    def _before(self, revision: str) -> tuple[str, str]:
        """Return the snapshot to compare with, and a note about it; empty before the first commit."""
        first_one = self._without_parent(revision)
        if first_one is not None:
            return _NO_FILES, self._cut_off(first_one, first_one[:SHORT_SHA])
        if revision.strip() != BEFORE_FIRST and self._revisions.resolve(revision).sha:
            resolved = self.require(revision)
            return self.of(resolved), resolved.said
        commits = self._revisions.commits
        commits.ensure()
        first = commits.at(1)
        return _NO_FILES, self._cut_off(first.sha, "#1") if first is not None else ""

    def _without_parent(self, revision: str) -> str | None:
        """Return the commit of a name such as `v0.1~1` whose missing parent it asks for."""
        found = _PARENT.fullmatch(revision.strip())
        if found is None:
            return None
        try:
            resolved = self._revisions.resolve(found[1])
        except CmError:
            return None
        commit = resolved.moment
        return commit.sha if commit.ahead and not self._repository.parents(commit.sha) else None

    def _cut_off(self, sha: str, name: str) -> str:
        is_cut = self._repository.missing_parent(sha) is not None
        return f"{name} has parents that are not in this clone: what they had counts as added" if is_cut else ""
