"""Entries on stdout: as lines of a list, whole, and as JSON."""

from __future__ import annotations

import time
from typing import Any

from cm_tui import model
from cm_tui.cli.output import as_json, narrate, narrate_notes, plain, write, write_text
from cm_tui.counts import count
from cm_tui.model.dates import age, local_minute
from cm_tui.model.layout import author, entry_marks, forgotten, last_change
from cm_tui.model.text import one_line

_TITLE = 60


def entry_line(entry: model.Entry) -> str:
    """Return an entry as a line of a list."""
    by = entry.agent or entry.actor
    if entry.changed_by:
        by += f", changed by {entry.changed_agent or entry.changed_by}"
    marked = f" ({', '.join(marks)})" if (marks := entry_marks(entry)) else ""
    said = " ".join(entry.content.split())
    title = "" if said.startswith(entry.title.rstrip("…")) else f"{entry.title[:_TITLE]}: "
    return f"{entry.id}  {local_minute(entry.timestamp / 1000)}  {entry.category}  {by}{marked}  {title}{said}"


def entry_row(entry: model.Entry, recalls: model.Recalls | None = None) -> dict[str, Any]:
    """Return an entry as a row of JSON, with how often it was recalled where that is known."""
    counted = {} if recalls is None else {"recalls": plain(recalls)}
    return {**plain(entry), **counted}


def show_entry(entry: model.Entry, recalls: model.Recalls | None = None) -> None:
    """Print an entry whole, with who wrote it, and how often it was recalled where that is known."""
    write(f"{entry.category} {entry.id}  {entry.title}", bold=entry.id)
    at = f", at {entry.commit[:10]}" if entry.commit else ""
    session = f", session {entry.session}" if entry.session else ""
    pinned = ", pinned" if entry.pinned else ""
    write(
        f"by {author(entry)}{last_change(entry)}{session}, {local_minute(entry.timestamp / 1000)}{at}, {entry.scope}{pinned}"
    )
    if entry.made_from:
        write(f"made from {', '.join(entry.made_from)}")
    if recalls is not None:
        write(_recalled(recalls))
    if entry.forgotten is not None:
        write(f"{forgotten(entry.forgotten)}; `cm forget --undo {entry.id}` restores it")
    if entry.held:
        write("included in the repository; not used until you trust it: `cm trust`")
    if entry.never_recall:
        write(f"never used in answers; `cm entries update {entry.id} --recall` changes that")
    if entry.unapproved:
        write(f"not approved, so agents do not receive this Rule; `cm entries approve {entry.id}`")
    if entry.keywords:
        write(f"keywords: {', '.join(entry.keywords)}")
    write_text(f"\n{entry.content}")


def _recalled(recalls: model.Recalls) -> str:
    if recalls.last is None:
        return "never recalled yet"
    by = ", ".join(f"{one_line(one.who)} {one.times:,}" for one in recalls.by[:5])
    return f"recalled {count(recalls.times, 'time')}, last {age(time.time() - recalls.last)}: {by}"


def print_unapproved(entry: model.Entry) -> None:
    """Say of a Rule that no person approved how that is done."""
    if entry.unapproved:
        narrate(f"this Rule is not approved yet; `cm entries approve {entry.id}`")


def where(entry: model.Entry) -> str:
    """Return for whom an entry holds."""
    return "all your projects" if entry.scope == "user" else "this project, in .cm/memory.json"


def pair_lines(pair: model.Duplicates) -> list[str]:
    """Return two entries that say nearly the same, with the words that differ."""
    cosine = "" if pair.cosine is None else f", cosine {pair.cosine:.2f}"
    lines = [f"{pair.likeness:.2f}  {pair.first.id} and {pair.second.id}  ({pair.words:.0%} of their words{cosine})"]
    for entry, only in ((pair.first, pair.only_first), (pair.second, pair.only_second)):
        lines.append(f"      {entry.id}  {' '.join(entry.content.split())[:100]}")
        if only:
            lines.append(f"      only there: {' '.join(only[:20])}")
    return lines


def show_injection(found: model.Injection, *, explain: bool) -> None:
    """Print what an agent would be given, and why; what stays out goes to stderr."""
    if explain:
        for row in found.rows:
            parts = ", ".join(f"{part.name} {part.contribution:+.2f}" for part in row.parts)
            write(f"{row.value:6.2f}  {row.entry.id}  {row.tokens:>4} tokens  {parts or 'no score'}")
        for left in found.left_out:
            write(f"{left.value:6.2f}  {left.id}  omitted  {' '.join(left.title.split())[:_TITLE]}")
    elif found.text:
        write_text(found.text)
    narrate(f"{count(len(found.rows), 'entry', 'entries')}, {found.tokens:,} of {found.budget:,} tokens")
    kept = (
        ("omitted (over budget)", found.left_out_total),
        ("waiting for trust", found.held),
        ("never recalled", found.never_recall),
        ("unapproved Rules", found.unapproved),
    )
    out = ", ".join(f"{number:,} {why}" for why, number in kept if number)
    if out:
        narrate(f"excluded: {out}")
    narrate_notes(found.notes)


def print_written(entry: model.Entry) -> None:
    """Print an entry that was written, and its notes."""
    narrate_notes(entry.notes)
    if as_json(entry):
        return
    write(entry_line(entry))
    if entry.again:
        narrate(f"already saved, for {where(entry)}: nothing was written")
    else:
        narrate(f"saved for {where(entry)}; `cm undo` undoes it")
    print_unapproved(entry)
    if entry.redacted and not entry.again:
        narrate(f"note: {count(entry.redacted, 'secret')} redacted")


def print_changed(done: model.MemoryChange) -> None:
    """Print an entry as it is after a change, and say what was done."""
    assert done.entry is not None
    if as_json(done.entry):
        return
    write(entry_line(done.entry))
    narrate(f"{done.words}; `cm undo` undoes it" if done.change else f"{done.words}: nothing was changed")
