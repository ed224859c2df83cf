"""Regular expressions that are compiled at first use: a hook compiles only what it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Generic, Protocol, TypeVar


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Return a regular expression, compiled once."""
    return re.compile(source)


class Pattern:
    """A regular expression, compiled with its first use. `source`: as `re.compile` takes it."""

    __slots__ = ("_source",)

    def __init__(self, source: str) -> None:
        self._source = source

    def from_signs(self, signs: Pattern, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Return the same matches as `finditer`, faster: it is tried only at the characters that matches begin with.

        `signs`: a set of characters; `text`: the text to search; `end`: where to stop.
        """
        stop = len(text) if end is None else end
        search, match = compiled(signs._source).search, compiled(self._source).match
        while (sign := search(text, start, stop)) is not None:
            found = match(text, sign.start(), stop)
            if found is None:
                start = sign.end()
            else:
                yield found
                start = found.end()

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first match."""
        return compiled(self._source).search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match that begins at a place."""
        return compiled(self._source).match(text, start, len(text) if end is None else end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match that is all of a text."""
        return compiled(self._source).fullmatch(text)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Return all matches, one after the other."""
        return compiled(self._source).finditer(text, start, len(text) if end is None else end)

    def findall(self, text: str) -> list[str]:
        """Return what all matches are; the pattern has no groups."""
        return [found[0] for found in self.finditer(text)]

    def split(self, text: str) -> list[str]:
        """Return the pieces between matches, and what its group matched between them."""
        return compiled(self._source).split(text)


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
