"""What a miner saw in one turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from cm_tui.engine.narrator.turn import Turn
from cm_tui.model import FactKind


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that one turn says, or shows."""

    kind: FactKind
    subject: str
    """What it is about, normalised: observations of one subject are compared with each other."""
    claim: str
    """What it says of that, normalised: observations of one subject and one claim are the same fact."""
    text: str
    """The fact as it would be written: one line of Markdown."""
    quote: str
    """The words, or the command, as the turn has them."""
    weight: float = 1.0
    """How plainly it says so, from 0 to 1: `always use X` more than a command that was run."""
    opposes: bool = False
    """It is evidence against the claim: the command failed, the person took it back."""
    terms: tuple[str, ...] = ()
    """Words that carry the meaning, stemmed; empty: claims are compared letter by letter, and nothing is clustered."""
    scope: Literal["user", "project"] = "project"
    speaker: str = ""
    """Who says it, where several people work on the project; empty: not known."""


class Miner(Protocol):
    """Finds one kind of fact. It keeps nothing between turns: what happened before in the session is `turn.before`."""

    name: str

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return what a turn says."""
