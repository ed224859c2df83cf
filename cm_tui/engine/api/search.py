"""Search: retrieve candidates, rank them, and ranking profiles."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.engine_base import EngineBase, of_one_generation
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.engine.search.ranking.why_not import WhyNot


_MENTIONS_S = 0.5
"""How long a question about the memory waits for updates of mentions."""


class SearchMethods(EngineBase):
    """Queries in words, matched by keyword and by meaning."""

    @needs("files")
    def search(
        self,
        query: str,
        *,
        profile: str | model.Profile = "code",
        mode: model.Mode = "hybrid",
        limit: int | None = None,
        by: model.By = "passage",
    ) -> model.SearchResult:
        """Retrieve and rank.

        `query`: words, and filters such as `path:src/net lang:rust kind:class in:tests`; `-lang:rust` excludes.
        `profile`: sources and weights. `mode`: which sides. `limit`: the most passages or files, depending on `by`;
        default: the profile's own number. `by`: list passages or files.
        """
        note, is_late = self._read_what_was_recorded(profile, mode)
        result = self._search(query, profile, mode, _depth(limit, by))
        result = self._without_forgotten(result) if is_late else result
        if by == "file":
            result = _files_of(result, self._searcher.profile(profile), limit)
        return replace(result, notes=(*result.notes, note)) if note else result

    @needs("files")
    def retrieve(
        self, query: str, *, profile: str | model.Profile = "code", mode: model.Mode = "hybrid"
    ) -> model.Candidates:
        """Retrieve only: the candidates of both sides with all data for ranking."""
        note, _ = self._read_what_was_recorded(profile, mode)
        found = self._of_one_generation(lambda: self._searcher.retrieve(query, profile=profile, mode=mode))
        return replace(found, notes=(*found.notes, note)) if note else found

    @needs("nothing", shared=False)
    def rank(
        self,
        candidates: model.Candidates,
        profile: model.Profile,
        *,
        limit: int | None = None,
        by: model.By = "passage",
    ) -> model.SearchResult:
        """Rank only: no access to store or model, milliseconds; `limit` and `by` as for `search`."""
        result = self._searcher.rank(candidates, profile, limit=_depth(limit, by))
        return _files_of(result, profile, limit) if by == "file" else result

    @needs("files")
    @of_one_generation
    def why_not(
        self,
        query: str,
        name: str,
        *,
        profile: str | model.Profile = "code",
        mode: model.Mode = "hybrid",
        limit: int | None = None,
    ) -> model.Standing:
        """Return a named item's rank for a query, what it lacks, and what would raise it.

        `query`: as for `search`. `name`: a path, an ending of one or a folder, a path and lines as `path:12-40`, or a
        symbol. `profile`: as for `search`. `mode`: as for `search`. `limit`: the most hits; default: the profile's own
        number. Raises UsageError if no name is given.
        """
        standing = self._why_not.of(query, name, profile=profile, mode=mode, limit=limit)
        return self._not_indexed(standing) if standing.state == "unknown" else standing

    @needs("nothing")
    @of_one_generation
    def known_names(self, words: Sequence[str], *, common: bool = False) -> tuple[str, ...]:
        """Return the words that name something in the index: a symbol, a file, an entry, a note.

        `words`: the first eight are looked up, by keyword alone; of a path, its last part. `common`: also those that
        most of the project's passages have.
        """
        return self._searcher.known_names(words, common=common)

    @needs("nothing")
    def profiles(self) -> Mapping[str, model.Profile]:
        """Return every profile, with the user's and the project's changes."""
        return self._searcher.profiles()

    @needs("nothing")
    def packaged_profiles(self) -> Mapping[str, model.Profile]:
        """Return the built-in profiles, without any settings."""
        return self._searcher.packaged_profiles()

    @needs("nothing", writes=("settings",))
    def save_profile(self, profile: model.Profile) -> Path:
        """Write a profile's changes to the project's configuration, and return the file."""
        return self._searcher.save_profile(profile)

    @needs("nothing")
    def marks(self) -> model.Page[model.Mark]:
        """Return the project's marks by query; the note reports an unreadable file.

        Raises RefusedError if the file is a link; StoreError if it cannot be read.
        """
        content = self._mark_file.read()
        return model.Page(tuple(content.marks), len(content.marks), note=" ".join(content.notes))

    @needs("nothing", writes=("marks",))
    def put_mark(self, mark: model.Mark) -> str:
        """Write a mark, replacing an earlier one of that result; return messages for the user.

        Raises UsageError if the mark is invalid, or there are too many; RefusedError if the query may contain a secret,
        or the file is a link; StoreError if the file cannot be written.
        """
        return self._mark_file.put(mark)

    @needs("nothing", writes=("marks",))
    def remove_mark(self, mark: model.Mark) -> str:
        """Remove a mark, if it exists; return messages for the user.

        Raises RefusedError if the file is a link; StoreError if the file cannot be written.
        """
        return self._mark_file.remove(mark)

    @needs("nothing", writes=("settings",))
    def reset_profile(self, name: str) -> model.ProfileReset:
        """Remove the project's changes to a profile; the rest of the file stays.

        Raises UsageError if there is no such profile; RefusedError if the profile exists only in this project;
        ConfigError if the file is invalid.
        """
        return self._searcher.reset_profile(name)

    @shared_property
    def _why_not(self) -> WhyNot:
        from cm_tui.engine.search.ranking.why_not import WhyNot

        return WhyNot(self._db, self._searcher)

    def _not_indexed(self, standing: model.Standing) -> model.Standing:
        """Return why an existing file is not in the index."""
        from cm_tui.engine.code.index.files import left_out

        found = left_out(self._db, self._repository, self._root, standing.name)
        if found is None:
            return standing
        said = f"{found.path} is not indexed: {found.reason}."
        return replace(standing, state="not indexed", said=said, lifts=(found.lift,) if found.lift else (), nearest=())

    @of_one_generation
    def _search(
        self, query: str, profile: str | model.Profile, mode: model.Mode, limit: int | None
    ) -> model.SearchResult:
        return self._searcher.search(query, profile=profile, mode=mode, limit=limit)

    def _read_what_was_recorded(self, profile: str | model.Profile, mode: model.Mode = "hybrid") -> tuple[str, bool]:
        """Read new memories since the last index run, for a profile that searches them, and begin their model.

        Returns a note for the response, and whether they could not be read now.
        """
        asked = self._searcher.profile(profile)
        beside = self._searcher.profile(asked.beside).sources if asked.beside else ()
        if not {model.ENTRIES, model.EPISODES, model.NOTES} & {*asked.sources, *beside}:
            return "", False
        if mode != "keyword":
            # Code is searched while it starts, after a pause.
            self._vectors.begin_prose()
        from cm_tui.engine.memory.projection import episode_sync

        is_asked = model.CODE not in asked.sources
        # A source that the user did not ask for is not waited for, and its lag is not reported.
        note = self._read_journal(None if is_asked else 0.0)
        self._follow_mentions(_MENTIONS_S if is_asked else 0.0)
        return note if is_asked else "", episode_sync.is_late(note)


def _depth(limit: int | None, by: model.By) -> int | None:
    """Number of passages to rank in full: all of them for files, as any may be the first of its file.

    Raises UsageError: results cannot be listed by that.
    """
    if by not in ("passage", "file"):
        raise UsageError(f"Unknown grouping: {by!r}.", hint="Use passage or file.")
    return sys.maxsize if by == "file" else limit


def _files_of(result: model.SearchResult, profile: model.Profile, limit: int | None) -> model.SearchResult:
    """A ranking of all passages as the first of its files."""
    from cm_tui.engine.search.ranking.grouping import by_file

    wanted = max(profile.limit, sum(profile.quotas.values())) if limit is None else max(limit, 0)
    files = by_file(result.hits)
    return replace(result, hits=(), files=files[:wanted], total_files=len(files))
