"""Copilot CLI's transcripts: `session-state/ID/events.jsonl`, one event per line; older: `session-state/ID.jsonl`.

Format as written by GitHub's public `github/copilot-sdk` (`nodejs/src/generated/session-events.ts`, and
`docs/features/session-persistence.md` for the folder and `COPILOT_HOME`). The file `workspace.yaml` next to the events
and the names of edit tools follow public programs that read these sessions. The files below `history-session-state` of
the first versions are listed as not read: no public source describes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.transcripts.format import Format, known_records
from cm_tui.engine.memory.transcripts.line_reading import OneTurnReading
from cm_tui.engine.memory.transcripts.lines import Line, as_count, as_id, as_kind, as_record, as_text
from cm_tui.engine.memory.transcripts.patches import from_diff
from cm_tui.engine.memory.transcripts.tools import patch_among, use_tool
from cm_tui.engine.memory.transcripts.transcript import Item, Named, Resume, Skipped, Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.files import read_regular

_HEAD_LINES = 50
_YAML_BYTES = 100_000
_CWD = re.compile(r"^cwd: *+(.+)$", re.MULTILINE)
_NOT_TYPED = ("skill-", "agent-", "system")
"""Prefixes of the sources of messages from the program itself."""
_WRITERS = frozenset({"edit", "create", "str_replace_editor", "apply_patch", "write"})
_KNOWN = known_records("copilot")
_OVER = frozenset({"session.idle", "session.shutdown", "session.task_complete", "assistant.idle"})
_FOLDERS = frozenset({"session.start", "session.resume", "session.context_changed"})
_STEPS = frozenset({"assistant.message", "assistant.reasoning", "tool.execution_start", "tool.execution_complete"})


class Copilot(Format):
    """The transcripts of Copilot CLI."""

    agent = "copilot"
    names = re.compile(r"(?:[^/]+/events|[^/]+)\.jsonl(?:\.gz)?")

    @property
    def places(self) -> tuple[Path, ...]:
        """The folder of sessions."""
        return (self._folder_in("COPILOT_HOME", ".copilot") / "session-state",)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them."""
        yield from super().transcripts()
        early = self.places[0].with_name("history-session-state")
        self._pass_over(
            early, ".json", "it is a session of an early version of Copilot CLI, whose format is not supported"
        )

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts: from the first event, and the folder from a later event or `workspace.yaml` if missing there."""
        facts: SessionFacts | None = None
        for line in self._head(transcript, _HEAD_LINES):
            facts = _with(facts, line.record, transcript)
            if facts is not None and facts.folder:
                break
        if facts is not None and not facts.folder:
            return facts.having(folder=_workspace_folder(transcript.file))
        return facts

    def _reading(self, facts: SessionFacts, resume: Resume) -> OneTurnReading:
        return _Reading(facts, resume)


def _with(facts: SessionFacts | None, event: Mapping[str, Any], transcript: Transcript) -> SessionFacts | None:
    """Return the facts with those of an event; None: no known event yet."""
    kind, data = as_text(event.get("type")), as_record(event.get("data"))
    if facts is None and kind in {*_FOLDERS, *_STEPS, "user.message"}:
        file = Path(transcript.name)
        name = file.parent.name if file.name.startswith("events.") else file.name.partition(".")[0]
        facts = SessionFacts(
            Copilot.agent,
            as_id(data.get("sessionId")) or as_id(name),
            began=parse_time(data.get("startTime")) or parse_time(event.get("timestamp")),
        )
    if facts is None or kind not in _FOLDERS:
        return facts
    context = as_record(data.get("context")) or data
    host, repository = as_text(context.get("repositoryHost")), as_text(context.get("repository"))
    return facts.having(
        folder=as_text(context.get("cwd")),
        commit=as_text(context.get("headCommit")),
        remote=f"https://{host}/{repository}" if host and repository else "",
    )


def _workspace_folder(file: Path) -> str:
    """Return the folder that a session's `workspace.yaml` names; empty: none."""
    data = read_regular(file.with_name("workspace.yaml"), _YAML_BYTES)
    found = _CWD.search((data or b"").decode("utf-8", "replace"))
    return found[1].rstrip(" ").strip("\"'") if found else ""


class _Reading(OneTurnReading):
    """Turns from the events of one file."""

    def _record(self, line: Line) -> Iterator[Item]:
        event = line.record
        kind, data, at = as_text(event.get("type")), as_record(event.get("data")), parse_time(event.get("timestamp"))
        if kind in _FOLDERS:
            self._folder = as_text((as_record(data.get("context")) or data).get("cwd")) or self._folder
        if kind == "user.message":
            yield from self._prompt(line, data, at)
        elif kind in _STEPS:
            turn = yield from self._step(line, as_text(event.get("id")) or f"{self._facts.session} {line.start}")
            if turn is not None:
                turn.at(at)
                self._do(turn, kind, data, is_aside="agentId" in event or bool(data.get("parentToolCallId")))
        elif kind == "session.title_changed":
            if title := as_text(data.get("title")).strip():
                yield Named(title)
        elif kind in {"abort", "session.error", *_OVER}:
            self._stop(kind, data, at)
        elif kind == "session.snapshot_rewind":
            self._withdraw()
        elif kind not in _KNOWN:
            yield Skipped(f"event {as_kind(kind, 'without a type')}", line.start, record=event, time=at)

    def _prompt(self, line: Line, data: Mapping[str, Any], at: float | None) -> Iterator[Item]:
        is_typed = not as_text(data.get("source")).startswith(_NOT_TYPED) and "agentId" not in line.record
        if is_typed and data.get("isAutopilotContinuation") is not True:
            text = as_text(data.get("content"))
            key = as_text(line.record.get("id")) or f"{self._facts.session} {line.start}"
            yield from self._ask(text, line, at, key)

    def _stop(self, kind: str, data: Mapping[str, Any], at: float | None) -> None:
        turn = self._turn
        if turn is None or turn.is_over:
            return
        if kind == "abort":
            turn.at(at)
            turn.stop("interrupted", f"stopped: {as_text(data.get('reason'))[:100] or 'interrupted'}")
        elif kind == "session.error":
            turn.at(at)
            turn.stop("failed", as_text(data.get("message"))[:300])
        else:
            turn.is_over = True

    def _do(self, turn: Turn, kind: str, data: Mapping[str, Any], *, is_aside: bool) -> None:
        call = as_text(data.get("toolCallId"))
        if kind == "tool.execution_start":
            self._use(turn, call, data)
        elif kind == "tool.execution_complete":
            self._get(turn, call, data)
        elif is_aside:
            # A sub-agent's text is not an answer; its tools count as steps.
            return
        elif kind == "assistant.reasoning":
            self._think(turn, as_text(data.get("content")))
        else:
            self._think(turn, as_text(data.get("reasoningText")))
            turn.say(as_text(data.get("content")))
            turn.spend(as_text(data.get("messageId")), as_count(data.get("outputTokens")))

    def _use(self, turn: Turn, call: str, data: Mapping[str, Any]) -> None:
        raw, tool = data.get("arguments"), as_text(data.get("toolName"))
        given = as_record(raw) or ({"command": as_text(raw)} if isinstance(raw, str) else {})
        is_edit = tool in _WRITERS and given.get("command") != "view"
        use_tool(turn, call, tool, given, writes=is_edit, patch=patch_among(given.values()))

    def _get(self, turn: Turn, call: str, data: Mapping[str, Any]) -> None:
        result, failed = as_record(data.get("result")), data.get("success") is False
        text = as_text(result.get("content")) or as_text(as_record(data.get("error")).get("message"))
        diff = as_text(result.get("detailedContent"))
        turn.get(call, text, failed=failed, diff=lambda path: from_diff(path, diff))
