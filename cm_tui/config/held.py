"""Settings of a repository that the user has not trusted, described by their effects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cm_tui import paths
from cm_tui.config import trust
from cm_tui.config.endpoints import Endpoint, endpoint_of, fallback_of
from cm_tui.config.load import load_config, own_settings, repository_settings
from cm_tui.config.sections import EmbeddingConfig
from cm_tui.counts import count

State = Literal["nothing", "held", "refused", "trusted"]
"""`nothing`: no guarded settings. `held`: not decided yet. `refused`: the user refused these values."""

_SECRET = frozenset({"api_key", "headers"})
"""Settings whose values are not shown."""
_LONGEST = 200
"""Characters of a value; a longer one cannot be shown whole, and so cannot be trusted."""
_MOST = 50
"""Settings, each item of a list counted; more than anybody reads."""


@dataclass(frozen=True, slots=True)
class HeldSetting:
    """A setting of a repository that waits for trust."""

    name: str
    value: str
    """As JSON in ASCII, so that no letter looks like another; keys and header values are omitted."""


@dataclass(frozen=True, slots=True)
class RepositoryTrust:
    """What a repository's settings ask for, and what a person said about it."""

    root: str
    file: str
    state: State
    settings: tuple[HeldSetting, ...]
    """Those that wait for trust, or have it; an entry for each item of a list and of a table."""
    effects: tuple[str, ...]
    """What would happen with trust: ends of a sentence that begins with `This repository wants to`."""
    ignored: tuple[str, ...]
    """Names of settings in it that only the user's own file can set."""
    unshowable: str = ""
    """Why it cannot be trusted: something of it is too long, or too much, to be shown whole; empty when it can."""
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """What is trusted, and nothing else, when a person says yes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the settings, each once."""
        return tuple(f"{section}.{name}" for section, values in self.values.items() for name in values)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what is said wherever the project's state is shown."""
        notes = []
        if self.state in {"held", "refused"}:
            names = ", ".join(self.names)
            notes.append(
                f"Held back from this repository's settings: {names}. `cm trust --show` explains them, "
                "`cm trust` decides."
            )
        if self.ignored:
            notes.append(f"Only your own settings can set {', '.join(self.ignored)}; ignored in {self.file}.")
        return tuple(notes)


def repository_trust(root: Path) -> RepositoryTrust:
    """Return what the repository at a root asks for, and what was said about it.

    Raises ConfigError if its settings, or the user's, cannot be read.
    """
    own, _, _ = own_settings()
    found = repository_settings(root, own)
    file, real = str(paths.project_config_file(root)), os.path.realpath(root)
    if not _changes_anything(found.guarded, root):
        return RepositoryTrust(real, file, "nothing", (), (), found.ignored)
    settings = tuple(_each(found.guarded))
    effects = tuple(_effects(found.guarded, own))
    return RepositoryTrust(
        root=real,
        file=file,
        state=_state(root, found.guarded),
        settings=settings,
        effects=effects,
        ignored=found.ignored,
        unshowable=_unshowable(settings),
        values=found.guarded,
    )


def _state(root: Path, guarded: Mapping[str, Any]) -> State:
    said = trust.decision(root)
    if said is None or said.digest != trust.digest(guarded):
        return "held"
    return said.answer


def _changes_anything(guarded: Mapping[str, Mapping[str, Any]], root: Path) -> bool:
    """Return whether some value is another than the one that is in force without it, or was trusted already."""
    if not guarded or trust.is_trusted(root, guarded):
        return bool(guarded)
    now = load_config(root).model_dump()
    return any(
        _plain(now[section].get(name)) != _plain(value)
        for section, values in guarded.items()
        for name, value in values.items()
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _each(guarded: Mapping[str, Mapping[str, Any]]) -> Iterator[HeldSetting]:
    """Yield every value on its own: what stands at the end of a long list is seen as well."""
    for section, values in guarded.items():
        for name, value in values.items():
            yield from _shown(f"{section}.{name}", value, is_secret=name in _SECRET)


def _shown(full: str, value: Any, *, is_secret: bool) -> Iterator[HeldSetting]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _shown(f"{full}.{_json(key)}", item, is_secret=is_secret or key in _SECRET)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield HeldSetting(full, _json(item))
    elif is_secret:
        yield HeldSetting(full, "… (a key in the file)" if full.endswith(".api_key") else "…")
    else:
        yield HeldSetting(full, _json(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)


def _unshowable(settings: tuple[HeldSetting, ...]) -> str:
    if len(settings) > _MOST:
        return f"it has {count(len(settings), 'value')}, too many to review"
    long = next((one for one in settings if len(one.name) + len(one.value) > _LONGEST), None)
    return f"{long.name[:60]} is too long to be shown whole" if long is not None else ""


def _effects(guarded: Mapping[str, Mapping[str, Any]], own: Mapping[str, Any]) -> Iterator[str]:
    if "embedding" in guarded:
        # Atomic: where the person set anything of it, the repository's is not here at all. The rest is theirs.
        own_rest = own.get("embedding", {})
        yield from _of_embedding(EmbeddingConfig.model_validate({**own_rest, **guarded["embedding"]}))
    if reranker := guarded.get("search", {}).get("reranker"):
        yield f"load the reranking model {_json(reranker)}, from a folder or by downloading it"
    if patterns := guarded.get("index", {}).get("include_credentials"):
        yield f"index files of credentials, by {count(len(patterns), 'pattern')}"
    if keys := guarded.get("tui", {}).get("keys"):
        yield f"change keys of the application: {count(len(keys), 'command')}"
    if guarded.get("agents", {}).get("record"):
        yield "keep your prompts and what agents do in this project's journal"


def _host(url: str) -> str:
    """Return whom a URL reaches, as the client reads it: what stands before an @ may look like another host."""
    # Late: only who is asked about an endpoint pays for the client.
    import httpx

    try:
        read = httpx.URL(url)
    except httpx.InvalidURL:
        return "an invalid address"
    port = f":{read.port}" if read.port else ""
    return f"{read.raw_host.decode('ascii', 'backslashreplace') or 'no host'}{port}"


def _of_embedding(asked: EmbeddingConfig) -> Iterator[str]:
    endpoint = endpoint_of(asked)
    fallback = fallback_of(asked)
    if endpoint is not None:
        yield from _of_endpoint(endpoint, "")
        if asked.batch.enabled:
            yield "also send it in batches: as files that stay there until they are done"
    elif asked.provider == "fastembed":
        where = f"from {_json(asked.path)}" if asked.path else "by downloading it"
        yield f"load the embedding model {_json(asked.model)} {where}"
    elif fallback is None:
        yield "change the embedding model's settings, for when an endpoint or another model is chosen"
    other = endpoint_of(fallback) if fallback is not None else None
    if other is not None:
        yield from _of_endpoint(other, ", whenever the model before it fails")


def _of_endpoint(endpoint: Endpoint, when: str) -> Iterator[str]:
    yield f"send its code, piece by piece, and your questions to {_host(endpoint.base_url)}{when}"
    if endpoint.key_variable:
        there = "which is set" if endpoint.key else "which is not set now"
        yield f"send the value of your environment variable {_json(endpoint.key_variable)}, {there}"
    else:
        yield "send a key from its file"
    if endpoint.headers:
        yield f"send {count(len(endpoint.headers), 'header')}"
