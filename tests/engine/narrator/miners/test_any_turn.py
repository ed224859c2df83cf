"""No miner raises, and each observation is one line, whatever a turn contains."""

from __future__ import annotations

from hypothesis import given, settings

from cm_tui.engine.memory.narrator.mining import MINERS
from cm_tui.engine.memory.narrator.turn import Turn
from tests.engine.narrator.miners.turns import any_turns
from tests.tiers import examples


@settings(max_examples=examples(150), deadline=None)
@given(one=any_turns)
def test_nothing_that_a_turn_holds_raises(one: Turn) -> None:
    for miner in MINERS:
        for seen in miner(one):
            assert "\n" not in seen.text
            if miner.__name__ == "mine_statements":
                assert seen.text
                assert seen.terms
                assert 0 < seen.weight <= 1
