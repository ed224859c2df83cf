"""Wordings: what counts as a word and as the same word, in code and in prose."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any

from cm_tui.engine.search.ranking import tokens
from cm_tui.model import CODE

LENGTH_SHARE = 0.75
"""BM25's `b`, as it is used where nothing is known of the texts."""
_lock = Lock()
"""A stemmer is stateful: one thread at a time."""

_TALK = tokens.word_list("talk")


_STEMMERS = "snowballstemmer"


@cache
def _english() -> Any:
    # The package imports all of its languages (25 ms, 3 MB), so it is entered without running its own module.
    before = sys.modules.get(_STEMMERS)
    spec = find_spec(_STEMMERS)
    assert spec is not None
    sys.modules[_STEMMERS] = before or module_from_spec(spec)
    try:
        return import_module(f"{_STEMMERS}.english_stemmer").EnglishStemmer()
    finally:
        if before is None:
            del sys.modules[_STEMMERS]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The English stem of a lower-case word: `decided` and `decides` give `decid`; numbers lose leading zeros."""
    if word.isdigit():
        return word.lstrip("0") or "0"
    if not (word.isascii() and word.isalpha()):
        return word
    with _lock:
        found: str = _english().stemWord(word)
    return found


@lru_cache(maxsize=1 << 16)
def split(word: str) -> tuple[str, ...]:
    """Index terms of one word of prose: English stems of its pieces, and the whole word if it has several."""
    pieces = tokens.parts(word)
    stems = tuple(map(stem, pieces))
    return stems if len(pieces) < 2 or tokens.is_cjk(word) else ("".join(pieces), *stems)


@dataclass(frozen=True)
class Wording:
    """How the texts of a source are split and counted.

    Args:
        split: index terms of a word.
        stop_words: query words to ignore, in addition to those that every query ignores.
        length_share: BM25's `b`, the penalty for long passages.
    """

    split: Callable[[str], tuple[str, ...]]
    stop_words: frozenset[str] = frozenset()
    length_share: float = LENGTH_SHARE

    def terms(self, text: str) -> list[str]:
        """Return the index terms of a text, in order, with repetitions."""
        return [term for word in tokens.words(text) for term in self.split(word)]

    def kept(self, words: list[str]) -> list[str]:
        """Return the content words of a query; all of them if there are none."""
        return [word for word in words if word.lower() not in self.stop_words] or words


CODE_WORDING = Wording(tokens.split)
# Length is no padding here: a longer turn of a session contains more.
PROSE_WORDING = Wording(split, _TALK, 0.3)


def wording_of(source: str) -> Wording:
    """Return how a source's texts are split: code as code, people's and agents' texts as prose."""
    return CODE_WORDING if source in (CODE, "") else PROSE_WORDING
