"""A question about what is remembered, and the newest answer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cm_tui.engine.api.authors import Author, author_of
from cm_tui.errors import CmError
from cm_tui.model import SearchResult
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

MOST = 50
"""Hits that are asked for."""
PROFILES = ("recall", "notes")
"""What is asked: entries, notes and episodes; or notes alone, by the numbers that `cm notes search` has."""
_AUTHORS_DELAY = 0.1


class Question:
    """Asks, and keeps what was answered.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        answered: called when there is another answer, or none any more.
        named: called when it is known who wrote what is listed.
    """

    def __init__(
        self, ask: Ask, drop: Callable[[str], None], answered: Callable[[], None], named: Callable[[], None]
    ) -> None:
        self._ask = ask
        self._drop = drop
        self._answered = answered
        self._named = named
        self.query = ""
        self.profile = PROFILES[0]
        self.result: SearchResult | None = None
        self.problem: CmError | None = None
        self.authors: dict[str, Author | None] = {}
        """Who wrote what is listed, by path, as far as that was asked."""

    def ask(self, query: str, *, delay: float = 0.0) -> None:
        """Ask; the answer before stays until the new one is there. An empty question has no answer."""
        self.query = query
        if not query:
            self._drop("question")
            self.result = self.problem = None
            self._answered()
            return
        if self.result is None:
            self.problem = None
            self._answered()
        profile = self.profile

        def got(result: SearchResult) -> None:
            self.result, self.problem = result, None
            self._answered()
            self._ask_authors()

        self._ask(
            "question", lambda engine: engine.search(query, profile=profile, limit=MOST), got, self._failed, delay=delay
        )

    @property
    def is_searching(self) -> bool:
        """True while a question has no answer yet, not even that of the question before."""
        return bool(self.query) and self.result is None and self.problem is None

    def next_profile(self) -> None:
        """Ask the same by the other profile."""
        self.profile = PROFILES[(PROFILES.index(self.profile) + 1) % len(PROFILES)]
        self.ask(self.query)

    def _failed(self, error: CmError) -> None:
        self.result, self.problem = None, error
        self._answered()

    def _ask_authors(self) -> None:
        hits = self.result.hits if self.result else ()
        missing = [path for path in dict.fromkeys(hit.path for hit in hits) if path not in self.authors]

        def call(engine: Engine) -> dict[str, Author | None]:
            return {path: author_of(engine, path) for path in missing}

        def got(found: dict[str, Author | None]) -> None:
            self.authors |= found
            self._named()

        if missing:
            self._ask("authors", call, got, lambda _: None, delay=_AUTHORS_DELAY)
