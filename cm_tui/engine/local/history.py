"""The history, in this process."""

from __future__ import annotations

from collections.abc import Generator

from cm_tui.engine.local.index import LocalIndex
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


class LocalHistory(LocalIndex):
    """What was there at which commit of the mainline."""

    def mainline(self, *, match: str = "", before: int | None = None, limit: int = 200) -> Page[CommitPoint]:
        """Return commits of the mainline, newest first."""
        return self._history.commits.mainline(match, before, limit)

    def resolve(self, ref: str) -> ResolvedRevision:
        """Return the revision that a name stands for."""
        return self._history.revisions.resolve(ref)

    def history(self) -> HistoryStatus:
        """Return how much of the mainline is known."""
        return self._history.report.status()

    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: Cancel | None = None
    ) -> Generator[Progress, None, None]:
        """Read the mainline's history, newest first; what is known answers meanwhile."""
        yield from self._history.backfill(depth=depth, since=since, cancel=cancel or Cancel())
        self._follow_mentions_behind(cancel)

    def wants_history(self) -> bool:
        """Return whether the configuration asks for more of the history than is known."""
        return self._history.goal() is not None

    def catch_up(self, *, cancel: Cancel | None = None) -> Generator[Progress, None, None]:
        """Read the history that the configuration asks for; nothing that was pruned is read again."""
        yield from self._history.catch_up(cancel or Cancel())
        self._follow_mentions_behind(cancel)

    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Return symbols alive at a revision."""
        inside = self._inside(file) if file else None
        return self._history.ask(ref, lambda graph: graph.symbols(file=inside, kind=kind, match=match, limit=limit))

    def files_at(self, ref: str, folder: str = "") -> Page[FileEntry]:
        """Return the files below a folder at a revision."""
        inside = self._inside(folder).removeprefix(".") if folder else ""
        return self._history.files(ref, inside)

    def changes(self, before: str, after: str, *, limit: int = 1000) -> Page[SymbolChange]:
        """Return what became of symbols between two revisions."""
        return self._history.changes(before, after, limit)

    def symbol_history(self, name: str | SymbolKey, *, callers: bool = False, limit: int = 20) -> Page[SymbolHistory]:
        """Return the history of the symbols that bear a name."""
        return self._history.symbol_histories(name, limit, callers=callers)

    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> Drift:
        """Return where the index and the checkout differ, symbol by symbol."""
        return self._history.drift(self.plan(), since, limit, looked=looked)

    def prune(
        self,
        *,
        before: str | None = None,
        older_than: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> PruneReport:
        """Drop the history before a revision, older than an age, or all of it."""
        return self._history.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)
