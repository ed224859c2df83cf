"""The decision table of the guide, row by row, and what holds for every row."""

from __future__ import annotations

import itertools

import pytest

from cm_tui.engine.sync.decide import Situation, decide

TABLE = [
    # indexed, head moved, dirty, reachable, snapshot → steps
    (True, False, False, True, "none", ()),
    (True, False, True, True, "none", ("dirty",)),
    (False, False, False, True, "exact", ("pull",)),
    (False, False, True, True, "exact", ("pull", "dirty")),
    (False, False, False, True, "ancestor", ("pull", "delta")),
    (False, False, False, True, "none", ("full",)),
    (False, True, True, True, "none", ("full",)),
    (True, True, False, True, "exact", ("pull",)),
    (True, True, False, True, "ancestor", ("pull", "delta")),
    (True, True, False, True, "none", ("delta",)),
    (True, True, True, True, "none", ("delta", "dirty")),
    (True, True, False, False, "none", ("full",)),
    (True, True, False, False, "exact", ("pull",)),
    (True, True, True, False, "ancestor", ("pull", "delta", "dirty")),
]


@pytest.mark.parametrize(("indexed", "moved", "dirty", "reachable", "snapshot", "steps"), TABLE)
def test_table(indexed, moved, dirty, reachable, snapshot, steps):
    assert decide(Situation(indexed, moved, dirty, reachable, snapshot)) == steps


def test_every_situation_is_served():
    for row in itertools.product(
        [True, False], [True, False], [True, False], [True, False], ["none", "exact", "ancestor"]
    ):
        situation = Situation(*row)
        steps = decide(situation)
        assert bool(steps) == (not situation.indexed or situation.head_moved or situation.dirty)
        if situation.dirty:
            assert steps[-1] in {"dirty", "full"}
        if "pull" in steps:
            assert situation.snapshot != "none"
