"""References that are found all at once are those that an operator holds for when each is asked."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cm_tui.engine.context.assembly.rules import Candidate, ReferenceTest, RuleSet, Table
from cm_tui.engine.context.definitions import operators
from cm_tui.engine.context.definitions.library import Loaded
from cm_tui.engine.context.definitions.shapes import Condition, Rule
from tests.tiers import examples

NAMES = st.text("ab1é.-", max_size=6)
VALUES = st.lists(st.one_of(NAMES, NAMES, NAMES, st.text("a\nb", max_size=4)), min_size=1, max_size=30, unique=True)
TEXT_OPERATORS = ("contains", "startsWith", "endsWith", "equals", "not_contains", "not_equals")
PATTERNS = ("a", "^a", "b$", "^$", "a.b", "[^a]", r"\Aa", r"b\z", r"\s", "(?i)A", "^[ab]+$", "é", "a|^b", r"\b1", "(?-m)^a", ".*", r"\W", r"[^x]\n?a")  # fmt: skip
CONDITIONS = st.one_of(
    st.tuples(st.sampled_from(TEXT_OPERATORS), st.text("ab1é.\n", max_size=3)),
    st.tuples(st.just("matches"), st.sampled_from(PATTERNS)),
    st.tuples(st.sampled_from(["in", "not_in"]), st.lists(NAMES, max_size=4).map(tuple)),
    st.tuples(st.sampled_from(["gt", "lte"]), st.integers(0, 20)),
    st.tuples(st.just("exists"), st.booleans()),
)


def table(names: list[str]) -> Table:
    return Table([Candidate(f"kv://{name}", "reference", "state", True) for name in names])


def rule(condition: Any, action: Any) -> Loaded[Rule]:
    value = {"name": "r", "condition": condition, "action": action}
    return Loaded(Rule.model_validate(value, strict=False), "rules.json", 1, "")


@given(VALUES, st.lists(CONDITIONS, min_size=1, max_size=6), st.data())
@settings(max_examples=examples(400))
def test_what_is_found_at_once_is_what_holds_for_each(names: list[str], conditions: list[Any], data: Any) -> None:
    known = table(names)
    for op, value in conditions:
        condition = Condition.model_validate({"field": "reference.name", "op": op, "value": value}, strict=False)
        holds, test = operators.tester(condition), ReferenceTest(condition)
        some = data.draw(st.lists(st.sampled_from(range(len(names))), unique=True))
        for numbers in (known.open, some):
            assert known.passing(test, numbers) == [number for number in numbers if holds(names[number])]
        if known.open:
            known.close(data.draw(st.sets(st.sampled_from(known.open), max_size=5)))


def excluded(pattern: str, ids: list[str]) -> set[str]:
    """Return the references that a rule with a pattern excludes."""
    candidates = [Candidate(id_, "reference", "state", True) for id_ in ids]
    ruling = RuleSet([rule((), {"exclude": pattern})]).judge({}, candidates, frozenset(), lambda _: candidates[0])
    return {id_ for id_, verdict in ruling.verdicts.items() if verdict.included is False}


@given(VALUES, st.text("ab1é.\n*?[]", max_size=6).filter(lambda text: "*" in text or "?" in text))
@example(["a"], "*")
@settings(max_examples=examples(200))
def test_a_pattern_fits_what_it_says(names: list[str], text: str) -> None:
    ids = [f"kv://{name}" for name in names]
    for pattern in (f"kv://{text}", text):
        plain = re.compile(
            "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern), re.DOTALL
        )
        assert excluded(pattern, ids) == {id_ for id_ in ids if plain.fullmatch(id_)}


def test_a_pattern_of_many_stars_hangs_on_nothing() -> None:
    assert excluded("*a" * 200 + "*b*", ["kv://" + "a" * 5_000]) == set()
