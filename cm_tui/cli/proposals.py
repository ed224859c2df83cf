"""`cm proposals`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cm_tui import model
from cm_tui.cli import inbox, proposal_rows
from cm_tui.cli.declare import Family, Positive
from cm_tui.cli.inbox import AGENT, ALL_STATES, KIND_HELP, STATES, Every, Id, Ids, Kind, Reason, Yes
from cm_tui.cli.options import ask, checked_reason, need_editor, need_terminal, open_engine, text_of
from cm_tui.cli.output import as_json, narrate, print_page, wants_json, write
from cm_tui.counts import count, noun
from cm_tui.errors import CmError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


def alone() -> None:
    """What the narrator and agents propose, for you to decide: without a command those that wait are listed."""
    list_()


def list_(
    *,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", help=f"Only in this state: {', '.join(STATES)}, or {ALL_STATES}; waiting unless said."),
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option("--kind", help=KIND_HELP)] = None,
    match: str = "",
    by_policy: bool = False,
    limit: Positive = 50,
) -> None:
    """List proposals: the surest first, then what agents wish about entries; those that were decided, the last decision first.

    Args:
        match: Only with these words in text, reason, note or heading.
        by_policy: Only what a policy of yours approved.
        limit (--limit, -n): How many rows at most.
    """
    where = inbox.filter_of(states or [], kinds or [], match, by_policy=by_policy)
    with open_engine() as engine:
        page = inbox.listed(engine, where, limit, agents=AGENT in (kinds or []))
    print_page(page, proposal_rows.lines, row=proposal_rows.row)
    if wants_json():
        return
    if page.rows:
        narrate("`cm proposals show ID` has its diff and its evidence; `approve`, `edit`, `reject` and `defer` decide")
    elif not (page.note or states or kinds or match or by_policy):
        narrate("no proposal waits: `cm narrate` looks for new ones")


def show(name: Id) -> None:
    """Show a proposal: what it would write, why, its evidence, how sure it is, and what is known already."""
    with open_engine() as engine:
        one = inbox.one_of(engine, name)
    if as_json(proposal_rows.row(one)):
        return
    if inbox.is_agent_proposal(one.id):
        for line in proposal_rows.lines(one):
            write(line)
    else:
        proposal_rows.show(cast("model.NarratedProposal", one))
    proposal_rows.print_commands(one)


def undo(names: Ids = None) -> None:
    """Take back what was decided on proposals, also days later: what was written goes, and they wait again."""
    wanted = inbox.checked(names or [])
    if not wanted:
        raise UsageError("No proposal given.", hint="`cm proposals list --state all` includes decided ones.")
    if agents := [name for name in wanted if inbox.is_agent_proposal(name)]:
        raise UsageError(f"{agents[0]} is about an entry or an episode.", hint="`cm undo` undoes your last change.")
    with open_engine() as engine:
        changes = [_undone(engine, name.partition("@")[0], is_only=len(wanted) == 1) for name in wanted]
    if not as_json(proposal_rows.change_row(changes[0]) if len(changes) == 1 else _rows_of(changes)):
        proposal_rows.print_outcomes(changes, undone=True)
    if not all(one.done for one in changes):
        raise typer.Exit(1)


def _undone(engine: Engine, name: str, *, is_only: bool) -> model.NarratedChange:
    """Undo one decision; of several, one that cannot be undone holds its reason and does not stop the others."""
    try:
        return engine.undo_narrated(name)
    except CmError as error:
        if is_only:
            raise
        return model.NarratedChange(name, "", done=False, problem=error.message, hint=error.hint)


def approve(
    names: Ids = None,
    *,
    text: str | None = None,
    as_rule: bool = False,
    to: str | None = None,
    reason: Reason = "",
    kind: Kind = "",
    every: Every = False,
    yes: Yes = False,
) -> None:
    """Approve proposals and write them; `cm proposals undo` undoes it at any time.

    Args:
        text: What is to be written instead, one line (-: stdin).
        as_rule: Write it as a Rule, which agents are given; asked at a terminal only.
        to: Another note, such as topics/router.md.
    """
    if every and (text is not None or to is not None or as_rule):
        raise UsageError(
            "--all cannot be combined with --text, --to or --as-rule.", hint="Name the proposals to which they apply."
        )
    if to is not None and not to.strip():
        raise UsageError("--to needs the name of a note.", hint="Give one, such as topics/router.md, or remove --to.")
    given = [
        option for option, said in (("--text", text), ("--to", to), ("--as-rule", as_rule or None)) if said is not None
    ]
    inbox.check_options(names or [], given)
    decision = model.NarratedDecision(
        "approve", checked_reason(reason), None if text is None else text_of(text).strip(), as_rule, to
    )
    with open_engine() as engine:
        wanted = _named(engine, names or [], kind, "approve", every=every, yes=yes)
        if as_rule:
            _ask_rules(engine, wanted, decision)
        changes = _decided(engine, wanted, decision)
    _print_result(changes)


def edit(name: Id) -> None:
    """Open a proposal's text in your editor, and approve what you make of it."""
    inbox.check_options([name], ["edit"])
    need_editor("`cm proposals approve ID --text TEXT` needs none.")
    import click

    with open_engine() as engine:
        (wanted,) = inbox.checked([name])
        one = engine.narrated_proposal(wanted)
        edited = click.edit(f"{one.text}\n", extension=".md")
        if edited is None or not edited.strip():
            raise CmError("The editor saved nothing; the proposal is unchanged.")
        # Only on what was shown: another client may decide or write while the editor is open.
        shown = f"{one.id}@{one.digest}" if one.digest else one.id
        changes = _decided(engine, [shown], model.NarratedDecision("approve", text=" ".join(edited.split())))
    _print_result(changes)


def reject(names: Ids = None, *, reason: Reason = "", kind: Kind = "", every: Every = False, yes: Yes = False) -> None:
    """Reject proposals; the same is not proposed again. `cm proposals undo` undoes it."""
    _decide_on(names, "reject", reason, kind, every=every, yes=yes)


def defer(names: Ids = None, *, reason: Reason = "", kind: Kind = "", every: Every = False, yes: Yes = False) -> None:
    """Put proposals off: they are listed with --state deferred, and wait again once something new speaks for them."""
    _decide_on(names, "defer", reason, kind, every=every, yes=yes)


def _decide_on(
    names: list[str] | None, verdict: model.Verdict, reason: str, kind: str, *, every: bool, yes: bool
) -> None:
    decision = model.NarratedDecision(verdict, checked_reason(reason))
    with open_engine() as engine:
        wanted = _named(engine, names or [], kind, verdict, every=every, yes=yes)
        changes = _decided(engine, wanted, decision)
    _print_result(changes)


def _named(engine: Engine, names: list[str], kind: str, verdict: model.Verdict, *, every: bool, yes: bool) -> list[str]:
    """Return the ids that are meant: those that are named, or all of a kind once a person said so.

    Raises UsageError if nothing is meant, or both; RefusedError if all of a kind are meant, and there is no terminal to
    ask in.
    """
    if every != bool(kind):
        raise UsageError("--kind and --all must be used together.", hint=f"cm proposals {verdict} --kind command --all")
    if every == bool(names):
        said = "Name proposals or use --kind KIND --all, not both." if names else "No proposal given."
        raise UsageError(said, hint="`cm proposals` lists them; --kind KIND --all means all of a kind.")
    if not every:
        return names
    found = _all_of(engine, kind, verdict)
    if not found or yes:
        return found
    question = f"{verdict.capitalize()} {noun(len(found), 'it', f'these {len(found):,}')}?"
    ask(question, "Pass --yes, or name each.")
    return found


def _all_of(engine: Engine, kind: str, verdict: model.Verdict) -> list[str]:
    """Return all of a kind that wait, told on stderr; of what is approved only what stands against nothing."""
    page = inbox.listed(engine, inbox.filter_of(kinds=[kind]), inbox.MOST, agents=kind == AGENT)
    found, left = [], 0
    for one in page.rows:
        if (
            verdict == "approve"
            and isinstance(one, model.NarratedProposal)
            and (one.problem or one.relation == "contradicts")
        ):
            left += 1
            continue
        for line in proposal_rows.lines(one):
            narrate(line)
        found.append(f"{one.id}@{one.digest}" if isinstance(one, model.NarratedProposal) and one.digest else one.id)
    if left:
        narrate(f"skipped: {count(left, 'proposal')} with a problem or a contradiction; decide on each by its id")
    if not found:
        narrate(f"no proposal of the kind {kind} waits")
    return found


def _ask_rules(engine: Engine, names: list[str], decision: model.NarratedDecision) -> None:
    """Let a person see what agents will be told before it becomes a Rule.

    Raises RefusedError if there is no terminal; Abort if they do not want it.
    """
    need_terminal(
        "Approving a Rule needs confirmation, and there is no terminal to ask in.",
        "Run it yourself, in a terminal; without --as-rule it becomes a line of a note.",
    )
    for name in inbox.checked(names):
        one = engine.narrated_proposal(name)
        narrate(f"{one.id}: {decision.text if decision.text is not None else one.text}")
    typer.confirm(f"Give {noun(len(names), 'this Rule', 'these Rules')} to agents?", abort=True, err=True)


def _decided(engine: Engine, names: list[str], decision: model.NarratedDecision) -> list[model.NarratedChange]:
    return inbox.decide(engine, names, decision) if names else []


def _rows_of(changes: list[model.NarratedChange]) -> dict[str, Any]:
    rows = [proposal_rows.change_row(one) for one in changes]
    return {"rows": rows, "total": len(rows), "done": sum(one.done for one in changes)}


def _print_result(changes: list[model.NarratedChange]) -> None:
    if not as_json(_rows_of(changes)):
        proposal_rows.print_outcomes(changes)
    if not all(one.done for one in changes):
        raise typer.Exit(1)


proposals = Family("", (list_, show, approve, edit, reject, defer, undo), alone=alone)
