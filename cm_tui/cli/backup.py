"""`cm backup`, `cm restore`."""

from __future__ import annotations

from pathlib import Path

from cm_tui import model
from cm_tui.cli.options import DryRun, Yes, ask, chosen_project, root_here
from cm_tui.cli.output import as_json, narrate, narrate_notes, progress_bar, write
from cm_tui.counts import count
from cm_tui.errors import UsageError

_HINT = "Add --yes to continue anyway."


def backup(file: Path, *, everywhere: bool = False, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Write what cannot be made again of this project into one private, compressed file: journal, marks, choices.

    Not in it: settings, trust, links, and the index, which `cm index` makes again.

    Args:
        file: The file to write.
        everywhere (--all, --everywhere): All projects.
    """
    from cm_tui.engine.api.backup import back_up

    root = None if everywhere else root_here(needed=True)
    file = file.expanduser().absolute()
    if file.is_dir():
        raise UsageError(f"{file} is a folder.", hint="Name a file in it.")
    if file.exists() and not (dry_run or yes):
        ask(f"{file} exists. Replace it?", _HINT, f"{file} exists.")
    with progress_bar() as tell:
        found = back_up(file, root, dry_run=dry_run, tell=tell)
    if as_json(found):
        return
    for one in found.projects:
        archived = f", {count(one.archived, 'episode')} of the archive" if one.archived else ""
        write(f"{_called(one.name, one.identity)}  {count(one.events, 'event')}{archived}  {one.id}")
    narrate(
        f"{'would be written' if dry_run else 'written'}: {file}{f', {found.bytes:,} bytes' if found.bytes else ''}"
    )


def restore(
    file: Path,
    *,
    into_here: bool = False,
    everything: bool = False,
    mine: bool = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Merge a backup into what is there: what is there already, or was erased, stays as it is.

    A project goes where its remote or first commit says; the first checkout that has it then is linked with `cm link`.

    Args:
        file: A file that `cm backup` wrote.
        into_here (--here): Into this project, whatever it was made of; for a file with one project.
        everything (--all, --everywhere): Entries of the file's other projects too, not their journals alone.
        mine: You made the file: what it says is free of secrets is not looked through again.
    """
    from cm_tui.engine.api.backup import look_at_backup, restore_backup

    file = file.expanduser().absolute()
    root = root_here(needed=into_here or chosen_project() is not None)
    with progress_bar() as tell:
        report = look_at_backup(file, root, into_here=into_here, everything=everything, tell=tell)
    is_new = any(one.changes_something for one in report.projects)
    if not dry_run and is_new:
        if not yes:
            _show(report)
            ask("Restore this?", _HINT)
        with progress_bar() as tell:
            report = restore_backup(file, root, into_here=into_here, everything=everything, mine=mine, tell=tell)
        _notify_daemon(root)
    if as_json(report):
        return
    if dry_run or yes or not is_new:
        _show(report)
    if report.dry_run:
        narrate("nothing was changed")
    narrate_notes(report.notes)


def _show(report: model.RestoreReport) -> None:
    for one in report.projects:
        write(_line(one))
    if not report.projects:
        narrate("the backup contains no project")


def _line(one: model.RestoredProject) -> str:
    where = "into this project" if one.here else f"into {one.id}"
    parts = [f"{one.new:,} of {count(one.events, 'event')} new"]
    if one.archived:
        parts.append(f"{one.new_archived:,} of {count(one.archived, 'episode')} of the archive new")
    if one.new_entries:
        everywhere = f" ({one.new_everywhere:,} for all your projects)" if one.new_everywhere else ""
        parts.append(f"{one.new_entries:,} of {count(one.entries, 'entry', 'entries')} new{everywhere}")
    return f"{_called(one.name, one.identity)}  {', '.join(parts)}  {where}"


def _called(name: str, identity: str) -> str:
    """Return a project's name, and what it is known by wherever it lies."""
    return f"{name} ({identity})" if identity else name


def _notify_daemon(root: Path | None) -> None:
    """Have a daemon read what came into the journal; one that does not run finds it by itself."""
    from cm_tui.daemon.bootstrap import notify

    if root is not None:
        notify(root)
