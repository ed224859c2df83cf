"""`cm agent install|uninstall|status`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cm_tui.cli.declare import Family
from cm_tui.cli.options import chosen_project, open_fresh_engine
from cm_tui.cli.output import narrate, print_json, print_page, wants_json, write, write_text
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import Page

if TYPE_CHECKING:
    from cm_tui.integrations.agents.agent_files import Change, InstallTarget, Scope, What

NAMES = "claude-code, opencode, cursor or codex"
Name = Annotated[str, typer.Argument(metavar="AGENT", help=f"{NAMES}.", show_default=False)]
ScopeOption = Annotated[
    Literal["project", "user"],
    typer.Option("--scope", help="project: the project's shared files; user: your own files, for all projects."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change as a diff, and write nothing.")]
NoHooks = Annotated[bool, typer.Option("--no-hooks", help="Leave the hooks as they are.")]
NoMcp = Annotated[bool, typer.Option("--no-mcp", help="Leave the MCP server as it is.")]


def install(
    agent: Name,
    *,
    scope: ScopeOption = "project",
    dry_run: DryRun = False,
    no_hooks: NoHooks = False,
    no_mcp: NoMcp = False,
    tools: str | None = None,
) -> None:
    """Put the memory's MCP server and hooks into an agent's configuration. Running it again changes nothing.

    Args:
        tools: Which tools the agent gets: core, graph, temporal, memory, all, or names of tools.
    """
    if tools is not None:
        if no_mcp:
            raise UsageError("--tools selects tools of the MCP server; it cannot be combined with --no-mcp.")
        tools = _checked(tools)
    target = _target(scope, tools or "")
    _wire(agent, target, _parts(no_hooks=no_hooks, no_mcp=no_mcp), install=True, dry_run=dry_run)


def uninstall(
    agent: Name,
    *,
    scope: ScopeOption = "project",
    dry_run: DryRun = False,
    no_hooks: NoHooks = False,
    no_mcp: NoMcp = False,
) -> None:
    """Take out what `install` put in; everything else stays as it is."""
    target = _target(scope)
    _wire(agent, target, _parts(no_hooks=no_hooks, no_mcp=no_mcp), install=False, dry_run=dry_run)


def _parts(*, no_hooks: bool, no_mcp: bool) -> list[What]:
    """The parts of an agent that are meant. Raises UsageError if none is left."""
    if no_hooks and no_mcp:
        raise UsageError("--no-hooks and --no-mcp together leave nothing to install.")
    parts: dict[What, bool] = {"mcp": not no_mcp, "hooks": not no_hooks}
    return [part for part, meant in parts.items() if meant]


def _wire(name: str, target: InstallTarget, parts: list[What], *, install: bool, dry_run: bool) -> None:
    from cm_tui.integrations.agents import AGENTS, installer, named

    agent = named(name)
    changes = installer.plan(agent, target, install=install, only=parts)
    marker = installer.plan_marker(AGENTS.values(), target, changes, install=install)
    if not dry_run:
        installer.apply(agent, target, changes, install=install)
        installer.apply_marker(marker)
    changes += marker
    news = install and not dry_run and any(change.done != "unchanged" for change in changes)
    notes = agent.notes if news else ()
    if wants_json():
        rows = [
            {"what": one.what, "path": str(one.path), "done": one.done, "diff": one.diff, "dropped": one.dropped}
            for one in changes
        ]
        print_json({"agent": agent.name, "scope": target.scope, "dry_run": dry_run, "files": rows, "notes": notes})
        return
    if install and marker:
        notes = ("This folder has no git; the folder .cm marks the project's root for the hooks.", *notes)
    _show_changes(changes, notes, dry_run=dry_run)


def _show_changes(changes: Sequence[Change], notes: Sequence[str], *, dry_run: bool) -> None:
    from cm_tui.integrations.agents.project_entry import shown

    if dry_run:
        write_text("".join(change.diff for change in changes).rstrip("\n"))
    for change in changes:
        narrate(f"{change.would:<12} {change.path}" if dry_run else f"{change.done:<9} {change.path}")
    for change in changes:
        if change.dropped:
            narrate(
                f"{'would be ' * dry_run}dropped from {change.path.name}: {shown(change.dropped)}: "
                "add them to your own settings with --scope user, or give `mcp.roots`."
            )
    for note in notes:
        narrate(note)


def status(
    agent: Annotated[str | None, typer.Argument(metavar="[AGENT]", help=f"{NAMES}; default: all.")] = None,
) -> None:
    """Show which agents are wired, in which files."""
    from cm_tui.integrations.agents import AGENTS, installer, named

    agents = [named(agent)] if agent else list(AGENTS.values())
    targets = [_target("project"), _target("user")]
    rows = [row for one in agents for target in targets for row in installer.status(one, target)]
    if wants_json():
        plain: list[dict[str, Any]] = [
            {"agent": row.agent, "scope": row.scope, "what": row.what, "path": str(row.path)}
            | {"state": row.state, "note": row.note}
            for row in rows
        ]
        print_json({"rows": plain, "total": len(plain)})
        return
    for row in rows:
        said = row.note if row.state == "unreadable" else f"{row.path}  {row.note}".rstrip()
        write(f"{row.agent:<12} {row.scope:<8} {row.what:<6} {row.state:<10} {said}")


def reminders(files: list[str] | None = None, *, command: str = "") -> None:
    """Show what an agent receives before it edits files or runs a command: rules, lessons, rejections, failures.

    Args:
        files ([FILE...]): Files of the project.
        command (--command LINE): A line for a shell.
    """
    if not files and not command:
        raise UsageError("Give a file or --command.", hint="Example: cm agent reminders src/cart.py")
    with open_fresh_engine(of_memory=True) as engine:
        found = engine.reminders(paths=files or (), command=command)
    print_page(Page(found, len(found)), lambda one: [f"{one.kind:<9} {one.path}  {one.text}"])


def _checked(tools: str) -> str:
    """The sets as `cm mcp` takes them."""
    from cm_tui.mcp.tools import choose

    words = [word.strip() for word in tools.split(",") if word.strip()]
    choose(words)
    return ",".join(words)


def _is_known(tools: str) -> bool:
    try:
        return bool(_checked(tools))
    except UsageError:
        return False


def _target(scope: Scope, tools: str = "") -> InstallTarget:
    from cm_tui.engine.api.project_lookup import root_around
    from cm_tui.integrations.agents.agent_files import target_of

    folder = (chosen_project() or Path.cwd()).expanduser().resolve()
    if not folder.is_dir():
        raise NotFoundError(f"Folder not found: {folder}.", hint="Check the spelling of --project.")
    root = root_around(folder) or folder
    if scope == "project" and root == Path.home().resolve():
        raise RefusedError(f"{root} is the home folder, not a project.", hint="Use --scope user, or name a project.")
    return target_of(scope, root, tools, _is_known)


agent = Family(
    "Wire a coding agent to the memory: MCP tools, and hooks that bring context and record sessions.",
    (install, uninstall, status, reminders),
)
