"""`cm notes`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cm_tui import model
from cm_tui.cli.declare import Bounds, Family, Positive
from cm_tui.cli.options import need_editor, open_engine, refuse_empty, text_of
from cm_tui.cli.output import as_json, narrate, narrate_notes, plain, print_page, wants_json, write, write_text
from cm_tui.counts import count
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model.dates import local_minute
from cm_tui.model.note import whole_text

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_TITLE = 60

Name = Annotated[str, typer.Argument(help="Note id or a unique ending of it.")]


def alone() -> None:
    """Markdown that people and agents write: day logs, topics, memory; without a command the notes are listed."""
    list_()


def append(text: str, *, to: str = "") -> None:
    """Write a paragraph at the end of a note; one that is not there is begun.

    Args:
        text: What is to be kept (-: stdin).
        to: The note, such as router or user:style.md; unless said, the log of today.
    """
    with open_engine() as engine:
        _show_change(engine.append_note(text_of(text), name=to))


def search(
    text: str,
    *,
    max_results: Annotated[int | None, Bounds(1)] = None,
    min_score: Annotated[float | None, Bounds(0, 1)] = None,
    explain: bool = False,
) -> None:
    """Search notes: passages with path, lines and score.

    Args:
        text: What you look for, in words.
        max_results (--max-results, -n): How many at most.
        min_score: Least score, from 0 to 1.
        explain: Show how each score came to be.
    """
    from cm_tui.cli.hits import show_recalled

    refuse_empty(text, 'cm notes search "which port does the router use"')
    with open_engine() as engine:
        result = engine.search_notes(text, limit=max_results, min_score=min_score)
    show_recalled(result, explain=explain)


def get(name: Name, *, start: Positive = 1, lines: Annotated[int | None, Bounds(1)] = None) -> None:
    """Print a note, without what looks like a secret.

    Args:
        start (--from): The first line.
        lines: How many; unless said, all.
    """
    with open_engine() as engine:
        found = engine.note(name, start=start, lines=lines)
    if as_json({"id": found.note.id, **plain(found)}):
        return
    write_text(found.text)
    if found.note.problem:
        narrate(f"note: {found.note.id}: {found.note.problem}")
    if found.next_line is not None and lines is None:
        narrate(f"continue with --from {found.next_line}")


def list_(match: str = "", *, kind: str = "", scope: str = "", limit: Positive = 50) -> None:
    """List notes, those that were changed last first.

    Args:
        match: Only those that have these words in id, title or tags.
        kind: long-term, day, project, user, topic, extra or instructions.
        scope: user or project.
        limit (--limit, -n): How many rows at most.
    """
    with open_engine() as engine:
        page = engine.notes(match=match, kind=kind, scope=scope, limit=limit)
    print_page(page, line_of)
    if not wants_json() and not page.total and not (match or kind or scope):
        narrate('no notes yet; cm notes append "TEXT" starts the log of today')


def edit(name: str, *, text: str | None = None, keep: Literal["mine", "theirs", "both"] | None = None) -> None:
    """Edit a note in your editor; what others write meanwhile stays.

    Args:
        name: A note's id; a new name begins a note, such as topics/router.
        text: What it is to say, instead of opening an editor (-: stdin).
        keep: Of lines that were changed meanwhile too: mine, theirs or both.
    """
    with open_engine() as engine:
        base = _text_of(engine, name)
        wanted = _target_text(base or "", text)
        try:
            change = engine.write_note(name, wanted, base=base, decision=keep or "")
        except CmError as error:
            if text is None:
                error.hint = f"{error.hint} Your text is in {_save_unwritten(wanted, 'note.md')}.".strip()
            raise
        if change.conflict is not None:
            raise _conflict(change)
    _show_change(change)


def move(name: Name, target: str) -> None:
    """Give a note another name, also for all your projects or for this one alone.

    Args:
        target: Its id afterwards, such as user:style.md or topics/router.md.
    """
    with open_engine() as engine:
        _show_change(engine.move_note(name, target))


def delete(name: Name) -> None:
    """Delete a note; `cm undo` brings it back."""
    with open_engine() as engine:
        _show_change(engine.delete_note(name))


def conflicts() -> None:
    """Show lines that an earlier version kept because another program saved over them, once; a file keeps them."""
    with open_engine() as engine:
        found = engine.note_conflicts()
    if not as_json({"rows": [plain(one) for one in found], "total": len(found)}):
        for one in found:
            write(f"{one.id}  {one.file}", bold=one.id)
            write_text(one.both)
        narrate(
            f"{count(len(found), 'note')}: copy what you need with `cm notes edit`; the files above keep both sides"
            if found
            else "no conflicts"
        )


def line_of(note: model.Note) -> str:
    """Return a note as a line of a list."""
    marks = [mark for mark, is_so in (("from git", note.came_along), (note.problem, note.problem)) if is_so]
    marked = f" ({'; '.join(map(str, marks))})" if marks else ""
    title = f"  {note.title[:_TITLE]}" if note.title else ""
    return f"{note.id}  {local_minute(note.modified)}  {note.kind}  {count(note.lines, 'line')}{marked}{title}"


def _text_of(engine: Engine, name: str) -> str | None:
    """Return the full text of a note; None when it does not exist."""
    try:
        return whole_text(lambda start: engine.note(name, start=start))
    except NotFoundError:
        return None


def _target_text(base: str, text: str | None) -> str:
    if text is not None:
        return text_of(text)
    need_editor("Give the text: --text TEXT, or --text - for stdin.")
    import click

    edited = click.edit(base, extension=".md")
    if edited is None:
        raise CmError("The editor saved nothing; the note is unchanged.")
    return edited


def _save_unwritten(text: str, name: str) -> Path:
    """Keep a text that could not be written in a folder of its own."""
    import tempfile

    from cm_tui.files import write_atomically

    file = Path(tempfile.mkdtemp(prefix="cm-note-")) / name
    write_atomically(file, text)
    return file


def _conflict(change: model.NoteChange) -> CmError:
    """Keep what was written where the person finds it, and say what the file says by now."""
    assert change.conflict is not None
    kept = _save_unwritten(change.conflict.both, "both.md")
    return CmError(
        f"{change.words}: nothing was written. Both sides are in {kept}.",
        hint="Edit it again, or choose lines with --keep mine, theirs or both.",
    )


def _show_change(change: model.NoteChange) -> None:
    if as_json(change):
        return
    write(change.id)
    narrate_notes(change.notes)
    if change.redacted:
        narrate(f"note: {count(change.redacted, 'secret')} redacted")
    narrate(f"{change.words}; `cm undo` undoes it" if change.change else f"{change.words}: nothing was changed")


notes = Family("", (append, search, get, list_, edit, move, delete, conflicts), alone=alone)
