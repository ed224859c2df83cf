"""What the door to the engine offers: one protocol, whoever implements it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cm_tui.model import (
    Cancel,
    Candidates,
    Check,
    Edge,
    FileEntry,
    Freshness,
    ImportEdge,
    IndexPlan,
    Mode,
    Pack,
    PackRequest,
    Page,
    Profile,
    Progress,
    ProjectStatus,
    SearchResult,
    SkippedFile,
    Source,
    Symbol,
    SymbolKey,
)


class Door(Protocol):
    """What every front end may ask; all paths are relative to the project's root, with `/`."""

    @property
    def root(self) -> Path:
        """The project's root folder."""

    # --- the index ---

    def status(self) -> ProjectStatus:
        """The project and its index at a glance."""

    def behind(self) -> str:
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

    # --- code ---

    def files(self, folder: str = "") -> Page[FileEntry]:
        """Files below a folder, all levels, sorted by path."""

    def skipped(self) -> Page[SkippedFile]:
        """Files that the walk left out."""

    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols in order of path and line; `match` is fuzzy and orders by fit."""

    def definitions(self, name: str) -> Page[Symbol]:
        """Definitions of a name or qualified name (any suffix of it, at a separator)."""

    def callers(self, name: str | SymbolKey, *, depth: int = 1) -> Page[Edge]:
        """Call sites of a symbol; of the call sites' own symbols when depth > 1 (at most 3)."""

    def callees(self, name: str | SymbolKey, *, depth: int = 1) -> Page[Edge]:
        """What a symbol calls."""

    def dependencies(self, path: str) -> Page[ImportEdge]:
        """What a file imports."""

    def importers(self, target: str) -> Page[ImportEdge]:
        """Who imports a module or a file."""

    def source(self, path: str, start_line: int = 1, end_line: int | None = None) -> Source:
        """Lines of a file."""

    # --- packs ---

    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> Pack:
        """Choose what answers a question, within a budget of tokens."""

    def pack_items(self, items: Sequence[PackRequest], *, budget: int = 4000, question: str = "") -> Pack:
        """Make a pack of what a person chose, in that order."""

    def neighbours(self, items: Sequence[PackRequest]) -> tuple[PackRequest, ...]:
        """Callers, callees and used types of what was chosen, nearest first."""

    def close(self) -> None:
        """Let go of the store."""
