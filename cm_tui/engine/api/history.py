"""The history: commits of the mainline, and symbols and files as they were at each."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.index import IndexMethods
from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import (
        Cancel,
        CommitPoint,
        Drift,
        FileEntry,
        HistoryStatus,
        Page,
        Progress,
        PruneReport,
        ResolvedRevision,
        Symbol,
        SymbolChange,
        SymbolHistory,
        SymbolKey,
    )


class HistoryMethods(IndexMethods):
    """What was there at which commit, of the mainline (HEAD's first-parent line) or off it."""

    @needs("head")
    def mainline(self, *, match: str = "", before: int | None = None, limit: int = 200) -> Page[CommitPoint]:
        """Return commits of the mainline, newest first.

        Args:
            match: only those whose subject, author, date or sha has these words.
            before: only those below this ordinal: the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """
        return self._history.commits.mainline(match, before, limit)

    @needs("head")
    def resolve(self, ref: str) -> ResolvedRevision:
        """Return the revision that a name stands for: a branch, tag, sha or `HEAD~2`, `#17` (an ordinal), or a date.

        A commit that is not on the mainline says where it lies; the first question about it reads its files. A date
        (`2024-05-01`, UTC) gives the last commit made before it.

        Raises:
            NotFoundError: nothing is called so.
            UsageError: the name is ambiguous or malformed, or the project has no git.
        """
        return self._history.revisions.resolve(ref)

    @needs("nothing", of_index=True)
    def history(self) -> HistoryStatus:
        """Return how much of the mainline is known."""
        return self._history.report.status()

    @needs("nothing", writes=("index",))
    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: Cancel | None = None
    ) -> Generator[Progress, None, None]:
        """Read the mainline's history, newest first; what is known answers meanwhile, and a later run goes on from there.

        Args:
            depth: how many commits back from HEAD; all when neither is given.
            since: a revision or a date to go back to.
            cancel: looked at between steps; what was read is kept.
        """
        yield from self._history.backfill(depth=depth, since=since, cancel=cancel or model.Cancel())
        self._follow_mentions_behind(cancel)

    @needs("nothing")
    def wants_history(self) -> bool:
        """Return whether `catch_up` is due: more is to be known than is, and nothing reads it in the background."""
        return self._history.goal() is not None

    @needs("nothing", writes=("index",))
    def catch_up(self, *, cancel: Cancel | None = None) -> Generator[Progress, None, None]:
        """Read the history that the configuration asks for; nothing that was pruned is read again.

        Args:
            cancel: looked at between steps; what was read is kept.
        """
        yield from self._history.catch_up(cancel or model.Cancel())
        self._follow_mentions_behind(cancel)

    @needs("head")
    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Return symbols alive at a revision, as `symbols` lists them now."""
        inside = self._inside(file) if file else None
        return self._history.ask(ref, lambda graph: graph.symbols(file=inside, kind=kind, match=match, limit=limit))

    @needs("head")
    def files_at(self, ref: str, folder: str = "") -> Page[FileEntry]:
        """Return the files below a folder at a revision, all levels, sorted by path."""
        inside = self._inside(folder).removeprefix(".") if folder else ""
        return self._history.files(ref, inside)

    @needs("head")
    def changes(self, before: str, after: str, *, limit: int = 1000) -> Page[SymbolChange]:
        """Return what became of symbols between two revisions: added, removed, changed, of another signature, moved."""
        return self._history.changes(before, after, limit)

    @needs("head")
    def symbol_history(self, name: str | SymbolKey, *, callers: bool = False, limit: int = 20) -> Page[SymbolHistory]:
        """Return the history of the symbols that bear a name, those alive first; also of symbols that are gone.

        Args:
            name: as for `definitions`; a key names one symbol.
            callers: say who called those that are gone, at the last revision they were there.
            limit: how many symbols at most.

        Raises:
            NotFoundError: nothing that is known ever bore that name.
        """
        return self._history.symbol_histories(name, limit, callers=callers)

    @needs("checkout", shared=False)
    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> Drift:
        """Return where the index and the checkout differ, symbol by symbol.

        Args:
            since: also what changed since this revision or date; `last`: since the person last looked.
            looked: remember the indexed commit as where they last looked, after answering.
            limit: how many rows (and changes) at most.
        """
        return self._history.drift(self.plan(), since, limit, looked=looked)

    @needs("nothing", writes=("index",))
    def prune(
        self,
        *,
        before: str | None = None,
        older_than: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> PruneReport:
        """Drop the history before a revision, older than an age such as `30d`, or all of it.

        Raises:
            UsageError: not exactly one of the three is given, or the age is malformed.
        """
        return self._history.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)
