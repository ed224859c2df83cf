"""A language model's second look at facts: better wordings, duplicates, contradictions of known facts.

Its input is facts and their evidence, and nothing is accepted from its responses that is not in them.

Requests to a language model: facts without a response, several in one request.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cm_tui.config.sections import NarratorModelConfig
from cm_tui.counts import count
from cm_tui.engine.memory.narrator.model import guards
from cm_tui.engine.memory.narrator.model.answers import Kept, Task, episodes_of, plain, prompt
from cm_tui.engine.memory.narrator.model.chat import Chat, tokens_of
from cm_tui.engine.memory.narrator.tables import WORDED
from cm_tui.errors import CmError
from cm_tui.model import Cancel, Evidence, ModelCost, NarratedProposal


def estimate(asked: Iterable[Request], config: NarratorModelConfig) -> ModelCost:
    """Return what requests would take at most; nothing is sent."""
    return ModelCost(config.name, sum(one.tokens for one in asked), config.max_tokens)


def assist(
    asked: Sequence[Request],
    config: NarratorModelConfig,
    kept: Kept,
    cancel: Cancel,
    is_allowed: Callable[[], bool] = lambda: True,
) -> ModelCost:
    """Request wordings, duplicates and contradictions, and store what is accepted; failures are skipped.

    `kept`: earlier and new responses. `cancel`: checked between requests. `is_allowed`: called before each request;
    False: nothing is sent any more.
    """
    cost = estimate(asked, config)
    if not asked:
        return cost
    notes, refused = dict[str, None](), Counter[str]()
    try:
        chat = Chat(config, is_allowed)
        for request in asked:
            cancel.check()
            if cost.used + request.tokens > cost.ceiling:
                notes[f"the ceiling of {cost.ceiling:,} tokens was reached: the rest was done without the model"] = None
                break
            answer = chat.ask(request.system, request.user, request.response_tokens)
            cost = replace(cost, used=cost.used + answer.tokens, calls=cost.calls + 1)
            found = guards.object_in(answer.text)
            for one, parts in _accepted(request, found, kept, refused) if found else ():
                kept.put(request.task, one, parts)
            if not found:
                notes[f"{config.name} answered {request.task} with invalid JSON: skipped"] = None
    except CmError as error:
        if cancel.is_set:
            raise
        notes[f"{error.message} The rest was done without the model."] = None
    rejected = [f"{count(times, 'wording')} of the model rejected: {problem}" for problem, times in (+refused).items()]
    return replace(cost, notes=(*notes, *rejected))


def same_ids(proposals: Sequence[NarratedProposal], kept: Kept) -> list[tuple[str, ...]]:
    """Return groups of equivalent ids by earlier responses, in the given order; each id is in one group."""
    worded = [one for one in proposals if one.kind in WORDED]
    named = {kept.name("merge", one): one for one in worded}
    grouped: set[str] = set()
    groups = []
    for one in worded:
        others = [other for name in kept.same(one) if (other := named.get(name)) is not None]
        ids = [
            other.id for other in others if other.id != one.id and other.id not in grouped and _may_merge(one, other)
        ]
        if ids and one.id not in grouped:
            group = {one.id, *ids}
            grouped |= group
            groups.append(tuple(other.id for other in worded if other.id in group))
    return groups


def _may_merge(one: NarratedProposal, other: NarratedProposal) -> bool:
    """Return whether proposals may be one: with the same place, sense, names and decision."""
    return (one.scope, one.action, one.state) == (other.scope, other.action, other.state) and guards.same_facts(
        plain(one.text), plain(other.text)
    )


# --- accepted parts of a response ---


def _accepted(
    request: Request, answer: dict[str, Any], kept: Kept, refused: Counter[str]
) -> Iterator[tuple[NarratedProposal, Mapping[str, Any]]]:
    """Yield the accepted parts of a response for each fact; what was rejected is counted by reason."""
    by_id = {one.id: one for one in request.facts}
    if request.task == "phrase":
        texts = guards.values_in(answer, "text")
        refused["a fact that was not given"] += len(texts.keys() - by_id.keys())
        for id_, one in by_id.items():
            text = _wording(one, texts[id_], refused) if id_ in texts else ""
            yield one, {"text": text, "episodes": [found.episode for found in quoted(one)] if text else []}
    elif request.task == "merge":
        groups = guards.groups_in(answer, by_id)
        for id_, one in by_id.items():
            others = next((group for group in groups if id_ in group), [id_])
            names = {kept.name("merge", by_id[other]) for other in others if other != id_}
            yield one, {"same": sorted(kept.same(one) | names)}
    else:
        relations = guards.values_in(answer, "relation")
        for id_, one in by_id.items():
            yield one, {"relation": relations[id_] if relations.get(id_) in ("same", "contradicts") else ""}


def _wording(one: NarratedProposal, text: object, refused: Counter[str]) -> str:
    """Return a valid wording of a fact; empty: keep its own."""
    problem = guards.problem_of(text, plain(one.text), said(one))
    if problem:
        refused[problem] += 1
    return "" if problem or not isinstance(text, str) else text.strip()


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
    def response_tokens(self) -> int:
        """Return how many tokens the answer may have."""
        return 100 + _OUT_TOKENS * len(self.facts)

    @property
    def tokens(self) -> int:
        """Return how many tokens it takes at most, with its answer."""
        return tokens_of(self.system) + tokens_of(self.user) + self.response_tokens

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
    yield from _in_tens("phrase", [one for one in worded if quoted(one) and not kept.get("phrase", one)])
    yield from _compared(worded, [one for one in worded if not kept.get("merge", one)])
    beside = [one for one in worded if one.other and one.relation != "redundant"]
    yield from _in_tens("contradict", [one for one in beside if not kept.get("contradict", one)])


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
