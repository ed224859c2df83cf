"""The trust boundary: which settings a repository may bring, and which wait until a person trusts them.

A repository is a stranger. What only changes how its own code is found counts at once. What sends data, names an
endpoint, a key, a model file, a command or keys, or loosens what is kept back, waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Rule = Literal["counts", "trust", "user"]
"""`counts`: at once. `trust`: after a person trusted it. `user`: never; it is read from the user's settings alone."""

RULES: Mapping[str, Rule] = {
    "index.include": "counts",  # credential files stay out all the same: see `IndexConfig.untrusted_include`
    "index.include_credentials": "trust",
    "index.untrusted_include": "user",
    "index.exclude": "counts",
    "index.max_file_bytes": "counts",
    "index.workers": "counts",
    # What names the model hangs together: half of it would be another model.
    "embedding.provider": "trust",
    "embedding.fallback": "trust",
    "embedding.model": "trust",
    "embedding.path": "trust",
    "embedding.model_file": "trust",
    "embedding.pooling": "trust",
    "embedding.dimensions": "trust",
    "embedding.base_url": "trust",
    "embedding.api_key": "trust",
    "embedding.api_key_env": "trust",
    "embedding.headers": "trust",
    "embedding.remote": "trust",
    "embedding.batch": "trust",  # files that stay with the provider for a while
    "embedding.batch_size": "counts",
    "embedding.timeout_seconds": "counts",
    "embedding.concurrency": "counts",
    "embedding.cache_entries": "counts",
    "search.profile": "counts",
    "search.reranker": "trust",
    "agents.budget": "counts",
    "agents.wait_seconds": "counts",
    "agents.start_budget": "counts",
    "agents.flush": "counts",
    "agents.window": "user",
    "agents.reserve_tokens": "user",
    "agents.soft_tokens": "user",
    "agents.record": "trust",
    "memory.follow_transcripts": "trust",
    "memory.never_record": "user",
    # They may be anywhere on disk, and agents can search their content.
    "memory.note_folders": "user",
    # Only the user decides what writes into the memory unasked, and where its text is sent.
    "narrator.auto": "user",
    "narrator.min_confidence": "user",
    "narrator.policy": "user",
    "narrator.approve": "user",
    "narrator.model": "user",
    "context.budget": "counts",
    "context.timeout_seconds": "counts",
    "context.cache_seconds": "counts",
    # What is kept on this machine, what runs and where words are sent, is the user's alone to say.
    "context.snapshots": "user",
    "context.ingest": "user",
    "context.processors": "user",
    "context.model": "user",
    "daemon.use": "user",
    "daemon.port": "user",
    "daemon.idle_seconds": "user",
    "daemon.project_idle_seconds": "user",
    "daemon.wait_seconds": "user",
    "watch.enabled": "counts",
    "watch.debounce_seconds": "counts",
    "watch.polling": "counts",
    "history.enabled": "counts",
    "history.depth": "counts",
    "mcp.roots": "user",
    "tui.theme": "counts",
    "tui.keys": "trust",
    "profiles": "counts",
}
"""Every setting; a new one has to be placed here before anything reads it."""

HARMLESS: Mapping[str, tuple[Any, ...]] = {
    "embedding.provider": ("bundled", "none"),
    "embedding.fallback": ("bundled", "none"),
    "agents.record": (False,),
    "memory.follow_transcripts": (False,),
}
"""Values of guarded settings that ask for less than there is: they count at once, below the user's own."""

Settings = Mapping[str, Mapping[str, Any]]


def _together(own: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *theirs)))


def _less_history(own: int, theirs: int) -> int:
    """Return the depth that reads less; 0 stands for all."""
    return min(own or theirs, theirs or own)


COMBINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "index.include": _together,
    "index.exclude": _together,
    "index.max_file_bytes": min,
    "agents.budget": min,
    "agents.wait_seconds": min,
    "agents.start_budget": min,
    "agents.flush": min,
    "context.budget": min,
    "context.timeout_seconds": min,
    "context.cache_seconds": min,
    "watch.enabled": min,
    "history.enabled": min,
    "history.depth": _less_history,
}
"""What counts where the person set such a value too: patterns of both, and of two limits the lower one."""


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
            combine = COMBINED.get(f"{section}.{name}")
            mine = own.get(section, {}).get(name)
            counts.setdefault(section, {})[name] = value if combine is None or mine is None else combine(mine, value)
        elif section not in kept:
            place = harmless if value in HARMLESS.get(f"{section}.{name}", ()) else guarded
            place.setdefault(section, {})[name] = value
    return RepositorySettings(counts, harmless, guarded, tuple(ignored))


def rule_of(section: str, name: str) -> Rule:
    """Return what becomes of a repository's setting; one that was not placed waits for trust."""
    return RULES.get(f"{section}.{name}", RULES.get(section, "trust"))


def _each(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for section, settings in values.items():
        if isinstance(settings, Mapping):
            for name, value in settings.items():
                yield section, name, value
