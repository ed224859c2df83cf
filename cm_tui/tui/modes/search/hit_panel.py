"""The side of the search mode: source of the hit under the cursor, why it ranked where it did, and the knobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from textual import getters
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from cm_tui.engine.api.authors import Author
from cm_tui.errors import CmError
from cm_tui.model import Hit, Source, Standing
from cm_tui.model.score_text import side_by_side
from cm_tui.tui.modes.search.profile_panel import ProfilePanel
from cm_tui.tui.modes.search.rows import lines_of
from cm_tui.tui.modes.search.session import SearchSession
from cm_tui.tui.screens.memory_hit import is_memory, kind_and_age
from cm_tui.tui.screens.mode_screen import ModePart
from cm_tui.tui.state.authors import who
from cm_tui.tui.widgets.bars import ScoreExplanation
from cm_tui.tui.widgets.sourcelist import ProseList, SourceList, code_lines, matching
from cm_tui.tui.widgets.split import Panel, PathPanel
from cm_tui.tui.widgets.text import elide_end, elide_path, fit, one_line, wrapped

_COLUMN = 8
_HEAD_LINES = 4


def pair_text(marked: Hit, hit: Hit, width: int) -> Content:
    """Return two hits: where they stand, their parts in two columns with the difference, and the heads of their snippets."""
    lines = [_title(hit, width), _title(marked, width)]
    names = (f"#{hit.rank}", f"#{marked.rank}", "differs")
    lines.append(_row("part", names, width, "$muted"))
    lines += [_numbers(pair.name, (pair.one, pair.other, pair.difference), width) for pair in side_by_side(hit, marked)]
    lines.append(_numbers("score", (hit.score, marked.score, hit.score - marked.score), width, bold=True))
    for one in (hit, marked):
        lines += [Content(""), _title(one, width), *_head(one, width)]
    return Content("\n").join(lines)


def position_text(standing: Standing, width: int) -> Content:
    """Return where something stands, what it lacks, what would lift it, and its parts beside those of the shown hits."""
    lines = _sentences((standing.said,), width, "bold $foreground")
    lines += _sentences(standing.lifts, width, "$accent")
    if standing.nearest:
        lines += _sentences((f"The nearest names are {', '.join(standing.nearest)}.",), width, "$accent")
    lines += _sentences(standing.lacks, width, "$soft")
    lines += _sentences(standing.notes, width, "$warning")
    hits = {"this": standing.hit, "first": standing.first, "last": standing.last}
    shown = {name: hit for name, hit in hits.items() if hit is not None}
    if standing.hit is None:
        return Content("\n").join(lines)
    lines += [Content(""), _row("part", tuple(shown), width, "$muted")]
    columns = [{pair.name: pair.other for pair in side_by_side(standing.hit, hit)} for hit in shown.values()]
    names = [pair.name for pair in side_by_side(standing.hit, standing.first or standing.hit)]
    names += [name for name in columns[-1] if name not in names]
    lines += [_numbers(name, [column.get(name, 0.0) for column in columns], width) for name in names]
    lines.append(_numbers("score", [hit.score for hit in shown.values()], width, bold=True))
    return Content("\n").join(lines)


def _sentences(sentences: Sequence[str], width: int, style: str) -> list[Content]:
    return [
        Content.styled(line, style)
        for sentence in sentences
        for line in wrapped(one_line(sentence), max(20, width - 1))
    ]


def _title(hit: Hit, width: int) -> Content:
    """Rank and place; of what is remembered kind and age, as its path is an id."""
    if is_memory(hit):
        return Content.assemble((f"#{hit.rank} ", "bold $accent"), (kind_and_age(hit), "bold $foreground"))
    place = f":{lines_of(hit)}"
    path = elide_path(one_line(hit.path), max(8, width - len(place) - 6))
    return Content.assemble((f"#{hit.rank} ", "bold $accent"), (path, "bold $foreground"), (place, "$secondary"))


def _head(hit: Hit, width: int) -> list[Content]:
    """The first lines of the snippet."""
    heads = (one_line(line.expandtabs(4)) for line in hit.snippet.split("\n")[:_HEAD_LINES])
    return [Content.styled(f"  {fit(line, width - 3)}", "$soft") for line in heads]


def _row(name: str, cells: Sequence[str], width: int, style: str) -> Content:
    room = max(8, width - 1 - _COLUMN * len(cells))
    return Content.styled(fit(one_line(name), room) + "".join(f"{cell:>{_COLUMN}}" for cell in cells), style)


def _numbers(name: str, values: Sequence[float], width: int, *, bold: bool = False) -> Content:
    room = max(8, width - 1 - _COLUMN * len(values))
    heavy = "bold " if bold else ""
    return Content.assemble(
        (fit(one_line(name), room), f"{heavy}$foreground"),
        *((f"{value:>+{_COLUMN}.3f}", f"{heavy}{'$error' if value < -0.0005 else '$foreground'}") for value in values),
    )


PREVIEW_DELAY = 0.03
_TITLE = 40
"""Cells of what a session is called."""
NO_HIT = "The source of a result is shown here."


class HitPanel(Vertical, ModePart):
    """Three panels; which of them are on screen says the style sheet."""

    _shown: object = None
    _hit: Hit | None = None
    standing: Standing | None = None
    """Where something that was asked about stands; shown in the place of the hit's explanation."""
    marked: Hit | None = None
    """The hit that the one under the cursor is compared with."""

    def compose(self) -> Iterable[Widget]:
        """Preview, knobs, explanation."""
        with PathPanel(id="preview-panel", title="Preview"):
            yield SourceList(id="preview", empty=NO_HIT)
            yield ProseList(partial(self.mode.cm.tasks.work, topic="search.prose"), id="preview-prose")
        profiles = ProfilePanel(empty="The profiles are being read…", id="tune")
        yield Panel(profiles, id="tune-panel", title="Tuning")
        yield Panel(ScoreExplanation(id="why"), id="why-panel", title="Why")

    def on_mount(self) -> None:
        """Source first."""
        self.prose.display = False

    profile_panel = getters.query_one(ProfilePanel)
    preview_panel = getters.query_one(PathPanel)
    preview = getters.query_one("#preview", SourceList)

    # --- the hit ---

    prose = getters.query_one("#preview-prose", ProseList)

    def show(self, hit: Hit, author: Author | None = None) -> None:
        """Explain a hit, and read its source; of what is remembered, who wrote it goes into the title."""
        self._explain(hit)
        if is_memory(hit):
            self.title(hit, author)
        self.mode.ask(
            "preview",
            lambda engine: engine.source(hit.path),
            partial(self._got_source, hit),
            self._no_source,
            delay=PREVIEW_DELAY,
        )

    def _no_source(self, error: CmError) -> None:
        self._show_prose(prose=False)
        self.preview.set_rows((), empty=f"✖ {error.message}")

    def title(self, hit: Hit, author: Author | None) -> None:
        """Title the preview of what is remembered: kind, age, who, and what its session is called."""
        if not is_memory(hit):
            return
        words = " · ".join(filter(None, (kind_and_age(hit), who(author))))
        self.preview_panel.show_title(words, elide_end(one_line(author.title), _TITLE) if author else "")

    def clear(self, words: str = NO_HIT) -> None:
        """There is no hit."""
        self.mode.drop_question("preview")
        self._show_prose(prose=False)
        self.preview.set_rows((), empty=words)
        self.preview_panel.show_title("Preview", "")
        self._explain(None)

    def _explain(self, hit: Hit | None) -> None:
        self._hit = hit
        self.refresh_explanation()

    def refresh_explanation(self) -> None:
        """Show what was asked about, else two hits side by side, else the parts of the hit."""
        text, hit, marked = self.query_one(ScoreExplanation), self._hit, self.marked
        if (standing := self.standing) is not None:
            text.show_text(("why not", standing.name), partial(position_text, standing))
            title, subtitle = elide_end(f"Why not {one_line(standing.name)}", _TITLE), "esc closes"
        elif hit is not None and marked is not None and hit.passage != marked.passage:
            text.show_text((marked.passage, hit.passage), partial(pair_text, marked, hit))
            title, subtitle = f"#{hit.rank} vs. #{marked.rank}", "x on it, or esc, closes it"
        else:
            text.show(hit, "" if hit else "The parts of a result's score are listed here.")
            what = "Why memory" if is_memory(hit) else "Why"
            title, subtitle = (f"{what} #{hit.rank}", f"{hit.score:.4f}") if hit else ("Why", "")
        self.mode.label("why-panel", title, subtitle)

    def _got_source(self, hit: Hit, source: Source) -> None:
        panel, view = self.preview_panel, self.preview
        self._show_prose(prose=is_memory(hit))
        shown, self._shown = self._shown, (hit.path, hit.start_line, hit.end_line, source.text)
        if is_memory(hit):
            if shown != self._shown or not self.prose.rows:
                self.prose.show(source.text, *matching(hit))
            return
        panel.show_path(hit.path)
        panel.label(subtitle="changed since it was indexed" if source.stale else hit.language)
        if shown == self._shown and view.rows:
            # Reloaded after an index change that did not affect this text: keep the scroll position.
            return
        view.mark(*matching(hit))
        view.set_rows(code_lines(source, plain=True))
        view.show_marked()
        # Colours take a moment longer, and come when they are there.
        self.mode.cm.tasks.work(partial(code_lines, source), view.recolour, topic="search.preview")

    def _show_prose(self, *, prose: bool) -> None:
        """Show prose in place of source, or source again."""
        focused = self.preview.has_focus or self.prose.has_focus
        self.preview.display, self.prose.display = not prose, prose
        if focused:
            (self.prose if prose else self.preview).focus()

    # --- the knobs ---

    def show_profile(self, session: SearchSession) -> None:
        """Show the numbers of the profile in use."""
        if session.profile and session.saved:
            self.profile_panel.show(session.settings, session.profile, session.saved)
            self.title_profile(session)

    def title_profile(self, session: SearchSession) -> None:
        """Show which profile the numbers belong to, and how many differ from what is saved."""
        changed, moved = len(session.tuned), session.moves
        words = f"{changed} changed · {f'{moved.count} moved · ' if moved else ''}s saves · r resets"
        title = f"Tuning {session.profile.name if session.profile else ''}"
        self.mode.label("tune-panel", title, words if changed else "←/→ turn · ⌫ back")
