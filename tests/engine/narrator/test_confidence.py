"""How sure a fact is: bounds for what was said and shown so and so often, and what always holds."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator import confidence
from cm_tui.engine.memory.narrator.confidence import Tally
from cm_tui.engine.memory.narrator.tables import WORDED
from cm_tui.model import FactKind

DAY = 86_400.0
NOW = 1_780_000_000.0
KINDS: tuple[FactKind, ...] = get_args(FactKind)


def tally(sessions: int = 1, support: int = 0, weight: float = 0.9, **more: object) -> Tally:
    first, last = NOW - 100 * DAY, NOW - DAY
    return replace(Tally(support or sessions, sessions, 0, first, last, 0.0, weight), **more)  # type: ignore[arg-type]


def sure(kind: FactKind, of: Tally, now: float = NOW) -> float:
    return confidence.of(kind, of, now)[0]


OLD, BETWEEN, NEW = NOW - 200 * DAY, NOW - 50 * DAY, NOW


@pytest.mark.parametrize(
    ("kind", "of", "least", "most"),
    [
        # Said: once plainly is enough to be proposed, once faintly is not.
        ("statement", tally(1, weight=0.95), 0.5, 0.65),
        ("statement", tally(1, weight=0.6), 0, 0.4),
        ("statement", tally(3), 0.75, 0.85),
        ("decision", tally(9, weight=0.99), 0.9, 1),
        ("statement", tally(0), 0.5, 0.6),
        # What came in place of something else is as sure as what nothing speaks against.
        ("decision", tally(2, opposed=3, last_opposed=OLD), 0.65, 0.8),
        ("decision", tally(5, opposed=3, last_opposed=BETWEEN), 0, 0.35),
        ("decision", tally(5, opposed=1, last_opposed=NEW), 0, 0.2),
        # Two people who say otherwise are no policy; several who say so nearly are.
        ("rejected", tally(4, speakers_opposed=1), 0, 0.4),
        ("rejected", tally(4, speakers=3), 0.7, 0.85),
        ("rejected", tally(4, speakers=3, speakers_opposed=2), 0, 0.4),
        ("correction", tally(1, weight=1.0, is_alike=True), 0, 0.3),
        # Shown: what was seen in few sessions is no habit.
        ("command", tally(1, 50, 1.0), 0, 0.2),
        ("command", tally(2, 50, 1.0), 0, 0.45),
        ("command", tally(3, weight=1.0), 0.75, 0.85),
        ("command", tally(9, weight=0.5), 0, 0.5),
        ("command", tally(9, 10, 1.0, opposed=10), 0.45, 0.5),
        ("workflow", tally(3, weight=1.0), 0.75, 0.85),
        ("fix", tally(2, weight=1.0), 0.45, 0.5),
        ("cochange", tally(3, weight=1.0), 0.65, 0.75),
        ("convention", tally(3, weight=1.0), 0.55, 0.65),
        ("convention", tally(60, weight=1.0), 0.95, 1),
    ],
)  # fmt: skip
def test_what_tallies_come_to(kind: FactKind, of: Tally, least: float, most: float) -> None:
    assert least <= sure(kind, of) <= most


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_old_is_less_sure_within_bounds(kind: FactKind) -> None:
    years, least = (4, 0.5) if kind in WORDED else (2, 0.4)
    of = tally(9, weight=1.0)
    now = sure(kind, of, of.last)
    assert sure(kind, of, of.last + years * 365.25 * DAY) == pytest.approx(now / 2)
    assert sure(kind, of, of.last + 50 * 365.25 * DAY) == pytest.approx(now * least)
    # A clock that goes wrong makes nothing surer.
    assert sure(kind, of, of.last - 99 * DAY) == now


tallies = st.builds(
    Tally,
    st.integers(0, 10_000), st.integers(0, 1_000), st.integers(0, 10_000),
    *[st.floats(0, 2e9)] * 3, st.floats(0, 1), st.integers(1, 9), st.integers(0, 9), st.booleans(),
)  # fmt: skip
kinds = st.sampled_from(KINDS)


@given(kinds, tallies, st.floats(0, 2e9))
def test_it_is_the_product_of_its_parts_of_which_each_is_said(kind: FactKind, of: Tally, now: float) -> None:
    value, parts = confidence.of(kind, of, now)
    assert value == prod(part.value for part in parts)
    assert 0 <= value <= 1
    assert all(0 <= part.value <= 1 and part.name and part.words for part in parts)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert names[:2] == ["plain", "sessions"]
    assert names[-1] == "recent"
    assert set(names) <= {"plain", "sessions", "unopposed", "one voice", "by itself", "recent"}


@given(kinds, tallies, st.integers(1, 50), st.floats(0, 2e9))
def test_more_sessions_make_nothing_less_sure(kind: FactKind, of: Tally, more: int, now: float) -> None:
    assert sure(kind, replace(of, sessions=of.sessions + more), now) >= sure(kind, of, now)


@given(kinds, tallies, st.integers(0, 50), st.floats(0, 2e9))
def test_what_speaks_against_it_makes_nothing_surer(kind: FactKind, of: Tally, more: int, now: float) -> None:
    value = sure(kind, of, now)
    assert sure(kind, replace(of, opposed=of.opposed + more), now) <= value
    assert sure(kind, replace(of, speakers_opposed=of.speakers_opposed + more), now) <= value
    assert sure(kind, replace(of, is_alike=True), now) <= value
    assert sure(kind, replace(of, weight=of.weight / 2), now) <= value
