"""A made-up history as its agents' sessions: real hooks, a transcript next to them, a real working tree."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.importers.project import ProjectTranscripts
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.projection import journal_consumer
from cm_tui.engine.platform.journal import event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel, ImportSummary, Step
from tests.bench.narrator_histories.history import History
from tests.bench.narrator_histories.turns import Session, Turn
from tests.cli.in_process import run_here
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode
from tests.gitrepo import Repo

_COMMITTED = 0.7
"""Share of the sessions after which the person commits; what is left is in the patches of the next session too."""
_FIELDS = {"Read": "file_path", "Grep": "pattern", "Bash": "command", "WebFetch": "url"}
_OPENCODE = {"Read": "filePath", "Grep": "pattern", "Bash": "command", "WebFetch": "url"}


@dataclass
class Edits:
    """What a turn wrote: the lines that it added to each file, and the files that it made."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, turn: Turn) -> Edits:
        found, path = cls(), ""
        for line in turn.patch.split("\n"):
            if line.startswith("diff --git "):
                path = line.rpartition(" b/")[2]
                found.lines[path] = []
            elif line.startswith("new file"):
                found.new.add(path)
            elif line.startswith("+") and not line.startswith("+++"):
                found.lines[path].append(line[1:])
        return found


class HookedHistory:
    """Plays a history: what people ask, what agents do, and what hooks and transcripts have of it.

    `now`: seconds since the epoch; the last turn is a day before. `hooks`: whether hooks are installed.
    """

    def __init__(self, history: History, root: Path, now: float, *, hooks: bool = True) -> None:
        self._history, self._hooks = history, hooks
        self._chance = random.Random(history.seed)
        self.repo = Repo(root)
        self.root = root
        self.home = root.parent / "agents"
        latest = max(turn.at for session in history.sessions for turn in session.turns)
        self._shift = now - 86_400.0 - latest
        self._writers: dict[str, Any] = {}
        self._ticks = 0
        self._now = 0.0

    @property
    def environment(self) -> dict[str, str]:
        names = {"CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex", "XDG_DATA_HOME": "data"}
        return {name: str(self.home / folder) for name, folder in names.items()}

    def play(self) -> None:
        """Have all turns happen, one after another."""
        made = [Edits.of(turn) for session in self._history.sessions for turn in session.turns]
        changed = {path: "" for edits in made for path in edits.lines if path not in edits.new}
        for path, content in {**changed, **self._history.files}.items():
            self.repo.write(path, content)
        self.repo.commit("The project")
        turns = sorted(
            ((turn.at, number, session, turn) for number, session in enumerate(self._history.sessions) for turn in session.turns),
            key=lambda one: one[:2],
        )  # fmt: skip
        with self._times():
            for _, _, session, turn in turns:
                self._turn(session, turn)

    def import_all(self) -> ImportSummary:
        """Import the transcripts."""
        for file in self.home.rglob("*"):
            os.utime(file, (LONG_AGO, LONG_AGO))
        project = ProjectTranscripts(self.root, (), (), self.environment)
        done = list(Import(project).run(Cancel()))[-1].imported
        assert done is not None
        return done

    # --- one turn ---

    def _turn(self, session: Session, turn: Turn) -> None:
        self._now = turn.at + self._shift
        if turn.actor == "narrator":
            record = replace(turn.record(session, self.root, 0, self._shift), origin="")
            Journal.of(self.root).append("episode", record.to_event_data())
            return
        is_told = self._hooks and not session.parent
        if is_told:
            self._hook(session, "prompt", prompt=turn.prompt)
        edits = Edits.of(turn)
        self._work(edits)
        self._write_transcript(session, turn, edits)
        if is_told:
            for path in turn.files:
                self._hook(session, "edit", tool_name="Edit", tool_input={"file_path": str(self.root / path)})
            if turn.outcome != "interrupted":
                self._hook(session, "stop", last_assistant_message=turn.answer)
                consumer = journal_consumer.JournalConsumer(lambda *_: None, with_details)
                consumer.on_nudge(self.root)
                consumer.close()
        if turn is session.turns[-1] and self._chance.random() < _COMMITTED:
            self.repo.commit("Work")

    def _hook(self, session: Session, kind: str, **payload: object) -> None:
        told = json.dumps({"session_id": self._name(session), "cwd": str(self.root), **payload})
        done = run_here(("hook", kind, "--agent", session.agent), cwd=self.root, environment={}, stdin=told)
        assert done[::2] == (0, ""), done

    def _work(self, edits: Edits) -> None:
        for path, lines in edits.lines.items():
            file = self.root / path
            before = file.read_text() if file.exists() and path not in edits.new else ""
            file = self.repo.write(path, before + "".join(f"{line}\n" for line in lines))
            os.utime(file, (self._now, self._now))

    # --- transcripts ---

    def _name(self, session: Session) -> str:
        return f"{session.id:0<36}"[:36] if session.agent == "codex" else session.id

    def _write_transcript(self, session: Session, turn: Turn, edits: Edits) -> None:
        first = session.id not in self._writers
        if first:
            self._writers[session.id] = self._new_writer(session)
        one = self._writers[session.id]
        clock = self._now - LONG_AGO
        one.clock = int(clock * 1_000) if isinstance(one, OpenCode) else clock
        steps = [step for step in turn.steps if step.kind in {"tool", "said"}]
        {Claude: self._claude, Codex: self._codex, OpenCode: self._opencode}[type(one)](one, turn, steps, edits, first)

    def _new_writer(self, session: Session) -> Claude | Codex | OpenCode:
        name = self._name(session)
        if session.parent or session.agent == "claude-code":
            one = Claude(self.home / "claude", self.root, session.parent or name)
            if session.parent:
                agent = session.id.rpartition("/")[2]
                one.file = one.file.parent / session.parent / "subagents" / f"agent-{agent}.jsonl"
                one.side = {"isSidechain": True, "agentId": agent}
                one.session = session.parent
            return one
        if session.agent == "codex":
            return Codex(self.home / "codex", self.root, name)
        return OpenCode(self.home / "data", self.root)

    def _given(self, step: Step, edits: Edits, names: dict[str, str]) -> dict[str, Any]:
        text = step.text.replace("{root}", str(self.root))
        if step.tool not in {"Edit", "Write"}:
            return {names.get(step.tool, "query"): text}
        path, lines = str(self.root / step.path), "\n".join(edits.lines.get(step.path, ()))
        field_ = names["Read"]
        if step.path in edits.new:
            return {field_: path, "content": lines}
        return {field_: path, "old_string": "", "new_string": lines, "oldString": "", "newString": lines}

    def _claude(self, one: Claude, turn: Turn, steps: Sequence[Step], edits: Edits, first: bool) -> None:
        records = [one.asked(turn.prompt)]
        for number, step in enumerate(steps):
            if step.kind == "said":
                records.append(one.said(step.text, over=False))
                continue
            call = f"toolu_{one.number}_{number}"
            records.append(one.used(step.tool, self._given(step, edits, _FIELDS), call))
            records.append(one.got(call, step.result, failed=step.failed))
        if turn.outcome == "interrupted":
            records.append(one.asked("[Request interrupted by user]"))
        else:
            records.append(one.said(turn.answer))
        one.write(records)

    def _codex(self, one: Codex, turn: Turn, steps: Sequence[Step], edits: Edits, first: bool) -> None:
        records = [one.meta()] if first else []
        records += [one.event("task_started"), one.message("user", turn.prompt)]
        records.append(one.event("user_message", message=turn.prompt))
        for number, step in enumerate(steps):
            call = f"call_{one.clock}_{number}"
            if step.kind == "said":
                records.append(one.event("agent_message", message=step.text))
                continue
            if step.tool in {"Edit", "Write"}:
                word = "Add" if step.path in edits.new else "Update"
                body = "\n".join(f"+{line}" for line in edits.lines.get(step.path, ()))
                hunk = body if word == "Add" else f"@@\n{body}"
                patch = f"*** Begin Patch\n*** {word} File: {step.path}\n{hunk}\n*** End Patch"
                records.append(one.item("custom_tool_call", name="apply_patch", input=patch, call_id=call))
                records.append(one.item("custom_tool_call_output", call_id=call, output="ok"))
                continue
            text = turn._step(step, {}, self.root, "codex").text
            arguments = json.dumps({"command": ["bash", "-lc", text]})
            records.append(one.item("function_call", name="shell", arguments=arguments, call_id=call))
            output = f"Exit code: {int(step.failed)}\nOutput:\n{step.result}"
            records.append(one.item("function_call_output", call_id=call, output=output))
        if turn.outcome == "interrupted":
            records.append(one.event("turn_aborted", reason="interrupted"))
        else:
            records.append(one.event("agent_message", message=turn.answer))
            records.append(one.event("task_complete", last_agent_message=turn.answer))
        one.write(records)

    def _opencode(self, one: OpenCode, turn: Turn, steps: Sequence[Step], edits: Edits, first: bool) -> None:
        name = next(id_ for id_, writer in self._writers.items() if writer is one)
        if first:
            one.session(name, title="")
        parts: list[dict[str, Any]] = []
        for number, step in enumerate(steps):
            if step.kind == "said":
                parts.append({"type": "text", "text": step.text})
                continue
            state = {"status": "error" if step.failed else "completed", "output": step.result, "error": step.result}
            given = self._given(step, edits, _OPENCODE)
            tool = {"type": "tool", "tool": step.tool.lower(), "callID": f"c{one.number}-{number}"}
            parts.append({**tool, "state": {**state, "input": given}})
        parts.append({"type": "text", "text": turn.answer})
        one.number += 1_000 * (one.number == 0) * (len(self._writers) + 1)
        one.message(name, "user", [{"type": "text", "text": turn.prompt}])
        error = {"error": {"name": "MessageAbortedError"}} if turn.outcome == "interrupted" else {}
        one.message(name, "assistant", parts, **error)
        one.write_files()
        one.messages.clear()

    @contextmanager
    def _times(self) -> Iterator[None]:
        """Have hooks and the daemon's part run at the time of the turn."""

        def tick() -> float:
            self._ticks += 1
            return self._now + self._ticks * 1e-6

        journal_time = SimpleNamespace(time_ns=lambda: int(tick() * 1e9))
        consumer_time = SimpleNamespace(time=tick)
        with (
            mock.patch.object(event, "time", journal_time),
            mock.patch.object(journal_consumer, "time", consumer_time),
            mock.patch.dict(os.environ, self.environment),
        ):
            yield
