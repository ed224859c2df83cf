"""Signals for adjustments: columns of numbers from 0 to 1 (`usage`: from -1, `length`: to 1.5), one per candidate."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cm_tui.engine.search.ranking import tokens, traits
from cm_tui.engine.search.ranking.candidate_table import Column
from cm_tui.engine.search.ranking.passage_cache import PassageRecord
from cm_tui.engine.search.ranking.query import Name, Query
from cm_tui.engine.search.ranking.traits import Definition
from cm_tui.model import CODE

_ABBREVIATION = 3
"""Least letters of an abbreviation: `err`, `auth`, `config`."""

_ALIKE = 2
"""First letters that a word and all its abbreviations share."""
_NOTHING: frozenset[str] = frozenset()

_MAIN_KINDS = tokens.word_set(
    "class struct interface trait enum type function method constructor macro module namespace section"
)
_MINOR_KIND = 0.6
_OTHER_CASE = 0.7
_DECLARED = 0.6
"""Factor for a definition of one line, which may only declare what is defined elsewhere."""
_WORKING_LENGTH = 1.5
"""Factor for length where the question asks where something is done or how it works: in code that does the work."""
_PLAIN_WORD = 0.25
"""Factor for a name of one word in such a question, whose words are plain English: `finalize` or `Header` is one of them."""
_ACTIONS = tokens.word_list("actions")
_ACTION = 0.25
"""Weight in names and paths of a verb in such a question that suits any code: in `where is the width read` it is the width."""


_OF_PATHS = ("file-name", "path", *traits.ROLES)
_OF_PASSAGES = (
    "symbol-name", "name-share", "container", "head", "length", "usage", "generated", "nameless", "values", "types", "own-tests",
)  # fmt: skip


class _Place(NamedTuple):
    """Query-independent facts of a file's path."""

    name: tuple[str, ...]
    """Pieces of its name."""
    whole: tuple[str, ...]
    """Pieces of its folders and its name."""
    flat: str
    """Its name without separators."""
    roles: frozenset[str]


@lru_cache(maxsize=1 << 15)
def _place(path: str) -> _Place:
    stem = traits.file_stem(path)
    name = tokens.parts(stem)
    folders = [piece for folder in path.split("/")[:-1] for piece in tokens.parts(folder)]
    return _Place(tuple(name), (*folders, *name), "".join(name), traits.roles(path))


def measure(query: Query, records: Sequence[PassageRecord], idf: Callable[[str], float]) -> dict[str, Column]:
    """Return all signals for some candidates.

    Args:
        query: the query.
        records: one per candidate.
        idf: weight of a term; higher is rarer.
    """
    asked = _ComparableQuery(query, idf)
    # A memory is not a file or symbol: it has none of these signals.
    of_code = [row for row, record in enumerate(records) if record.source == CODE]
    number = {path: row for row, path in enumerate(dict.fromkeys(records[row].path for row in of_code))}
    by_path = np.array([asked.path(path) for path in number]).reshape(len(number), len(_OF_PATHS))
    measured = np.zeros((len(records), len(_OF_PATHS) + len(_OF_PASSAGES)))
    if of_code:
        measured[of_code, : len(_OF_PATHS)] = by_path[[number[records[row].path] for row in of_code]]
        measured[of_code, len(_OF_PATHS) :] = [asked.passage(records[row]) for row in of_code]
    found = dict(zip((*_OF_PATHS, *_OF_PASSAGES), measured.T.copy(), strict=True))
    found |= {name: np.zeros(len(records)) for name in asked.kinds}
    found["tests"] = np.maximum(found["tests"], found.pop("own-tests"))
    for name, value in (("exact-name", asked.is_exactly), ("definition", asked.defines), ("near-name", asked.nearly)):
        found[name] = np.array([value(record) for record in records]) if query.names else np.zeros(len(records))
    return found


class _Matches(dict[str, frozenset[str]]):
    """Stems of a query by matching pieces of names: the same stem, or one abbreviates the other."""

    def __init__(self, stems: Mapping[str, str]) -> None:
        self._stems = stems
        self._begun: dict[str, set[str]] = defaultdict(set)
        """Stems by the first letters of their abbreviations."""
        for stem, word in stems.items():
            for length in range(_ABBREVIATION, len(word) + 1):
                self._begun[word[:length]].add(stem)
        self._words = {word: stem for stem, word in stems.items() if len(word) >= _ABBREVIATION}
        self._lengths = sorted({len(word) for word in self._words})
        self._starts = {text[:_ALIKE] for pair in stems.items() for text in pair}

    def __missing__(self, piece: str) -> frozenset[str]:
        if piece[:_ALIKE] not in self._starts:
            # Most pieces of most names: stems and abbreviations keep the first letters.
            self[piece] = _NOTHING
            return _NOTHING
        own = tokens.stem(piece)
        stems = {own} if own in self._stems else set()
        stems.update(self._begun.get(piece, ()))
        stems.update(self._words[piece[:n]] for n in self._lengths if piece[:n] in self._words)
        found = self[piece] = frozenset(stems)
        return found


class _ComparableQuery:
    """A query, ready to be compared with many names and paths."""

    def __init__(self, query: Query, idf: Callable[[str], float]) -> None:
        self.query = query
        stems = {tokens.stem(piece): piece for piece in query.plain_pieces}
        actions = _ACTIONS if query.documents < 0 else _NOTHING
        self.weights = {
            stem: max(idf(stem), 1e-6) * (_ACTION if word in actions else 1.0) for stem, word in stems.items()
        }
        self.total = sum(self.weights.values()) or 1.0
        asked = frozenset(stems)
        self.roles = frozenset(role for role in traits.ROLES if traits.requested_role(role, asked))
        if query.documents >= 1:
            # "How do I test a route" or "change a color" asks for the guide, not for a test or a list of changes.
            self.roles -= {"tests", "news"}
        if not query.cut.isascii():
            self.roles |= {"translated"}
        # "Where are required options checked" asks for code that does it, not for an option.
        kinds = ("types", "values") if query.documents >= 0 else ()
        self.kinds = frozenset(kind for kind in kinds if traits.requested_role(kind, asked))
        self.matches = _Matches(stems)
        self.length, self.single = (_WORKING_LENGTH, _PLAIN_WORD) if query.documents < 0 else (1.0, 1.0)

    def overlap(self, pieces: Sequence[str]) -> tuple[float, float]:
        """Return the share of the query that pieces of a name cover (by weight), and the share of pieces covered."""
        hits = [hit for piece in pieces if (hit := self.matches[piece])]
        if not hits:
            return 0.0, 0.0
        covered = frozenset().union(*hits)
        return self._weight(covered), len(hits) / len(pieces)

    def _weight(self, stems: Collection[str]) -> float:
        """Return the share of the query, by weight, that some of its stems are; most passages have none."""
        return sum(self.weights[stem] for stem in stems) / self.total if stems else 0.0

    def path(self, path: str) -> tuple[float, ...]:
        """Signals that are the same for all passages of a file, in the order of `_OF_PATHS`."""
        place = _place(path)
        # A guide named like the words of a question about code does not do what is asked for.
        counts = self.query.documents >= 0 or "docs" not in place.roles
        recall, precision = self.overlap(place.name) if counts else (0.0, 0.0)
        whole, _ = self.overlap(place.whole) if counts else (0.0, 0.0)
        found = place.roles - self.roles
        return (math.sqrt(recall * precision), whole, *(float(role in found) for role in traits.ROLES))

    def passage(self, record: PassageRecord) -> tuple[float, ...]:
        """Signals of one passage, in the order of `_OF_PASSAGES`."""
        traits, matches = record.traits, self.matches
        named: set[str] = set()
        share = 0.0
        for pieces in traits.names:
            said = 0
            for piece in pieces:
                if hit := matches[piece]:
                    said += 1
                    named |= hit
            if said:
                share = max(share, said / len(pieces) if len(pieces) > 1 else self.single)
        around = _NOTHING.union(*map(matches.__getitem__, traits.around))
        head = _NOTHING.union(*map(matches.__getitem__, traits.head))
        return (
            self._weight(named),
            share,
            len(around) / max(1, len(self.weights)),
            self._weight(head),
            traits.length * self.length,
            traits.document * self.query.documents,
            record.generated,
            traits.nameless,
            traits.values,
            traits.types,
            traits.tests and "tests" not in self.roles,
        )

    def is_exactly(self, record: PassageRecord) -> float:
        """Return 1 for a definition of exactly this name, half for a namesake; only where the query is just that."""
        if not self.query.is_name:
            return 0.0
        found = (_exact(name, definition) for name in self.query.names for definition in record.definitions)
        return max(found, default=0.0)

    def defines(self, record: PassageRecord) -> float:
        """Return how well the passage defines a name in the query; 0 for a name inside a sentence."""
        # The sentence is about what happens, not about the type that it mentions.
        if not self.query.is_names and self.query.report is None:
            return 0.0
        return max((self._defines(name, record) for name in self.query.names), default=0.0)

    def nearly(self, record: PassageRecord) -> float:
        """Return 1 for a definition of the name most similar to an unknown one, less for the next ones."""
        near = self.query.near
        if not near:
            return 0.0
        best = min((near.index(one.name) for one in record.definitions if one.name in near), default=len(near))
        return (1.0 - best / len(near)) * self.query.names[0].strength if best < len(near) else 0.0

    def _defines(self, name: Name, record: PassageRecord) -> float:
        best = 0.0
        stem = _place(record.path).flat
        for definition in record.definitions:
            fit = _fit(name, definition)
            if fit:
                fit *= 1.0 if definition.kind in _MAIN_KINDS else _MINOR_KIND
                fit *= 0.8 if definition.nested else 1.0
                fit *= min(1.0, _DECLARED + 0.1 * definition.lines)
                fit *= 1.0 if stem == "".join(tokens.parts(name.last)) else 0.8
                best = max(best, fit)
        return best * name.strength


def _fit(name: Name, definition: Definition) -> float:
    """Return how well a definition's name matches."""
    if name.text != name.last:
        asked, have = _flat(name.text), _flat(definition.qualname)
        if have == asked or have.endswith("." + asked):
            return 1.0
        return 0.5 if definition.name == name.last else 0.0
    if definition.name == name.last:
        return 1.0
    names = {one.lstrip("$").lower() for one in (definition.name, name.last)}
    return _OTHER_CASE if len(names) == 1 else 0.0


def _exact(name: Name, definition: Definition) -> float:
    if definition.name.rstrip("?!") != name.last:
        # A property of PHP is written with `$` and without.
        return 0.5 if definition.name.lstrip("$") == name.last.lstrip("$") else 0.0
    asked, have = _flat(name.text), _flat(definition.qualname).rstrip("?!")
    return 1.0 if name.text == name.last or have == asked or have.endswith("." + asked) else 0.5


def _flat(name: str) -> str:
    return re.sub(r"::|->|[\\#]", ".", name)
