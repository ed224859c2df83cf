"""Claude Code's transcripts: `projects/*/*.jsonl`, one record per line, with sub-agents in the same file or next to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.transcripts.claude_prompts import (
    INTERRUPTED,
    PromptQueue,
    days_kept,
    earlier_key_of,
    facts_of,
    is_for_agent,
    key_of,
    lost_prompts,
    prompt_of,
    turns_of,
)
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.line_reading import LineReading, ParentsFirst
from cm_tui.engine.memory.transcripts.lines import Line, as_count, as_id, as_kind, as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.patches import from_hunks
from cm_tui.engine.memory.transcripts.tools import use_tool
from cm_tui.engine.memory.transcripts.transcript import (
    Item,
    Named,
    Read,
    Resume,
    Skipped,
    Transcript,
    parse_time,
    texts_of,
)
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

_HEAD_LINES = 200
_ID = 200
"""Characters of an id that identify a record within a file."""
_IDS = 50_000
"""Records whose turns are known."""
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_KNOWN = frozenset({
    "system", "file-history-snapshot", "progress", "attachment", "queue-operation", "last-prompt", "agent-name", "agent-color",
    "agent-setting", "pr-link", "permission-mode", "mode", "tag", "task-summary", "worktree-state", "content-replacement", *_TITLES,
})  # fmt: skip
_PARTS = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document", "server_tool_use",
                    "web_search_tool_result", "fallback"})  # fmt: skip
_OVER = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
_OVER_NOTES = frozenset({"turn_duration", "stop_hook_summary"})


class ClaudeCode(Format):
    """The transcripts of Claude Code."""

    agent = "claude-code"
    # A queued prompt is the user's: a file with nothing else is reported.
    asides = _KNOWN - {"queue-operation"}
    own = re.compile(r"[^/]+/(?:sessions-index\.json|bridge-pointer\.json|[^/]+/.*\.json)")

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders of projects, in one or several homes."""
        parts = self._environment.get("CLAUDE_CONFIG_DIR", "").split(",")
        named = [Path(part.strip()).expanduser() for part in parts if part.strip()]
        homes = named or [Path.home() / ".claude", Path.home() / ".config" / "claude"]
        return tuple(one / "projects" for one in homes)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them, including sub-agents, then the prompts of sessions without a transcript."""
        present: set[str] = set()
        for found in super().transcripts():
            present.add(found.file.name.partition(".")[0])
            yield found
        for place in self.places:
            yield from lost_prompts(self.agent, place.parent, present)

    def days_kept(self, place: Path) -> int | None:
        """Return after how many days it deletes the transcripts of a place."""
        return days_kept(place.parent)

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return whose it is: the first record that names a session and a folder."""
        if transcript.session:
            return facts_of(transcript)
        copied: SessionFacts | None = None
        own = 0
        for line in self._head(transcript):
            record = line.record
            session, folder = as_id(record.get("sessionId")), as_text(record.get("cwd"))
            if session and folder:
                facts = self._facts(transcript, record, session, folder)
                if "forkedFrom" not in record:
                    return facts
                # A fork begins with the records of the session that it was forked from, which may lie elsewhere.
                copied = copied or facts
            own += "forkedFrom" not in record and as_text(record.get("type")) not in _KNOWN
            if own > _HEAD_LINES:
                break
        return copied

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns from a place on."""
        if transcript.session:
            resume.from_beginning()
            yield from turns_of(transcript, facts)
        else:
            yield from super().read(transcript, facts, resume)

    def _reading(self, facts: SessionFacts, resume: Resume) -> LineReading:
        return _Reading(facts, resume)

    def _facts(self, transcript: Transcript, record: Mapping[str, Any], session: str, folder: str) -> SessionFacts:
        facts = SessionFacts(self.agent, session, folder, began=parse_time(record.get("timestamp")))
        agent_id = as_id(record.get("agentId"))
        if record.get("isSidechain") is True and (agent_id or transcript.file.name.startswith("agent-")):
            name = agent_id or as_id(transcript.file.name.partition(".")[0].removeprefix("agent-"))
            return facts.having(session=f"{session}/{name}", parent=session)
        # An older version begins a new file after a compaction, and names the record that it continues.
        before = as_id(record.get("logicalParentUuid") or record.get("parentUuid"))
        return facts.having(continues=before)


@dataclass
class _Open:
    """The current turn, or the one before it, whose last records may come after the next prompt."""

    turn: Turn
    start: int
    """Reading from here yields it again."""
    last: int
    """Place of its last record."""

    def take(self, line: Line) -> None:
        """Note that a record is of it."""
        self.start, self.last = min(self.start, line.start), max(self.last, line.start)


class _Reading(LineReading):
    """Reads turns from the records of one file.

    `facts`: about the file. `resume`: the position to start from; updated at the end.
    """

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        super().__init__(facts, resume)
        self._turns: dict[str, _Open] = {}
        """Turns under way, by the session that they are of."""
        self._before: dict[str, _Open] = {}
        """The turns before these."""
        self._order = ParentsFirst[Line]()
        self._by_id: dict[str, Turn | None] = {}
        """Turns by the ids of their records."""
        self._chains: dict[str, str] = {}
        """Sessions of sub-agents in this file, by the ids of their records."""
        self._queue = PromptQueue()
        self._last = ""

    def _rest(self) -> Iterator[Item]:
        for line in self._order.rest():
            yield from self._take(line)
        yield from self._queued(is_last=True)
        for session, found in self._before.items():
            yield Read(found.turn, found.start, session=session)
        for session, found in self._turns.items():
            yield Read(found.turn, found.start, is_last=True, session=session)
        if self._last:
            self._resume.marks["last"] = as_id(self._last)

    def _queued(self, *, is_last: bool) -> Iterator[Item]:
        """Yield prompts that waited for an agent that has ended, each as a turn."""
        if is_last and "" in self._turns:
            self._queue.end(self._turns[""].turn)
        start = min((one.start for one in self._open("")), default=self._resume.offset)
        yield from (Read(turn, start, is_last) for turn in self._queue.turns(self._facts.folder))

    def _damage(self) -> None:
        for found in self._turns.values():
            if not found.turn.is_over:
                found.turn.damage()

    def _record(self, line: Line) -> Iterator[Item]:
        for due in self._order.add(line, _id_in(line, "uuid"), _id_in(line, "parentUuid"), len(line.data)):
            yield from self._take(due)

    def _take(self, line: Line) -> Iterator[Item]:
        record, kind = line.record, as_text(line.record.get("type"))
        if kind in {"user", "assistant"} and isinstance(record.get("message"), dict):
            session = self._session_of(record)
            self._last = as_text(record.get("uuid")) if not session else self._last
            yield from (self._user if kind == "user" else self._assistant)(line, session)
            self._name(line, session)
        elif kind in _TITLES:
            title = as_text(record.get(_TITLES[kind])).strip()
            if title:
                yield Named(title)
        elif kind in _KNOWN:
            self._note(line, kind)
            self._name(line, self._session_of(record))
        else:
            kind = f"record {as_kind(kind, 'without a type')}"
            yield Skipped(kind, line.start, record=record, time=parse_time(record.get("timestamp")))

    def _name(self, line: Line, session: str) -> None:
        """Record the turn of a record without one: that of its parent, else the current one."""
        found = self._turns.get(session)
        turn = self._by_id.get(_id_in(line, "parentUuid"), found.turn if found else None)
        if uuid := _id_in(line, "uuid"):
            self._by_id.setdefault(uuid, turn)
        if len(self._by_id) > _IDS:
            self._by_id.pop(next(iter(self._by_id)))

    def _of_parent(self, line: Line, session: str) -> _Open | None:
        """Return the turn of a record's parent, if it is the current one or the one before."""
        turn = self._by_id.get(_id_in(line, "parentUuid"))
        return next((found for found in self._open(session) if found.turn is turn), None)

    def _open(self, session: str) -> list[_Open]:
        return [found for found in (self._turns.get(session), self._before.get(session)) if found is not None]

    def _session_of(self, record: Mapping[str, Any]) -> str:
        """Return the sub-agent's session of a record in the main file; empty for the main one."""
        if record.get("isSidechain") is not True or self._facts.parent:
            return ""
        uuid, before = as_text(record.get("uuid"))[:_ID], as_text(record.get("parentUuid"))[:_ID]
        named = as_id(record.get("agentId")) or uuid[:12]
        session = self._chains.get(before) or f"{self._facts.session}/{named}"
        self._chains[uuid] = session
        return session

    def _note(self, line: Line, kind: str) -> None:
        """Add a record of the program itself to the turn."""
        record, attachment = line.record, as_record(line.record.get("attachment"))
        queued = prompt_of(texts_of(attachment.get("prompt"))) if attachment.get("type") == "queued_command" else ""
        if kind == "queue-operation":
            self._queue.follow(line)
        elif queued:
            self._queue.take(queued)
        under_way = self._turns.get("")
        if under_way is None:
            return
        if kind == "system" and as_text(record.get("subtype")) in _OVER_NOTES:
            under_way.turn.is_over = True
        elif kind == "queue-operation" and record.get("operation") == "remove":
            # It was typed while the agent worked, and delivered then.
            under_way.turn.ask(as_text(record.get("content")))
        elif kind == "attachment":
            under_way.turn.ask(queued)

    # --- the two kinds of messages ---

    def _user(self, line: Line, session: str) -> Iterator[Item]:
        record = line.record
        content = as_record(record["message"]).get("content")
        parts = [as_record(part) for part in as_list(content)]
        yield from self._unknown_parts(parts, line)
        for part in parts:
            if part.get("type") == "tool_result":
                self._result(line, part, session)
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            return
        text = as_text(content) if isinstance(content, str) else texts_of([p for p in parts if p.get("type") == "text"])
        if text.startswith(INTERRUPTED):
            found = self._of_parent(line, session) or self._turns.get(session)
            if found is not None:
                found.turn.stop("interrupted", "interrupted by the person")
            return
        prompt = prompt_of(text) or ("[picture]" if any(part.get("type") == "image" for part in parts) else "")
        if prompt:
            queued = [] if session else self._queue.take(prompt)
            if not session and not queued:
                # What still waits then was lost with the program that it waited for.
                yield from self._queued(is_last=False)
            yield from self._ask(line, session, prompt, for_agent=is_for_agent(text))
            self._turns[session].turn.replaces += queued

    def _ask(self, line: Line, session: str, prompt: str, *, for_agent: bool) -> Iterator[Item]:
        found, parent = self._turns.get(session), _id_in(line, "parentUuid")
        if found is not None and found.turn.is_empty and parent and parent not in self._by_id:
            # Its parent is missing: the last prompt was answered.
            found.turn.damage()
        if found is None or not found.turn.is_empty or not found.turn.prompts:
            yield from self._begin(line, session)
        turn = self._join(self._turns[session], line)
        turn.ask(prompt, for_agent=for_agent)

    def _begin(self, line: Line, session: str) -> Iterator[Item]:
        """Begin a turn; yield the one before the last one, which is complete now."""
        earlier, last = self._before.pop(session, None), self._turns.get(session)
        if earlier is not None:
            yield Read(earlier.turn, earlier.start, session=session)
        turn = Turn(key_of(line, self._facts.session), as_text(line.record.get("cwd")), earlier_key_of(line.record))
        if origin := as_record(line.record.get("forkedFrom")):
            turn.held = SessionFacts(self._facts.agent, as_id(origin.get("sessionId")), turn.folder)
        self._turns[session] = _Open(turn, line.start, line.start)
        if last is not None:
            self._before[session] = last
            if last.last > line.start:
                self._turns[session].start = last.start

    def _join(self, found: _Open, line: Line) -> Turn:
        """Note that a record is of a turn."""
        found.take(line)
        for session, other in self._turns.items():
            if self._before.get(session) is found:
                # Read again from there, the record would be of no turn but this one.
                other.start = min(other.start, found.start)
        found.turn.at(parse_time(line.record.get("timestamp")))
        if uuid := _id_in(line, "uuid"):
            self._by_id[uuid] = found.turn
        if not line.record.get("isSidechain"):
            self._unreadable = ""
        return found.turn

    def _assistant(self, line: Line, session: str) -> Iterator[Item]:
        record, message = line.record, as_record(line.record["message"])
        found = self._of_parent(line, session)
        if found is None and self._is_of_another(line, session):
            yield from self._begin(line, session)
        turn = self._join(found or self._turns[session], line)
        turn.answered_by(f"{as_text(message.get('id'))} {texts_of(message.get('content'))}")
        parts = [as_record(part) for part in as_list(message.get("content"))]
        yield from self._unknown_parts(parts, line)
        is_error = record.get("isApiErrorMessage") is True
        if not is_error:
            turn.continue_turn()
        for part in parts:
            # A program's error message is not an answer.
            if not (is_error and part.get("type") == "text"):
                self._part(turn, part)
        usage = as_record(message.get("usage"))
        fields = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
        turn.spend(as_text(message.get("id")), sum(as_count(usage.get(name)) for name in fields))
        if is_error:
            turn.stop("failed", texts_of(message.get("content"))[:300])
        else:
            turn.is_over = as_text(message.get("stop_reason")) in _OVER

    def _is_of_another(self, line: Line, session: str) -> bool:
        """Return whether an agent's text answers an unreadable prompt after the last one."""
        found, parent = self._turns.get(session), _id_in(line, "parentUuid")
        if found is None or self._by_id.get(parent) is not None:
            return True
        if self._unreadable:
            return self._hides_prompt(found.turn)
        # Its parent is missing: the agent had ended, so that is a prompt.
        return bool(parent) and parent not in self._by_id and found.turn.is_complete

    def _part(self, turn: Turn, part: Mapping[str, Any]) -> None:
        kind = as_text(part.get("type"))
        if kind == "text":
            turn.say(as_text(part.get("text")))
        elif kind == "thinking":
            turn.think(as_text(part.get("thinking")))
        elif kind in {"tool_use", "server_tool_use"}:
            name, given = as_text(part.get("name")), as_record(part.get("input"))
            use_tool(turn, as_text(part.get("id")), name, given, writes=name in _WRITERS)

    def _result(self, line: Line, part: Mapping[str, Any], session: str) -> None:
        call, failed = as_text(part.get("tool_use_id")), part.get("is_error") is True
        found = next((one for one in self._open(session) if one.turn.waits_for(call)), None)
        if found is None:
            return
        hunks = as_record(line.record.get("toolUseResult")).get("structuredPatch")
        text, turn = texts_of(part.get("content")), self._join(found, line)
        turn.get(call, text, failed=failed, diff=lambda path: from_hunks(path, hunks))

    def _unknown_parts(self, parts: list[Mapping[str, Any]], line: Line) -> Iterator[Item]:
        for part in parts:
            if (kind := as_text(part.get("type"))) not in _PARTS:
                kind = f"part {as_kind(kind, 'without a type')}"
                yield Skipped(kind, line.start, record=part, time=parse_time(line.record.get("timestamp")))


def _id_in(line: Line, name: str) -> str:
    return as_text(line.record.get(name))[:_ID]
