"""Rules by required words: most texts contain none, and skip all patterns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar


class Rule(Protocol):
    """A rule with its required words."""

    @property
    def words(self) -> tuple[str, ...]:
        """One of them is in every text that it would hit."""


R = TypeVar("R", bound=Rule)


class ByWord(Generic[R]):
    """Rules of one table. `rules`: in the order in which they are tried."""

    def __init__(self, rules: Iterable[R]) -> None:
        self._rules = tuple(rules)
        self._words = [(word, number) for number, rule in enumerate(self._rules) for word in rule.words]

    def wanted(self, text: str) -> list[R]:
        """Return the rules with a word in a text."""
        # One pass without a call for each rule: this is called for every text.
        return [self._rules[number] for number in sorted({number for word, number in self._words if word in text})]
