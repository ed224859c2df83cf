"""No test depends on time: what reads the real clock, sleeps by it or gives up soon may only become less."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MOST = {"sleep": 8, "timer": 1, "clock": 100, "short wait": 7}
"""As many of each kind are left. Remove some and write the new number here; never a larger one: `tests/waiting.py` waits
for a condition, `tests/fake_clock.py` is a clock that a test moves."""
MODULES = {"time", "asyncio", "anyio", "threading", "datetime", "dt", "date"}
SLEEP, TIMER, CLOCK = {"sleep"}, {"Timer"}, {"time", "monotonic", "perf_counter", "process_time", "now", "today"}
BOUNDED = {"wait", "join", "result", "get", "acquire", "communicate", "wait_for"}
LONG_ENOUGH = 60
"""Seconds that a busy machine may need for what a test waits for."""


def kinds(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each call that depends on time, as its kind and line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, owner = _named(node.func)
        if owner in MODULES and name in SLEEP | TIMER | CLOCK:
            # To sleep for 0 seconds lets others go on, and takes no time.
            if name in SLEEP and not _is(node.args, 0):
                yield "sleep", node.lineno
            elif name in TIMER:
                yield "timer", node.lineno
            elif name in CLOCK:
                yield "clock", node.lineno
        elif name in BOUNDED and _gives_up_soon(node):
            yield "short wait", node.lineno


def _named(function: ast.expr) -> tuple[str, str]:
    """Name of a called attribute, and the last name of what has it."""
    if not isinstance(function, ast.Attribute):
        return "", ""
    owner = function.value
    return function.attr, owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")


def _is(values: list[ast.expr], number: float) -> bool:
    return bool(values) and isinstance(values[0], ast.Constant) and values[0].value == number


def _gives_up_soon(call: ast.Call) -> bool:
    """Whether a call waits for less than is long enough, by a number that it is given."""
    named = [one.value for one in call.keywords if one.arg in ("timeout", "seconds")]
    # The first argument of `get` is a key, or whether to wait at all.
    given = [] if _named(call.func)[0] == "get" else call.args[:1]
    for value in (*given, *named):
        if (
            isinstance(value, ast.Constant)
            and isinstance(value.value, int | float)
            and not isinstance(value.value, bool)
        ):
            return 0 < value.value < LONG_ENOUGH
    return False


def test_what_depends_on_time_becomes_less():
    found: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("*.py")):
        place = file.relative_to(TESTS)
        # Measurements read the clock: that is what they are for.
        is_measurement = place.parts[0] == "bench" and not place.name.startswith("test_")
        if is_measurement or {"data", "samples"} & {*place.parts}:
            continue
        for kind, line in kinds(ast.parse(file.read_text(encoding="utf-8"))):
            found[kind] += 1
            where.setdefault(kind, []).append(f"{place}:{line}")
    for kind, most in MOST.items():
        assert found[kind] <= most, f"{found[kind]} x {kind}, {most} are allowed: {where[kind]}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("time.sleep(0.1)", ["sleep"]), ("await asyncio.sleep(x)", ["sleep"]), ("await anyio.sleep(1)", ["sleep"]),
        ("time.sleep(0)", []), ("clock.sleep(5)", []), ("threading.Timer(0.2, f).start()", ["timer"]),
        ("time.time()", ["clock"]), ("time.monotonic() < end", ["clock"]), ("dt.datetime.now()", ["clock"]),
        ("datetime.now(UTC)", ["clock"]), ("datetime.date.today()", ["clock"]), ("clock.now()", []), ("time.gmtime(5)", []),
        ("event.wait(5)", ["short wait"]), ("event.wait(timeout=0.5)", ["short wait"]), ("event.wait(60)", []),
        ("event.wait(SECONDS)", []), ("event.wait()", []), ("thread.join(20)", ["short wait"]), ("', '.join(names)", []),
        ("future.result(timeout=10)", ["short wait"]), ("queue.get(timeout=90)", []), ("values.get(1, 2)", []),
    ],
)  # fmt: skip
def test_each_kind_is_recognised(code: str, found: list[str]):
    tree = ast.parse(f"async def test():\n    {code}\n")
    assert [kind for kind, _ in kinds(tree)] == found
