"""Writing entries and notes, and changing them in place or in the person's own editor."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from typing import Any

from textual.content import Content
from textual.widget import Widget

from cm_tui.errors import CmError
from cm_tui.model import Decision, Entry, EntryEdit, MemoryChange, Note, NoteChange, NoteConflict
from cm_tui.model.dates import local_day
from cm_tui.model.note import whole_text
from cm_tui.tui.modes.memory.groups import key_of, title_of
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.screens.question import Option, Question, ask, side_by_side
from cm_tui.tui.screens.undo import ask_entry, ask_note, do_undoable
from cm_tui.tui.screens.writing import (
    Answer,
    EntryDialog,
    EntryDraft,
    WritingScreen,
    edited_outside,
    words_of_error,
)
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.patches import patch_style
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import ProseList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import count, elide_end, one_line, size

_AROUND = 2
"""Lines that are shown around those that differ."""


class NoteEditScreen(WritingScreen[str]):
    """A note as it is, to be changed in place."""

    def value(self) -> str:
        """Return the text."""
        return self.area.text


@dataclass(frozen=True)
class ConflictLines:
    """What either side changed, as lines of a difference."""

    mine: tuple[str, ...]
    theirs: tuple[str, ...]


def lines_of(conflict: NoteConflict) -> ConflictLines:
    """Return what either side changed, against what both began with."""
    return ConflictLines(_changed(conflict.base, conflict.mine), _changed(conflict.base, conflict.theirs))


def _changed(before: str, after: str) -> tuple[str, ...]:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=_AROUND, lineterm="")
    return tuple(line for line in lines if not line.startswith(("--- ", "+++ ")))


def conflict_question(name: str, conflict: ConflictLines, decided: Callable[[Decision], None]) -> Question:
    """Return the question which side of changed lines counts; it shows both.

    Args:
        name: of the note.
        conflict: what either side changed.
        decided: gets the answer.
    """
    options = [
        Option("Both, one after the other", "b", lambda: decided("both")),
        Option("Mine", "m", lambda: decided("mine")),
        Option("Theirs", "t", lambda: decided("theirs")),
        Option("Back", "escape", lambda: decided("")),
    ]
    return Question(
        "", options, title=f" {elide_end(one_line(name), 60)} has changed meanwhile, in the same lines ",
        subtitle=" esc returns to your text ", look="sides",
        body=side_by_side(
            ("Your changes", RowList(conflict.mine, _draw, empty="Nothing.")),
            ("In the file", RowList(conflict.theirs, _draw, empty="Nothing.")),
        ),
    )  # fmt: skip


def _draw(line: str, width: int) -> Content:
    """Draw a line of a difference in the colour of what became of it."""
    return Content.styled(elide_end(one_line(line.expandtabs(4)), width), patch_style(line))


_UNREAD = "\ufffd"
"""Stands for what is no UTF-8: written back, it would be lost."""
MOST_IN_PLACE = 200_000
"""Bytes of a note that is changed in place: a longer one takes too long to lay out at each key."""


# --- entries ---


def new_entry(screen: MemoryView) -> None:
    """Ask for an entry, and write it."""
    where = screen.where
    category = next((kind.capitalize() for kind in where.kinds if kind in {"rule", "experience"}), "Knowledge")
    draft = EntryDraft(category=category, scope="user" if where.scope == "user" else "project")  # type: ignore[arg-type]

    def write(engine: Engine, given: EntryDraft) -> Entry:
        return engine.remember(
            given.content, category=given.category, title=given.title, keywords=given.keywords, scope=given.scope
        )

    def wrote(entry: Entry) -> None:
        screen.pending = key_of(entry)
        message = "Already saved." if entry.again else "Saved; u undoes it."
        redacted = f" {count(entry.redacted, 'secret')} redacted." if entry.redacted else ""
        screen.cm.tell(" ".join([f"{message}{redacted}", *entry.notes]))
        screen.reload()

    ask_entry(screen, "New entry", draft, write, wrote)


def edit_entry(screen: MemoryView, entry: Entry) -> None:
    """Change an entry in a dialog."""
    began = EntryDraft(entry.content, entry.title, entry.category, entry.scope, entry.keywords)

    def submit(draft: EntryDraft, answer: Answer) -> None:
        def changed(change: MemoryChange) -> None:
            screen.show_result(change.words, undoable=bool(change.change))

        _update(screen, entry, edit_between(began, draft), changed, answer=answer)

    screen.app.push_screen(EntryDialog(f"Edit the entry {entry.id}", began, submit))


def _update(
    screen: MemoryView, entry: Entry, edit: EntryEdit, then: Callable[[MemoryChange], None], **how: Any
) -> None:
    do_undoable(
        screen, lambda engine: engine.update_entry(entry.id, edit, scope=entry.scope), then, title=entry.title, **how
    )


def edit_between(began: EntryDraft, draft: EntryDraft) -> EntryEdit:
    """Return the changed fields only, so that other fields keep concurrent edits."""
    return EntryEdit(
        content=draft.content if draft.content != began.content.strip() else None,
        title=draft.title if draft.title != began.title.strip() else None,
        category=draft.category if draft.category != began.category else None,
        keywords=draft.keywords if draft.keywords != began.keywords else None,
    )


def edit_entry_outside(screen: MemoryView, entry: Entry) -> None:
    """Change the text of an entry in the person's own editor, through a file that is there only meanwhile."""
    edited = edited_outside(screen, entry.id, entry.content, "the entry was not changed")
    if edited is None:
        return
    text, file = edited

    def changed(change: MemoryChange) -> None:
        shutil.rmtree(file.parent, ignore_errors=True)
        screen.show_result(change.words, undoable=bool(change.change))

    def failed(error: CmError) -> None:
        # What was written is not lost: its file stays.
        screen.cm.tell(f"{words_of_error(error)} Your text is in {file}.", severity="error", timeout=10)

    _update(screen, entry, EntryEdit(content=text), changed, fail=failed)


# --- notes ---


def write_into_note(screen: MemoryView, name: str = "") -> None:
    """Ask for a paragraph and a note, and write it at its end."""

    def wrote(change: NoteChange) -> None:
        if change.note is not None:
            screen.pending = key_of(change.note)
        report_note(screen, change)

    ask_note(screen, name, "", wrote)


def report_note(screen: MemoryView, change: NoteChange) -> None:
    """Report the result of writing a note."""
    redacted = f"; {count(change.redacted, 'secret')} redacted" if change.redacted else ""
    screen.show_result(f"{change.words}{redacted}", undoable=bool(change.change))


def merge_base(engine: Engine, name: str) -> str:
    """Return all of a note's text, as it is merged with."""
    return whole_text(lambda start: engine.note(name, start=start))


def cannot_edit_note(note: Note) -> str | None:
    """Return why a note cannot be changed in place."""
    if not note.writable:
        return "it can only be changed in other programs: E opens its file"
    if note.problem and not note.digest:
        return "it cannot be read as text: E opens its file"
    if note.bytes > MOST_IN_PLACE:
        return f"it has {size(note.bytes)}: E opens its file"
    return None


def edit_note(screen: MemoryView, note: Note) -> None:
    """Change a note in place; what others change in it meanwhile stays."""

    def read(base: str) -> None:
        if note.problem and _UNREAD in base:
            screen.cm.refuse(f"Edit: {one_line(note.problem)}; E opens its file")
            return

        screen.app.push_screen(
            NoteEditScreen(note.id, base, lambda text, answer: _write(screen, note.id, base, text, "", answer))
        )

    screen.ask("edit", lambda engine: merge_base(engine, note.id), read)


def _write(screen: MemoryView, name: str, base: str, text: str, decision: Decision, answer: Answer) -> None:
    def call(engine: Engine) -> tuple[NoteChange, ConflictLines | None]:
        change = engine.write_note(name, text, base=base, decision=decision)
        # Comparing long texts takes a moment, so do it on the worker thread.
        return change, lines_of(change.conflict) if change.conflict is not None else None

    def wrote(result: tuple[NoteChange, ConflictLines | None]) -> None:
        change, lines = result
        if lines is None:
            answer("")
            report_note(screen, change)
            return

        def decided(choice: Decision) -> None:
            if choice:
                _write(screen, name, base, text, choice, answer)
            else:
                answer("Not saved yet: the file has changed in the same lines. ctrl+s shows both sides again.")

        ask(screen, conflict_question(name, lines, decided))

    do_undoable(screen, call, wrote, lambda error: answer(words_of_error(error)), of=lambda result: result[0])


_TITLE = 50


def _facts(entry: Entry, only: Sequence[str]) -> Content:
    """Return whose it is, and the words that the other one lacks."""
    scope = "all projects" if entry.scope == "user" else "this project"
    whose = f" {who_is(entry.actor, entry.agent)}, {local_day(entry.timestamp / 1000)}, {scope}"
    words = one_line(", ".join(only)) or "nothing"
    return Content.assemble((whose, "$soft"), "\n", (f" only here: {words}", "$muted"))


def merge(screen: MemoryView, entry: Entry) -> None:
    """Show the likest pair of entries, and merge them where a person says so."""
    pair = screen.items.marks.doubles[entry.id][0]

    def done(change: MemoryChange) -> None:
        screen.pending = ("entry", change.id)
        screen.show_result(change.words, undoable=bool(change.change))

    def merge_into(stays: Entry, goes: Entry) -> None:
        do_undoable(
            screen, lambda engine: engine.merge_entries([stays.id, goes.id]), done,
            title=title_of(stays), about={goes.id: title_of(goes)},
        )  # fmt: skip

    options = [
        Option("Leave both", "escape"),
        Option("Merge into the first", "1", lambda: merge_into(pair.first, pair.second)),
        Option("Merge into the second", "2", lambda: merge_into(pair.second, pair.first)),
    ]
    sides = side_by_side(
        *(_side(screen, *side) for side in ((pair.first, pair.only_first), (pair.second, pair.only_second)))
    )
    title, subtitle = f" {pair.likeness:.0%} alike ", " one entry takes the other's text; u undoes it "
    ask(screen, Question("", options, title=title, subtitle=subtitle, body=sides, look="sides"))


def _side(screen: MemoryView, entry: Entry, only: Sequence[str]) -> tuple[str, Sequence[Widget]]:
    """Return the title of an entry's panel, what is known of it, and its text."""
    work = partial(screen.cm.tasks.work, topic=f"memory.merge-{entry.id}")
    facts = Words(_facts(entry, only), classes="merge-facts")
    text = ProseList(work, entry.content, empty="It has no text.")
    return f"{entry.category}: {elide_end(title_of(entry), _TITLE)}", (facts, text)
