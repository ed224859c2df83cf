"""`cm autostart install|uninstall|status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, add_family

if TYPE_CHECKING:
    from cm_tui.model.freshness import Autostart

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    add_family(
        app, "autostart", "Start `cm serve` with your session: install, uninstall, status.", install, uninstall, status
    )


def install(dry_run: DryRun = False, as_json: Json = False) -> None:
    """Let the daemon of all projects begin with your session, so that indexes are fresh before the first question."""
    from cm_tui.integrations import autostart

    _show(autostart.install(dry_run=dry_run), as_json=as_json, whole=dry_run)


def uninstall(dry_run: DryRun = False, as_json: Json = False) -> None:
    """Take that back; a daemon that runs goes on."""
    from cm_tui.integrations import autostart

    _show(autostart.uninstall(dry_run=dry_run), as_json=as_json)


def status(as_json: Json = False) -> None:
    """Show whether it is installed, where, and whether it would be written the same today."""
    from cm_tui.integrations import autostart

    _show(autostart.status(), as_json=as_json)


def _show(autostart: Autostart, *, as_json: bool, whole: bool = False) -> None:
    from cm_tui.cli.output import narrate, print_json, write, write_text

    if as_json:
        print_json(autostart)
        return
    if whole:
        write_text(autostart.text)
    write(f"{autostart.system:<16} {autostart.state:<12} {autostart.path}".rstrip())
    for note in autostart.notes:
        narrate(f"note: {note}")
