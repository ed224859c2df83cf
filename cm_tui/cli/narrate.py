"""`cm narrate`."""

from __future__ import annotations

from cm_tui import model
from cm_tui.cli import output
from cm_tui.cli.options import open_engine
from cm_tui.cli.output import wants_json
from cm_tui.counts import count, noun
from cm_tui.model.dates import instant


def narrate(*, since: str = "", dry_run: bool = False) -> None:
    """Look at the episodes that are new, and propose what they teach; nothing is written before you approve it.

    Args:
        since: Only what stands on an episode since then: 2024-05-01, yesterday, 7d.
        dry_run: Say what would be proposed; keep nothing.
    """
    start = instant(since, "--since") if since else None
    with open_engine() as engine:
        if (cost := engine.narrator_cost()).model:
            output.narrate(_before(cost, dry_run=dry_run))
        report = output.follow_to(engine.narrate(since=start, dry_run=dry_run), lambda step: step.narrated)
    if report is None:
        return
    if wants_json():
        from cm_tui.cli.proposal_rows import row

        output.print_json({**output.plain(report), "proposals": [row(one) for one in report.proposals]})
    else:
        _show(report)


def _before(cost: model.ModelCost, *, dry_run: bool) -> str:
    asked = "would be" if dry_run else "is"
    return (
        f"the model {cost.model} {asked} used: about {count(cost.estimated, 'token')}, "
        f"at most {count(cost.ceiling, 'token')}"
    )


def _show(report: model.NarratorReport) -> None:
    from cm_tui.cli.proposal_rows import narrated_line

    new = "would be new" if report.dry_run else "new"
    rows = [
        ("read", f"{count(report.episodes, 'episode')}, {count(report.observations, 'observation')}, {report.seconds:.1f} s"),
        ("proposed", f"{report.proposed:,} {new}, {report.changed:,} changed, {report.withdrawn:,} withdrawn"),
        ("waiting", f"{report.waiting:,}"),
    ]  # fmt: skip
    if report.approved:
        rows.append(("approved", f"{len(report.approved):,} by your policy: {', '.join(report.approved)}"))
    if report.cost.model:
        rows.append(("model", _after(report.cost)))
    for name, text in rows:
        output.write(f"{name:<9} {text}")
    for note in (*report.notes, *report.cost.notes):
        output.write(f"{'note':<9} {note}")
    for one in report.proposals:
        output.write(narrated_line(one))
    if (more := report.proposed - len(report.proposals)) > 0 and report.proposals:
        output.narrate(f"and {more:,} more")
    if report.dry_run:
        output.narrate("dry run: nothing saved; run `cm narrate` to save proposals")
    elif report.waiting:
        output.narrate(
            f"`cm proposals` lists the {noun(report.waiting, 'one that waits', f'{report.waiting:,} that wait')}"
        )
    if report.approved and not report.dry_run:
        output.narrate("`cm proposals list --by-policy` lists what a policy approved, `cm proposals undo ID` undoes it")


def _after(cost: model.ModelCost) -> str:
    calls = count(cost.calls, "call")
    return f"{cost.model}: {count(cost.used, 'token')} in {calls}; {cost.estimated:,} were estimated, {cost.ceiling:,} allowed"
