"""Transcripts of agents, written as each of them writes its own: for tests."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

LONG_AGO = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp()


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(LONG_AGO + seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_lines(file: Path, records: Iterable[Any], *, old: bool = True) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as stream:
        for record in records:
            stream.write(record if isinstance(record, bytes) else json.dumps(record).encode() + b"\n")
    if old:
        # It came to rest long ago.
        os.utime(file, (LONG_AGO, LONG_AGO))
    return file


class Claude:
    """A session of Claude Code."""

    def __init__(self, home: Path, folder: Path | str, session: str = "11111111-aaaa-4aaa-8aaa-111111111111") -> None:
        self.home, self.folder, self.session = home, str(folder), session
        self.file = home / "projects" / str(folder).replace("/", "-") / f"{session}.jsonl"
        self.clock = 0.0
        self.number = 0
        self.last: str | None = None
        self.side: dict[str, Any] = {}

    def record(self, kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        self.clock += 5
        self.number += 1
        uuid = f"{self.session[:8]}-{self.number}"
        record = {
            "parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": self.folder, "sessionId": self.session,
            "version": "2.1.0", "gitBranch": "main", "type": kind, "uuid": uuid, "timestamp": iso(self.clock), "message": message,
            **self.side, **more,
        }  # fmt: skip
        self.last = uuid
        return record

    def asked(self, text: str, **more: Any) -> dict[str, Any]:
        return self.record("user", {"role": "user", "content": text}, **more)

    def said(self, text: str, *, over: bool = True, **more: Any) -> dict[str, Any]:
        return self._assistant([{"type": "text", "text": text}], "end_turn" if over else None, **more)

    def used(self, tool: str, given: dict[str, Any], call: str = "", **more: Any) -> dict[str, Any]:
        part = {"type": "tool_use", "id": call or f"toolu_{self.number}", "name": tool, "input": given}
        return self._assistant([{"type": "thinking", "thinking": "hm", "signature": "x"}, part], "tool_use", **more)

    def got(self, call: str, text: str, *, failed: bool = False, **more: Any) -> dict[str, Any]:
        part = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": [{"type": "text", "text": text}],
            "is_error": failed,
        }
        return self.record("user", {"role": "user", "content": [part]}, **more)

    def _assistant(self, parts: list[dict[str, Any]], reason: str | None, **more: Any) -> dict[str, Any]:
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 9_000,
            "output_tokens": 7,
        }
        message = {
            "id": f"msg_{self.number}",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": parts,
            "stop_reason": reason,
        }
        return self.record("assistant", {**message, "usage": usage}, **more)

    def turn(self, prompt: str, answer: str) -> list[dict[str, Any]]:
        return [self.asked(prompt), self.said(answer)]

    def write(self, records: Iterable[Any], *, old: bool = True) -> Path:
        return write_lines(self.file, records, old=old)


class Codex:
    """A session of Codex, in its newer form."""

    def __init__(self, home: Path, folder: Path | str, session: str = "22222222-bbbb-4bbb-8bbb-222222222222") -> None:
        self.home, self.folder, self.session = home, str(folder), session
        self.file = home / "sessions" / "2026" / "03" / "02" / f"rollout-2026-03-02T09-00-00-{session}.jsonl"
        self.clock = 0.0

    def line(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        self.clock += 5
        return {"timestamp": iso(self.clock), "type": kind, "payload": payload}

    def meta(self, **more: Any) -> dict[str, Any]:
        meta = {
            "id": self.session,
            "timestamp": iso(self.clock),
            "cwd": self.folder,
            "originator": "codex_cli_rs",
            "source": "cli",
        }
        return self.line("session_meta", {**meta, **more})

    def event(self, kind: str, **more: Any) -> dict[str, Any]:
        return self.line("event_msg", {"type": kind, **more})

    def item(self, kind: str, **more: Any) -> dict[str, Any]:
        return self.line("response_item", {"type": kind, **more})

    def message(self, role: str, text: str) -> dict[str, Any]:
        return self.item("message", role=role, content=[{"type": "input_text", "text": text}])

    def turn(self, prompt: str, answer: str) -> list[dict[str, Any]]:
        return [
            self.event("task_started", turn_id="t"), self.message("user", prompt), self.event("user_message", message=prompt),
            self.event("agent_message", message=answer), self.message("assistant", answer), self.event("task_complete", last_agent_message=answer),
        ]  # fmt: skip

    def write(self, records: Iterable[Any], *, old: bool = True) -> Path:
        return write_lines(self.file, records, old=old)


class Copilot:
    """A session of Copilot CLI."""

    def __init__(self, home: Path, folder: Path | str, session: str = "33333333-dddd-4ddd-8ddd-333333333333") -> None:
        self.home, self.folder, self.session = home, str(folder), session
        self.file = home / "session-state" / session / "events.jsonl"
        self.clock = 0.0
        self.number = 0

    def event(self, kind: str, event_: dict[str, Any] | None = None, **data: Any) -> dict[str, Any]:
        self.clock += 5
        self.number += 1
        id_, before = f"{self.session[:8]}-e{self.number}", f"{self.session[:8]}-e{self.number - 1}"
        event = {"type": kind, "data": data, "id": id_, "timestamp": iso(self.clock), "parentId": before}
        return {**event, **(event_ or {})}

    def start(self, **context: Any) -> dict[str, Any]:
        context = {"cwd": self.folder, "gitRoot": self.folder, "branch": "main", **context}
        return self.event(
            "session.start", sessionId=self.session, version=1, producer="copilot-agent", copilotVersion="1.0.63",
            startTime=iso(self.clock), context=context,
        )  # fmt: skip

    def asked(self, text: str, **more: Any) -> dict[str, Any]:
        return self.event("user.message", content=text, transformedContent=f"<t>{text}</t>", attachments=[], **more)

    def said(self, text: str, **more: Any) -> dict[str, Any]:
        return self.event(
            "assistant.message", messageId=f"m{self.number}", content=text, toolRequests=[], outputTokens=7, **more
        )

    def used(self, tool: str, given: Any, call: str) -> dict[str, Any]:
        return self.event("tool.execution_start", toolCallId=call, toolName=tool, arguments=given)

    def got(self, call: str, text: str, *, failed: bool = False) -> dict[str, Any]:
        outcome = {"error": {"message": text}} if failed else {"result": {"content": text, "detailedContent": text}}
        return self.event("tool.execution_complete", toolCallId=call, success=not failed, **outcome)

    def turn(self, prompt: str, answer: str) -> list[dict[str, Any]]:
        return [
            self.asked(prompt), self.event("assistant.turn_start", turnId="0"), self.said(answer),
            self.event("assistant.turn_end", turnId="0"),
        ]  # fmt: skip

    def write(self, records: Iterable[Any], *, old: bool = True) -> Path:
        return write_lines(self.file, records, old=old)


class Gemini:
    """A session of Gemini CLI, in its newer form."""

    def __init__(self, home: Path, folder: Path | str, session: str = "44444444-eeee-4eee-8eee-444444444444") -> None:
        self.home, self.folder, self.session = home, str(folder), session
        self.digest = sha256(self.folder.encode()).hexdigest()
        self.project = home / ".gemini" / "tmp" / "shop"
        self.file = self.project / "chats" / f"session-2026-03-02T09-00-{session[:8]}.jsonl"
        self.clock = 0.0
        self.number = 0

    def meta(self, **more: Any) -> dict[str, Any]:
        return {
            "sessionId": self.session, "projectHash": self.digest, "startTime": iso(self.clock), "lastUpdated": iso(self.clock),
            "kind": "main", **more,
        }  # fmt: skip

    def message(self, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        self.clock += 5
        self.number += 1
        id_ = f"{self.session[:8]}-m{self.number}"
        return {"id": id_, "timestamp": iso(self.clock), "type": kind, "content": content, **more}

    def asked(self, text: str, **more: Any) -> dict[str, Any]:
        return self.message("user", [{"text": text}], **more)

    def said(self, text: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
        tokens = {"input": 100, "output": 7, "cached": 90, "thoughts": 3, "tool": 0, "total": 110}
        return self.message("gemini", text, thoughts=[], tokens=tokens, toolCalls=list(calls), model="m", **more)

    def call(self, tool: str, args: Any, output: str = "ok", status: str = "success", **more: Any) -> dict[str, Any]:
        id_ = f"{tool}-{self.number}"
        answer = {"functionResponse": {"id": id_, "name": tool, "response": {"output": output}}}
        return {
            "id": id_,
            "name": tool,
            "args": args,
            "result": [answer],
            "status": status,
            "timestamp": iso(self.clock),
            **more,
        }

    def turn(self, prompt: str, answer: str) -> list[dict[str, Any]]:
        return [self.asked(prompt), self.said(answer)]

    def write(self, records: Iterable[Any], *, old: bool = True) -> Path:
        self.name_project()
        return write_lines(self.file, records, old=old)

    def write_document(self, messages: Iterable[Any], **more: Any) -> Path:
        """Write it as older versions do: one document, rewritten as it grows."""
        file = self.file.with_suffix(".json")
        file.unlink(missing_ok=True)
        text = json.dumps({**self.meta(), "messages": list(messages), **more}, indent=2)
        return write_lines(file, [text.encode()])

    def name_project(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        (self.project / ".project_root").write_text(self.folder)


class Cursor:
    """A session of an agent of Cursor."""

    def __init__(self, home: Path, folder: Path | str, session: str = "55555555-ffff-4fff-8fff-555555555555") -> None:
        self.home, self.folder, self.session = home, str(folder), session
        self.project = home / "projects" / re.sub("[^A-Za-z0-9]", "-", str(folder)).lstrip("-")
        self.file = self.project / "agent-transcripts" / session / f"{session}.jsonl"

    def asked(self, text: str) -> dict[str, Any]:
        block = {"type": "text", "text": f"<timestamp>Sat</timestamp>\n<user_query>\n{text}\n</user_query>"}
        return {"role": "user", "message": {"content": [block]}}

    def said(self, text: str, *tools: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        used = [{"type": "tool_use", "name": name, "input": given} for name, given in tools]
        return {
            "role": "assistant",
            "message": {"content": [*([{"type": "text", "text": text}] if text else []), *used]},
        }

    def ended(self, status: str = "success", **more: Any) -> dict[str, Any]:
        return {"type": "turn_ended", "status": status, **more}

    def turn(self, prompt: str, answer: str) -> list[dict[str, Any]]:
        return [self.asked(prompt), self.said(answer), self.ended()]

    def write(self, records: Iterable[Any], *, old: bool = True) -> Path:
        return write_lines(self.file, records, old=old)


class OpenCode:
    """Sessions of OpenCode, as files of records or as a database."""

    def __init__(self, data: Path, folder: Path | str, project: str = "global") -> None:
        self.base, self.folder, self.project = data / "opencode", str(folder), project
        self.clock = 0
        self.number = 0
        self.sessions: list[dict[str, Any]] = []
        self.messages: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []

    def time(self) -> int:
        self.clock += 5_000
        return int(LONG_AGO * 1_000) + self.clock

    def session(self, name: str, **more: Any) -> str:
        info = {
            "id": name,
            "projectID": self.project,
            "directory": self.folder,
            "title": f"About {name}",
            "time": {"created": self.time()},
        }
        self.sessions.append({**info, **more})
        return name

    def message(self, session: str, role: str, parts: list[dict[str, Any]], **more: Any) -> None:
        self.number += 1
        info = {
            "id": f"msg_{self.number:04}",
            "sessionID": session,
            "role": role,
            "time": {"created": self.time()},
            **more,
        }
        if role == "assistant" and "error" not in more:
            info |= {
                "finish": "stop",
                "tokens": {"input": 5, "output": 6, "reasoning": 1, "cache": {"read": 99, "write": 2}},
            }
            info["time"]["completed"] = self.time()
        self.messages.append((info, parts))

    def turn(self, session: str, prompt: str, answer: str) -> None:
        self.message(session, "user", [{"type": "text", "text": prompt}])
        self.message(
            session, "assistant", [{"type": "step-start"}, {"type": "text", "text": answer}, {"type": "step-finish"}]
        )

    def write_files(self, *, oldest: bool = False) -> None:
        storage = self.base / "project" / "p" / "storage" / "session" if oldest else self.base / "storage"
        for info in self.sessions:
            folder = storage / "info" if oldest else storage / "session" / self.project
            self._put(folder / f"{info['id']}.json", info)
        for info, parts in self.messages:
            self._put(storage / "message" / info["sessionID"] / f"{info['id']}.json", info)
            below = (info["sessionID"], info["id"]) if oldest else (info["id"],)
            for number, part in enumerate(parts):
                self._put(storage.joinpath("part", *below, f"prt_{number:04}.json"), part)

    def write_database(self) -> Path:
        file = self.base / "opencode.db"
        file.parent.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(file) as db:
            db.executescript(
                "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INT, time_updated INT);"
                "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INT, data TEXT);"
                "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
            )
            for info in self.sessions:
                row = (
                    info["id"],
                    info["projectID"],
                    info.get("parentID"),
                    info["directory"],
                    info["title"],
                    info["time"]["created"],
                )
                db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", [*row, info["time"]["created"]])
            for info, parts in self.messages:
                rest = {key: value for key, value in info.items() if key not in {"id", "sessionID"}}
                row = (info["id"], info["sessionID"], info["time"]["created"], json.dumps(rest))
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
                for number, part in enumerate(parts):
                    one = (f"{info['id']}-{number:04}", info["id"], info["sessionID"], json.dumps(part))
                    db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", one)
        db.close()
        return file

    def _put(self, file: Path, record: dict[str, Any]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record))
        os.utime(file, (LONG_AGO, LONG_AGO))
        os.utime(file.parent, (LONG_AGO, LONG_AGO))
