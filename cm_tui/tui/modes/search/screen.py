"""Search: ask as you type, see why each answer ranked where it did, and turn the knobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual import events, on
from textual.widgets import Input

from cm_tui.engine.api.authors import Author
from cm_tui.model import Hit, PackRequest, SymbolKey
from cm_tui.model.dates import local_day
from cm_tui.model.profile import ProfileReset
from cm_tui.tui.modes.search import mark_commands as marking
from cm_tui.tui.modes.search.profile_panel import ProfilePanel
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.rows import lines_of
from cm_tui.tui.modes.search.view import SearchView
from cm_tui.tui.screens.app_commands import not_open
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.episode_commands import open_memory
from cm_tui.tui.screens.everywhere import ask_everywhere
from cm_tui.tui.screens.memory_hit import is_memory
from cm_tui.tui.screens.messages import AddToPack, OpenSymbol
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.state.authors import title_of, who
from cm_tui.tui.widgets.text import elide_end

_TITLE = 60
"""Characters of what was asked, or of what an entry is called, that a pack repeats."""


def memory_title(hit: Hit, author: Author | None) -> str:
    """Return what was asked or what the entry is called, who wrote it, and on which day: the title of a piece."""
    title = title_of(author)
    pieces = [
        f"“{elide_end(title, _TITLE)}”" if title else "",
        who(author),
        local_day(hit.time) if hit.time is not None else "",
    ]
    return ", ".join(piece for piece in pieces if piece) or hit.source


Reason = Callable[[SearchView], str | None]
_no_memory = marking.unless_found(
    lambda screen: (result := screen.session.result) and result.beside, "no matching memories"
)
_nothing_tuned: Reason = unless(lambda screen: screen.session.tuned, "nothing was changed")
_no_suggestion: Reason = unless(
    lambda screen: (result := screen.session.result) and result.suggestions, "every name in the query is known"
)
_all_factory: Reason = unless(
    lambda screen: screen.session.profile != screen.session.factory, "all numbers are defaults"
)


_both_shown: Reason = unless(
    lambda screen: screen.has_class("-narrow") or (screen.has_class("-tuning") and screen.has_class("-normal")),
    "both are on screen",
)


def focus_query(screen: SearchView) -> None:
    """Type another query."""
    screen.query_input.focus()
    screen.query_input.select_all()


def leave_query(screen: SearchView) -> None:
    """Go from the input or a panel back to the results."""
    if screen.hit_panel.profile_panel.has_focus:
        toggle_tuning(screen)
    elif not screen.query_input.has_focus and marking.close(screen):
        return
    screen.results.focus()


# --- the hit ---


def open_hit(screen: SearchView, hit: Hit) -> None:
    """Show the symbol of a hit, with who calls it; of what is remembered its session, or the entry whole."""
    if is_memory(hit):
        open_memory(screen, hit.path)
    else:
        # A passage begins with the comments above its symbol.
        key = SymbolKey(hit.path, hit.symbol, hit.kind or "") if hit.symbol else None
        screen.post_message(OpenSymbol(key, hit.path, hit.start_line))


def add_hit(screen: SearchView, hit: Hit) -> None:
    """Put a hit into the pack and go to the next."""
    if answer := screen.session.answer:
        # What is typed by now may be another question, whose answer is on its way.
        why = f"{'remembered: ' if is_memory(hit) else ''}hit {hit.rank} for: {answer.candidates.query}"
        title = memory_title(hit, screen.authors.known.get(hit.path)) if is_memory(hit) else hit.symbol or hit.path
        screen.post_message(AddToPack(PackRequest(hit.path, hit.start_line, hit.end_line, title, why)))
        screen.results.cursor += 1


def copy_place(screen: SearchView, hit: Hit) -> None:
    """Copy where a hit is."""
    # The name by which other commands know it.
    place = hit.path.partition("/")[2] if is_memory(hit) else f"{hit.path}:{lines_of(hit)}"
    copy_and_report(screen, place, place)


def edit_hit(screen: SearchView, hit: Hit) -> None:
    """Open a hit in the editor."""
    screen.cm.edit(hit.path, hit.snippet_line or hit.start_line)


def to_memory(screen: SearchView) -> None:
    """Go to what is remembered, and from there back."""
    screen.results.to_memory()
    screen.results.focus()


# --- the query ---


def take_suggestion(screen: SearchView) -> None:
    """Put the likeliest of the suggested names into the query."""
    result = screen.session.result
    if result and result.suggestions:
        screen.query_input.value = result.suggestions[0].query
        screen.query_input.cursor_position = len(screen.query_input.value)


# --- how it is ranked ---


def next_mode(screen: SearchView) -> None:
    """Search by hybrid, keyword, vector in turn."""
    screen.session.next_mode()
    screen.cm.tell(f"Search mode: {screen.session.mode}", timeout=1.5)
    screen.search()
    screen.show_facts()


def next_profile(screen: SearchView) -> None:
    """Rank by the next profile."""
    screen.session.next_profile()
    if profile := screen.session.profile:
        screen.cm.tell(f"{profile.name}: {profile.description}", timeout=3)
        screen.show_profile()


def toggle_tuning(screen: SearchView) -> None:
    """Show or hide the numbers of the profile."""
    screen.toggle_class("-tuning")
    screen.set_side("why")
    panel = screen.hit_panel.profile_panel
    if screen.has_class("-tuning"):
        panel.focus()
    elif panel.has_focus or screen.focused is None:
        screen.results.focus()
    screen.refresh_keys()


def _take_factory(screen: SearchView, *, whole: bool) -> None:
    panel, factory = screen.hit_panel.profile_panel, screen.session.factory
    assert factory is not None
    before = panel.profile
    panel.take_factory(factory, whole=whole)
    if panel.profile == before:
        screen.cm.tell("That number is the default.", timeout=3)
    elif panel.profile == screen.session.saved:
        screen.cm.tell("Default, as saved.", timeout=3)
    else:
        screen.cm.tell("Default; s saves it.", timeout=3)


def save_tuning(screen: SearchView) -> None:
    """Save the numbers to the project."""
    profile, before = screen.session.profile, screen.session.saved
    assert profile is not None
    assert before is not None

    def saved(file: Path | ProfileReset, _: object) -> None:
        screen.session.profiles[profile.name] = profile
        screen.hit_panel.show_profile(screen.session)
        screen.show_facts()
        screen.refresh_keys()
        screen.cm.tell(f"Saved to {file}")
        # An answer that is still on its way may be older than the file.
        screen.read_profiles()

    marking.write_profile(screen, f"saved the profile {profile.name}", before, profile, saved)


SEARCH_COMMANDS: tuple[Command[SearchView], ...] = (
    Command("search.focus", "slash,ctrl+f", "Query", "Type another query", focus_query),
    Command("search.results", "escape,down", "Results", "From the input to the results", leave_query, bar=False),
    Command("search.suggested", "ctrl+b,c", "Correct", "Use the suggested name in the query", take_suggestion,
            bar="possible", blocked=_no_suggestion),
    Command("search.open", "o", "Open",
            "Show the symbol and its callers; for a memory its session or entry", with_target("hit", open_hit),
            shown_as="⏎", blocked=marking.no_hit),
    Command("search.add", "a,space", "Pack", "Add the result to the pack", with_target("hit", add_hit), blocked=marking.no_hit),
    Command("search.tune", "t,ctrl+n", "Tune", "Show or hide the numbers of the profile", toggle_tuning),
    Command("search.side", "v,ctrl+y", "Why", "Switch between preview and why",
            lambda screen: screen.set_side("why" if screen.shown_side == "preview" else "preview"),
            blocked=(marking.knobs_closed, _both_shown)),
    Command("search.mode", "m,ctrl+o", "Mode", "Hybrid, keyword or vector", next_mode),
    Command("search.profile", "p,ctrl+l", "Profile", "The next ranking profile", next_profile),
    Command("search.by", "w", "Files", "Passages, or files with their best passages",
            lambda screen: screen.session.next_by(screen.results.current_hit)),
    Command("search.copy", "y", "Copy", "Copy path and lines; for a memory its id", with_target("hit", copy_place),
            blocked=marking.no_hit),
    Command("search.edit", "e", "Edit", "Open in $EDITOR at the line", with_target("hit", edit_hit),
            blocked=(marking.no_file, marking.no_hit)),
    Command("search.memory", "b", "Memory", "Go to the matching memories, and back to the first result", to_memory,
            bar=False, blocked=_no_memory),
    Command("search.everywhere", "S", "Everywhere", "Search the memories of all projects on this machine, read-only; S returns",
            lambda screen: ask_everywhere(screen, screen.query_input.query_text), bar=False, blocked=not_open),
    Command("search.reset", "r", "Reset", "Back to the saved numbers",
            lambda screen: screen.hit_panel.profile_panel.reset(), bar=False, blocked=_nothing_tuned),
    Command("search.save", "s", "Save", "Save the numbers to the project", save_tuning, bar=False,
            blocked=(marking.no_knobs, _nothing_tuned)),
    Command("search.factory", "f", "Factory", "Reset the number under the cursor to cm's default; s saves it",
            partial(_take_factory, whole=False), bar=False, blocked=(*marking.FACTORY, _all_factory)),
    Command("search.factory-all", "F", "Factory profile", "Reset every number of the profile to cm's defaults",
            partial(_take_factory, whole=True), bar=False, blocked=(*marking.FACTORY, _all_factory)),
    *marking.WHY_COMMANDS,
    *marking.MARK_COMMANDS,
)  # fmt: skip


DEBOUNCE = 0.06
"""Seconds without a key before a query is sent."""


class SearchScreen(SearchView, commands=SEARCH_COMMANDS):
    """Ask the code."""

    INTRO = (
        "Results come as you type. The bar of a row is its score, stacked by where it comes from; the thin end is what "
        "penalties took away. The Why panel lists every part; they add up to the score. Tuning ranks again at "
        "once, from what was retrieved, and can be saved to the project."
    )
    TAB_TO_INPUTS = True

    _submitted_query = ""
    """Query submitted with Enter whose response is not on screen yet."""

    def _show(self, keep: bool = False) -> None:
        marking.after_answer(self)
        super()._show(keep)
        self.hit_panel.title_profile(self.session)
        answer = self.session.answer
        if self._submitted_query and (
            self.session.problem or (answer and answer.candidates.query == self._submitted_query)
        ):
            self._submitted_query = ""
            if not self.results.rows and self.results.has_focus:
                # Letters typed next correct the query; an empty list would take them for commands.
                self.query_input.focus()

    def read_profiles(self) -> None:
        """Read the profiles as they are saved, and what is marked."""
        super().read_profiles()
        marking.read_marks(self)

    @on(Input.Changed, "#query")
    def _typed(self) -> None:
        self.search(delay=DEBOUNCE)
        self.show_facts()
        self.remember()

    @on(Input.Submitted, "#query")
    def _submitted(self) -> None:
        self.search()
        if query := self.query_input.query_text:
            self._submitted_query = query
            self.results.focus()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the query, also from the list."""
        if not self.query_input.has_focus:
            focus_query(self)
            self.query_input.post_message(event)

    @on(ResultList.Chosen, "#results")
    def _chosen(self) -> None:
        if self.hit is not None:
            open_hit(self, self.hit)

    @on(ResultList.MoreRequested)
    def _more(self) -> None:
        self.session.more()

    @on(ProfilePanel.Changed)
    def _tuned(self, event: ProfilePanel.Changed) -> None:
        self.session.profile = event.profile
        self.hit_panel.title_profile(self.session)
        self.show_facts()
        self.refresh_keys()
        self.remember()
        if event.setting is None or event.setting.retrieves:
            self.search()
        else:
            self.session.rank()
