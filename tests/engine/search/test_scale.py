"""One scale for all scores, and rounded parts that add up as they are printed."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking import profiles
from cm_tui.engine.search.ranking.profiles import to_unit, unit, unit_of
from cm_tui.errors import ConfigError
from cm_tui.model import ScorePart
from cm_tui.model.score_text import printed, sign_of

finite = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(finite, min_size=1, max_size=20))
def test_the_scale_lies_between_0_and_1_and_changes_no_order(scores: list[float]):
    values = np.array(scores)
    result, [stage] = to_unit(values)
    assert ((result >= 0) & (result < 1)).all()
    by_score = np.argsort(values, kind="stable")
    assert (np.diff(result[by_score]) >= 0).all()
    assert np.allclose(values + stage.contributions, result)
    low = (values >= 0) & (values <= 0.5)
    assert (result[low] == values[low]).all()


@given(st.floats(0, 50), st.floats(1e-6, 10))
def test_it_is_strictly_increasing(score: float, more: float):
    assert unit_of(score + more) > unit_of(score)


def test_it_has_no_step_and_no_bend_at_the_knee():
    below, above = unit(np.array([0.5 - 1e-6])), unit(np.array([0.5 + 1e-6]))
    assert above[0] - below[0] == pytest.approx(2e-6, rel=1e-3)


@given(st.lists(st.floats(-3, 3, allow_nan=False), max_size=40))
def test_printed_parts_add_up_to_the_printed_score(contributions: list[float]):
    parts = [ScorePart(f"p{n}", 1.0, value, value) for n, value in enumerate(contributions)]
    score = sum(contributions)
    shown, total = printed(parts, score)
    assert (
        sum((Decimal(f"{one:.4f}") for one in shown), Decimal(0)) == Decimal(f"{total:.4f}") == Decimal(f"{score:.4f}")
    )
    assert all(abs(one - exact) < 1.0001e-4 for one, exact in zip(shown, contributions, strict=True))


@given(st.floats(0, 50), st.floats(0, 2))
def test_a_sign_of_equality_holds_as_printed(value: float, weight: float):
    part = ScorePart("p", value, weight, value * weight)
    [adds], _ = printed([part], part.contribution)
    texts = f"{value:.4g}", f"{weight:.4g}"
    sign = sign_of(part, *texts, adds)
    assert sign in "=≈"

    if sign == "=":
        assert abs(float(texts[0]) * float(texts[1]) - adds) <= 0.5001e-4
    assert sign_of(ScorePart("p", value, weight, value * weight + 1), *texts, adds) == "→"


def test_a_least_score_of_the_scale_before_finds_the_same():
    assert profiles.make("notes", {"min_score": 2.0}).min_score == pytest.approx(1 - 1 / 8)
    assert 0.99 < profiles.make("notes", {"min_score": 10**400}).min_score <= 1
    assert profiles.make("notes", {}).min_score == 0.35
    with pytest.raises(ConfigError, match="between 0 and 1"):
        profiles.make("notes", {"min_score": -0.1})
    with pytest.raises(ConfigError, match="between 0 and 1"):
        profiles.make("notes", {"min_score": float("inf")})
