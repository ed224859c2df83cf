"""What the user says in a turn: statements, decisions, rejected alternatives and corrections.

Each sentence is weighed by its cues and its vector (`cues.py`), `1 / (1 + e^-(bias + weights + sound · vector))`; an
order that begins with `always` or `never`, without a cue against it, gets at least 0.97. From 0.4 on it is observed
with that weight, which the model of prose corrects in a second look (`grouping.py`); `confidence.py` computes the
confidence. The cues also decide on the kind:

| kind | cue |
|---|---|
| rejected | `turned down` (rejected, ruled out, decided against, not an option, we do not want, …) |
| decision | `decision` (we decided, decision:, settled on, …) or `go with` (let's go with, X it is) |
| correction | `corrects`: the prompt follows an answer and begins with no, wrong, stop, don't, use … instead, … |
| statement | any other: rules, preferences and requests to remember something |

A single correction is seldom certain enough; repeated ones are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cm_tui.engine.memory.narrator.said import kind_of, observation, said_in
from cm_tui.engine.memory.narrator.turn import Observation, Turn
from cm_tui.model import FactKind


@dataclass(frozen=True)
class Sayings:
    """Finds the user's sentences of one kind."""

    name: str
    kind: FactKind

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the observations of a turn."""
        found = (observation(turn, self.kind, one) for one in said_in(turn) if kind_of(one) == self.kind)
        return [one for one in found if one is not None]


SAYINGS = (
    Sayings("statements", "statement"),
    Sayings("decisions", "decision"),
    Sayings("rejected", "rejected"),
    Sayings("corrections", "correction"),
)
