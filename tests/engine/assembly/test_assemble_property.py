"""What always holds of an assembly: the budget, the order, each text once, cuts where parts end, and what rules decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.context.assembly.assemble import assemble
from cm_tui.engine.context.assembly.mentions import Names
from cm_tui.engine.context.assembly.rules import Candidate, RuleSet
from cm_tui.engine.context.assembly.sections import MARK, blocks, joined, within
from cm_tui.engine.context.assembly.steps import Outcome, SourceRequest, Task
from cm_tui.engine.context.definitions.library import Library, Loaded
from cm_tui.engine.context.definitions.shapes import RetrievalDefinition, Rule
from cm_tui.engine.platform import tokenizer
from cm_tui.model import SECTIONS
from tests.tiers import examples

WORDS = st.sampled_from(["release", "parser", "x_y", "日本語", "don't", "1.2.3", "```", "🦓", "(a)", "é", "\t", "#"])
LINES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
FENCED = st.lists(LINES, min_size=1, max_size=6).map(
    lambda lines: "```py\n" + "\n".join(lines).replace("```", "") + "\n```"
)
PARTS = st.one_of(
    LINES, FENCED, LINES.map(lambda line: f"## {line}"), st.lists(LINES, min_size=1, max_size=5).map("\n".join)
)
TEXTS = st.one_of(st.lists(PARTS, max_size=8).map("\n\n".join), st.text(max_size=300))
NO_NAMES = Names(
    is_file=lambda _: False, has_symbol=lambda _: False, has_episode=lambda _: False, note_named=lambda _: "", files=list,
    symbols_like=lambda _, __: [], notes=list, episodes=lambda _: [],
)  # fmt: skip


class Texts:
    """A reader that has a text for each source."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def read(self, task: Task, wanted: Sequence[SourceRequest]) -> Mapping[str, Outcome]:
        return {one.id: Outcome(self.texts[one.id], one.id) for one in wanted}


SOURCES = st.lists(
    st.tuples(TEXTS, st.sampled_from(SECTIONS), st.integers(-5, 5), st.none() | st.integers(0, 200)),
    min_size=1,
    max_size=8,
)


def library(sources: Sequence[tuple[str, str, int, int | None]]) -> tuple[Library, Texts]:
    loaded, texts = [], {}
    for number, (text, section, priority, cap) in enumerate(sources):
        one = {"name": f"d{number}", "section": section, "priority": priority, "steps": [{"type": "rank"}]}
        given_cap = {} if cap is None else {"max_contribution": cap}
        shape = RetrievalDefinition.model_validate({**one, **given_cap}, strict=False)
        loaded.append(Loaded(shape, f"{number}.yaml", 1, ""))
        texts[f"definition://d{number}"] = text
    return Library(tuple(loaded), (), (), ()), Texts(texts)


@given(SOURCES, st.integers(1, 400))
@settings(max_examples=examples(150))
def test_the_text_never_costs_more_than_the_budget_and_stands_in_order(sources: Any, budget: int) -> None:
    known, reader = library(sources)
    made = assemble(Task("x", budget=budget), known, RuleSet(()), NO_NAMES, reader)
    assert tokenizer.count(made.text) == made.tokens <= budget
    shown = [one for one in made.sources if one.text]
    assert [(SECTIONS.index(one.section), -one.priority) for one in shown] == sorted(
        (SECTIONS.index(one.section), -one.priority) for one in shown
    )
    assert sum(one.tokens for one in made.sources) <= made.tokens
    at = 0
    for one in shown:
        at = made.text.index(one.text, at) + len(one.text)
        assert one.tokens > 0
        if one.cap is not None:
            assert tokenizer.count(one.text) <= one.cap
    for one in made.sources:
        # Whatever is not handed over whole says why.
        whole = reader.texts[one.id].strip("\n")
        assert bool(one.cut) == (one.text != whole or not one.text)
        assert bool(one.cut) == bool(one.why_cut)


@given(SOURCES)
def test_with_room_for_all_only_caps_and_doubles_leave_something_out(sources: Any) -> None:
    known, reader = library(sources)
    made = assemble(Task("x", budget=1_000_000), known, RuleSet(()), NO_NAMES, reader)
    assert {one.cut for one in made.sources} <= {"", "cap", "duplicate", "empty"}


@given(st.lists(st.sampled_from(["one text", "another text", "a\n\nthird"]), min_size=1, max_size=8))
def test_each_text_is_handed_over_once(texts: list[str]) -> None:
    known, reader = library([(text, "knowledge", 0, None) for text in texts])
    made = assemble(Task("x", budget=10_000), known, RuleSet(()), NO_NAMES, reader)
    shown = [one.text for one in made.sources if one.text]
    assert shown == list(dict.fromkeys(texts))
    assert all(one.cut == "duplicate" for one in made.sources if not one.text)


def test_a_part_that_two_have_is_handed_over_once() -> None:
    part = "A paragraph that is long enough to be looked for elsewhere, as it has more than eighty letters in it."
    known, reader = library([(f"first\n\n{part}", "state", 0, None), (f"{part}\n\nlast", "history", 0, None)])
    made = assemble(Task("x", budget=10_000), known, RuleSet(()), NO_NAMES, reader)
    assert made.text.count(part) == 1
    assert [one.text for one in made.sources] == [f"first\n\n{part}", "last"]
    assert made.sources[1].why_cut == "1 part of it: same as definition://d0."


@given(TEXTS, st.integers(0, 120))
@settings(max_examples=examples(200))
def test_a_text_is_cut_where_a_part_ends(text: str, most: int) -> None:
    kept = within(text, most)
    assert tokenizer.count(kept) <= most
    if kept in ("", text):
        return
    parts = blocks(text)
    if not any(kept == joined([*parts[:count], MARK]) for count in range(1, len(parts))):
        # The first part alone is too long: whole lines of it, and its fence is closed.
        lines = kept.split("\n")
        mark = len(lines) - 1 - lines[::-1].index(MARK)
        assert lines[:mark] == parts[0].split("\n")[:mark]
    assert not is_open(kept)


def is_open(text: str) -> bool:
    """Say whether a text ends inside a fence, as CommonMark has it."""
    fence = ""
    for line in text.split("\n"):
        match = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line, re.DOTALL)
        if match and not fence and not ("`" in match[1] and "`" in match[2]):
            fence = match[1]
        elif match and fence and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip():
            fence = ""
    return bool(fence)


@given(TEXTS)
def test_parts_are_the_text_again(text: str) -> None:
    lines = [line for line in text.split("\n") if line.strip()]
    assert [line for part in blocks(text) for line in part.split("\n") if line.strip()] == lines


# --- rules ---

REFERENCES = ("kv://a", "kv://b", "markdown://x", "definition://d", "file://s.py")
PATTERNS = ("kv://*", "*", "markdown://?", "nothing://*")
CONDITIONS = st.sampled_from([
    {"field": "task.text", "op": "contains", "value": "fix"}, {"field": "task.text", "op": "not_contains", "value": "fix"},
    {"field": "task.budget", "op": "gt", "value": 100}, {"field": "reference.scheme", "op": "equals", "value": "kv"},
    {"field": "reference.name", "op": "in", "value": ["a", "d"]}, {"field": "reference.enabled", "op": "equals", "value": True},
    {"field": "reference.id", "op": "matches", "value": "^[km]"}, {"field": "reference.kind", "op": "not_equals", "value": "mention"},
])  # fmt: skip
ACTIONS = st.one_of(
    st.fixed_dictionaries({"include": st.sampled_from(REFERENCES)}, optional={"cap": st.integers(0, 9), "priority": st.integers(0, 3)}),
    st.fixed_dictionaries({"exclude": st.sampled_from((*REFERENCES, *PATTERNS)) | st.just(True)}),
    st.fixed_dictionaries({"cap": st.integers(0, 9)}, optional={"for": st.sampled_from((*REFERENCES, *PATTERNS))}),
    st.fixed_dictionaries({"priority": st.integers(0, 3), "for": st.sampled_from((*REFERENCES, *PATTERNS))}),
)  # fmt: skip
RULES = st.lists(
    st.fixed_dictionaries({"condition": st.lists(CONDITIONS, max_size=2), "action": st.lists(ACTIONS, min_size=1, max_size=2)}),
    max_size=6,
)  # fmt: skip


def holds(condition: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    field, op, value = fields[condition["field"]], condition["op"], condition["value"]
    return {
        "contains": lambda: value in field, "not_contains": lambda: value not in field, "gt": lambda: field > value,
        "equals": lambda: field == value, "not_equals": lambda: field != value, "in": lambda: field in value,
        "matches": lambda: bool(re.search(value, str(field))),
    }[op]()  # fmt: skip


def interpreted(
    rules: Sequence[Mapping[str, Any]], task: Mapping[str, Any], known: Sequence[Candidate]
) -> dict[str, Any]:
    """Say what is decided over each reference, read plainly from the guide: the first rule that acts on it decides."""
    verdicts: dict[str, Any] = {}
    for one in known:
        for number, rule in enumerate(rules):
            if not all(holds(each, {**task, **one.fields}) for each in rule["condition"]):
                continue
            said: dict[str, Any] = {}
            for action in rule["action"]:
                about = action.get("include") or action.get("exclude") or action.get("for")
                if about in (None, True) or (
                    fnmatchcase(one.id, about) if "include" not in action else one.id == about
                ):
                    said |= {key: value for key, value in action.items() if key in ("cap", "priority")}
                    said |= {"included": "include" in action} if {"include", "exclude"} & set(action) else {}
                    said["rule"] = f"r{number}"
            if said:
                verdicts[one.id] = said
                break
    return verdicts


@given(
    RULES,
    st.sampled_from(["fix it", "look"]),
    st.sampled_from([50, 500]),
    st.lists(st.sampled_from(REFERENCES), unique=True),
)
@settings(max_examples=examples(400))
def test_rules_decide_as_read_plainly(rules: Any, text: str, budget: int, on: list[str]) -> None:
    task = {"task.text": text, "task.budget": budget}
    shapes = [
        Loaded(Rule.model_validate({**rule, "name": f"r{number}"}, strict=False), "rules.json", 1, "")
        for number, rule in enumerate(rules)
    ]
    candidates = [Candidate(one, "mention" if one.startswith("file") else "reference", "knowledge", True) for one in on]
    ruling = RuleSet(shapes).judge(
        task, candidates, frozenset(), lambda one: Candidate(one, "reference", "knowledge", False)
    )
    brought = [Candidate(one, "reference", "knowledge", False) for one in ruling.included]
    expected = interpreted(rules, task, [*candidates, *brought])
    found = {
        id_: {
            key: value
            for key, value in (
                ("included", one.included),
                ("cap", one.cap),
                ("priority", one.priority),
                ("rule", one.rule),
            )
            if value is not None
        }
        for id_, one in ruling.verdicts.items()
    }
    assert found == expected
    asked = {
        action["include"]
        for rule in rules
        if all(holds(each, task) for each in rule["condition"] if each["field"].startswith("task."))
        for action in rule["action"]
        if "include" in action
    }
    assert set(ruling.included) == asked - set(on)
    assert {one.reference for one in ruling.applied if one.counted} == set(expected)
