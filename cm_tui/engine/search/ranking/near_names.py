"""Names of symbols that a mistyped word is near to."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store.database import Database

MOST = 3
"""Names that are suggested."""
_LETTERS = 32
"""Counters of letters a name; letters that share one only make the first look coarser."""
_LONGEST = 80
"""Longest word to look up, in characters; no user types a longer name."""
_COMPARED = 2_000
"""Names that are compared letter by letter, the likeliest first."""


class _Names(NamedTuple):
    """The names of a project's symbols, a row each."""

    generation: int
    written: list[str]
    folded: list[str]
    """In lower case, without underscores."""
    uses: NDArray[np.int64]
    """How often each is defined and referred to."""
    lengths: NDArray[np.int16]
    letters: NDArray[np.int8]
    """Count of each letter."""


class NearNames:
    """The names of a project's symbols, cached after the first lookup. Thread-safe.

    Args:
        db: the project's store.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()
        self._names: _Names | None = None

    def of(self, word: str) -> tuple[str, ...]:
        """Return the names nearest to a word, ignoring case and style.

        Distance is the number of missing, extra, different or swapped letters: one in a word of three to five letters,
        two in a longer one. Of equally near names, the one with most of the same letters comes first (`enque_at` lacks
        two of `enqueue_at`, and has two that `enqueue` has not), then the most defined and referenced.

        Args:
            word: an unqualified name.
        """
        folded = fold(word)
        if not folded or len(folded) > _LONGEST:
            return ()
        with self._db.reading() as number:
            names = self._current(number)
            rows = _likely(names, folded)
            if not len(rows):
                return ()
            known = [names.folded[row] for row in rows.tolist()]
            distances = np.array(self._db.value(_DISTANCES, [known, folded]), dtype=np.int64)
        # A name that differs only in style is the only match.
        near = distances <= (_allowed_typos(folded) if distances.all() else 0)
        other = np.abs(names.letters[rows[near]] - _letters([folded])[0]).sum(axis=1)
        found = zip(distances[near].tolist(), other.tolist(), rows[near].tolist(), strict=True)
        order = sorted((distance, letters, -names.uses[row], names.written[row]) for distance, letters, row in found)
        return tuple(name for *_, name in order[:MOST])

    def read_all(self) -> None:
        """Take the names into memory."""
        with self._db.reading() as number:
            self._current(number)

    def _current(self, number: int) -> _Names:
        with self._lock:
            if self._names is None or self._names.generation != number:
                self._names = _names(number, self._db.rows(_USED))
            return self._names


_DISTANCES = "SELECT list_transform(?::VARCHAR[], lambda name: damerau_levenshtein(name, ?))"
_USED = """
WITH now AS MATERIALIZED (SELECT DISTINCT blob FROM now_file),
     defined AS (SELECT name, count(*) AS n FROM symbol WHERE blob IN (SELECT blob FROM now) AND kind <> 'section' GROUP BY name),
     referred AS (SELECT name, count(*) AS n FROM reference WHERE blob IN (SELECT blob FROM now) GROUP BY name)
SELECT d.name, d.n + coalesce(r.n, 0) FROM defined d LEFT JOIN referred r ON r.name = d.name ORDER BY d.name
"""


def fold(name: str) -> str:
    """Return a name for comparison: `Client_Session` and `clientSession` are the same."""
    plain = name.lower().replace("_", "")
    return plain if plain.isalnum() else "".join(one for one in plain if one.isalnum())


def _allowed_typos(folded: str) -> int:
    """How many letters may differ; a word of two has no letter to spare."""
    return 0 if len(folded) < 3 else 1 if len(folded) < 6 else 2


def _names(number: int, rows: Sequence[tuple[str, int]]) -> _Names:
    written = [row[0] for row in rows]
    folded = [fold(name) for name in written]
    return _Names(
        number, written, folded,
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([len(name) for name in folded], dtype=np.int16),
        _letters(folded).astype(np.int8),
    )  # fmt: skip


def _letters(names: Sequence[str]) -> NDArray[np.int16]:
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    codes = np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    places = np.repeat(np.arange(len(names)), lengths) * _LETTERS + codes % _LETTERS
    # More of one letter than a byte counts is no name that is near to any word.
    counted = np.minimum(np.bincount(places, minlength=len(names) * _LETTERS), 127)
    return counted.reshape(len(names), _LETTERS).astype(np.int16)


def _likely(names: _Names, folded: str) -> NDArray[np.int64]:
    """Rows of possibly near names: a typo changes the length by at most one, and one letter into another."""
    most = _allowed_typos(folded)
    rows = np.flatnonzero(np.abs(names.lengths - len(folded)) <= most)
    differ = names.letters[rows] - _letters([folded])[0]
    missing = np.minimum(differ, 0).sum(axis=1) * -1
    apart = np.maximum(missing, np.maximum(differ, 0).sum(axis=1))
    near = np.flatnonzero(apart <= most)
    return rows[near[np.argsort(apart[near], kind="stable")][:_COMPARED]]
