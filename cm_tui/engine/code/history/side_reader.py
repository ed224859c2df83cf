"""Reading commits off the mainline: differences from the nearest known commit, parsed once and stored."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.tree_reader import TreeReader
from cm_tui.engine.code.index.stored_state import digest_of_rules
from cm_tui.engine.code.index.target_state import drop_unused
from cm_tui.engine.code.mainline import coverage, side_commits
from cm_tui.engine.code.mainline.side_commits import SideFile
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION
from cm_tui.engine.code.scan.working_tree import is_text
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.delta import Change
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import CommitPoint
from cm_tui.model.history import SHORT_SHA

_BATCH_SECONDS = 1.0
"""How long an index run may have to wait for a batch to end."""
LONGEST_SECONDS = 60.0
"""Time limit for one request; the next one continues."""
_ATTEMPTS = 5
"""How often it restarts after changes of the mainline or the rules."""


class SideReader:
    """Reads commits off the mainline into one store, one at a time. `config`: what is indexed."""

    def __init__(self, db: Database, repository: Repository, config: Config) -> None:
        self._db = db
        self._repository = repository
        self._config = config
        self._rules = digest_of_rules(config.index, EXTRACTOR_VERSION)
        self._reading = threading.Lock()
        self._used: dict[int, None] = {}
        """Commits requested in this process since one was read, the latest last."""
        self.parsed = 0
        """Contents that were parsed by this process."""

    def stored(self, sha: str) -> str | None:
        """Return a commit's files as a relation of (path, blob), for a FROM clause; None: it has to be read."""
        side = side_commits.find(self._db, sha, self._rules)
        if side is None or tree_reader.any_now_available(self._db, self._repository, side.number):
            return None
        self._used.pop(side.number, None)
        self._used[side.number] = None
        return side_commits.snapshot(side)

    def files(self, commit: CommitPoint) -> str:
        """Return a commit's files as `stored` does, after reading them if necessary.

        Raises NotFoundError if its tree is not in this clone, or there is more to read than one request may take.
        """
        found = self.stored(commit.sha)
        if found is not None:
            return found
        with self._reading:
            for _ in range(_ATTEMPTS):
                found = self.stored(commit.sha)
                if found is not None:
                    return found
                self._read(commit)
        raise CmError("The mainline changes faster than its history can be read.", hint="Run the command again.")

    def _read(self, commit: CommitPoint) -> None:
        reader = TreeReader(self._db, self._repository, self._config)
        try:
            tree = self._repository.tree_of(commit.sha)
            used = list(self._used)
            _Reading(self._db, self._repository, reader, self._rules, commit, tree).run(used)
            for number in used:
                self._used.pop(number, None)
        except MissingError as error:
            raise NotFoundError(
                f"The files of {commit.sha[:SHORT_SHA]} cannot be listed: {error.oid} is not in this clone, or damaged.",
                hint="`git fetch` may restore it; `git fsck` lists missing objects.",
            ) from error
        finally:
            self.parsed += reader.parsed
            reader.close()


class _Reading:
    """One reading of one commit, in batches that commit."""

    def __init__(
        self, db: Database, repository: Repository, reader: TreeReader, rules: str, commit: CommitPoint, tree: bytes
    ) -> None:
        self._db = db
        self._repository = repository
        self._reader = reader
        self._rules = rules
        self._commit = commit
        self._tree = tree
        self._number = 0
        self._base = ""
        self._todo: list[Change] = []
        self._oids: Collection[str] = ()

    def run(self, used: Sequence[int]) -> None:
        """Read all of it, or up to a change of the mainline; then nothing is complete.

        Raises MissingError if a tree is not in this clone, or damaged; NotFoundError if it takes longer than a request
        may.
        """
        turn = WriterLock.of(self._db)
        until = time.monotonic() + LONGEST_SECONDS
        with turn.question():
            self._begin()
        total = len(self._todo)
        while True:
            with turn.question():
                if not self._is_continuable():
                    return
                self._batch()
                if not self._todo:
                    self._complete(used)
                    return
            if time.monotonic() > until:
                done = total - len(self._todo)
                raise NotFoundError(
                    f"{self._commit.sha[:SHORT_SHA]} is not read yet: {done:,} of {count(total, 'differing file')} done.",
                    hint="Repeat the request to continue.",
                )

    def _begin(self) -> None:
        self._base, before = self._nearest_covered()
        try:
            self._todo = self._reader.differing(before, self._tree)
        except MissingError:
            if before is None:
                raise
            # Part of the base is missing now: all of the commit's own files are read.
            self._base, before = "", None
            self._todo = self._reader.differing(None, self._tree)
        self._todo.reverse()
        self._oids = {change.after.oid for change in self._todo if change.after is not None}
        with self._db.transaction():
            self._number = side_commits.begin(self._db, self._commit.sha, self._base, self._rules)

    def _nearest_covered(self) -> tuple[str, bytes | None]:
        """Return the covered commit that probably differs least, and its tree; empty: none is covered."""
        known = coverage.load(self._db)
        if not known.to_ord or known.rules != self._rules:
            return "", None
        # Without an ancestor the mainline of its time is next to it: in a shallow clone the two may well be related.
        near = self._commit.ordinal or self._db.value(
            "SELECT max(ord) FROM line_commit WHERE time <= ?", [self._commit.time]
        )
        ordinal = min(max(near or 0, known.from_ord), known.to_ord)
        sha = self._db.value("SELECT sha FROM line_commit WHERE ord = ?", [ordinal])
        try:
            return (sha, self._repository.tree_of(sha)) if sha else ("", None)
        except MissingError:
            return "", None

    def _is_continuable(self) -> bool:
        """Whether the stored part is still valid: not dropped, and the base is covered by the same rules."""
        if not self._db.value("SELECT count(*) FROM side_commit WHERE id = ?", [self._number]):
            return False
        known = coverage.load(self._db)
        if not self._base:
            return True
        ordinal = self._db.value("SELECT ord FROM line_commit WHERE sha = ?", [self._base])
        return ordinal is not None and known.rules == self._rules and known.covers(ordinal)

    def _batch(self) -> None:
        self._reader.begin(self._oids)
        until = time.monotonic() + _BATCH_SECONDS
        files: list[SideFile] = []
        while self._todo and time.monotonic() < until:
            change = self._todo.pop()
            blob = self._reader.blob_of(self._tree, change.path, change.after)
            # A name that is not UTF-8 is not in the store: there is nothing to remove.
            if blob is not None or (change.before is not None and is_text(change.path)):
                files.append((change.path, blob))
        self._reader.flush()
        with self._db.transaction():
            side_commits.add(self._db, self._number, files)

    def _complete(self, used: Sequence[int]) -> None:
        with self._db.transaction():
            if side_commits.complete(self._db, self._number, used):
                drop_unused(self._db)
