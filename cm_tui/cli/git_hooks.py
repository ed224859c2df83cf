"""`cm git-hooks` and `cm hook`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.declare import Family, declared
from cm_tui.cli.options import chosen_project, under_old_name
from cm_tui.cli.output import as_json, narrate, narrate_notes, write

if TYPE_CHECKING:
    from cm_tui.model.freshness import GitHooks

Shared = Annotated[bool, typer.Option("--force", help="Also when core.hooksPath points outside the repository.")]


def install(*, force: Shared = False) -> None:
    """Add cm's block to git's hooks; hooks that are there go on working, and git never waits or fails."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.install(chosen_project(), force=force))


def uninstall(*, force: Shared = False) -> None:
    """Take cm's block out again; what was there before is back byte for byte."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.uninstall(chosen_project(), force=force))


def status() -> None:
    """Show each hook: whether it is installed, and how it is chained to one that was there before."""
    from cm_tui.integrations import git_hooks

    _show(git_hooks.status(chosen_project()))


def _show(hooks: GitHooks) -> None:
    if as_json(hooks):
        return
    for hook in hooks.hooks:
        state = "not installed" if hook.state == "missing" else hook.state
        write(f"{hook.name:<16} {state:<13} {hook.note}".rstrip())
    narrate(f"in {hooks.folder}")
    narrate_notes(hooks.notes)


@declared(lacks="project as_json", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def hook(context: typer.Context, event: str) -> None:
    """Tell the memory what happened; called by agents and by git, not by people. Always ends with 0.

    Args:
        event: prompt, edit, session-start, session-end or stop, with the agent's JSON on stdin; git with its hook.
    """
    from cm_tui.agent_hooks.command import main

    raise typer.Exit(main([event, *context.args]))


_HELP = "Git hooks that keep the index fresh: install, uninstall, status."
git_hooks = Family(_HELP, (install, uninstall, status))
hooks = Family(_HELP, tuple(under_old_name("hooks", "git-hooks", one) for one in git_hooks.commands), hidden=True)
