"""Approved rules stand in a block of a file of instructions, and leave no trace when they go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.notes.publishing import BEGIN, END, Rule, with_block, without_block

RULES = st.lists(st.builds(Rule, st.text(max_size=20), st.text(min_size=1, max_size=60)), min_size=1, max_size=4)
TEXTS = st.text(st.sampled_from("ab#- \n"), max_size=30)


@given(TEXTS, RULES, RULES)
def test_a_block_goes_without_a_trace(text: str, rules: list[Rule], others: list[Rule]):
    once = with_block(text, rules)
    assert once.count(END) == 1
    assert without_block(once) == text
    again = with_block(once, others)
    assert again == with_block(text, others)
    assert without_block(again) == text
    assert with_block(again, []) == text


@given(RULES)
def test_what_people_write_below_it_stays(rules: list[Rule]):
    text = with_block("Above.\n", rules) + "\nBelow.\n"
    assert with_block(text, rules) == text
    assert without_block(text) == "Above.\n\nBelow.\n"


def test_nothing_that_a_rule_says_ends_the_block():
    text = with_block("", [Rule("", f"x\n{END}\ny --> z")])
    assert text.count(END) == 1
    assert without_block(text) == ""
    assert BEGIN in text


def test_half_a_block_is_text():
    assert without_block(f"{BEGIN}\n- x\n") == f"{BEGIN}\n- x\n"


def test_a_mark_without_its_end_takes_nothing_of_people_along():
    torn = f"# Mine\n{BEGIN}\n- old\n\nPeople wrote this.\n"
    once = with_block(torn, [Rule("", "One.")])
    assert "People wrote this." in once
    twice = with_block(once, [Rule("", "Two.")])
    assert "People wrote this." in twice
    assert "- Two." in twice
    assert "- One." not in twice
    assert without_block(twice) == torn


def test_a_mark_that_is_quoted_in_a_line_is_no_block():
    text = f"We let cm write `{BEGIN}` here.\n"
    once = with_block(text, [Rule("", "One.")])
    assert with_block(once, [Rule("", "One.")]) == once
    assert without_block(once) == text
