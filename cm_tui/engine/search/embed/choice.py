"""Choosing the provider of vectors that the settings ask for."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from cm_tui.config import EmbeddingConfig
from cm_tui.config.endpoints import endpoint_of, fallback_of
from cm_tui.engine.search.embed.provider import Matrix, NoProvider, Provider

if TYPE_CHECKING:
    from cm_tui.engine.search.embed.prose_process import ProseProcesses

_log = logging.getLogger(__name__)


def provider_for(
    config: EmbeddingConfig, say: Callable[[str], None] = _log.info, *, is_allowed: Callable[[], bool] = lambda: True
) -> Provider:
    """Return the configured provider.

    Nothing is loaded or contacted yet: that happens with the first text, and raises errors there. `config`: the
    `embedding` section. `say`: called with a message before anything slow or remote, such as a download. `is_allowed`:
    called before each request to an endpoint; False: the settings no longer name it, and nothing is sent.
    """
    if config.provider == "none":
        return NoProvider()
    endpoint = endpoint_of(config)
    if endpoint is not None:
        from cm_tui.engine.search.embed.remote import RemoteProvider

        return RemoteProvider(config, endpoint, is_allowed=is_allowed)
    if config.provider == "fastembed":
        from cm_tui.engine.search.embed.fastembed_provider import FastembedProvider

        return FastembedProvider(config, say)
    from cm_tui.engine.search.embed.bundled import BundledProvider

    return BundledProvider()


def fallback_provider_for(
    config: EmbeddingConfig, *, is_allowed: Callable[[], bool] = lambda: True
) -> tuple[Provider, EmbeddingConfig] | None:
    """The configured fallback provider and its settings; None: no fallback.

    `config`: the `embedding` section; `is_allowed`: as for `provider_for`.
    """
    settings = fallback_of(config)
    return None if settings is None else (provider_for(settings, is_allowed=is_allowed), settings)


def embed_test(provider: Provider, *, patiently: bool = True) -> Matrix:
    """Request one vector from a model, to test it.

    `patiently`: retry where an endpoint is busy, as for a query. Raises ModelError: the model returned no vector.
    """
    remote = sys.modules.get("cm_tui.engine.search.embed.remote")
    if not patiently and remote is not None and isinstance(provider, remote.RemoteProvider):
        vector: Matrix = provider.ask_once()
        return vector
    provider.check()
    return provider.embed_query("parse the configuration file")


def prose_provider_for(config: EmbeddingConfig) -> ProseProcesses | None:
    """Return the provider for prose; None: the configured one is used for prose, too.

    It is bundled and runs locally, even if code is sent to an endpoint, as prose must not leave the machine.
    """
    if config.provider in {"fastembed", "none"}:
        return None
    from cm_tui.engine.search.embed.prose_process import shared_provider

    return shared_provider()
