"""`cm serve` and `cm autostart`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cm_tui.cli.declare import Family, declared
from cm_tui.cli.options import DryRun
from cm_tui.cli.output import as_json, narrate, narrate_notes, print_json, wants_json, write, write_text
from cm_tui.errors import UsageError
from cm_tui.model.dates import local_minute

if TYPE_CHECKING:
    from cm_tui.model.freshness import Autostart


@declared(lacks="project")
def serve(*, background: bool = False, stop: bool = False, status: bool = False) -> None:
    """Own all stores for every other `cm` of this user; started by the first command that needs it.

    Args:
        background: Log to a file; exit when idle.
        stop: End the daemon; work in progress is kept as far as it got.
        status: Say whether a daemon runs, and what it does.
    """
    from cm_tui.daemon import bootstrap

    if background + stop + status > 1:
        raise UsageError("Choose one of --background, --stop and --status.")
    if stop:
        _say({"stopped": bootstrap.stop_daemon()}, "The daemon stopped.", "No daemon was running.")
    elif status:
        _show(bootstrap.health())
    else:
        from cm_tui.cli.daemon import own_stores

        done = own_stores(background=background)
        if not done and not background:
            _say({"started": False}, "", "A daemon is already running: `cm serve --status`.")


def _say(record: dict[str, bool], yes: str, no: str) -> None:
    print_json(record) if wants_json() else narrate(yes if all(record.values()) else no)


def _show(report: dict[str, Any] | None) -> None:
    if as_json({"running": report is not None, **(report or {})}):
        return
    if report is None:
        write("No daemon is running.")
        return
    since = local_minute(report["started"])
    write(f"{'daemon':<9} cm {report['version']}, process {report['pid']}, since {since}")
    write(f"{'memory':<9} {report['memory_bytes'] / 1e6:,.0f} MB")
    for complaint in report.get("complaints", ()):
        write(f"{'warning':<9} {complaint}")
    for project in report["projects"]:
        write(f"{'project':<9} {project['root']}")
    for job in report["jobs"]:
        step = job["step"] or {"stage": "", "done": 0, "total": 0}
        write(
            f"{'job':<9} {job['id']} {job['name']} {job['project']}: {job['state']} {step['stage']} {step['done']:,}/{step['total']:,}"
        )


@declared(lacks="project")
def install(*, dry_run: DryRun = False) -> None:
    """Let the daemon of all projects begin with your session, so that indexes are fresh before the first question."""
    from cm_tui.integrations import autostart

    _show_autostart(autostart.install(dry_run=dry_run), whole=dry_run)


@declared(lacks="project")
def uninstall(*, dry_run: DryRun = False) -> None:
    """Take that back; a daemon that runs goes on."""
    from cm_tui.integrations import autostart

    _show_autostart(autostart.uninstall(dry_run=dry_run))


@declared(lacks="project")
def status() -> None:
    """Show whether it is installed, where, and whether it would be written the same today."""
    from cm_tui.integrations import autostart

    _show_autostart(autostart.status())


def _show_autostart(autostart: Autostart, *, whole: bool = False) -> None:
    if as_json(autostart):
        return
    if whole:
        write_text(autostart.text)
    write(f"{autostart.system:<16} {autostart.state:<12} {autostart.path}".rstrip())
    narrate_notes(autostart.notes)


autostart = Family("Start `cm serve` with your session: install, uninstall, status.", (install, uninstall, status))
