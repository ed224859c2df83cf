"""The search pipeline: retrieve (keyword and vector side), then rank."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import Config, load_config
from cm_tui.config.load import Stamps, stamps_of
from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.provider import SWITCHED_OFF, Provider
from cm_tui.engine.search.ranking import profile_file, profiles, retrieve
from cm_tui.engine.search.ranking.candidate_table import CandidateTable
from cm_tui.engine.search.ranking.filters import Filter, Vocabulary
from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.named_places import framed, quoting, with_signal
from cm_tui.engine.search.ranking.narrowed import Narrowed
from cm_tui.engine.search.ranking.near_names import NearNames
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.engine.search.ranking.passing import Filters, searches_code
from cm_tui.engine.search.ranking.prefetch import Prefetch
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.rank import MarksOf, Ranking, marked, passages_of, rank, ranked
from cm_tui.engine.search.ranking.remembered import described, numbers, query_dates
from cm_tui.engine.search.ranking.remembered import signals as remembered
from cm_tui.engine.search.ranking.rerank import FastembedReranker, Reranker, TimedReranker
from cm_tui.engine.search.ranking.retrieve import Nearness
from cm_tui.engine.search.ranking.spelling import Spelling, known_names, said
from cm_tui.engine.search.ranking.stale import FlagsOf, flagged
from cm_tui.errors import ConfigError, ModelError, UsageError
from cm_tui.model import CODE, Candidates, Mode, Profile, SearchResult
from cm_tui.model.profile import ProfileReset
from cm_tui.model.search import HOLDS_NONE
from cm_tui.paths import project_config_file

if TYPE_CHECKING:
    from cm_tui.engine.search.vectors.index import VectorIndex

_NO_RERANKER = "the profile asks for it, but `search.reranker` of the configuration is not set."
_PLURALS = {"note": "notes", "entry": "entries", "episode": "episodes", "transcript": "transcripts"}


Sides = Callable[[str], "tuple[VectorIndex | None, Provider | None]"]


class Searcher:
    """Searches one project; thread-safe.

    Args:
        db: the project's store.
        vectors: the vector side; None: no vectors.
        config: the settings, with changes to profiles and the reranker.
        provider: embeds the query; None: no model.
        sides: the vector side and the model of a source, where sources have several.
        root: the project's root, where changed profiles are saved.
        flags_of: returns which remembered items are stale.
        marks_of: returns the user's marks for a query.
        reranker: instead of the configured one.
        languages: the languages that a name stands for, for filters.
        clock: the time that relative dates in a query count from.
    """

    def __init__(
        self, db: Database, vectors: VectorIndex | None, config: Config, *, provider: Provider | None = None,
        sides: Sides | None = None, root: Path | None = None, flags_of: FlagsOf | None = None, marks_of: MarksOf | None = None,
        reranker: Reranker | None = None, languages: Mapping[str, tuple[str, ...]] | None = None, clock: Clock = SYSTEM,
    ) -> None:  # fmt: skip
        self._records = PassageCache(db)
        self._sides: Sides = sides or (lambda _: (vectors, provider))
        self._config = config
        self._clock = clock
        self._changes = config.profiles
        self._stamps: Stamps = stamps_of(root)
        self._root = root
        self._keyword = KeywordIndex(db)
        self.names = NearNames(db)
        self._prefetch = Prefetch(self._keyword, self.names, self._records)
        self._spelling = Spelling(self._keyword, self.names)
        self._filters = Filters(db, Vocabulary(languages or {}, "" if root is None else root.as_posix()))
        self._saved: dict[str, Profile] = {}
        self._loaded: tuple[object, Mapping[str, Profile]] | None = None
        model = config.search.reranker
        given = reranker or (FastembedReranker(model) if model else None)
        self._flags_of = flags_of
        self._marks_of: MarksOf = marks_of or (lambda _: ((), ""))
        self._reranker = TimedReranker(given) if given else None

    def close(self) -> None:
        """Stop background work; the store can be closed then."""
        self._prefetch.close()

    def known_names(self, words: Sequence[str], *, common: bool = False) -> tuple[str, ...]:
        """Return the words that are names in the index, without a model."""
        return known_names(self._keyword, words, common=common)

    # --- answering ---

    def search(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None,
        only: Sequence[str] | None = None,
    ) -> SearchResult:  # fmt: skip
        """Retrieve and rank; as for `retrieve`."""
        chosen = self.profile(profile)
        return self.rank(self.retrieve(query, profile=chosen, mode=mode, only=only), chosen, limit=limit)

    def retrieve(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", only: Sequence[str] | None = None,
        also: retrieve.Ids | None = None, is_beside: bool = False,
    ) -> Candidates:  # fmt: skip
        """Retrieve the candidates of both sides; the result contains the actual mode.

        Args:
            query: words, and filters such as `path:src/net`.
            profile: sources and weights.
            mode: which sides.
            only: paths; all others are ignored.
            also: passages that are always candidates.
            is_beside: they are shown next to another profile's, for the same query.

        Raises:
            UsageError: the mode or the profile is unknown.
        """
        started = time.perf_counter()
        if mode not in ("hybrid", "keyword", "vector"):
            raise UsageError(f"Unknown mode: {mode!r}.", hint="Use hybrid, keyword or vector.")
        chosen = self.profile(profile)
        asked = self._narrowed(query, chosen, only)
        of_code = searches_code(chosen)
        meant = self._spelling.suggestions(asked) if of_code else ()
        of_chinese = of_code and self._keyword.of_chinese()
        asked = replace(asked, query=replace(asked.query, near=tuple(one.name for one in meant), of_chinese=of_chinese))
        question, notes = asked.query, list(asked.notes)
        near, used = self._nearness(question, chosen, mode, notes) if question.terms else ({}, mode)
        used = "keyword" if asked.is_listing else used
        marks, unread = self._marks_of(query) if of_code else ((), "")
        notes += [unread] if unread else []
        report = question.report if of_code else None
        frames = framed(self._records, report) if report else {}
        quotes = quoting(self._keyword, self._records, report) if report else {}
        if always := [*(passages_of(self._records, marks) if marks else ()), *frames, *quotes]:
            also = np.union1d([] if also is None else also, always).astype(np.int64)
        nearness, is_keyword = asked.nearness(near.get), used != "vector"
        dates = query_dates(question.cut, chosen, self._records, self._keyword, self._clock.now())
        question = replace(question, faint=numbers(dates)) if dates else question
        table = retrieve.candidates(
            self._records, self._keyword, question, chosen, nearness, keyword=is_keyword, only=asked.only, also=also
        )
        measured = remembered(table, question.cut, dates, chosen.adjustments)
        table = replace(table, signals={**table.signals, **measured}) if measured else table
        table = asked.named(table, self._records.get)
        table = table if self._flags_of is None else flagged(table, self._flags_of)
        table = marked(table, marks) if marks else table
        table = with_signal(with_signal(table, "frame", frames), "message", quotes)
        documents = self._keyword.documents()
        if len(documents.ids) and not any(len(self._keyword.documents(source).ids) for source in chosen.sources):
            notes.append(f"The profile {chosen.name} searches {_listed(chosen.sources)}; {HOLDS_NONE}")
        if not is_beside:
            self._prefetch.asked(documents.generation)
        if asked.only is None and (beside := self._comparison(query, chosen, mode)) is not None:
            table = replace(table, beside=beside)
        for language, words in (("English", question.english), ("Chinese, as the comments are", question.chinese)):
            notes += [f"Also searched in {language}: {', '.join(words)}."] if words else []
        notes += [described(dates)] if dates else []
        notes += [said(meant)] if meant else []
        notes += [report.described(len(table.terms))] if report else []
        filters, took = tuple(map(str, asked.filters)), (time.perf_counter() - started) * 1000
        return Candidates(query, used, table, took, tuple(notes), filters=filters, suggestions=meant)

    def _narrowed(self, query: str, profile: Profile, only: Sequence[str] | None) -> Narrowed:
        """Return the narrowed query with messages; with explicit paths, nothing is a filter."""
        whole = Query(query)
        asked = self._filters.read(whole, profile) if only is None else Narrowed(whole, only=self._records.at(only))
        notes = list(asked.notes)
        if len(query) > (most := whole.read_characters):
            notes.insert(0, f"Only the first {most:,} of {len(query):,} characters of the query were read.")
        if not asked.query.terms and not asked.is_listing:
            notes.append("The query contains no words to search for.")
        return replace(asked, notes=tuple(notes))

    def _comparison(self, query: str, profile: Profile, mode: Mode) -> tuple[Candidates, Profile] | None:
        """The candidates of the profile shown next to another, if it has anything to search."""
        other = self.profiles().get(profile.beside) if profile.beside else None
        if other is None or not any(len(self._keyword.documents(source).ids) for source in other.sources):
            return None
        # Only one level: that profile shows no further one.
        asked = replace(other, beside="", limit=profile.beside_limit, min_score=profile.beside_min_score)
        return self.retrieve(query, profile=asked, mode=mode, is_beside=True), asked

    def rank(self, candidates: Candidates, profile: Profile, *, limit: int | None = None) -> SearchResult:
        """Rank candidates by a profile; needs neither store nor embedding model."""
        table: CandidateTable = candidates.table
        asked, profile = self._as_ranked(candidates, profile)
        used, reason = self._used_reranker(profile)
        try:
            result = rank(asked, profile, limit=limit, reranker=used)
        except ModelError as error:
            result = rank(asked, replace(profile, rerank="off"), limit=limit)
            reason = error.message
        result = replace(result, query=candidates.query, filters=candidates.filters, suggestions=candidates.suggestions)
        if table.beside is not None:
            result = replace(
                result, beside=self.rank(*table.beside).hits, beside_first=Query(asked.query).asks_for_reasons
            )
        return replace(result, notes=(*result.notes, f"Not reranked: {reason}")) if reason else result

    def _used_reranker(self, profile: Profile) -> tuple[Reranker | None, str]:
        """Return the reranker that a profile allows now, or why it is skipped where the user should know."""
        if self._reranker is None:
            return None, _NO_RERANKER if profile.rerank == "on" else ""
        slow = self._reranker.too_slow() if profile.rerank == "auto" else ""
        return (None, slow) if slow else (self._reranker, "")

    def ranking(self, candidates: Candidates, profile: Profile) -> Ranking:
        """Return the whole ranking behind the hits of `rank`; an unavailable reranker is skipped."""
        asked, profile = self._as_ranked(candidates, profile)
        used, _ = self._used_reranker(profile)
        try:
            return ranked(asked, profile, reranker=used)
        except ModelError:
            return ranked(asked, profile)

    def _as_ranked(self, candidates: Candidates, profile: Profile) -> tuple[Candidates, Profile]:
        """Candidates with only the words of their query, and their weights."""
        if candidates.table.is_report:
            factors = profile.report
            weights = {name: weight * factors.get(name, 1.0) for name, weight in profile.adjustments.items()}
            profile = replace(profile, adjustments=weights)
        if not candidates.filters:
            return candidates, profile
        if not candidates.table.query_terms:
            # A reranker reads words; without any, the order of path and line stays.
            profile = replace(profile, min_score=0.0, adjustments={}, diversity="none", rerank="off")
        return replace(candidates, query=self.words_of(candidates.query)), profile

    def words_of(self, query: str) -> str:
        """Return a query without its filters."""
        return self._filters.parse(Query(query).cut).words

    def refused(self, query: str, profile: Profile, ids: Sequence[int]) -> tuple[Filter, ...]:
        """Return the filters of a query that match none of some passages."""
        return self._filters.refusing(Query(query), profile, ids)

    def _nearness(
        self, query: Query, profile: Profile, mode: Mode, notes: list[str]
    ) -> tuple[dict[str, Nearness], Mode]:
        """The query's vector by source, and the possible mode; notes give the reasons for a lesser mode."""
        if mode == "keyword":
            return {}, mode
        found: dict[str, Nearness] = {}
        known: dict[int, tuple[Nearness | None, str]] = {}
        for source in dict.fromkeys(profile.sources) or (CODE,):
            vectors, provider = self._sides(source)
            if id(vectors) not in known:
                known[id(vectors)] = self._near(query, vectors, provider, notes)
            near, _ = known[id(vectors)]
            if near is not None:
                found[source if profile.sources else ""] = near
        reasons = [reason for _, reason in known.values() if reason]
        notes.extend(f"Keyword only: {reason}" for reason in reasons)
        # A side without passages needs no reason: it would find nothing.
        return found, "keyword" if reasons and not found else mode

    def _near(
        self, query: Query, vectors: VectorIndex | None, provider: Provider | None, notes: list[str]
    ) -> tuple[Nearness | None, str]:
        """The vectors of one model with the query's; else why there are none."""
        if vectors is None or provider is None:
            return None, "there is no vector index"
        covered, total = vectors.coverage()
        notes.extend(vectors.notes)
        if self._config.embedding.provider == "none":
            # None will come: it is not a matter of waiting.
            return None, SWITCHED_OFF
        if not covered:
            # Without passages, the model would be loaded for nothing.
            return None, "no passage has a vector yet" if total else ""
        try:
            asked = np.stack([provider.embed_query(text) for text in query.embedding_texts])
        except ModelError as error:
            return None, error.message
        if covered < total:
            notes.append(f"Vectors cover {covered:,} of {count(total, 'passage')}.")
        return Nearness(vectors.frozen(), asked), ""

    # --- profiles ---

    def profile(self, profile: str | Profile) -> Profile:
        """Return a profile by name.

        Raises:
            UsageError: no such profile.
        """
        if isinstance(profile, Profile):
            return profile
        known = self.profiles()
        if profile not in known:
            raise UsageError(f"Unknown profile: {profile!r}.", hint=f"Available: {', '.join(known)}.")
        return known[profile]

    def profiles(self) -> Mapping[str, Profile]:
        """Return every profile, with the user's and the project's changes."""
        changes = self._profile_changes()
        if self._loaded is None or self._loaded[0] is not changes:
            self._loaded = (changes, profiles.load(changes))
        return {**self._loaded[1], **self._saved}

    def _profile_changes(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the changes to profiles from the settings, read again when a settings file changes."""
        if self._root is None or (now := stamps_of(self._root)) == self._stamps:
            return self._changes
        try:
            self._changes = load_config(self._root).profiles
        except ConfigError:
            # Reported where settings are checked; the previous changes stay in force.
            return self._changes
        self._stamps = now
        self._saved.clear()
        return self._changes

    @staticmethod
    def packaged_profiles() -> Mapping[str, Profile]:
        """Return the built-in profiles, without any settings."""
        return profiles.load({})

    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration; returns the file.

        Raises:
            ConfigError: the file cannot be understood, or there is no project.
        """
        if self._root is None:
            raise ConfigError("No project to save a profile to.")
        file = project_config_file(self._root)
        profile_file.save(profile, profiles.below(profile.name), file)
        self._saved[profile.name] = profile
        return file

    def reset_profile(self, name: str) -> ProfileReset:
        """Remove the project's changes to a profile; raises as `profile_file.reset`."""
        if self._root is None:
            raise ConfigError("No project, so no profile was changed.")
        file = project_config_file(self._root)
        removed = profile_file.reset(name, file)
        self._saved.pop(name, None)
        return ProfileReset(name, file, removed)


def _listed(sources: Sequence[str]) -> str:
    """`notes and entries`."""
    *first, last = (_PLURALS.get(source, source) for source in sources)
    return f"{', '.join(first)} and {last}" if first else last
