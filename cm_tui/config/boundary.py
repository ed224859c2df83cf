"""The trust boundary: which settings a repository may bring, and which wait until a person trusts them.

A repository is a stranger. What only changes how its own code is found counts at once. What sends data, names an
endpoint, a key, a model file, a command or keys, or loosens what is kept back, waits for a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cm_tui.config.sections import TRUST, Config, Place, Rule

Settings = Mapping[str, Mapping[str, Any]]


def _places() -> Iterator[tuple[str, Place]]:
    for section, field in Config.model_fields.items():
        settings = getattr(field.annotation, "model_fields", None) or {"": field}
        for name, one in settings.items():
            found = [place for place in (*field.metadata, *one.metadata) if isinstance(place, Place)]
            yield from ((f"{section}.{name}".rstrip("."), place) for place in found[-1:])


PLACES: Mapping[str, Place] = dict(_places())
"""By setting, as the sections declare it; each has to have one."""


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """A repository's settings, parted at the boundary."""

    counts: Settings
    """In force at once, over the user's."""
    harmless: Settings
    """In force at once, below the user's."""
    guarded: Settings
    """In force once a person trusted them, below the user's."""
    ignored: tuple[str, ...]
    """Names of settings that no repository can set."""


def part(repository: Settings, own: Settings) -> RepositorySettings:
    """Part a repository's settings.

    `repository`: what its file says, by section, in the types of the settings. `own`: what the user's file and the
    environment say. A section in which they set anything guarded takes none of the repository's guarded settings: an
    endpoint of one never meets the key of the other.
    """
    counts: dict[str, dict[str, Any]] = {}
    harmless: dict[str, dict[str, Any]] = {}
    guarded: dict[str, dict[str, Any]] = {}
    ignored: list[str] = []
    kept = {section for section, name, _ in _each(own) if rule_of(section, name) == "trust"}
    for section, name, value in _each(repository):
        rule = rule_of(section, name)
        if rule == "user":
            ignored.append(f"{section}.{name}")
        elif rule == "counts":
            combine, mine = _place_of(section, name).combine, own.get(section, {}).get(name)
            counts.setdefault(section, {})[name] = value if combine is None or mine is None else combine(mine, value)
        elif section not in kept:
            place = harmless if value in _place_of(section, name).harmless else guarded
            place.setdefault(section, {})[name] = value
    return RepositorySettings(counts, harmless, guarded, tuple(ignored))


def rule_of(section: str, name: str) -> Rule:
    """Return what becomes of a repository's setting; one that was not placed waits for trust."""
    return _place_of(section, name).rule


def _place_of(section: str, name: str) -> Place:
    return PLACES.get(f"{section}.{name}", PLACES.get(section, TRUST))


def _each(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for section, settings in values.items():
        if isinstance(settings, Mapping):
            for name, value in settings.items():
                yield section, name, value
