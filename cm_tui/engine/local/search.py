"""Search, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cm_tui.engine.local.rooms import LocalRooms, of_one_generation
from cm_tui.model import ENTRIES, EPISODES, Candidates, Mode, Profile, SearchResult


class LocalSearch(LocalRooms):
    """Questions in words, answered by keyword and by meaning."""

    def search(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None
    ) -> SearchResult:
        """Retrieve and rank."""
        note = self._read_what_was_recorded(profile)
        result = self._search(query, profile, mode, limit)
        return replace(result, notes=(*result.notes, note)) if note else result

    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Retrieve alone: the candidates of both sides with everything that ranking may ask for."""
        note = self._read_what_was_recorded(profile)
        found = self._retrieve(query, profile, mode)
        return replace(found, notes=(*found.notes, note)) if note else found

    def rank(self, candidates: Candidates, profile: Profile, *, limit: int | None = None) -> SearchResult:
        """Rank alone: no access to store or model."""
        return self._searcher.rank(candidates, profile, limit=limit)

    def profiles(self) -> Mapping[str, Profile]:
        """Return every profile, with the user's and the project's changes."""
        return self._searcher.profiles()

    def packaged_profiles(self) -> Mapping[str, Profile]:
        """Return the profiles as they are packaged, whatever anybody's settings change of them."""
        return self._searcher.packaged_profiles()

    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration, and return the file."""
        return self._searcher.save_profile(profile)

    @of_one_generation
    def _search(self, query: str, profile: str | Profile, mode: Mode, limit: int | None) -> SearchResult:
        return self._searcher.search(query, profile=profile, mode=mode, limit=limit)

    @of_one_generation
    def _retrieve(self, query: str, profile: str | Profile, mode: Mode) -> Candidates:
        return self._searcher.retrieve(query, profile=profile, mode=mode)

    def _read_what_was_recorded(self, profile: str | Profile) -> str:
        """Read what was written down since the last index run, for a profile that searches it; says what has to be said."""
        asked = self._searcher.profile(profile)
        beside = self._searcher.profile(asked.beside).sources if asked.beside else ()
        if not {ENTRIES, EPISODES} & {*asked.sources, *beside}:
            return ""
        from cm_tui.engine.memory import episode_sync

        is_asked = EPISODES in asked.sources
        # What comes beside was not asked for: it waits for nobody, and that some of it is late is no news.
        wait = episode_sync.WAIT_S if is_asked else 0.0
        note = episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=wait)
        return note if is_asked else ""
