"""Words of code and prose: splitting identifiers, and normalising words."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib import resources
from typing import Any

_WORD = re.compile(r"\w+")
_LATIN_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ANY_PART = re.compile(r"[^\W\d_]+|\d+")
# Scripts written without spaces: kana, Han, and Hangul, whose particles are glued to the word.
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+")

# Longest first; what remains must have at least three letters, so that `user` does not become `us`.
_SUFFIXES = (
    "izations", "isations", "ization", "isation", "izing", "ising", "izer", "iser", "ize", "ise",
    "ations", "ation", "ating", "ator", "ated", "ate", "able", "ible", "ment", "ions", "ion", "ive", "ity",
    "ing", "ed", "er", "or", "ly", "e",
)  # fmt: skip
_SHORTEST_STEM = 3


def word_set(text: str) -> frozenset[str]:
    """Words of a text, split at white space."""
    return frozenset(text.split())


@cache
def packaged(name: str) -> dict[str, Any]:
    """Return a table of words or numbers, by the name of its file beside this one."""
    return tomllib.loads((resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> frozenset[str]:
    """Return the words of a list in `words.toml`."""
    return word_set(packaged("words")[name])


STOP_WORDS = word_set(
    "a an and any are as at be been being but by can could did do does done each for from get gets getting had has "
    "have how i if in into is it its me my no not of on or our should so some such than that the their them then there "
    "these they this those through to up use used uses using via was we were what when where which while who whom "
    "whose why will with within without work works would you your"
)
"""English question words, which are not content. A query of only such words keeps them."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The common stem of related words: `routes`, `routing` and `router` give `rout`.

    Light on purpose: plural, one ending, a doubled consonant. Words other than plain lower-case ASCII are unchanged.
    """
    if len(word) <= _SHORTEST_STEM or not (word.isascii() and word.isalpha()):
        return word
    word = _singular(word)
    # Twice, so that `registered` meets `register` and both meet `registry`.
    for _ in range(2):
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
                word = word[: -len(suffix)]
                break
    if len(word) > _SHORTEST_STEM:
        doubled = word[-1] == word[-2] and word[-1] not in "aeiouls"
        if doubled or word[-1] in "ey" or word.endswith("tr"):
            word = word[:-1]
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def parts(word: str) -> list[str]:
    """Lower-case pieces of an identifier: `HTTPServer2` gives http, server, 2; CJK text gives pairs of characters."""
    if word.isascii():
        return [part.lower() for part in _LATIN_PART.findall(word)]
    pieces: list[str] = []
    last = 0
    word = unicodedata.normalize("NFKC", word)
    for run in _CJK.finditer(word):
        pieces += _foreign(word[last : run.start()])
        text = run.group()
        pieces += [text[i : i + 2] for i in range(len(text) - 1)] or [text]
        last = run.end()
    return pieces + _foreign(word[last:])


def without_accents(word: str) -> str:
    """Return a word without the accents and dots of its letters."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _foreign(word: str) -> list[str]:
    """Pieces of a word in any alphabet, without accents and split before a capital after a lower-case letter."""
    plain = without_accents(word)
    if plain.isascii():
        return [part.lower() for part in _LATIN_PART.findall(plain)]
    spaced = "".join(f" {c}" if i and c.isupper() and plain[i - 1].islower() else c for i, c in enumerate(plain))
    return [part.lower() for part in _ANY_PART.findall(spaced)]


@lru_cache(maxsize=1 << 16)
def split(word: str) -> tuple[str, ...]:
    """Index terms of one word: the stems of its pieces, and the whole word if it has several.

    The whole word has no underscores and is in lower case, so `parse_config` and `parseConfig` are one term.
    """
    pieces = parts(word)
    if not pieces:
        return ()
    stems = tuple(stem(piece) for piece in pieces)
    if len(pieces) == 1 or is_cjk(word):
        return stems
    return ("".join(pieces), *stems)


def is_cjk(word: str) -> bool:
    """Return whether a word has characters of a script that is written without spaces."""
    return _CJK.search(word) is not None


def words(text: str) -> list[str]:
    """Runs of letters, digits and underscores."""
    return _WORD.findall(text)


def terms(text: str) -> list[str]:
    """Index terms of a text, in order, with repetitions."""
    return [term for word in words(text) for term in split(word)]


def content_words(query: str) -> list[str]:
    """Content words of a query, in order and without repetitions."""
    found = list(dict.fromkeys(words(query)))
    kept = [word for word in found if word.lower() not in STOP_WORDS]
    return kept or found
