"""The conversation with the engine about a query: ask, rank again, and get more; without a word on how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cm_tui.errors import CmError, DaemonError
from cm_tui.model import By, Candidates, FileHits, Hit, Mode, Profile, SearchResult
from cm_tui.model.profile import Mark, marks_of_hits
from cm_tui.tui.modes.search.profile_panel import Setting, settings_of
from cm_tui.tui.modes.search.rows import LEAST_BEFORE, Before, Moves, before, moves
from cm_tui.tui.state.filter_line import following
from cm_tui.tui.tasks.ask import Ask, Engine

PAGE = 40
"""Hits or files that are asked for at first, and with each step of scrolling."""
SEARCH_MODES: tuple[Mode, ...] = ("hybrid", "keyword", "vector")


@dataclass(frozen=True)
class SearchAnswer:
    """What is answered."""

    candidates: Candidates
    result: SearchResult
    before: Before | None = None
    """The order by the saved numbers, where others are in use."""


class SearchSession:
    """A query, the numbers it is ranked by, and the newest answer to it.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        answered: called when there is another answer, or none any more; True when the cursor should stay on its hit.
    """

    def __init__(self, ask: Ask, drop: Callable[[str], None], answered: Callable[[bool], None]) -> None:
        self._ask = ask
        self._drop = drop
        self._answered = answered
        self.query = ""
        self.mode: Mode = "hybrid"
        self.by: By = "passage"
        self.profile: Profile | None = None
        """The numbers in use, with what was tuned."""
        self.profiles: dict[str, Profile] = {}
        """As saved."""
        self.packaged: dict[str, Profile] = {}
        """As they come with cm."""
        self.marks: tuple[Mark, ...] = ()
        """What is marked right or wrong in the project, for whatever question."""
        self.answer: SearchAnswer | None = None
        self.problem: CmError | None = None
        self._limit = PAGE
        self._before = ""

    # --- the answer ---

    @property
    def result(self) -> SearchResult | None:
        """The newest answer."""
        return self.answer.result if self.answer else None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found, as far as it was asked for."""
        return self.answer.result.hits if self.answer else ()

    @property
    def files(self) -> tuple[FileHits, ...]:
        """Which files were found, where they are what was asked for."""
        return self.answer.result.files if self.answer else ()

    @property
    def listed(self) -> tuple[Hit, ...]:
        """Every hit of the newest answer, those inside of files too."""
        return (*self.hits, *(hit for file in self.files for hit in file.hits))

    @property
    def marked(self) -> dict[int, bool]:
        """Whether listed hits are marked right or wrong for the question that was answered, by their passage."""
        return marks_of_hits(self.marks, self.answer.candidates.query, self.listed) if self.answer else {}

    @property
    def moves(self) -> Moves | None:
        """How far what is listed moved against the saved numbers; None: these are in use."""
        answer = self.answer
        return moves(answer.result, answer.before) if answer and answer.before else None

    @property
    def waiting(self) -> bool:
        """A question is under way, and what is shown, if anything, answers an older one."""
        is_answered = self.answer is not None and self.answer.candidates.query == self.query
        return bool(self.query) and not is_answered and self.problem is None

    # --- questions ---

    def search(self, query: str, *, delay: float = 0.0) -> None:
        """Ask; the answer before stays until the new one is there. An empty query has no answer."""
        self.query, self._limit = query, PAGE
        self._repeat(delay)

    def refresh(self) -> None:
        """Ask the same again after the index or the memory changed; as many hits as are shown."""
        self._repeat(0.0)

    def _repeat(self, delay: float) -> None:
        query = self.query
        self._drop("rank")
        if not query:
            self._drop("search")
            self.answer, self.problem = None, None
            self._answered(False)
            return
        if self.profile is None:
            return
        self.problem = None
        profile, mode, ranked = self.profile, self.mode, self._ranked()

        def call(engine: Engine) -> SearchAnswer:
            return ranked(engine, engine.retrieve(query, profile=profile, mode=mode), None)

        self._ask("search", call, self._got, self._failed, delay=delay)

    def rank(self) -> None:
        """Rank what was retrieved again: by other numbers, or for more hits."""
        if self.answer is None or self.profile is None:
            return
        candidates, known, ranked = self.answer.candidates, self.answer.before, self._ranked()
        self._ask("rank", lambda engine: ranked(engine, candidates, known), self._got, self._failed)

    def _ranked(self) -> Callable[[Engine, Candidates, Before | None], SearchAnswer]:
        """What ranks candidates by the numbers of this moment, and by the saved ones where these are others."""
        profile, saved, limit, by = self.profile, self.saved, self._limit, self.by
        assert profile is not None

        def rank(engine: Engine, candidates: Candidates, known: Before | None) -> SearchAnswer:
            result = engine.rank(candidates, profile, limit=limit, by=by)
            if saved is None or profile == saved:
                return SearchAnswer(candidates, result)
            if known is None or (known.profile, known.by) != (saved, by):
                # Once for each question: while a slider moves, only the line above is asked.
                ranked = engine.rank(candidates, saved, limit=max(LEAST_BEFORE, limit), by=by)
                known = before(ranked, saved, by)
            return SearchAnswer(candidates, result, known)

        return rank

    def more(self) -> None:
        """Ask for the next page, where there is one and it was not asked for yet."""
        result = self.result
        if result is None:
            return
        shown, total = (len(result.files), result.total_files) if result.files else (len(result.hits), result.total)
        if self._limit <= shown < total:
            self._limit = shown + PAGE
            self.rank()

    def _got(self, answer: SearchAnswer) -> None:
        same = answer.candidates.query == self._before
        self._before = answer.candidates.query
        self.answer, self.problem = answer, None
        self._answered(same)

    def _failed(self, error: CmError) -> None:
        """Keep the results when the daemon was lost; search again once it is back."""
        lost = isinstance(error, DaemonError) and self.answer is not None
        self.answer, self.problem = self.answer if lost else None, error
        self._answered(lost)

    # --- mode and numbers ---

    def next_by(self, hit: Hit | None) -> None:
        """Passages or files, the other of the two.

        Args:
            hit: which has to be among them, where it is found again.
        """
        self.by = "file" if self.by == "passage" else "passage"
        # No file comes later than its best passage.
        self._limit = max(PAGE, hit.rank if hit else 0)
        self.refresh()

    def next_mode(self) -> None:
        """Hybrid, keyword, vector, and round again."""
        self.mode = following(self.mode, SEARCH_MODES)

    def next_profile(self) -> None:
        """The next profile, with its saved numbers."""
        if self.profile and self.profiles:
            self.profile = self.profiles[following(self.profile.name, [*self.profiles])]

    def take_profiles(self, profiles: Mapping[str, Profile], name: object, default: str, tuned: object) -> None:
        """The profiles are known: choose one by name, with the numbers that were tuned but not saved."""
        self.profiles = dict(profiles)
        first = next(iter(self.profiles.values()))
        self.profile = self.profiles.get(str(name)) or self.profiles.get(default) or first
        if self.profile.name != name or not isinstance(tuned, dict):
            return
        for setting in self.settings:
            value = tuned.get(setting.field)
            if setting.takes(value):
                self.profile = setting.put(self.profile, value)

    @property
    def saved(self) -> Profile | None:
        """The profile in use as it is saved."""
        return self.profiles.get(self.profile.name) if self.profile else None

    @property
    def factory(self) -> Profile | None:
        """The built-in version of the profile in use; `code` for the user's own profiles."""
        found = self.packaged.get(self.profile.name) or self.packaged.get("code") if self.profile else None
        return replace(found, name=self.profile.name) if self.profile and found else None

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every number of the profile in use."""
        return settings_of(self.saved, self.profiles) if self.saved else ()

    @property
    def tuned(self) -> dict[str, Any]:
        """The numbers that differ from what is saved, by field."""
        profile, saved = self.profile, self.saved
        if profile is None or saved is None:
            return {}
        return {item.field: item.of(profile) for item in self.settings if item.of(profile) != item.of(saved)}
