"""The list of what agents' sessions recorded: find one, and choose it to see what it saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import Episode
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.erase_dialog import EraseDialog
from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.screens.question import ask
from cm_tui.tui.screens.resume_agent import resume_agent
from cm_tui.tui.state.revision import agent_of, asked_of, name_of, short_name_of
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.tasks.growing_rows import GrowingRows
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import ago, count, elide_end, fit

TYPING = 0.15
"""Seconds without a key after which letters are looked for."""
_NONE = (
    "No agent's session was recorded yet. `cm agent install AGENT` wires one; its turns are listed here from then on."
)


def _draw(row: Episode, width: int) -> Content:
    """Draw age, ordinal, agent and the first prompt; what cannot be replayed is grey."""
    style = "$foreground" if row.moment else "$muted"
    where = short_name_of(row.moment) if row.moment else "–"
    return Content.assemble(
        (f" {fit(ago(time.time() - row.time), 15)}", "$soft" if row.moment else "$muted"),
        (f"{fit(where, 8)}", "$accent" if row.moment else "$muted"),
        (f"{fit(agent_of(row), 12)} ", "$secondary" if row.moment else "$muted"),
        (elide_end(asked_of(row), max(8, width - 38)), style),
    )


class EpisodeChooser(ListDialog[Episode]):
    """Lists what agents saw, page by page, with a few lines about the row under the cursor.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        chosen: gets the episode that is chosen.
        erase: asks whether an episode is to be erased, and calls back when it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", show=False),
        Binding("delete", "erase", show=False),
    ]

    def __init__(
        self, ask: Ask, drop: Callable[[str], None], chosen: Callable[[Episode], object],
        erase: Callable[[Episode, Callable[[], None]], None],
    ) -> None:  # fmt: skip
        super().__init__(
            " What agents saw ", " ⏎ shows that revision · / finds · del erases · esc closes ", (), _draw, chosen,
            empty="Reading…", close="q,e", placeholder="/ words of prompt, answer, agent, path, day, sha or #17",
            words=asked_of, look="note",
        )  # fmt: skip
        self._erase = erase
        self._found = GrowingRows[Episode]("episodes", ask, drop, lambda row: row.id, self._show, self._failed)

    @property
    def filter_input(self) -> Input:
        """Where letters are typed."""
        return self.query_one(Input)

    def opened(self) -> None:
        """The newest first."""
        self.list.focus()
        self._read()

    # --- pages ---

    def _read(self, *, delay: float = 0.0) -> None:
        text = self.filter_input.value.strip()
        self._found.read(
            lambda engine, before, limit: engine.episodes(match=text, before=before, limit=limit), delay=delay
        )

    def _show(self, new: bool) -> None:
        found, text = self._found, self.filter_input.value.strip()
        some = f"{len(found.rows):,} of " if found.total > len(found.rows) else ""
        self.query_one(".list-box").border_title = Content(f" What agents saw: {some}{count(found.total, 'episode')} ")
        nothing = f"No episode matches {text}." if text else _NONE
        empty = " ".join(part for part in (nothing, found.note) if part)
        self.list.set_rows(tuple(found.rows), cursor=0 if new else self.list.cursor, empty=empty)
        if not found.rows:
            self.note("")

    def _failed(self, error: CmError) -> None:
        self._found.clear()
        self._show(new=True)
        self.list.set_rows((), empty=f"{error.message} {error.hint}".strip())

    # --- the cursor ---

    @on(RowList.Highlighted)
    def _describe(self, event: RowList.Highlighted) -> None:
        self._found.look(self.list.cursor)
        row: Episode = event.row
        where = f"saw {name_of(row.moment)}" if row.moment else f"cannot be replayed: {row.why}"
        lines = count(row.patch_lines, "line") + " of patch" if row.patch_lines else "no patch"
        facts = f"{where} · {lines} · {count(len(row.files), 'file')}"
        style = "$soft" if row.moment else "$warning"
        self.note(Content.assemble((facts, style), "\n", asked_of(row)))

    # --- letters ---

    def narrow(self, text: str) -> None:  # noqa: ARG002 - it is read from the input
        """Ask for what the letters leave."""
        self._read(delay=TYPING)

    def submit(self, text: str) -> None:  # noqa: ARG002 - the list has it
        """Go into the list."""
        self.list.focus()

    def action_move(self, by: int) -> None:
        """Down from the input goes into the list."""
        if by > 0:
            self.list.focus()

    def action_find(self) -> None:
        """Type to find an episode."""
        self.filter_input.focus()

    def action_erase(self) -> None:
        """Erase the episode under the cursor; asks first."""
        if self.list.current is not None:
            self._erase(self.list.current, self._read)

    def action_close(self) -> None:
        """Leave the letters, then the list."""
        if self.filter_input.value or self.filter_input.has_focus:
            self.filter_input.value = ""
            self.list.focus()
        else:
            super().action_close()


def choose_episode(screen: HistoryView) -> None:
    """Choose an episode from a list."""

    def chosen(episode: Episode) -> None:
        open_episode(screen, episode.id)

    def erase(episode: Episode, after: Callable[[], None]) -> None:
        def erased(gone: Episode) -> None:
            _forget_shown(screen, gone)
            after()

        EraseDialog(screen, erased).ask(episode)

    ask(screen, EpisodeChooser(screen.ask, screen.drop_question, chosen, erase))
    screen.commit_panel.look_for_episodes()


def open_episode(screen: HistoryView, name: str) -> None:
    """Show an episode by its name."""

    def got(episode: Episode) -> None:
        _show(screen, episode)

    screen.ask("episode", lambda engine: engine.episode(name), got)


def _show(screen: HistoryView, episode: Episode) -> None:
    screen.loader.episode = episode
    if episode.moment is None:
        screen.cm.tell(f"It cannot be replayed: {episode.why}.", severity="warning")
    else:
        screen.loader.mark = None
        screen.arrive(episode.moment, episode.why, episode.sha)
        screen.cm.revision.go(episode.moment, episode.why, episode, asked=episode.sha)
    screen.panel.forget("episode")
    screen.activate("episode")
    screen.rows.focus()


def resume_shown(screen: HistoryView) -> None:
    """Open the agent at the session of the episode that is shown."""
    if screen.loader.episode is not None:
        resume_agent(screen, screen.loader.episode)


def erase_shown(screen: HistoryView) -> None:
    """Erase the episode that is shown; asks first."""
    if screen.loader.episode is not None:
        EraseDialog(screen, lambda gone: _forget_shown(screen, gone)).ask(screen.loader.episode)


def _forget_shown(screen: HistoryView, gone: Episode) -> None:
    """Show an episode that was erased no more."""
    shown = screen.loader.episode
    if shown is not None and shown.id == gone.id:
        screen.loader.episode = None
        screen.panel.forget("episode")
    screen.commit_panel.look_for_episodes()
    screen.refresh_keys()
