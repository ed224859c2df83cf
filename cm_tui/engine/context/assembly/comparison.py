"""Comparison of two assemblies: which sources, rules and warnings differ."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff
from itertools import islice

from cm_tui.engine.context.assembly.snapshots import head_of
from cm_tui.model import Assembly, AssemblyDiff, AssemblySource, SourceChange

_LINES = 400
"""Lines of the diff of one source."""


def compared(first: Assembly, second: Assembly) -> AssemblyDiff:
    """Return the differences between an assembly and a later one."""
    before = {one.id: one for one in first.sources}
    changes = [_change(before.get(one.id), one) for one in second.sources]
    after = {one.id for one in second.sources}
    changes += [_change(one, None) for one in first.sources if one.id not in after]
    return AssemblyDiff(
        head_of(first), head_of(second), tuple(changes),
        rules=tuple(_signed(_rules(first), _rules(second))),
        warnings=tuple(_signed(first.warnings, second.warnings)),
    )  # fmt: skip


def _change(first: AssemblySource | None, second: AssemblySource | None) -> SourceChange:
    one = second or first
    assert one is not None
    old, new = (first.text if first else ""), (second.text if second else "")
    what = "same" if old == new else "added" if not old else "removed" if not new else "changed"
    lines = unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=2)
    return SourceChange(
        one.id, what,  # type: ignore[arg-type]
        first.tokens if first else 0, second.tokens if second else 0,
        first.why_cut if first else "It was not there.", second.why_cut if second else "It is not there.",
        "\n".join(islice(lines, _LINES)) if old != new else "",
    )  # fmt: skip


def _rules(one: Assembly) -> list[str]:
    return [f"{rule.rule}: {rule.action} {rule.reference}" for rule in one.rules if rule.counted]


def _signed(first: Iterable[str], second: Iterable[str]) -> Iterable[str]:
    """Yield what only one of two has, with a sign before."""
    before, after = dict.fromkeys(first), dict.fromkeys(second)
    yield from (f"- {one}" for one in before if one not in after)
    yield from (f"+ {one}" for one in after if one not in before)
