"""Codex's transcripts: `sessions/**/rollout-*.jsonl`, flat records in old versions, wrapped ones in newer versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cm_tui.engine.importers import patches
from cm_tui.engine.importers.files import found_files
from cm_tui.engine.importers.lines import Line, as_count, as_record, as_text, opened, parse_json, read_lines
from cm_tui.engine.importers.transcript import (
    Item,
    Named,
    Read,
    Resume,
    Skipped,
    Transcript,
    given_path,
    given_words,
    parse_time,
    plan_of,
    texts_of,
)
from cm_tui.engine.importers.turn import SessionFacts, Turn

_HEAD_LINES = 20
_NOT_TYPED = ("<user_instructions>", "<environment_context>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<turn_aborted>",
              "<permissions", "<skill>", "<subagent_notification>", "<app-context>", "<collaboration_mode>")  # fmt: skip
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_KNOWN = frozenset({
    "agent_reasoning_delta", "agent_reasoning_raw_content", "agent_reasoning_section_break", "background_event", "compacted", "compaction",
    "context_compacted", "collab_tool_call", "deprecation_notice", "entered_review_mode", "exec_command_begin", "exec_command_end",
    "exited_review_mode", "ghost_snapshot", "image_generation_call", "item_completed", "item_started", "mcp_startup_complete",
    "mcp_tool_call_begin", "mcp_tool_call_end", "other", "patch_apply_begin", "patch_apply_end", "plan_update", "session_configured",
    "shutdown_complete", "state", "stream_error", "task_started", "thread_rolled_back", "turn_context", "turn_diff", "turn_started",
    "undo_completed", "undo_started", "view_image_tool_call", "warning", "web_search_begin", "web_search_end", "world_state",
})  # fmt: skip
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|exit_code\"?:) *(-?\d{1,5})", re.IGNORECASE)
_WRITTEN = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)


class Codex:
    """The transcripts of Codex.

    Args:
        environment: says where they lie, when they do not lie in their usual place.
    """

    agent = "codex"

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._home = Path(environment.get("CODEX_HOME") or Path.home() / ".codex").expanduser()

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them, archived ones too."""
        for name in ("sessions", "archived_sessions"):
            for found in found_files(self._home / name, ".jsonl", depth=6, prefix="rollout-"):
                yield Transcript(self.agent, str(found.path), found.path, found.size, found.changed)

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return whose it is: its first record, and the folder of an older one that says none."""
        facts: SessionFacts | None = None
        with opened(transcript.file) as stream:
            for number, line in enumerate(read_lines(stream)):
                facts = facts or self._facts(line.record)
                if facts is not None and not facts.folder:
                    facts = facts.having(folder=_folder_in(line.record))
                if (facts is not None and facts.folder) or number >= _HEAD_LINES:
                    break
        return facts

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns from a place on."""
        with opened(transcript.file) as stream:
            yield from _Reading(facts, resume).items(read_lines(stream, resume.offset))

    def _facts(self, record: Mapping[str, Any]) -> SessionFacts | None:
        wrapped = record.get("type") == "session_meta"
        meta = as_record(record.get("payload")) if wrapped else record
        session = as_text(meta.get("id"))
        if not session or (not wrapped and "type" in record):
            return None
        git = as_record(meta.get("git"))
        spawn = as_record(as_record(as_record(meta.get("source")).get("subagent")).get("thread_spawn"))
        return SessionFacts(
            self.agent,
            session,
            as_text(meta.get("cwd")),
            parent=as_text(spawn.get("parent_thread_id") or meta.get("parent_thread_id")),
            continues=as_text(meta.get("forked_from_id")),
            began=parse_time(meta.get("timestamp")),
            commit=as_text(git.get("commit_hash")),
            remote=as_text(git.get("repository_url")),
        )


def _folder_in(record: Mapping[str, Any]) -> str:
    """Return the folder that an older version tells the model of, at the beginning of a session."""
    text = texts_of(record.get("content"))
    for before, after in (("<cwd>", "</cwd>"), ("Current working directory: ", "\n")):
        start = text.find(before)
        if start >= 0:
            return text[start + len(before) :].partition(after)[0].strip()
    return ""


class _Reading:
    """Turns from the records of one file.

    Args:
        facts: whose file it is.
        resume: where it begins; says at the end where to go on.
    """

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        self._folder = facts.folder
        self._resume = resume
        self._turn: Turn | None = None
        self._start = resume.offset
        self._number = resume.turns
        self._has_events = resume.marks.get("events") is True
        """The program tells what was typed in records of their own: messages to the model are not all of a person."""
        self._said = self._thought = ""
        self._patches: dict[str, str] = {}

    def items(self, lines: Iterator[Line]) -> Iterator[Item]:
        """Yield turns, and what was not taken."""
        end = self._resume.offset
        for line in lines:
            if line.problem:
                yield Skipped(line.problem, line.start, is_broken=True)
            else:
                yield from self._record(line)
            end = line.end
        if self._turn is not None:
            yield Read(self._turn, self._start, end, is_last=True, number=self._number - 1)
        self._resume.offset, self._resume.turns = end, self._number
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
        if self._turn is not None:
            self._turn.at(at)
        if kind in {"turn_context", "session_meta"}:
            self._folder = as_text(payload.get("cwd")) or self._folder
        elif is_event:
            yield from self._event(kind, payload, line, at)
        else:
            yield from self._item(kind, payload, line, at)

    # --- what the program tells ---

    def _event(self, kind: str, payload: Mapping[str, Any], line: Line, at: float | None) -> Iterator[Item]:
        turn = self._turn
        if kind in {"user_message", "task_started"}:
            self._now_with_events()
        if kind == "user_message":
            yield from self._ask(as_text(payload.get("message")), line, at)
        elif kind == "thread_name_updated":
            if title := as_text(payload.get("thread_name") or payload.get("name")).strip():
                yield Named(title)
        elif kind in {
            "agent_message",
            "agent_reasoning",
            "token_count",
            "task_complete",
            "turn_complete",
            "turn_aborted",
            "error",
        }:
            if turn is not None:
                self._work(turn, kind, payload)
        elif kind not in _KNOWN:
            yield Skipped(f"event {kind[:60] or 'without a type'}", line.start)

    def _now_with_events(self) -> None:
        """Take the program's word for what was typed from now on: messages to the model before it are instructions."""
        if not self._has_events and self._turn is not None and self._turn.is_empty:
            self._turn = None
            self._number -= 1
        self._has_events = True

    def _work(self, turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
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

    # --- what the model was given and gave ---

    def _item(self, kind: str, payload: Mapping[str, Any], line: Line, at: float | None) -> Iterator[Item]:
        text, role = texts_of(payload.get("content")), payload.get("role")
        if kind == "message" and role == "user":
            if not self._has_events and not text.lstrip().startswith(_NOT_TYPED):
                yield from self._ask(text, line, at)
        elif kind in {"message", "reasoning", *_CALLS, *_OUTPUTS}:
            if self._turn is not None:
                self._do(self._turn, kind, payload)
        elif kind not in _KNOWN and not (kind == "" and ("record_type" in payload or "id" in payload)):
            yield Skipped(f"record {kind[:60] or 'without a type'}", line.start)

    def _do(self, turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
        if kind == "message" and payload.get("role") == "assistant":
            self._say(turn, texts_of(payload.get("content")))
        elif kind == "reasoning":
            self._think(turn, texts_of(payload.get("summary")))
        elif kind in _CALLS:
            self._call(turn, kind, payload)
        elif kind in _OUTPUTS:
            self._output(turn, payload)

    def _call(self, turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
        call = as_text(payload.get("call_id") or payload.get("id"))
        name = as_text(payload.get("name")) or kind.removesuffix("_call")
        raw = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
        parsed = parse_json(raw.encode("utf-8", "replace")) if isinstance(raw, str) else raw
        given = as_record(parsed) or ({"command": as_text(raw)} if isinstance(raw, str) else {})
        words = given_words(given)
        turn.use(call, name, words, given_path(given))
        if name == "update_plan":
            turn.intend(
                "\n".join(filter(None, (as_text(given.get("explanation")), plan_of(given.get("plan"), "step"))))
            )
        patch = next((as_text(value) for value in (given.get("input"), given.get("patch"), raw, words)
                      if isinstance(value, str) and "*** Begin Patch" in value), "")  # fmt: skip
        if patch:
            inside = patch[patch.find("*** Begin Patch") :].partition("*** End Patch")[0]
            self._patches[call] = inside if "\n" in inside else inside.replace("\\n", "\n")

    def _output(self, turn: Turn, payload: Mapping[str, Any]) -> None:
        call, output = as_text(payload.get("call_id")), payload.get("output")
        told = (
            parse_json(output.encode("utf-8", "replace"))
            if isinstance(output, str) and output.startswith("{")
            else output
        )
        record = as_record(told)
        code = as_record(record.get("metadata")).get("exit_code")
        text = as_text(record.get("output") or record.get("content")) or texts_of(output)
        found = _EXIT.search(text[:400]) if code is None else None
        failed = code not in {None, 0} or (found is not None and found[1] != "0") or record.get("success") is False
        turn.get(call, text, failed=failed)
        patch = self._patches.pop(call, "")
        if patch and not failed:
            for path in _WRITTEN.findall(patch):
                turn.write(path.strip())
            turn.patch.add(patches.from_apply_patch(patch))

    # --- turns ---

    def _ask(self, text: str, line: Line, at: float | None) -> Iterator[Item]:
        turn = self._turn
        if not text.strip():
            return
        if turn is not None and turn.is_empty:
            if not any(text.startswith(prompt.text) for prompt in turn.prompts):
                turn.ask(text)
            return
        if turn is not None:
            yield Read(turn, self._start, line.start, number=self._number - 1)
        self._begin(line, text).at(at)

    def _begin(self, line: Line, text: str) -> Turn:
        self._number += 1
        # Copies of a session have other ids and times; what was asked stands at the same place in each.
        self._turn = turn = Turn(f"{self._number} {sha256(text.encode()).hexdigest()[:16]}", self._folder)
        self._start = line.start
        self._said = self._thought = ""
        turn.ask(text)
        return turn

    def _say(self, turn: Turn, text: str) -> None:
        """Add what was said; it stands in two records, one after the other."""
        if text != self._said:
            turn.say(text)
        self._said = text

    def _think(self, turn: Turn, text: str) -> None:
        if text != self._thought:
            turn.think(text)
        self._thought = text
