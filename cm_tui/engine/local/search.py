"""Search, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Candidates, Mode, Profile, SearchResult


class LocalSearch(LocalRooms):
    """Questions in words, answered by keyword and by meaning."""

    def search(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None
    ) -> SearchResult:
        """Retrieve and rank."""
        return self._searcher.search(query, profile=profile, mode=mode, limit=limit)

    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Retrieve alone: the candidates of both sides with everything that ranking may ask for."""
        return self._searcher.retrieve(query, profile=profile, mode=mode)

    def rank(self, candidates: Candidates, profile: Profile, *, limit: int | None = None) -> SearchResult:
        """Rank alone: no access to store or model."""
        return self._searcher.rank(candidates, profile, limit=limit)

    def profiles(self) -> Mapping[str, Profile]:
        """Return every profile, with the user's and the project's changes."""
        return self._searcher.profiles()

    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration, and return the file."""
        return self._searcher.save_profile(profile)
