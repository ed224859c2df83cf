"""`cm serve`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cm_tui.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("serve")(serve)


def serve(
    background: Annotated[bool, typer.Option("--background", help="Log to a file; exit when idle.")] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="End the daemon; work in progress is kept as far as it got.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Say whether a daemon runs, and what it does.")] = False,
    as_json: Json = False,
) -> None:
    """Own all stores for every other `cm` of this user; started by the first command that needs it."""
    from cm_tui.daemon import bootstrap
    from cm_tui.errors import UsageError

    if background + stop + status > 1:
        raise UsageError("Choose one of --background, --stop and --status.")
    if stop:
        _say({"stopped": bootstrap.stop_daemon()}, "The daemon has ended.", "There was no daemon.", as_json=as_json)
    elif status:
        _show(bootstrap.health(), as_json=as_json)
    else:
        from cm_tui.cli.daemon_extensions import extensions
        from cm_tui.daemon.process import serve as own

        done = own(extensions, background=background)
        if not done and not background:
            _say({"started": False}, "", "A daemon runs already: `cm serve --status`.", as_json=as_json)


def _say(record: dict[str, bool], yes: str, no: str, *, as_json: bool) -> None:
    from cm_tui.cli.output import narrate, print_json

    print_json(record) if as_json else narrate(yes if all(record.values()) else no)


def _show(report: dict[str, Any] | None, *, as_json: bool) -> None:
    from cm_tui.cli.output import print_json, write
    from cm_tui.model.dates import local_minute

    if as_json:
        print_json({"running": report is not None, **(report or {})})
        return
    if report is None:
        write("There is no daemon.")
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
