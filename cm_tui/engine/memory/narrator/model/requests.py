"""Requests to a language model: facts without a response, several in one request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cm_tui.engine.memory.narrator.model.answers import Kept, Task, episodes_of, plain
from cm_tui.engine.memory.narrator.model.cost import tokens_of
from cm_tui.engine.memory.narrator.model.prompts import prompt
from cm_tui.model import Evidence, NarratedProposal

WORDED = frozenset({"statement", "decision", "rejected", "correction"})
"""Kinds with the user's words: others are phrased by a pattern, and are equivalent only if equal."""
_ITEMS = 10
"""Of one request."""
_COMPARED = 40
"""Facts of one request that are compared with each other."""
_QUOTES = 3
_QUOTE_CHARACTERS = 300
_OUT_TOKENS = 70
"""Of an answer, for each item."""
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    task: Task
    facts: tuple[NarratedProposal, ...]

    @property
    def system(self) -> str:
        """Return the instruction."""
        return prompt(self.task)

    @property
    def user(self) -> str:
        """Return the input."""
        return json.dumps([self._item(one) for one in self.facts], ensure_ascii=False)

    @property
    def most_out(self) -> int:
        """Return how many tokens the answer may have."""
        return 100 + _OUT_TOKENS * len(self.facts)

    @property
    def tokens(self) -> int:
        """Return how many tokens it takes at most, with its answer."""
        return tokens_of(self.system) + tokens_of(self.user) + self.most_out

    def _item(self, one: NarratedProposal) -> Mapping[str, Any]:
        item: dict[str, Any] = {"id": one.id, "fact": plain(one.text)}
        if self.task == "phrase":
            item["said"] = said(one)
        elif self.task == "contradict":
            item["known"] = plain(one.other)
        return item


def requests(facts: Sequence[NarratedProposal], kept: Kept) -> Iterator[Request]:
    """Yield the requests for facts without a response.

    `facts`: with their evidence; those without a quote are not phrased. `kept`: earlier responses.
    """
    worded = [one for one in facts if one.kind in WORDED and episodes_of(one)]
    yield from _in_tens("phrase", [one for one in worded if quoted(one) and not kept.has("phrase", one)])
    yield from _compared(worded, [one for one in worded if not kept.has("merge", one)])
    beside = [one for one in worded if one.other and one.relation != "redundant"]
    yield from _in_tens("contradict", [one for one in beside if not kept.has("contradict", one)])


def said(one: NarratedProposal) -> list[str]:
    """Return the quotes of a fact that are sent."""
    return [_quote(found) for found in quoted(one)]


def quoted(one: NarratedProposal) -> list[Evidence]:
    """Return the evidence of a fact that is quoted: the newest, each quote once."""
    found: dict[str, Evidence] = {}
    for seen in one.evidence:
        if seen.quote:
            found.setdefault(_quote(seen), seen)
    return list(found.values())[:_QUOTES]


def _quote(seen: Evidence) -> str:
    return plain(seen.quote)[:_QUOTE_CHARACTERS]


def _in_tens(task: Task, facts: Sequence[NarratedProposal]) -> Iterator[Request]:
    for start in range(0, len(facts), _ITEMS):
        yield Request(task, tuple(facts[start : start + _ITEMS]))


def _compared(every: Sequence[NarratedProposal], new: Sequence[NarratedProposal]) -> Iterator[Request]:
    """Yield requests that compare each new fact with the others: of many, with those with common words."""
    if len(every) <= _COMPARED:
        if new and len(every) > 1:
            yield Request("merge", tuple(every))
        return
    words = {one.id: frozenset(_WORD.findall(one.text.lower())) for one in every}
    for start in range(0, len(new), _COMPARED // 2):
        some = new[start : start + _COMPARED // 2]
        about = frozenset().union(*(words[one.id] for one in some))
        ids = {one.id for one in some}
        near = sorted((one for one in every if one.id not in ids), key=lambda one: -len(words[one.id] & about))
        yield Request("merge", (*some, *near[: _COMPARED - len(some)]))
