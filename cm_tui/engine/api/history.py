"""History: commits of the mainline, with the symbols and files at each."""

from __future__ import annotations

from collections.abc import Generator

from cm_tui import model
from cm_tui.engine.api.index import IndexMethods
from cm_tui.engine.api.needs import needs


class HistoryMethods(IndexMethods):
    """The state at each commit, on the mainline (HEAD's first-parent line) or off it."""

    @needs("head")
    def mainline(
        self, *, match: str = "", before: int | None = None, limit: int = 200
    ) -> model.Page[model.CommitPoint]:
        """Return commits of the mainline, newest first.

        `match`: only those with these words in subject, author, date or sha. `before`: only those below this ordinal:
        the last one of the previous page. `limit`: the most to return; the total counts all matches, before and after
        this page.
        """
        return self._history.commits.mainline(match, before, limit)

    @needs("head")
    def resolve(self, ref: str) -> model.ResolvedRevision:
        """Return the revision of a name: a branch, tag, sha or `HEAD~2`, `#17` (an ordinal), or a date.

        A commit off the mainline has a note on its place; the first request for it reads its files. A date
        (`2024-05-01`, UTC) gives the last commit made before it. Raises NotFoundError if no revision has that name;
        UsageError if the name is ambiguous or malformed, or the project has no git.
        """
        return self._history.revisions.resolve(ref)

    @needs("nothing", of_index=True)
    def history(self) -> model.HistoryStatus:
        """Return how much of the mainline is known."""
        return self._history.report.status()

    @needs("nothing", writes=("index",))
    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: model.Cancel | None = None
    ) -> Generator[model.Progress, None, None]:
        """Read the mainline's history, newest first; known commits can be queried meanwhile, and a later run continues.

        `depth`: how many commits back from HEAD; all when neither is given. `since`: a revision or a date to go back
        to. `cancel`: checked between steps; finished work is kept.
        """
        yield from self._history.backfill(depth=depth, since=since, cancel=cancel or model.Cancel())
        self._follow_mentions_in_slices(cancel)

    @needs("nothing")
    def wants_history(self) -> bool:
        """Return whether `catch_up` is due: history is incomplete, and nothing reads it in the background."""
        return self._history.goal() is not None

    @needs("nothing", writes=("index",))
    def catch_up(self, *, cancel: model.Cancel | None = None) -> Generator[model.Progress, None, None]:
        """Read the configured history, without what was pruned.

        `cancel`: checked between steps; finished work is kept.
        """
        yield from self._history.catch_up(cancel or model.Cancel())
        self._follow_mentions_in_slices(cancel)

    @needs("head")
    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> model.Page[model.Symbol]:
        """Return symbols alive at a revision, as `symbols` lists them now."""
        inside = self._inside(file) if file else None
        return self._history.ask(ref, lambda graph: graph.symbols(file=inside, kind=kind, match=match, limit=limit))

    @needs("head")
    def files_at(self, ref: str, folder: str = "") -> model.Page[model.FileEntry]:
        """Return the files below a folder at a revision, all levels, sorted by path."""
        inside = self._inside(folder).removeprefix(".") if folder else ""
        return self._history.files(ref, inside)

    @needs("head")
    def changes(self, before: str, after: str, *, limit: int = 1000) -> model.Page[model.SymbolChange]:
        """Return changes of symbols between two revisions: added, removed, changed, new signature, moved."""
        return self._history.changes(before, after, limit)

    @needs("head")
    def symbol_history(
        self, name: str | model.SymbolKey, *, callers: bool = False, limit: int = 20
    ) -> model.Page[model.SymbolHistory]:
        """Return the history of the symbols with a name, current ones first; also of removed ones.

        `name`: as for `definitions`; a key names one symbol. `callers`: add the callers of removed ones, at their last
        revision. `limit`: the most symbols. Raises NotFoundError if no known symbol ever had that name.
        """
        return self._history.symbol_histories(name, limit, callers=callers)

    @needs("checkout", shared=False)
    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> model.Drift:
        """Return the differences between index and checkout, symbol by symbol.

        `since`: also changes since this revision or date; `last`: since the user last looked. `looked`: afterwards,
        store the indexed commit as the one that the user last looked at. `limit`: the most rows (and changes).
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
    ) -> model.PruneReport:
        """Drop the history before a revision, older than an age such as `30d`, or all of it.

        Raises UsageError: not exactly one of the three is given, or the age is malformed.
        """
        return self._history.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)
