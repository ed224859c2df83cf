"""The narrator on histories with planted facts and traps keeps to the bounds that it promises."""

from __future__ import annotations

import pytest

from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories.history import build
from tests.bench.narrator_histories.running import described, score

BOUNDS = {"dev": (0.95, 0.86), "own": (0.85, 0.72), "heldout": (0.82, 0.72)}
"""Precision and recall. What was kept aside is said in ways that nobody looked at: the guide tells what was measured there."""


@pytest.mark.parametrize(
    ("name", "seed"),
    [("dev", 2), pytest.param("own", 2, marks=pytest.mark.deep), pytest.param("heldout", 101, marks=pytest.mark.deep)],
)
def test_what_is_proposed_is_true_and_most_of_the_truth_is_proposed(name: str, seed: int) -> None:
    if not banks.exists(name):
        pytest.skip(f"there is no bank {name}")
    found = score(build(banks.load(name), seed), ("by-hand",))
    wrong = "\n".join(described(item) for item in found.judged if item.is_wrong)
    missed = ", ".join(fact.id for fact in found.missed)
    precision, recall = BOUNDS[name]
    # What was kept aside is not printed: whoever works on the miners would see it.
    assert found.precision >= precision, wrong if name != "heldout" else "precision"
    assert found.recall >= recall, missed if name != "heldout" else "recall"


@pytest.mark.parametrize("policy", ["custom", pytest.param("careful", marks=pytest.mark.deep)])
def test_no_policy_approves_a_trap_or_anything_for_the_user(policy: str) -> None:
    found = score(build(banks.load("dev"), 2, 280), (policy,))
    assert found.judged
    assert [(by, described(item)) for by, item in found.traps_approved()] == []
