"""`cm bench rules`: rules over memory references, in milliseconds, and how that grows, beside a plain interpreter."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from cm_tui.engine.assembly.candidate import Candidate
from cm_tui.engine.assembly.rules import RuleSet
from cm_tui.engine.definitions.loaded import Loaded
from cm_tui.engine.definitions.shapes.rules import Rule

_WORDS = ("refactor", "release", "parser", "test", "router", "deploy", "memory", "index", "search", "cache")
_TASK: Mapping[str, Any] = {
    "task.text": "refactor how the router finds its parser", "task.session": "s1", "task.agent": "codex",
    "task.files": ["src/router.py", "src/parser.py"], "task.branch": "main", "task.mentions": [], "task.budget": 4_000,
}  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Print milliseconds of an evaluation, for rules that read the task alone and for those that read each reference."""
    options = _options(argv)
    rows: list[dict[str, Any]] = []
    for kind, make in (("task", _of_task), ("task, patterns", _of_patterns), ("reference", _of_reference)):
        for size, references in _sizes(options.rules, options.references):
            rules = [make(number) for number in range(size)]
            candidates = _candidates(references)
            ms = _timed(RuleSet(rules), candidates, options.rounds)
            plain = _plain(rules, candidates) if size <= options.rules and references <= options.references else 0.0
            rows.append(
                {
                    "reads": kind,
                    "rules": size,
                    "references": len(candidates),
                    "ms": round(ms, 2),
                    "plain_ms": round(plain, 1),
                }
            )
    if options.json:
        print(json.dumps({"rows": rows}, indent=1))
        return 0
    print(f"{'conditions read':<18}{'rules':>7}{'references':>12}{'ms':>9}{'plain, ms':>11}{'ratio':>8}")
    for row in rows:
        ratio = f"{row['plain_ms'] / row['ms']:.1f}×" if row["plain_ms"] else ""
        print(
            f"{row['reads']:<18}{row['rules']:>7,}{row['references']:>12,}{row['ms']:>9}{row['plain_ms'] or '':>11}{ratio:>8}"
        )
    return 0


def _sizes(rules: int, references: int) -> list[tuple[int, int]]:
    """Return how many rules and references are measured: growth with the one, with the other, and with both."""
    return list(dict.fromkeys([
        (100, 100), (100, references), (rules, 100), (rules, references), (3 * rules, references), (rules, 3 * references),
        (3 * rules, 3 * references),
    ]))  # fmt: skip


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cm bench rules", description=__doc__)
    parser.add_argument("--rules", type=int, default=1_000)
    parser.add_argument("--references", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def _loaded(number: int, condition: Any, action: Mapping[str, Any]) -> Loaded[Rule]:
    shape = Rule.model_validate_json(json.dumps({"name": f"r{number}", "condition": condition, "action": action}))
    return Loaded(shape, "rules.json", number + 1, "")


def _of_task(number: int) -> Loaded[Rule]:
    word = _WORDS[number % len(_WORDS)]
    condition = [
        {"field": "task.text", "op": ("contains", "startsWith", "not_contains")[number % 3], "value": f"{word}{number % 7 or ''}"},
        {"field": "task.budget", "op": "gt", "value": number % 5_000},
    ]  # fmt: skip
    return _loaded(number, condition, {"include": f"kv://{number}", "cap": 100 + number})


def _of_reference(number: int) -> Loaded[Rule]:
    """A condition of its own for each rule that hardly any holds: the worst case, as each reference stays open."""
    kinds = (
        ("name", "contains", f"x{number}-"), ("id", "equals", f"kv://x{number}-y"), ("name", "startsWith", f"z{number}"),
        ("scheme", "equals", "blob"), ("id", "endsWith", f"-z{number}"), ("name", "matches", f"^(x|y){number}$"),
        ("name", "in", [f"x{number}", f"y{number}"]), ("name", "gt", number),
    )  # fmt: skip
    name, op, value = kinds[number % len(kinds)]
    conditions = [{"field": f"reference.{name}", "op": op, "value": value}]
    if number % 3 == 0:
        conditions.append({"field": "reference.name", "op": "not_contains", "value": f"x{number}"})
    return _loaded(number, conditions, {"cap": 50})


def _of_patterns(number: int) -> Loaded[Rule]:
    """Each rule acts on one reference by a pattern."""
    return _loaded(number, {"field": "task.budget", "op": "gt", "value": 1}, {"cap": 50, "for": f"*name-{number}"})


def _candidates(many: int) -> list[Candidate]:
    schemes = ("kv", "markdown", "definition", "file")
    return [
        Candidate(f"{schemes[number % 4]}://name-{number}", "reference", "knowledge", True) for number in range(many)
    ]


def _timed(rules: RuleSet, candidates: Sequence[Candidate], rounds: int) -> float:
    def made(reference: str) -> Candidate:
        return Candidate(reference, "reference", "knowledge", False)

    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        rules.judge(_TASK, candidates, frozenset(), made)
        taken.append((time.perf_counter() - begun) * 1_000)
    return statistics.median(taken)


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "contains": lambda field, value: value in field,
    "not_contains": lambda field, value: value not in field,
    "startsWith": lambda field, value: field.startswith(value),
    "endsWith": lambda field, value: field.endswith(value),
    "equals": lambda field, value: field == value,
    "in": lambda field, value: field in value,
    "gt": lambda field, value: isinstance(field, int) and field > value,
    "matches": lambda field, value: re.search(value, field) is not None,
}


def _plain(rules: Sequence[Loaded[Rule]], candidates: Sequence[Candidate]) -> float:
    """Return the milliseconds of reading rules plainly: each reference asks each rule in turn."""
    begun = time.perf_counter()
    for candidate in candidates:
        fields = {**_TASK, **candidate.fields}
        for rule in rules:
            if all(_OPERATORS[one.op](fields[one.field], one.value) for one in rule.value.conditions):
                action = rule.value.actions[0]
                about = action.include or action.for_
                if about is None or fnmatchcase(candidate.id, str(about)):
                    break
    return (time.perf_counter() - begun) * 1_000
