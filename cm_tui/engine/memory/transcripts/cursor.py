"""Cursor's transcripts of agents: `~/.cursor/projects/PROJECT/agent-transcripts/ID/ID.jsonl`, a message a line.

Cursor documents no format. What is read here is what several public programs that read these files agree on: lines with
`role` and `message.content` (a text, or blocks `text` and `tool_use`), lines `{"type": "turn_ended", "status": …}`, no
times and no ids, the project's folder as its path with dashes, and the variable `CURSOR_DATA_DIR`. Not supported, as no
public source describes them well enough: the older transcripts in plain text, which are listed as not read; the
conversations of the editor itself in `state.vscdb`; the command line's own `store.db`; projects with a shortened name,
which several folders may have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.transcripts.files import dashed, folder_among, folders_called, paths_in, unknown_folder
from cm_tui.engine.memory.transcripts.format import FolderFormat
from cm_tui.engine.memory.transcripts.line_reading import OneTurnReading
from cm_tui.engine.memory.transcripts.lines import Line, as_id, as_kind, as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.tools import use_tool
from cm_tui.engine.memory.transcripts.transcript import Item, Resume, Skipped, Transcript, texts_of
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

_HEAD_LINES = 200
"""Messages by whose paths the folder of a session is looked for."""
_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_WRITERS = frozenset(
    {"Write", "StrReplace", "Edit", "MultiEdit", "EditNotebook", "Delete", "edit_file", "search_replace"}
)


class Cursor(FolderFormat):
    """The transcripts of Cursor's agents."""

    agent = "cursor"
    asides = frozenset({"turn_ended"})
    names = re.compile(r"(?:[^/]+/(?:subagents/)?)?[^/]+\.jsonl(?:\.gz)?")
    _leaf = "agent-transcripts"

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self._base = self._folder_in("CURSOR_DATA_DIR", ".cursor") / "projects"
        self._by_name: dict[str, list[str]] = {}

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them, including sub-agents."""
        self._by_name.clear()
        yield from super().transcripts()
        reason = "it is a plain-text transcript of an older version of Cursor, which is not supported"
        for place in self.places:
            self._pass_over(place, ".txt", reason)

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts, from its path and the files that it names; None: no message."""
        file = Path(transcript.name)
        lines = list(self._head(transcript, _HEAD_LINES))
        if not any(_role_of(line.record) for line in lines):
            return None
        parent = as_id(file.parent.parent.name) if file.parent.name == "subagents" else ""
        project = next((one.parent.name for one in file.parents if one.name == "agent-transcripts"), "")
        named = (path for line in lines for block in _blocks(line.record) for path in paths_in(block.get("input")))
        return SessionFacts(self.agent, as_id(file.name.partition(".")[0]), self._folder(project, named), parent=parent)

    def _reading(self, facts: SessionFacts, resume: Resume) -> OneTurnReading:
        return _Reading(facts, resume)

    def _folder(self, project: str, named: Iterator[str]) -> str:
        """Return the folder of a project's name: one that the session names, else the only one."""
        name = dashed(project)
        if found := folder_among(named, lambda path: dashed(path) == name):
            return found
        if name not in self._by_name:
            self._by_name[name] = folders_called(name)
        gone = (os.path.normpath(one) for one in self.folders if dashed(one) == name)
        called = list(dict.fromkeys((*self._by_name[name], *gone)))
        return called[0] if len(called) == 1 else unknown_folder(project)


def _role_of(record: Mapping[str, Any]) -> str:
    return as_text(record.get("role")) if isinstance(record.get("message"), dict) else ""


def _blocks(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [as_record(block) for block in as_list(as_record(record.get("message")).get("content"))]


class _Reading(OneTurnReading):
    """Turns from the messages of one file."""

    def _record(self, line: Line) -> Iterator[Item]:
        record, role = line.record, _role_of(line.record)
        if role == "user":
            text = texts_of(as_record(record.get("message")).get("content"))
            queries = [query.strip() for query in _QUERY.findall(text)]
            text = "\n".join(queries) if queries else text
            yield from self._ask(text, line, None, self._key(text))
            self._results(record)
        elif role == "assistant":
            turn = yield from self._step(line, self._key(""))
            if turn is not None:
                self._work(turn, line)
        elif record.get("type") == "turn_ended":
            self._ended(record)
        else:
            kind = as_kind(record.get("type") or record.get("role"), "without a type")
            yield Skipped(f"record {kind}", line.start, record=record)

    def _key(self, text: str) -> str:
        """Return the key of a turn: messages have no ids, but a prompt has the same place in each copy."""
        digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
        return f"{self._facts.session} {self._number + 1} {digest}"

    def _work(self, turn: Turn, line: Line) -> None:
        if isinstance(text := as_record(line.record.get("message")).get("content"), str):
            turn.say(as_text(text))
        for number, block in enumerate(_blocks(line.record)):
            kind = block.get("type")
            if kind == "text":
                turn.say(as_text(block.get("text")))
            elif kind == "thinking":
                turn.think(as_text(block.get("thinking")))
            elif kind == "tool_use":
                tool, given = as_text(block.get("name")), as_record(block.get("input"))
                call = as_text(block.get("id")) or f"{line.start} {number}"
                use_tool(turn, call, tool, given, writes=tool in _WRITERS)
        self._results(line.record)

    def _results(self, record: Mapping[str, Any]) -> None:
        for block in _blocks(record):
            if block.get("type") == "tool_result" and self._turn is not None:
                call, failed = as_text(block.get("tool_use_id")), block.get("is_error") is True
                self._turn.get(call, texts_of(block.get("content")), failed=failed)

    def _ended(self, record: Mapping[str, Any]) -> None:
        turn, status = self._turn, as_text(record.get("status"))
        if turn is None or turn.is_over:
            return
        if status == "aborted":
            turn.stop("interrupted", "stopped by the user")
        elif status == "error":
            turn.stop("failed", as_text(record.get("error"))[:300])
        else:
            turn.is_over = True
