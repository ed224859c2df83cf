"""Drops history: asks how much, counts what would go, asks again with the counts, then does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cm_tui.errors import CmError
from cm_tui.model import Drift, PruneReport, ResolvedRevision
from cm_tui.model.dates import length
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Line, ask_line, confirm
from cm_tui.tui.widgets.text import count, size

LAST = "last"
"""Since the person last looked."""
_NAMES = "A branch, tag, sha or HEAD~20, an ordinal such as #3112, a date such as 2021-03-04, or an age such as 2w."


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


ALL = "all"
_HINT = (
    "A revision: what was before it goes. An age such as 90d, 6m or 2y: what is older. "
    f"`{ALL}`: everything but now. It is counted first, and git keeps its own."
)


class PruneDialog:
    """The questions before history is dropped.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen

    def ask(self, value: str, wrong: str = "") -> None:
        """Ask from where on history is kept.

        Args:
            value: what stands in the input.
            wrong: what was wrong with the answer before.
        """

        def answered(answer: str) -> None:
            if answer.strip():
                self._count(answer.strip())

        ask_line(self._screen, "Drop history before", Line(answered, value, _HINT, wrong=wrong))

    def _count(self, answer: str) -> None:
        what = prune_arguments(answer)

        def failed(error: CmError) -> None:
            self.ask(answer, f"{error.message} {error.hint}".strip())

        self._screen.ask(
            "prune", lambda engine: engine.prune(**what, dry_run=True), partial(self._confirm, what), failed
        )

    def _confirm(self, what: dict[str, Any], report: PruneReport) -> None:
        if not report.commits and not report.spans:
            self._screen.cm.tell(f"There is nothing to drop: {report.note}.")
            return

        def drop() -> None:
            self._screen.ask("prune", lambda engine: engine.prune(**what), self._dropped)

        confirm(self._screen, question(report), "Drop", drop)

    def _dropped(self, report: PruneReport) -> None:
        self._screen.cm.tell(f"Dropped {counts(report)}: {report.note}.")
        self._screen.cm.activity_log.add(f"{report.note}: {counts(report)}.", "ok")
        self._screen.cm.lifecycle.history_dropped()


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
    kept = f"#{first.ordinal:,} {first.sha[:8]} and what came after stay." if first else "Only now stays."
    return (
        f"Drop {counts(report)}?\n\n{kept} Questions about earlier revisions will say that history was removed. "
        "Nothing of git is touched: b reads it again."
    )
