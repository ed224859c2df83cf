"""One session that grows, as each agent writes it: for tests that hold for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, Copilot, Cursor, Gemini, OpenCode

AGENTS = ("claude-code", "codex", "opencode", "gemini", "gemini, old", "cursor", "copilot")

Records = list[Any]


class Session:
    """A session of an agent.

    Args:
        machine: where it is held.
        agent: the agent.
    """

    def __init__(self, machine: Machine, agent: str) -> None:
        self.agent = agent
        self._opencode = OpenCode(machine.data, machine.root)
        self._written: Records = []
        self._records: Records = []
        if agent == "opencode":
            self._opencode.session("ses_a")
            return
        self._one, self._ask, self._answer = _made(machine, agent)
        if isinstance(self._one, Codex | Gemini) and agent != "gemini, old":
            self._records.append(self._one.meta())
        elif isinstance(self._one, Copilot):
            self._records.append(self._one.start())

    def ask(self, text: str) -> None:
        if self.agent == "opencode":
            self._opencode.message("ses_a", "user", [{"type": "text", "text": text}])
        else:
            self._records += self._ask(text)

    def answer(self, text: str) -> None:
        if self.agent == "opencode":
            self._opencode.message("ses_a", "assistant", [{"type": "text", "text": text}])
        else:
            self._records += self._answer(text)

    def turn(self, asked: str, said: str) -> None:
        self.ask(asked)
        self.answer(said)

    def write(self, *, quiet: bool = True) -> None:
        """Write what was added, long ago or just now."""
        if self.agent == "opencode":
            self._opencode.write_files()
        elif self.agent == "gemini, old":
            self._written += self._records
            assert isinstance(self._one, Gemini)
            self._one.write_document(self._written)
        else:
            self._one.write(self._records)
        self._records.clear()
        clock = self._opencode.clock if self.agent != "gemini, old" else self._one.clock
        stamp = LONG_AGO + clock if quiet else time.time()
        os.utime(self.file, (stamp, stamp))

    @property
    def file(self) -> Path:
        """The file whose time says when something was added last."""
        if self.agent == "opencode":
            return self._opencode.base / "storage" / "message" / "ses_a"
        return self._one.file.with_suffix(".json") if self.agent == "gemini, old" else self._one.file


Say = Callable[[str], Records]


def _made(machine: Machine, agent: str) -> tuple[Claude | Codex | Gemini | Cursor | Copilot, Say, Say]:
    """A session, and what is written when something is asked and answered."""
    if agent == "claude-code":
        claude = Claude(machine.claude, machine.root)
        return claude, lambda text: [claude.asked(text)], lambda text: [claude.said(text)]
    if agent == "codex":
        codex = Codex(machine.codex, machine.root)
        return (
            codex,
            lambda text: [codex.event("task_started"), codex.message("user", text), codex.event("user_message", message=text)],
            lambda text: [codex.event("agent_message", message=text), codex.event("task_complete", last_agent_message=text)],
        )  # fmt: skip
    if agent == "copilot":
        copilot = Copilot(machine.copilot, machine.root)
        return copilot, lambda text: [copilot.asked(text)], lambda text: [copilot.said(text)]
    if agent == "cursor":
        cursor = Cursor(machine.cursor, machine.root)
        return cursor, lambda text: [cursor.asked(text)], lambda text: [cursor.said(text)]
    gemini = Gemini(machine.gemini, machine.root)
    return gemini, lambda text: [gemini.asked(text)], lambda text: [gemini.said(text)]
