"""A language model's part in proposals: requested in a pass, kept in the store, applied whenever they are listed.

A dry run requests nothing: it only reports what a pass would cost. Nothing is sent while recording is paused. Failures
are reported, and the proposals stay in the miners' own words.

Responses are stored with the tables that are derived from the journal, through all passes and decisions; rebuilding the
store, as after an erasure, drops them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.engine.memory.narrator.decisions import object_in
from cm_tui.engine.memory.narrator.model import assist
from cm_tui.engine.memory.narrator.model.answers import Kept, texts
from cm_tui.engine.memory.narrator.tables import VISIBLE, WORDED, NarratorTables
from cm_tui.model import Cancel, Evidence, ModelCost, NarratedProposal, Relation

EvidenceOf = Callable[[NarratedProposal], tuple[Evidence, ...]]
"""Returns the newest evidence of a proposal, with its quotes."""
_MOST_ANSWERS = 20_000
"""Most of them to keep, the newest."""
_MOST_EPISODES = 200
_RELATIONS: dict[str, Relation] = {"same": "redundant", "contradicts": "contradicts"}
"""Relations by what a model answers; anything else changes nothing."""
_MOST_READ = 300
"""Most facts to phrase in one pass, the surest first: more would exceed any usual ceiling."""


class StoredResponses(dict[str, str]):
    """Responses of language models in the store: read once, each written in a separate transaction."""

    def __init__(self, tables: NarratorTables) -> None:
        super().__init__(tables.rows("SELECT digest, answer FROM narrator_phrasing ORDER BY rowid"))
        self._tables = tables

    def __setitem__(self, name: str, answer: str) -> None:
        with self._tables.writing():
            self._tables.cursor.execute("DELETE FROM narrator_phrasing WHERE digest = ?", [name])
            self._tables.cursor.execute("INSERT INTO narrator_phrasing VALUES (?, ?)", [name, answer])
        super().__setitem__(name, answer)

    def drop(self, names: Collection[str]) -> None:
        """Remove answers. Raises StoreError if the store cannot be written."""
        with self._tables.writing():
            sql = "DELETE FROM narrator_phrasing WHERE digest IN (SELECT unnest(?::VARCHAR[]))"
            self._tables.cursor.execute(sql, [list(names)])
        for name in names:
            del self[name]


class Phrasing:
    """The language model's part in the proposals of a project.

    `tables`: of the narrator, with the responses. `config`: returns the current settings. `evidence`: returns the
    evidence of a proposal without any. `why_not`: returns why nothing may be sent now, such as `recording is paused`;
    empty: it may.
    """

    def __init__(
        self,
        tables: NarratorTables,
        config: Callable[[], Config],
        evidence: EvidenceOf,
        why_not: Callable[[], str] = lambda: "",
    ) -> None:
        self._tables = tables
        self._config = config
        self._evidence = evidence
        self._why_not = why_not

    def stamp(self) -> str:
        """Return a change stamp of the results of `applied`."""
        model = self._config().narrator.model
        if not model.enabled:
            return ""
        kept = self._tables.rows("SELECT count(*), bit_xor(hash(digest, answer)) FROM narrator_phrasing")
        return f"{model.name} {kept[0]}"

    def estimate(self, proposals: Sequence[NarratedProposal]) -> ModelCost:
        """Return what `run` would take at most; nothing is sent. `proposals`: in the words of the miners."""
        model = self._config().narrator.model
        if not model.enabled:
            return ModelCost()
        cost = assist.estimate(self._requests(proposals, Kept(model.name, StoredResponses(self._tables))), model)
        reason = self._why_not()
        return replace(cost, notes=(_nothing(reason, model.name),)) if reason and cost.estimated else cost

    def run(self, proposals: Sequence[NarratedProposal], cancel: Cancel) -> ModelCost:
        """Request what is missing; return the cost, and messages for the user.

        `proposals`: the waiting ones in the miners' words, the surest first. `cancel`: checked between requests;
        finished responses are kept. Raises CancelledError if it was cancelled; StoreError if the responses cannot be
        read.
        """
        model = self._config().narrator.model
        if not model.enabled:
            return ModelCost()
        if reason := self._why_not():
            return self.estimate(proposals)
        answers = StoredResponses(self._tables)
        self._drop_outdated(answers)
        kept = Kept(model.name, answers)
        cost = assist.assist(
            self._requests(proposals, kept), model, kept, cancel,
            lambda: not self._why_not() and self._config().narrator.model == model,
        )  # fmt: skip
        if (reason := self._why_not()) and cost.notes:
            cost = replace(cost, notes=(*cost.notes, _nothing(reason, model.name)))
        return cost

    def applied(self, proposals: Sequence[NarratedProposal]) -> list[tuple[NarratedProposal, tuple[str, ...]]]:
        """Return proposals with the responses applied, each with the ids of duplicates that were merged into it.

        Ids are unchanged. The input of digests may change: compute them afterwards. `proposals`: in the miners' words,
        the surest first.
        """
        model = self._config().narrator.model
        if not model.enabled:
            return [(one, ()) for one in proposals]
        kept = Kept(model.name, StoredResponses(self._tables))
        by_id = {one.id: one for one in proposals}
        others = {ids[0]: ids[1:] for ids in assist.same_ids(proposals, kept)}
        gone = {id_ for ids in others.values() for id_ in ids}
        return [
            (_merged(_with_words(one, kept, model.name), [by_id[id_] for id_ in ids]), ids)
            for one in proposals
            if one.id not in gone
            for ids in [others.get(one.id, ())]
        ]

    # --- parts ---

    def _requests(self, proposals: Sequence[NarratedProposal], kept: Kept) -> list[assist.Request]:
        """Return what is missing; the evidence is read only of those to be phrased."""
        worded = [one for one in proposals if one.kind in WORDED]
        unread = [one.id for one in worded if not one.evidence and not kept.get("phrase", one)]
        read = set(unread[:_MOST_READ])
        return list(
            assist.requests(
                [replace(one, evidence=self._evidence(one)) if one.id in read else one for one in worded], kept
            )
        )

    def _drop_outdated(self, answers: StoredResponses) -> None:
        """Remove words of episodes that are no longer visible, and the oldest of too many responses."""
        seen = {name: set(texts(object_in(answer), "episodes")) for name, answer in answers.items()}
        every = sorted({id_ for ids in seen.values() for id_ in ids})
        sql = f"SELECT id FROM episode WHERE {VISIBLE} AND id IN (SELECT unnest(?::VARCHAR[]))"  # noqa: S608 - our own words
        visible = {row[0] for row in self._tables.rows(sql, [every])}
        old = list(answers)[: max(0, len(answers) - _MOST_ANSWERS)]
        if gone := dict.fromkeys([*(name for name, ids in seen.items() if not visible.issuperset(ids)), *old]):
            answers.drop(gone)


def _nothing(reason: str, model: str) -> str:
    return f"{reason}: nothing is sent to {model}"


def _with_words(one: NarratedProposal, kept: Kept, model: str) -> NarratedProposal:
    """Return a proposal in a model's words, and with the model's relation to the known fact next to it."""
    if one.kind not in WORDED:
        return one
    relation, said = one.relation, kept.text("contradict", one, "relation") if one.other else ""
    if relation != "contradicts" and said in _RELATIONS:
        # A model cannot remove a contradiction.
        relation = _RELATIONS[said]
    one, text = replace(one, relation=relation), kept.text("phrase", one, "text")
    return one if text in ("", one.text) else replace(one, text=text, phrased_by=model)


def _merged(one: NarratedProposal, others: Sequence[NarratedProposal]) -> NarratedProposal:
    """Return a proposal with the evidence of equivalent ones; its confidence is unchanged."""
    if not others:
        return one
    every = (one, *others)
    ids = list(dict.fromkeys(id_ for each in every for id_ in each.evidence_ids))
    # For named ones it is known which are the same.
    twice = sum(len(each.evidence_ids) for each in every) - len(ids)
    support = sum(each.support for each in every) - twice
    more = support - one.support
    why = one.why.removesuffix(".") + (f"; in other words in {count(more, 'more episode')}." if more else ".")
    return replace(
        one,
        why=why if one.why else "",
        support=support,
        # Two may be of one session: so many there are at least.
        sessions=max(each.sessions for each in every),
        first=min(each.first for each in every),
        last=max(each.last for each in every),
        evidence_ids=tuple(ids[:_MOST_EPISODES]),
        claims=tuple(dict.fromkeys(claim for each in every for claim in each.claims)),
        tags=tuple(dict.fromkeys(tag for each in every for tag in each.tags)),
    )
