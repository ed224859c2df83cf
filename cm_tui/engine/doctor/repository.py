"""Checks of the repository and the journal against the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pygit2

from cm_tui.counts import count
from cm_tui.engine.doctor.installation import failed
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError, UsageError
from cm_tui.model import Check

_SHOWN = 3
_UNREADABLE = "git-objects-missing"
_FSCK = "Run `git fsck`: it names missing objects, which a fetch or another clone restores."


def examine_repository(
    root: Path, db: Database, repository: Callable[[], Repository], *, full: bool
) -> Iterator[Check]:
    """Check that git's data can be read, and that the store has the files of its commit.

    `repository`: opens it; `full`: read every file of HEAD.
    """
    try:
        opened = repository()
        head = opened.head()
        if not opened.git:
            yield Check("repository", "ok", opened.git_problem or "a project without git")
            return
        tree = opened.tree(head.sha)
        unread = _unreadable(opened, [entry.oid for entry in tree.values() if not entry.is_submodule]) if full else []
    except CmError as error:
        yield failed("repository", error, _FSCK)
        return
    if unread:
        said = f"{count(len(unread), 'file')} of HEAD cannot be read from git, {unread[0][:12]} among them."
        yield Check("repository", "failed", f"{said} They cannot be indexed again.", _FSCK, _UNREADABLE)
        return
    differing = _differing(db, root, opened)
    if differing:
        names = ", ".join(differing[:_SHOWN]) + (" and more" if len(differing) > _SHOWN else "")
        yield Check(
            "store", "failed",
            f"{count(len(differing), 'file')} of the index differ from its commit: {names}. "
            "Results for them are wrong or missing.",
            "Run `cm rebuild`: it rebuilds the index from the repository, and keeps the journal and your marks.",
            "rows-differ-from-git",
        )  # fmt: skip
        return
    yield Check(
        "repository",
        "ok",
        f"{count(len(tree), 'file')} at {head.branch or 'HEAD'} {(head.sha or 'without a commit')[:12]}",
    )


def _differing(db: Database, root: Path, repository: Repository) -> list[str]:
    """Return the paths in which the store's files of its commit are not that commit's."""
    commit = db.get_meta("indexed_head")
    if not commit or db.get_meta("root") != str(root):
        return []
    try:
        tree = repository.tree(commit)
    except CmError:
        # The commit is gone with its branch: there is nothing to compare with, and the next run uses another.
        return []
    stored = dict(db.rows("SELECT h.path, b.oid FROM head_file h JOIN blob b ON b.id = h.blob"))
    wrong = [path for path, oid in stored.items() if path not in tree or tree[path].oid != oid]
    known = {row[0] for row in db.rows("SELECT path FROM skipped UNION SELECT path FROM worktree")}
    files = {path for path, entry in tree.items() if not (entry.is_link or entry.is_submodule)}
    return sorted([*wrong, *(files - stored.keys() - known)])


def _unreadable(repository: Repository, oids: list[str]) -> list[str]:
    found = []
    for oid in dict.fromkeys(oids):
        try:
            if repository.read(oid) is None:
                found.append(oid)
        except (KeyError, ValueError, pygit2.GitError):
            found.append(oid)
    return found


def examine_journal_position(root: Path, db: Database) -> Iterator[Check]:
    """Check that the journal still has what the store read from it."""
    said = db.get_meta("episode_position")
    if said is None:
        return
    try:
        at = Position.parse(said)
        # The mark for reading from the beginning.
        if at <= Position(1, 1) or Journal.of(root).holds(at, db.get_meta("episode_event") or ""):
            return
    except UsageError:
        at = START
    except CmError:
        # The check of the journal reports it.
        return
    yield Check(
        "journal", "warning",
        "The journal is another one than the index has read, or a shorter one. Episodes that it no longer has are still found.",
        "Run `cm index`.", "journal-replaced",
    )  # fmt: skip
