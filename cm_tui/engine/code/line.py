"""The first-parent line of HEAD in the store: which commit has which ordinal."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from cm_tui.engine.code import rows
from cm_tui.engine.code.spans import keep_up
from cm_tui.engine.git.repository import CommitInfo, Repository
from cm_tui.engine.store.database import Database

_COLUMNS = ("ord", *CommitInfo._fields)
_SHALLOW = "line_shallow"
"""Key in `meta`: set while the line ends where a shallow clone does, so that its ordinals may still move."""


@dataclass(frozen=True, slots=True)
class LineChange:
    """How the stored line becomes the one of HEAD."""

    keep: int = 0
    """Rows up to this ordinal (after the shift) stay."""
    shift: int = 0
    """How far ordinals move: a shallow clone was deepened."""
    commits: list[CommitInfo] = field(default_factory=list)
    """What comes after, oldest first."""
    shallow: bool = False


def compare(db: Database, repository: Repository, head: str | None) -> LineChange | None:
    """What has to change for the stored line to be that of a commit; None: nothing.

    Only the part that is not stored yet is read, unless the clone is or was shallow.
    """
    newest = db.rows("SELECT sha FROM line_commit ORDER BY ord DESC LIMIT 1")
    shallow = repository.is_shallow
    if head is None:
        return LineChange() if newest else None
    if not shallow and db.get_meta(_SHALLOW) is None:
        if newest and newest[0][0] == head:
            return None
        known = dict(db.rows("SELECT sha, ord FROM line_commit"))
        commits: list[CommitInfo] = []
        for commit in repository.first_parents(head):
            if commit.sha in known:
                break
            commits.append(commit)
        else:
            return LineChange(commits=commits[::-1])
        return LineChange(keep=known[commit.sha], commits=commits[::-1])
    return _compare_whole(db, repository, head, shallow=shallow)


def _compare_whole(db: Database, repository: Repository, head: str, *, shallow: bool) -> LineChange | None:
    """The same where the far end may have moved."""
    line = list(repository.first_parents(head))[::-1]
    before = dict(db.rows("SELECT sha, ord FROM line_commit"))
    was_shallow = db.get_meta(_SHALLOW) is not None
    common = next((number for number in range(len(line), 0, -1) if line[number - 1].sha in before), 0)
    shift = common - before[line[common - 1].sha] if common else 0
    if not shift and common == len(line) == len(before) and shallow == was_shallow:
        return None
    # Nothing is kept below a line that has moved: all rows are written again, while spans may stay.
    return LineChange(keep=common, shift=shift, commits=line if shift or not common else line[common:], shallow=shallow)


def write(db: Database, change: LineChange) -> None:
    """Make the stored line that of HEAD, and take back what is known of the past up to the fork."""
    with db.transaction():
        keep_up(db, keep=change.keep, shift=change.shift)
        start = 0 if change.shift else change.keep
        db.execute("DELETE FROM line_commit WHERE ord > ?", [start])
        numbered = ((number, *commit) for number, commit in enumerate(change.commits, start + 1))
        # In pieces: a line may have a million commits.
        while piece := list(islice(numbered, 50_000)):
            rows.insert(db, "line_commit", rows.transpose(_COLUMNS, piece))
        db.execute("DELETE FROM meta WHERE key = ?", [_SHALLOW])
        if change.shallow:
            db.set_meta(_SHALLOW, "1")
