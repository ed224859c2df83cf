"""Definitions as files: what counts, what is wrong with them and where, and what waits for trust."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import jsonschema
import pytest
import yaml

from cm_tui.config import trust
from cm_tui.engine.api import definition_trust
from cm_tui.engine.api.assembly import has_definitions
from cm_tui.engine.api.context import SHIPPED_PACK
from cm_tui.engine.context.definitions import library
from cm_tui.engine.context.definitions.library import list_definitions, load
from cm_tui.engine.context.definitions.operators import conditions_of, prepared
from cm_tui.engine.context.definitions.shapes import OPERATORS, CodePack, Condition
from cm_tui.engine.context.definitions.template import MISSING, lookup, render
from cm_tui.engine.context.definitions.writing import copy_schemas_to, schema, write_new
from cm_tui.errors import RefusedError, UsageError
from tests.waiting import until

Write = Callable[[str, str], Path]

RELEASE = """# .cm/retrieval/release.yaml
name: release
enabled: true
maxContribution: 400
steps:
  - {type: kv_get, keys: [release]}
  - {type: format, template: "Release codename: {{release.codename}}", maxTokens: 200}
"""
ARCHITECTURE = (
    '{"rules": [{"name": "architecture", "condition": {"field": "task.text", "op": "contains", "value": "refactor"}, '
    '"action": {"include": "markdown://architecture-notes"}}]}'
)
OF_THE_DOCUMENT = """{
"condition": { "field": "task.text", "op": "contains", "value": "refactor" },
"action": { "include": "markdown://architecture-notes" }
}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(path: str, text: str) -> Path:
        file = tmp_path / ".cm" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return written


def told(root: Path) -> list[str]:
    return [one.text for one in load(root).problems]


@pytest.mark.parametrize(
    ("file", "text", "are_there"),
    [
        ("retrieval/release.yaml", RELEASE, True),
        ("rules/a.json", ARCHITECTURE, True),
        ("rules/a.json", "{", True),
        ("ingestion/keep.yaml", "name: keep", False),
        ("ingestion/keep.yaml", "{", False),
        ("rules/.a.json", ARCHITECTURE, False),
        ("notes/a.md", "text", False),
    ],
)
def test_a_project_has_definitions_where_a_file_of_them_is_there(
    file: str, text: str, are_there: bool, write: Write, tmp_path: Path
) -> None:
    assert not has_definitions(tmp_path)
    write(file, text)
    assert has_definitions(tmp_path) == are_there
    assert has_definitions(tmp_path) == any(
        not one.startswith("shipped") and "/ingestion/" not in one
        for one in [*(one.file for one in (*load(tmp_path).retrieval, *load(tmp_path).rules)), *problem_files(tmp_path)]
    )


def problem_files(root: Path) -> list[str]:
    return [problem.file for problem in load(root).problems]


def test_what_a_project_without_definitions_is_taken_to_ask_for_is_shipped(tmp_path: Path) -> None:
    pack = load(tmp_path).definition("pack")
    assert pack is not None
    (step,) = (one for one in pack.value.steps if isinstance(one, CodePack))
    assert (step.profile, step.neighbours) == SHIPPED_PACK


def test_the_documented_examples_work_as_they_stand(write: Write, tmp_path: Path) -> None:
    write("retrieval/release.yaml", RELEASE)
    write("rules/a.json", ARCHITECTURE)
    write("rules/b.json", OF_THE_DOCUMENT)
    found = load(tmp_path)
    assert found.problems == ()
    assert [one.value.name for one in found.retrieval] == ["pack", "release"]
    assert [one.value.name for one in found.rules[:2]] == ["architecture", "b"]


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("retrieval/a.yaml", "name: a\nsteps:\n  - {type: vector_serch}\n", "a.yaml:3:12: error: unknown step 'vector_serch' Did you mean 'vector_search'?"),
        ("retrieval/a.yaml", "name: a\nmaxContributoin: 3\nsteps: [{type: rank}]\n", "a.yaml:2:1: error: unknown key 'maxContributoin' Did you mean 'maxContribution'?"),
        ("retrieval/a.yaml", "name: a\nsteps:\n  - type: filter\n    where: {field: a, op: containz, value: 3}\n", "a.yaml:4:27: error: unknown operator 'containz' Did you mean 'contains'?"),
        ("retrieval/a.yaml", "name: a\nsection: knowlege\nsteps: [{type: rank}]\n", "a.yaml:2:10: error: section: 'knowlege' is not valid Did you mean 'knowledge'?"),
        ("retrieval/a.yaml", "steps: [{type: rank}]\n", "a.yaml:1:1: error: the key 'name' is missing"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: log_search, event_type: x, eventType: y}]\n", "'event_type' and 'eventType' are two spellings of one key"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: log_search, since: -7 moons}]\n", "since: expected a time span"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: graph_view_read, view: caller, params: {name: x}}]\n", "unknown view 'caller'"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: graph_view_read, view: callers, params: {nam: x}}]\n", "has no parameter 'nam'"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: graph_view_read, view: callers}]\n", "needs the parameter 'name'"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: filter, where: {field: a, op: matches, value: '(?<=x)y'}}]\n", "not a regular expression for RE2"),
        ("retrieval/a.yaml", "name: a\nsteps: [{type: kv_get, keys: [a]}, {type: format, template: '{{b.c}}'}]\n", "warning: the template uses 'b.c'"),
        ("rules/a.json", '{"rules": [{"name": "a", "action": {"includ": "kv://x"}}]}', "unknown key 'includ' Did you mean 'include'?"),
        ("rules/a.json", '{"rules": [{"name": "a", "action": {}}]}', "an action needs one of include"),
        ("rules/a.json", '{"rules": [{"name": "a", "action": {"include": "note://x"}}]}', "unknown scheme 'note'"),
        ("rules/a.json", '{"rules": [{"name": "a", "condition": {"field": "task.txt", "op": "exists"}, "action": {"include": "kv://x"}}]}', "warning: unknown field 'task.txt' Did you mean 'task.text'?"),
        ("rules/a.json", '{"rules": [{"name": "a", "condition": {"field": "task.budget", "op": "gt", "value": "much"}, "action": {"include": "kv://x"}}]}', "gt needs a number"),
        ("ingestion/a.yaml", "name: a\ntriggers: [onAktion]\nroutes: [{writeTo: 'kv://x'}]\n", "a.yaml:2:12: error: triggers: 'onAktion' is not valid Did you mean 'onAction'?"),
        ("ingestion/a.yaml", "name: a\ntriggers: [manual]\nprocessors: [{type: chunker, size: 9, overlap: 9}]\nroutes: [{writeTo: 'kv://x'}]\n", "overlap must be less than size"),
        ("ingestion/a.yaml", "name: a\ntriggers: [manual]\nroutes: [{writeTo: 'file://x'}]\n", "expected a destination"),
        ("ingestion/a.yaml", "name: a\ntriggers: [manual]\nroutes: [{writeTo: 'kv://x', condition: 'score >> 1'}]\n", "gt needs a number"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    write: Write, tmp_path: Path, path: str, text: str, message: str
) -> None:
    write(path, text)
    write("retrieval/good.yaml", RELEASE)
    said = told(tmp_path)
    assert any(message in one for one in said), said
    assert len(said) == 1, said
    assert load(tmp_path).definition("release") is not None


def test_both_spellings_of_a_key_count(write: Write, tmp_path: Path) -> None:
    write(
        "retrieval/a.yaml",
        "name: a\nmax_contribution: 7\ntimeout_seconds: 1\nsteps: [{type: vector_search, top_k: 3, min_score: 0}]\n",
    )
    found = load(tmp_path).definition("a")
    assert found is not None
    assert found.value.max_contribution == 7
    assert found.value.steps[0].top_k == 3  # type: ignore[union-attr]
    write("rules/a.json", ARCHITECTURE.replace("contains", "starts_with"))
    assert load(tmp_path).rules[0].value.conditions[0].op == "startsWith"


def test_what_is_written_counts_at_once(write: Write, tmp_path: Path) -> None:
    assert [one.value.name for one in load(tmp_path).retrieval] == ["pack"]
    file = write("retrieval/release.yaml", RELEASE)
    assert load(tmp_path).definition("release") is not None
    file.write_text(RELEASE.replace("enabled: true", "enabled: false"))
    assert not load(tmp_path).definition("release").value.enabled  # type: ignore[union-attr]
    file.write_text("name: [")
    assert load(tmp_path).definition("release") is None
    file.unlink()
    assert load(tmp_path).problems == ()
    write("retrieval/pack.yaml", "name: pack\nsteps: [{type: code_pack, neighbours: false}]\n")
    (own,) = load(tmp_path).retrieval
    assert own.file == ".cm/retrieval/pack.yaml"


def test_looking_again_costs_next_to_nothing(write: Write, tmp_path: Path) -> None:
    for number in range(50):
        write(f"retrieval/{number}.yaml", RELEASE.replace("name: release", f"name: release-{number}"))
    first = load(tmp_path)
    with mock.patch.object(library, "read_file", side_effect=AssertionError("a file was read again")):
        assert all(load(tmp_path) is first for _ in range(20))


def test_names_and_circles(write: Write, tmp_path: Path) -> None:
    write("retrieval/a.yaml", "name: a\nsteps: [{type: derive_query, from: 'definition://b'}, {type: rank}]\n")
    write("retrieval/b.yaml", "name: b\nsteps: [{type: derive_query, from: 'persistent://a'}, {type: rank}]\n")
    write("retrieval/c.yaml", "name: c\nsteps: [{type: derive_query, from: 'definition://a'}, {type: rank}]\n")
    write("retrieval/d.yaml", "name: c\nsteps: [{type: rank}]\n")
    found = load(tmp_path)
    assert [one.value.name for one in found.retrieval] == ["pack", "c"]
    said = told(tmp_path)
    assert sum("in a circle: a → b → a" in one or "in a circle: b → a → b" in one for one in said) == 2
    assert any("'c' is already defined It is defined in .cm/retrieval/c.yaml:1" in one for one in said)


def test_rules_count_in_order_of_files_then_in_theirs_then_shipped_ones(write: Write, tmp_path: Path) -> None:
    one = '{"name": "%s", "action": {"include": "kv://x"}}'
    write("rules/b.json", f'{{"rules": [{one % "b1"}, {{"name": "broken"}}, {one % "b2"}]}}')
    write("rules/a.yaml", "- {name: a1, action: {include: 'kv://x'}}\n- {name: a2, action: {include: 'kv://x'}}\n")
    found = load(tmp_path)
    assert [rule.value.name for rule in found.rules] == [
        "a1", "a2", "b1", "b2", "shipped-approved-rules", "shipped-working-memory",
    ]  # fmt: skip
    assert [problem.message for problem in found.problems] == ["the key 'action' is missing"]


def test_what_sends_runs_or_writes_elsewhere_waits_for_trust(write: Write, tmp_path: Path) -> None:
    write("retrieval/r.yaml", "name: r\nsteps: [{type: derive_query, method: llm_rephrase}, {type: vector_search}]\n")
    file = write(
        "ingestion/i.yaml",
        "name: i\ntriggers: [manual]\nprocessors: [{type: custom, entryPoint: mine}, {type: llm_extract}]\n"
        "routes: [{writeTo: 'log://x'}, {writeTo: 'kv://y'}]\n",
    )
    write("ingestion/k.yaml", "name: k\ntriggers: [manual]\nroutes: [{writeTo: 'kv://y'}]\n")
    found = load(tmp_path)
    held = {one.value.name: one.asks for one in (*found.retrieval, *found.pipelines) if one.is_held}
    assert set(held) == {"r", "i"}
    assert len(held["i"]) == 3
    shown = definition_trust.asking_files(tmp_path)
    definition_trust.trust(tmp_path, shown)
    assert not any(one.is_held for one in (*load(tmp_path).retrieval, *load(tmp_path).pipelines))
    file.write_text(file.read_text().replace("log://x", "log://z"))
    assert [one.value.name for one in load(tmp_path).pipelines if one.is_held] == ["i"]
    # What was shown is trusted, not what stands there by now.
    definition_trust.trust(tmp_path, shown)
    assert [one.value.name for one in load(tmp_path).pipelines if one.is_held] == ["i"]
    assert definition_trust.revoke(tmp_path) == 1
    trust.file().write_text("{damaged")
    assert sum(one.is_held for one in (*load(tmp_path).retrieval, *load(tmp_path).pipelines)) == 2
    assert {info.state for info in list_definitions(load(tmp_path)).items if info.name in ("r", "i")} == {"held"}


@pytest.mark.parametrize("kind", ["retrieval", "rule", "ingestion"])
def test_a_new_one_is_without_a_mistake_and_fits_its_schema(tmp_path: Path, kind: str) -> None:
    path = write_new(tmp_path, kind, "mine")  # type: ignore[arg-type]
    assert told(tmp_path) == []
    copy_schemas_to(tmp_path)
    copied = json.loads((tmp_path / ".cm" / "schemas" / f"{kind}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(copied)
    jsonschema.validate(yaml.safe_load((tmp_path / path).read_text()), copied)
    with pytest.raises(RefusedError, match="already"):
        write_new(tmp_path, kind, "mine")  # type: ignore[arg-type]
    for name in ("../x", "", "a/b", "a b", "x" * 65):
        with pytest.raises(UsageError):
            write_new(tmp_path, kind, name)  # type: ignore[arg-type]


@pytest.mark.parametrize(("action", "message"), [
    ({"include": "kv://a", "for": "kv://b"}, "no effect"),
    ({"exclude": True, "for": "kv://b"}, "contradict"),
])  # fmt: skip
def test_for_without_effect_is_told(write: Write, tmp_path: Path, action: object, message: str) -> None:
    write("rules/a.json", json.dumps({"action": action}))
    assert message in " ".join(told(tmp_path))


def test_the_name_of_a_parameter_cannot_steer_the_terminal(write: Write, tmp_path: Path) -> None:
    write("retrieval/a.json", json.dumps({"name": "a", "params": {"\x1b[31m": []}, "steps": [{"type": "code_pack"}]}))
    found = told(tmp_path)
    assert found
    assert all(one.isprintable() for one in found)


def test_schemas_take_both_spellings_and_complete_one() -> None:
    retrieval, ingestion = (json.loads(schema(kind)) for kind in ("retrieval", "ingestion"))
    steps: list[dict[str, object]] = [
        {"type": "filter", "where": {"field": "a", "op": op, "value": "x"}} for op in ("starts_with", "notContains")
    ]
    jsonschema.validate(
        {"name": "a", "max_contribution": 3, "steps": [*steps, {"type": "vector_search", "top_k": 2}]}, retrieval
    )
    route: dict[str, object] = {"write_to": "kv://a"}
    jsonschema.validate({"name": "a", "triggers": ["manual"], "routes": [route]}, ingestion)
    for wrong in ({}, {"writeto": "kv://a"}, {"write_to": "file://a"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"name": "a", "triggers": ["manual"], "routes": [wrong]}, ingestion)
    steps[0]["where"] = {"field": "a", "op": "containz", "value": "x"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "a", "steps": steps}, retrieval)
    assert "max_contribution" not in retrieval["properties"]


def test_a_file_counts_whose_time_was_set_back(write: Write, tmp_path: Path) -> None:
    write("retrieval/a.yaml", "name: first\nsteps: [{type: code_pack}]\n")
    file = tmp_path / ".cm" / "retrieval" / "a.yaml"
    before = file.stat()
    assert load(tmp_path).definition("first")
    # How fine the times of files are depends on the system.
    probe = tmp_path / "probe"
    until(lambda: (probe.write_text(""), probe.stat().st_ctime_ns > file.stat().st_ctime_ns)[1], "another time")
    file.write_text("name: other\nsteps: [{type: code_pack}]\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert load(tmp_path).definition("other")


CASES = [
    ("contains", "act", "refactor", True), ("contains", "x", "refactor", False), ("contains", "a", ["a", "b"], True),
    ("not_contains", "x", "refactor", True), ("not_contains", "x", MISSING, True), ("contains", "x", MISSING, False),
    ("startsWith", "re", "refactor", True), ("endsWith", "or", "refactor", True), ("endsWith", "re", "refactor", False),
    ("matches", "^re.*r$", "refactor", True), ("matches", "^f", "refactor", False), ("matches", "x", 5, False),
    ("equals", 1, 1, True), ("equals", 1, True, False), ("equals", 1, 1.0, True), ("equals", "1", 1, False),
    ("equals", None, None, True), ("equals", None, MISSING, False), ("not_equals", 1, 2, True), ("not_equals", 1, MISSING, True),
    ("in", ["a", "b"], "a", True), ("in", ["a"], ["x", "a"], True), ("in", ["a"], "b", False), ("not_in", ["a"], MISSING, True),
    ("gt", 1, 2, True), ("gt", 1, "2", True), ("gt", 1, "much", False), ("gt", 1, True, False), ("lt", 1, 0, True),
    ("gte", 1, 1, True), ("lte", 1, 1, True), ("lte", 1, MISSING, False),
    ("exists", None, None, True), ("exists", True, MISSING, False), ("exists", False, MISSING, True),
]  # fmt: skip


@pytest.mark.parametrize(("op", "value", "field", "holds"), CASES)
def test_operators(op: str, value: object, field: object, holds: bool) -> None:
    condition = Condition.model_validate_json(json.dumps({"field": "task.x", "op": op, "value": value}))
    scope = {} if field is MISSING else {"task": {"x": field}}
    assert prepared([condition])(scope) is holds


def test_every_operator_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(OPERATORS)


def test_a_hostile_pattern_cannot_hang() -> None:
    check = prepared(
        [Condition(field="a", op="matches", value="(a+)+$"), Condition(field="a", op="matches", value="(.*)*x")]
    )
    # Backtracking would take for ever.
    assert not check({"a": "a" * 100_000 + "!"})


def test_conditions_in_one_line() -> None:
    assert [(one.field, one.op, one.value) for one in conditions_of("score > 0.7 and status == 'done' && tags in [\"a\"]")] == [
        ("score", "gt", 0.7), ("status", "equals", "done"), ("tags", "in", ("a",)),
    ]  # fmt: skip
    for wrong in ("score", "> 3", "score >", "score nonsense 3", "a b c d"):
        with pytest.raises(ValueError):
            prepared(conditions_of(wrong))


def test_templates_are_filled_once_and_run_nothing() -> None:
    scope = {"a": {"b": 1}, "list": ["x", "{{a.b}}"], "text": "{{a}}", "none": None, "a.c": "dotted"}
    assert render("{{a.b}} {{ list.1 }} {{text}} {{none}} {{a.c}}", scope) == ("1 {{a.b}} {{a}}  dotted", ())
    assert render("{{x.y}}{{x.y}}{{a.z}}", scope) == ("", ("x.y", "a.z"))
    assert render("{{__class__}} {{a.b.real}} {{ 1+1 }}", scope).text == "  {{ 1+1 }}"
    assert lookup({"a": [1]}, "a.7") is MISSING
