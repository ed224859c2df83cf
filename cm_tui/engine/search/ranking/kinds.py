"""Kinds of questions: how they are worded in each language, from `questions.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from cm_tui.engine.search.ranking import tokens

_UNSPACED = ("zh", "ja")


_AT_START = ("task", "working", "reasons", "why", "polite")
"""Kinds that the beginning of a text shows; `polite` fits everything before the task or question of a request."""

Kinds = Mapping[str, re.Pattern[str]]
"""Patterns by name, of one language and of English, whose words occur in any."""


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
    written = (name for name, row in _table().items() if "letters" in row and re.search(row["letters"], text))
    if not text.isascii() and (found := next(written, None)):
        return found
    words = frozenset(word.lower() for word in tokens.words(text))
    english = len(words & tokens.STOP_WORDS)
    best, name = max((len(words & weak) + 2 * len(words & sure), name) for name, (weak, sure) in _signs().items())
    return name if best > max(english, 1) else "en"


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

    apart = "*" if language in _UNSPACED else "+"
    patterns = {name: framed(name) for name in _table()["en"]}
    patterns["polite"] = f"(?:{patterns['polite']})[,.:!、，。：！\\s-]{apart}"
    patterns |= {name: rf"[\s¿¡]*(?:{patterns[name]}){'*' * (name == 'polite')}" for name in _AT_START}
    return {name: re.compile(one, re.IGNORECASE | re.DOTALL) for name, one in patterns.items()}
