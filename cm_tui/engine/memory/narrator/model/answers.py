"""Responses of a language model by fact, so that nothing is requested, and paid for, twice.

A response is keyed by a digest of the model, its prompt, and the fact as it was given; further quotes do not change the
key. It is stored as JSON with the accepted parts: `text` and the `episodes` whose words it may have, `relation`, or
`same`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal

from cm_tui.engine.memory.narrator.model.prompts import prompt
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import NarratedProposal

Answers = MutableMapping[str, str]
"""Earlier responses by key."""
Task = Literal["phrase", "merge", "contradict"]


class Kept:
    """The answers of one model. `answers`: of all models."""

    def __init__(self, model: str, answers: Answers) -> None:
        self._model = model
        self._answers = answers

    # --- reading ---

    def has(self, task: Task, one: NarratedProposal) -> bool:
        """Return whether there is a response, even one without accepted parts."""
        return self._found(task, one) is not None

    def text(self, one: NarratedProposal) -> str:
        """Return the words for a fact; empty: its own."""
        found = self._found("phrase", one) or {}
        text = found.get("text")
        return text if isinstance(text, str) else ""

    def relation(self, one: NarratedProposal) -> str:
        """Return how a fact relates to the known one next to it; empty: unknown."""
        found = (self._found("contradict", one) or {}).get("relation")
        return found if found in ("same", "contradicts") else ""

    def same(self, one: NarratedProposal) -> frozenset[str]:
        """Return the names of the equivalent facts."""
        return frozenset(_texts((self._found("merge", one) or {}).get("same")))

    # --- writing ---

    def keep_text(self, one: NarratedProposal, text: str, episodes: Sequence[str]) -> None:
        """Store the words for a fact.

        `text`: its words; empty: none were accepted. `episodes`: ids of the quoted ones.
        """
        self._keep("phrase", one, {"text": text, "episodes": list(episodes) if text else []})

    def keep_relation(self, one: NarratedProposal, relation: str) -> None:
        """Store a fact's relation to the known one next to it."""
        self._keep("contradict", one, {"relation": relation})

    def keep_same(self, one: NarratedProposal, others: Iterable[NarratedProposal]) -> None:
        """Store that facts are equivalent, in addition to known ones."""
        names = {self.name("merge", other) for other in others}
        self._keep("merge", one, {"same": sorted(self.same(one) | names)})

    def name(self, task: Task, one: NarratedProposal) -> str:
        """Return what names the answer to a task for a fact."""
        given = (plain(one.text), plain(one.other) if task == "contradict" else one.id)
        text = json.dumps((task, self._model, prompt(task), one.scope, *given))
        return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def _found(self, task: Task, one: NarratedProposal) -> Mapping[str, Any] | None:
        try:
            found = json.loads(self._answers[self.name(task, one)])
        except (KeyError, ValueError):
            return None
        if not isinstance(found, dict) or not {*episodes_in(found)} <= episodes_of(one):
            # Words of an episode that is no longer evidence are requested again.
            return None
        return found

    def _keep(self, task: Task, one: NarratedProposal, found: Mapping[str, Any]) -> None:
        self._answers[self.name(task, one)] = json.dumps(found)


def episodes_in(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the episodes whose words an answer may have."""
    return _texts(found.get("episodes"))


def episodes_of(one: NarratedProposal) -> set[str]:
    """Return the ids of a fact's evidence."""
    return {*one.evidence_ids, *(seen.episode for seen in one.evidence)}


@lru_cache(maxsize=1 << 12)
def plain(text: str) -> str:
    """Return a text as it may be sent: once more without what looks like a secret."""
    return redact(text).text


def _texts(found: object) -> tuple[str, ...]:
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()
