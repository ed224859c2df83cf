"""Questions of the mode: for a revision, for since when, for a name, and how much history is dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from cm_tui.errors import NotFoundError
from cm_tui.model import Drift, Episode, PruneReport, ResolvedRevision
from cm_tui.model.dates import length
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.episode_commands import erase_episode
from cm_tui.tui.screens.question import Line, ask_line, confirm
from cm_tui.tui.screens.writing import words_of_error
from cm_tui.tui.tasks.ask import Engine, Then
from cm_tui.tui.widgets.text import count, size

T = TypeVar("T")

LAST = "last"
"""Since the person last looked."""
_NAMES = (
    "branch, tag, sha or HEAD~20, a number of the list such as 3112, a date such as 2021-03-04, or an age such as 2w."
)
ALL = "all"
_HINT = (
    "A revision: everything before it is removed. An age such as 90d, 6m or 2y: everything older. "
    f"`{ALL}`: everything before now. It is counted first; git is not changed."
)


def ask_revision(screen: HistoryView, then: Then[ResolvedRevision]) -> None:
    """Ask for a revision."""
    _ask_until(screen, "Go to", f"A {_NAMES}", named_revision, then)


def named_revision(engine: Engine, ref: str) -> ResolvedRevision:
    """Resolve a revision; a number as the list shows it, such as `1,700`, is a commit of the list before all else."""
    if re.fullmatch(r"#?[0-9]{1,3}(,[0-9]{3})+|[0-9]{1,6}", ref):
        try:
            return engine.resolve(f"#{ref.lstrip('#').replace(',', '')}")
        except NotFoundError:
            if "," in ref:
                raise
    return engine.resolve(ref)


def ask_since(screen: HistoryView, then: Then[ResolvedRevision]) -> None:
    """Ask since when; `last` is since the person last looked."""

    def call(engine: Engine, ref: str) -> ResolvedRevision | Drift:
        if ref != LAST:
            return named_revision(engine, ref)
        # Asked once in a session, as asking is what is remembered.
        return screen.looked or engine.drift(LAST, looked=True, limit=1)

    def got(found: ResolvedRevision | Drift) -> None:
        if not isinstance(found, Drift):
            then(found)
        elif found.since is not None:
            screen.looked = found.since
            then(found.since)
        else:
            words = " ".join(found.notes) or "This is your first visit; it is recorded from now on."
            screen.cm.tell(words)

    _ask_until(screen, "What changed since", f"`{LAST}`: since your last visit. Or a {_NAMES}", call, got, LAST)


def ask_symbol(screen: HistoryView, then: Then[str], value: str) -> None:
    """Ask for the name of a symbol."""
    hint = "A name or qualified name, also of a removed symbol."
    line = Line(lambda name: then(name.strip()) if name.strip() else None, value, hint)
    ask_line(screen, "Life of which symbol", line)


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
            screen.cm.tell(f"Nothing to remove: {report.note}.")

    def dropped(report: PruneReport) -> None:
        screen.cm.tell(f"Removed {counts(report)}: {report.note}.")
        screen.cm.activity_log.add(f"{report.note}: {counts(report)}.", "ok")
        screen.cm.lifecycle.history_dropped()

    _ask_until(screen, "Remove history before", _HINT, call, counted, value)


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
    rest = (
        f"#{first.ordinal:,} {first.sha[:8]} and later commits remain." if first else "Only the current state remains."
    )
    return (
        f"Remove {counts(report)}?\n\n{rest} Requests for earlier revisions will report that history was removed. "
        "Git is not changed; b reads it again."
    )


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
