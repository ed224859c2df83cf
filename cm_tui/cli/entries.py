"""`cm entries`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cm_tui import model
from cm_tui.cli.declare import Bounds, Family
from cm_tui.cli.options import Yes, need_terminal, open_engine, text_of
from cm_tui.cli.output import (
    advise,
    as_json,
    narrate,
    narrate_notes,
    plain,
    print_json,
    print_page,
    wants_json,
    write,
    write_text,
)
from cm_tui.counts import count
from cm_tui.errors import UsageError
from cm_tui.model.dates import age, local_minute
from cm_tui.model.layout import author, entry_marks, forgotten, last_change
from cm_tui.model.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


# --- entries on stdout: as lines of a list, whole, and as JSON ---

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


# --- `cm entries approve`, `move`, `merge`, `duplicates`, `promote` and `publish` ---

Id = Annotated[str, typer.Argument(help="Entry id or unique prefix.")]
OptionalId = Annotated[str, typer.Argument(metavar="ID", help="Entry id or unique prefix.")]
Category = Annotated[str | None, typer.Option("--category", help="Knowledge, Rule or Experience.")]
Title = Annotated[str | None, typer.Option("--title", help="Title of the entry.")]
Keywords = Annotated[str | None, typer.Option("--keywords", help="Keywords, separated by |.")]
OfScope = Annotated[str, typer.Option("--scope", help="Only entries of this scope: user or project.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of rows.")]


def approve(name: Id, *, scope: OfScope = "") -> None:
    """Approve a Rule that you did not write, after reading it: from then on agents are given it. Asked at a terminal only."""
    with open_engine() as engine:
        entry = engine.entry(name, scope=scope)
        if entry.category == "Rule" and entry.unapproved:
            need_terminal(
                "Approving a Rule needs confirmation, and there is no terminal to ask in.",
                "Run `cm entries approve ID` yourself, in a terminal.",
            )
            _show_rule(entry)
            if not typer.confirm("Give this Rule to agents?", default=False, err=True):
                narrate("Not approved: search finds it, but agents do not receive it.")
                return
        print_changed(engine.approve_entry(entry))


def move(name: Id, *, scope: model.Scope) -> None:
    """Move an entry to the other scope; it keeps its id and who wrote it.

    Args:
        scope: Where it is to go: user or project.
    """
    with open_engine() as engine:
        print_changed(engine.move_entry(name, scope))


def merge(names: list[str], *, scope: OfScope = "") -> None:
    """Make one entry of several: the first takes the texts of the others along, which are forgotten.

    Args:
        names: Ids; the first keeps its id, category, title and scope.
    """
    with open_engine() as engine:
        print_changed(engine.merge_entries(names, scope=scope))


def duplicates(*, limit: Limit = 50) -> None:
    """List pairs of entries that say nearly the same, with the words that differ."""
    with open_engine() as engine:
        page = engine.duplicate_entries(limit=limit)
    print_page(page, pair_lines)
    if page.rows:
        advise(f"`cm entries merge {page.rows[0].first.id} {page.rows[0].second.id}` makes one of two")


def promote(
    episode: str,
    *,
    content: str = "",
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    scope: model.Scope = "project",
) -> None:
    """Write down what an episode taught; the entry says which episode, session and commit it comes from.

    Args:
        episode: The episode's id, or a beginning of it; last is the newest.
        content: What is to be remembered (-: stdin); by default what came of it.
        scope: project, or user: for all your projects.
    """
    with open_engine() as engine:
        details = _details(category, title, keywords, scope)
        print_written(engine.promote_episode(episode, content=text_of(content), **details))


def _show_rule(entry: model.Entry) -> None:
    narrate(
        f"{entry.id}, by {author(entry)}{f', session {entry.session}' if entry.session else ''}, for {where(entry)}:"
    )
    for line in (entry.title, *entry.content.splitlines()):
        narrate(f"  {line}")


def publish(file: str, *, remove: bool = False, dry_run: bool = False, yes: Yes = False) -> None:
    """Write the approved rules into a marked block of a file of instructions, after showing what changes.

    Args:
        file: A file that agents read, such as AGENTS.md or claude:CLAUDE.md.
        remove: Take the rules out again, without a trace.
        dry_run: Show what would change; do nothing.
    """
    with open_engine() as engine:
        block = engine.publish_rules(file, remove=remove, dry_run=True)
        if not wants_json():
            write_text(block.diff)
        if block.diff and not dry_run and (yes or wants_json() or typer.confirm(f"Change {block.file}?", err=True)):
            block = engine.publish_rules(file, remove=remove)
    if as_json(block):
        return
    if not block.diff:
        narrate(f"{block.id} says that already: nothing was changed")
    elif block.change:
        narrate(f"{block.id} has {count(block.rules, 'approved rule')}; `cm undo` undoes it")
    else:
        narrate("nothing was changed")
    if block.left_out:
        narrate(
            f"skipped: {count(block.left_out, 'unapproved rule')} from agents; approve with `cm entries approve ID`"
        )


# --- `cm entries` ---


def alone() -> None:
    """What you and agents wrote down to be remembered; without a command the entries are listed."""
    list_()


def add(
    *,
    content: str,
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    scope: model.Scope = "project",
) -> None:
    """Write an entry; what stands there word for word is not written twice.

    Args:
        content: What is to be remembered (-: stdin).
        scope: project, or user: for all your projects.
    """
    with open_engine() as engine:
        print_written(engine.remember(text_of(content), **_details(category, title, keywords, scope)))


def update(
    name: Id,
    *,
    content: str | None = None,
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    pin: bool | None = None,
    never_recall: bool | None = None,
    scope: OfScope = "",
) -> None:
    """Change an entry of either scope.

    Args:
        content: What it says from now on (-: stdin).
        pin (--pin/--no-pin): Only a person changes it, or anybody.
        never_recall (--never-recall/--recall): Keep it out of every answer, or let it in again.
    """
    edit = edit_of(content, category, title, keywords, pin, never_recall)
    if edit == model.EntryEdit():
        raise UsageError("No field to change was given.", hint="`cm entries update --help` lists the fields.")
    with open_engine() as engine:
        print_changed(engine.update_entry(name, edit, scope=scope))


def delete(name: Id, *, scope: OfScope = "") -> None:
    """Forget an entry of either scope; `cm undo` and `cm forget --undo` bring it back."""
    with open_engine() as engine:
        entry = engine.entry(name, scope=scope)
        done = engine.forget_memory(f"entry/{entry.id}", scope=scope or ("" if entry.forgotten else entry.scope))
    if not as_json({"id": done.id, "deleted": bool(done.change), "change": done.change}):
        narrate(f"{done.words}; `cm forget --undo {done.id}` restores it")


def search(query: str = "", *, category: str = "", scope: OfScope = "", limit: Limit = 200) -> None:
    """List the entries that have every word in title, content or keywords; without a query all of them.

    Args:
        query: Words; without any, all entries.
        category: Only those of this one.
    """
    _list(query, category, scope, limit)


def list_(*, category: str = "", scope: OfScope = "", limit: Limit = 50) -> None:
    """List the entries, the one that changed last first.

    Args:
        category: Only those of this one.
    """
    _list("", category, scope, limit)


def show(name: OptionalId = "", *, scope: OfScope = "") -> None:
    """Show an entry whole, who wrote it, and how often it was recalled; of an id in both scopes both."""
    if not name.strip():
        raise UsageError("No entry is named.", hint="`cm entries show ID`; `cm entries list` lists the ids.")
    with open_engine() as engine:
        found = _in_both(engine, name) if not scope else ()
        entries = found or (engine.entry(name, scope=scope),)
        counts = engine.recall_counts([f"entry/{one.id}" for one in entries])
    if wants_json():
        rows = [entry_row(entry, recalls) for entry, recalls in zip(entries, counts, strict=True)]
        print_json({"rows": rows, "total": len(rows)} if found else rows[0])
        return
    for number, (entry, recalls) in enumerate(zip(entries, counts, strict=True)):
        if number:
            write("")
        show_entry(entry, recalls)


def inject(
    *,
    budget: Annotated[int, Bounds(0)] = 2000,
    scope: OfScope = "",
    category: str = "",
    prompt: str = "",
    file: list[Path] | None = None,
    explain: bool = False,
) -> None:
    """Print entries as an agent is given them: the most valuable within a budget, by scope and category.

    Args:
        budget: Tokens at most.
        category: Only those of this one.
        prompt (--for): What is asked: entries about it come first.
        file: A file that is worked on; may be repeated.
        explain: Show what each entry is worth, and why.
    """
    paths = tuple(str(path) for path in file or ())
    with open_engine() as engine:
        found = engine.inject(budget=budget, scope=scope, category=category, prompt=prompt, files=paths)
    if wants_json():
        rows = [{"id": row.entry.id, **plain(row)} for row in found.rows]
        print_json({**plain(found), "rows": rows})
    else:
        show_injection(found, explain=explain)


# --- parts ---


def edit_of(
    content: str | None,
    category: str | None,
    title: str | None,
    keywords: str | None,
    pin: bool | None,
    never_recall: bool | None = None,
) -> model.EntryEdit:
    """Return what options ask to be changed of an entry; stdin is read for a content of `-`."""
    words = None if keywords is None else tuple(keywords.split("|"))
    text = None if content is None else text_of(content)
    return model.EntryEdit(text, title, cast("Any", category), words, pin, never_recall)


def _details(category: str | None, title: str | None, keywords: str | None, scope: model.Scope) -> dict[str, Any]:
    words = tuple((keywords or "").split("|"))
    return {"category": category or "Experience", "title": title or "", "keywords": words, "scope": scope}


def _list(query: str, category: str, scope: str, limit: int) -> None:
    with open_engine() as engine:
        page = engine.entries(match=query, category=category, scope=scope, limit=limit)
    print_page(page, entry_line, row=entry_row)


def _in_both(engine: Engine, name: str) -> tuple[model.Entry, ...]:
    """Return the two entries of an id that both scopes have; nothing where one alone is meant."""
    wanted = model.plain_id(name).lower()
    page = engine.entries(match=wanted, limit=1_000)
    found = tuple(one for one in page.rows if one.id.lower() == wanted)
    return found if len(found) > 1 else ()


entries = Family(
    "",
    (list_, add, update, delete, search, show, inject, approve, move, merge, duplicates, promote, publish),
    alone=alone,
)
