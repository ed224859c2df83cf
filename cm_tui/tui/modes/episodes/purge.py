"""Deleting archived episodes for good: says which, asks twice, and touches nothing that is not archived."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cm_tui.model import Episode, PurgeReport
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.episodes.edits import nothing_meant, with_meant
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.question import confirm_by_word
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import count, elide_end, size

WORD = "purge"
_NAMED, _WIDTH = 6, 56
"""Episodes that the question names, and cells of each: all of it fits the smallest screen."""


def cannot_purge(screen: EpisodesView) -> str | None:
    """Say why nothing can be deleted."""
    if reason := nothing_meant(screen):
        return reason
    chosen = [*screen.selected.values()] or [one for one in (screen.episode,) if one is not None]
    if screen.where.state == "archived" or any(one.state == "archived" for one in chosen):
        return None
    return "only what is archived is deleted: state:archived lists it"


def purge(screen: EpisodesView) -> None:
    """Delete what is meant and archived, after two questions."""
    with_meant(screen, partial(_look, screen))


def _look(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    archived = [one for one in episodes if one.state == "archived"]
    if not archived:
        screen.cm.tell("None of these is archived: nothing was deleted.", severity="warning")
        return
    ids = [one.id for one in archived]
    screen.ask("purge", lambda engine: engine.purge(ids, dry_run=True), partial(_confirm, screen, archived))


def _confirm(screen: EpisodesView, episodes: Sequence[Episode], report: PurgeReport) -> None:
    confirm_by_word(
        screen, question(episodes, report), "Delete", WORD,
        f"Type `{WORD}` to delete {count(len(report.ids), 'archived episode')}", "No undo brings it back.",
        lambda: screen.do(lambda engine: engine.purge(report.ids), partial(_gone, screen)),
    )  # fmt: skip


def question(episodes: Sequence[Episode], report: PurgeReport) -> str:
    """Return what is asked: how much goes, and what of it is called how."""
    going = [one for one in episodes if one.id in set(report.ids)]
    lines = [elide_end(f"{local_day(one.time)}  {headline(one)}", _WIDTH) for one in going[:_NAMED]]
    if len(going) > _NAMED:
        lines.append(f"… and {len(going) - _NAMED:,} more")
    return (
        f"Delete {count(len(report.ids), 'archived episode')} for good, {size(report.bytes)}?\n\n"
        + "\n".join(lines)
        + "\n\nNo undo brings them back; a backup that has them does."
    )


def _gone(screen: EpisodesView, report: PurgeReport) -> None:
    said = f"Deleted for good: {count(len(report.ids), 'archived episode')}."
    screen.cm.tell(said)
    screen.cm.activity_log.add(said, "ok")
    for one in report.ids:
        screen.selected.pop(one, None)
    if screen.story.episode is not None and screen.story.episode.id in report.ids:
        screen.story.say("It was deleted.")
    screen.reload()
