"""Search: retrieve candidates, rank them, and the profiles that say how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import By, Candidates, Mode, Profile, SearchResult, Standing


class SearchApi(Protocol):
    """Questions in words, answered by keyword and by meaning."""

    @needs("files")
    def search(
        self,
        query: str,
        *,
        profile: str | Profile = "code",
        mode: Mode = "hybrid",
        limit: int | None = None,
        by: By = "passage",
    ) -> SearchResult:
        """Retrieve and rank.

        Args:
            query: words, and filters such as `path:src/net lang:rust kind:class in:tests`; `-lang:rust` leaves out.
            profile: what is searched, and by which numbers.
            mode: which sides.
            limit: how many passages or files, whichever `by` asks for; the profile's own number when not given.
            by: what is listed.
        """

    @needs("files")
    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Retrieve alone: the candidates of both sides with everything that ranking may ask for."""

    @needs("nothing")
    def rank(
        self, candidates: Candidates, profile: Profile, *, limit: int | None = None, by: By = "passage"
    ) -> SearchResult:
        """Rank alone: no access to store or model, milliseconds; `limit` and `by` as for `search`."""

    @needs("files")
    def why_not(
        self,
        query: str,
        name: str,
        *,
        profile: str | Profile = "code",
        mode: Mode = "hybrid",
        limit: int | None = None,
    ) -> Standing:
        """Return where something that a person names stands for a question, what it lacks, and what would lift it.

        Args:
            query: as for `search`.
            name: a path, the end of one or a folder, a path and lines as `path:12-40`, or a symbol.
            profile: as for `search`.
            mode: as for `search`.
            limit: how many hits are shown; the profile's own number when not given.

        Raises:
            UsageError: there is no name.
        """

    @needs("nothing")
    def known_names(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return those of some words that name something in the index, as it is: a symbol, a file, an entry, a note.

        Args:
            words: the first eight are looked up, by keyword alone; of a path its last part.
        """

    @needs("nothing")
    def profiles(self) -> Mapping[str, Profile]:
        """Return every profile, with the user's and the project's changes."""

    @needs("nothing")
    def packaged_profiles(self) -> Mapping[str, Profile]:
        """Return the profiles as they are packaged, whatever anybody's settings change of them."""

    @needs("nothing", writes=("settings",))
    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration, and return the file."""
