"""Commands for marks of results as right or wrong, and undo of a saved profile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cm_tui.errors import CmError, RefusedError
from cm_tui.model import Hit, Page, Profile, Standing
from cm_tui.model.profile import Mark, ProfileReset, mark_of, marks_of_hits, normal, places_of
from cm_tui.tui.modes.search.rows import signs_of
from cm_tui.tui.modes.search.view import SearchView
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.memory_hit import is_memory
from cm_tui.tui.screens.question import Line, ask_line, confirm
from cm_tui.tui.screens.undo import do_reversible
from cm_tui.tui.state.change_history import UndoableChange
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import one_line

SAVE_PROFILE = "save profile"
"""Name of a change that writes a profile: while one is under way, no other is asked for."""


def read_marks(screen: SearchView) -> None:
    """Read what is marked; a file that cannot be read is said when something is to be marked."""

    def got(page: Page[Mark]) -> None:
        screen.session.marks = page.rows
        show_signs(screen)

    screen.ask("marks", lambda engine: engine.marks(), got, lambda _: None)


# --- right and wrong ---


Reason = Callable[[SearchView], str | None]


def unless_found(holds: Callable[[SearchView], object], why: str) -> Reason:
    """Make the reason why a command is not possible, which is unknown until the query is answered."""
    return lambda screen: None if holds(screen) else "still searching" if screen.session.waiting else why


no_hit = unless_found(lambda screen: screen.hit, "no result")
no_file: Reason = unless(lambda screen: not is_memory(screen.hit), "a memory is not a file")
no_knobs: Reason = unless(lambda screen: screen.has_class("-tuning"), "open the profile's numbers with t first")
_unread: Reason = unless(lambda screen: screen.session.factory, "the profiles are being read")
FACTORY = (no_knobs, _unread)


def _mark(screen: SearchView, hit: Hit, *, right: bool) -> None:
    session = screen.session
    assert session.answer is not None
    query = session.answer.candidates.query
    place = (hit.path, hit.symbol, hit.start_line, hit.end_line)
    gone = [mark for mark in session.marks if mark.question == normal(query) and places_of(mark, [place])]
    current = marks_of_hits(gone, query, [hit]).get(hit.passage)
    new = None if current is right else mark_of(query, hit, right=right)

    def call(engine: Engine) -> tuple[str, Page[Mark]]:
        notes = [engine.remove_mark(mark) for mark in gone]
        notes += [engine.put_mark(new)] if new else []
        return " ".join(filter(None, notes)), engine.marks()

    def got(answer: tuple[str, Page[Mark]]) -> None:
        note, page = answer
        session.marks = page.rows
        show_signs(screen)
        screen.refresh_keys()
        if note:
            screen.cm.tell(note, severity="warning")

    def back(engine: Engine) -> None:
        for mark in [new] if new else []:
            engine.remove_mark(mark)
        for mark in gone:
            engine.put_mark(mark)

    def failed(error: CmError) -> None:
        session.marks = before
        show_signs(screen)
        screen.cm.tell(error.message, severity="error")

    # Shown at once, and reverted if it could not be written.
    before = session.marks
    session.marks = (*(mark for mark in session.marks if mark not in gone), *([new] if new else []))
    show_signs(screen)
    what = "unmarked" if new is None else "marked right" if right else "marked wrong"
    label = f"{what}: {one_line(hit.symbol or hit.path)}"
    about = f"mark {hit.path}:{hit.start_line} {query}"
    do_reversible(screen, label, about, call, got, undo=back, redo=call, fail=failed)


# --- undo of a saved profile ---


def reset_saved(screen: SearchView) -> None:
    """Remove what the project's configuration changes of the profile, after a question."""
    before = screen.session.saved
    assert before is not None
    name = before.name

    def got(done: Path | ProfileReset, change: UndoableChange) -> None:
        if isinstance(done, ProfileReset) and not done.removed:
            screen.cm.tell(f"This project does not change {name}; your own settings do.", timeout=5)
            screen.cm.history.drop(change)
        else:
            screen.cm.tell(f"{name} is as it was before it was saved here.", timeout=4)
        screen.read_profiles()

    def remove() -> None:
        write_profile(screen, f"removed the project's changes of the profile {name}", before, None, got)

    question = f"Remove the changes of the profile {name} from .cm/config.toml? The rest of the file is kept."
    confirm(screen, question, "Remove", remove)


def write_profile(
    screen: SearchView, label: str, before: Profile, after: Profile | None,
    then: Callable[[Path | ProfileReset, UndoableChange], None],
) -> None:  # fmt: skip
    """Save a profile, unless one is being saved.

    Args:
        screen: the mode.
        label: what is done.
        before: the profile as it was saved.
        after: as it is saved then; None: without what the project changes of it.
        then: gets the answer, and the change that undo reverses.
    """
    name, here = before.name, screen.cm.project.saved_here

    def put(engine: Engine, profile: Profile | None, replaces: Profile | None) -> Path | ProfileReset:
        if replaces is not None and engine.profiles()[name] != replaces:
            raise RefusedError(f"The profile {name} has changed since.", hint="t and s change it, R restores it.")
        here.add(f"profiles.{name}")
        return engine.save_profile(profile) if profile is not None else engine.reset_profile(name)

    if not screen.is_doing(SAVE_PROFILE):
        change = do_reversible(
            screen, label, f"profile {name}", partial(put, profile=after, replaces=None), lambda done: then(done, change),
            undo=partial(put, profile=before, replaces=after), redo=partial(put, profile=after, replaces=before),
            once=SAVE_PROFILE,
        )  # fmt: skip


_all_factory: Reason = unless(
    lambda screen: screen.session.saved != screen.session.factory, "no numbers of this profile were saved"
)


MARK_COMMANDS: tuple[Command[SearchView], ...] = (
    Command("search.right", "plus", "Right", "Mark the result right for this query, or remove the mark",
            with_target("hit", partial(_mark, right=True)), bar=False, blocked=(no_hit, no_file)),
    Command("search.wrong", "minus", "Wrong", "Mark the result wrong for this query, or remove the mark",
            with_target("hit", partial(_mark, right=False)), bar=False, blocked=(no_hit, no_file)),
    Command("search.unsave", "R", "Unsave", "Remove the project's saved numbers of the profile", reset_saved,
            bar=False, blocked=(*FACTORY, _all_factory)),
)  # fmt: skip


_TOPIC = "why-not"
_HINT = "A file, a file and a line as path:12, a folder, or a symbol."


knobs_closed: Reason = unless(
    lambda screen: not (screen.has_class("-narrow") and screen.has_class("-tuning")),
    "the numbers are shown (t hides them)",
)
_no_query: Reason = unless(lambda screen: screen.session.answer, "no query yet")
_separate: Reason = unless(lambda screen: not is_memory(screen.hit), "memories are ranked separately")


# --- why not ---


def ask_why_not(screen: SearchView) -> None:
    """Ask for a name, and show where it stands for this question."""
    before = screen.hit_panel.standing

    def named(name: str) -> None:
        if name.strip():
            screen.set_side("why")
            look_up(screen, name.strip())
        else:
            close(screen)

    ask_line(screen, "Why not …", Line(named, before.name if before else "", _HINT))


def look_up(screen: SearchView, name: str) -> None:
    """Ask where something stands for the question that is shown, by the numbers in use."""
    session = screen.session
    answer, profile, mode = session.answer, session.profile, session.mode
    if answer is None or profile is None:
        return
    query = answer.candidates.query

    def call(engine: Engine) -> Standing:
        return engine.why_not(query, name, profile=profile, mode=mode)

    def got(standing: Standing) -> None:
        screen.hit_panel.standing = standing
        screen.hit_panel.refresh_explanation()

    screen.ask(_TOPIC, call, got)


def close(screen: SearchView) -> bool:
    """End what stands in the place of the hit's explanation. False: nothing does."""
    panel = screen.hit_panel
    if panel.standing is None and panel.marked is None:
        return False
    screen.drop_question(_TOPIC)
    panel.standing = panel.marked = None
    panel.refresh_explanation()
    show_signs(screen)
    return True


def after_answer(screen: SearchView) -> None:
    """Bring what is shown instead of the hit's explanation to the newest answer."""
    panel = screen.hit_panel
    if panel.standing is not None:
        look_up(screen, panel.standing.name)
    if panel.marked is not None:
        passage = panel.marked.passage
        panel.marked = next((hit for hit in screen.session.listed if hit.passage == passage), None)
        panel.refresh_explanation()
    show_signs(screen)


# --- two hits ---


def mark_for_comparison(screen: SearchView, hit: Hit) -> None:
    """Mark a hit for comparison with others, or remove the mark."""
    panel = screen.hit_panel
    panel.standing = None
    is_same = panel.marked is not None and panel.marked.passage == hit.passage
    panel.marked = None if is_same else hit
    if panel.marked is not None:
        screen.set_side("why")
        screen.cm.tell("Marked; go to another result to compare.", timeout=3)
    panel.refresh_explanation()
    show_signs(screen)


def show_signs(screen: SearchView) -> None:
    """Have the list say what moved, and which hits are marked."""
    marked = screen.hit_panel.marked
    screen.results.signs = signs_of(screen.session.moves, marked.passage if marked else None, screen.session.marked)
    screen.results.redraw()


WHY_COMMANDS: tuple[Command[SearchView], ...] = (
    Command("search.why-not", "n", "Why not", "Show the rank of a file, a path:line or a symbol for this query",
            ask_why_not, bar=False, blocked=(_no_query, knobs_closed)),
    Command("search.compare", "x", "Compare", "Mark the result to compare it with others",
            with_target("hit", mark_for_comparison), bar=False, blocked=(no_hit, _separate, knobs_closed)),
)  # fmt: skip
