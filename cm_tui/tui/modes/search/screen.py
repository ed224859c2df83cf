"""Search: ask as you type, see why each answer ranked where it did, and turn the knobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.model import Hit, PackRequest, Profile
from cm_tui.tui.modes.search.commands import SEARCH_COMMANDS
from cm_tui.tui.modes.search.hit_panel import HitPanel
from cm_tui.tui.modes.search.profile_panel import ProfilePanel
from cm_tui.tui.modes.search.results import ResultList, lines_of
from cm_tui.tui.modes.search.session import PAGE, SEARCH_MODES, SearchSession
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.screens.messages import AddToPack, OpenSymbol
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.split import Split

DEBOUNCE = 0.06
"""Seconds without a key before a query is sent."""

EMPTY = (
    "Type a question or a name. Identifiers are split, so parse config finds parseConfig. "
    "Every answer says why it ranked where it did; t opens the knobs."
)


class SearchScreen(ModeScreen):
    """Input, results, preview, explanation, tuning."""

    MODE = "search"
    INTRO: ClassVar[str] = (
        "Results come as you type. The bar of a row is its score, stacked by where it comes from; the thin end is what "
        "penalties took away. The panel Why lists every part, and they add up to the score. Tuning ranks again at "
        "once, from what was retrieved, and can be saved to the project."
    )
    COMMANDS_HERE: ClassVar[tuple[Command, ...]] = SEARCH_COMMANDS
    BINDINGS = bindings(SEARCH_COMMANDS)

    def __init__(self) -> None:
        super().__init__()
        self.session = SearchSession(self.ask, self.drop_question, self._show)
        self._shown = "preview"
        self._news = -1
        """What was known of the index when the query was asked last; -1: it could not be asked yet."""
        self._config_news = 0

    def compose_body(self) -> Iterable[Widget]:
        """The query above, results beside preview, explanation and knobs."""
        with Vertical(id="search"):
            with Horizontal(id="query-row"):
                yield Static(Content("❯"), id="prompt")
                yield Input(placeholder="Ask the code…", id="query")
                yield Static("", id="facts", markup=False)
            yield Static("", id="notes", markup=False)
            with Split(id="panels"):
                with Vertical(classes="panel", id="results-panel"):
                    yield ResultList(id="results")
                yield HitPanel(self.ask, self.drop_question, id="side")

    # --- the beginning, and what is remembered ---

    def on_mount(self) -> None:
        """Find the last query again, and read the profiles."""
        self.query_one("#results-panel").border_title = "Results"
        kept = self.cm.state.of(self.MODE)
        if kept.get("search_mode") in SEARCH_MODES:
            self.session.mode = kept["search_mode"]
        self._set_side("why" if kept.get("side") == "why" else "preview")
        self.set_class(kept.get("tuning") is True, "-tuning")
        query = kept.get("query")
        with self.prevent(Input.Changed):
            self.query_input.value = query if isinstance(query, str) else ""
        self.ask("profiles", lambda engine: dict(engine.profiles()), self._got_profiles)
        self.query_input.focus()
        super().on_mount()

    def keep(self) -> None:
        """The query, the mode, the profile with what was tuned, and the panels."""
        super().keep()
        state = self.cm.state.of(self.MODE)
        state.update(
            query=self.query_input.value[:2000],
            search_mode=self.session.mode,
            side=self._shown,
            tuning=self.has_class("-tuning"),
        )
        if self.session.profile:  # until the profiles are known, what was remembered of them stands
            state.update(profile=self.session.profile.name, tuned=self.session.tuned)

    def _got_profiles(self, profiles: dict[str, Profile]) -> None:
        kept = self.cm.state.of(self.MODE)
        self.session.take_profiles(profiles, kept.get("profile"), self.cm.config.search.profile, kept.get("tuned"))
        self.side.show_knobs(self.session)
        self.refresh_results()

    def project_changed(self) -> None:
        """Search as soon as there is something to search, and again when the index has news, through whatever engine."""
        view = self.cm.project
        if view.searchable and self._news != view.index_news:
            self._news = view.index_news
            self.refresh_results()
        elif not self.session.asked:
            self._show()
        if self.taken_up and self._config_news != view.config_news:
            self._config_news = view.config_news
            self.keep()
            self.ask("profiles", lambda engine: dict(engine.profiles()), self._got_profiles)

    # --- parts of the screen ---

    @property
    def query_input(self) -> Input:
        """Where the query is typed."""
        return self.query_one("#query", Input)

    @property
    def results(self) -> ResultList:
        """The result list."""
        return self.query_one(ResultList)

    @property
    def side(self) -> HitPanel:
        """Everything about the hit, and the knobs."""
        return self.query_one(HitPanel)

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.results.current

    # --- asking ---

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.search(delay=DEBOUNCE)
        self.remember()

    def search(self, *, delay: float = 0.0) -> None:
        """Ask for what is typed; what is on screen stays until the answer is there."""
        query = self.query_input.value.strip()
        if not query or self.cm.project.searchable:
            self.session.search(query, delay=delay)
        if query and self.session.asked is None:
            self._show()

    def refresh_results(self) -> None:
        """Ask again for what is shown; what is typed meanwhile is asked by itself."""
        if self.session.asked and self.session.query == self.query_input.value.strip():
            self.session.refresh()
        else:
            self.search()

    @on(ResultList.MoreRequested)
    def _more(self, event: ResultList.MoreRequested) -> None:
        event.stop()
        self.session.more()

    # --- showing ---

    def _show(self, keep: bool = False) -> None:
        result, hits, profile = self.session.result, self.session.hits, self.session.profile
        self.results.show(hits, limit=profile.limit if profile else PAGE, keep=keep, empty=self._empty_text())
        panel = self.query_one("#results-panel")
        panel.border_subtitle = Content(f"{len(hits):,} of {result.total:,} candidates" if result and hits else "")
        if not hits:
            self.side.clear(*([""] if self.session.problem else []))
        self._show_facts()
        words = [
            *(result.notes if result else ()),
            *([str(self.session.problem.message)] if self.session.problem and hits else []),
        ]
        notes = "\n".join(f"▲ {note}" for note in words)
        self.query_one("#notes", Static).update(notes)
        self.query_one("#notes").display = bool(notes)
        self.refresh_keys()

    def _empty_text(self) -> str:
        if problem := self.session.problem:
            return f"✖ {problem.message} {problem.hint}"
        if reason := self.cm.project.why_not_searchable:
            return reason
        if self.session.asked:
            return f"Nothing matches. {'Try another mode (m).' if self.session.mode != 'hybrid' else ''}"
        return "Searching…" if self.query_input.value.strip() else EMPTY

    def _show_facts(self) -> None:
        session = self.session
        used = session.result.mode if session.result else session.mode
        name = session.profile.name if session.profile else "…"
        changed = bool(session.tuned)
        pieces = [
            Content.styled(used, "$success" if used == session.mode else "$warning"),
            Content.styled(f"{name}{' *' if changed else ''}", "$accent" if changed else "$soft"),
        ]
        if session.result:
            pieces.append(Content.styled(f"{session.result.took_ms:.0f} ms", "$soft"))
        self.query_one("#facts", Static).update(Content.styled(" · ", "$faint").join(pieces))

    @on(ResultList.Highlighted, "#results")
    def _highlighted(self, event: ResultList.Highlighted) -> None:
        event.stop()
        if self.hit:
            self.side.show(self.hit)
        self.refresh_keys()

    # --- commands ---

    def focus_query(self) -> None:
        """Type another query."""
        self.query_input.focus()
        self.query_input.select_all()

    def leave_query(self) -> None:
        """From the input or a panel back to the results."""
        if self.side.knobs.has_focus:
            self.toggle_tuning()
        self.results.focus()

    @on(Input.Submitted, "#query")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.search()
        self.results.focus()

    @on(ResultList.Chosen, "#results")
    def _chosen(self, event: ResultList.Chosen) -> None:
        event.stop()
        self.open_hit()

    def open_hit(self) -> None:
        """Show the symbol of the hit, with who calls it."""
        if hit := self.hit:
            self.post_message(OpenSymbol(path=hit.path, line=hit.start_line))

    def add_hit(self) -> None:
        """Put the hit into the pack and go to the next."""
        if hit := self.hit:
            why = f"hit {hit.rank} for: {self.session.query}"
            title = hit.symbol or hit.path
            self.post_message(AddToPack(PackRequest(hit.path, hit.start_line, hit.end_line, title, why)))
            self.results.cursor += 1

    def copy_place(self) -> None:
        """Copy where the hit is."""
        if hit := self.hit:
            place = f"{hit.path}:{lines_of(hit)}"
            copy_and_tell(self, place, place)

    def edit_hit(self) -> None:
        """Open the hit in the editor."""
        if hit := self.hit:
            self.cm.edit(hit.path, hit.snippet_line or hit.start_line)

    def next_mode(self) -> None:
        """Hybrid, keyword, vector."""
        self.session.next_mode()
        self.cm.tell(f"Search mode: {self.session.mode}", timeout=1.5)
        self.search()
        self._show_facts()

    def next_profile(self) -> None:
        """The next ranking profile."""
        self.session.next_profile()
        if profile := self.session.profile:
            self.side.show_knobs(self.session)
            self.cm.tell(f"{profile.name}: {profile.description}", timeout=3)
            self.search()
            self._show_facts()

    def toggle_tuning(self) -> None:
        """Show or hide the knobs."""
        self.toggle_class("-tuning")
        self._set_side("why")
        panel = self.side.knobs
        if self.has_class("-tuning"):
            panel.focus()
        elif panel.has_focus or self.focused is None:
            self.results.focus()
        self.refresh_keys()

    def switch_side(self) -> None:
        """Preview or explanation, where there is room for one."""
        self._set_side("why" if self._shown == "preview" else "preview")

    def reset_tuning(self) -> None:
        """Back to the saved numbers."""
        self.side.knobs.reset()

    def save_tuning(self) -> None:
        """Save the numbers to the project."""
        profile = self.session.profile
        assert profile is not None

        def saved(file: Any) -> None:
            self.session.profiles[profile.name] = profile
            self.side.show_knobs(self.session)
            self._show_facts()
            self.refresh_keys()
            self.cm.tell(f"Saved to {file}")

        self.ask("save", lambda engine: engine.save_profile(profile), saved)

    # --- tuning ---

    @on(ProfilePanel.Changed)
    def _tuned(self, event: ProfilePanel.Changed) -> None:
        event.stop()
        self.session.profile = event.profile
        self.side.title_knobs(self.session)
        self._show_facts()
        self.refresh_keys()
        self.remember()
        if event.setting is None or event.setting.retrieves:
            self.search()
        else:
            self.session.rank()

    # --- room ---

    def _set_side(self, side: str) -> None:
        self._shown = side
        self.set_class(side == "preview", "-side-preview")
        self.set_class(side == "why", "-side-why")
