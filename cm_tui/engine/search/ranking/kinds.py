"""Kinds of questions: how they are worded in each language, from `questions.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from cm_tui.engine.search.ranking import tokens

_UNSPACED = ("zh", "ja")


_AT_START = ("task", "working", "reasons", "why", "polite")
"""Kinds that the beginning of a text shows; `polite` fits everything before the task or question of a request."""

Kinds = Mapping[str, re.Pattern[str]]
"""Patterns by name, of one language and of English, whose words occur in any."""


@cache
def _signs() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    rows = tokens.packaged("questions").items()
    return {name: (tokens.word_set(row["signs"]), tokens.word_set(row["sure"])) for name, row in rows if "signs" in row}


def language_of(text: str) -> str:
    """Return the language of a question; English unless its words of grammar are mostly those of another one."""
    written = (
        name
        for name, row in tokens.packaged("questions").items()
        if "letters" in row and re.search(row["letters"], text)
    )
    if not text.isascii() and (found := next(written, None)):
        return found
    words = frozenset(word.lower() for word in tokens.words(text))
    english = len(words & tokens.STOP_WORDS)
    best, name = max((len(words & weak) + 2 * len(words & sure), name) for name, (weak, sure) in _signs().items())
    return name if best > max(english, 1) else "en"


@cache
def kinds_of(language: str) -> Kinds:
    """Return the patterns for questions in a language."""
    names = dict.fromkeys(("en", language))

    def framed(name: str) -> str:
        """Alternatives of all languages, which begin and end at words where there are spaces."""
        return "|".join(
            f"(?:{one})" if row in _UNSPACED else rf"(?<!\w)(?:{one})(?!\w)"
            for row in names
            if (one := tokens.packaged("questions")[row][name].strip().replace("\n", "|"))
        )

    apart = "*" if language in _UNSPACED else "+"
    patterns = {name: framed(name) for name in tokens.packaged("questions")["en"]}
    patterns["polite"] = f"(?:{patterns['polite']})[,.:!、，。：！\\s-]{apart}"
    patterns |= {name: rf"[\s¿¡]*(?:{patterns[name]}){'*' * (name == 'polite')}" for name in _AT_START}
    return {name: re.compile(one, re.IGNORECASE | re.DOTALL) for name, one in patterns.items()}


# --- words of code in other languages, which code itself has in English ---

_GLOSSARY = ("de", "fr", "es", "zh")
"""Languages of the columns of `glossary.toml`."""
_LONGEST = 24
"""Most letters of a beginning."""
_ENDING = 4
"""Most letters after a known beginning of as few letters: `rufen` is a `ruf`, `portugiesisch` no `port`."""


@cache
def _glossary() -> Mapping[str, Mapping[str, list[str]]]:
    """English words by language and beginning of a word in it; none for words that code has no word for."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in _GLOSSARY}
    for english, columns in tokens.packaged("glossary").items():
        for name, column in zip(_GLOSSARY, columns, strict=True):
            for begins in column.split():
                found[name].setdefault(begins, []).extend(english.split())
    return found


def in_english(text: str, language: str) -> list[str]:
    """Return English words for a question, with those of its words that may be names; empty: English, or none known."""
    if language not in _GLOSSARY:
        return []
    known, (signs, sure) = _glossary()[language], _signs().get(language, (frozenset[str](), frozenset[str]()))
    found: list[str] = []
    any_known = False
    # The longest known words of a text without spaces, and what is between them.
    between = sorted(known, key=len, reverse=True) if language in _UNSPACED else ()
    for word in re.findall("|".join((*between, "[a-zA-Z0-9_]+", r"\w")), text) if between else tokens.words(text):
        plain = tokens.without_accents(word.lower().replace("ß", "ss"))
        if word.lower() in signs | tokens.STOP_WORDS or known.get(plain) == []:
            continue
        any_known |= bool(english := _translated(plain, known))
        found += english or ([word] if word.isascii() and word.lower() not in sure else [])
    return list(dict.fromkeys(found)) if any_known else []


def _translated(word: str, known: Mapping[str, list[str]]) -> list[str]:
    """English words for a word by its beginning, and of a compound for its further parts."""
    found, rest, first = [*known.get(word, [])], "" if word in known else word, 0
    while rest:
        places = ((at, end) for at in range(3 if found else 1) for end in range(min(len(rest), _LONGEST), at + 2, -1))
        at, end = next((place for place in places if known.get(rest[slice(*place)])), (0, 0))
        if not end:
            return found if first > _ENDING or len(rest) <= _ENDING else []
        found += known[rest[at:end]]
        # A word of two known parts is one, however short these are.
        first, rest = end if not first else _LONGEST, rest[end:]
    return found
