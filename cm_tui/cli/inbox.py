"""One inbox: what the narrator proposes to write down, and what agents propose to do with entries and episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from cm_tui import model
from cm_tui.errors import CmError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

MOST = 10_000
"""Rows that are asked for where all are meant."""
_LONGEST_ID = 64
_LETTER = "p"
"""With it begin the ids of what agents propose about entries and episodes; those of the narrator begin with another."""
KINDS: tuple[str, ...] = get_args(model.FactKind)
"""Kinds of what the narrator proposes."""
AGENT = "agent"
"""Stands among the kinds for whatever agents propose."""
STATES = ("waiting", "deferred", "approved", "rejected")
ALL_STATES = "all"
Id = Annotated[str, typer.Argument(metavar="ID", help="Proposal id or unique prefix.")]
Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...", help="Ids or unique prefixes; ID@DIGEST decides only if the proposal is unchanged."
    ),
]
KIND_HELP = f"Only of this kind: {', '.join(KINDS)}, or {AGENT}."
Kind = Annotated[str, typer.Option("--kind", help=KIND_HELP)]
Every = Annotated[bool, typer.Option("--all", help="With --kind: all waiting proposals of that kind.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With --all: skip the confirmation.")]
Reason = Annotated[str, typer.Option("--reason", help="The reason; it is remembered.")]


def filter_of(
    states: Sequence[str] = (), kinds: Sequence[str] = (), match: str = "", *, by_policy: bool = False
) -> model.NarratedFilter:
    """Return what is to be listed, as it was typed; those that wait where no state is named.

    Raises UsageError if there is no such state or kind.
    """
    for what, said, known in (("state", states, (*STATES, ALL_STATES)), ("kind", kinds, (*KINDS, AGENT))):
        for one in said:
            if one not in known:
                raise UsageError(f"There is no {what} {one[:40]!r}.", hint=f"Use {', '.join(known)}.")
    default: tuple[model.NarratedState, ...] = ("approved",) if by_policy else ("waiting",)
    named = STATES if ALL_STATES in states else tuple(dict.fromkeys(states)) or default
    return model.NarratedFilter(
        states=cast("Any", named),
        kinds=cast("Any", tuple(kind for kind in kinds if kind != AGENT)),
        text=match,
        policy=True if by_policy else None,
    )


def is_agent_proposal(name: str) -> bool:
    """Return whether a name is that of what an agent proposes about an entry or an episode."""
    return model.plain_id(name).lower().startswith(_LETTER)


def checked(names: Sequence[str]) -> list[str]:
    """Return names without what may stand before them, each once.

    Raises UsageError if one of them can be no id.
    """
    found = [model.plain_id(name) for name in names]
    for name in found:
        if not name or len(name) > _LONGEST_ID or not name.isprintable():
            raise UsageError(f"{model.quoted(name)} is not a proposal id.", hint="`cm proposals` lists them.")
    return list(dict.fromkeys(found))


def listed(
    engine: Engine, where: model.NarratedFilter, limit: int, *, agents: bool
) -> model.Page[model.NarratedProposal | model.Proposal]:
    """Return what fits, with honest totals: what the narrator found, the surest first, then what agents wish.

    `where`: which are wanted; `limit`: how many at most; `agents`: only what agents propose.
    """
    wishes = _agent_proposals(engine, where) if not where.policy and (agents or not where.kinds) else []
    if agents:
        # A filter has no word for who proposed it.
        page = engine.narrated(where, limit=MOST)
        theirs = [one for one in page.rows if one.proposed_by]
        rows: tuple[model.NarratedProposal | model.Proposal, ...] = (*theirs, *wishes)
        return model.Page(rows[:limit], len(rows), page.note)
    page = engine.narrated(where, limit=limit)
    together: tuple[model.NarratedProposal | model.Proposal, ...] = (*page.rows, *wishes)
    return model.Page(together[:limit], page.total + len(wishes), page.note)


def waiting(engine: Engine) -> int:
    """Return how many proposals wait for a person, of either kind. Raises CmError if they cannot be read."""
    return engine.narrated(model.NarratedFilter(), limit=1).total + engine.proposals().total


def one_of(engine: Engine, name: str) -> model.NarratedProposal | model.Proposal:
    """Return the proposal that a name means, whole.

    Raises NotFoundError: no such proposal; UsageError if the name is ambiguous or malformed.
    """
    (wanted,) = checked([name])
    return _agent_proposal(engine, wanted) if is_agent_proposal(wanted) else engine.narrated_proposal(wanted)


def decide(engine: Engine, names: Sequence[str], decision: model.NarratedDecision) -> list[model.NarratedChange]:
    """Decide on proposals of either kind, each by itself, in their order.

    Raises UsageError if something is asked that an agent's wish about an entry does not know; NotFoundError if there is
    nothing of the only name.
    """
    wanted = checked(names)
    own = [name for name in wanted if not is_agent_proposal(name)]
    done = {}
    if len(wanted) == 1 and own:
        # Something that is not there is said with an exit code of its own.
        engine.narrated_proposal(wanted[0])
    if own:
        done = dict(zip(own, engine.decide_narrated(own, decision), strict=True))
    return [
        done[name] if name in done else _decide_agent_proposal(engine, name, decision, len(wanted)) for name in wanted
    ]


def check_options(names: Sequence[str], options: Sequence[str]) -> None:
    """Refuse options that only what is to be written into a note knows.

    Raises UsageError if some are given, and an agent's wish about an entry is named.
    """
    if options and (wishes := [name for name in names if is_agent_proposal(name)]):
        raise UsageError(
            f"{', '.join(options)} goes with what is written into a note; {wishes[0]} is about an entry or an episode.",
            hint=f"`cm proposals approve {wishes[0]}` does as the agent proposes; `cm entries update` changes the entry.",
        )


def _decide_agent_proposal(
    engine: Engine, name: str, decision: model.NarratedDecision, named: int
) -> model.NarratedChange:
    try:
        found = _agent_proposal(engine, name)
        if decision.verdict == "defer":
            raise UsageError(
                f"{found.id} cannot be deferred: requests of agents wait until you decide.",
                hint="`cm proposals approve` or `reject` decides.",
            )
        made = engine.decide(found.id, accept=decision.verdict == "approve")
    except CmError as error:
        if named == 1:
            raise
        return model.NarratedChange(name, "", done=False, problem=error.message, hint=error.hint)
    return model.NarratedChange(name, made.words, made.change)


def _agent_proposal(engine: Engine, name: str) -> model.Proposal:
    waiting = {one.id: one for one in engine.proposals().rows}
    hint = "`cm proposals` lists them; `cm undo` undoes a decision."
    return waiting[model.id_named(name.partition("@")[0].lower(), waiting, "proposal of an agent", hint, least=2)]


def _agent_proposals(engine: Engine, where: model.NarratedFilter) -> list[model.Proposal]:
    if "waiting" not in where.states:
        return []
    words = where.text.casefold().split()
    return [one for one in engine.proposals().rows if all(word in _summary(one) for word in words)]


def _summary(one: model.Proposal) -> str:
    told = f"{one.after.title} {one.after.content}" if one.after is not None else ""
    return f"{one.words} {one.reason} {one.target} {one.agent} {told}".casefold()
