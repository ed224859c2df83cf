"""Codex's transcripts: `sessions/**/rollout-*.jsonl`; records are flat in old versions, wrapped in newer ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.transcripts.codex_forks import ForkedFrom, Repeated, answer_of
from cm_tui.engine.memory.transcripts.format import Format, known_records
from cm_tui.engine.memory.transcripts.line_reading import OneTurnReading, is_spliced
from cm_tui.engine.memory.transcripts.lines import (
    Line,
    as_count,
    as_id,
    as_kind,
    as_number,
    as_record,
    as_text,
    parse_json,
)
from cm_tui.engine.memory.transcripts.tools import input_text, patch_among, use_tool
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
from cm_tui.engine.memory.transcripts.turn import PROMPT_CHARACTERS, SessionFacts, Turn, piece

# --- Codex's tool calls: input and output, and the edits among them ---

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|exit_code\"?:) *(-?\d{1,5})", re.IGNORECASE)
_SCRIPT_CALL = re.compile(r"\btools\.exec_command\(")
_SCRIPT_COMMAND = re.compile(r'\btools\.exec_command\(\s*\{[^{}]*?\bcmd"?\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")')
_LONGEST_SCRIPT = 20_000


def begin_call(turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
    """Add the use of a tool."""
    name = as_text(payload.get("name")) or kind.removesuffix("_call")
    raw = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
    parsed = _parsed(raw) if isinstance(raw, str) else raw
    given = as_record(parsed) or ({"command": as_text(raw)} if isinstance(raw, str) else {})
    words = input_text(given)
    if name == "exec" and isinstance(raw, str) and (lines := _commands_of_script(raw)):
        name, words = "exec_command", lines
    patch = patch_among((given.get("input"), given.get("patch"), raw, words))
    call = as_text(payload.get("call_id") or payload.get("id"))
    use_tool(turn, call, name, given, writes=False, words=words, patch=patch)


def end_call(turn: Turn, payload: Mapping[str, Any]) -> None:
    """Add the output of a tool."""
    output = payload.get("output")
    record = as_record(_parsed(output) if isinstance(output, str) and output.startswith("{") else output)
    code = as_number(as_record(record.get("metadata")).get("exit_code"))
    text = as_text(record.get("output") or record.get("content")) or texts_of(output)
    found = _EXIT.search(text[:400]) if code is None else None
    failed = code not in {None, 0} or (found is not None and found[1] != "0") or record.get("success") is False
    turn.get(as_text(payload.get("call_id")), text, failed=failed)


def _parsed(text: str) -> Any:
    return parse_json(text.encode("utf-8", "replace"))


def _commands_of_script(script: str) -> str:
    """Return the commands in a JavaScript of the tool `exec`, one per line; empty if one is not literal."""
    short = script[:_LONGEST_SCRIPT]
    found = [_parsed(one) for one in _SCRIPT_COMMAND.findall(short)]
    lines = [one for one in found if isinstance(one, str) and one.strip()]
    return as_text("\n".join(lines)) if len(lines) == len(_SCRIPT_CALL.findall(short)) else ""


# --- Codex's transcripts ---

_HEAD_LINES = 20
_NOT_TYPED = ("<user_instructions>", "<environment_context>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<turn_aborted>",
              "<permissions", "<skill>", "<subagent_notification>", "<app-context>", "<collaboration_mode>")  # fmt: skip
_KNOWN = known_records("codex")
_ENDS = frozenset({"task_complete", "turn_complete", "turn_aborted"})
_MARKS = _ENDS | {"token_count", "error"}
_WORK = frozenset({"agent_message", "agent_reasoning"})
_PROMPT = re.compile(r'"type": *"(?:user_message|task_started|turn_started)"|"role": *"user"')
_DATED = re.compile(r"rollout-(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)")


class Codex(Format):
    """The transcripts of Codex."""

    agent = "codex"
    prefix = "rollout-"

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self._looked_for: set[str] = set()
        """Sessions read for their forks."""

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders of sessions, archived ones too."""
        home = self._folder_in("CODEX_HOME", ".codex")
        return (home / "sessions", home / "archived_sessions")

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts: from the first record, and the folder of an older one without it."""
        facts: SessionFacts | None = None
        for line in self._head(transcript, _HEAD_LINES):
            facts = facts or _facts_in(line.record)
            if facts is not None and not facts.folder:
                facts = facts.having(folder=_folder_in(line.record))
            if facts is not None and facts.folder:
                break
        if facts is not None and facts.began is None:
            return facts.having(began=_time_in(transcript.file.name))
        return facts

    def _reading(self, facts: SessionFacts, resume: Resume) -> OneTurnReading:
        return _Reading(facts, resume, Repeated(facts, resume.marks, self._forked_from))

    def _forked_from(self, session: str) -> ForkedFrom | None:
        if not session or session in self._looked_for:
            return None
        for transcript in self.transcripts():
            if session in transcript.file.name:
                try:
                    facts = self.facts(transcript)
                except OSError:
                    continue
                if facts is not None and facts.session == session:
                    return ForkedFrom(facts, partial(self._turns_of, transcript, facts))
        return None

    def _turns_of(self, transcript: Transcript, facts: SessionFacts) -> dict[str, tuple[str, SessionFacts]]:
        self._looked_for.add(facts.session)
        try:
            turns = [item.turn for item in self.read(transcript, facts, Resume()) if isinstance(item, Read)]
        except OSError:
            return {}
        finally:
            self._looked_for.discard(facts.session)
        return {turn.key: (answer_of(turn), turn.held or facts) for turn in turns}


def _facts_in(record: Mapping[str, Any]) -> SessionFacts | None:
    wrapped = record.get("type") == "session_meta"
    meta = as_record(record.get("payload")) if wrapped else record
    session = as_id(meta.get("id"))
    if not session or (not wrapped and "type" in record):
        return None
    git = as_record(meta.get("git"))
    spawn = as_record(as_record(as_record(meta.get("source")).get("subagent")).get("thread_spawn"))
    return SessionFacts(
        Codex.agent,
        session,
        as_text(meta.get("cwd")),
        parent=as_id(spawn.get("parent_thread_id") or meta.get("parent_thread_id")),
        continues=as_id(meta.get("forked_from_id")),
        began=parse_time(meta.get("timestamp")),
        commit=as_text(git.get("commit_hash")),
        remote=as_text(git.get("repository_url")),
    )


def _time_in(name: str) -> float | None:
    """Return when a session began, from its file name, in local time."""
    found = _DATED.match(name)
    try:
        return (
            parse_time(datetime.strptime(f"{found[1]} {found[2]}", "%Y-%m-%d %H-%M-%S").astimezone().timestamp())
            if found
            else None
        )
    except (ValueError, OverflowError):
        return None


def _folder_in(record: Mapping[str, Any]) -> str:
    """Return the folder that an older version gives the model at the start of a session."""
    text = texts_of(record.get("content"))
    for before, after in (("<cwd>", "</cwd>"), ("Current working directory: ", "\n")):
        start = text.find(before)
        if start >= 0:
            return text[start + len(before) :].partition(after)[0].strip()
    return ""


class _Reading(OneTurnReading):
    """Reads turns from the records of one file. `repeated`: returns which turns are from another session."""

    def __init__(self, facts: SessionFacts, resume: Resume, repeated: Repeated) -> None:
        super().__init__(facts, resume)
        self._repeated = repeated
        self._has_events = resume.marks.get("events") is True
        """Prompts have separate records: not all messages to the model are the user's."""
        self._task = ""
        """Id of the task under way, where the program names it."""
        self._is_next = False
        """Another task began: further work is not part of the current turn."""
        self._typed = ""
        """The last prompt as sent to the model."""
        self._said = ""

    def _close(self) -> None:
        if self._turn is not None:
            self._repeated.mark(self._turn)

    def _rest(self) -> Iterator[Item]:
        yield from super()._rest()
        self._resume.marks["events"] = self._has_events

    def _record(self, line: Line) -> Iterator[Item]:
        record = line.record
        kind, payload = as_text(record.get("type")), record
        at = parse_time(record.get("timestamp"))
        if kind in {"response_item", "event_msg", "session_meta", "turn_context", "compacted"}:
            payload = as_record(record.get("payload"))
            is_event, kind = kind == "event_msg", as_text(payload.get("type")) or kind
        else:
            is_event = False
        if kind == "session_meta":
            self._repeated.enter(_facts_in(record))
        if kind in {"turn_context", "session_meta"}:
            self._enter(as_text(payload.get("cwd")), kind)
        elif is_event:
            yield from self._event(kind, payload, line, at)
        else:
            yield from self._item(kind, payload, line, at)

    def _enter(self, folder: str, kind: str) -> None:
        """Record the working folder; in some versions, the context of a turn comes after its prompt."""
        self._folder = folder or self._folder
        if kind == "turn_context" and self._turn is not None and self._turn.is_empty:
            self._turn.folder = self._folder

    # --- records of the program ---

    def _event(self, kind: str, payload: Mapping[str, Any], line: Line, at: float | None) -> Iterator[Item]:
        if kind in {"user_message", "task_started", "turn_started"}:
            self._now_with_events()
        if kind in {"task_started", "turn_started"}:
            self._is_next = self._turn is not None and not self._turn.is_empty
            self._task, self._typed = as_text(payload.get("turn_id")), ""
        elif kind == "user_message":
            text = as_text(payload.get("message"))
            yield from self._prompt(text, line, at, for_agent=not text.lstrip().startswith(_NOT_TYPED))
        elif kind == "thread_name_updated":
            if title := as_text(payload.get("thread_name") or payload.get("name")).strip():
                yield Named(title)
        elif kind == "thread_rolled_back":
            self._withdraw()
        elif kind in _WORK or kind in _MARKS:
            yield from self._agent_event(kind, payload, line, at)
        elif kind not in _KNOWN:
            kind = f"event {as_kind(kind, 'without a type')}"
            yield Skipped(kind, line.start, record=line.record, time=at)

    def _agent_event(self, kind: str, payload: Mapping[str, Any], line: Line, at: float | None) -> Iterator[Item]:
        task = as_text(payload.get("turn_id"))
        if kind in _ENDS and task and self._task and task != self._task:
            # The end of a task that is not the one under way.
            return
        said = as_text(payload.get("message") or payload.get("last_agent_message"))
        if kind in _WORK or (said and kind in _ENDS):
            yield from self._continue_turn(line, said)
        self._work(kind, payload, at)

    def _continue_turn(self, line: Line, text: str) -> Iterator[Item]:
        """Begin a turn if the agent answers an unreadable prompt after the last one."""
        turn, damaged = self._turn, self._unreadable
        if damaged and text and text == self._said and not self._is_next:
            # The second record of the same text.
            return
        is_next = bool(damaged) if turn is None else self._is_next or bool(damaged and self._hides_prompt(turn))
        if is_next:
            yield from self._end()
            # After the end of another record, more than the last prompt is missing.
            self._begin_with(line, "" if any(map(is_spliced, damaged.split("\n"))) else self._typed)
        elif turn is not None:
            turn.continue_turn()
        self._unreadable = ""

    def _hides_prompt(self, turn: Turn) -> bool:
        if turn.is_complete:
            return super()._hides_prompt(turn)
        # A prompt has several records: the others suffice unless more than one is lost.
        return any(is_spliced(part) or _PROMPT.search(part) for part in self._unreadable.split("\n"))

    def _now_with_events(self) -> None:
        """Use the program's records of prompts from now on: earlier messages to the model are instructions."""
        if not self._has_events and self._turn is not None and not self._turn.has_work:
            self._turn = None
            self._number = self._before
        self._has_events = True

    def _work(self, kind: str, payload: Mapping[str, Any], at: float | None) -> None:
        turn = self._turn
        if turn is None or self._is_next:
            return
        if not (turn.is_over and kind == "token_count"):
            # Limits are counted again when a session is resumed.
            turn.at(at)
        if kind == "agent_message":
            self._say(turn, as_text(payload.get("message")))
        elif kind == "agent_reasoning":
            self._think(turn, as_text(payload.get("text")))
        elif kind == "token_count":
            info = as_record(payload.get("info"))
            last = as_record(info.get("last_token_usage"))
            fresh = as_count(last.get("input_tokens")) - as_count(last.get("cached_input_tokens"))
            total = as_count(as_record(info.get("total_token_usage")).get("total_tokens"))
            if last:
                turn.spend(f"total {total}", max(0, fresh) + as_count(last.get("output_tokens")))
        elif kind == "turn_aborted":
            why = as_text(payload.get("reason")) or "interrupted"
            turn.stop("interrupted", f"stopped: {why[:100]}")
        elif kind == "error":
            turn.stop("failed", as_text(payload.get("message"))[:300])
        else:
            self._say(turn, as_text(payload.get("last_agent_message")))
            turn.is_over = True

    # --- input and output of the model ---

    def _item(self, kind: str, payload: Mapping[str, Any], line: Line, at: float | None) -> Iterator[Item]:
        text, role = texts_of(payload.get("content")), payload.get("role")
        if kind == "message" and role == "user":
            if not text.lstrip().startswith(_NOT_TYPED):
                if not self._has_events:
                    yield from self._prompt(text, line, at)
                elif self._turn is None or not self._turn.is_empty:
                    self._typed = text
        elif kind in {"message", "reasoning", *CALLS, *OUTPUTS}:
            if kind == "message" and role != "assistant":
                return
            if not (self._turn and kind in OUTPUTS and self._turn.waits_for(as_text(payload.get("call_id")))):
                yield from self._continue_turn(line, text)
            if self._turn is not None:
                self._do(self._turn, kind, payload)
                self._turn.at(at)
        elif kind not in _KNOWN and not (kind == "" and ("record_type" in payload or "id" in payload)):
            kind = f"record {as_kind(kind, 'without a type')}"
            yield Skipped(kind, line.start, record=line.record, time=at)

    def _do(self, turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
        if kind == "message":
            self._say(turn, texts_of(payload.get("content")))
        elif kind == "reasoning":
            self._think(turn, texts_of(payload.get("summary")))
        elif kind in CALLS:
            begin_call(turn, kind, payload)
        elif kind in OUTPUTS:
            end_call(turn, payload)

    # --- turns ---

    def _prompt(self, text: str, line: Line, at: float | None, *, for_agent: bool = True) -> Iterator[Item]:
        turn = self._turn
        if not text.strip():
            return
        if turn is not None and turn.is_empty:
            if piece(text, PROMPT_CHARACTERS) not in turn.prompts:
                turn.ask(text, for_agent=for_agent)
            return
        yield from self._end()
        self._begin_with(line, text, for_agent=for_agent).at(at)

    def _begin_with(self, line: Line, text: str, *, for_agent: bool = True) -> Turn:
        self._is_next, self._unreadable, self._typed = False, "", ""
        self._said = self._thought = ""
        # Copies of a session have other ids and times; a prompt has the same place in each. An unreadable prompt is not
        # counted.
        place = self._number + bool(text)
        turn = self._begin(line, f"{place} {sha256(text.encode()).hexdigest()[:16]}")
        self._number = place
        turn.ask(text, for_agent=for_agent)
        return turn

    def _say(self, turn: Turn, text: str) -> None:
        """Add an answer, which has two consecutive records."""
        if not turn.prompts:
            turn.answered_by(text)
        if text != self._said:
            turn.say(text)
        self._said = text
