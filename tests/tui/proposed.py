"""A narrator whose proposals a test makes up: what the engine would answer, without an episode."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import (
    Cancel,
    ConfidencePart,
    Edited,
    Evidence,
    ModelCost,
    NarratedChange,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    NarratorReport,
    Page,
    Progress,
    Topic,
    TopicMap,
    TopicOverlap,
)

DAY = 86_400.0
NOTE = ".cm/notes/project.md"
_PATIENCE_S = 20
_AFTER = {"approve": "approved", "reject": "rejected", "defer": "deferred"}


def proposal(number: int = 1, text: str = "", *, now: float, **fields: Any) -> NarratedProposal:
    """Return a proposal; the higher its number, the less sure it is."""
    sure = max(0.5, 0.97 - number * 0.02)
    said = text or f"Run the tests of part {number} with `pytest -q tests/part_{number}`."
    id_ = fields.pop("id", f"n{number:06}")
    made = NarratedProposal(
        id=id_, kind="command", action="add", text=said, why="It was run in 3 sessions, and ended well each time.",
        scope="project", target=NOTE, heading="Commands", relation="new", other="", other_place="", support=4, sessions=3,
        first=now - 40 * DAY, last=now - 3 * DAY, confidence=sure,
        parts=(
            ConfidencePart("plainness", 1.0, "a command as it was typed"),
            ConfidencePart("support", 0.98, "4 episodes of 3 sessions"),
            ConfidencePart("agreement", sure / 0.98, "nothing says otherwise"),
        ),
        state="waiting", digest=f"d{number}", evidence_ids=(f"{number:013x}-ab",), claims=(f"c{number}",),
    )  # fmt: skip
    return replace(made, **fields)


def whole(one: NarratedProposal, *, now: float) -> NarratedProposal:
    """Return it with diff and evidence."""
    lines = [
        "--- .cm/notes/project.md",
        "+++ .cm/notes/project.md",
        "@@ -1,4 +1,5 @@",
        " # Project",
        " ",
        f" ## {one.heading}",
    ]
    lines += [f"-- {one.old}"] if one.old else []
    lines += [f"+- {one.text} <!-- cm:narrator {one.id} -->"] if one.action in ("add", "replace") else []
    evidence = tuple(
        Evidence(name, now - (place + 3) * DAY, f"s{place}", "agent", f"please {one.text.lower()}")
        for place, name in enumerate(one.evidence_ids)
    )
    return replace(one, diff=one.diff or "\n".join(lines), evidence=one.evidence or evidence)


class Teller(Engine):
    """An engine whose narrator proposes what a test gives it, and does what a person decides in memory alone."""

    told: dict[str, NarratedProposal]
    decided: list[tuple[tuple[str, ...], NarratedDecision]]
    undone: list[str]
    changes: list[tuple[str, tuple[str, ...], str, tuple[str, ...]]]
    topic_map: TopicMap
    cost_now: ModelCost
    busy: threading.Event
    """Decisions are done as long as it is set."""
    readable: threading.Event
    """Proposals are read whole as long as it is set."""
    now = staticmethod(time.time)

    @classmethod
    def over(cls, root: Path, proposals: Sequence[NarratedProposal] = (), **options: Any) -> Self:
        """Open the project of a test."""
        engine = cls.open(root, **options)
        engine.busy, engine.readable = threading.Event(), threading.Event()
        engine.propose(proposals)
        return engine

    def propose(self, proposals: Sequence[NarratedProposal]) -> None:
        """Propose these alone, as if nothing was ever decided."""
        self.told = {one.id: one for one in proposals}
        self.decided, self.undone, self.changes = [], [], []
        self.taken_back: dict[str, NarratedProposal] = {}
        self.busy.set()
        self.readable.set()
        self.topic_map, self.cost_now = TopicMap(()), ModelCost()

    def narrated(self, where: NarratedFilter | None = None, *, limit: int = 200) -> Page[NarratedProposal]:
        """Return what fits, the surest first."""
        where = where or NarratedFilter()
        rows = [
            one
            for one in self.told.values()
            if (not where.states or one.state in where.states)
            and (not where.kinds or one.kind in where.kinds)
            and (where.policy is None or one.decided_by.startswith("policy ") == where.policy)
            and all(word in f"{one.text} {one.target}".lower() for word in where.text.lower().split())
        ]
        rows.sort(key=lambda one: (-(one.decided or 0.0), -one.confidence, one.id))
        return Page(tuple(rows[:limit]), len(rows))

    def narrated_proposal(self, name: str) -> NarratedProposal:
        """Return one with diff and evidence."""
        self.readable.wait(_PATIENCE_S)
        if name not in self.told:
            raise NotFoundError(f"Proposal not found: {name}.", hint="It was withdrawn.")
        return whole(self.told[name], now=self.now())

    def decide_narrated(self, names: Sequence[str], decision: NarratedDecision) -> tuple[NarratedChange, ...]:
        """Decide on what was shown, and on nothing else."""
        self.busy.wait(_PATIENCE_S)
        self.decided.append((tuple(names), decision))
        return tuple(self._decide(name, decision) for name in names)

    def _decide(self, name: str, decision: NarratedDecision) -> NarratedChange:
        id_, _, digest = name.partition("@")
        one = self.told[id_]
        if one.state in ("approved", "rejected"):
            return NarratedChange(id_, "", done=False, problem=f"{id_} was {one.state}: `cm`", proposal=one)
        if digest != one.digest:
            return NarratedChange(id_, "", done=False, problem="Its note has changed since it was shown.", proposal=one)
        if one.problem and decision.verdict == "approve":
            return NarratedChange(id_, "", done=False, problem=one.problem, proposal=one)
        state = _AFTER[decision.verdict]
        made = replace(
            one, state=state, decided=self.now(), decided_by="person", reason=decision.reason,
            text=decision.text or one.text, target=decision.target or one.target,
        )  # fmt: skip
        self.told[id_] = made
        return NarratedChange(id_, f"{state} {id_}", change=f"ch-{id_}", proposal=made)

    def undo_narrated(self, name: str) -> NarratedChange:
        """Have it wait again."""
        if self.told[name].state == "waiting":
            raise UsageError(f"{name} is still waiting: there is no decision to undo.")
        self.undone.append(name)
        was, self.told[name] = self.told[name], replace(
            self.told[name], state="waiting", decided=None, decided_by="", reason=""
        )  # fmt: skip
        self.taken_back[f"ch-{name}"] = was
        return NarratedChange(name, f"{name} waits again", f"ch-{name}", proposal=self.told[name])

    def redo(self, change: str) -> Edited:
        """Decide as before."""
        was = self.taken_back.pop(change)
        self.told[was.id] = was
        return Edited(change, (was.id,), f"{was.state} {was.id}")

    def narrate(
        self, *, since: float | None = None, dry_run: bool = False, cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Propose one more."""
        del since
        for step in range(3):
            (cancel or Cancel()).check()
            yield Progress("read", step, 3)
        number = next(count for count in itertools.count(1) if f"n{count:06}" not in self.told)
        one = proposal(number, now=self.now())
        self.told[one.id] = one
        cost = replace(self.cost_now, used=321, calls=2) if self.cost_now.model else ModelCost()
        yield Progress("done", 1, 1, narrated=NarratorReport(dry_run, 12, 30, 1, 0, 0, len(self.told), cost=cost))

    def narrator_cost(self) -> ModelCost:
        """Return what a test says that it costs."""
        return self.cost_now

    def topics(self, *, retired: bool = False) -> TopicMap:
        """Return the topics of a test."""
        return replace(self.topic_map, topics=tuple(one for one in self.topic_map.topics if retired or not one.retired))

    def change_topics(
        self, action: Any, names: Sequence[str], *, title: str = "", tags: tuple[str, ...] = ()
    ) -> NarratedChange:
        """Note what is to be done; retired and restored are seen."""
        self.changes.append((action, tuple(names), title, tags))
        topics = tuple(
            replace(one, retired=action == "retire") if one.id in names and action in ("retire", "restore") else one
            for one in self.topic_map.topics
        )
        self.topic_map = replace(self.topic_map, topics=topics)
        return NarratedChange(names[0] if names else "new", f"{action} {', '.join(names)}", change="ch")


def made_up(now: float) -> list[NarratedProposal]:
    """Return proposals of every sort."""
    other = "The tests are run with `python -m unittest`."
    return [
        proposal(1, "Run the tests with `pytest -q`.", now=now, evidence_ids=("a1-aa", "a2-bb", "a3-cc")),
        proposal(
            2, "Never push to main on Fridays.", now=now, kind="statement", heading="Rules", as_rule=True,
            why="It was said in 4 sessions, the last time 2 days ago.", scope="user", target="user:preferences.md",
        ),
        proposal(
            3, "The tests are run with pytest, not with unittest.", now=now, kind="decision", heading="Decisions",
            relation="contradicts", other=other, other_place=f"{NOTE}:12", action="replace", old=other,
        ),
        proposal(
            4, "`ImportError: no module named yaml`: run `pip install -e .[dev]`.", now=now, kind="fix", heading="Fixes",
            relation="reinforces", other="A missing module is installed with `pip install -e .[dev]`.", other_place=f"{NOTE}:20",
        ),
        proposal(
            5, "`shop/cart.py` and `tests/test_cart.py` change together.", now=now, kind="cochange", support=9, sessions=6,
            heading="Changes together",
        ),
        proposal(
            6, "Do not use floats for prices.", now=now, kind="rejected", relation="redundant", heading="Decisions", as_rule=True,
            other="Prices are integers, in cents.", other_place="kmemo02", target=".cm/notes/topics/prices.md", scope="topic",
        ),
        proposal(
            7, "Merge the topic .cm/notes/topics/tax.md into .cm/notes/topics/prices.md.", now=now, kind="topic",
            action="merge", support=0, sessions=0, evidence_ids=(), why="3 of 4 tags are those of both (75%).", heading="",
        ),
    ]  # fmt: skip


def topics_made_up(now: float) -> TopicMap:
    """Return topics of every sort."""
    base = ".cm/notes/topics"
    prices = Topic(
        f"{base}/prices.md", "Prices", "project", ("money", "cents", "tax"), 29_800, 32_768, 412, now - 2 * DAY,
        overlaps=(TopicOverlap(f"{base}/tax.md", 0.75),), used=now - DAY,
        advice=(f"merge with {base}/tax.md: 75% of their tags are the same", "compress: 30 of 32 KB"),
    )  # fmt: skip
    tax = Topic(
        f"{base}/tax.md", "Tax", "project", ("money", "tax", "cents", "law"), 4_100, 32_768, 60, now - 9 * DAY,
        overlaps=(TopicOverlap(f"{base}/prices.md", 0.75),),
    )  # fmt: skip
    old = Topic(f"{base}/soap.md", "Soap", "project", ("soap",), 900, 32_768, 20, now - 400 * DAY, retired=True)
    mine = Topic(
        "user:topics/git.md", "Git", "user", ("git", "rebase"), 2_000, 32_768, 30, now - 20 * DAY, tags_derived=True
    )
    note = Topic(NOTE, "Project", "project", (), 12_000, 131_072, 200, now - DAY)
    return TopicMap((prices, tax, mine, old), (note,))
