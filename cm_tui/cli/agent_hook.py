"""`cm hook`: for help and for `cm --project PATH hook`; the usual way in is `cm_tui.__main__`, which is quicker."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command(
        "hook",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(hook)


def hook(
    context: typer.Context,
    event: Annotated[
        str,
        typer.Argument(
            help="prompt, edit, session-start, session-end or stop, with the agent's JSON on stdin; git with its hook."
        ),
    ],
) -> None:
    """Tell the memory what happened; called by agents and by git, not by people. Always ends with 0."""
    from cm_tui.agent_hooks.command import main

    raise typer.Exit(main([event, *context.args]))
