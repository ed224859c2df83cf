"""Records of the narrator: what it proposes to write down, on what evidence, and what a person decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.model.entry import Scope
from cm_tui.model.episode import Actor

FactKind = Literal[
    "command", "workflow", "fix", "statement", "decision", "rejected", "correction", "cochange", "convention",
    "stale", "topic", "size",
]  # fmt: skip
"""What a proposal was made of: `rejected` an alternative that was turned down, `stale` something written down that the code
contradicts, `topic` the lifecycle of topics, `size` a note that nears its size cap."""
NarratedState = Literal["waiting", "deferred", "approved", "rejected"]
Relation = Literal["new", "reinforces", "contradicts", "redundant"]
"""How it stands to what is known: `reinforces`: the same is written down, and happened again; `redundant`: the same is
written down, word for word or nearly."""
NarratedAction = Literal["add", "replace", "remove", "merge", "split", "retire", "create", "compress"]
"""What approving does: the first three to a line of a note, the others to topics or to a whole note."""
LINE_ACTIONS = frozenset({"add", "replace", "remove"})
Verdict = Literal["approve", "reject", "defer"]
TopicAction = Literal["create", "merge", "split", "retire", "restore"]


@dataclass(frozen=True, slots=True)
class ConfidencePart:
    """One named share of a confidence; the product of all is the confidence."""

    name: str
    value: float
    """From 0 to 1."""
    words: str
    """What it was counted from, for people: `3 of 3 sessions say so`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An episode that a proposal stands on."""

    episode: str
    time: float
    """When it ended: seconds since the epoch."""
    session: str
    actor: Actor
    quote: str
    """The words, or the command, that say it; empty where the episode was forgotten or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NarratedProposal:
    """Something that the narrator, or an agent, proposes to write down.

    Texts come from people and agents: they may hold control characters. What looked like a secret was taken out.
    """

    id: str
    kind: FactKind
    action: NarratedAction
    text: str
    """What it would write: one line of Markdown, without the mark of a list. Of topics: what would be done."""
    scope: Literal["user", "project", "topic"]
    target: str
    """Id of the note that it would change."""
    why: str = ""
    """In one sentence, on what it stands."""
    heading: str = ""
    """Of the section that the line would stand in."""
    relation: Relation = "new"
    other: str = ""
    """What is known already and stands beside it; empty: nothing."""
    other_place: str = ""
    """Where that stands: a note's id and line, or an entry's id."""
    support: int = 0
    """Episodes that say it."""
    sessions: int = 0
    """Distinct sessions among them."""
    first: float = 0.0
    """Time of the earliest of them: seconds since the epoch."""
    last: float = 0.0
    confidence: float = 0.0
    parts: tuple[ConfidencePart, ...] = ()
    state: NarratedState = "waiting"
    digest: str = ""
    """Names what approving would do now: `ID@DIGEST` decides only on what was shown."""
    as_rule: bool = False
    """It says what is to be done or left: it can be approved as a Rule, an entry that is published to instruction files."""
    old: str = ""
    """The line that would be replaced or removed."""
    topics: tuple[str, ...] = ()
    """Ids of the topics that it is about."""
    tags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """The newest of them; empty in lists."""
    evidence_ids: tuple[str, ...] = ()
    diff: str = ""
    """Unified, of the Markdown as its file has it now; empty in lists."""
    problem: str = ""
    """Why it cannot be approved as it is, such as a target that may not be written; empty: it can."""
    reason: str = ""
    """What was said with the decision."""
    decided: float | None = None
    """When it was decided: seconds since the epoch."""
    decided_by: str = ""
    """`person`, or `policy NAME`; empty: undecided."""
    change: str = ""
    """Id of the approval's change, for undo."""
    proposed_by: str = ""
    """Name of the agent that proposed it; empty: the narrator found it."""
    claims: tuple[str, ...] = ()
    """Digests of all wordings that count as this one: once it was rejected, none of them is proposed again."""
    phrased_by: str = ""
    """Name of the model that phrased it; empty: none."""

    @property
    def is_line(self) -> bool:
        """Return whether it is about a line of a note."""
        return self.action in LINE_ACTIONS


@dataclass(frozen=True, slots=True)
class NarratedFilter:
    """Which proposals are wanted: those that fit everything that is given."""

    states: tuple[NarratedState, ...] = ("waiting",)
    kinds: tuple[FactKind, ...] = ()
    text: str = ""
    """Words, each of which stands in text, reason, target or heading."""
    policy: bool | None = None
    """True: only those that a policy approved."""


@dataclass(frozen=True, slots=True)
class NarratedDecision:
    """What a person decides on a proposal."""

    verdict: Verdict
    reason: str = ""
    """Remembered; of a rejection, so that the same is not proposed again without it."""
    text: str | None = None
    """What is to be written instead of the proposal's text."""
    as_rule: bool = False
    """Write it as an approved Rule, an entry, instead of a line of a note."""
    target: str | None = None
    """Another note to write it into."""


@dataclass(frozen=True, slots=True)
class NarratedChange:
    """A decision that was made or undone, or that failed."""

    id: str
    """Of the proposal, or of the topic."""
    words: str
    """What was done, for people."""
    change: str = ""
    """Id of the change; empty: nothing was written."""
    done: bool = True
    problem: str = ""
    """Why it was not done: the proposal stays as it was."""
    hint: str = ""
    """What to do about that."""
    proposal: NarratedProposal | None = None
    """As it is now."""


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What a language model takes for a pass, in tokens."""

    model: str = ""
    """Empty: none is used."""
    estimated: int = 0
    ceiling: int = 0
    used: int = 0
    calls: int = 0
    notes: tuple[str, ...] = ()
    """What failed, and what was done without it."""


@dataclass(frozen=True, slots=True)
class NarratorReport:
    """What a pass of the narrator did, or would do."""

    dry_run: bool
    episodes: int
    """That were read in this pass."""
    observations: int
    """That were taken down of them."""
    proposed: int
    """Proposals that are new."""
    changed: int
    """Proposals that stood already, and say or count something else now."""
    withdrawn: int
    """Proposals that their evidence no longer carries."""
    waiting: int
    """All that wait for a person."""
    approved: tuple[str, ...] = ()
    """Ids of those that the policy approved."""
    seconds: float = 0.0
    cost: ModelCost = ModelCost()
    notes: tuple[str, ...] = ()
    proposals: tuple[NarratedProposal, ...] = ()
    """The first of those that are new."""


@dataclass(frozen=True, slots=True)
class TopicOverlap:
    """Another topic with which one shares tags."""

    id: str
    share: float
    """Tags that both have, as a share of those that either has."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A note about one subject, and how it fares."""

    id: str
    """Of the note."""
    title: str
    scope: Scope
    tags: tuple[str, ...]
    bytes: int
    cap_bytes: int
    lines: int
    modified: float
    retired: bool = False
    came_along: bool = False
    overlaps: tuple[TopicOverlap, ...] = ()
    """Most first."""
    tags_derived: bool = False
    """True when the tags are derived from headings and words because none were given."""
    used: float | None = None
    """When it was recalled last, seconds since the epoch; None: never, as far as is known."""
    advice: tuple[str, ...] = ()
    """What its lifecycle suggests, in words: `merge with …`, `split: 31 of 32 KB`, `retire: unused for 190 days`."""

    @property
    def size(self) -> str:
        """Return its size and its cap."""
        return f"{-(-self.bytes // 1024):,} of {self.cap_bytes // 1024:,} KB"


@dataclass(frozen=True, slots=True)
class TopicMap:
    """The topics of a project and of its user, and the notes that have a size cap besides."""

    topics: tuple[Topic, ...]
    notes: tuple[Topic, ...] = ()
    """Notes of the user and of the project that the narrator writes into."""
