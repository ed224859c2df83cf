"""Turns and sessions while a history is made."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import Actor, Outcome, Step

_TOOLS = {
    "codex": {"Bash": "shell", "Read": "shell", "Grep": "shell", "Edit": "apply_patch", "Write": "apply_patch"},
    "opencode": {
        "Bash": "bash",
        "Read": "read",
        "Grep": "grep",
        "Edit": "edit",
        "Write": "write",
        "WebFetch": "webfetch",
    },
}
"""What the agents call the tools that the first one calls so."""


@dataclass
class Turn:
    """A turn of a session."""

    prompt: str
    task: str
    """The ordinary order in it."""
    answer: str = ""
    steps: list[Step] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    patch: str = ""
    outcome: Outcome = "ok"
    actor: Actor = "import"
    taken: bool = False
    """Something was planted in its prompt, or hangs on its place."""
    at: float = 0.0

    def record(self, session: Session, root: Path, number: int, shift: float) -> EpisodeRecord:
        """Return its record as an importer would write it."""
        names = _TOOLS.get(session.agent, {})
        steps = tuple(self._step(step, names, root, session.agent) for step in self.steps)
        runs = [step for step in steps if step.kind == "tool"]
        return EpisodeRecord(
            agent=session.agent, session=session.id, root=str(root), prompts=(self.prompt,), answer=self.answer, files=tuple(self.files),
            patch=self.patch, patch_digest=sha256(self.patch.encode()).hexdigest() if self.patch else "", actor=self.actor,
            at=self.at + shift, origin=sha256(f"{session.id} {number}".encode()).hexdigest()[:32], title=session.title,
            parent=session.parent, turn=number, outcome=self.outcome, steps=steps, step_count=len(steps),
            tools=tuple(dict.fromkeys(step.tool for step in runs)), tokens=900 + 700 * len(steps),
        )  # fmt: skip

    def _step(self, step: Step, names: dict[str, str], root: Path, agent: str) -> Step:
        text = step.text.replace("{root}", str(root))
        if agent == "codex" and step.tool == "Read":
            text = f"sed -n 1,200p {text}"
        elif agent == "codex" and step.tool == "Grep":
            text = f"rg -n {text}"
        elif agent == "codex" and step.tool in {"Edit", "Write"}:
            text = f"*** Begin Patch\n*** Update File: {text}\n*** End Patch"
        return replace(step, text=text, tool=names.get(step.tool, step.tool))


@dataclass
class Session:
    """A session of an agent."""

    id: str
    agent: str
    start: float
    """Seconds since the history's first day."""
    parent: str = ""
    title: str = ""
    turns: list[Turn] = field(default_factory=list)

    def free(self) -> list[Turn]:
        """Return the turns in whose prompt nothing was planted."""
        return [turn for turn in self.turns if not turn.taken]

    def set_times(self, chance: random.Random) -> None:
        """Have its turns follow each other by minutes."""
        at = self.start
        for turn in self.turns:
            at += chance.uniform(60, 900)
            turn.at = at
