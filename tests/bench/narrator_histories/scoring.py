"""How proposals are judged: each against the truth of the history, one to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cm_tui.model import NarratedProposal
from tests import planted
from tests.bench.narrator_histories.bank import SAID, Fact, Trap, Wanted, plain
from tests.bench.narrator_histories.history import History

_LONGEST = 300
"""Characters of a line that somebody would want in their notes."""
_SHORTEST_TASK = 16
_KINDS = {
    "command": ("command", *SAID),
    "workflow": ("workflow",),
    "fix": ("fix",),
    "cochange": ("cochange",),
    "convention": ("convention",),
    **dict.fromkeys(SAID, SAID),
}
"""Kinds of proposals that a fact of a kind may come as."""
_NOT_FACTS = ("topic", "size", "stale")


@dataclass
class Judged:
    """A proposal, and what it is."""

    proposal: NarratedProposal
    verdict: str
    """`right`, `repeat`, `trap`, `carries`, `long`, `leak`, `unknown`; or `incidental`, which is not counted."""
    about: str = ""
    """Id of the fact or of the trap."""

    @property
    def is_wrong(self) -> bool:
        """Return whether it counts against the narrator."""
        return self.verdict not in {"right", "incidental"}


@dataclass
class Score:
    """What came of one history."""

    seed: int
    ecosystem: str
    episodes: int
    facts: Sequence[Fact]
    judged: list[Judged]
    seconds: float = 0.0
    approved: dict[str, list[Judged]] = field(default_factory=dict)
    """By policy: what it approved."""

    @property
    def counts(self) -> Counter[str]:
        """Return how many proposals there are of each verdict."""
        return Counter(item.verdict for item in self.judged)

    @property
    def precision(self) -> float:
        """Return the share of right proposals among those that count."""
        counted = sum(item.verdict != "incidental" for item in self.judged)
        return self.counts["right"] / counted if counted else 0.0

    @property
    def recall(self) -> float:
        """Return the share of facts that were proposed."""
        return self.counts["right"] / len(self.facts)

    @property
    def scope_share(self) -> float:
        """Return the share of right proposals that go to the user or to the project as they should."""
        scopes = {fact.id: fact.scope for fact in self.facts}
        right = [item for item in self.judged if item.verdict == "right"]
        fitting = sum((item.proposal.scope == "user") == (scopes[item.about] == "user") for item in right)
        return fitting / len(right) if right else 0.0

    @property
    def missed(self) -> list[Fact]:
        """Return the facts that were not proposed."""
        found = {item.about for item in self.judged if item.verdict == "right"}
        return [fact for fact in self.facts if fact.id not in found]

    def per_kind(self) -> dict[str, tuple[int, int, int]]:
        """Return for each kind of fact how many were found, of how many, and how many proposals of that kind are wrong."""
        kinds = {fact.id: fact.kind for fact in self.facts}
        found = Counter(kinds[item.about] for item in self.judged if item.verdict == "right")
        wrong = Counter(item.proposal.kind for item in self.judged if item.is_wrong)
        return {kind: (found[kind], count, wrong[kind]) for kind, count in Counter(kinds.values()).items()}

    def traps_approved(self) -> list[tuple[str, Judged]]:
        """Return what policies approved that is a trap, leaks a secret, or goes to the user."""
        bad = ("trap", "leak")
        return [
            (policy, item)
            for policy, items in self.approved.items() for item in items
            if item.verdict in bad or item.proposal.scope == "user" or item.proposal.relation == "contradicts"
        ]  # fmt: skip


def judge(history: History, proposals: Iterable[NarratedProposal]) -> list[Judged]:
    """Return what each proposal is; a fact counts once."""
    proposals = sorted(proposals, key=lambda proposal: -proposal.confidence)
    matches = _paired(proposals, history.facts)
    return [_judged(history, proposal, matches.get(number, "")) for number, proposal in enumerate(proposals)]


def fits(proposal: NarratedProposal, fact: Fact) -> bool:
    """Return whether a proposal says a fact."""
    return proposal.kind in _KINDS[fact.kind] and proposal.action != "remove" and fact.wanted.is_met(proposal.text)


def _paired(proposals: Sequence[NarratedProposal], facts: Sequence[Fact]) -> dict[int, str]:
    """Return as many pairs of proposals and facts as there can be, each of them in one pair only."""
    fitting = [[place for place, fact in enumerate(facts) if fits(proposal, fact)] for proposal in proposals]
    of_fact: dict[int, int] = {}

    def give(number: int, tried: set[int]) -> bool:
        for place in fitting[number]:
            if place not in tried:
                tried.add(place)
                if place not in of_fact or give(of_fact[place], tried):
                    of_fact[place] = number
                    return True
        return False

    for number in range(len(proposals)):
        give(number, set())
    return {number: facts[place].id for place, number in of_fact.items()}


def _judged(history: History, proposal: NarratedProposal, fact: str) -> Judged:
    text = plain(proposal.text)
    if planted.leaked(proposal.text) or any(planted.leaked(item.quote) for item in proposal.evidence):
        return Judged(proposal, "leak")
    if len(text) > _LONGEST or "<!--" in text:
        return Judged(proposal, "long")
    if any(len(task) >= _SHORTEST_TASK and plain(task) in text for task in history.tasks):
        return Judged(proposal, "carries", fact)
    return Judged(proposal, "right", fact) if fact else _wrong(history, proposal)


def _wrong(history: History, proposal: NarratedProposal) -> Judged:
    """Return why a proposal that is paired with no fact is wrong, or need not be counted."""
    if repeated := next((known.id for known in history.facts if fits(proposal, known)), ""):
        return Judged(proposal, "repeat", repeated)
    if trap := next((trap for trap in history.traps if _is_trap(proposal, trap)), None):
        both_sides = trap.type == "disagree" and proposal.relation == "contradicts"
        return Judged(proposal, "incidental" if both_sides else "trap", trap.id)
    inner = (Wanted((), "", (run,)) for run in history.incidental)
    is_inner = proposal.kind == "command" and any(wanted.is_met(proposal.text) for wanted in inner)
    return Judged(proposal, "incidental" if is_inner or proposal.kind in _NOT_FACTS else "unknown")


def _is_trap(proposal: NarratedProposal, trap: Trap) -> bool:
    return any(wanted.is_met(proposal.text) for wanted in trap.wanted)
