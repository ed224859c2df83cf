"""Profiles: the numbers of ranking as data, and how a person's changes to them are kept."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cm_tui.config import load_config
from cm_tui.config.mistakes import expectation, nearest
from cm_tui.engine.search import adjust, scale
from cm_tui.errors import CmError, ConfigError
from cm_tui.files import PRIVATE, permissions_of, read_bounded, shared_dir, write_atomically
from cm_tui.model import Profile
from cm_tui.toml_values import SETTINGS_BYTES

_HINT = "The search guide lists every number of a profile."
_KEYS = frozenset(field.name for field in fields(Profile)) - {"name"}
_ADAPTER = TypeAdapter(Profile)
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_POSITIVE = ("pool", "limit", "beside_limit", "snippet_chars", "rerank_depth", "rrf_k")
_WEIGHTS = ("keyword_weight", "vector_weight")
_LENT = ("thread", "neighbours")
_SHARES = ("coordination", "diversity_lambda", "rerank_alpha", "min_score", "beside_min_score", "weak_relevance")
_MOST_COUNT = 1_000_000_000
_MOST_WEIGHT = 1_000_000
_TABLES = ("quotas", "adjustments")
"""Settings that are sections of their own."""


@cache
def _defaults() -> dict[str, dict[str, Any]]:
    text = (resources.files("cm_tui.engine.search") / "profiles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def load(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Profile]:
    """Return every profile: the packaged ones under the configuration's changes; a new name starts from `code`.

    Raises:
        ConfigError: an unknown setting, or a value out of its range.
    """
    names = [*_defaults(), *(name for name in changes if name not in _defaults())]
    found = {name: make(name, changes.get(name, {})) for name in names}
    for profile in found.values():
        if profile.beside and profile.beside not in found:
            raise ConfigError(
                f"profiles.{profile.name}.beside: there is no profile {profile.beside!r}.",
                hint=f"Known are {', '.join(found)}; an empty one turns it off.",
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
    values = _overlay(_defaults().get(name, _defaults()["code"]), changes)
    if unknown := sorted(set(values) - _KEYS):
        near = nearest(unknown[0], _KEYS)
        raise ConfigError(
            f"profiles.{name}: there is no setting {unknown[0]}.",
            hint=f"Did you mean {near}? {_HINT}" if near else _HINT,
        )
    weights = values.get("adjustments", {})
    if isinstance(weights, Mapping):
        # Every name is there, so that a screen can offer what is off too.
        values["adjustments"] = {**dict.fromkeys(adjust.NAMES, 0.0), **weights}
    least = values.get("min_score")
    if isinstance(least, float | int) and not isinstance(least, bool) and 1 < least < math.inf:
        # Scores had no upper end before: the same hits reach it on the scale that they have now.
        values["min_score"] = scale.unit_of(min(least, _MOST_COUNT))
    try:
        profile = _ADAPTER.validate_python(
            {"name": name, **values, "half_life_days": values.get("half_life_days") or None}
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"profiles.{name}.{place} must be {expectation(first)}.", hint=_HINT) from error
    _check(profile)
    return profile


def _check(profile: Profile) -> None:
    for what in (*_wrong_adjustments(profile), *_wrong_numbers(profile), *_wrong_quotas(profile)):
        raise ConfigError(f"profiles.{profile.name}.{what}", hint=_HINT)


def _wrong_adjustments(profile: Profile) -> Iterator[str]:
    for name, value in profile.adjustments.items():
        if name not in adjust.NAMES:
            near = nearest(name, adjust.NAMES)
            meant = f"did you mean {near}?" if near else f"known are {', '.join(adjust.NAMES)}."
            yield f"adjustments: there is no adjustment {name}; {meant}"
        if not math.isfinite(value):
            yield f"adjustments.{name}: {value} is not a number."
        elif abs(value) > _MOST_WEIGHT:
            yield f"adjustments.{name}: a weight is {_MOST_WEIGHT:,} at most."
        if name in adjust.PENALTIES and not 0 <= value <= 1:
            yield f"adjustments.{name}: a penalty is a share from 0 to 1, not {value}."


def _wrong_numbers(profile: Profile) -> Iterator[str]:
    for name in _WEIGHTS:
        if not 0 <= getattr(profile, name) < math.inf:
            yield f"{name}: a weight is 0 or more."
        elif getattr(profile, name) > _MOST_WEIGHT:
            yield f"{name}: a weight is {_MOST_WEIGHT:,} at most."
    for name in _POSITIVE:
        if getattr(profile, name) < 1:
            yield f"{name}: must be 1 or more."
        elif getattr(profile, name) > _MOST_COUNT:
            yield f"{name}: must be {_MOST_COUNT:,} or less."
    for name, most in (*((name, 10) for name in _LENT), *((name, 1) for name in _SHARES)):
        if not 0 <= getattr(profile, name) <= most:
            yield f"{name}: must lie between 0 and {most}."
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
    old, new = below.get("adjustments"), above.get("adjustments")
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        merged["adjustments"] = {**old, **new}
    return merged


def save(profile: Profile, below: Profile, file: Path) -> None:
    """Write what a profile changes into a configuration file; everything else in the file stays as it is.

    Args:
        profile: what the person wants.
        below: the profile as it is without this file.
        file: a TOML file, made when missing.

    Raises:
        ConfigError: the file cannot be understood, or is written in a way that cannot be edited safely.
        CmError: it cannot be written.
    """
    _check(profile)
    changes = _difference(profile, below)
    try:
        text = read_bounded(file, SETTINGS_BYTES).decode("utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Mend or remove the file.") from error
    edited = _edit(text, profile.name, changes, file)
    try:
        _write(file, edited)
    except OSError as error:
        raise CmError(f"Cannot write {file}: {error}", hint="Check its permissions and free space.") from error


def _difference(profile: Profile, below: Profile) -> dict[str, Any]:
    old, new = asdict(below), asdict(profile)
    changes = {key: new[key] for key in sorted(_KEYS) if key != "adjustments" and new[key] != old[key]}
    if changes.get("half_life_days", 0) is None:
        changes["half_life_days"] = 0.0
    weights = {
        name: profile.adjustments.get(name, 0.0)
        for name in adjust.NAMES
        if profile.adjustments.get(name, 0.0) != below.adjustments.get(name, 0.0)
    }
    return {**changes, "adjustments": weights} if weights else changes


def _edit(text: str, name: str, changes: Mapping[str, Any], file: Path) -> str:
    """Replace the sections of one profile, then read the result back: it must say exactly what was meant."""
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Mend or remove the file.") from error
    known = dict(wanted.get("profiles", {}))
    known.pop(name, None)
    if changes:
        known[name] = dict(changes)
    if known or "profiles" in wanted:
        wanted["profiles"] = known
    edited = _without_sections(text, name).rstrip()
    edited = f"{edited}\n\n{_section(name, changes)}".lstrip() if changes else f"{edited}\n" if edited else ""
    try:
        result = tomllib.loads(edited)
    except tomllib.TOMLDecodeError:
        result = None
    if result is None or _plain(result) != _plain(wanted):
        raise ConfigError(
            f"{file} sets profiles.{name} in a way that cannot be edited safely.",
            hint=f"Write it as a section [profiles.{name}], or remove it, and save again.",
        )
    return edited


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without an empty `profiles`, and with lists for tuples: how TOML reads it."""
    data: dict[str, Any] = json.loads(json.dumps(values, default=str))
    if not data.get("profiles", True):
        del data["profiles"]
    return data


def _without_sections(text: str, name: str) -> str:
    kept: list[str] = []
    inside = False
    waiting: list[str] = []  # comments and blank lines before a header belong to what follows
    # Lines as TOML has them: `splitlines` also ends one at signs that may stand in a value, such as U+2028.
    for line in text.replace("\r\n", "\n").split("\n"):
        header = _HEADER.match(line)
        if header:
            inside = _opens(line, name)
            if not inside:
                kept += waiting
            waiting = []
        if not inside:
            kept.append(line)
        elif header is None and (not line.strip() or line.lstrip().startswith("#")):
            waiting.append(line)
        else:
            waiting = []
    return "\n".join(kept)


def _opens(header: str, name: str) -> bool:
    """Return whether the header of a section belongs to a profile, whatever way its name is quoted."""
    try:
        keys = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        return False
    profiles = keys.get("profiles")
    return isinstance(profiles, dict) and name in profiles


def _section(name: str, changes: Mapping[str, Any]) -> str:
    key = _key(name)
    plain = {setting: value for setting, value in changes.items() if setting not in _TABLES}
    lines = [f"[profiles.{key}]", *(f"{setting} = {_value(value)}" for setting, value in plain.items())]
    for table in _TABLES:
        if table in changes:
            lines += ["", f"[profiles.{key}.{table}]"]
            lines += [f"{_key(setting)} = {_value(value)}" for setting, value in changes[table].items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """TOML writes numbers, strings, booleans and lists of strings as JSON does, but for the delete character."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")


def _write(file: Path, text: str) -> None:
    shared_dir(file.parent)
    permissions = permissions_of(file)
    write_atomically(file, text, permissions=PRIVATE if permissions is None else permissions, durable=True)
