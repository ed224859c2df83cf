"""The list of what agents' sessions recorded: find one, and choose it to see what it saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from cm_tui.errors import CmError
from cm_tui.model import Episode, Page
from cm_tui.tui.state.revision import agent_of, asked_of, name_of, short_name_of
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import ago, count, elide_end, fit

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

PAGE = 100
TYPING = 0.15
"""Seconds without a key after which letters are looked for."""
_NONE = (
    "No agent's session was recorded yet. `cm agent install AGENT` wires one; its turns are listed here from then on."
)


class EpisodeList(RowList[Episode]):
    """Age, ordinal, agent, the first prompt."""

    def draw(self, row: Episode, width: int) -> Content:
        """One episode; what cannot be replayed is grey."""
        style = "$foreground" if row.moment else "$muted"
        where = short_name_of(row.moment) if row.moment else "–"
        return Content.assemble(
            (f" {fit(ago(time.time() - row.time), 15)}", "$soft" if row.moment else "$muted"),
            (f"{fit(where, 8)}", "$accent" if row.moment else "$muted"),
            (f"{fit(agent_of(row), 12)} ", "$secondary" if row.moment else "$muted"),
            (elide_end(asked_of(row), max(8, width - 38)), style),
        )


class EpisodeChooser(ModalScreen[Episode | None]):
    """Asks for the pages that are looked at; gives the episode that was chosen.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        erase: asks whether an episode is to be erased, and calls back when it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", show=False),
        Binding("q,e", "close", show=False),
        Binding("slash", "find", show=False),
        Binding("down", "into_list", show=False),
        Binding("delete", "erase", show=False),
    ]

    def __init__(
        self, ask: Ask, drop: Callable[[str], None], erase: Callable[[Episode, Callable[[], None]], None]
    ) -> None:
        super().__init__()
        self._ask = ask
        self._drop = drop
        self._erase = erase
        self._rows: list[Episode] = []
        self._total = 0

    def compose(self) -> ComposeResult:
        """Input, list, and a few lines about the row under the cursor."""
        with Vertical(id="chooser-box") as box:
            box.border_title = Content(" What agents saw ")
            box.border_subtitle = Content(" ⏎ shows that revision · / finds · del erases · esc closes ")
            yield Input(
                placeholder="/ words of prompt, answer, agent, path, day, sha or #17", id="chooser-find", compact=True
            )
            yield EpisodeList(empty="Reading…", id="chooser-list")
            yield Static(id="chooser-note", markup=False)

    @property
    def rows(self) -> EpisodeList:
        """The list."""
        return self.query_one(EpisodeList)

    @property
    def filter_input(self) -> Input:
        """Where letters are typed."""
        return self.query_one("#chooser-find", Input)

    def on_mount(self) -> None:
        """The newest first."""
        self.rows.focus()
        self._read()

    # --- pages ---

    def _read(self, *, delay: float = 0.0) -> None:
        text = self.filter_input.value.strip()
        self._drop("more")

        def got(page: Page[Episode]) -> None:
            self._rows, self._total = list(page.rows), page.total
            nothing = f"No episode matches {text}." if text else _NONE
            self._show(0, " ".join(part for part in (nothing, page.note) if part))

        self._ask("episodes", lambda engine: engine.episodes(match=text, limit=PAGE), got, self._failed, delay=delay)

    def _show(self, cursor: int, empty: str = "") -> None:
        some = f"{len(self._rows):,} of " if self._total > len(self._rows) else ""
        self.query_one("#chooser-box").border_title = Content(
            f" What agents saw: {some}{count(self._total, 'episode')} "
        )
        self.rows.set_rows(tuple(self._rows), cursor=cursor, empty=empty)
        if not self._rows:
            self.query_one("#chooser-note", Static).update("")

    def _failed(self, error: CmError) -> None:
        self._rows, self._total = [], 0
        self._show(0, f"{error.message} {error.hint}".strip())

    def _more(self) -> None:
        """Ask for the next page when the cursor comes near the end."""
        known = len(self._rows)
        if known >= self._total or self.rows.cursor < known - PAGE // 4:
            return
        text, before = self.filter_input.value.strip(), self._rows[-1].id

        def call(engine: Engine) -> Page[Episode]:
            return engine.episodes(match=text, before=before, limit=PAGE)

        def got(page: Page[Episode]) -> None:
            if len(self._rows) == known:
                self._rows += page.rows
                self._show(self.rows.cursor)

        self._ask("more", call, got, self._failed)

    # --- the cursor ---

    @on(EpisodeList.Highlighted)
    def _describe(self, event: EpisodeList.Highlighted) -> None:
        event.stop()
        self._more()
        row: Episode = event.row
        where = f"saw {name_of(row.moment)}" if row.moment else f"cannot be replayed: {row.why}"
        lines = count(row.patch_lines, "line") + " of patch" if row.patch_lines else "no patch"
        facts = f"{where} · {lines} · {count(len(row.files), 'file')}"
        style = "$soft" if row.moment else "$warning"
        self.query_one("#chooser-note", Static).update(Content.assemble((facts, style), "\n", asked_of(row)))

    @on(EpisodeList.Chosen)
    def _choose(self, event: EpisodeList.Chosen) -> None:
        event.stop()
        self.dismiss(event.row)

    # --- letters ---

    @on(Input.Changed, "#chooser-find")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._read(delay=TYPING)

    @on(Input.Submitted, "#chooser-find")
    def _take_first(self, event: Input.Submitted) -> None:
        event.stop()
        self.rows.focus()

    def action_find(self) -> None:
        """Type to find an episode."""
        self.filter_input.focus()

    def action_into_list(self) -> None:
        """Down from the input goes into the list."""
        self.rows.focus()

    def action_erase(self) -> None:
        """Erase the episode under the cursor; asks first."""
        row = self.rows.current
        if row is not None:
            self._erase(row, self._read)

    def action_escape(self) -> None:
        """Leave the letters, then the list."""
        if self.filter_input.value or self.filter_input.has_focus:
            self.filter_input.value = ""
            self.rows.focus()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Back to where one was."""
        self.dismiss(None)
