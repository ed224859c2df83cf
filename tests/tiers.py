"""Which tests run when: the tiers of the suite, and how many examples a property test tries.

| tier | holds | runs |
|---|---|---|
| `fast` | what needs no file and no engine | on every save, in CI |
| `engine` | real stores and repositories inside the test's process | in CI |
| `screens` | the application, driven by keys | in CI |
| `process` | processes of their own: daemon, kill -9, stdio, no network, wheel | in CI |
| `deep` | full size: load, soak, growth of time | `just deep`, with property tests at full size and screens at each size |

`process` and `deep` are marks of a test; the other three follow from what a test asks for.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

FEW = 8
"""Examples of a property test in CI, where they are the same in every run."""
NO_FILES = frozenset(
    {"benchmark", "caplog", "capsys", "monkeypatch", "recwarn", "request", "same_settings", "subtests"}
)
"""Fixtures that a fast test may ask for."""


def register_profiles() -> None:
    """Make `ci` (the default) and `deep` known to Hypothesis; `--hypothesis-profile deep` chooses the other."""
    # How long a machine takes that does other things beside says nothing about what is tested.
    calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
    settings.register_profile("ci", calm, max_examples=FEW, stateful_step_count=12, derandomize=True, database=None)
    settings.register_profile("deep", calm, max_examples=200)
    settings.load_profile("ci")


def without_constants(patch: pytest.MonkeyPatch) -> None:
    """Try no constants of the code: they are of the modules that are imported by then, which differ from run to run.

    Every process would parse all modules for them, too.
    """
    patch.setattr(providers, "_get_local_constants", providers.Constants)


def examples(most: int, few: int = FEW) -> int:
    """Return how many examples a property test tries.

    Args:
        most: at full size.
        few: in CI, where one example may take seconds.
    """
    return most if is_full_size() else min(most, few)


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Mark cases of tests as `deep` of which CI runs a `few(n)` alone: n of each test, from the first to the last."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for every in cases.values():
        few = every[0].get_closest_marker("few").args[0]
        chosen = {round(place * (len(every) - 1) / max(few - 1, 1)) for place in range(few)}
        for number, item in enumerate(every):
            if number not in chosen:
                item.add_marker("deep")


def is_full_size() -> bool:
    """Return whether the profile `deep` was chosen: as many examples, sizes and steps as a test has."""
    return settings.default is not None and settings.default.max_examples > FEW


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: a mark of its own, or what its file and its fixtures say."""
    for tier in ("deep", "process"):
        if item.get_closest_marker(tier):
            return tier
    if item.nodeid.startswith("tests/bench/"):
        return "deep"  # they test measurements, which are no part of the product
    asked = set(item._fixtureinfo.argnames) - set(getattr(getattr(item, "callspec", None), "params", ()))
    if asked <= NO_FILES:
        return "fast"
    return "screens" if item.nodeid.startswith("tests/tui/") else "engine"
