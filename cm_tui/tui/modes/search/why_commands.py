"""The commands that ask why: where something named stands, and two hits side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.model import Standing
from cm_tui.tui.modes.search.row_signs import signs_of
from cm_tui.tui.modes.search.view import SearchView
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.memory_hit import is_memory
from cm_tui.tui.screens.question import Line, ask_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_TOPIC = "why-not"
_HINT = "A file, a file and a line as path:12, a folder, or a symbol."


def _knobs_open(screen: SearchView) -> str | None:
    narrow = screen.has_class("-narrow") and screen.has_class("-tuning")
    return "the knobs are open (t closes them)" if narrow else None


def _not_asked(screen: SearchView) -> str | None:
    return _knobs_open(screen) if screen.session.asked else "nothing is asked yet"


def _not_comparable(screen: SearchView) -> str | None:
    if screen.hit is None:
        return "there is no result"
    return "memories are ranked separately" if is_memory(screen.hit) else _knobs_open(screen)


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
    asked, profile, mode = session.asked, session.profile, session.mode
    if asked is None or profile is None:
        return
    query = asked.candidates.query

    def call(engine: Engine) -> Standing:
        return engine.why_not(query, name, profile=profile, mode=mode)

    def got(standing: Standing) -> None:
        screen.hit_panel.standing = standing
        screen.hit_panel.explain_again()

    screen.ask(_TOPIC, call, got)


def close(screen: SearchView) -> bool:
    """End what stands in the place of the hit's explanation. False: nothing does."""
    panel = screen.hit_panel
    if panel.standing is None and panel.marked is None:
        return False
    screen.drop_question(_TOPIC)
    panel.standing = panel.marked = None
    panel.explain_again()
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
        panel.explain_again()
    show_signs(screen)


# --- two hits ---


def mark_for_comparison(screen: SearchView) -> None:
    """Mark the hit under the cursor for comparison with others, or remove the mark."""
    hit, panel = screen.hit, screen.hit_panel
    assert hit is not None
    panel.standing = None
    is_same = panel.marked is not None and panel.marked.passage == hit.passage
    panel.marked = None if is_same else hit
    if panel.marked is not None:
        screen.set_side("why")
        screen.cm.tell("Marked: go to another result to see both.", timeout=3)
    panel.explain_again()
    show_signs(screen)


def show_signs(screen: SearchView) -> None:
    """Have the list say what moved, and which hits are marked."""
    marked = screen.hit_panel.marked
    screen.results.signs = signs_of(screen.session.moves, marked.passage if marked else None, screen.session.marked)
    screen.results.redraw()


WHY_COMMANDS: tuple[Command[SearchView], ...] = (
    Command("search.why-not", "n", "Why not", "The rank of a file, a path:line or a symbol for this query",
            ask_why_not, bar=False, blocked=_not_asked),
    Command("search.compare", "x", "Compare", "Mark the result, and see others beside it", mark_for_comparison,
            bar=False, blocked=_not_comparable),
)  # fmt: skip
