"""Erases what agents' sessions recorded: says what would go, asks, and asks again for a word, then does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from cm_tui.model import Episode, ErasedEvent, ErasureReport, told_of_neighbours
from cm_tui.model.dates import local_minute
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm_by_word
from cm_tui.tui.state.revision import asked_of
from cm_tui.tui.widgets.text import count, elide_end

WORD = "erase"
"""What has to be typed."""
_ASKED = 60
_SHOWN, _WIDTH = 3, 56
"""Events that the question names beside the episode, and characters of each: all of it fits the smallest screen."""
_NAMES = {
    "hook.prompt": ("prompt", "prompts"),
    "hook.edit": ("note of an edit", "notes of edits"),
    "hook.stop": ("answer", "answers"),
    "episode": ("episode", "episodes"),
}


class EraseDialog:
    """The questions before an episode is erased.

    Args:
        screen: the mode.
        after: gets it when it is erased.
    """

    def __init__(self, screen: ModeScreen, after: Callable[[Episode], None]) -> None:
        self._screen = screen
        self._after = after

    def ask(self, episode: Episode) -> None:
        """Say what would go with an episode, and ask."""
        self._screen.ask(
            "erase", lambda engine: engine.erase([episode.id], dry_run=True), partial(self._confirm, episode)
        )

    def _confirm(self, episode: Episode, report: ErasureReport) -> None:
        confirm_by_word(
            self._screen, question(episode, report), "Erase", WORD, f"Type `{WORD}` to erase it", "It cannot be brought back.",
            lambda: self._screen.do(lambda engine: engine.erase([episode.id]), partial(self._erased, episode)),
        )  # fmt: skip

    def _erased(self, episode: Episode, report: ErasureReport) -> None:
        beside = [told_of_neighbours(report.neighbours)] if report.neighbours else []
        said = ". ".join([f"Erased {counts(report)}", *beside, *report.notes])
        self._screen.cm.tell(f"{said}.")
        self._screen.cm.activity_log.add(f"{said}.", "ok")
        seen = self._screen.cm.revision.episode
        if seen is not None and seen.id == episode.id:
            self._screen.cm.go_to_now()
        self._after(episode)


def counts(report: ErasureReport) -> str:
    """How much goes."""
    kinds = Counter(_NAMES.get(event.kind, ("event", "events")) for event in report.events)
    return ", ".join(count(number, *names) for names, number in kinds.items()) or "what was left of it"


def question(episode: Episode, report: ErasureReport) -> str:
    """What is asked before it goes."""
    seen = [event for event in report.events if event.kind != "episode"][:_SHOWN]
    beside = [told_of_neighbours(report.neighbours, named=1)] if report.neighbours else []
    told = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in (*report.reasons, *beside, *report.notes)]
    return (
        f"Erase “{elide_end(asked_of(episode), _ASKED)}” for good?\n\n"
        f"What goes from the journal: {counts(report)}. With it go the passages and vectors made from them. "
        "Commits and files stay as they are.\n" + "\n".join([*map(_line, seen), *told])
    )


def _line(event: ErasedEvent) -> str:
    kind = _NAMES.get(event.kind, (event.kind, ""))[0]
    return elide_end(f"{local_minute(event.time)}  {kind}: {event.words}", _WIDTH)
