"""Profiles: the weights of ranking as data, and the user's changes to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from cm_tui.config import load_config
from cm_tui.config.mistakes import expectation, nearest
from cm_tui.engine.search.ranking import adjust, tokens
from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import Column
from cm_tui.errors import ConfigError
from cm_tui.model import Profile

# --- scale: maps scores to 0–1, so that a least score always means the same ---

_KNEE = 0.5


def unit(scores: Column) -> Column:
    """Return scores on the scale from 0 to below 1; negative ones become 0."""
    above = 1.0 - 0.25 / np.maximum(scores, _KNEE)
    result: Column = np.where(scores > _KNEE, above, np.maximum(scores, 0.0))
    return result


def unit_of(score: float) -> float:
    """Return one score on that scale."""
    return float(unit(np.array([score]))[0])


def to_unit(scores: Column) -> tuple[Column, list[Stage]]:
    """Scale scores; the difference is a separate part, so that the parts still add up."""
    result = unit(scores)

    def detail(row: int) -> str:
        score = float(scores[row])
        return f"1 − 1 / (4 × {score:.4f}): scores end below 1" if score > _KNEE else "no score is below 0"

    return result, [Stage("scale", "scale", scores, 1.0, result - scores, detail)]


# --- profiles ---

_HINT = "The search guide lists every number of a profile."
KEYS = frozenset(field.name for field in fields(Profile)) - {"name"}
_ADAPTER = TypeAdapter(Profile)
_MOST_COUNT = 1_000_000_000
_MOST_WEIGHT = 1_000_000
_MOST_FACTOR = 100
_RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("keyword_weight", "vector_weight"), (0, _MOST_WEIGHT)),
    **dict.fromkeys(("pool", "limit", "beside_limit", "snippet_chars", "rerank_depth", "rrf_k"), (1, _MOST_COUNT)),
    **dict.fromkeys(("thread", "neighbours", "reply"), (0, 10)),
    **dict.fromkeys(
        (
            "coordination",
            "stale",
            "diversity_lambda",
            "rerank_alpha",
            "min_score",
            "beside_min_score",
            "weak_relevance",
        ),
        (0, 1),
    ),
}
"""Least and highest values."""
TABLES = ("quotas", "adjustments", "report")
"""Settings with sections of their own."""


def packaged() -> dict[str, dict[str, Any]]:
    """Return the packaged numbers of every profile, as their file has them."""
    return tokens.packaged("profiles")


def load(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Profile]:
    """Return every profile: the built-in ones with the configuration's changes; a new one starts from `code`.

    Raises:
        ConfigError: an unknown setting, or a value out of its range.
    """
    names = [*packaged(), *(name for name in changes if name not in packaged())]
    found = {name: make(name, changes.get(name, {})) for name in names}
    for profile in found.values():
        if profile.beside and profile.beside not in found:
            raise ConfigError(
                f"profiles.{profile.name}.beside: unknown profile {profile.beside!r}.",
                hint=f"Available: {', '.join(found)}; empty disables it.",
            )
    return found


def below(name: str) -> Profile:
    """Return a profile without the project's changes: packaged, under the user's."""
    user = load_config().profiles.get(name, {})
    return make(name, user)


def make(name: str, changes: Mapping[str, Any]) -> Profile:
    """Return a profile made from its packaged numbers and some changes.

    Raises:
        ConfigError: an unknown setting, or a value out of its range.
    """
    values = _overlay(packaged().get(name, packaged()["code"]), changes)
    if unknown := sorted(set(values) - KEYS):
        near = nearest(unknown[0], KEYS)
        raise ConfigError(
            f"profiles.{name}: unknown setting {unknown[0]}.",
            hint=f"Did you mean {near}? {_HINT}" if near else _HINT,
        )
    weights = values.get("adjustments", {})
    if isinstance(weights, Mapping):
        # Every name is included, so that a screen can offer inactive ones, too.
        known = {key: weight for key, weight in weights.items() if key not in adjust.FORMER}
        values["adjustments"] = {**dict.fromkeys(adjust.NAMES, 0.0), **known}
    least = values.get("min_score")
    if isinstance(least, float | int) and not isinstance(least, bool) and 1 < least < math.inf:
        # Scores had no upper end before: the same hits reach it on the scale that they have now.
        values["min_score"] = unit_of(min(least, _MOST_COUNT))
    try:
        profile = _ADAPTER.validate_python(
            {"name": name, **values, "half_life_days": values.get("half_life_days") or None}
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"profiles.{name}.{place} must be {expectation(first)}.", hint=_HINT) from error
    check(profile)
    return profile


def check(profile: Profile) -> None:
    """Refuse numbers that cannot be.

    Raises:
        ConfigError: one is out of its range.
    """
    for what in (*_wrong_adjustments(profile), *_wrong_numbers(profile), *_wrong_quotas(profile)):
        raise ConfigError(f"profiles.{profile.name}.{what}", hint=_HINT)


def _wrong_adjustments(profile: Profile) -> Iterator[str]:
    for name, value in profile.adjustments.items():
        if name not in adjust.NAMES:
            near = nearest(name, adjust.NAMES)
            meant = f"did you mean {near}?" if near else f"available: {', '.join(adjust.NAMES)}."
            yield f"adjustments: unknown adjustment {name}; {meant}"
        if not math.isfinite(value):
            yield f"adjustments.{name}: {value} is not a number."
        elif abs(value) > _MOST_WEIGHT:
            yield f"adjustments.{name}: a weight is {_MOST_WEIGHT:,} at most."
        if name in adjust.PENALTIES and not 0 <= value <= 1:
            yield f"adjustments.{name}: a penalty is a share from 0 to 1, not {value}."
    for name, value in profile.report.items():
        if name not in adjust.NAMES:
            yield f"report: unknown adjustment {name}; available: {', '.join(adjust.NAMES)}."
        if not 0 <= value <= _MOST_FACTOR:
            yield f"report.{name}: a factor must be between 0 and {_MOST_FACTOR}."


def _wrong_numbers(profile: Profile) -> Iterator[str]:
    for name, (least, most) in _RANGES.items():
        if not least <= getattr(profile, name) <= most:
            yield f"{name}: must be between {least} and {most:,}."
    if profile.half_life_days is not None and not 0 < profile.half_life_days < math.inf:
        yield "half_life_days: must be more than 0; 0 turns decay off."


def _wrong_quotas(profile: Profile) -> Iterator[str]:
    for source, most in profile.quotas.items():
        if source not in profile.sources:
            yield f"quotas.{source}: the profile does not search {source!r}; its sources are {', '.join(profile.sources)}."
        if most < 1:
            yield f"quotas.{source}: must be 1 or more."


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    for table in ("adjustments", "report"):
        old, new = below.get(table), above.get(table)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            merged[table] = {**old, **new}
    return merged
