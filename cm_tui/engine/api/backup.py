"""Backups of irreplaceable data, and restoring them, without opening a store."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from cm_tui import model
from cm_tui.engine.api.known_projects import known_projects
from cm_tui.engine.memory.backup.make import Chosen, make
from cm_tui.engine.memory.backup.restore import Here, RestoreOptions
from cm_tui.engine.memory.backup.restore import look_at as look_at_file
from cm_tui.engine.memory.backup.restore import restore as restore_file
from cm_tui.engine.platform.git.identity import claimed, identify
from cm_tui.errors import CmError, NotFoundError


def back_up(
    file: Path, root: Path | None, *, dry_run: bool = False, tell: model.Tell | None = None
) -> model.BackupReport:
    """Back up a project's irreplaceable data into one private, compressed file.

    `file`: in an existing folder; an existing file is replaced. `root`: of the project's checkout; None: all projects.
    `dry_run`: only count. `tell`: called with the progress. Raises NotFoundError if there is nothing to back up, or no
    such folder; StoreError if something cannot be read or written.
    """
    chosen = [_of(root)] if root is not None else _all()
    if not chosen:
        raise NotFoundError("No project has any memory yet.", hint="Nothing to back up.")
    if not file.parent.is_dir():
        raise NotFoundError(f"Folder not found: {file.parent}.", hint="Create it first.")
    return make(file, chosen, dry_run=dry_run, tell=tell or model.ignore_progress)


def restore_backup(
    file: Path,
    root: Path | None,
    *,
    into_here: bool = False,
    everything: bool = False,
    mine: bool = False,
    dry_run: bool = False,
    tell: model.Tell = model.ignore_progress,
) -> model.RestoreReport:
    """Merge a backup into the current data.

    `file`: of `back_up`. `root`: of the user's checkout; None: in none. `into_here`: restore its one project into this
    checkout, whatever its origin. `everything`: also restore entries of the other projects. `mine`: the user made it:
    text marked as free of secrets is not scanned again. `dry_run`: only report what would be done. `tell`: called with
    the progress. Raises RefusedError if it is not a backup, or is damaged; CmError if it, or a journal, cannot be read.
    """
    wish = RestoreOptions(_here(root), into_here, everything, mine)
    return (look_at_file if dry_run else restore_file)(file, wish, tell=tell)


look_at_backup = partial(restore_backup, dry_run=True)


def _of(root: Path) -> Chosen:
    found, said = identify(root), claimed(root)
    if said.text.startswith("path:") or found.claims or said == found:
        return Chosen(found.folder.name, found.text, found.name, str(root))
    # The memory may be older than the remote: another machine identifies the project by the remote.
    return Chosen(found.folder.name, said.text, said.name, str(root), said.folder.name)


def _all() -> list[Chosen]:
    rows = sorted((one for one in known_projects().rows if one.recorded), key=lambda one: one.id)
    return [_of_row(one) for one in rows]


def _of_row(row: model.KnownProject) -> Chosen:
    if row.roots:
        # What git cannot open is backed up under the name that is noted.
        with suppress(CmError):
            found = _of(Path(row.roots[0]))
            if found.name == row.id:
                return found
    return Chosen(row.id, row.identity, row.name, row.roots[0] if row.roots else "")


def _here(root: Path | None) -> Here | None:
    if root is None:
        return None
    found = identify(root)
    # A checkout that merely claims a project has its own memory, and joins that project's only by `cm link`.
    return Here(root, found.folder.name, found.text, "" if found.claims else claimed(root).text)
