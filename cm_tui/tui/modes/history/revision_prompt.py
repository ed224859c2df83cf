"""Asks a person for a revision or a symbol by name, again with the reason where nothing is called so."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.errors import CmError
from cm_tui.model import Drift, ResolvedRevision
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Line, ask_line

LAST = "last"
"""Since the person last looked."""
_NAMES = "A branch, tag, sha or HEAD~20, an ordinal such as #3112, or a date such as 2021-03-04."


class RevisionPrompt:
    """Questions over a mode.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self._looked: ResolvedRevision | None = None
        """Since when changes were new in this session; asked once, as asking is what is remembered."""

    def revision(self, then: Callable[[ResolvedRevision], None], value: str = "", wrong: str = "") -> None:
        """Ask for a revision."""

        def named(ref: str) -> None:
            self._resolve(ref, then, lambda error: self.revision(then, ref, _words(error)))

        self._ask("Go to", value, _NAMES, named, wrong)

    def since(self, then: Callable[[ResolvedRevision], None], value: str = LAST, wrong: str = "") -> None:
        """Ask since when; `last` is since the person last looked."""

        def named(ref: str) -> None:
            if ref == LAST:
                self._last(then)
            else:
                self._resolve(ref, then, lambda error: self.since(then, ref, _words(error)))

        self._ask("What changed since", value, f"`{LAST}`: since you last looked. Or: {_NAMES}", named, wrong)

    def symbol(self, then: Callable[[str], None], value: str) -> None:
        """Ask for the name of a symbol."""
        self._ask("The life of which symbol", value, "A name or qualified name; it may be gone today.", then)

    def _last(self, then: Callable[[ResolvedRevision], None]) -> None:
        def got(drift: Drift) -> None:
            self._looked = drift.since
            if drift.since is not None:
                then(drift.since)
                return
            words = " ".join(drift.notes) or "This is the first time that you look; from now on it is remembered."
            self._screen.cm.tell(words)

        if self._looked is not None:
            then(self._looked)
        else:
            self._screen.ask("naming", lambda engine: engine.drift(LAST, looked=True, limit=1), got)

    def _resolve(self, ref: str, then: Callable[[ResolvedRevision], None], fail: Callable[[CmError], None]) -> None:
        self._screen.ask("naming", lambda engine: engine.resolve(ref), then, fail)

    def _ask(self, title: str, value: str, hint: str, then: Callable[[str], None], wrong: str = "") -> None:
        def answered(answer: str) -> None:
            if answer.strip():
                then(answer.strip())

        ask_line(self._screen, title, Line(answered, value, hint, wrong=wrong))


def _words(error: CmError) -> str:
    return f"{error.message} {error.hint}".strip()
