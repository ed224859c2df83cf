"""One frozen configuration: defaults, the user's TOML, the project's TOML, then the environment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cm_tui import paths
from cm_tui.errors import ConfigError

_FROZEN = ConfigDict(frozen=True, extra="forbid")

RENAMED_SECTIONS = {"owner": "daemon"}
"""Sections by their old name: they keep working, and `renamed_settings` says where they stand."""


class IndexConfig(BaseModel):
    """What is indexed."""

    model_config = _FROZEN

    include: tuple[str, ...] = ()
    """gitignore patterns that are indexed although a default rule would skip them."""
    exclude: tuple[str, ...] = ()
    """gitignore patterns that are skipped on top of `.gitignore`."""
    max_file_bytes: int = Field(default=1_000_000, gt=0)
    workers: int = Field(default=0, ge=0)
    """Parser processes; 0: one a core."""


class EmbeddingConfig(BaseModel):
    """Which model turns text into vectors. Never switched from local to cloud without being told to."""

    model_config = _FROZEN

    provider: Literal["bundled", "fastembed", "openai", "none"] = "bundled"
    """`openai` is any endpoint that speaks its embeddings API."""
    model: str = "code-static-256"
    path: str | None = None
    """Local folder of a fastembed model."""
    model_file: str | None = None
    """ONNX file of that model: relative to the folder, or absolute."""
    pooling: Literal["none", "mean", "cls", "last"] = "none"
    """How a model in a local folder makes one vector of its tokens' vectors; none: it does so itself."""
    dimensions: int | None = Field(default=None, gt=0)
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    headers: Mapping[str, str] = {}
    batch_size: int = Field(default=64, gt=0)
    timeout_seconds: float = Field(default=30.0, gt=0)
    concurrency: int = Field(default=2, gt=0)
    cache_entries: int = Field(default=50_000, ge=0)
    """Vectors kept for text that is not in the index now."""


class SearchConfig(BaseModel):
    """How search answers when nothing else is said."""

    model_config = _FROZEN

    profile: str = "code"
    reranker: str | None = None
    """A fastembed cross-encoder, or a local folder of one."""


class AgentsConfig(BaseModel):
    """What agents are told and what is recorded of their sessions."""

    model_config = _FROZEN

    budget: int = Field(default=2_000, ge=0, le=20_000)
    """Tokens that a prompt's context from the memory may take; 0: none is added."""
    wait_seconds: float = Field(default=1.5, ge=0, le=10)
    """How long a prompt waits for the memory; what is not there by then is left out."""
    record: bool = True
    """Keep prompts and what the agent did in the project's journal."""


class DaemonConfig(BaseModel):
    """The process that owns all stores. Read from the user's file and the environment, never from a project's."""

    model_config = _FROZEN

    use: Literal["auto", "never"] = "auto"
    """`never`: each command opens the store itself, as long as no other process has it."""
    port: int = Field(default=0, ge=0, le=65535)
    """Also listen on this port of 127.0.0.1, for agents that speak MCP over HTTP; 0: only on the private socket."""
    idle_seconds: float = Field(default=1800.0, gt=0)
    """How long the daemon stays when nobody asks anything."""
    project_idle_seconds: float = Field(default=600.0, gt=0)
    """How long it keeps a project open that nobody asks about."""


class WatchConfig(BaseModel):
    """How changes of the working tree are noticed."""

    model_config = _FROZEN

    enabled: bool = True
    debounce_seconds: float = Field(default=2.0, gt=0, le=60)
    """A change is told when nothing else has changed for so long."""
    polling: bool = False
    """Look again and again instead of being told by the system, as for network drives."""


class HistoryConfig(BaseModel):
    """How much of history is read by itself, after an index run."""

    model_config = _FROZEN

    enabled: bool = True
    depth: int = Field(default=5_000, ge=0)
    """Commits back from HEAD; 0: all. `cm history backfill` goes further."""


class TuiConfig(BaseModel):
    """How the application looks and listens."""

    model_config = _FROZEN

    theme: str | None = None
    keys: Mapping[str, str] = {}
    """Binding id to keys, such as `search.focus = "ctrl+f"`."""


class Config(BaseModel):
    """Everything that can be set."""

    model_config = _FROZEN

    index: IndexConfig = IndexConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    search: SearchConfig = SearchConfig()
    agents: AgentsConfig = AgentsConfig()
    daemon: DaemonConfig = DaemonConfig()
    watch: WatchConfig = WatchConfig()
    history: HistoryConfig = HistoryConfig()
    tui: TuiConfig = TuiConfig()
    profiles: Mapping[str, Mapping[str, Any]] = {}
    """Changes to profiles by name; the search room checks them."""


def load_config(root: Path | None = None) -> Config:
    """Read the configuration for a project, later sources over earlier ones.

    Args:
        root: the project's root, whose `.cm/config.toml` is read too.

    Raises:
        ConfigError: a file is not TOML, or a setting is unknown or out of range; the message names file and setting.
    """
    files = [paths.config_file()]
    if root is not None:
        files.append(paths.project_config_file(root))
    merged: dict[str, Any] = {}
    for file in files:
        values = _with_new_names(_read(file))
        _validate(values, str(file))
        merged = _overlay(merged, values)
    environment = _from_environment(os.environ)
    _validate(environment, "environment variables CM_*")
    return _validate(_overlay(merged, environment), "configuration")


def renamed_settings(root: Path | None = None) -> tuple[str, ...]:
    """Say which settings still go by an old name, and where; the files are taken to be readable."""
    files = [paths.config_file()] + ([paths.project_config_file(root)] if root is not None else [])
    found: list[tuple[str, str]] = []
    for old, new in RENAMED_SECTIONS.items():
        found += [(f"[{old}] in {file}", f"[{new}]") for file in files if old in _read(file)]
        before, now = f"CM_{old.upper()}__", f"CM_{new.upper()}__"
        found += [(name, now + name.removeprefix(before)) for name in sorted(os.environ) if name.startswith(before)]
    return tuple(f"{old} is called {new} now; the old name still works." for old, new in found)


def _with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with old names of sections as the new ones; where both are given, the new name wins."""
    result = {key: value for key, value in values.items() if key not in RENAMED_SECTIONS}
    old = {RENAMED_SECTIONS[key]: value for key, value in values.items() if key in RENAMED_SECTIONS}
    return _overlay(old, result)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"Cannot read {file}: {error}", hint="Mend or remove the file.") from error


def _validate(values: Mapping[str, Any], where: str) -> Config:
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{where}: {name}: {first['msg']}",
            hint="The configuration guide lists every setting: cm_tui/docs/configuration.md.",
        ) from error


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _overlay(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """`CM_EMBEDDING__PROVIDER=none` sets `embedding.provider`."""
    values: dict[str, Any] = {}
    for key, value in environment.items():
        section, dot, name = key.removeprefix("CM_").lower().partition("__")
        known = section in Config.model_fields or section in RENAMED_SECTIONS
        if key.startswith("CM_") and dot and known:
            values.setdefault(section, {})[name] = value
    return _with_new_names(values)
