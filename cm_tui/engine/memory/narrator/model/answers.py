"""Responses of a language model by fact, so that nothing is requested, and paid for, twice.

A response is keyed by a digest of the model, its prompt, and the fact as it was given; further quotes do not change the
key. It is stored as JSON with the accepted parts: `text` and the `episodes` whose words it may have, `relation`, or
`same`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources
from typing import Any, Literal

from cm_tui.engine.memory.narrator.decisions import object_in
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import NarratedProposal

Answers = MutableMapping[str, str]
"""Earlier responses by key."""
Task = Literal["phrase", "merge", "contradict"]


@cache
def prompt(task: Task) -> str:
    """Return the prompt for a task."""
    return (resources.files(__package__) / "prompts" / f"{task}.md").read_text(encoding="utf-8")


class Kept:
    """The answers of one model. `answers`: of all models."""

    def __init__(self, model: str, answers: Answers) -> None:
        self._model = model
        self._answers = answers

    def get(self, task: Task, one: NarratedProposal) -> Mapping[str, Any] | None:
        """Return the response to a task for a fact, which may have no accepted parts; None: missing."""
        found = object_in(self._answers.get(self.name(task, one), ""))
        # Words of an episode that is no longer evidence are requested again.
        return found if found and {*texts(found, "episodes")} <= episodes_of(one) else None

    def text(self, task: Task, one: NarratedProposal, name: str) -> str:
        """Return a text in the response to a task for a fact; empty: missing."""
        found = (self.get(task, one) or {}).get(name)
        return found if isinstance(found, str) else ""

    def put(self, task: Task, one: NarratedProposal, found: Mapping[str, Any]) -> None:
        """Store the accepted parts of a response."""
        self._answers[self.name(task, one)] = json.dumps(found)

    def same(self, one: NarratedProposal) -> frozenset[str]:
        """Return the names of the equivalent facts."""
        return frozenset(texts(self.get("merge", one) or {}, "same"))

    def name(self, task: Task, one: NarratedProposal) -> str:
        """Return what names the answer to a task for a fact."""
        given = (plain(one.text), plain(one.other) if task == "contradict" else one.id)
        text = json.dumps((task, self._model, prompt(task), one.scope, *given))
        return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def texts(found: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the texts in a list of a response."""
    listed = found.get(name)
    yield from (one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()


def episodes_of(one: NarratedProposal) -> set[str]:
    """Return the ids of a fact's evidence."""
    return {*one.evidence_ids, *(seen.episode for seen in one.evidence)}


@lru_cache(maxsize=1 << 12)
def plain(text: str) -> str:
    """Return a text as it may be sent: once more without what looks like a secret."""
    return redact(text).text
