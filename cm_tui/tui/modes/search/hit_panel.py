"""The side of the search mode: source of the hit under the cursor, why it ranked where it did, and the knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from cm_tui.model import Hit, Source
from cm_tui.tui.modes.search.profile_panel import ProfilePanel
from cm_tui.tui.modes.search.score_explanation import ScoreExplanation
from cm_tui.tui.modes.search.session import SearchSession
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.widgets.path_panel import PathPanel
from cm_tui.tui.widgets.sourcelist import SourceList, code_lines, matching

PREVIEW_DELAY = 0.03
NO_HIT = "The source of a result is shown here."


class HitPanel(Vertical):
    """Three panels; which of them are on screen says the style sheet.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        tasks: colours source.
    """

    def __init__(
        self,
        ask: Ask,
        drop: Callable[[str], None],
        tasks: EngineTasks,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._ask = ask
        self._drop = drop
        self._tasks = tasks
        self._shown: object = None

    def compose(self) -> Iterable[Widget]:
        """Preview, knobs, explanation."""
        with PathPanel(classes="panel", id="preview-panel"):
            yield SourceList(id="preview", empty=NO_HIT)
        with Vertical(classes="panel", id="tune-panel"):
            yield ProfilePanel(id="tune")
        with Vertical(classes="panel", id="why-panel"):
            yield ScoreExplanation(id="why")

    def on_mount(self) -> None:
        """Titles."""
        for name, title in (("preview", "Preview"), ("tune", "Tuning"), ("why", "Why")):
            self.query_one(f"#{name}-panel").border_title = title

    @property
    def profile_panel(self) -> ProfilePanel:
        """The numbers of the profile."""
        return self.query_one(ProfilePanel)

    @property
    def preview(self) -> SourceList:
        """The source."""
        return self.query_one("#preview", SourceList)

    # --- the hit ---

    def show(self, hit: Hit) -> None:
        """Explain a hit, and read its source."""
        self._explain(hit)
        self._ask(
            "preview",
            lambda engine: engine.source(hit.path),
            partial(self._got_source, hit),
            lambda error: self.preview.set_rows((), empty=f"✖ {error.message}"),
            delay=PREVIEW_DELAY,
        )

    def clear(self, words: str = NO_HIT) -> None:
        """There is no hit."""
        self._drop("preview")
        self.preview.set_rows((), empty=words)
        panel = self.query_one("#preview-panel", PathPanel)
        panel.show_title("Preview")
        panel.border_subtitle = Content("")
        self._explain(None)

    def _explain(self, hit: Hit | None) -> None:
        self.query_one(ScoreExplanation).show(hit, "" if hit else "Every part of a result's score is listed here.")
        panel = self.query_one("#why-panel")
        panel.border_title = Content(f"Why #{hit.rank}" if hit else "Why")
        panel.border_subtitle = Content(f"{hit.score:.4f}" if hit else "")

    def _got_source(self, hit: Hit, source: Source) -> None:
        panel, view = self.query_one("#preview-panel", PathPanel), self.preview
        panel.show_path(hit.path)
        panel.border_subtitle = Content("changed since it was indexed" if source.stale else hit.language)
        shown, self._shown = self._shown, (hit.path, hit.start_line, hit.end_line, source.text)
        if shown == self._shown and view.rows:
            # Asked again as the index has news, which are none here: whoever reads it reads on.
            return
        view.mark(*matching(hit))
        view.set_rows(code_lines(source, plain=True))
        view.show_marked()
        # Colours take a moment longer, and come when they are there.
        self._tasks.work(partial(code_lines, source), view.recolour, topic="search.preview")

    # --- the knobs ---

    def show_profile(self, session: SearchSession) -> None:
        """Show the numbers of the profile in use."""
        if session.profile and session.saved:
            self.profile_panel.show(session.settings, session.profile, session.saved)
            self.title_profile(session)

    def title_profile(self, session: SearchSession) -> None:
        """Say whose numbers they are, and how many differ from what is saved."""
        panel, changed = self.query_one("#tune-panel"), len(session.tuned)
        panel.border_title = Content(f"Tuning {session.profile.name if session.profile else ''}")
        panel.border_subtitle = Content(f"{changed} changed · s saves · r resets" if changed else "←/→ turn · ⌫ back")
