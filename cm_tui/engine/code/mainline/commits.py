"""The stored mainline, HEAD's line of first parents, with the ordinals of commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from cm_tui.engine.code.mainline import coverage, former_commits
from cm_tui.engine.code.mainline.coverage import truncate_to
from cm_tui.engine.platform.git.commits import CommitInfo
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database

_COLUMNS = ("ord", *CommitInfo._fields)
_END = "line_shallow"
"""Key in `meta`: where the mainline ends while that is not the first commit of all, so that its ordinals may still move."""
_LONGEST_PIECE = 1024
_GAP = "gap"
"""Value of that key when no shallow clone is the reason: commits are missing, or damaged."""


@dataclass(frozen=True, slots=True)
class MainlineChange:
    """Change by which the stored mainline becomes the one of HEAD."""

    keep: int = 0
    """Rows up to this ordinal (after the shift) stay."""
    shift: int = 0
    """How far ordinals move: a shallow clone was deepened."""
    commits: list[CommitInfo] = field(default_factory=list)
    """Later commits, oldest first."""
    end: str = ""
    """Where the mainline ends, as it is stored."""


def compare(db: Database, repository: Repository, head: str | None) -> MainlineChange | None:
    """Return the changes of the stored mainline for a commit; None: none.

    Only the missing part is read, unless the far end may have moved.
    """
    newest = db.rows("SELECT sha FROM line_commit WHERE ord = (SELECT max(ord) FROM line_commit)")
    if head is None:
        return MainlineChange() if newest else None
    if not repository.has(head):
        # Lost since it was indexed: only the stored part exists.
        return None
    if newest and end_moved(db, repository):
        return _compare_whole(db, repository, head)
    if newest and newest[0][0] == head:
        return None
    boundary = repository.shallow_boundary()
    former = former_commits.commits(db)
    commits: list[CommitInfo] = []
    for piece in _pieces(repository.first_parents(head, former), former):
        sql = "SELECT sha, ord FROM line_commit WHERE sha IN (SELECT unnest(?::VARCHAR[]))"
        stored = dict(db.rows(sql, [[commit.sha for commit in piece]]))
        fork = next((number for number, commit in enumerate(piece) if commit.sha in stored), None)
        commits += piece[:fork]
        if fork is not None:
            return MainlineChange(keep=stored[piece[fork].sha], commits=commits[::-1], end=db.get_meta(_END) or "")
    return MainlineChange(commits=commits[::-1], end=_end(repository, boundary, commits))


def _pieces(line: Iterable[CommitInfo], former: former_commits.Known) -> Iterator[list[CommitInfo]]:
    """Split a line into growing pieces: mostly one commit is new, and a long line need not be compared as a whole.

    A piece ends where known commits do: the next is probably on the mainline, and nothing beyond it is read.
    """
    piece: list[CommitInfo] = []
    most = 1
    for commit in line:
        piece.append(commit)
        is_last_former = commit.sha in former and former[commit.sha][1] not in former
        if is_last_former or len(piece) >= (_LONGEST_PIECE if commit.sha in former else most):
            yield piece
            piece, most = [], 1 if is_last_former else min(2 * most, _LONGEST_PIECE)
    if piece:
        yield piece


def end_moved(db: Database, repository: Repository) -> bool:
    """Whether the mainline may be longer or shorter now; cheap enough for every request."""
    kept = db.get_meta(_END) or ""
    now = repository.shallow_boundary()
    if (now or kept) and kept != (now or _GAP):
        return True
    if kept != _GAP:
        return False
    oldest = db.rows("SELECT sha FROM line_commit WHERE ord = 1")
    missing = repository.missing_parent(oldest[0][0]) if oldest else None
    return missing is not None and repository.has(missing)


def _end(repository: Repository, boundary: str, newest_first: list[CommitInfo]) -> str:
    if boundary or not newest_first:
        return boundary
    return _GAP if repository.missing_parent(newest_first[-1].sha) is not None else ""


def _compare_whole(db: Database, repository: Repository, head: str) -> MainlineChange | None:
    """Compare as a whole: the far end may have moved."""
    boundary = repository.shallow_boundary()
    newest_first = list(repository.first_parents(head))
    line, end = newest_first[::-1], _end(repository, boundary, newest_first)
    before = dict(db.rows("SELECT sha, ord FROM line_commit"))
    common = next((number for number in range(len(line), 0, -1) if line[number - 1].sha in before), 0)
    shift = common - before[line[common - 1].sha] if common else 0
    if not shift and common == len(line) == len(before) and end == (db.get_meta(_END) or ""):
        return None
    # All rows of a moved line are written again, while spans may stay.
    return MainlineChange(keep=common, shift=shift, commits=line if shift or not common else line[common:], end=end)


def write(db: Database, change: MainlineChange) -> None:
    """Set the stored mainline to that of HEAD, and truncate coverage to the fork."""
    with db.transaction():
        if not change.shift:
            covered = coverage.load(db)
            former_commits.keep_leaving(
                db, keep=change.keep, first=covered.from_ord, last=covered.to_ord, rules=covered.rules,
                returning=[commit.sha for commit in change.commits],
            )  # fmt: skip
        truncate_to(db, keep=change.keep, shift=change.shift)
        start = 0 if change.shift else change.keep
        db.execute("DELETE FROM line_commit WHERE ord > ?", [start])
        numbered = ((number, *commit) for number, commit in enumerate(change.commits, start + 1))
        # In pieces: a mainline may have a million commits.
        while piece := list(islice(numbered, 50_000)):
            bulk.insert(db, "line_commit", bulk.transpose(_COLUMNS, piece))
        db.execute("DELETE FROM meta WHERE key = ?", [_END])
        if change.end:
            db.set_meta(_END, change.end)
