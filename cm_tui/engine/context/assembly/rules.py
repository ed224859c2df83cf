"""Rules over memory references: the first rule that applies to a reference decides over it.

Conditions on the task are tested once for each rule; those on the reference a column at a time (`rule_table.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from itertools import accumulate
from typing import Any

from cm_tui.engine.context.definitions.library import Loaded
from cm_tui.engine.context.definitions.operators import Check, compiled, prepared, tester
from cm_tui.engine.context.definitions.shapes import Action, Condition, Rule
from cm_tui.engine.context.definitions.template import MISSING
from cm_tui.model import AppliedRule, Section

# --- references in columns, which rules test one column at a time ---

_FEW = 8
"""Most references on which a pattern is tried one by one."""
_OWN_ENDS = re.compile(r"\\[AzZCQ]|\(\?[a-zA-Z]*-|\(\?[a-zA-Z]*m|\\n|\n")
"""Parts of a pattern with another meaning over many lines."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory reference that may be handed over."""

    id: str
    kind: str
    section: Section
    enabled: bool
    """Whether it is on by default."""

    @property
    def fields(self) -> dict[str, Any]:
        """Return what conditions may read of it."""
        scheme, _, name = self.id.partition("://")
        return {
            "reference.id": self.id, "reference.scheme": scheme, "reference.name": name, "reference.kind": self.kind,
            "reference.section": self.section, "reference.enabled": self.enabled,
        }  # fmt: skip


class ReferenceTest:
    """One condition about references.

    Args:
        condition: of a rule, about a field of the reference.

    Raises:
        ValueError: its value is of no use for its operator.
    """

    def __init__(self, condition: Condition) -> None:
        self.field = condition.field
        self.holds = tester(condition)
        value = condition.value
        is_by_line = condition.op == "matches" and isinstance(value, str) and not _OWN_ENDS.search(value)
        self.pattern: Any = compiled(f"(?m){value}") if is_by_line else None


class Table:
    """References by column, and which of them are undecided.

    Args:
        candidates: in their order.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        rows = [one.fields for one in candidates]
        self.ids = [one.id for one in candidates]
        self.number = {id_: number for number, id_ in enumerate(self.ids)}
        self.open = list(range(len(rows)))
        """The undecided ones, in order."""
        self._columns = {name: _Column([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def close(self, numbers: Collection[int]) -> None:
        """Note that it was decided over some."""
        self.open = [number for number in self.open if number not in numbers]

    def passing(self, test: ReferenceTest, numbers: Sequence[int]) -> list[int]:
        """Return those of some references that pass."""
        column, holds = self._columns.get(test.field), test.holds
        if column is None:
            return list(numbers) if holds(MISSING) else []
        values = column.values
        if test.pattern is not None and len(numbers) > _FEW and column.is_text:
            near = column.near(test.pattern)
            return [number for number in numbers if number in near and holds(values[number])]
        return [number for number in numbers if holds(values[number])]


class _Column:
    """The values of a field, one per reference."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    @cached_property
    def is_text(self) -> bool:
        """Return whether each value can be a line of a text."""
        return all(isinstance(one, str) and "\n" not in one for one in self.values)

    @cached_property
    def _text(self) -> tuple[bytes, list[int]]:
        """All values as the lines of one text, and where each begins."""
        lines = [value.encode("utf-8", "replace") for value in self.values]
        return b"\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines)]

    def near(self, pattern: Any) -> set[int]:
        """Return the references whose value a pattern may match: a match may go over the end of a line.

        One search through all lines takes a fraction of the time of a search in each.
        """
        (text, begins), found, at = self._text, set(), 0
        while at <= len(text) and (match := pattern.search(text, at)) is not None:
            line = min(bisect_right(begins, match.start()), len(self.values)) - 1
            found.add(line)
            at = begins[line + 1]
        return found


# --- rules over memory references ---

MOST_TOLD = 500
"""Most applications of rules in the trace of one assembly."""
_REFERENCE = "reference."


@dataclass(slots=True)
class Verdict:
    """The decision on a reference."""

    rule: str = ""
    included: bool | None = None
    """None: no rule decided."""
    cap: int | None = None
    priority: int | None = None
    section: Section | None = None


@dataclass(slots=True)
class Ruling:
    """The decisions on all references."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    applied: list[AppliedRule] = field(default_factory=list)
    included: tuple[str, ...] = ()
    """References that rules included, in order."""


@dataclass(frozen=True, slots=True)
class _Target:
    """What one action is about."""

    exact: tuple[str, ...]
    patterns: tuple[Callable[[str], Any], ...]
    """Each tests a reference."""
    everything: bool
    action: Action
    excludes: bool
    includes: bool
    told: str
    """Its effect, in words."""


class RuleSet:
    """Compiled rules.

    Args:
        rules: the enabled ones count, in order.
    """

    def __init__(self, rules: Sequence[Loaded[Rule]]) -> None:
        self._rules = [_Prepared(one) for one in rules if one.value.enabled]

    def judge(
        self, task: Mapping[str, Any], candidates: Sequence[Candidate], without: frozenset[str],
        made: Callable[[str], Candidate],
    ) -> Ruling:  # fmt: skip
        """Return the decision for each reference.

        Args:
            task: fields by their whole names: `task.text` and so on.
            candidates: the references without rules.
            without: `rule://NAME` of rules to exclude.
            made: makes a candidate of a reference that a rule includes.
        """
        active = [one for one in self._rules if one.id not in without and one.holds(task)]
        known = {one.id: one for one in candidates}
        brought: dict[str, None] = {}
        for rule in active:
            for reference in rule.includes:
                if reference not in known:
                    known[reference] = made(reference)
                    brought[reference] = None
        ruling = Ruling(included=tuple(brought))
        table = Table(list(known.values()))
        for rule in active:
            rule.decide(table, ruling)
        return ruling


class _Prepared:
    def __init__(self, loaded: Loaded[Rule]) -> None:
        rule = loaded.value
        self.name, self.file, self.id = rule.name, loaded.file, f"rule://{rule.name}"
        self.holds: Check = prepared(one for one in rule.conditions if not one.field.startswith(_REFERENCE))
        of_reference = [ReferenceTest(one) for one in rule.conditions if one.field.startswith(_REFERENCE)]
        self._of_reference = sorted(of_reference, key=lambda one: one.pattern is not None)
        self._targets = [target for action in rule.actions for target in _targets(action)]
        self.includes = tuple(dict.fromkeys(id_ for target in self._targets if target.includes for id_ in target.exact))

    def decide(self, table: Table, ruling: Ruling) -> None:
        """Decide over the undecided references that this rule applies to."""
        decided: dict[int, Verdict] = {}
        undecided = set(table.open)
        for target in self._targets:
            for number in self._numbers(target, table):
                id_, is_open = table.ids[number], number in undecided
                if len(ruling.applied) < MOST_TOLD:
                    ruling.applied.append(AppliedRule(self.name, self.file, id_, target.told, is_open))
                if is_open:
                    verdict = decided.get(number)
                    if verdict is None:
                        verdict = decided[number] = ruling.verdicts[id_] = Verdict(self.name)
                    _apply(verdict, target)
        if decided:
            table.close(decided)

    def _numbers(self, target: _Target, table: Table) -> list[int]:
        """Return the references that a target is about and for which the conditions hold."""
        if target.everything:
            found = table.open
        else:
            found = [table.number[id_] for id_ in target.exact if id_ in table.number]
            found += [number for fits in target.patterns for number in table.open if fits(table.ids[number])]
            found = list(dict.fromkeys(found))
        for test in self._of_reference:
            found = table.passing(test, found) if found else found
        return found


def _targets(action: Action) -> list[_Target]:
    """Return an action's effects: inclusions, exclusions, and settings for these or other references."""
    found = []
    rest = any(one is not None for one in (action.cap, action.priority, action.section))
    if action.include is not None:
        found.append(_target(action.include, action, includes=True))
    if action.exclude not in (None, False):
        found.append(_target(None if action.exclude is True else action.exclude, action, excludes=True))  # type: ignore[arg-type]
    if rest and (action.for_ is not None or not found):
        found.append(_target(action.for_, action))
    return found


def _target(
    references: str | tuple[str, ...] | None, action: Action, *, includes: bool = False, excludes: bool = False
) -> _Target:
    names = (references,) if isinstance(references, str) else references or ()
    names = tuple(dict.fromkeys(canonical(one) for one in names))
    exact = tuple(one for one in names if includes or not set(one) & set("*?"))
    # Such a pattern hangs on no text, however many stars it has.
    patterns = tuple(re.compile(translate(one.replace("[", "[[]"))).match for one in names if one not in exact)
    told = _rule_text(action, includes=includes, excludes=excludes)
    return _Target(exact, patterns, references is None, action, excludes, includes, told)


def canonical(reference: str) -> str:
    """Return a reference as sources are called: a definition has two names."""
    return f"definition://{reference[13:]}" if reference.startswith("persistent://") else reference


def _apply(verdict: Verdict, target: _Target) -> None:
    if target.includes:
        verdict.included = True
    if target.excludes:
        verdict.included = False
    action = target.action
    # With `include` these are about the included references, unless `for` names others.
    if target.includes and action.for_ is not None:
        return
    verdict.cap = action.cap if action.cap is not None else verdict.cap
    verdict.priority = action.priority if action.priority is not None else verdict.priority
    verdict.section = action.section or verdict.section


def _rule_text(action: Action, *, includes: bool, excludes: bool) -> str:
    words = ["include"] if includes else ["exclude"] if excludes else []
    if not (includes and action.for_ is not None):
        words += [
            f"{name} {value}"
            for name, value in (("cap", action.cap), ("priority", action.priority), ("section", action.section))
            if value is not None
        ]
    return ", ".join(words)
