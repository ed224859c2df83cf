"""Taking the last change of a project back, of whatever kind: says what that was, and asks where a text changed since."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.model import Undone
from cm_tui.tui.screens.confirm import ConfirmScreen
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import count, elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

UNDO = "undo"
"""Name of a change that takes the last one back: while one is under way, no other is asked for."""
_LONGEST = 60
_TEXT, _LEAD = 170, 30
"""Cells that are shown of each side of a text that changed, and how many of them both have in common."""


def undo(screen: ModeScreen, after: Callable[[], None]) -> None:
    """Take back the last change that a person made in this project.

    Args:
        screen: the mode that it is done for.
        after: shows what there is then.
    """
    if screen.is_doing(UNDO):
        return

    def done(told: tuple[Undone, str]) -> None:
        if told[0].conflicts:
            _ask_theirs(screen, told[0], after)
        else:
            _tell_undone(screen, after, told)

    screen.do(_undo, done, once=UNDO)


def _undo(engine: Engine, *, theirs_too: bool = False) -> tuple[Undone, str]:
    """Take it back, and find out what the first thing is called that it was about; of many, nobody reads all."""
    # Before, as what was written is gone afterwards; and afterwards, as what was forgotten is there again.
    title = _title(engine, engine.undo(dry_run=True))
    undone = engine.undo(theirs_too=theirs_too)
    return undone, title or _title(engine, undone)


def _title(engine: Engine, undone: Undone) -> str:
    for read in (_title_of_episode, _title_of_entry, _title_of_note):
        with suppress(NotFoundError, UsageError, RefusedError, StoreError):
            return read(engine, undone.ids[0]) if undone.ids else ""
    return ""


def _title_of_episode(engine: Engine, name: str) -> str:
    return headline(engine.episode(name))


def _title_of_entry(engine: Engine, name: str) -> str:
    return one_line(engine.entry(name).title)


def _title_of_note(engine: Engine, name: str) -> str:
    return one_line(engine.note(name, lines=1).note.title)


def _tell_undone(screen: ModeScreen, after: Callable[[], None], told: tuple[Undone, str]) -> None:
    undone, title = told
    words = one_line("; ".join((undone.words, *undone.notes)))
    more = f" and {count(len(undone.ids) - 1, 'more', 'more')}" if len(undone.ids) > 1 else ""
    about = f": “{elide_end(title, _LONGEST)}”{more}" if title else ""
    screen.cm.tell(f"{words[:1].upper()}{words[1:]}{about}.", timeout=6)
    after()


def _ask_theirs(screen: ModeScreen, undone: Undone, after: Callable[[], None]) -> None:
    """Show both sides of what changed since, and ask which one stays."""

    def answered(yes: bool | None) -> None:
        if yes:
            screen.do(partial(_undo, theirs_too=True), partial(_tell_undone, screen, after), once=UNDO)
        else:
            screen.cm.tell("Nothing was taken back: it stays as it is now.")

    one = undone.conflicts[0]
    now, before, yours = sides(one.now, one.before, one.yours)
    by = f" by {one_line(one.changed_by)}" if one.changed_by else ""
    wrote = f"\n\nWhat you wrote:\n{yours}" if one.yours and one.yours not in (one.now, one.before) else ""
    more = f"\n\n{count(len(undone.conflicts) - 1, 'more text')} changed too." if len(undone.conflicts) > 1 else ""
    words = (
        f"“{elide_end(one_line(one.title), _LONGEST)}” was changed since{by}.\n\n"
        f"As it is now:\n{now}{wrote}\n\nWhat would come back:\n{before}{more}"
    )
    screen.app.push_screen(ConfirmScreen(words, "Take back all the same"), answered)


def sides(*sides_of_it: str) -> list[str]:
    """Return texts in one line each, from where they begin to differ; what there is not says so."""
    texts = [" ".join(one_line(text).split()) for text in sides_of_it]
    there = [text for text in texts if text]
    same = next((place for place, signs in enumerate(zip(*there, strict=False)) if len({*signs}) > 1), 0)
    start = same - _LEAD if same > 2 * _LEAD else 0
    return [elide_end(f"…{text[start:]}" if start else text, _TEXT) or "(it is gone)" for text in texts]
