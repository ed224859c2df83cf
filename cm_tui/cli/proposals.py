"""`cm proposals`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from cm_tui.cli.options import Json, Project, open_engine, pass_on
from cm_tui.cli.proposal_options import AGENT, ALL_STATES, KIND_HELP, STATES, Id
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.model import NarratedProposal


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    from cm_tui.cli.proposal_decisions import approve, defer, edit, reject

    family = typer.Typer(invoke_without_command=True, help=proposals.__doc__)
    family.callback()(proposals)
    family.command("list")(listing)
    for command in (show, approve, edit, reject, defer, undo):
        family.command(command.__name__)(command)
    app.add_typer(family, name="proposals")


def proposals(context: typer.Context, project: Project = None, as_json: Json = False) -> None:
    """What the narrator and agents propose, for you to decide: without a command those that wait are listed."""
    if context.invoked_subcommand is None:
        listing(project=project, as_json=as_json)
    else:
        pass_on(context, project, as_json=as_json)


def listing(
    states: Annotated[
        list[str] | None,
        typer.Option("--state", help=f"Only in this state: {', '.join(STATES)}, or {ALL_STATES}; waiting unless said."),
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option("--kind", help=KIND_HELP)] = None,
    match: Annotated[str, typer.Option("--match", help="Only with these words in text, reason, note or heading.")] = "",
    by_policy: Annotated[bool, typer.Option("--by-policy", help="Only what a policy of yours approved.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")] = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List proposals: the surest first, then what agents wish about entries; those that were decided, the last decision first."""
    from cm_tui.cli import inbox, proposal_rows
    from cm_tui.cli.output import narrate, print_page

    where = inbox.filter_of(states or [], kinds or [], match, by_policy=by_policy)
    with open_engine(project) as engine:
        page = inbox.listed(engine, where, limit, agents=AGENT in (kinds or []))
    print_page(page, proposal_rows.lines, as_json=as_json, row=proposal_rows.row)
    if as_json:
        return
    if page.rows:
        narrate("`cm proposals show ID` has its diff and its evidence; `approve`, `edit`, `reject` and `defer` decide")
    elif not (page.note or states or kinds or match or by_policy):
        narrate("no proposal waits: `cm narrate` looks for new ones")


def show(name: Id, project: Project = None, as_json: Json = False) -> None:
    """Show a proposal: what it would write, why, its evidence, how sure it is, and what is known already."""
    from cm_tui.cli import inbox, proposal_rows
    from cm_tui.cli.output import print_json, write

    with open_engine(project) as engine:
        one = inbox.one_of(engine, name)
    if as_json:
        print_json(proposal_rows.row(one))
        return
    if inbox.is_wish(one.id):
        for line in proposal_rows.lines(one):
            write(line)
    else:
        proposal_rows.show(cast("NarratedProposal", one))
    proposal_rows.tell_ways(one)


def undo(name: Id, project: Project = None, as_json: Json = False) -> None:
    """Take back what was decided on a proposal, also days later: what was written goes, and it waits again."""
    from cm_tui.cli import inbox, proposal_rows
    from cm_tui.cli.output import narrate, print_json, write

    (wanted,) = inbox.checked([name])
    if inbox.is_wish(wanted):
        raise UsageError(f"{wanted} is about an entry or an episode.", hint="`cm undo` takes your last change back.")
    with open_engine(project) as engine:
        done = engine.undo_narrated(wanted.partition("@")[0])
    if as_json:
        print_json(proposal_rows.change_row(done))
    elif done.done:
        write(f"{done.id}  {done.words}", bold=done.id)
    else:
        narrate(f"{done.id}: {done.problem or done.words}; nothing was undone")
    if not done.done:
        raise typer.Exit(1)
