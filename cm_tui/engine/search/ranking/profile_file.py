"""A profile's changes in a configuration file: written and undone; the rest of the file stays."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cm_tui.config import load_config
from cm_tui.engine.search.ranking import adjust
from cm_tui.engine.search.ranking.profiles import KEYS, TABLES, check, packaged
from cm_tui.errors import ConfigError, RefusedError, UsageError
from cm_tui.files import PRIVATE, permissions_of, read_bounded, write_atomically
from cm_tui.model import Profile
from cm_tui.state_file import confined, reported
from cm_tui.toml_values import SETTINGS_BYTES

_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def save(profile: Profile, below: Profile, file: Path) -> None:
    """Write a profile's changes into a configuration file; the rest of the file stays.

    Args:
        profile: the new profile.
        below: the profile without this file.
        file: a TOML file, made when missing.

    Raises:
        ConfigError: the file is invalid, or cannot be edited safely.
        CmError: it cannot be written.
    """
    check(profile)
    changes = _difference(profile, below)
    _replace(file, _edit(_text_of(file), profile.name, changes, file))


def _text_of(file: Path) -> str:
    try:
        return read_bounded(file, SETTINGS_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Fix or remove the file.") from error


def _replace(file: Path, text: str) -> None:
    """Write a file, or remove it if it is empty."""
    if text:
        _write(file, text)
        return
    with reported(file, "remove"):
        file.unlink(missing_ok=True)


def reset(name: str, file: Path) -> tuple[str, ...]:
    """Remove a profile's changes from a configuration file; the rest of the file stays.

    Args:
        name: of the profile.
        file: a TOML file.

    Returns:
        The removed settings; empty: the file changes none.

    Raises:
        UsageError: there is no such profile.
        RefusedError: the profile is defined only in this file.
        ConfigError: the file is invalid, or cannot be edited safely.
        CmError: it cannot be written.
    """
    text = _text_of(file)
    changes = _section_of(text, name, file)
    if name not in packaged() and name not in (below := load_config().profiles):
        if changes is None:
            raise UsageError(f"Unknown profile: {name!r}.", hint=f"Available: {', '.join([*packaged(), *below])}.")
        raise RefusedError(
            f"The profile {name} belongs to this project: there is no built-in version to restore.",
            hint=f"Remove its section [profiles.{_key(name)}] from {file}.",
        )
    if changes is None:
        return ()
    _replace(file, _edit(text, name, {}, file))
    return tuple(_settings(changes))


def _section_of(text: str, name: str, file: Path) -> Mapping[str, Any] | None:
    """A profile's section in a file; None: not in it."""
    try:
        found = tomllib.loads(text).get("profiles", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Fix or remove the file.") from error
    own = found.get(name) if isinstance(found, dict) else None
    return own if isinstance(own, dict) else None


def _settings(changes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in changes.items():
        if name in TABLES and isinstance(value, dict):
            yield from (f"{name}.{one}" for one in value)
        else:
            yield name


def _difference(profile: Profile, below: Profile) -> dict[str, Any]:
    old, new = asdict(below), asdict(profile)
    changes = {key: new[key] for key in sorted(KEYS) if key != "adjustments" and new[key] != old[key]}
    if changes.get("half_life_days", 0) is None:
        changes["half_life_days"] = 0.0
    weights = {
        name: profile.adjustments.get(name, 0.0)
        for name in adjust.NAMES
        if profile.adjustments.get(name, 0.0) != below.adjustments.get(name, 0.0)
    }
    return {**changes, "adjustments": weights} if weights else changes


def _edit(text: str, name: str, changes: Mapping[str, Any], file: Path) -> str:
    """Replace the sections of one profile, then verify the result by reading it."""
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Fix or remove the file.") from error
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
    return edited.replace("\n", "\r\n") if "\r\n" in text else edited


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without an empty `profiles`, and with lists for tuples: how TOML reads it."""
    data: dict[str, Any] = json.loads(json.dumps(values, default=str))
    if not data.get("profiles", True):
        del data["profiles"]
    return data


def _without_sections(text: str, name: str) -> str:
    kept: list[str] = []
    inside = False
    waiting: list[str] = []  # comments and blank lines before a header belong to the header
    # Lines as TOML has them: `splitlines` also splits at characters that a value may contain, such as U+2028.
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
    """Return whether the header of a section belongs to a profile, however its name is quoted."""
    try:
        keys = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        return False
    profiles = keys.get("profiles")
    return isinstance(profiles, dict) and name in profiles


def _section(name: str, changes: Mapping[str, Any]) -> str:
    key = _key(name)
    plain = {setting: value for setting, value in changes.items() if setting not in TABLES}
    lines = [f"[profiles.{key}]", *(f"{setting} = {_value(value)}" for setting, value in plain.items())]
    for table in TABLES:
        if table in changes:
            lines += ["", f"[profiles.{key}.{table}]"]
            lines += [f"{_key(setting)} = {_value(value)}" for setting, value in changes[table].items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """TOML writes numbers, strings, booleans and lists of strings as JSON does, except for the delete character."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")


def _write(file: Path, text: str) -> None:
    # A link stays a link; one that leads out of the project is not followed.
    target = Path(os.path.realpath(file))
    with confined(file.parent.parent, target):
        permissions = permissions_of(target)
        write_atomically(target, text, permissions=PRIVATE if permissions is None else permissions, durable=True)
