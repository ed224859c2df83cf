"""History: the mainline, what each commit changed, the life of every symbol, and drift."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import on

from cm_tui.model import ResolvedRevision, SymbolKey
from cm_tui.tui.modes.history import prompts
from cm_tui.tui.modes.history.commit_panel import CommitList
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow, Spot
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.app_commands import cannot_index, not_searchable, show_mode, start_index
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.episode_commands import cannot_resume, resume_agent
from cm_tui.tui.screens.list_mode import find
from cm_tui.tui.screens.messages import OpenRevision, OpenSymbol
from cm_tui.tui.widgets.relations import Relation, RelationList

Reason = Callable[[HistoryView], str | None]
_no_commit: Reason = unless(lambda screen: screen.point, "no commit under the cursor")
_busy: Reason = unless(lambda screen: not screen.cm.tasks.reading_history, "history is being read")
_complete: Reason = unless(
    lambda screen: not (history := screen.cm.project.history) or not history.complete, "the whole history has been read"
)
_not_reading: Reason = unless(lambda screen: screen.cm.tasks.reading_history, "history is not being read")
_reading: Reason = unless(
    lambda screen: not screen.cm.tasks.reading_history, "history is already being read; x stops it"
)
_no_episode: Reason = unless(lambda screen: screen.loader.episode, "no episode is shown; e opens them, r shows one")


def _no_mainline(screen: HistoryView) -> str | None:
    return screen.why_no_mainline


def _symbol(screen: HistoryView) -> SymbolKey | None:
    """The symbol under the cursor."""
    key = screen.row.key if screen.row else None
    return key if key and key.qualname else None


_no_row: Reason = unless(lambda screen: screen.row, "no symbol under the cursor")
_no_symbol: Reason = unless(_symbol, "no symbol under the cursor")


# --- the point ---


def show_everywhere(screen: HistoryView) -> None:
    """Show this revision in every mode."""
    if screen.point is not None:
        screen.post_message(OpenRevision(screen.point, screen.head.note, screen.head.requested))


def flip_mark(screen: HistoryView) -> None:
    """Mark the point, or take its mark away."""
    mark = screen.loader.mark
    same = mark is not None and screen.point is not None and mark.sha == screen.point.sha
    screen.loader.mark = None if same else screen.point
    screen.loader.is_since = False
    screen.point_changed()


def go_to(screen: HistoryView) -> None:
    """Ask for a revision by name, and go there."""

    def named(place: ResolvedRevision) -> None:
        screen.arrive(place.moment, place.note, place.sha)
        screen.commits.focus()

    prompts.ask_revision(screen, named)


def _show_since(screen: HistoryView, place: ResolvedRevision) -> None:
    history = screen.cm.project.history
    if history is None or history.head is None:
        return
    if place.moment.sha == history.head.sha:
        screen.cm.tell(f"No new commits on the mainline since: #{place.moment.ordinal:,} is HEAD.")
        screen.loader.mark = None
        screen.arrive(history.head, place.note)
        return
    screen.loader.mark = place.moment
    screen.loader.is_since = True
    screen.arrive(history.head, place.note)
    screen.activate("changes")
    screen.rows.focus()


# --- symbols ---


def show_life(screen: HistoryView) -> None:
    """Show the life of the symbol under the cursor, else of a name."""
    key = _symbol(screen)
    if screen.panel.tabs.active == "life" or key is None:
        prompts.ask_symbol(screen, screen.open_life, key.qualname if key else "")
    else:
        screen.open_life(key)


def open_row(screen: HistoryView) -> None:
    """Show the row's symbol in Symbols, at its revision."""
    row = screen.row
    spot = (row.spot or row.before) if row else None
    if spot is not None:
        open_spot(screen, spot)


def open_spot(screen: HistoryView, spot: Spot) -> None:
    """Show a symbol in Symbols, at its revision."""

    def go(place: ResolvedRevision) -> None:
        screen.post_message(OpenRevision(place.moment, place.note, place.sha))
        screen.post_message(OpenSymbol(spot.key))

    at = spot.at
    if at is None:
        screen.cm.go_to_now()
        screen.post_message(OpenSymbol(spot.key))
    else:
        screen.ask("open", lambda engine: engine.resolve(at), go)


# --- how much is known ---


def drop_history(screen: HistoryView) -> None:
    """Drop history, from the point backwards unless told otherwise."""
    prompts.ask_prune(screen, f"#{screen.point.ordinal}" if screen.point and screen.point.ordinal else "")


HISTORY_COMMANDS: tuple[Command[HistoryView], ...] = (
    Command("history.mend", "i", "Fix drift", "Index changes, which fixes drift", start_index, bar=False,
            blocked=cannot_index, shown=lambda screen: screen.loader.drifted),
    Command("history.stop", "x", "Stop", "Stop reading history; the part read so far is kept",
            lambda screen: screen.cm.lifecycle.stop_history(), bar=False, blocked=_not_reading,
            shown=lambda screen: screen.cm.tasks.reading_history),
    Command("history.find", "slash", "Find", "Find a commit by words of its subject, author, date or sha", find,
            blocked=_no_mainline),
    Command("history.go", "colon", "Go", "Go to a branch, tag, sha, ordinal or date", go_to, blocked=_no_mainline),
    Command("history.stand", "s", "View", "View the project at this commit, in Symbols too, until you go back to now",
            show_everywhere, shown_as="⏎", blocked=(_no_mainline, _no_commit)),
    Command("history.next", "t", "Tab", "Next tab: changes, symbols, life, drift, episode",
            lambda screen: screen.panel.turn()),
    Command("history.detail", "v", "Panel", "Next view of the symbol: difference, source, callers, callees",
            lambda screen: screen.detail.turn(), blocked=_no_row),
    Command("history.open", "o", "Open", "Show the symbol in Symbols, at its revision", open_row, blocked=_no_symbol),
    Command("history.life", "L", "Life", "Show the life of the symbol under the cursor, or of a name", show_life,
            blocked=_no_mainline),
    Command("history.read", "b", "Read", "Read the rest of the history; the part read so far can be queried",
            lambda screen: screen.cm.lifecycle.read_history(), bar="possible",
            blocked=(_no_mainline, _busy, _complete)),
    Command("history.mark", "m", "Mark", "Mark this revision, to show changes between it and the cursor", flip_mark,
            blocked=(_no_mainline, _no_commit)),
    Command("history.since", "w", "Since", "Show changes since your last visit, or since a commit, tag, date or age",
            lambda screen: prompts.ask_since(screen, partial(_show_since, screen)), blocked=_no_mainline),
    Command("history.episodes", "e", "Episodes",
            "Open the recorded episodes; r there shows the commit and patch of one here", show_mode("episodes"),
            blocked=not_searchable),
    Command("history.resume", "R", "Resume", "Resume the session of the episode shown with its agent",
            with_target("loader.episode", resume_agent),
            bar=False, blocked=(not_searchable, _no_episode, lambda screen: cannot_resume(screen.loader.episode))),
    Command("history.erase", "delete", "Erase", "Erase the episode shown permanently; asks twice",
            with_target("loader.episode", prompts.erase_shown),
            bar=False, blocked=(not_searchable, _no_episode)),
    Command("history.drop", "d", "Remove history", "Remove history before a revision or an age; counts and asks first",
            drop_history, bar=False, blocked=(_no_mainline, _reading)),
)  # fmt: skip


class HistoryScreen(HistoryView, commands=HISTORY_COMMANDS):
    """The history of every symbol."""

    SHOWS_REVISION = True
    INTRO = (
        "Every commit of HEAD's first-parent line, newest first; all panels show the one under the cursor. Changes "
        "are those of that commit, or those since the revision marked with m. Enter views the project at that commit, "
        "in Symbols too; 0 returns to now. Grey commits have not been read yet: b reads them. An @ marks a commit that "
        "an agent worked on: e leads to the episodes, and r there shows one here, with its prompts and patch."
    )
    ZOOMS = ("history-panel", "commit-panel", "detail-panel")

    def open_episode(self, name: str) -> None:
        """Show an episode by its name; another mode leads here."""
        prompts.open_episode(self, name)

    # --- the commits ---

    @on(CommitList.Chosen, "#commits")
    def _chosen(self) -> None:
        show_everywhere(self)

    @on(CommitList.Marked)
    def _marked(self) -> None:
        flip_mark(self)

    def leave(self) -> None:
        """Leave the filter, then the mark."""
        if self.filter_input.value or self.focused is self.filter_input:
            self.commit_panel.clear()
        elif self.loader.mark is not None:
            self.loader.mark = None
            self.point_changed()
        else:
            self.commits.focus()

    # --- the rows ---

    @on(HistoryList.Chosen, "#history-list")
    def _enter_row(self, event: HistoryList.Chosen) -> None:
        row: HistoryRow = event.row
        if row.moment is not None:
            self.commit_panel.go(row.moment)
        elif _symbol(self):
            open_row(self)

    @on(RelationList.Chosen, "#history-relations")
    def _open_relation(self, event: RelationList.Chosen) -> None:
        row: Relation = event.row
        spot = self.detail.spot
        if row.path and row.key and spot:
            open_spot(self, Spot(row.key, spot.at))
