"""Search: ask as you type, see why each answer ranked where it did, and turn the knobs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.errors import CmError
from cm_tui.model import Candidates, Hit, Mode, PackRequest, Profile, SearchResult, Source
from cm_tui.tui.commands import Command, bindings
from cm_tui.tui.messages import AddToPack, OpenSymbol
from cm_tui.tui.screens.base import ModeScreen
from cm_tui.tui.screens.search_commands import SEARCH_COMMANDS
from cm_tui.tui.tuning import settings_of
from cm_tui.tui.widgets.preview import Preview
from cm_tui.tui.widgets.results import ResultList, lines_of
from cm_tui.tui.widgets.tune import TunePanel
from cm_tui.tui.widgets.why import WhyPanel

if TYPE_CHECKING:
    from cm_tui.engine.memory import Door

DEBOUNCE = 0.06
"""Seconds without a key before a query is sent."""
PAGE = 40
"""Hits that are asked for at first, and with each step of scrolling."""
PREVIEW_DELAY = 0.03
SEARCH_MODES: tuple[Mode, ...] = ("hybrid", "keyword", "vector")

EMPTY = (
    "Type a question or a name. Identifiers are split, so parse config finds parseConfig. "
    "Every answer says why it ranked where it did; t opens the knobs."
)


@dataclass(frozen=True)
class Asked:
    """What is answered on screen."""

    candidates: Candidates
    result: SearchResult


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
        self.asked: Asked | None = None
        self.profile: Profile | None = None
        """The numbers in use, with what was tuned."""
        self.profiles: dict[str, Profile] = {}
        self.search_mode: Mode = "hybrid"
        self.problem: CmError | None = None
        self._wanted = PAGE
        self._last_query = ""
        self._started = False

    def compose_body(self) -> Iterable[Widget]:
        """The query above, results beside preview, explanation and knobs."""
        with Vertical(id="search"):
            with Horizontal(id="query-row"):
                yield Static(Content("❯"), id="prompt")
                yield Input(placeholder="Ask the code…", id="query")
                yield Static("", id="facts", markup=False)
            yield Static("", id="notes", markup=False)
            with Horizontal(id="panels"):
                with Vertical(classes="panel", id="results-panel"):
                    yield ResultList(id="results")
                with Vertical(id="side"):
                    with Vertical(classes="panel", id="preview-panel"):
                        yield Preview(id="preview")
                    with Vertical(classes="panel", id="tune-panel"):
                        yield TunePanel(id="tune")
                    with Vertical(classes="panel", id="why-panel"):
                        yield WhyPanel(id="why")

    # --- the beginning, and what is remembered ---

    def on_mount(self) -> None:
        """Find the last query again, and read the profiles."""
        self.results.border_title = ""
        for panel, title in (("results", "Results"), ("preview", "Preview"), ("why", "Why"), ("tune", "Tuning")):
            self.query_one(f"#{panel}-panel").border_title = title
        kept = self.cm.state.of(self.MODE)
        if kept.get("search_mode") in SEARCH_MODES:
            self.search_mode = kept["search_mode"]
        side = kept.get("side")
        self._set_side(side if side in {"preview", "why"} else "preview")
        self.set_class(kept.get("tuning") is True, "-tuning")
        share = kept.get("list_share")
        self._set_share(share if isinstance(share, int) else 46)
        query = kept.get("query")
        with self.prevent(Input.Changed):
            self.query_input.value = query if isinstance(query, str) else ""
        self.ask("profiles", lambda door: dict(door.profiles()), self._got_profiles)
        self.query_input.focus()
        super().on_mount()

    def keep(self) -> None:
        """The query, the mode, the profile and the panels."""
        self.cm.state.of(self.MODE).update(
            query=self.query_input.value[:2000],
            search_mode=self.search_mode,
            profile=self.profile.name if self.profile else None,
            side=self._side,
            tuning=self.has_class("-tuning"),
            list_share=self._share,
        )

    def _got_profiles(self, profiles: dict[str, Profile]) -> None:
        self.profiles = profiles
        wanted = self.profile.name if self.profile else self.cm.state.of(self.MODE).get("profile")
        name = wanted if wanted in profiles else self.cm.config.search.profile
        self.profile = profiles.get(name) or next(iter(profiles.values()))
        self._show_tuning()
        self.search()

    def project_changed(self) -> None:
        """Search as soon as there is something to search, and again when a run has ended."""
        ready = self.cm.project.searchable
        running = self.cm.project.progress is not None
        if (ready and not self._started) or (self._was_running and not running):
            self._started = ready
            self.search()
        elif not self.asked:
            self._show()
        self._was_running = running

    _was_running = False

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
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.results.current

    # --- asking ---

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.search(delay=DEBOUNCE)

    def search(self, *, delay: float = 0.0) -> None:
        """Ask for what is typed; what is on screen stays until the answer is there."""
        query = self.query_input.value.strip()
        self._wanted = PAGE
        if not query:
            self.cm.gateway.drop("search.search")
            self.asked, self.problem = None, None
            self._show()
            return
        if self.profile is None or not self.cm.project.searchable:
            self._show()
            return
        profile, mode, wanted = self.profile, self.search_mode, self._wanted

        def call(door: Door) -> Asked:
            candidates = door.retrieve(query, profile=profile, mode=mode)
            return Asked(candidates, door.rank(candidates, profile, limit=wanted))

        self.cm.gateway.drop("search.rank")
        self.ask("search", call, self._got, self._failed, delay=delay)

    def _rank(self) -> None:
        """Rank what was retrieved once more: other numbers, or more hits."""
        if self.asked is None or self.profile is None:
            return
        candidates, profile, wanted = self.asked.candidates, self.profile, self._wanted
        self.ask(
            "rank",
            lambda door: Asked(candidates, door.rank(candidates, profile, limit=wanted)),
            partial(self._got, keep=True),
            self._failed,
        )

    def _got(self, asked: Asked, *, keep: bool = False) -> None:
        keep = keep or asked.candidates.query == self._last_query
        self._last_query = asked.candidates.query
        self.asked, self.problem = asked, None
        self._show(keep=keep)

    def _failed(self, error: CmError) -> None:
        self.asked, self.problem = None, error
        self._show()

    @on(ResultList.MoreWanted)
    def _more(self, event: ResultList.MoreWanted) -> None:
        event.stop()
        result = self.asked.result if self.asked else None
        if result and len(result.hits) < result.total and self._wanted <= len(result.hits):
            self._wanted = len(result.hits) + PAGE
            self._rank()

    # --- showing ---

    def _show(self, *, keep: bool = False) -> None:
        result = self.asked.result if self.asked else None
        hits = result.hits if result else ()
        limit = self.profile.limit if self.profile else PAGE
        self.results.show(hits, limit=limit, keep=keep, empty=self._empty_text())
        panel = self.query_one("#results-panel")
        panel.border_title = Content("Results")
        panel.border_subtitle = Content(f"{len(hits):,} of {result.total:,} candidates" if result and hits else "")
        if not hits:
            self._show_hit(None)
        self._show_facts()
        notes = "\n".join(f"▲ {note}" for note in (result.notes if result else ()))
        self.query_one("#notes", Static).update(notes)
        self.query_one("#notes").display = bool(notes)
        self.refresh_keys()

    def _empty_text(self) -> str:
        if self.problem:
            return f"✖ {self.problem.message} {self.problem.hint}"
        query = self.query_input.value.strip()
        if reason := self.cm.project.why_not_searchable:
            return reason
        if self.asked:
            return f"Nothing matches. {'Try another mode (m).' if self.search_mode != 'hybrid' else ''}"
        return "Searching…" if query else EMPTY

    def _show_facts(self) -> None:
        used = self.asked.result.mode if self.asked else self.search_mode
        name = self.profile.name if self.profile else "…"
        changed = self.query_one(TunePanel).changed_settings
        pieces = [(used, "$success" if used == self.search_mode else "$warning"), (" · ", "$foreground 30%")]
        pieces.append((f"{name}{' *' if changed else ''}", "$accent" if changed else "$foreground 70%"))
        if self.asked:
            pieces.extend([(" · ", "$foreground 30%"), (f"{self.asked.result.took_ms:.0f} ms", "$foreground 70%")])
        self.query_one("#facts", Static).update(Content.assemble(*pieces))

    @on(ResultList.Highlighted, "#results")
    def _highlighted(self, event: ResultList.Highlighted) -> None:
        event.stop()
        self.query_one(WhyPanel).show(self.hit)
        self._title_why()
        self._show_hit(self.hit)
        self.refresh_keys()

    def _title_why(self) -> None:
        panel, hit = self.query_one("#why-panel"), self.hit
        panel.border_title = Content(f"Why #{hit.rank}" if hit else "Why")
        panel.border_subtitle = Content(f"{hit.score:.4f}" if hit else "")

    def _show_hit(self, hit: Hit | None) -> None:
        view = self.query_one(Preview)
        panel = self.query_one("#preview-panel")
        if hit is None:
            self.cm.gateway.drop("search.preview")
            view.show_message("" if self.problem else "The source of a result is shown here.")
            self.query_one(WhyPanel).show(None, "Every part of a result's score is listed here.")
            panel.border_title, panel.border_subtitle = Content("Preview"), Content("")
            self._title_why()
            return
        self.ask(
            "preview",
            lambda door: door.source(hit.path),
            partial(self._got_source, hit),
            lambda error: view.show_message(f"✖ {error.message}"),
            delay=PREVIEW_DELAY,
        )

    def _got_source(self, hit: Hit, source: Source) -> None:
        from cm_tui.tui.highlight import highlighted_lines, plain_lines

        view = self.query_one(Preview)
        panel = self.query_one("#preview-panel")
        panel.border_title = Content(hit.path)
        panel.border_subtitle = Content("changed since it was indexed" if source.stale else hit.language)
        height = hit.snippet.rstrip("\n").count("\n") + 1
        last = min(hit.end_line, hit.snippet_line + height - 1)
        terms = [part.name.removeprefix("keyword: ") for part in hit.parts if part.name.startswith("keyword: ")]
        show: Any = partial(
            view.show,
            first=source.start_line,
            marked=range(hit.start_line, hit.end_line + 1),
            matches=range(hit.snippet_line, last + 1)
            if hit.snippet_line > hit.start_line or last < hit.end_line
            else range(0),
            words=terms,
        )
        show(plain_lines(source.text))
        self.cm.gateway.work(
            lambda: highlighted_lines(source.text, source.language, source.path),
            lambda lines: show(lines, scroll=False),
            topic="search.preview",
        )

    # --- commands ---

    def focus_query(self) -> None:
        """Type another query."""
        self.query_input.focus()
        self.query_input.select_all()

    def leave_query(self) -> None:
        """From the input or a panel back to the results."""
        if self.query_one(TunePanel).has_focus:
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
            why = f"hit {hit.rank} for: {self._last_query}"
            title = hit.symbol or hit.path
            self.post_message(AddToPack(PackRequest(hit.path, hit.start_line, hit.end_line, title, why)))
            self.results.cursor += 1

    def copy_place(self) -> None:
        """Copy where the hit is."""
        from cm_tui.tui.clipboard import copy

        if hit := self.hit:
            place = f"{hit.path}:{lines_of(hit)}"
            driver = self.app._driver  # noqa: SLF001 - the way Textual itself reaches the terminal
            copied = copy(place, driver.write if driver else None)
            self.cm.tell(f"{place}\n{copied.message}", timeout=3)

    def edit_hit(self) -> None:
        """Open the hit in the editor."""
        if hit := self.hit:
            self.cm.edit(hit.path, hit.snippet_line or hit.start_line)

    def next_mode(self) -> None:
        """Hybrid, keyword, vector."""
        place = SEARCH_MODES.index(self.search_mode)
        self.search_mode = SEARCH_MODES[(place + 1) % len(SEARCH_MODES)]
        self.cm.tell(f"Search mode: {self.search_mode}", timeout=1.5)
        self.search()
        self._show_facts()

    def next_profile(self) -> None:
        """The next ranking recipe."""
        names = list(self.profiles)
        if self.profile and names:
            name = names[(names.index(self.profile.name) + 1) % len(names)] if self.profile.name in names else names[0]
            self.profile = self.profiles[name]
            self._show_tuning()
            self.cm.tell(f"{name}: {self.profile.description}", timeout=3)
            self.search()
            self._show_facts()

    def toggle_tuning(self) -> None:
        """Show or hide the knobs."""
        self.toggle_class("-tuning")
        self._set_side("why")
        panel = self.query_one(TunePanel)
        if self.has_class("-tuning"):
            panel.focus()
        elif panel.has_focus or self.focused is None:
            self.results.focus()
        self.refresh_keys()

    def switch_side(self) -> None:
        """Preview or explanation, where there is room for one."""
        self._set_side("why" if self._side == "preview" else "preview")

    def wider(self) -> None:
        """More room for the list."""
        self._set_share(self._share + 4)

    def narrower(self) -> None:
        """Less room for the list."""
        self._set_share(self._share - 4)

    def reset_tuning(self) -> None:
        """Back to the saved numbers."""
        self.query_one(TunePanel).reset()

    def save_tuning(self) -> None:
        """Save the numbers to the project."""
        profile = self.profile
        assert profile is not None

        def saved(file: Any) -> None:
            self.profiles[profile.name] = profile
            self._show_tuning()
            self.cm.tell(f"Saved to {file}")

        self.ask("save", lambda door: door.save_profile(profile), saved)

    # --- tuning ---

    def _show_tuning(self) -> None:
        if self.profile is None:
            return
        saved = self.profiles[self.profile.name]
        self.query_one(TunePanel).show(settings_of(saved, self.profiles), self.profile, saved)
        self._title_tuning()

    def _title_tuning(self) -> None:
        panel = self.query_one("#tune-panel")
        changed = self.query_one(TunePanel).changed_settings
        panel.border_title = Content(f"Tuning {self.profile.name if self.profile else ''}")
        panel.border_subtitle = Content(f"{changed} changed · s saves · r resets" if changed else "←/→ turn · ⌫ back")

    @on(TunePanel.Changed)
    def _tuned(self, event: TunePanel.Changed) -> None:
        event.stop()
        self.profile = event.profile
        self._title_tuning()
        self._show_facts()
        self.refresh_keys()
        if event.setting is None or event.setting.retrieves:
            self.search()
        else:
            self._rank()

    # --- room ---

    _side = "preview"
    _share = 46

    def _set_side(self, side: str) -> None:
        self._side = side
        self.set_class(side == "preview", "-side-preview")
        self.set_class(side == "why", "-side-why")

    def _set_share(self, share: int) -> None:
        self._share = max(26, min(74, share))
        self._lay_out()

    def on_resize(self) -> None:
        """The list's width depends on how wide the terminal is."""
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        self.query_one("#results-panel").styles.width = "100%" if self.has_class("-narrow") else f"{self._share}%"
