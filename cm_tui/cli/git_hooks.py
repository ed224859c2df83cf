"""`cm git-hooks` and `cm hook`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, add_family, project_of, under_old_name
from cm_tui.cli.output import narrate, narrate_notes, print_json, write

if TYPE_CHECKING:
    from cm_tui.model.freshness import GitHooks

Shared = Annotated[bool, typer.Option("--force", help="Also where core.hooksPath leads out of the repository.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    hook_settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command("hook", context_settings=hook_settings)(hook)
    help_text = "Git hooks that keep the index fresh: install, uninstall, status."
    commands = (install, uninstall, status)
    add_family(app, "git-hooks", help_text, *commands)
    old = (under_old_name("hooks", "git-hooks", command) for command in commands)
    add_family(app, "hooks", help_text, *old, hidden=True)


def install(force: Shared = False, project: Project = None, as_json: Json = False) -> None:
    """Add cm's block to git's hooks; hooks that are there go on working, and git never waits or fails."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.install(project_of(project), force=force), as_json=as_json)


def uninstall(force: Shared = False, project: Project = None, as_json: Json = False) -> None:
    """Take cm's block out again; what was there before is back byte for byte."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.uninstall(project_of(project), force=force), as_json=as_json)


def status(project: Project = None, as_json: Json = False) -> None:
    """Show each hook: whether it is installed, and how it is chained to one that was there before."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.status(project_of(project)), as_json=as_json)


def _show(hooks: GitHooks, *, as_json: bool) -> None:
    if as_json:
        print_json(hooks)
        return
    for hook in hooks.hooks:
        write(f"{hook.name:<16} {hook.state:<10} {hook.note}".rstrip())
    narrate(f"in {hooks.folder}")
    narrate_notes(hooks.notes)


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
