"""One session that grows, as each agent writes it: for tests that hold for all of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode

AGENTS = ("claude-code", "codex", "opencode")


class Session:
    """A session of an agent.

    Args:
        machine: where it is held.
        agent: the agent.
    """

    def __init__(self, machine: Machine, agent: str) -> None:
        self.agent = agent
        self._claude = Claude(machine.claude, machine.root)
        self._codex = Codex(machine.codex, machine.root)
        self._opencode = OpenCode(machine.data, machine.root)
        self._records: list[Any] = [self._codex.meta()] if agent == "codex" else []
        if agent == "opencode":
            self._opencode.session("ses_a")

    def ask(self, text: str) -> None:
        if self.agent == "claude-code":
            self._records.append(self._claude.asked(text))
        elif self.agent == "codex":
            one = self._codex
            self._records += [
                one.event("task_started"),
                one.message("user", text),
                one.event("user_message", message=text),
            ]
        else:
            self._opencode.message("ses_a", "user", [{"type": "text", "text": text}])

    def answer(self, text: str) -> None:
        if self.agent == "claude-code":
            self._records.append(self._claude.said(text))
        elif self.agent == "codex":
            one = self._codex
            self._records += [
                one.event("agent_message", message=text),
                one.event("task_complete", last_agent_message=text),
            ]
        else:
            self._opencode.message("ses_a", "assistant", [{"type": "text", "text": text}])

    def turn(self, asked: str, said: str) -> None:
        self.ask(asked)
        self.answer(said)

    def write(self, *, quiet: bool = True) -> None:
        """Write what was added, long ago or just now."""
        if self.agent == "opencode":
            self._opencode.write_files()
        else:
            (self._claude if self.agent == "claude-code" else self._codex).write(self._records)
            self._records.clear()
        stamp = LONG_AGO + self._opencode.clock if quiet else time.time()
        os.utime(self.file, (stamp, stamp))

    @property
    def file(self) -> Path:
        """The file whose time says when something was added last."""
        files = {"claude-code": self._claude.file, "codex": self._codex.file}
        return files.get(self.agent, self._opencode.base / "storage" / "message" / "ses_a")
