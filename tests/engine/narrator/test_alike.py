"""Which wordings say the same and which say otherwise, with vectors made up for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator import alike
from cm_tui.engine.memory.narrator.alike import Group, Wording, contradicts, grouped
from cm_tui.engine.memory.narrator.wording import code_of, normal
from tests.tiers import examples


def wording(text: str, number: int = 1, *, speaker: str = "", is_users: bool = False) -> Wording:
    said_by = frozenset(filter(None, [speaker]))
    return Wording(number, text, frozenset(normal(text)), is_users, frozenset(code_of(text)), said_by)


def wordings(*texts: str) -> list[Wording]:
    return [wording(text, number) for number, text in enumerate(texts, 1)]


def at(*cosines: float) -> Any:
    """Return unit vectors: the first one, and others with these cosines to it, in planes of their own."""
    rows = np.zeros((len(cosines) + 1, len(cosines) + 1), np.float32)
    rows[0, 0] = 1
    for place, cosine in enumerate(cosines, 1):
        rows[place, 0], rows[place, place] = cosine, sqrt(1 - cosine**2)
    return rows


def with_z(one: Wording, other: Wording, z: float) -> Any:
    """Return vectors with which two wordings agree so much."""
    without = alike._Finder([one, other], None, 0)._z(1, 0, 0.0)
    cosine = (z - without) / alike._COSINE
    assert alike._LEAST_COSINE <= cosine <= 1
    return at(cosine)


def rows(groups: Sequence[Group]) -> list[list[int]]:
    return [group.rows for group in groups]


@pytest.mark.parametrize(
    ("first", "second", "cosine", "is_same"),
    [
        ("tests run with pytest", "run tests with pytest", 0.9, True),
        ("tests run with pytest", "run tests with pytest", 0.1, False),
        ("tests run with pytest", "pytest is our test runner", 0.6, True),
        ("tests run with pytest", "deploys go through Jenkins", 0.2, False),
        # No word is the same.
        ("squash commits", "one change per merge", 0.95, True),
        ("squash commits", "one change per merge", 0.75, False),
        # Words that everybody uses tell less.
        ("api errors are logged", "api errors are translated", 0.25, False),
        ("kafka parcels are logged", "kafka parcels are translated", 0.25, True),
        ("kafka carries invoices", "kafka carries invoices daily", 0.5, True),
        # Other names in backticks are other things.
        ("run `make lint` before a commit", "run `make docs` before a commit", 0.65, False),
        ("run `make lint` before a commit", "`make lint` before each commit", 0.65, True),
    ],
)
def test_wordings_that_say_the_same_are_one_fact(first: str, second: str, cosine: float, is_same: bool) -> None:
    found = grouped(wordings(first, second), at(cosine))
    assert rows(found) == ([[0, 1]] if is_same else [[0], [1]])


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("tests run with pytest", "run tests with pytest", True),
        ("kafka carries invoices", "invoices are carried by kafka", True),
        ("tests run with pytest", "deploys go through Jenkins", False),
        ("tests run with pytest", "tests are named by feature", False),
    ],
)
def test_without_vectors_words_alone_tell(first: str, second: str, is_same: bool) -> None:
    assert rows(grouped(wordings(first, second), None)) == ([[0, 1]] if is_same else [[0], [1]])


def test_what_is_about_the_person_is_seldom_what_is_about_the_project() -> None:
    one, other = wordings("api errors are logged", "api errors are translated")
    vectors = with_z(one, other, alike.SAME + 0.5)
    assert rows(grouped([one, other], vectors)) == [[0, 1]]
    assert rows(grouped([one, other._replace(is_users=True)], vectors)) == [[0], [1]]


_OTHERWISE = [
    ("never rebase", "always rebase"),
    ("never rebase feature branches", "rebase feature branches every morning"),
    ("use tabs instead of spaces", "use spaces instead of tabs"),
    ("strings have single quotes", "strings have double quotes"),
    ("indent with tabs", "indent with spaces"),
    ("endpoints are async", "endpoints are sync"),
    ("lines have 80 characters", "lines have 120 characters"),
    ("pull requests need two reviews", "pull requests need one review, 1 is enough"),
    ("Redis is our cache", "we don't use Redis"),
]


@pytest.mark.parametrize(("first", "second"), _OTHERWISE)
def test_what_says_otherwise_is_never_the_same_fact(first: str, second: str) -> None:
    one, other = wordings(first, second)
    assert contradicts(other, one)
    assert contradicts(one, other)
    found = grouped([one, other], at(0.99))
    assert rows(found) == [[0], [1]]
    # Both are about one thing, named by what was said first.
    assert [group.topic for group in found] == [1, 1]
    assert not any(group.near for group in found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("never rebase", "never rebase shared branches"),
        ("never rebase", "do not rebase"),
        ("always rebase", "rebase every morning"),
        ("never push directly to main", "push to main by a merge request"),
        ("lines have 80 characters", "files have 300 lines"),
        ("lines have 80 characters", "lines have at most 80 characters"),
        ("strings have single quotes", "one single table"),
        ("tabs and spaces are both fine", "indent with tabs"),
        ("use tabs", "use Kafka"),
    ],
)
def test_what_does_not_say_otherwise(first: str, second: str) -> None:
    one, other = wordings(first, second)
    assert not contradicts(other, one)
    assert not contradicts(one, other)


def test_what_came_in_the_place_of_something_says_otherwise_of_what_was_before() -> None:
    before, after = wordings("deploys happen on Monday", "deploys happen on Wednesday now, no longer on Monday")
    assert contradicts(after, before)
    npm, pnpm = wordings("packages come from npm", "we switched to pnpm, npm is gone")
    assert contradicts(pnpm, npm)
    # Two of them in a row may say the same.
    assert not contradicts(*wordings("we switched to pnpm", "we moved to pnpm"))


def test_of_two_people_one_who_denies_speaks_against_the_other() -> None:
    plain, denied = "mocks for the mail gateway", "no mail gateway in tests, unless it is faked"
    ann, bob = wording(plain, 1, speaker="Ann"), wording(denied, 2, speaker="Bob")
    assert contradicts(bob, ann)
    assert contradicts(ann, bob)
    assert not contradicts(bob._replace(speakers=frozenset({"Ann"})), ann)
    assert not contradicts(bob._replace(speakers=frozenset()), ann)


def test_a_wording_joins_the_fact_that_it_agrees_with_best() -> None:
    said = wordings("kafka carries invoices", "kafka carries parcels", "kafka carries parcels daily")
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.3, 0.95, 0]], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert rows(grouped(said, vectors)) == [[0], [1, 2]]


def test_the_order_of_time_decides() -> None:
    never, always, also = "never rebase branches", "always rebase branches", "branches are never rebased, never"
    vectors = at(0.95, 0.95)
    assert rows(grouped(wordings(never, always, also), vectors)) == [[0, 2], [1]]
    assert rows(grouped(wordings(always, never, also), vectors)) == [[0], [1, 2]]


def test_topics_that_meet_become_one() -> None:
    said = wordings("never rebase", "always rebase", "lines have 80 characters", "lines have 120 characters")
    said.append(wording("lines have 100 characters, always rebase", 5))
    found = grouped(said, at(0.9, 0.9, 0.9, 0.9))
    assert {group.topic for group in found[:2]} == {1}
    assert len({group.topic for group in found if group.topic}) == 1


def test_what_is_near_is_named_and_joins_nothing() -> None:
    one, other = wordings("api errors are logged", "files of users are translated for api errors")
    for z, near in ((alike.NEAR + 0.1, {0}), (alike.SAME - 0.1, {0}), (alike.NEAR - 0.1, set())):
        found = grouped([one, other], with_z(one, other, z))
        assert rows(found) == [[0], [1]]
        assert [group.near for group in found] == [set(), near]


def test_only_what_is_much_alike_contradicts() -> None:
    one, other = wordings("rebase every feature branch on develop before the nightly build", "never rebase")
    for z, is_one_thing in ((alike._OF_ONE_THING + 0.1, True), (alike._OF_ONE_THING - 0.1, False)):
        found = grouped([one, other], with_z(one, other, z))
        assert rows(found) == [[0], [1]]
        assert all(group.topic for group in found) == is_one_thing


_SAID = (
    "always rebase", "never rebase", "rebase every morning", "use tabs", "use spaces, not tabs", "tabs instead of spaces", "lines have 80 characters",
    "lines have 100 characters", "no line is longer than 80 characters", "we switched to pnpm", "npm is used", "npm is gone", "run `make lint`", "run `make docs`",
    "kafka carries invoices", "kafka carries parcels", "invoices go over kafka", "tests run with pytest", "Größe in cm", "", "no",
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Wording], Any]:
    texts = draw(st.lists(st.sampled_from(_SAID), max_size=14))
    speakers = [draw(st.sampled_from(["", "", "Ann", "Bob"])) for _ in texts]
    said = [wording(text, n, speaker=who) for n, (text, who) in enumerate(zip(texts, speakers, strict=True), 1)]
    if not said or draw(st.booleans()):
        return said, None
    values = draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=len(said), max_size=len(said)))
    vectors = np.array(values, np.float32) + np.float32(0.5)
    return said, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@settings(max_examples=examples(150))
@given(histories(), st.data())
def test_what_was_put_together_before_stays_and_the_rest_comes_to_the_same(
    history: tuple[list[Wording], Any], data: st.DataObject
) -> None:
    said, vectors = history
    whole = grouped(said, vectors)
    assert sorted(row for group in whole for row in group.rows) == list(range(len(said)))
    assert all(group.rows == sorted(group.rows) for group in whole)
    cut = data.draw(st.integers(0, len(said)))
    begun = grouped(said[:cut], None if vectors is None else vectors[:cut])
    known = [place for row in range(cut) for place, group in enumerate(begun) if row in group.rows]
    gone_on = grouped(said, vectors, known, [group.topic for group in begun])
    assert rows(gone_on) == rows(whole)
    assert [group.topic for group in gone_on] == [group.topic for group in whole]
    nears = [group.near | (begun[place].near if place < len(begun) else set()) for place, group in enumerate(gone_on)]
    assert nears == [group.near for group in whole]


@settings(max_examples=examples(60))
@given(histories())
def test_no_group_holds_two_that_say_otherwise_and_both_stand_under_a_topic(history: tuple[list[Wording], Any]) -> None:
    said, vectors = history
    for group in grouped(said, vectors):
        assert group.topic == 0 or group.topic in {one.number for one in said}
        if group.topic == 0:
            continue
        assert len(group.rows) < len(said)


def test_blocks_and_frequent_words_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [wording(f"kafka carries parcel{n % 7} number{n % 5}", n + 1) for n in range(60)]
    turned = np.array([[np.cos(n % 7), np.sin(n % 7), n % 5] for n in range(60)], np.float32)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    whole = grouped(said, turned)
    monkeypatch.setattr(alike, "_BLOCK", 7)
    assert grouped(said, turned) == whole
    assert len(whole) < 40


def test_vectors_bring_no_wordings_of_another_language_together() -> None:
    near = wordings("usa tabuladores", "prezzi senza iva")
    assert rows(grouped(near, at(0.95))) == [[0, 1]]
    foreign = [one._replace(is_foreign=True) for one in near]
    found = grouped(foreign, at(0.95))
    assert (rows(found), [one.near for one in found]) == ([[0], [1]], [set(), set()])
