"""The numbers of a profile as settings that can be stepped, typed and put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cm_tui.model import Profile

Value = float | str | None


@dataclass(frozen=True)
class Setting:
    """One number or choice of a profile; adjustments are named `adjustments.NAME`."""

    field: str
    label: str
    group: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.05
    whole: bool = False
    choices: tuple[str, ...] = ()
    none_at_zero: bool = False
    """0 means that it is off."""
    retrieves: bool = False
    """A change of it has to ask the index again."""

    def of(self, profile: Profile) -> Value:
        """Its value in a profile."""
        head, _, name = self.field.partition(".")
        value = profile.adjustments.get(name, 0.0) if name else getattr(profile, head)
        return 0.0 if value is None and self.none_at_zero else value

    def put(self, profile: Profile, value: Value) -> Profile:
        """The profile with another value, kept within bounds."""
        if isinstance(value, int | float):
            value = min(self.high, max(self.low, value))
            value = round(value) if self.whole else round(value, 4)
            if self.none_at_zero and not value:
                value = None
        head, _, name = self.field.partition(".")
        changes: Any = {**profile.adjustments, name: value} if name else value
        return replace(profile, **{head: changes})

    def takes(self, value: object) -> bool:
        """True for what `put` can take: a number, or one of the choices."""
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and not isinstance(value, bool)

    def stepped(self, profile: Profile, steps: int) -> Profile:
        """The profile with this setting moved by steps; choices go round."""
        value = self.of(profile)
        if self.choices:
            place = self.choices.index(str(value)) if value in self.choices else 0
            return self.put(profile, self.choices[(place + steps) % len(self.choices)])
        assert isinstance(value, int | float)
        return self.put(profile, value + steps * self.step)

    def share(self, profile: Profile) -> float:
        """Where a slider stands, from 0 to 1."""
        value = self.of(profile)
        if not isinstance(value, int | float) or self.high <= self.low:
            return 0.0
        return (value - self.low) / (self.high - self.low)

    def text(self, profile: Profile) -> str:
        """The value for people."""
        value = self.of(profile)
        if not isinstance(value, int | float):
            return str(value)
        if self.none_at_zero and not value:
            return "off"
        return f"{value:g}" if self.whole else f"{value:.2f}"


_FIXED = (
    Setting("fusion", "fusion", "Fusion", choices=("weighted", "rrf")),
    Setting("keyword_weight", "keyword weight", "Fusion"),
    Setting("vector_weight", "vector weight", "Fusion"),
    Setting("rrf_k", "rrf k", "Fusion", low=1, high=200, step=5, whole=True),
    Setting("pool", "pool per side", "Fusion", low=10, high=1000, step=10, whole=True, retrieves=True),
    Setting("limit", "top k", "Result", low=1, high=100, step=1, whole=True),
    Setting("min_score", "least score", "Result", high=1.0),
    Setting("weak_relevance", "weak below", "Result", high=1.0),
    Setting("snippet_chars", "snippet chars", "Result", low=50, high=3000, step=50, whole=True),
    Setting("diversity", "diversity", "Diversity", choices=("none", "file", "mmr")),
    Setting("diversity_lambda", "λ / file factor", "Diversity"),
    Setting("half_life_days", "half-life, days", "Decay", high=365.0, step=5, none_at_zero=True),
    Setting("stale", "stale", "Decay"),
    Setting("rerank", "rerank", "Rerank", choices=("auto", "on", "off")),
    Setting("rerank_alpha", "rerank α", "Rerank"),
    Setting("rerank_depth", "rerank depth", "Rerank", low=1, high=200, step=5, whole=True),
)


def settings_of(saved: Profile, others: Mapping[str, Profile]) -> tuple[Setting, ...]:
    """Every number of a profile: the fixed ones, and one for each adjustment that any profile names.

    Args:
        saved: the profile as saved; its adjustments set the range of their sliders.
        others: all profiles, for adjustments that this one does not name.
    """
    names = dict.fromkeys([*saved.adjustments, *(name for other in others.values() for name in other.adjustments)])
    known = {
        name: max(abs(profile.adjustments.get(name, 0.0)) for profile in (saved, *others.values())) for name in names
    }
    adjustments = tuple(
        Setting(f"adjustments.{name}", name, "Adjustments", high=max(1.0, 2 * known[name])) for name in names
    )
    first = tuple(setting for setting in _FIXED if setting.group in {"Fusion", "Result"})
    rest = tuple(setting for setting in _FIXED if setting.group not in {"Fusion", "Result"})
    return (*first, *adjustments, *rest)
