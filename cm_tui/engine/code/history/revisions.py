"""Revisions: from a name, such as a branch, a commit, `#17` or a date, to a commit."""

from __future__ import annotations

import re
import time
from datetime import UTC

from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.commits import ORDINAL, MainlineCommits
from cm_tui.engine.code.history.coverage_report import CoverageReport
from cm_tui.engine.code.history.side_reader import SideReader
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.lru import LRU
from cm_tui.model import CommitPoint, ResolvedRevision
from cm_tui.model.dates import day, instant
from cm_tui.model.ids import quoted

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_STEPS_BACK = re.compile(r"([^~^]+)~(\d{0,9})")
_LONGEST_NAME = 1000
_NAME_ONE = "Give a branch, a tag, a commit, #17, a date such as 2021-03-04, or an age such as 2w."
_A_DAY = 86_400
_KEPT_PLACES = 1000
_KEPT_ORDINALS = 200_000
_NO_HEAD = CommitPoint(0, "", 0, "", "")
"""Stands for HEAD while its branch has no commit."""


class Revisions:
    """Resolves names in one store.

    `report`: returns why a commit is unavailable; `side`: the files of commits off the mainline.
    """

    def __init__(
        self, db: Database, repository: Repository, commits: MainlineCommits, report: CoverageReport, side: SideReader
    ) -> None:
        self.commits = commits
        self._db = db
        self._repository = repository
        self._report = report
        self._side = side
        self._places: LRU[tuple[str, str, int], tuple[int, int, bool]] = LRU(_KEPT_PLACES)
        """Where commits lie by their sha and the newest commit of the mainline, as `_place` says it."""
        self._ordinals: tuple[CommitPoint | None, dict[str, int]] = (None, {})

    def resolve(self, revision: str) -> ResolvedRevision:
        """Find the commit that a name means, and where it lies.

        Raises NotFoundError if nothing is called so; UsageError if the name is ambiguous or malformed, or there is no
        git.
        """
        self.commits.ensure()
        name = revision.strip()
        _refuse_odd(name)
        if not self._repository.git:
            if problem := self._repository.git_problem:
                raise UsageError(problem)
            raise UsageError("No history: this project has no git repository.", hint="`git init` creates one.")
        head = self.commits.head()
        if head is None:
            return self._beside_none(revision, name)
        ordinal = ORDINAL.fullmatch(name)
        if ordinal is not None:
            found = self.commits.at(int(ordinal[1]))
            if found is None:
                raise NotFoundError(f"The mainline has no commit {name}.", hint=f"It has #1 to #{head.ordinal}.")
            return self._resolved(found, revision, found.sha, head)
        back = _STEPS_BACK.fullmatch(name)
        if back is not None and (counted := self._ancestor(revision, back[1], int(back[2] or 1), head)) is not None:
            return counted
        try:
            sha = self._repository.resolve(name, hint=_NAME_ONE)
        except NotFoundError as error:
            try:
                # Commits are dated in UTC.
                seconds = instant(name, "revision", zone=UTC)
            except UsageError as wrong:
                raise (wrong if _DATE.match(name) else error) from None
            return self._dated(revision, name, int(seconds), head)
        return self._of_sha(revision, sha, head)

    def on_mainline(self, revision: str) -> tuple[int, str]:
        """Return the ordinal of a revision, or of its nearest ancestor, and a note about the difference.

        Raises NotFoundError if there is no such revision, or it shares no commit with the mainline.
        """
        resolved = self.resolve(revision)
        if not resolved.moment.ordinal:
            raise NotFoundError(
                f"{revision} shares no commit with the mainline of HEAD.", hint="`cm history line` lists its commits."
            )
        return resolved.moment.ordinal, resolved.said if resolved.moment.ahead or not resolved.exact else ""

    def _ancestor(self, asked: str, name: str, steps: int, head: CommitPoint) -> ResolvedRevision | None:
        """Go back a number of first parents from a commit of the mainline: by ordinals, however many they are."""
        start = self.commits.of_shas([self._repository.resolve(name)])
        found = next((self.commits.at(commit.ordinal - steps) for commit in start.values()), None)
        return self._resolved(found, asked, found.sha, head) if found is not None else None

    def _beside_none(self, asked: str, name: str) -> ResolvedRevision:
        """Find a commit of another branch while HEAD's own has none, as after `git checkout --orphan`."""
        try:
            sha = self._repository.resolve(name, hint=_NAME_ONE)
        except NotFoundError as error:
            raise NotFoundError("No commits yet.", hint="History begins with the first one.") from error
        return self._of_sha(asked, sha, _NO_HEAD)

    def _of_sha(self, asked: str, sha: str, head: CommitPoint) -> ResolvedRevision:
        on_mainline = self.commits.of_shas([sha]).get(sha)
        if on_mainline is not None:
            return self._resolved(on_mainline, asked, sha, head)
        commit, is_whole = self._off_mainline(sha, head)
        files = self._side.stored(sha)
        notes = [
            "" if is_whole else "commits before it are not in this clone, so its nearest ancestor may be another",
            tree_reader.note(self._db, files) if files else "",
        ]
        return ResolvedRevision(
            commit, asked, sha, exact=True, known=files is not None, note="; ".join(filter(None, notes))
        )

    def point(self, sha: str) -> CommitPoint:
        """Return where a commit lies; whether it can be answered is not looked at.

        Raises MissingError if it is not in this clone, or damaged.
        """
        on_mainline = self.commits.of_shas([sha]).get(sha)
        return on_mainline or self._off_mainline(sha, self.commits.head() or _NO_HEAD)[0]

    def _off_mainline(self, sha: str, head: CommitPoint) -> tuple[CommitPoint, bool]:
        info = self._repository.commit(sha)
        ordinal, ahead, is_whole = self._place(sha, head)
        return CommitPoint(ordinal, sha, info.time, info.author, info.subject, ahead), is_whole

    def _place(self, sha: str, head: CommitPoint) -> tuple[int, int, bool]:
        """Find the place of a commit off the mainline.

        Every path from a commit to the mainline first meets it at an ancestor: the highest of those is the nearest.
        Returns the ordinal of the nearest ancestor on the mainline (0: none); the number of commits on the paths to it;
        whether all of those are in this clone.
        """
        key = (sha, head.sha, head.ordinal)
        if (known := self._places.get(key)) is not None:
            return known
        ordinals = self._all_ordinals(head)
        seen, waiting, best, ends = {sha}, [sha], 0, []
        while waiting:
            commit = waiting.pop()
            parents = self._repository.parents(commit)
            if not parents:
                ends.append(commit)
            for parent in parents:
                if parent in ordinals:
                    best = max(best, ordinals[parent])
                elif parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        is_whole = all(self._repository.missing_parent(end) is None for end in ends)
        self._places.put(key, place := (best, len(seen), is_whole))
        return place

    def _all_ordinals(self, head: CommitPoint) -> dict[str, int]:
        """Return the ordinals of the mainline by sha; cached unless it is too long."""
        kept_head, ordinals = self._ordinals
        if kept_head != head:
            ordinals = dict(self._db.rows("SELECT sha, ord FROM line_commit"))
            self._ordinals = (head, ordinals) if len(ordinals) <= _KEPT_ORDINALS else (None, {})
        return ordinals

    def _dated(self, asked: str, text: str, seconds: int, head: CommitPoint) -> ResolvedRevision:
        """Find the last commit before everything that was made from a time on."""
        ordinal = self._last_before(seconds)
        found = self.commits.at(max(1, ordinal))
        assert found is not None
        if ordinal:
            return self._resolved(found, asked, found.sha, head)
        note = f"the mainline has no commit before {text}; its first one is #1 of {day(found.time)}"
        return self._resolved(found, asked, "", head, note)

    def _last_before(self, seconds: int) -> int:
        """Return the ordinal of the last commit before a time; 0: no such commit.

        Times need not rise along a mainline: it is split where the fewest commits are on the wrong side. Times before
        the first computers and in the future are ignored.
        """
        sql = """
        SELECT ord, sum(CASE WHEN time NOT BETWEEN 0 AND ? THEN 0 WHEN time < ? THEN 1 ELSE -1 END) OVER (ORDER BY ord) AS balance
        FROM line_commit QUALIFY balance > 0 ORDER BY balance DESC, ord DESC LIMIT 1
        """
        rows = self._db.rows(sql, [int(time.time()) + _A_DAY, seconds])
        return int(rows[0][0]) if rows else 0

    def _resolved(
        self, commit: CommitPoint, asked: str, sha: str, head: CommitPoint, note: str = ""
    ) -> ResolvedRevision:
        known = coverage.load(self._db)
        is_known = commit.ordinal == head.ordinal or known.covers(commit.ordinal)
        if not is_known:
            note = "; ".join(filter(None, (note, self._report.why_unknown(commit.ordinal, known))))
        elif known.covers(commit.ordinal) and sha:
            note = "; ".join(filter(None, (note, tree_reader.note(self._db, snapshot_at(commit.ordinal)))))
        return ResolvedRevision(commit, asked, sha, exact=sha == commit.sha, known=is_known, note=note)


def snapshot_at(ordinal: int) -> str:
    """Return the relation of (path, blob) at an ordinal, for a FROM clause."""
    where = f"from_ord <= {ordinal:d} AND (to_ord IS NULL OR to_ord > {ordinal:d})"
    return f"(SELECT path, blob FROM file_span WHERE {where})"  # noqa: S608 - a number


def _refuse_odd(name: str) -> None:
    if not name:
        raise UsageError("No revision given.", hint=_NAME_ONE)
    if len(name) > _LONGEST_NAME or not name.isprintable() or "{/" in name or name.startswith((":", "-")):
        raise UsageError(f"Not a revision: {quoted(name, 60)}.", hint=_NAME_ONE)
