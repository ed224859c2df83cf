"""Pairs of similar entries: by common words, and by vectors where they exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.tokens import STOP_WORDS, stem, words
from cm_tui.model import Duplicates, Entry

WORDS = 0.6
"""Share of common words that makes two entries a pair, whatever their vectors."""
COSINE = 0.85
"""Cosine from which they are one, if they share `SOME_WORDS`."""
SOME_WORDS = 0.2
_ROWS = 512
"""Vectors that are compared with all others at once."""

Vectors = NDArray[np.float32]
Pair = tuple[int, int]


def duplicates(entries: Sequence[Entry], vectors: Mapping[int, Vectors] | None = None) -> list[Duplicates]:
    """Return the pairs of similar entries, the most similar first.

    `entries`: the entries to compare; `vectors`: unit vectors of some, by their place among the entries.
    """
    # Stems of words; negations count, other stop words do not.
    sets = [frozenset(_by_term(one)) for one in entries]
    cosines = _near(vectors or {})
    found: list[Duplicates] = []
    for one, other in sorted({*_sharing(sets), *cosines}):
        shared = _overlap(sets[one], sets[other])
        cosine = _cosine(vectors or {}, one, other)
        if shared < WORDS and (cosine is None or cosine < COSINE or shared < SOME_WORDS):
            continue
        found.append(_pair(entries[one], entries[other], shared, cosine))
    found.sort(key=lambda pair: (-pair.likeness, pair.first.id, pair.second.id))
    return found


def _pair(one: Entry, other: Entry, shared: float, cosine: float | None) -> Duplicates:
    first, second = sorted((one, other), key=lambda entry: (entry.timestamp, entry.id, entry.scope))
    likeness = shared if cosine is None else (shared + cosine) / 2
    own, theirs = _by_term(first), _by_term(second)
    return Duplicates(
        first=first,
        second=second,
        likeness=round(likeness, 4),
        words=round(shared, 4),
        cosine=None if cosine is None else round(cosine, 4),
        only_first=tuple(word for term, word in own.items() if term not in theirs),
        only_second=tuple(word for term, word in theirs.items() if term not in own),
    )


def _by_term(entry: Entry) -> dict[str, str]:
    """Return the words of an entry by their stems, in order and as written."""
    found: dict[str, str] = {}
    for word in words(f"{entry.title}\n{entry.content}"):
        plain = word.lower()
        if plain in _NEGATIONS or plain not in STOP_WORDS:
            found.setdefault(stem(plain), word)
    return found


_NEGATIONS = frozenset({"no", "not", "without"})


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 1.0


def _sharing(sets: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Yield pairs that may share enough words.

    Two sets with so large a common share have one of their rarest words in common: only those are looked up.
    """
    often = Counter(term for one in sets for term in one)
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(sets):
        rarest = sorted(one, key=lambda term: (often[term], term))
        # Of n words at least WORDS * n are common: one of the first n - WORDS * n + 1 is.
        for term in rarest[: len(one) - int(-(-WORDS * len(one) // 1)) + 1]:
            held = holders.setdefault(term, [])
            yield from ((other, place) for other in held)
            held.append(place)


def _near(vectors: Mapping[int, Vectors]) -> set[Pair]:
    """Return the pairs whose vectors are near."""
    places = np.array(sorted(vectors), dtype=np.int64)
    if not len(places):
        return set()
    matrix = np.stack([vectors[int(place)] for place in places])
    found: set[Pair] = set()
    for begin in range(0, len(places), _ROWS):
        rows, columns = np.nonzero(matrix[begin : begin + _ROWS] @ matrix.T >= COSINE)
        ahead = columns > rows + begin
        found |= set(zip(places[rows[ahead] + begin].tolist(), places[columns[ahead]].tolist(), strict=True))
    return found


def _cosine(vectors: Mapping[int, Vectors], one: int, other: int) -> float | None:
    if one not in vectors or other not in vectors:
        return None
    return float(vectors[one] @ vectors[other])
