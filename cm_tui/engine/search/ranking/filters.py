"""Filters in a query: `path:src/net`, `lang:rust`, `kind:class`, `in:tests`; a leading `-` excludes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from posixpath import normpath
from types import MappingProxyType
from typing import Literal, cast

from cm_tui.model.code import SYMBOL_KINDS
from cm_tui.model.text import one_line

Field = Literal["path", "lang", "kind", "in"]
PLACES = ("code", "docs", "tests")
"""Values of `in:`: tests and documentation, by path, and code, which is all the rest."""

# Followed by a colon or two slashes it is something else: `path::Path`, `in://x`.
_FILTER = re.compile(
    r'(?P<out>-?)(?P<field>path|lang|kind|in):(?:"(?P<quoted>[^"]+)"|(?P<plain>(?!:|//)[^"]+))', re.IGNORECASE
)
_UNCLOSED = re.compile(r'-?(?:path|lang|kind|in):"[^"]*', re.IGNORECASE)
_SHOWN = 60
"""Characters of a query that a note repeats."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on passages."""

    field: Field
    value: str
    """As it is known: the name of a language, a path without `./` and without a slash at its end."""
    out: bool = False
    """Whether matches are excluded."""

    def __str__(self) -> str:
        """Return it as it is typed."""
        apart = any(one.isspace() for one in self.value) or self.value.startswith(":")
        value = f'"{self.value}"' if apart else self.value
        return f"{'-' if self.out else ''}{self.field}:{value}"


@dataclass(frozen=True, slots=True)
class Problem:
    """An unknown filter, searched as text."""

    text: str
    """As written in the query."""
    reason: str
    near: str = ""
    """The most similar filter."""
    known: tuple[str, ...] = ()
    """The possible values; empty: they depend on the project."""
    of_language: bool = False

    def words(self) -> str:
        """Return the message about it."""
        said = [f"{one_line(self.text[:_SHOWN])}: {self.reason}; it was searched as text."]
        if self.near:
            said.append(f"Did you mean {self.near}?")
        if self.known:
            said.append(f"Available: {', '.join(self.known)}.")
        return " ".join(said)

    def among(self, languages: Sequence[str]) -> Problem:
        """Return it with a project's languages, which are preferred."""
        head, _, value = self.text.partition(":")
        near = _near(head, value, languages) or self.near
        return replace(self, near=near, known=tuple(languages))


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query taken apart."""

    words: str
    """The search text; the whole query, unchanged, if it has no filter."""
    filters: tuple[Filter, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """Return an equivalent query."""
        return " ".join([*map(str, self.filters), self.words]) if self.filters else self.words


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What filters can name in a project."""

    languages: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The languages of a name, its own first: `ts` for typescript and tsx."""
    root: str = ""
    """Absolute path of the project's root; empty: none."""

    def parse(self, text: str) -> ParsedQuery:
        """Split a query into words and filters.

        Filters are delimited by blanks; double quotes enclose text, and values with blanks. One value of a list such as
        `lang:py,rs` has to match; a path is never a list.

        Args:
            text: as typed.
        """
        words: list[str] = []
        filters: dict[Filter, None] = {}
        problems: list[Problem] = []
        for piece in _pieces(text):
            found = _FILTER.fullmatch(piece)
            if found is None:
                words.append(piece)
                if _UNCLOSED.fullmatch(piece):
                    problems.append(Problem(piece, "its quote is not closed"))
                continue
            name = cast("Field", found["field"].lower())
            for value in _values(name, found["plain"], found["quoted"]):
                known = self._known(name, value)
                if known is not None:
                    filters[Filter(name, known, bool(found["out"]))] = None
                    continue
                text_of = f"{found['out']}{found['field']}:{value}" if found["plain"] else piece
                words.append(text_of)
                problems.append(self._problem(name, value, text_of))
        if not filters:
            return ParsedQuery(text, (), tuple(problems))
        return ParsedQuery(" ".join(words), tuple(filters), tuple(problems))

    def _known(self, name: Field, value: str) -> str | None:
        """Return the meaning of a value; None: unknown."""
        low = value.lower()
        if name == "path":
            return self._inside(value)
        if name == "lang":
            return self.languages[low][0] if low in self.languages else None
        return low if low in (SYMBOL_KINDS if name == "kind" else PLACES) else None

    def _inside(self, path: str) -> str | None:
        """Return a path relative to the root; None where it is outside the project."""
        if path.startswith("/"):
            if not self.root or not f"{path}/".startswith(f"{self.root}/"):
                return None
            path = path[len(self.root) :].lstrip("/")
        path = normpath(path)
        return None if path == ".." or path.startswith("../") else path

    def _problem(self, name: Field, value: str, text: str) -> Problem:
        head = text.partition(":")[0]
        if name == "path":
            return Problem(text, "it is outside the project")
        if name == "lang":
            return Problem(text, "unknown language", _near(head, value, self.languages), of_language=True)
        known = SYMBOL_KINDS if name == "kind" else PLACES
        reason = "unknown kind of symbol" if name == "kind" else "unknown group"
        return Problem(text, reason, _near(head, value, known), known)


def _near(head: str, value: str, known: Iterable[str]) -> str:
    """The filter with the known value nearest to another; empty where none is near."""
    found = get_close_matches(value.strip('"').lower(), list(known), n=1)
    return f"{head}:{found[0]}" if found else ""


def _values(name: Field, plain: str | None, quoted: str | None) -> list[str]:
    if plain is None:
        return [quoted or ""]
    return [plain] if name == "path" else [value for value in plain.split(",") if value] or [plain]


def _pieces(text: str) -> Iterator[str]:
    """Split at blanks outside of double quotes; the last quote of an odd number is only a character."""
    alone = text.rfind('"') if text.count('"') % 2 else -1
    piece, quoted = "", False
    for place, one in enumerate(text):
        quoted ^= one == '"' and place != alone
        if one.isspace() and not quoted:
            if piece:
                yield piece
            piece = ""
        else:
            piece += one
    if piece:
        yield piece
