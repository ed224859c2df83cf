"""What the store knows about passages, kept in memory while they are asked for again and again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from cm_tui.engine.search import tokens
from cm_tui.engine.store.database import Database

_KEPT = 30_000
"""Cards in memory: some 50 MB."""

_PASSAGES = """
SELECT p.id, p.source, p.path, p.start_line, p.end_line, p.text, p.time,
       coalesce(b.language, 'markdown'), coalesce(b.generated, false)
FROM passage p LEFT JOIN blob b ON b.id = p.blob
WHERE p.id IN ($ids)
"""

_SYMBOLS = """
SELECT p.id, coalesce(s.idx = p.symbol, false), s.start_line BETWEEN p.start_line AND p.end_line,
       s.name, s.qualname, s.kind, s.parent IS NOT NULL, s.end_line - s.start_line + 1
FROM passage p
JOIN symbol s ON s.blob = p.blob AND (s.start_line BETWEEN p.start_line AND p.end_line OR s.idx = p.symbol)
WHERE p.id IN ($ids)
ORDER BY p.id, s.idx
"""


@dataclass(frozen=True)
class Definition:
    """A symbol that begins within a passage."""

    name: str
    qualname: str
    kind: str
    nested: bool
    lines: int

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The pieces of its name."""
        return tuple(tokens.parts(self.name))

    @cached_property
    def terms(self) -> frozenset[str]:
        """The index terms of its name."""
        return frozenset(tokens.terms(self.name))


@dataclass(frozen=True)
class Card:
    """A passage with the symbols that it belongs to and defines. Ids are never used again, so it never changes."""

    symbol: str | None
    """Qualname of the symbol that it belongs to."""
    kind: str | None
    definitions: tuple[Definition, ...]
    id: int
    source: str
    path: str
    start_line: int
    end_line: int
    text: str
    time: int | None
    language: str
    generated: bool

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Pieces of the names of all symbols that it defines, each once."""
        return tuple(dict.fromkeys(piece for definition in self.definitions for piece in definition.pieces))


class Cards:
    """Cards by id of the passage. Safe to use from several threads."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()
        self._generation = -1
        self._cards: OrderedDict[int, Card] = OrderedDict()

    def get(self, ids: Sequence[int], generation: int) -> list[Card]:
        """Cards in order of path and line; those of passages that are gone are left out.

        Args:
            ids: of passages.
            generation: state of the passages that the ids are from.
        """
        with self._lock:
            if generation != self._generation:
                self._cards.clear()
                self._generation = generation
            missing = [id_ for id_ in ids if id_ not in self._cards]
            for card in self._read(missing):
                self._cards[card.id] = card
            found = [self._cards[id_] for id_ in ids if id_ in self._cards]
            for card in found:
                self._cards.move_to_end(card.id)
            while len(self._cards) > _KEPT:
                self._cards.popitem(last=False)
        return sorted(found, key=lambda card: (card.path, card.start_line, card.end_line, card.id))

    def _read(self, ids: Sequence[int]) -> list[Card]:
        if not ids:
            return []
        # Written out, numbers let DuckDB skip the blocks that cannot hold them; as a parameter they do not.
        wanted = ", ".join(str(int(id_)) for id_ in ids)
        owners: dict[int, tuple[str, str]] = {}
        defined: dict[int, list[Definition]] = defaultdict(list)
        for id_, own, begins, *rest in self._db.rows(_SYMBOLS.replace("$ids", wanted)):
            definition = Definition(*rest)
            if own:
                owners[id_] = (definition.qualname, definition.kind)
            if begins:
                defined[id_].append(definition)
        cards = []
        for row in self._db.rows(_PASSAGES.replace("$ids", wanted)):
            symbol, kind = owners.get(row[0], (None, None))
            cards.append(Card(symbol, kind, tuple(defined.get(row[0], ())), *row))
        return cards
