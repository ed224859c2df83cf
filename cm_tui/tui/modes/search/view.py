"""What search shows: the query, its results, and everything about the hit under the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import get_args

from textual import events, getters, on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.counts import count
from cm_tui.model import CODE, By, Hit, Profile
from cm_tui.tui.modes.search.hit_panel import HitPanel
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.session import PAGE, SEARCH_MODES, SearchSession
from cm_tui.tui.screens.memory_hit import Authors, is_memory
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.split import Panel, Split, Words, end_waiting, show_waiting
from cm_tui.tui.widgets.text import elide_end, one_line

MOST = 20_000
"""Characters that are kept of what is pasted."""


class QueryInput(Input):
    """An input that takes pasted lines; Textual's own keeps the first one alone."""

    _shown = ""
    """The pasted lines as one line."""
    _pasted = ""
    """The same as they were."""
    _lines = 0
    _untyped = ""
    """The value as it was last restored or pasted; a paste replaces it unless the user has changed it."""

    @property
    def pasted_lines(self) -> int:
        """How many lines were pasted that are still there; 0 for one line, which looks as it was."""
        return self._lines if self._lines > 1 and self._shown in self.value else 0

    @property
    def is_cut(self) -> bool:
        """True while what is there of a paste is not all of it."""
        return bool(self.pasted_lines) and len(self._pasted) == MOST

    @property
    def query_text(self) -> str:
        """What is asked: what was typed, with the lines of a paste that is still there."""
        return (self.value.replace(self._shown, self._pasted, 1) if self.pasted_lines else self.value).strip()

    def show_query(self, text: str) -> None:
        """Show a question in place of what is there."""
        self.value = self._untyped = self._in_one_line(text)
        self.action_end()

    def _in_one_line(self, text: str) -> str:
        # Terminals send carriage returns for the ends of pasted lines.
        self._pasted = re.sub(r"\r(?!\n)", "\n", text)[:MOST]
        lines = [words for line in self._pasted.splitlines() if (words := " ".join(line.split()))]
        self._shown, self._lines = " ".join(lines), len(lines)
        return self._shown if self._lines > 1 else self._pasted

    def _on_paste(self, event: events.Paste) -> None:
        if len(event.text.splitlines()) < 2:
            return
        # Textual calls its own handler after this one, which keeps the first line.
        event.prevent_default()
        event.stop()
        where = (0, len(self.value)) if self.value == self._untyped else self.selection
        self.replace(self._in_one_line(event.text), *where)
        self._untyped = self.value

    def on_blur(self) -> None:
        """Show the beginning: a report begins with its title."""
        self.scroll_x = 0


DIM_AFTER = 0.2
"""Seconds after which what answers an older question is dimmed: what comes sooner would only flicker."""
_COVERAGE = "Vectors cover "
_MOST_FILTERS = 40
"""Cells of the filters below the results."""
EMPTY = (
    "Type a question or a name. Identifiers are split, so parse config finds parseConfig. "
    "Every result shows why it ranked where it did; Ctrl+N shows the numbers."
)


class SearchView(ModeScreen):
    """Input, results, preview, explanation, tuning."""

    def __init__(self) -> None:
        super().__init__()
        self.session = SearchSession(self.ask, self.drop_question, self._show)
        self.shown_side = "preview"
        """Which of the two panels is on screen where there is room for one."""
        self._news = -1
        """What was known of the index when the query was asked last; -1: it could not be asked yet."""
        self._config_news, self._edits = 0, ""
        self.authors = Authors(self.ask, self._named)
        """Who wrote what is remembered, by path, as far as that was asked."""

    def compose_body(self) -> Iterable[Widget]:
        """The query above, results beside preview, explanation and knobs."""
        with Vertical(id="search"):
            with Horizontal(id="query-row"):
                yield Words(Content("❯"), id="prompt")
                yield QueryInput(placeholder="Ask the code…", id="query", select_on_focus=False)
                yield Words(id="facts")
            yield Words(id="notes")
            with Split(id="panels"):
                yield Panel(ResultList(id="results"), id="results-panel")
                yield HitPanel(id="side")

    # --- the beginning, and what is remembered ---

    def on_mount(self) -> None:
        """Find the last query again, and read the profiles."""
        self.session.mode = self.kept("search_mode", self.session.mode, SEARCH_MODES)
        self.session.by = self.kept("by", self.session.by, get_args(By))
        self.set_side(self.kept("side", self.shown_side, ("preview", "why")))
        self.set_class(self.kept("tuning", False), "-tuning")
        with self.prevent(Input.Changed):
            self.query_input.show_query(self.kept("query", ""))
        self.results.authors = self.authors.known
        self.read_profiles()
        self.query_input.focus()

    def keep(self) -> None:
        """The query, the mode, the profile with what was tuned, and the panels."""
        super().keep()
        self.choices.update(
            query=self.query_input.query_text,
            search_mode=self.session.mode,
            by=self.session.by,
            side=self.shown_side,
            tuning=self.has_class("-tuning"),
        )
        if self.session.profile:  # until the profiles are known, what was remembered of them stands
            self.choices.update(profile=self.session.profile.name, tuned=self.session.tuned)

    def read_profiles(self) -> None:
        """Read the profiles as they are saved; numbers that were tuned here stay."""

        def call(engine: Engine) -> tuple[dict[str, Profile], dict[str, Profile]]:
            return dict(engine.profiles()), dict(engine.packaged_profiles())

        self.ask("profiles", call, self._got_profiles)

    def _got_profiles(self, answer: tuple[dict[str, Profile], dict[str, Profile]]) -> None:
        # What was tuned since the question left counts too.
        self.keep()
        profiles, self.session.packaged = answer
        self.session.take_profiles(
            profiles, self.choices.get("profile"), self.cm.config.search.profile, self.choices.get("tuned")
        )
        self.hit_panel.show_profile(self.session)
        self.refresh_results()

    def project_changed(self) -> None:
        """Search as soon as there is something to search, and again when the index has news, through whatever engine."""
        view = self.cm.project
        if view.searchable and self._news != view.index_news:
            self._news = view.index_news
            self.refresh_results()
        elif not self.session.answer or self._edits != view.edits:
            self._show(True)
        self._edits = view.edits
        if self.restored and self._config_news != view.config_news:
            self._config_news = view.config_news
            self.read_profiles()

    def show_undone(self) -> None:
        """Read profiles and marks as they are now."""
        self.read_profiles()

    # --- parts of the screen ---

    query_input = getters.query_one("#query", QueryInput)
    results = getters.query_one(ResultList)
    hit_panel = getters.query_one(HitPanel)

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.results.hit

    # --- asking ---

    def search(self, *, delay: float = 0.0) -> None:
        """Ask for what is typed; what is on screen stays until the answer is there."""
        query = self.query_input.query_text
        if not query or self.cm.project.searchable:
            self.session.search(query, delay=delay)
            self.set_timer(delay + DIM_AFTER, self._dim)
        if query and self.session.answer is None:
            self._show()

    def search_for(self, query: str, profile: str = "") -> None:
        """Ask a question that another mode leads to: by a profile, where it may still be typed; else of the code."""
        session = self.session
        self.query_input.show_query(query)
        (self.query_input if profile else self.results).focus()
        if not profile and session.profile and CODE not in (session.profile.sources or (CODE,)):
            profile = self.cm.config.search.profile
        if profile:
            self.choices["profile"] = profile  # where the profiles are still to be read
            session.profile = session.profiles.get(profile, session.profile)
            self.show_profile()

    def show_profile(self) -> None:
        """Rank by the profile that was chosen."""
        self.hit_panel.show_profile(self.session)
        self.search()
        self.show_facts()

    def refresh_results(self) -> None:
        """Ask again for what is shown; what is typed meanwhile is asked by itself."""
        if self.session.answer and self.session.query == self.query_input.query_text:
            self.session.refresh()
        else:
            self.search()

    def _dim(self) -> None:
        """Dim what answers an older question, where a newer one takes longer than a moment."""
        if self.session.waiting and self.session.answer:
            show_waiting(self.query_one("#results-panel"), "Searching…")

    # --- showing ---

    def _show(self, keep: bool = False) -> None:
        result, hits, files, profile = self.session.result, self.session.hits, self.session.files, self.session.profile
        memories = result.beside if result else ()
        limit = profile.limit if profile else PAGE
        # While a query is typed, the cursor is on the first result: it is no choice of the user's.
        keep = keep and not (self.query_input.has_focus and self.results.cursor == 0)
        self.results.show(
            hits, memories, files=files, limit=limit, keep=keep, empty=self._empty_text(),
            beside_first=result is not None and result.beside_first,
        )  # fmt: skip
        words = [f"{len(hits):,} of {count(result.total, 'candidate')}"] if result and hits else []
        if result and files:
            words.append(f"{len(files):,} of {count(result.total_files, 'file')}")
        if memories:
            words.append(f"{len(memories):,} remembered ({self.cm.keys_of(self.command('search.memory'))})")
        if result and result.filters:
            words.append(elide_end(one_line(" ".join(result.filters)), _MOST_FILTERS))
        notes = result.notes if result else ()
        # They come and go with every saved file: a line of their own would move the results each time.
        coverage = [note for note in notes if note.startswith(_COVERAGE)]
        words += [f"vectors for {note.removeprefix(_COVERAGE).rpartition(' ')[0]}" for note in coverage]
        end_waiting(self.query_one("#results-panel"))
        self.label("results-panel", "Files" if self.session.by == "file" else "Results", " · ".join(words))
        found = hits or files
        # Of a profile for memory, all results are remembered.
        listed = (*memories, *hits, *(file.hits[0] for file in files))
        self.authors.look_up(hit for hit in listed if is_memory(hit))
        if not found and not memories:
            self.hit_panel.clear(*([""] if self.session.problem else []))
        self.show_facts()
        edits = self.cm.project.edits
        words = [
            *[self._with_key(note, len(result.suggestions) if result else 0) for note in notes if note not in coverage],
            *([str(self.session.problem.message)] if self.session.problem and found else []),
            *([f"{edits}; {self.cm.keys_of(self.command('app.index'))} indexes them"] if edits else []),
        ]
        self.show_words("notes", "\n".join(f"▲ {note}" for note in words))
        self.refresh_keys()

    def _with_key(self, note: str, suggested: int) -> str:
        """A note; one that suggests names says which key takes the first of them."""
        if not suggested or not note.startswith("Did you mean "):
            return note
        return f"{note} {self.cm.keys_of(self.command('search.suggested'))} uses {'it' if suggested == 1 else 'the first'}."

    def _named(self) -> None:
        self.results.redraw()
        if self.hit is not None:
            self.hit_panel.title(self.hit, self.authors.known.get(self.hit.path))

    def _empty_text(self) -> str:
        if problem := self.session.problem:
            return f"✖ {problem.one_line}"
        if reason := self.cm.project.why_not_searchable:
            return reason
        if self.session.answer:
            profile, hint = self.session.profile, "" if self.session.mode == "hybrid" else "Try another mode (m)."
            if profile and CODE not in (profile.sources or (CODE,)):
                # It stays until another one is chosen, also after a restart.
                hint = f"The profile {profile.name} searches memory; p is the next one."
            return f"No results. {hint}"
        return "Searching…" if self.query_input.value.strip() else EMPTY

    def show_facts(self) -> None:
        """Show how many lines were pasted, mode, profile, and how long the answer took."""
        session = self.session
        used = session.result.mode if session.result else session.mode
        name = session.profile.name if session.profile else "…"
        changed = bool(session.tuned)
        pieces = [
            Content.styled(used, "$success" if used == session.mode else "$warning"),
            Content.styled(f"{name}{' *' if changed else ''}", "$accent" if changed else "$soft"),
        ]
        if pasted := self.query_input.pasted_lines:
            cut = ", cut" if self.query_input.is_cut else ""
            pieces.insert(0, Content.styled(f"{count(pasted, 'line')} pasted{cut}", "$accent"))
        if session.result:
            pieces.append(Content.styled(f"{session.result.took_ms:.0f} ms", "$soft"))
        self.query_one("#facts", Words).update(Content.styled(" · ", "$faint").join(pieces))

    @on(ResultList.Highlighted, "#results")
    def _highlighted(self) -> None:
        if self.hit:
            self.hit_panel.show(self.hit, self.authors.known.get(self.hit.path))
        self.refresh_keys()

    # --- room ---

    def set_side(self, side: str) -> None:
        """Show the preview, or why the hit ranks where it does."""
        self.shown_side = side
        self.set_class(side == "preview", "-side-preview")
        self.set_class(side == "why", "-side-why")
