"""Keywords for entries that have none."""

from __future__ import annotations

import re
from collections import Counter

from cm_tui.engine.search.ranking.tokens import STOP_WORDS

_WORD = re.compile(r"[^\W_][\w.-]*")
_MARK = re.compile(r"\[redacted: [^\]\n]{1,80}\]")
_MOST = 8
_SHORTEST = 3
_CHARACTERS = 40


def keywords_of(title: str, content: str) -> tuple[str, ...]:
    """Return the most frequent words of a text, of these the first; names as written.

    `title`: counts twice.
    """
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text, weight in ((title, 2), (content, 1)):
        for found in _WORD.findall(_MARK.sub(" ", text)):
            word = found.rstrip(".-")
            key = word.lower()
            if _SHORTEST <= len(word) <= _CHARACTERS and key not in STOP_WORDS and not key.isdecimal():
                counts[key] += weight
                written.setdefault(key, word if _is_name(word) else key)
    # Of equal ones the first: a counter keeps that order.
    return tuple(written[key] for key, _ in counts.most_common(_MOST))


def _is_name(word: str) -> bool:
    return any(one.isupper() for one in word[1:]) or "_" in word or "." in word
