"""Kinds of questions: how they are worded in each language, from `questions.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import NamedTuple

from cm_tui.engine.search.ranking import tokens

_LOOKED_AT = 40
"""Words of a text that show its language."""
_LEAST = 2
_CYRILLIC, _KANA, _HAN = (re.compile(f"[{some}]") for some in ("\u0400-\u04ff", "\u3040-\u30ff", "\u3400-\u9fff"))
_UNSPACED = ("zh", "ja")


class Kinds(NamedTuple):
    """Patterns of one language and of English, whose words occur in any; `questions.toml` explains them."""

    use: re.Pattern[str]
    how_to: re.Pattern[str]
    about_documents: re.Pattern[str]
    failing: re.Pattern[str]
    decided: re.Pattern[str]
    task: re.Pattern[str]
    working: re.Pattern[str]
    reasons: re.Pattern[str]
    why: re.Pattern[str]
    polite: re.Pattern[str]
    """Fits everything before the task or question of a request."""


def kinds_of(text: str) -> Kinds:
    """Return the patterns for a question."""
    return _kinds(_language(text))


@cache
def _table() -> dict[str, dict[str, str]]:
    text = (resources.files(__package__) / "questions.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _signs() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    rows = _table().items()
    return {name: (tokens.word_set(row["signs"]), tokens.word_set(row["sure"])) for name, row in rows if "signs" in row}


def _language(text: str) -> str:
    """Return the language of a question; English unless its words of grammar are mostly those of another one."""
    if not text.isascii():
        for name, letters in (("ja", _KANA), ("zh", _HAN), ("ru", _CYRILLIC)):
            if letters.search(text):
                return name
    words = frozenset(word.lower() for word in tokens.words(text)[:_LOOKED_AT])
    english = len(words & tokens.STOP_WORDS)
    best, name = max((len(words & weak) + 2 * len(words & sure), name) for name, (weak, sure) in _signs().items())
    return name if best >= max(_LEAST, english + 1) else "en"


@cache
def _kinds(language: str) -> Kinds:
    """Compile the patterns of a language."""
    names = dict.fromkeys(("en", language))

    def framed(name: str) -> str:
        """Alternatives of all languages, which begin and end at words where there are spaces."""
        return "|".join(
            f"(?:{one})" if row in _UNSPACED else rf"(?<!\w)(?:{one})(?!\w)"
            for row in names
            if (one := _table()[row][name].strip().replace("\n", "|"))
        )

    at_start = {name: rf"[\s¿¡]*(?:{framed(name)})" for name in Kinds._fields[5:]}
    apart = "*" if language in _UNSPACED else "+"
    at_start["polite"] = rf"[\s¿¡]*(?:(?:{framed('polite')})[,.:!、，。：！\s-]{apart})*"
    patterns = (at_start.get(name) or framed(name) for name in Kinds._fields)
    return Kinds._make(re.compile(one, re.IGNORECASE | re.DOTALL) for one in patterns)
