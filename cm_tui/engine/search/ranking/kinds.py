"""Kinds of questions: how they are worded in each language, from `questions.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

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
_ENDING = 4
"""Most letters besides known ones after as few: `rufen` is a `ruf`, `portugiesisch` no `port`."""


@cache
def _glossary(language: str) -> tuple[Mapping[str, list[str]], re.Pattern[str]]:
    """English words by beginning of a word, none for what code has no word for; a pattern of the parts of words."""
    known: dict[str, list[str]] = {}
    for english, columns in tokens.packaged("glossary").items():
        for word in columns[_GLOSSARY.index(language)].split():
            known.setdefault(word, []).extend(english.split())
    begins = sorted(filter(known.get, known), key=len, reverse=True)
    return known, re.compile("|".join((*begins, "[a-zA-Z0-9_]+" if language in _UNSPACED else r"\w")))


def in_english(text: str, language: str) -> list[str]:
    """Return English words for a question, with those of its words that may be names; empty: English, or none known."""
    if language not in _GLOSSARY:
        return []
    (known, part), (signs, sure) = _glossary(language), _signs().get(language, (frozenset(), frozenset()))
    found: list[str] = []
    any_known = False
    for word in part.findall(text) if language in _UNSPACED else tokens.words(text):
        plain = tokens.without_accents(word.lower().replace("ß", "ss"))
        if word.lower() in signs | tokens.STOP_WORDS or known.get(plain) == []:
            continue
        first, *more = part.findall(plain) or [plain]
        unknown = sum(one not in known for one in more)
        if known.get(first) and (unknown <= _ENDING or len(first) > _ENDING):
            found += [english for one in (first, *more) for english in known.get(one, ())]
            any_known = True
        elif word.isascii() and word.lower() not in sure:
            found.append(word)
    return list(dict.fromkeys(found)) if any_known else []


@lru_cache(maxsize=1 << 10)
def _chinese(stem: str) -> list[str]:
    rows = tokens.packaged("glossary").items()
    return [one for words, columns in rows if stem in map(tokens.stem, words.split()) for one in columns[-1].split()]


def in_chinese(words: Iterable[str]) -> list[str]:
    """Return what comments in Chinese may have for English words."""
    pieces = (piece for word in words for piece in tokens.parts(word))
    return list(dict.fromkeys(one for piece in pieces for one in _chinese(tokens.stem(piece))))
