"""Proposals on stdout: as lines of a list, whole, and as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from cm_tui import model
from cm_tui.cli.output import narrate, plain, write, write_text
from cm_tui.counts import count
from cm_tui.model.dates import age, local_day, local_minute
from cm_tui.model.layout import proposal_fields

TEXT = 100
_RELATIONS = {
    "new": "nothing similar is known",
    "reinforces": "known, and happened again",
    "contradicts": "contradicts what is known",
    "redundant": "already known",
}


def row(one: model.NarratedProposal | model.Proposal) -> dict[str, Any]:
    """Return a proposal as a row of JSON; what agents wish has the names of the others too."""
    record: dict[str, Any] = plain(one)
    if isinstance(one, model.NarratedProposal):
        return {"of": "note", **record}
    return {**record, **proposal_fields(one)}


def change_row(one: model.NarratedChange) -> dict[str, Any]:
    """Return what became of a proposal as a row of JSON."""
    record: dict[str, Any] = plain(one)
    return {**record, "proposal": row(one.proposal) if one.proposal is not None else None}


def lines(one: model.NarratedProposal | model.Proposal) -> list[str]:
    """Return a proposal as lines of a list."""
    return [narrated_line(one)] if isinstance(one, model.NarratedProposal) else agent_proposal_lines(one)


def narrated_line(one: model.NarratedProposal) -> str:
    """Return what the narrator proposes as a line: how sure, what, where, and how often it was seen."""
    marks = [one.state if one.state != "waiting" else "", f"by {one.decided_by}" if one.decided_by else ""]
    marks += [f"proposed by {one.proposed_by}" if one.proposed_by else "", "problem" if one.problem else ""]
    marked = f"  ({', '.join(mark for mark in marks if mark)})" if any(marks) else ""
    return f"{one.id}  {one.confidence:.2f}  {one.kind:<10}  {one.relation:<11}  {_text(one)}  → {place(one)}{_support(one)}{marked}"


def place(one: model.NarratedProposal) -> str:
    """Return where it would be written."""
    return f"{one.target} › {one.heading}" if one.heading and one.is_line else one.target


def _text(one: model.NarratedProposal) -> str:
    text = " ".join(one.text.split())
    short = text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
    return short if one.action in ("add", "replace") else f"{one.action}: {short}"


def _support(one: model.NarratedProposal) -> str:
    return f"  {one.support:,}×/{one.sessions:,}" if one.support else ""


def agent_proposal_lines(one: model.Proposal) -> list[str]:
    """Return what an agent proposes about an entry or an episode, with what would change."""
    for_all = " for all projects" if one.kind == "write" else ""
    head = (
        f"{one.id}  {local_minute(one.time)}  {one.agent or 'an agent'}  {one.kind} the {one.of} {one.target}{for_all}"
    )
    told = [f"{head}: {one.words}"]
    if one.reason:
        told.append(f"  why: {one.reason}")
    if one.kind == "write" and one.after is not None:
        told += [
            f"  {name}: {_plain(getattr(one.after, name))}" for name in ("category", "title", "content", "keywords")
        ]
    if one.before is not None and one.after is not None:
        told += [f"  {name}: {old} → {new}" for name, old, new in _differences(one.before, one.after)]
    return told


def _differences(before: model.Entry, after: model.Entry) -> list[tuple[str, str, str]]:
    names = ("category", "title", "content", "keywords", "pinned")
    pairs = [(name, _plain(getattr(before, name)), _plain(getattr(after, name))) for name in names]
    return [(name, old, new) for name, old, new in pairs if old != new]


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def show(one: model.NarratedProposal) -> None:
    """Print what the narrator proposes: what it would write, why, on what evidence, and how sure that is."""
    write(f"{one.kind} {one.id}  {one.text}", bold=one.id)
    for line in _facts(one):
        write(line)
    if one.diff:
        write("")
        write_text(one.diff.rstrip("\n"))
    elif one.state == "waiting" and not one.problem:
        write("nothing would be written: already saved")


def _facts(one: model.NarratedProposal) -> Iterator[str]:
    topics = f", topics {', '.join(one.topics)}" if one.topics else ""
    scope = "all your projects" if one.scope == "user" else "this project"
    yield f"{one.action}, in {place(one)}, for {scope}{topics}"
    yield from _state(one)
    if one.why:
        yield f"why: {one.why}"
    yield f"{one.relation}: {_RELATIONS[one.relation]}"
    if one.other:
        yield f"  {one.other}{f'  ({one.other_place})' if one.other_place else ''}"
    if one.old:
        yield f"  replaces: {one.old}"
    yield f"confidence {one.confidence:.2f}{' =' if one.parts else ''} {' × '.join(f'{part.value:.2f}' for part in one.parts)}".rstrip()
    for part in one.parts:
        yield f"  {part.name:<10} {part.value:.2f}  {part.words}"
    yield from _evidence(one)


def _state(one: model.NarratedProposal) -> Iterator[str]:
    if one.proposed_by:
        yield f"proposed by {one.proposed_by}, an agent"
    if one.phrased_by:
        yield f"phrased by the model {one.phrased_by}"
    if one.decided is not None:
        by = f" by {one.decided_by}" if one.decided_by else ""
        reason = f": {one.reason}" if one.reason else ""
        yield f"{one.state}{by}, {local_minute(one.decided)}{reason}"
    if one.problem:
        yield f"cannot be approved as it is: {one.problem}"


def _evidence(one: model.NarratedProposal) -> Iterator[str]:
    if not one.support and not one.evidence:
        yield "evidence: none; it concerns existing notes"
        return
    when = (
        "" if not one.last else f", {local_day(one.first)} to {local_day(one.last)}, last {age(time.time() - one.last)}"
    )
    yield f"evidence: {count(one.support, 'episode')} in {count(one.sessions, 'session')}{when}"
    for each in one.evidence:
        said = f"“{each.quote}”" if each.quote else "(forgotten, or gone)"
        # That sessions of agents were recorded by agents says nothing of who speaks.
        who = f"  {each.actor}" if each.actor != "agent" else ""
        yield f"  {each.episode}  {local_minute(each.time)}{who}  {said}"
    if (more := len(one.evidence_ids) - len(one.evidence)) > 0:
        yield f"  and {more:,} more: --json has all their ids"


def print_commands(one: model.NarratedProposal | model.Proposal) -> None:
    """Print the commands that decide on a waiting proposal, or undo a decision."""
    if not isinstance(one, model.NarratedProposal):
        narrate(f"`cm proposals approve {one.id}` does it, `cm proposals reject {one.id}` declines it")
        return
    if one.evidence:
        narrate(f"`cm episodes {one.evidence[0].episode}` shows an episode of the evidence")
    if one.state in ("waiting", "deferred"):
        name = f"{one.id}@{one.digest}" if one.digest else one.id
        rule = ", with --as-rule as a Rule for agents" if one.as_rule else ""
        if not one.problem:
            narrate(
                f"`cm proposals approve {name}` writes exactly this{rule}; `edit {one.id}` lets you change it first"
            )
        elif one.action == "add":
            narrate(f"`cm proposals approve {one.id} --to NOTE` writes it into another note{rule}")
        narrate(f"`cm proposals reject {one.id} --reason WHY`: never again; `defer {one.id}`: later")
    else:
        narrate(f"`cm proposals undo {one.id}` undoes it")


def print_outcomes(changes: list[model.NarratedChange], *, undone: bool = False) -> None:
    """Print the outcome for each proposal: of its decision and how to undo that, or of undoing it."""
    from cm_tui.cli.inbox import is_agent_proposal

    otherwise = "nothing was undone" if undone else "unchanged"
    for one in changes:
        if one.done:
            write(f"{one.id}  {one.words}", bold=one.id)
        else:
            narrate(f"{one.id}: {(one.problem or one.words).removesuffix('.')}; {otherwise}")
            if one.hint:
                narrate(f"    {one.hint}")
    if undone:
        return
    own = [one.id for one in changes if one.done and not is_agent_proposal(one.id)]
    if own:
        narrate(f"`cm proposals undo {own[0] if len(own) == 1 else 'ID'}` undoes it")
    elif any(one.done and one.change for one in changes):
        narrate("`cm undo` undoes it")
