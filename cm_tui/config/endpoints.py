"""The endpoint that embedding settings name: address, model, key, each provider's own where nothing else is said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from cm_tui.config.sections import EmbeddingConfig

Kind = Literal["openai", "gemini", "voyage"]
REMOTE: tuple[Kind, ...] = get_args(Kind)
"""Providers that send texts somewhere."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What a provider is reached by where the settings say nothing else."""

    base_url: str
    key_variable: str
    model: str


USUAL: Mapping[Kind, Usual] = {
    "openai": Usual("https://api.openai.com/v1", "OPENAI_API_KEY", "text-embedding-3-small"),
    "gemini": Usual("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "gemini-embedding-001"),
    "voyage": Usual("https://api.voyageai.com/v1", "VOYAGE_API_KEY", "voyage-code-3"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where texts are sent, and with what."""

    kind: Kind
    base_url: str
    """Without a slash at its end."""
    model: str
    dimensions: int | None
    key: str = field(repr=False)
    """Empty: none is set."""
    key_source: str
    """The setting or the variable of the environment that the key is read from, in words."""
    key_variable: str
    """That variable; empty where the key stands in the settings."""
    headers: Mapping[str, str] = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what of it must never be shown."""
        return (self.key, *self.headers.values())


def endpoint_of(config: EmbeddingConfig) -> Endpoint | None:
    """Return the endpoint of the provider that settings name; None where that sends nothing anywhere.

    What `embedding.remote` says wins over the same names beside it; headers of both are sent.
    """
    kind = next((one for one in REMOTE if one == config.provider), None)
    if kind is None:
        return None
    usual, remote = USUAL[kind], config.remote
    key, source, variable = _key(config, usual)
    return Endpoint(
        kind=kind,
        base_url=(remote.base_url or config.base_url or usual.base_url).rstrip("/"),
        model=config.model or usual.model,
        dimensions=config.dimensions,
        key=key,
        key_source=source,
        key_variable=variable,
        headers={**config.headers, **remote.headers},
    )


def fallback_of(config: EmbeddingConfig) -> EmbeddingConfig | None:
    """Return the settings of the fallback; None where none is named, or it is the provider itself.

    It has its own usual address, model and key: nothing that was set for the provider is sent to another one.
    """
    if config.provider == "none" or config.fallback in {"none", config.provider}:
        return None
    limits = {name: getattr(config, name) for name in ("timeout_seconds", "concurrency", "batch_size", "cache_entries")}
    return EmbeddingConfig(provider=config.fallback, **limits)


def _key(config: EmbeddingConfig, usual: Usual) -> tuple[str, str, str]:
    """Return the key, what it is read from in words, and the variable that it is read from."""
    remote = config.remote
    if remote.api_key:
        return remote.api_key, "embedding.remote.api_key", ""
    if config.api_key and not remote.api_key_env:
        return config.api_key, "embedding.api_key", ""
    variable = remote.api_key_env or config.api_key_env or usual.key_variable
    return os.environ.get(variable, ""), f"the environment variable {variable}", variable
