"""What adjustments measure: each signal is a column of numbers from 0 to 1, one a candidate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cm_tui.engine.search import roles, tokens
from cm_tui.engine.search.candidate_table import Column
from cm_tui.engine.search.passage_cache import Definition, PassageRecord, name_pieces
from cm_tui.engine.search.query import Name, Query

_ABBREVIATION = 3
"""Letters from which on the beginning of a word stands for it: `err`, `auth`, `config`."""

_MAIN_KINDS = tokens.word_set(
    "class struct interface trait enum type function method constructor macro module namespace section"
)
_WORKING = tokens.word_set("function method constructor macro property")
_TYPES = tokens.word_set("class struct interface trait enum type module protocol object namespace union record")
_LONG = math.log1p(40)
"""From forty lines on, more say nothing more about whether a passage does any work."""
_MINOR_KIND = 0.6
_OTHER_CASE = 0.7
_DECLARED = 0.6
"""A definition of one line counts less than one with a body: it may only announce what stands elsewhere."""


class _Place(NamedTuple):
    """Facts of a file's path, whatever is asked."""

    name: tuple[str, ...]
    """Pieces of its name."""
    whole: tuple[str, ...]
    """Pieces of its folders and its name."""
    flat: str
    """Its name without separators."""
    roles: frozenset[str]


@lru_cache(maxsize=1 << 15)
def _place(path: str) -> _Place:
    stem = roles.file_stem(path)
    name = tokens.parts(stem)
    folders = [piece for folder in path.split("/")[:-1] for piece in tokens.parts(folder)]
    return _Place(tuple(name), (*folders, *name), "".join(name), roles.roles(path))


def measure(query: Query, records: Sequence[PassageRecord], idf: Callable[[str], float]) -> dict[str, Column]:
    """Return all signals for some candidates.

    Args:
        query: the question.
        records: one for each candidate.
        idf: how much a term says; higher is rarer.
    """
    asked = _Asked(query, idf)
    by_path: dict[str, Mapping[str, float]] = {}
    rows = []
    for record in records:
        place = by_path.get(record.path)
        if place is None:
            place = by_path[record.path] = asked.path(record.path)
        rows.append({**place, **asked.passage(record)})
    names = list(rows[0]) if rows else []
    return {name: np.array([row[name] for row in rows]) for name in names}


class _Asked:
    """A query, ready to be compared with many names and paths."""

    def __init__(self, query: Query, idf: Callable[[str], float]) -> None:
        self.query = query
        self.stems = {tokens.stem(piece): piece for piece in query.plain_pieces}
        self.weights = {stem: max(idf(stem), 1e-6) for stem in self.stems}
        self.total = sum(self.weights.values()) or 1.0
        asked = frozenset(self.stems)
        self.roles = frozenset(role for role in roles.ROLES if roles.asked_for(role, asked))
        self.kinds = frozenset(kind for kind in ("types", "values") if roles.asked_for(kind, asked))
        self._begun: dict[str, set[str]] = defaultdict(set)
        """Stems by the beginnings of their words that may stand for them."""
        for stem, word in self.stems.items():
            for length in range(_ABBREVIATION, len(word) + 1):
                self._begun[word[:length]].add(stem)
        self._words = {word: stem for stem, word in self.stems.items() if len(word) >= _ABBREVIATION}
        self._lengths = sorted({len(word) for word in self._words})
        self._matched: dict[str, frozenset[str]] = {}

    def matched(self, piece: str) -> frozenset[str]:
        """Stems of the query that a piece of a name stands for: the same stem, or one abbreviates the other."""
        found = self._matched.get(piece)
        if found is None:
            own = tokens.stem(piece)
            stems = {own} if own in self.stems else set()
            stems.update(self._begun.get(piece, ()))
            stems.update(self._words[piece[:n]] for n in self._lengths if piece[:n] in self._words)
            found = self._matched[piece] = frozenset(stems)
        return found

    def overlap(self, pieces: Sequence[str]) -> tuple[float, float]:
        """Return how much of the query some pieces of a name cover (by weight), and how many of the pieces it covers."""
        hits = [self.matched(piece) for piece in pieces]
        covered = frozenset().union(*hits) if hits else frozenset()
        recall = sum(self.weights[stem] for stem in covered) / self.total
        precision = sum(1 for hit in hits if hit) / len(pieces) if pieces else 0.0
        return recall, precision

    def path(self, path: str) -> dict[str, float]:
        """Signals that are the same for all passages of a file."""
        place = _place(path)
        recall, precision = self.overlap(place.name)
        whole, _ = self.overlap(place.whole)
        found = place.roles - self.roles
        return {
            "file-name": math.sqrt(recall * precision),
            "path": whole,
            **{role: float(role in found) for role in roles.ROLES},
        }

    def passage(self, record: PassageRecord) -> dict[str, float]:
        """Signals of one passage."""
        named: set[str] = set()
        share = 0.0
        for name in record.names():
            pieces = name_pieces(name)
            hits = [self.matched(piece) for piece in pieces]
            named.update(*hits)
            share = max(share, sum(1 for hit in hits if hit) / len(hits) if hits else 0.0)
        document = record.kind == "section" or "docs" in _place(record.path).roles
        of_kind = _of_kind(record, document=document)
        return {
            "exact-name": max((self._is_exactly(name, record) for name in self.query.names), default=0.0),
            "definition": max((self._defines(name, record) for name in self.query.names), default=0.0),
            "symbol-name": sum(self.weights[stem] for stem in named) / self.total,
            "name-share": share,
            "container": self._around(record),
            "length": min(1.0, math.log1p(record.written_lines) / _LONG),
            "usage": float(document and self.query.asks_for_use),
            "generated": float(record.generated),
            **{kind: 0.0 if kind in self.kinds else value for kind, value in of_kind.items()},
        }

    def _around(self, record: PassageRecord) -> float:
        """Share of the query's words, each counted alike, in the names of what a passage's symbol stands in."""
        if record.symbol is None or record.name is None:
            return 0.0
        pieces = name_pieces(record.symbol.removesuffix(record.name))
        covered = frozenset().union(*map(self.matched, pieces)) if pieces else frozenset()
        return len(covered) / max(1, len(self.stems))

    def _is_exactly(self, name: Name, record: PassageRecord) -> float:
        """Return 1 for a definition of exactly this name, half for its namesake elsewhere; only where nothing else is asked."""
        if not self.query.is_name:
            return 0.0
        return max((_exact(name, definition) for definition in record.definitions), default=0.0)

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
    """Return how well a definition's name is the one asked for."""
    if name.text != name.last:
        asked, have = _flat(name.text), _flat(definition.qualname)
        if have == asked or have.endswith("." + asked):
            return 1.0
        return 0.5 if definition.name == name.last else 0.0
    if definition.name == name.last:
        return 1.0
    return _OTHER_CASE if definition.name.lower() == name.last.lower() else 0.0


def _exact(name: Name, definition: Definition) -> float:
    if definition.name.rstrip("?!") != name.last:
        return 0.0
    asked, have = _flat(name.text), _flat(definition.qualname).rstrip("?!")
    return 1.0 if name.text == name.last or have == asked or have.endswith("." + asked) else 0.5


def _of_kind(record: PassageRecord, *, document: bool) -> dict[str, float]:
    """Signals of what kind of symbol a passage shows: its own, or the one among those it defines that does most."""
    kinds = {record.kind} if record.kind else {definition.kind for definition in record.definitions}
    works = document or not kinds.isdisjoint(_WORKING)
    typed = not works and not kinds.isdisjoint(_TYPES)
    return {
        "nameless": float(not kinds and not document),
        "values": float(bool(kinds) and not works and not typed),
        "types": float(typed),
    }


def _flat(name: str) -> str:
    for separator in ("::", "->", "\\", "#"):
        name = name.replace(separator, ".")
    return name
