"""Mining episodes into columns: the work of the mining processes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.narrator.reading import Item, turns
from cm_tui.engine.memory.narrator.tables import number_of
from cm_tui.engine.memory.narrator.turn import Miner, Observation, Turn
from cm_tui.engine.platform.redaction.marks import has_marks

_CHARACTERS = 2_000
"""Longest text of a fact."""
_LONG_PROMPT = 300
"""From this length on no user types a prompt twice: repetitions are a text that is kept elsewhere."""
_log = logging.getLogger(__name__)


class Fact(NamedTuple):
    """One wording of a fact."""

    kind: str
    subject: str
    claim: str
    text: str
    terms: str
    scope: str

    @property
    def number(self) -> int:
        """Return what names it in the tables."""
        return number_of(*self)

    @classmethod
    def of(cls, seen: Observation) -> Fact:
        """Return the data of an observation."""
        return cls(seen.kind, seen.subject, seen.claim, seen.text, " ".join(seen.terms), seen.scope)


@dataclass
class Seen:
    """Observations in some episodes."""

    items: list[Item] = field(default_factory=list)
    facts: dict[int, Fact] = field(default_factory=dict)
    rows: dict[tuple[int, int, bool], tuple[float, str]] = field(default_factory=dict)
    """By fact, seq and whether it opposes: plainness, and author."""
    prompts: dict[int, int] = field(default_factory=dict)
    """Digests of long prompts, by seq; 0: it is a short one."""
    failed: dict[str, int] = field(default_factory=dict)
    """Number of errors by miner."""

    def add(self, other: Seen) -> None:
        """Add the observations of others."""
        self.items += other.items
        self.facts |= other.facts
        self.rows |= other.rows
        self.prompts |= other.prompts
        for what, times in other.failed.items():
            self.failed[what] = self.failed.get(what, 0) + times


def look(folder: Path, items: Sequence[Item], miners: Iterable[Miner] | None = None) -> Seen:
    """Read episodes and run all miners on them.

    `miners`: None: all. Raises StoreError if the journal cannot be read.
    """
    chosen = tuple(_miners() if miners is None else miners)
    seen = Seen()
    for item, turn in turns(folder, items):
        seen.items.append(item)
        if turn is not None:
            seen.prompts[item.seq] = _text_of(turn)
            for one in observations(turn, chosen, seen.failed):
                _take(seen, item.seq, one)
    return seen


def _text_of(turn: Turn) -> int:
    """Return a digest of a long prompt; 0 of a short one."""
    prompts = turn.record.prompts
    return number_of(*prompts) if sum(map(len, prompts)) >= _LONG_PROMPT else 0


def observations(turn: Turn, miners: Iterable[Miner], failed: dict[str, int]) -> list[Observation]:
    """Return the observations of all miners in a turn; one that fails yields none, and the others go on."""
    found: list[Observation] = []
    for miner in miners:
        try:
            found += miner.look(turn)
        except Exception as error:  # noqa: BLE001 - an episode may hold anything, and must not end the pass
            what = f"{miner.name}: {type(error).__name__}"
            failed[what] = failed.get(what, 0) + 1
            _log.debug("%s at the episode %s", what, turn.id, exc_info=True)
    return [one for one in found if _may_be_kept(one)]


def quotes(folder: Path, items: Sequence[Item], facts: frozenset[int]) -> dict[int, str]:
    """Return the words of some facts as episodes have them now, by seq."""
    found: dict[int, str] = {}
    miners = _miners()
    for item, turn in turns(folder, items):
        for one in () if turn is None else observations(turn, miners, {}):
            if item.seq not in found and Fact.of(one).number in facts:
                found[item.seq] = one.quote
    return found


def _take(seen: Seen, seq: int, one: Observation) -> None:
    fact = Fact.of(one)
    number = fact.number
    seen.facts[number] = fact
    key = (number, seq, one.opposes)
    weight = max(0.0, min(1.0, one.weight))
    if key not in seen.rows or seen.rows[key][0] < weight:
        seen.rows[key] = (weight, one.speaker)


def _may_be_kept(one: Observation) -> bool:
    if not one.text.strip() or max(len(one.text), len(one.claim), len(one.subject)) > _CHARACTERS:
        return False
    return not (has_marks(one.text) or has_marks(one.claim) or has_marks(one.quote))


def _miners() -> Iterable[Miner]:
    # Late import: miners import this module.
    from cm_tui.engine.memory.narrator.miners.list import MINERS

    return MINERS
