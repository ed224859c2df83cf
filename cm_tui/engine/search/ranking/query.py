"""A query: words, terms, and names of symbols."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.kinds import Kinds, in_chinese, in_english, kinds_of, language_of
from cm_tui.engine.search.ranking.report import MOST_CHARS, NAMES, Report, is_report, read
from cm_tui.engine.search.ranking.wording import CODE_WORDING, Wording

_FAINT = 0.3
"""Weight of a word with another meaning, such as the numbers of a date."""
_MAX_CHARS = 2_000
"""A pasted page is read this far; a question is shorter."""

# A name, alone or qualified the way some language does it: a.b, a::b, a->b, a\b, a#b, a/2 is not one. With `$` in
# JavaScript and PHP.
_NAME = r"\$*[^\W\d][\w$]*"
_QUALIFIED = re.compile(rf"{_NAME}(?:(?:\.|::|->|\\|\#){_NAME})*[?!]?")
_MENTIONED = 0.4
"""How much a mere word of documents asks for them."""
_WHY = 0.7
"""How much a question for reasons asks for documents: code seldom gives its reasons."""
_HAPPENING = 0.1
"""How much the question why something happens asks for documents."""
_INSIDE = -0.6
"""How much a question about code asks for documents: they still answer where no code does."""
_CONTRACTION = re.compile(r"\b\w+n['\u2019]t\b|(?<=\w)['\u2019](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_PLAIN = str.maketrans(
    "\u2018\u2019\u201b\u2032\u00b4\u02bc\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00a0\u2007\u2009\u202f\u3000\u2026",
    "'" * 6 + '"' * 7 + "-" * 7 + " " * 5 + ".",
    "\u00ad\u200b\u2060\ufeff",
)
"""Typographic characters of pasted text: quotes, dashes, fixed spaces, invisible characters, the ellipsis."""
_SEPARATOR = re.compile(r"\.|::|->|\\|#")
_CAPITALS_INSIDE = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")


@dataclass(frozen=True)
class Name:
    """A name in the query, and its certainty."""

    text: str
    last: str
    """Its last part, without what qualifies it."""
    strength: float
    """1 when the query is nothing but the name; less for a name within a sentence."""


@dataclass(frozen=True)
class Query:
    """A query taken apart."""

    text: str
    near: tuple[str, ...] = ()
    """Similar names of symbols for an unknown name in the query, the nearest first."""
    faint: frozenset[str] = frozenset()
    """Words with a lower weight: the numbers of a date."""
    of_chinese: bool = False
    """Whether most comments of the code are in Chinese."""

    @cached_property
    def report(self) -> Report | None:
        """Return its parts where it is too long for a question."""
        return read(self.text) if is_report(self.text) else None

    @property
    def read_characters(self) -> int:
        """Return how many characters of it are read."""
        return _MAX_CHARS if self.report is None else MOST_CHARS

    @cached_property
    def cut(self) -> str:
        """Return the part to use as a question: all of it, or the title of a report."""
        text = self.text if self.report is None else self.report.title
        return text[:_MAX_CHARS].replace("\0", " ")

    @cached_property
    def plain(self) -> str:
        """Return the question as typed on a keyboard, for patterns; filters keep the characters of their paths."""
        return self.cut.translate(_PLAIN)

    @cached_property
    def embedding_texts(self) -> list[str]:
        """Return the texts to embed: the question, or a report's prose."""
        if self.report is not None:
            return self.report.embedding_texts()
        return [*filter(None, [" ".join(self.english)]), self._asked]

    @cached_property
    def words(self) -> list[str]:
        """Return the content words, without contractions: `doesn't` is no word of code, nor are `doesn` and `t`."""
        return tokens.content_words(_CONTRACTION.sub(" ", self._asked)) or tokens.content_words(self._asked)

    @cached_property
    def english(self) -> list[str]:
        """Return what to look for in code where the question is in another language; empty: in English."""
        return in_english(self._asked, self._language) if self.report is None else []

    @cached_property
    def chinese(self) -> list[str]:
        """Return what to look for in comments that are in Chinese; empty: none are, or the query is in Chinese or a name."""
        asks = self.of_chinese and self.report is None and not (self.english or self.is_names)
        return in_chinese(self.words) if asks else []

    @cached_property
    def terms(self) -> list[str]:
        """Return index terms, each once."""
        return self.terms_in(CODE_WORDING)

    def _words_in(self, wording: Wording) -> list[str]:
        """Return its words; in code also English ones, or those of its comments."""
        also = (*self.english, *self.chinese) if wording is CODE_WORDING else ()
        return [*dict.fromkeys([*self.words, *also])]

    def terms_in(self, wording: Wording) -> list[str]:
        """Return index terms of a wording, each once."""
        return list(self.weights_in(wording))

    def weights_in(self, wording: Wording) -> dict[str, float]:
        """Return index terms of a wording with their weights, from 0 to 1: equal in a question."""
        if self.report is not None:
            return {term: one.weight for term, one in self.report.terms(wording).items()}
        words = wording.kept(self._words_in(wording))
        return {term: _FAINT if word in self.faint else 1.0 for word in words for term in wording.split(word)}

    def parts_in(self, wording: Wording) -> dict[str, str]:
        """Return the title of the report part that gives each index term most weight; empty for a question."""
        return {term: NAMES[one.kind] for term, one in self.report.terms(wording).items()} if self.report else {}

    def written_in(self, wording: Wording, wanted: AbstractSet[str]) -> dict[str, str]:
        """Return wanted index terms as written in the query: `color` for `col`; of several words, the first."""
        found: dict[str, str] = {}
        for word in dict.fromkeys([*self._words_in(wording), *chain(*(self.report.words if self.report else ()))]):
            if wanted.isdisjoint(split := wording.split(word)):
                continue
            pieces = tokens.parts(word)
            # The whole word comes before its pieces, if it has several.
            shown = [word] if len(split) == len(pieces) == 1 else [word] * (len(split) - len(pieces)) + pieces
            for term, text in zip(split, shown, strict=True):
                found.setdefault(term, text)
        return found

    @cached_property
    def plain_pieces(self) -> list[str]:
        """The words' pieces as written, in lower case, for matching abbreviations."""
        return list(dict.fromkeys(piece for word in self.english or self.words for piece in tokens.parts(word)))

    @cached_property
    def is_name(self) -> bool:
        """Return whether the whole query is one name, qualified or not."""
        return _QUALIFIED.fullmatch(_bare(self.plain)) is not None

    @cached_property
    def is_names(self) -> bool:
        """Return whether the query is one or several names without other words."""
        known = {name.text for name in self.names}
        return self.is_name or known.issuperset(map(_bare, self.plain.replace(",", " ").split()))

    @cached_property
    def documents(self) -> float:
        """Return how much it asks for documents: 1 for what to do, less than 0 for how it works; 0 for a report."""
        if self.report is not None:
            return 0.0
        asked, kinds = self._asked, self._kinds
        task = kinds["task"].match(asked)
        if kinds["how_to"].search(asked) and not task:
            return 1.0
        if kinds["about_documents"].search(asked):
            return _MENTIONED
        if kinds["working"].match(asked):
            return _INSIDE
        if self.asks_for_reasons:
            return _HAPPENING if kinds["why"].match(asked) and not kinds["decided"].search(asked) else _WHY
        return _MENTIONED if kinds["use"].search(asked) and not (task or kinds["failing"].search(asked)) else 0.0

    @property
    def asks_for_reasons(self) -> bool:
        """Return whether it is about what was decided and why; never for a report."""
        return self.report is None and self._kinds["reasons"].match(self._asked) is not None

    @cached_property
    def _kinds(self) -> Kinds:
        return kinds_of(self._language)

    @cached_property
    def _language(self) -> str:
        return language_of(self.plain)

    @cached_property
    def _asked(self) -> str:
        """The task or question of a request; else all of it, as `can you` may ask for what is possible."""
        kinds, rest = self._kinds, self._kinds["polite"].sub("", self.plain, count=1)
        begins = any(kinds[kind].match(rest) for kind in ("task", "working", "reasons"))
        return rest if begins else self.plain

    @cached_property
    def names(self) -> list[Name]:
        """Names in the query, the surest first."""
        if self.is_name:
            return [_name(_bare(self.plain), 1.0)]
        found: dict[str, Name] = {}
        for number, match in enumerate(_QUALIFIED.finditer(self._asked)):
            text = match.group()
            # German nouns have capitals wherever they are.
            first = not number or self._language == "de"
            strength = _strength(text, called=self._asked[match.end() : match.end() + 1] == "(", first=first)
            if strength and text not in found:
                found[text] = _name(text, strength)
        return sorted(found.values(), key=lambda name: -name.strength)


def _bare(text: str) -> str:
    return text.strip().removesuffix("()").strip("`'\" ")


def _name(text: str, strength: float) -> Name:
    return Name(text, _SEPARATOR.split(text)[-1].rstrip("?!"), strength)


def _strength(text: str, *, called: bool, first: bool) -> float:
    """Return how much a word of a sentence looks like the name of a symbol."""
    if _SEPARATOR.search(text) or called or "_" in text.strip("_") or _CAPITALS_INSIDE.search(text):
        return 0.5
    if text[0].isupper() and not first and not text.isupper():
        return 0.25
    return 0.0
