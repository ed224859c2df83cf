"""Changes that the engine makes, and how they are undone: by their id, or the user's last one of the project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from cm_tui.errors import CmError, NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.model import Entry, MemoryChange, NoteChange, Undone
from cm_tui.tui.screens.app_commands import UNDO, naming
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.screens.writing import Answer, EntryDialog, EntryDraft, NoteDialog, NoteDraft, words_of_error
from cm_tui.tui.state.change_history import Finish, Run, UndoableChange
from cm_tui.tui.state.revision import headline
from cm_tui.tui.tasks.ask import Call, Engine, Fail, Then
from cm_tui.tui.widgets.text import count, elide_end, flat, one_line

A = TypeVar("A")

_LONGEST = 60
_TEXT, _LEAD = 170, 30
"""Cells that are shown of each side of a text that changed, and how many of them both have in common."""
_UNDONE = "Undone: "
_ENGINES = "undone: "
"""Prefix of the engine's words for an undo."""


# --- changes that the engine makes ---


def do_undoable(
    screen: ModeScreen,
    call: Call[A],
    then: Then[A],
    fail: Fail | None = None,
    *,
    of: Callable[[A], Any] = lambda answer: answer,
    title: str = "",
    about: Mapping[str, str] = MappingProxyType({}),
    answer: Answer | None = None,
) -> None:
    """Have the engine make a change that `u` undoes, as `ModeScreen.do` does; the next `u` waits for it.

    Args:
        screen: the mode that it is done for.
        call: makes the change, and makes it again for a redo.
        then: gets the answer.
        fail: gets the error; shown as a notification when not given.
        of: finds the record of the change in the answer: it has `change` (an id; empty: nothing was changed) and `words`.
        title: what the changed thing is called, where the words of the record name an id alone.
        about: ids of what is changed besides, and what it is called.
        answer: reports the result to a dialog: empty, or what is wrong.
    """
    made = _EngineChange(screen, call, of, title, about)

    def done(outcome: A) -> None:
        if not made.note(outcome):
            screen.cm.history.drop(made.record)
        if answer is not None:
            answer("")
        then(outcome)

    def failed(error: CmError) -> None:
        screen.cm.history.drop(made.record)
        if answer is not None:
            answer(words_of_error(error))
        else:
            (fail or screen.cm.tell_error)(error)

    screen.cm.history.add(made.record)
    screen.do(made.make, done, failed)


def ask_note(screen: ModeScreen, name: str, text: str, then: Callable[[NoteChange], None]) -> None:
    """Ask for a paragraph and a note, and write it at its end; a note that is not there is begun."""

    def submit(draft: NoteDraft, answer: Answer) -> None:
        do_undoable(screen, lambda engine: engine.append_note(draft.text, name=draft.name), then, answer=answer)

    screen.app.push_screen(NoteDialog(name, text, submit))


def ask_entry(
    screen: ModeScreen, title: str, draft: EntryDraft, write: Callable[[Engine, EntryDraft], Entry],
    then: Callable[[Entry], None],
) -> None:  # fmt: skip
    """Ask for an entry, and write it."""

    def submit(given: EntryDraft, answer: Answer) -> None:
        def wrote(change: MemoryChange) -> None:
            if change.entry is not None:
                then(change.entry)

        do_undoable(screen, lambda engine: written(engine, write(engine, given)), wrote, answer=answer)

    screen.app.push_screen(EntryDialog(title, draft, submit))


class _EngineChange(Generic[A]):
    """A change that the engine makes: undone by its id, redone by making it again."""

    def __init__(
        self, screen: ModeScreen, call: Callable[[Engine], A], of: Callable[[A], Any], title: str,
        about: Mapping[str, str], change: str = "",
    ) -> None:  # fmt: skip
        self._call, self._of, self._title, self._about = call, of, title, about
        self._id = change
        """Of the change, once it was made."""
        self.record = UndoableChange(screen.cm.running_command or "a change", screen.MODE, self.undo, self.redo)

    def make(self, engine: Engine) -> A:
        """Make it, on the thread of changes, where an undo that was asked for meanwhile is next."""
        answer = self._call(engine)
        self._id = self._of(answer).change
        return answer

    def note(self, answer: A) -> bool:
        """Record a change that was made; False where nothing was changed."""
        made = self._of(answer)
        if made.change:
            ids = getattr(made, "ids", ()) or (made.id,)
            self.record.label = with_titles(made.words, {ids[0]: self._title, **self._about} if ids else {})
            self.record.about = frozenset((*ids, *self._about))
        return bool(made.change)

    def redo(self, mode: ModeScreen, finish: Finish) -> None:
        """Make it again."""

        def done(answer: A | None) -> None:
            if answer is None or self.note(answer):
                finish("")
            else:
                mode.cm.history.drop(self.record)
                mode.cm.refuse(f"Redo: {one_line(self._of(answer).words)}")
            mode.cm.show_undone()

        mode.do(self._redo, done, partial(self._failed, mode), once=UNDO)

    def _redo(self, engine: Engine) -> A | None:
        """Make it again as it was, ids included; what cannot be is asked for once more, whose answer is returned."""
        try:
            self._id = engine.redo(self._id).change
        except UsageError:
            return self.make(engine)
        return None

    def undo(self, mode: ModeScreen, finish: Finish) -> None:
        """Undo it by its id."""

        def call(engine: Engine, *, theirs_too: bool = False) -> tuple[Undone, str]:
            if not self._id:
                raise NotFoundError("Nothing to undo: the change was not made.")
            return _undo(engine, self._id, theirs_too=theirs_too)

        _answered(mode, call, finish, partial(self._undo_failed, mode))

    def _undo_failed(self, mode: ModeScreen, error: CmError) -> None:
        if not isinstance(error, NotFoundError) or not self._id:
            self._failed(mode, error)
            return
        mode.cm.history.drop(self.record)
        words = f"It is already undone, or no longer exists: {self.record.label}"
        mode.cm.tell(words, title="Nothing was undone.", severity="warning", timeout=6)

    def _failed(self, mode: ModeScreen, error: CmError) -> None:
        if isinstance(error, NotFoundError | UsageError | RefusedError):
            # It was undone by another client, or what it was about is gone.
            mode.cm.history.drop(self.record)
        mode.cm.tell_error(error)


def do_reversible(
    screen: ModeScreen, label: str, about: str, call: Call[A], then: Then[A], *, undo: Call[object], redo: Call[object],
    fail: Fail | None = None, once: str = "", after: Callable[[], None] = lambda: None,
) -> UndoableChange:  # fmt: skip
    """Have the engine make a change that another call of it reverses.

    Args:
        screen: the mode in which it is made.
        label: what is done.
        about: what it changes.
        call: makes it.
        then: gets the answer.
        undo: reverses it; raises `RefusedError` where it was changed since.
        redo: makes it again.
        fail: gets the error; shown as a notification when not given.
        once: name of what must not be asked for again meanwhile.
        after: called whenever it was reversed or made again.
    """

    def through(call: Call[object]) -> Run:
        def run(mode: ModeScreen, finish: Finish) -> None:
            def done(_: object) -> None:
                after()
                finish("")
                mode.cm.show_undone()

            def failed(error: CmError) -> None:
                if isinstance(error, RefusedError | NotFoundError | UsageError):
                    mode.cm.history.drop(change)
                mode.cm.tell_error(error)

            mode.do(call, done, failed, once=UNDO)

        return run

    def failed(error: CmError) -> None:
        screen.cm.history.drop(change)
        (fail or screen.cm.tell_error)(error)

    change = UndoableChange(label, screen.MODE, through(undo), through(redo), frozenset({about}))
    screen.cm.history.add(change)
    screen.do(call, then, failed, once=once)
    return change


def written(engine: Engine, entry: Entry) -> MemoryChange:
    """Return the change that wrote an entry, which does not name it itself; call it right after that."""
    found = ""
    if not entry.again:
        with suppress(NotFoundError):
            last = engine.undo(dry_run=True)
            found = last.change if entry.id in last.ids else ""
    return MemoryChange(
        entry.id, "entry", f"wrote the entry “{elide_end(one_line(entry.title), _LONGEST)}”", found, entry=entry
    )


# --- the last change of the project, by any client ---


def undo_earlier(screen: ModeScreen) -> None:
    """Undo the user's last change of this project, which was made before this run or by another client.

    Where the mode on screen does not show what was changed, only after a confirmation.
    """

    def undo(change: str) -> None:
        def finish(words: str) -> None:
            screen.cm.history.undone_earlier(earlier_change(screen, change, words.removeprefix(_UNDONE)))
            screen.cm.report(words)

        with naming(screen, "Undo"):
            _answered(screen, partial(_undo, name=change), finish, screen.cm.tell_error)

    def found(result: tuple[Undone, str, tuple[str, ...]]) -> None:
        last, title, modes = result
        if screen.MODE in modes or last.conflicts:
            undo(last.change)  # where there are conflicts, both sides are shown first
            return
        words = elide_end(_words(last, title).removeprefix(_UNDONE), _TEXT)
        question = f"Undo your last change in this project, which is not visible here?\n\n{words}"
        confirm(screen, question, "Undo", lambda: undo(last.change))

    def call(engine: Engine) -> tuple[Undone, str, tuple[str, ...]]:
        last = engine.undo(dry_run=True)
        return last, *_title_and_modes(engine, last)

    screen.do(call, found, screen.cm.tell_error, once=UNDO)


def earlier_change(screen: ModeScreen, id_: str, label: str, about: Iterable[str] = ()) -> UndoableChange:
    """Return the record of a change that was not made in this run, and that was just undone: `U` makes it again.

    Args:
        screen: the mode in which it was undone.
        id_: of the change.
        label: what was done.
        about: ids of what it changed.
    """
    change = _EngineChange(screen, lambda engine: engine.redo(id_), lambda made: made, "", {}, id_)
    change.record.label, change.record.about = label, frozenset(about)
    return change.record


def _answered(screen: ModeScreen, call: Callable[..., tuple[Undone, str]], finish: Finish, failed: Fail) -> None:
    """Undo; where a text changed since, ask which side stays."""

    def undone(result: tuple[Undone, str]) -> None:
        finish(_words(*result))
        screen.cm.show_undone()

    def undo() -> None:
        screen.do(partial(call, theirs_too=True), undone, failed, once=UNDO)

    def leave() -> None:
        screen.cm.tell("Nothing was undone.")

    def done(result: tuple[Undone, str]) -> None:
        if result[0].conflicts:
            confirm(screen, _both_sides(result[0]), "Undo anyway", undo, no=leave)
        else:
            undone(result)

    screen.do(call, done, failed, once=UNDO)


def _undo(engine: Engine, name: str, *, theirs_too: bool = False) -> tuple[Undone, str]:
    """Undo a change; return the result and the title of its first item."""
    # Before, as what was written is gone afterwards; and afterwards, as what was forgotten is there again.
    title = _title(engine, engine.undo(change=name, dry_run=True))
    undone = engine.undo(change=name, theirs_too=theirs_too)
    return undone, title or _title(engine, undone)


def _title(engine: Engine, undone: Undone) -> str:
    return _title_and_modes(engine, undone)[0]


def _title_and_modes(engine: Engine, undone: Undone) -> tuple[str, tuple[str, ...]]:
    """Return the title of the first changed thing, and the modes that show it; both empty where it is not found."""
    reads: tuple[tuple[Callable[[str], str], tuple[str, ...]], ...] = (
        (lambda name: headline(engine.episode(name)), ("episodes",)),
        (lambda name: one_line(engine.entry(name).title), ("memory",)),
        (lambda name: one_line(engine.note(name, lines=1).note.title), ("memory", "review")),
    )
    for read, modes in reads if undone.ids else ():
        with suppress(NotFoundError, UsageError, RefusedError, StoreError):
            return read(undone.ids[0]), modes
    return "", ()


def _words(undone: Undone, title: str) -> str:
    titles = {undone.ids[0]: title} if undone.ids else {}
    words = with_titles(undone.words.removeprefix(_ENGINES), titles)
    more = f" and {count(len(undone.ids) - 1, 'more', 'more')}" if title and len(undone.ids) > 1 else ""
    return f"{_UNDONE}{'; '.join((f'{words}{more}', *map(one_line, undone.notes)))}"


def with_titles(words: str, titles: Mapping[str, str]) -> str:
    """Return the words of a change with titles in the place of ids, or behind them where they name no id."""
    shown = {id_: f"“{elide_end(one_line(title), _LONGEST)}”" for id_, title in titles.items() if id_ and title}
    named = one_line(words)
    for id_, title in shown.items():
        if "/" not in id_:  # the path of a note stays
            begin, found, end = re.split(rf"((?<!\S)(?:[a-z]+/)?{re.escape(id_)}(?!\w)|$)", named, maxsplit=1)
            named = f"{begin}{title if found else ''}{end}"
    rest = [title for title in shown.values() if title not in named]
    return f"{named}: {rest[0]}" if rest and len(rest) == len(shown) else named


def _both_sides(undone: Undone) -> str:
    """Return both sides of what changed since, for the question which one stays."""
    one = undone.conflicts[0]
    now, before, yours = sides(one.now, one.before, one.yours)
    by = f" by {one_line(one.changed_by)}" if one.changed_by else ""
    wrote = f"\n\nWhat you wrote:\n{yours}" if one.yours and one.yours not in (one.now, one.before) else ""
    more = f"\n\n{count(len(undone.conflicts) - 1, 'more text')} changed too." if len(undone.conflicts) > 1 else ""
    return (
        f"“{elide_end(one_line(one.title), _LONGEST)}” has changed since{by}.\n\n"
        f"As it is now:\n{now}{wrote}\n\nWhat would come back:\n{before}{more}"
    )


def sides(*sides_of_it: str) -> list[str]:
    """Return texts in one line each, from where they begin to differ; what there is not says so."""
    texts = [flat(text, None) for text in sides_of_it]
    there = [text for text in texts if text]
    same = next((place for place, signs in enumerate(zip(*there, strict=False)) if len({*signs}) > 1), 0)
    start = same - _LEAD if same > 2 * _LEAD else 0
    return [elide_end(f"…{text[start:]}" if start else text, _TEXT) or "(deleted)" for text in texts]
