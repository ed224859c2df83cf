"""`cm episodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cm_tui.cli.options import Json, Project, open_fresh_engine
from cm_tui.cli.rows import commit_line
from cm_tui.counts import count

if TYPE_CHECKING:
    from cm_tui.model import Episode, Page

ID_LETTERS = 12
"""As much of an id as tells episodes apart that were not recorded in the same moment."""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("episodes")(episodes)


def episodes(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this one whole: its id, a beginning of it, or `last`.")
    ] = None,
    match: Annotated[
        str, typer.Option("--match", help="Words of prompt, answer, agent, session, paths, day, sha or #17.")
    ] = "",
    before: Annotated[str | None, typer.Option("--before", help="Only those recorded before this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")] = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List what agents' sessions recorded, newest first; `cm --episode ID` opens the application at what one saw."""
    from cm_tui.cli.output import print_json, print_page

    with open_fresh_engine(project) as engine:
        if name is None:
            page: Page[Episode] = engine.episodes(match=match, before=before, limit=limit)
            print_page(page, _line, as_json=as_json, row=_row)
            if not page.total and not match:
                _say_how()
            return
        one = engine.episode(name)
    print_json(one) if as_json else _show(one)


def _row(one: Episode) -> dict[str, Any]:
    from cm_tui.cli.output import plain

    row: dict[str, Any] = plain(one)
    del row["patch"]
    return row


def _say_how() -> None:
    from cm_tui.cli.output import narrate

    narrate("no agent's session was recorded yet: `cm agent install AGENT` wires one")


def _line(one: Episode) -> str:
    from cm_tui.model.dates import minute

    where = f"#{one.moment.ordinal} {one.sha[:10]}" if one.moment else one.sha[:10] or "no commit"
    asked = " ".join(one.prompts[0].split()) if one.prompts else "(no prompt)"
    why = f"  ({one.why})" if one.why else ""
    return f"{one.id[:ID_LETTERS]}  {minute(one.time)}  {where}  {one.agent or 'agent'}  {asked}{why}"


def _show(one: Episode) -> None:
    from cm_tui.cli.output import narrate, write_text
    from cm_tui.model.dates import minute

    lines = [f"episode {one.id}  {minute(one.time)}"]
    lines.append(f"{one.agent or 'an agent'}, session {one.session or 'unknown'}, in {one.root}")
    if one.moment is not None:
        lines.append(f"at {commit_line(one.moment)}")
    if one.head != one.sha:
        lines.append(f"HEAD was {one.head[:10] or 'nothing'} when it stopped: the patch starts before its commits")
    for title, text in (*(("asked", prompt) for prompt in one.prompts), ("answered", one.answer)):
        if text.strip():
            lines += ["", f"{title}:", *(f"  {line}" for line in text.splitlines())]
    if one.files:
        lines += ["", "files:", *(f"  {path}" for path in one.files)]
    if one.patch:
        lines += ["", "patch:", one.patch.rstrip("\n")]
    write_text("\n".join(lines))
    for note in notes_of(one):
        narrate(f"note: {note}")


def notes_of(one: Episode) -> list[str]:
    """Return what has to be said about an episode beside its texts."""
    notes = [one.why, one.note]
    if one.patch_cut:
        notes.append("the patch was too long: this is its beginning")
    if one.redacted:
        notes.append(f"taken out of the patch: {count(one.redacted, 'secret')}")
    return [note for note in notes if note]
