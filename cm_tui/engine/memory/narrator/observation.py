"""Observations of miners in one turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.model import FactKind


@dataclass(frozen=True, slots=True)
class Observation:
    """One statement or habit in a turn."""

    kind: FactKind
    subject: str
    """Its subject, normalised: observations of one subject are compared with each other."""
    claim: str
    """Its claim on that, normalised: observations with the same subject and claim are the same fact."""
    text: str
    """The fact as it would be written: one line of Markdown."""
    quote: str
    """The words, or the command, as the turn has them."""
    weight: float = 1.0
    """Its plainness, from 0 to 1: higher for `always use X` than for a command that was run."""
    opposes: bool = False
    """It is evidence against the claim: the command failed, the person took it back."""
    terms: tuple[str, ...] = ()
    """Words that carry the meaning, stemmed; empty: claims are compared letter by letter, and nothing is clustered."""
    scope: Literal["user", "project"] = "project"
    speaker: str = ""
    """Its author, if several people work on the project; empty: unknown."""


class Miner(Protocol):
    """Finds one kind of fact. It is stateless: earlier turns of the session are in `turn.before`."""

    name: str

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the observations of a turn."""
