"""Questions of the mode: for a revision, for since when, for a name, and how much history is dropped."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual import getters, on
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import Drift, Episode, PruneReport, ResolvedRevision
from cm_tui.model.dates import length
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.episode_commands import erase_episode
from cm_tui.tui.screens.list_mode import TYPING
from cm_tui.tui.screens.question import Finder, Line, ListDialog, ask, ask_line, confirm
from cm_tui.tui.screens.writing import words_of_error
from cm_tui.tui.state.revision import agent_of, name_of, query_text, short_name_of
from cm_tui.tui.tasks.ask import Ask, Engine, GrowingRows, Then
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import ago, count, elide_end, fit, number_of, size

T = TypeVar("T")

LAST = "last"
"""Since the person last looked."""
_NAMES = "branch, tag, sha or HEAD~20, an ordinal such as #3112, a date such as 2021-03-04, or an age such as 2w."
ALL = "all"
_HINT = (
    "A revision: what was before it goes. An age such as 90d, 6m or 2y: what is older. "
    f"`{ALL}`: everything but now. It is counted first, and git keeps its own."
)


def ask_revision(screen: HistoryView, then: Then[ResolvedRevision]) -> None:
    """Ask for a revision."""
    _ask_until(screen, "Go to", f"A {_NAMES}", lambda engine, ref: engine.resolve(ref), then)


def ask_since(screen: HistoryView, then: Then[ResolvedRevision]) -> None:
    """Ask since when; `last` is since the person last looked."""

    def call(engine: Engine, ref: str) -> ResolvedRevision | Drift:
        if ref != LAST:
            return engine.resolve(ref)
        # Asked once in a session, as asking is what is remembered.
        return screen.looked or engine.drift(LAST, looked=True, limit=1)

    def got(found: ResolvedRevision | Drift) -> None:
        if not isinstance(found, Drift):
            then(found)
        elif found.since is not None:
            screen.looked = found.since
            then(found.since)
        else:
            words = " ".join(found.notes) or "This is the first time that you look; from now on it is remembered."
            screen.cm.tell(words)

    _ask_until(screen, "What changed since", f"`{LAST}`: since you last looked. Or a {_NAMES}", call, got, LAST)


def ask_symbol(screen: HistoryView, then: Then[str], value: str) -> None:
    """Ask for the name of a symbol."""
    hint = "A name or qualified name; it may be gone today."
    line = Line(lambda name: then(name.strip()) if name.strip() else None, value, hint)
    ask_line(screen, "The life of which symbol", line)


def ask_prune(screen: HistoryView, value: str) -> None:
    """Ask from where on history is kept, count what would go, ask again with the counts, and drop it."""

    def call(engine: Engine, answer: str) -> tuple[dict[str, Any], PruneReport]:
        what = prune_arguments(answer)
        return what, engine.prune(**what, dry_run=True)

    def counted(found: tuple[dict[str, Any], PruneReport]) -> None:
        what, report = found
        if report.commits or report.spans:
            drop = partial(screen.ask, "prune", lambda engine: engine.prune(**what), dropped)
            confirm(screen, question(report), "Drop", drop)
        else:
            screen.cm.tell(f"There is nothing to drop: {report.note}.")

    def dropped(report: PruneReport) -> None:
        screen.cm.tell(f"Dropped {counts(report)}: {report.note}.")
        screen.cm.activity_log.add(f"{report.note}: {counts(report)}.", "ok")
        screen.cm.lifecycle.history_dropped()

    _ask_until(screen, "Drop history before", _HINT, call, counted, value)


def _ask_until(
    screen: HistoryView, title: str, hint: str, call: Callable[[Engine, str], T], then: Then[T], value: str = "",
    wrong: str = "",
) -> None:  # fmt: skip
    """Ask for a line that the engine can do something with; again, with what is wrong, as long as it cannot."""

    def answered(line: str) -> None:
        if answer := line.strip():
            screen.ask(
                "naming", lambda engine: call(engine, answer), then,
                lambda error: _ask_until(screen, title, hint, call, then, answer, words_of_error(error)),
            )  # fmt: skip

    ask_line(screen, title, Line(answered, value, hint, wrong=wrong))


def prune_arguments(answer: str) -> dict[str, Any]:
    """Return the engine's arguments for an answer."""
    if answer.lower() == ALL:
        return {"everything": True}
    return {"older_than": answer} if length(answer, m="mo") is not None else {"before": answer}


def counts(report: PruneReport) -> str:
    """How much goes."""
    return (
        f"{count(report.commits, 'commit')}, {count(report.blobs, 'file version')} ({size(report.bytes)} of source), "
        f"{count(report.symbols, 'symbol')}, {count(report.references, 'reference')}"
    )


def question(report: PruneReport) -> str:
    """What is asked before it goes."""
    first = report.before
    rest = f"#{first.ordinal:,} {first.sha[:8]} and what came after stay." if first else "Only now stays."
    return (
        f"Drop {counts(report)}?\n\n{rest} Questions about earlier revisions will say that history was removed. "
        "Nothing of git is touched: b reads it again."
    )


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
        (elide_end(query_text(row), max(8, width - 38)), style),
    )


class EpisodeChooser(ListDialog[Episode]):
    """Lists what agents saw, page by page, with a few lines about the row under the cursor.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        chosen: gets the episode that is chosen.
        erase: asks whether an episode is to be erased, and calls back when it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("slash", "find"), ("delete", "erase")]

    def __init__(
        self, ask: Ask, drop: Callable[[str], None], chosen: Callable[[Episode], object],
        erase: Callable[[Episode, Callable[[], None]], None],
    ) -> None:  # fmt: skip
        super().__init__(
            " What agents saw ", " ⏎ shows that revision · / finds · del erases · esc closes ", (), _draw, chosen,
            empty="Reading…", close="q,e", look="note",
            finder=Finder(query_text, "/ words of prompt, answer, agent, path, day, sha or #17"),
        )  # fmt: skip
        self._erase = erase
        self._found = GrowingRows[Episode]("episodes", ask, drop, lambda row: row.id, self._show, self._failed)

    filter_input = getters.query_one(Input)

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
        many = number_of(len(found.rows), found.total, "episode")
        self.query_one(".list-box").border_title = Content(f" What agents saw: {many} ")
        nothing = f"No episode matches {text}." if text else _NONE
        empty = " ".join(part for part in (nothing, found.note) if part)
        self.list.set_rows(tuple(found.rows), cursor=0 if new else self.list.cursor, empty=empty)
        if not found.rows:
            self.note("")

    def _failed(self, error: CmError) -> None:
        self._found.clear()
        self._show(new=True)
        self.list.set_rows((), empty=error.one_line)

    # --- the cursor ---

    @on(RowList.Highlighted)
    def _describe(self, event: RowList.Highlighted) -> None:
        self._found.look(self.list.cursor)
        row: Episode = event.row
        where = f"saw {name_of(row.moment)}" if row.moment else f"cannot be replayed: {row.why}"
        lines = count(row.patch_lines, "line") + " of patch" if row.patch_lines else "no patch"
        facts = f"{where} · {lines} · {count(len(row.files), 'file')}"
        style = "$soft" if row.moment else "$warning"
        self.note(Content.assemble((facts, style), "\n", query_text(row)))

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

    def erase(episode: Episode, after: Callable[[], None]) -> None:
        def erased(gone: Episode) -> None:
            _forget_shown(screen, gone)
            after()

        erase_episode(screen, episode, erased)

    ask(screen, EpisodeChooser(screen.ask, screen.drop_question, lambda one: open_episode(screen, one.id), erase))
    screen.commit_panel.look_for_episodes()


def open_episode(screen: HistoryView, name: str) -> None:
    """Show an episode by its name."""
    screen.ask("episode", lambda engine: engine.episode(name), partial(_show, screen))


def _show(screen: HistoryView, episode: Episode) -> None:
    screen.loader.episode = episode
    if episode.moment is None:
        screen.cm.tell(f"It cannot be replayed: {episode.why}.", severity="warning")
    else:
        screen.loader.mark = None
        screen.arrive(episode.moment, episode.why, episode.sha)
        screen.cm.revision.go(episode.moment, episode.why, episode, requested=episode.sha)
    screen.panel.forget("episode")
    screen.activate("episode")
    screen.rows.focus()


def erase_shown(screen: HistoryView, episode: Episode) -> None:
    """Erase the episode that is shown; asks first."""
    erase_episode(screen, episode, lambda gone: _forget_shown(screen, gone))


def _forget_shown(screen: HistoryView, gone: Episode) -> None:
    """Show an episode that was erased no more."""
    shown = screen.loader.episode
    if shown is not None and shown.id == gone.id:
        screen.loader.episode = None
        screen.panel.forget("episode")
    screen.commit_panel.look_for_episodes()
    screen.refresh_keys()
