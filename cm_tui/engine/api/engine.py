"""What the engine to the engine offers: one protocol, whoever implements it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cm_tui.model import (
    Cancel,
    Candidates,
    Check,
    CommitPoint,
    Drift,
    Edge,
    Episode,
    FileEntry,
    Freshness,
    HistoryStatus,
    ImportEdge,
    IndexPlan,
    Mode,
    Pack,
    PackRequest,
    Page,
    Profile,
    Progress,
    ProjectStatus,
    PruneReport,
    ResolvedRevision,
    SearchResult,
    SkippedFile,
    Source,
    Symbol,
    SymbolChange,
    SymbolHistory,
    SymbolKey,
)


class Engine(Protocol):
    """What every front end may ask; all paths are relative to the project's root, with `/`."""

    @property
    def root(self) -> Path:
        """The project's root folder."""

    # --- the index ---

    def status(self) -> ProjectStatus:
        """The project and its index at a glance."""

    def stale_reason(self) -> str:
        """Why the index does not reflect this checkout's HEAD, or nothing.

        Raises:
            NotIndexedError: there is no index yet.
        """

    def freshness(self) -> Freshness:
        """Each layer that keeps the index fresh, and what is behind.

        Raises:
            NotIndexedError: there is no index yet.
        """

    def plan(self, *, full: bool = False, since: str | None = None) -> IndexPlan:
        """What `index` would do, without doing it."""

    def index(
        self, *, full: bool = False, since: str | None = None, paths: Sequence[str] = (), cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Bring the index up to the working tree; `paths` alone when given. The last step carries the summary."""

    def rebuild(self, *, cancel: Cancel | None = None) -> Iterator[Progress]:
        """Throw the index away and make it again."""

    def reset(self) -> None:
        """Remove the project's index."""

    def doctor(self) -> tuple[Check, ...]:
        """Check model, extension, grammars, compiled parts, store and versions."""

    # --- search ---

    def search(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None
    ) -> SearchResult:
        """Retrieve and rank."""

    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Only retrieve: the candidates of both sides with everything that ranking may ask for."""

    def rank(self, candidates: Candidates, profile: Profile, *, limit: int | None = None) -> SearchResult:
        """Only rank: no access to store or model, milliseconds."""

    def profiles(self) -> Mapping[str, Profile]:
        """Every profile, with the user's and the project's changes."""

    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration; returns the file."""

    # --- code; `at` names a moment of the past, as for `resolve` ---

    def files(self, folder: str = "") -> Page[FileEntry]:
        """Files below a folder, all levels, sorted by path."""

    def skipped(self) -> Page[SkippedFile]:
        """Files that the walk left out."""

    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols in order of path and line; `match` is fuzzy and orders by fit."""

    def definitions(self, name: str, *, at: str | None = None) -> Page[Symbol]:
        """Definitions of a name or qualified name (any suffix of it, at a separator)."""

    def callers(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """Call sites of a symbol; of the call sites' own symbols when depth > 1 (at most 3)."""

    def callees(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """What a symbol calls."""

    def dependencies(self, path: str, *, at: str | None = None) -> Page[ImportEdge]:
        """What a file imports."""

    def importers(self, target: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Who imports a module or a file."""

    def source(self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None) -> Source:
        """Lines of a file."""

    # --- time ---

    def mainline(self, *, match: str = "", before: int | None = None, limit: int = 200) -> Page[CommitPoint]:
        """Commits of HEAD's first-parent line, newest first.

        Args:
            match: only those whose subject, author, date or sha has these words.
            before: only those below this ordinal: the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """

    def resolve(self, ref: str) -> ResolvedRevision:
        """The moment that a name stands for: a branch, tag, sha or `HEAD~2`, `#17` (an ordinal), or a date.

        A commit that is not on the line gives its nearest ancestor there, and says so. A date (`2024-05-01`, UTC)
        gives the last commit made before it.

        Raises:
            NotFoundError: nothing is called so, or nothing of it is on the line.
            UsageError: the name is ambiguous or malformed, or the project has no git.
        """

    def history(self) -> HistoryStatus:
        """How much of the line is known."""

    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Read the line's history, newest first; what is known answers meanwhile, and a later run goes on from there.

        Args:
            depth: how many commits back from HEAD; all when neither is given.
            since: a moment or a date to go back to.
            cancel: looked at between steps; what was read is kept.
        """

    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols alive at a moment, as `symbols` lists them now."""

    def files_at(self, ref: str, folder: str = "") -> Page[FileEntry]:
        """Files below a folder at a moment, all levels, sorted by path."""

    def changes(self, before: str, after: str, *, limit: int = 1000) -> Page[SymbolChange]:
        """What became of symbols between two moments: added, removed, changed, of another signature, moved."""

    def symbol_history(self, name: str | SymbolKey, *, callers: bool = False, limit: int = 20) -> Page[SymbolHistory]:
        """The lives of the symbols that bear a name, those alive first; also of symbols that are gone.

        Args:
            name: as for `definitions`; a key names one symbol.
            callers: say who called those that are gone, at the last moment they were there.
            limit: how many lives at most.

        Raises:
            NotFoundError: nothing that is known ever bore that name.
        """

    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> Drift:
        """Where the index and the checkout differ, symbol by symbol.

        Args:
            since: also what changed since this moment or date; `last`: since the person last looked.
            looked: remember the indexed commit as where they last looked, after answering.
            limit: how many rows (and changes) at most.
        """

    def prune(
        self,
        *,
        before: str | None = None,
        older_than: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> PruneReport:
        """Drop the past before a moment, older than an age such as `30d`, or all of it.

        Raises:
            UsageError: not exactly one of the three is given, or the age is malformed.
        """

    # --- episodes ---

    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """What agents' sessions recorded, newest first, without patches; by every checkout of the project.

        Args:
            match: only those that have these words in prompts, answer, agent, session, paths, day, sha or `#17`.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """

    def episode(self, name: str) -> Episode:
        """One of them, whole, with its patch and the moment that it can be replayed at.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """

    def episode_moments(self) -> tuple[int, ...]:
        """Ordinals of the commits of the line that agents saw, in order."""

    # --- packs ---

    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> Pack:
        """Choose what answers a question, within a budget of tokens."""

    def pack_items(self, items: Sequence[PackRequest], *, budget: int = 4000, question: str = "") -> Pack:
        """Make a pack of what a person chose, in that order."""

    def neighbours(self, items: Sequence[PackRequest]) -> tuple[PackRequest, ...]:
        """Callers, callees and used types of what was chosen, nearest first."""

    def close(self) -> None:
        """Let go of the store."""
