"""Words by which sentences are compared, what a sentence affirms and denies, and what comes in place of something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.wording import (
    is_conditional,
    is_reversal,
    is_switch,
    normal,
    polarity,
    sides,
    term_weight,
    weight_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Always use tabs in Makefiles.", "tab makefil"),
        ("we use Postgres for the DB", "postgr databas"),
        ("our PRs need two reviews", "pullrequest 2 review"),
        ("a merge request needs 2 reviews", "merg request 2 review"),
        ("use `uv run`, not pip", "uv run pip"),
        ("don't commit to main", "commit main"),
        ("don’t commit to main", "commit main"),
        ("no, wrong, never commit to main", "commit main"),
        ("app/config.yml", "app/config.yml app configur yaml"),
        ("secrets.py", "secrets.py secret py"),
        ("snake_case names", "snake_case snake case name"),
        ("utf-8 everywhere", "utf-8 utf"),
        ("env vars are upper-case", "environ variabl upper-case upper case"),
        ("Jest's mocks", "jest mock"),
        ("tabs, tabs and tabs", "tab"),
        ("Größe naïve", "größe naïve"),
        ("テスト 日本語", "テスト 日本語"),
        ("", ""),
        ("!!! - _ '", ""),
    ],
)
def test_words_are_stemmed_and_filling_ones_left_out(text: str, words: str) -> None:
    assert normal(text) == tuple(words.split())


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("always use tabs", "tab", ""),
        ("never use tabs", "", "tab"),
        ("use tabs, never spaces", "tab", "space"),
        ("use tabs instead of spaces", "tab", "space"),
        ("tabs rather than spaces", "tab", "space"),
        ("don't use tabs but spaces", "space", "tab"),
        ("we end support for Safari 14", "", "safari 14"),
        ("use tabs, because spaces are wrong", "tab", "space"),
        ("use uv, not pip", "uv", "pip"),
        ("production must not be changed", "", "product chang"),
        ("secrets never", "", "secret"),
        ("nobody pushes to main", "", "push main"),
        ("hands off the vendor folder", "", "vendor folder"),
        ("the old endpoint is gone", "", "old endpoint"),
        ("feature flags are off-limits", "", "featur flag off-limits limit"),
        ("redis was evaluated and rejected", "", "redi"),
        ("no microservices", "", "microservic"),
        ("we do not want microservices", "", "microservic"),
        # Words of reproach deny nothing.
        ("no, use tabs", "tab", ""),
        ("wrong: use tabs", "tab", ""),
        ("stop. use tabs", "tab", ""),
        ("never mind", "", ""),
        ("", "", ""),
    ],
)
def test_what_a_text_affirms_and_what_it_denies(text: str, yes: str, no: str) -> None:
    assert sides(text) == (frozenset(yes.split()), frozenset(no.split()))
    assert polarity(text) == (-1 if len(no.split()) > len(yes.split()) else 1)


@pytest.mark.parametrize(
    "text",
    [
        "never deploy without a review", "don't merge unless CI is green", "never push directly to main", "no deploys before 9",
        "don't touch it yourself", "nothing longer than 80 characters", "Never edit them by hand", "not more than one", "only on Mondays",
    ],
)  # fmt: skip
def test_what_is_denied_on_a_condition(text: str) -> None:
    assert is_conditional(text)


@pytest.mark.parametrize(
    "text", ["never commit secrets", "no longer on Mondays", "not any longer", "use tabs", "an understatement", ""]
)
def test_what_is_denied_for_good(text: str) -> None:
    assert not is_conditional(text)


@pytest.mark.parametrize(
    "text",
    [
        "we switched to pnpm", "moved from Jenkins to Actions", "npm is gone, use pnpm", "we don't use Redis anymore", "correction: the port is 8081",
        "change of plan, we use Kafka", "Forget what I said about tabs", "the limit used to be 80", "ruff replaces flake8", "scrap the outbox",
        "now uses uv", "it’s Wednesday now", "no longer on Monday, Wednesday now", "we went back on that",
    ],
)  # fmt: skip
def test_something_came_in_the_place_of_something_else(text: str) -> None:
    assert is_switch(text)


@pytest.mark.parametrize(
    "text",
    ["we use pnpm", "the rule is tabs", "knowledge is power", "from now on use tabs", "never rebase", "tabs only", ""],
)
def test_nothing_came_in_the_place_of_anything(text: str) -> None:
    assert not is_switch(text)


def test_what_says_that_something_was_otherwise_before() -> None:
    assert is_reversal("from now on use tabs")
    assert is_reversal("We moved the deploy to Tuesday")
    assert not is_reversal("use tabs")


def test_words_that_developers_say_of_nearly_everything_count_less() -> None:
    (common,), (rare,) = normal("tests"), normal("kafka")
    assert term_weight(common) < term_weight(rare) == 1.0
    assert weight_of((common, rare)) == term_weight(common) + 1.0
    assert weight_of(()) == 0


@given(st.text(max_size=300))
def test_any_text_has_words_and_sides(text: str) -> None:
    yes, no = sides(text)
    assert not yes & no
    assert all(word and word == word.strip() and " " not in word for word in normal(text))
    assert polarity(text) in (-1, 1)
    is_conditional(text)
    is_switch(text)
    is_reversal(text)
