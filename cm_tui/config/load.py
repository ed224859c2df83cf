"""Reading the configuration: defaults, the user's TOML, what counts of the repository's, then the environment."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cm_tui import paths
from cm_tui.config import trust
from cm_tui.config.boundary import RepositorySettings, part
from cm_tui.config.mistakes import Place, mistake
from cm_tui.config.sections import Config
from cm_tui.errors import ConfigError
from cm_tui.files import Stamp, read_bounded, read_inside, stamp_of
from cm_tui.toml_values import SETTINGS_BYTES, toml_values

RENAMED_SECTIONS = {"owner": "daemon"}
"""Sections by their old name: they keep working, and `renamed_settings` says where they stand."""

Stamps = tuple[Stamp | None, ...]
"""Change stamps of the user's file and the project's."""


def stamps_of(root: Path | None) -> Stamps:
    """Return the change stamps of the settings files. `root`: the project's root, whose file counts too."""
    files = (paths.config_file(), *((paths.project_config_file(root),) if root is not None else ()))
    return tuple(map(stamp_of, files))


def load_config(root: Path | None = None) -> Config:
    """Read the configuration for a project.

    From weak to strong: the defaults, what a person trusted of the repository's guarded settings, the user's file, what
    of the repository's counts at once, the environment. `root`: the project's root, whose `.cm/config.toml` is read
    too. Raises ConfigError if a file is not TOML, or a setting is unknown or out of range; the message names file and
    setting.
    """
    own, user, environment = own_settings()
    repository = repository_settings(root, own) if root is not None else RepositorySettings({}, {}, {}, ())
    below = dict(repository.harmless)
    if root is not None and repository.guarded and trust.is_trusted(root, repository.guarded):
        below = _overlay(below, repository.guarded)
    merged = _overlay(_overlay(_overlay(below, user), repository.counts), environment)
    return _validate(_with_includes(merged, own, repository), Place("configuration"))


def own_settings() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return what the person set: all of it, and its parts, the user's file and the environment.

    Raises ConfigError as for `load_config`.
    """
    user = _typed(_with_new_names(_of_user()), _user_place())
    environment = _of_environment(tuple(sorted(item for item in os.environ.items() if item[0].startswith("CM_"))))
    return _overlay(user, environment), user, environment


def repository_settings(root: Path, own: Mapping[str, Any]) -> RepositorySettings:
    """Return what a repository's file says, parted at the trust boundary.

    `own`: what the person set. Raises ConfigError as for `load_config`.
    """
    values = _with_new_names(_of_repository(root))
    if not values:
        return RepositorySettings({}, {}, {}, ())
    return part(_typed(values, _repository_place(root)), own)


def renamed_settings(root: Path | None = None) -> tuple[str, ...]:
    """Say which settings still go by an old name, and where; the files are taken to be readable."""
    files = {paths.config_file(): _of_user()}
    if root is not None:
        files[paths.project_config_file(root)] = _of_repository(root)
    found: list[tuple[str, str]] = []
    for old, new in RENAMED_SECTIONS.items():
        found += [(f"[{old}] in {file}", f"[{new}]") for file, values in files.items() if old in values]
        before, now = f"CM_{old.upper()}__", f"CM_{new.upper()}__"
        found += [(name, now + name.removeprefix(before)) for name in sorted(os.environ) if name.startswith(before)]
    return tuple(f"{old} was renamed to {new}; the old name still works." for old, new in found)


def _with_includes(merged: dict[str, Any], own: Mapping[str, Any], repository: RepositorySettings) -> dict[str, Any]:
    """Add the patterns of credential files to the include patterns, and mark untrusted ones."""
    index = merged.get("index", {})
    named = tuple(index.get("include_credentials", ()))
    trusted = {*own.get("index", {}).get("include", ()), *named}
    brought = tuple(repository.counts.get("index", {}).get("include", ()))
    if not (named or brought):
        return merged
    patterns = {
        "include": (*index.get("include", ()), *named),
        "untrusted_include": tuple(pattern for pattern in brought if pattern not in trusted),
    }
    return _overlay(merged, {"index": patterns})


def _with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with old names of sections as the new ones; where both are given, the new name wins."""
    result = {key: value for key, value in values.items() if key not in RENAMED_SECTIONS}
    old = {RENAMED_SECTIONS[key]: value for key, value in values.items() if key in RENAMED_SECTIONS}
    return _overlay(old, result)


def _user_place() -> Place:
    file = paths.config_file()
    return Place(str(file), lambda: read_bounded(file, SETTINGS_BYTES))


def _repository_place(root: Path) -> Place:
    """Return where a repository's settings stand: an ordinary file inside of it, wherever its links would lead."""
    file = paths.project_config_file(root)
    return Place(str(file), lambda: read_inside(root, file.relative_to(root).as_posix(), SETTINGS_BYTES))


def _of_user() -> dict[str, Any]:
    return _read(_user_place())


def _of_repository(root: Path) -> dict[str, Any]:
    return _read(_repository_place(root))


def _read(place: Place) -> dict[str, Any]:
    assert place.content is not None
    try:
        return toml_values(place.content())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"Cannot read {place.name}: {said}", hint="Fix or remove the file.") from error


def _typed(values: Mapping[str, Any], where: Place) -> dict[str, Any]:
    """Return the same settings in the types that they are read as: `"no"` is False."""
    if not values:
        return {}
    # What a table within a section leaves out is not set: it must not hide what a weaker place says of it.
    known = _validate(values, where).model_dump(exclude_unset=True)
    return {section: {name: known[section][name] for name in settings} for section, settings in values.items()}


def _validate(values: Mapping[str, Any], where: Place) -> Config:
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise mistake(error, where, Config) from error


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _overlay(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


@functools.lru_cache(8)  # a request may ask a dozen times
def _of_environment(variables: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """`CM_EMBEDDING__PROVIDER=none` sets `embedding.provider`, `CM_EMBEDDING__BATCH__WAIT=true` `embedding.batch.wait`.

    Lists and tables are written as JSON.
    """
    values: dict[str, Any] = {}
    for key, value in variables:
        section, *names = key.removeprefix("CM_").lower().split("__")
        if names and (section in Config.model_fields or section in RENAMED_SECTIONS):
            nested: Any = _from_text(value)
            for name in reversed(names):
                nested = {name: nested}
            values = _overlay(values, {section: nested})
    return _typed(_with_new_names(values), Place("environment variable", variables=True))


def _from_text(value: str) -> Any:
    if value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        # What is wrong with it is said with the name of the setting.
        return value
