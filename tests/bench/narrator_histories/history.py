"""A project's history: what was asked and done in its sessions, with facts planted in it, and traps."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import Step
from tests.bench.narrator_histories import traps as trap_planting
from tests.bench.narrator_histories.bank import SAID, Bank, Fact, Trap, later_of, runs_of
from tests.bench.narrator_histories.turns import Session, Turn
from tests.bench.narrator_histories.words import Words

COUNTS = {
    "statement": 21, "user": 6, "decision": 7, "rejected": 5, "correction": 7,
    "command": 10, "workflow": 4, "fix": 7, "cochange": 5, "convention": 4,
}  # fmt: skip
"""Facts of a history by kind; four more are decisions that took the place of earlier ones: 80 together."""
TRAP_COUNTS = {
    "one_off": 5, "task_order": 4, "question": 4, "reversed": 4, "own": 3, "secret": 2, "injection": 3, "disagree": 2,
    "failed": 2, "one_session": 2, "mass_edit": 1, "declined": 2, "pasted": 2, "quoted": 1, "sarcasm": 1, "gone": 1, "subagent": 1,
}  # fmt: skip
"""Traps of a history by type, 40 together."""
_DAY = 86_400.0


@dataclass
class History:
    """One project as it is put on disk, and the truth about it."""

    seed: int
    ecosystem: str
    files: dict[str, str]
    sessions: list[Session]
    facts: list[Fact]
    traps: list[Trap]
    incidental: list[str]
    """Commands that are shown again and again because a workflow or a fix takes them: true, and not counted."""
    tasks: list[str] = field(default_factory=list)
    """Orders that stand beside what was said, as sentences of their own: no proposal is to carry them."""
    secrets: list[str] = field(default_factory=list)

    def records(self, root: Path, now: float) -> list[tuple[EpisodeRecord, Turn]]:
        """Return the records of all episodes in the order in which they ended, the last one a day before now."""
        turns = [(session, turn, number) for session in self.sessions for number, turn in enumerate(session.turns, 1)]
        latest = max(turn.at for _, turn, _ in turns)
        made = [(turn.record(session, root, number, now - _DAY - latest), turn) for session, turn, number in turns]
        return sorted(made, key=lambda pair: pair[0].at or 0.0)


class Builder:
    """Makes one history.

    Args:
        bank: of facts and traps.
        seed: of everything that is drawn.
        episodes: how many ordinary turns there are; None: drawn.
    """

    def __init__(self, bank: Bank, seed: int, episodes: int | None = None) -> None:
        self.chance = random.Random(seed)
        self.bank = bank
        names = sorted(bank.ecosystems)
        # By turns, so that a few seeds see all of them.
        name = names[seed % len(names)]
        self.ecosystem: dict[str, Any] = bank.ecosystems[name]
        self.words = Words(self.chance, self.ecosystem, bank.words)
        self.history = History(seed, name, bank.words.get("files", {}) | self.ecosystem["files"], [], [], [], [])
        self._draw(name)
        count = episodes or self.chance.randrange(300, 520)
        self._sessions(count, self.chance.randrange(60, 121) if episodes is None else max(20, count // 5))

    # --- what is drawn ---

    def _draw(self, name: str) -> None:
        used: set[str] = set()
        for kind, count in TRAP_COUNTS.items():
            fitting = [trap for trap in self.bank.traps if trap.type == kind]
            self.history.traps += self._some(fitting, count, lambda trap: set(trap.groups), used, kind)
        self.history.facts += [later_of(trap) for trap in self.history.traps if trap.type == "reversed"]
        for kind, count in COUNTS.items():
            wanted = "statement" if kind == "user" else kind
            scope = "user" if kind == "user" else "project"
            fitting_facts = [
                fact for fact in self.bank.facts
                if fact.kind == wanted and fact.scope == scope and (not fact.ecosystems or name in fact.ecosystems)
            ]  # fmt: skip
            found = self._some(fitting_facts, count, lambda fact: {fact.group} - {""}, used, kind)
            self.history.facts += found

    def _some(
        self, items: list[Any], count: int, groups: Callable[[Any], set[str]], used: set[str], kind: str
    ) -> list[Any]:
        """Return some items, at most one of each group."""
        found: list[Any] = []
        for item in self.chance.sample(items, len(items)):
            if len(found) < count and not groups(item) & used:
                found.append(item)
                used |= groups(item)
        if len(found) < count and kind not in trap_planting.MADE:
            raise ValueError(f"the bank has too few of {kind}: {len(found)} of {count}")
        return found

    # --- ordinary work ---

    def _sessions(self, episodes: int, count: int) -> None:
        chance = self.chance
        days = chance.uniform(183, 365)
        starts = sorted(chance.uniform(0, days) for _ in range(count))
        cuts = sorted(chance.sample(range(1, episodes), count - 1)) if count > 1 else []
        sizes = [end - start for start, end in zip([0, *cuts], [*cuts, episodes], strict=True)]
        for number, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            agent = chance.choices(("claude-code", "codex", "opencode"), (5, 3, 2))[0]
            session = Session(f"{number:04x}{chance.getrandbits(48):012x}", agent, start * _DAY)
            self.history.sessions.append(session)
            for _ in range(size):
                session.turns.append(self.turn())
        self._plant()
        for session in self.history.sessions:
            session.set_times(chance)

    def turn(self, *, size: int | None = None) -> Turn:
        """Return a turn of ordinary work."""
        chance, words = self.chance, self.words
        task = words.task()
        turn = Turn(
            words.prompt(task),
            task,
            answer=words.answer(),
            outcome=chance.choices(("ok", "", "failed", "interrupted"), (7, 2, 1, 0.5))[0],
        )
        for _ in range(chance.randrange(1, 6) if size is None else size):
            turn.steps.append(self.step())
        if chance.random() < 0.55:
            for path in chance.sample(words.files, chance.choices((1, 2, 3), (6, 3, 1))[0]):
                self.change(turn, path)
        return turn

    def step(self) -> Step:
        """Return a step of ordinary work: it reads, looks around, or runs something once."""
        chance, words = self.chance, self.words
        draw = chance.random()
        if draw < 0.4:
            path = chance.choice(words.files)
            return Step("tool", path, "Read", words.edit(), path)
        if draw < 0.6:
            return Step(
                "tool",
                words.symbol(),
                "Grep",
                f"{chance.choice(words.files)}:{chance.randrange(1, 400)}: {words.edit().strip()}",
            )
        if draw < 0.75:
            run = chance.choice(
                (
                    "git status",
                    "git diff",
                    "git log --oneline -5",
                    "ls",
                    "ls {dir}",
                    "cat {file}",
                    "head -50 {file}",
                    "git diff {file}",
                    "wc -l {file}",
                    "rg {w1}_{w2}",
                    "find . -name '*{w1}*'",
                    "git show --stat",
                    "pwd",
                )
            )
            return Step("tool", words.fill(run), "Bash", words.fill("{file}\n{w1} {w2}"))
        if draw < 0.85:
            return Step("said", words.answer())
        failed = chance.random() < 0.15
        run = words.fill(chance.choice(self.ecosystem["one_offs"]))
        return Step(
            "tool", run, "Bash", words.fill("error: {w1} {w2}" if failed else "{w1} {w2} {number}"), failed=failed
        )

    def change(self, turn: Turn, path: str, lines: Sequence[str] | None = None) -> None:
        """Have a turn change a file, or make a new one of lines."""
        if path in turn.files:
            return
        words, row = self.words, self.chance.randrange(5, 300)
        turn.files.append(path)
        turn.steps.append(Step("tool", path, "Edit" if lines is None else "Write", "ok", path))
        head = f"diff --git a/{path} b/{path}\n"
        if lines is None:
            old, new, near = words.edit(), words.edit(), words.edit()
            turn.patch += f"{head}--- a/{path}\n+++ b/{path}\n@@ -{row},2 +{row},2 @@\n {near}\n-{old}\n+{new}\n"
        else:
            added = "".join(f"+{line}\n" for line in lines)
            turn.patch += (
                f"{head}new file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{added}"
            )

    # --- what is planted ---

    def _plant(self) -> None:
        from tests.bench.narrator_histories import facts as fact_planting

        reversed_ids = {f"{trap.id}-later" for trap in self.history.traps}
        for fact in self.history.facts:
            if fact.kind in SAID and fact.id not in reversed_ids:
                fact_planting.say(self, fact)
        fact_planting.show(self, [fact for fact in self.history.facts if fact.kind not in SAID])
        trap_planting.plant(self)
        self.history.incidental += [
            run for fact in self.history.facts if fact.kind in {"workflow", "fix"} for run in runs_of(fact)
        ]

    def pick(self, count: int, among: Sequence[Session] | None = None) -> list[Session]:
        """Return different sessions that have a turn in which nothing else was said."""
        free = [session for session in (among if among is not None else self.history.sessions) if session.free()]
        return sorted(self.chance.sample(free, min(count, len(free))), key=lambda session: session.start)

    def put(self, session: Session, said: str) -> Turn:
        """Have something said in a session, in the middle of ordinary work."""
        turn = self.chance.choice(session.free())
        turn.prompt, is_apart = self.words.carry(said, turn.task)
        turn.taken = True
        if is_apart and turn.task in turn.prompt:
            self.history.tasks.append(turn.task)
        return turn


def build(bank: Bank, seed: int, episodes: int | None = None) -> History:
    """Return the history of a seed."""
    return Builder(bank, seed, episodes).history
