"""`cm secrets scan`, `cm forget`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.declare import Family
from cm_tui.cli.options import checked_reason, chosen_project, open_engine
from cm_tui.cli.output import advise, as_json, narrate, narrate_notes, plain, print_json, print_page, wants_json, write
from cm_tui.counts import count, noun
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model.dates import local_minute, minute

FOUND = "found"
"""What `--confirm` says again of `--found`."""
_SHOWN = 20


def scan(*, everywhere: bool = False) -> None:
    """Find what looks like a secret in journal, index, logs and remembered choices; ends with 1 when something does.

    The secrets themselves are never shown.

    Args:
        everywhere (--all): All projects that cm has anything of.
    """
    from cm_tui.daemon.open_engine import secrets_of, secrets_of_all

    report = secrets_of_all() if everywhere else secrets_of(chosen_project(), say=narrate)
    if not as_json({**plain(report), "secrets": report.secrets}):
        _show_found(report)
    if report.findings or report.interrupted:
        raise typer.Exit(1)


def forget(
    names: list[str] | None = None,
    *,
    undo: bool = False,
    reason: str = "",
    proposed: bool = False,
    decline: bool = False,
    erase: bool = False,
    found: bool = False,
    with_patches: bool = False,
    dry_run: bool = False,
    confirm: Annotated[
        list[str] | None,
        typer.Option(
            "--confirm", help=f"With --erase in a script: repeat each ID, or `{FOUND}`; a terminal asks twice."
        ),
    ] = None,
) -> None:
    """Forget entries and episodes: lists, search and agents have them no more; --erase takes them out of everything that is stored, for good.

    Args:
        names ([ID]...): Entries and episodes; with --erase any events: ids, or beginnings of ids.
        undo: Bring back what was forgotten.
        reason: The reason, kept with the change.
        proposed: List what agents propose; with IDs, accept these proposals.
        decline: Decline these proposals of agents.
        erase: Erase for good, from the journal and all that was made from it.
        found: With --erase: all that `cm secrets scan` finds.
        with_patches: With --erase: also other episodes that hold lines of one that goes.
        dry_run: With --erase: say what would go; do nothing.
    """
    asked = list(dict.fromkeys(names or []))
    if proposed or decline:
        if erase or undo or (proposed and decline):
            raise UsageError(
                "--proposed and --decline cannot be combined with other options.",
                hint="`cm forget --proposed` lists proposals.",
            )
        _decide(asked, accept=proposed)
        return
    if not erase:
        if found or with_patches or dry_run or confirm:
            raise UsageError("--found, --with-patches, --dry-run and --confirm require --erase.")
        _forget(asked, undo=undo, reason=checked_reason(reason))
        return
    if undo:
        raise UsageError("Erased data cannot be restored.", hint="--undo and --erase cannot be combined.")
    if not asked and not found:
        raise UsageError("Nothing to erase was given.", hint="Give ids, or --found for everything the scan finds.")
    if not dry_run and not sys.stdin.isatty():
        _check_confirmed([*asked, *([FOUND] if found else [])], confirm or [])
    with open_engine() as engine:
        if not dry_run and sys.stdin.isatty():
            _confirm_twice(engine.erase(asked, found=found, with_patches=with_patches, dry_run=True))
        report = engine.erase(asked, found=found, with_patches=with_patches, dry_run=dry_run)
    print_json(report) if wants_json() else _show_erased(report)


def _forget(names: list[str], *, undo: bool, reason: str) -> None:
    if not names:
        raise UsageError("Nothing is named.", hint="`cm episodes` and `cm remember` list ids.")
    with _reported("restored" if undo else "forgotten") as report, open_engine() as engine:
        whole = ""
        for name in names:
            change = engine.forget_memory(name, undo=undo, reason=reason, change=whole)
            whole = whole or change.change
            report(change, "" if undo else f"; `cm forget --undo {change.id}` restores it")


def _decide(names: list[str], *, accept: bool) -> None:
    if not names:
        if not accept:
            raise UsageError("No proposal given.", hint="`cm forget --proposed` lists them.")
        _list_proposals()
        return
    with _reported("accepted" if accept else "declined") as report, open_engine() as engine:
        for name in names:
            report(engine.decide(name, accept=accept))


@contextmanager
def _reported(what: str) -> Iterator[Callable[..., None]]:
    """Give what tells of each change; at the end their ids as JSON, also when a later name is invalid."""
    done: list[str] = []

    def report(change: model.MemoryChange, more: str = "") -> None:
        done.append(change.id)
        if not wants_json():
            narrate(f"{change.words}{more}")
        narrate_notes(change.entry.notes if change.entry else ())

    try:
        yield report
    finally:
        if wants_json() and done:
            print_json({what: done})


def _list_proposals() -> None:
    from cm_tui.cli.proposal_rows import agent_proposal_lines

    with open_engine() as engine:
        page: model.Page[model.Proposal] = engine.proposals()
    print_page(page, agent_proposal_lines)
    if page.rows:
        advise("`cm forget --proposed ID` accepts one, `cm forget --decline ID` declines it")


def _check_confirmed(asked: list[str], confirmed: list[str]) -> None:
    """Refuse to erase without a confirmation: a prompt, or each id named twice."""
    if {model.plain_id(one) for one in asked} != {model.plain_id(one) for one in confirmed}:
        words = " ".join(f"--confirm {one}" for one in asked[:3])
        raise RefusedError(
            "Erasing needs confirmation, and there is no terminal to ask in.",
            hint=f"Run it in a terminal, or repeat each id: {words}{' …' if len(asked) > 3 else ''}",
        )


def _confirm_twice(report: model.ErasureReport) -> None:
    _show_erased(report)
    typer.confirm("Permanently erase this and everything derived from it?", abort=True, err=True)
    if typer.prompt("This cannot be undone. Type `erase`", err=True).strip() != "erase":
        raise typer.Abort


def _show_found(report: model.SecretsReport) -> None:
    for one in report.findings:
        write(_found_line(one))
    if report.in_source:
        narrate(
            f"{report.in_source:,} more in passages of source files, unchanged from the files and only on this machine"
        )
    narrate_notes(report.notes)
    if report.interrupted:
        narrate("an erasure was interrupted: `cm forget --erase --found` finishes it")
    if report.findings:
        places = count(len(report.findings), "place")
        narrate(f"{report.secrets:,} in {places}; `cm forget --erase --found` erases what can be erased")
    else:
        narrate("no recognised secrets; `cm forget --erase ID` erases events that you name")


def _found_line(one: model.SecretFinding) -> str:
    what = f"{one.count:,} × {one.kind}"
    if one.place != "journal":
        return f"{one.place:<7}  {what}  {one.where}"
    told = [one.id, minute(one.time) if one.time is not None else "", one.event or "no event", one.agent]
    return f"{one.place:<7}  {what}  {'  '.join(part for part in told if part)}  {one.where}"


def _show_erased(report: model.ErasureReport) -> None:
    would = "would go" if report.dry_run else "erased"
    for event in report.events[:_SHOWN]:
        told = [event.id, local_minute(event.time), event.kind, event.agent, f"“{event.words}”" if event.words else ""]
        write(f"{would}: {'  '.join(part for part in told if part)}")
    if len(report.events) > _SHOWN:
        write(f"… and {count(len(report.events) - _SHOWN, 'event')} more")
    if report.lines:
        write(f"{would}: {count(report.lines, 'line')} of the journal that {noun(report.lines, 'is', 'are')} no event")
    for file in report.files:
        write(f"cleaned: {file}")
    for reason in report.reasons:
        narrate(f"why: {reason}")
    if report.neighbours:
        narrate(f"note: {model.neighbours_note(report.neighbours)}")
    if not report.events and not report.lines:
        narrate("no event is to be erased" if report.dry_run else "no event was to be erased")
    narrate_notes(report.notes)


secrets = Family("What was stored and looks like a secret.", (scan,))
