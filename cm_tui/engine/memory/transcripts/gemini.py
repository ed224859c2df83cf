"""Gemini CLI's transcripts: `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`, and `.json` of older versions.

Format as written by the public `google-gemini/gemini-cli`: `packages/core/src/services/chatRecordingService.ts` and
`chatRecordingTypes.ts` (records), `config/projectRegistry.ts` and `config/storage.ts` (folders), `utils/paths.ts` (the
digest of a folder), `utils/sessionUtils.ts` (text that was not typed), `packages/cli/src/utils/sessionCleanup.ts`
(retention).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from cm_tui.engine.memory.transcripts.files import folder_among, paths_in, unknown_folder
from cm_tui.engine.memory.transcripts.format import FolderFormat
from cm_tui.engine.memory.transcripts.line_reading import OneTurnReading
from cm_tui.engine.memory.transcripts.lines import (
    Line,
    as_count,
    as_id,
    as_kind,
    as_list,
    as_record,
    as_text,
    opened_text,
    parse_json,
)
from cm_tui.engine.memory.transcripts.patches import from_diff
from cm_tui.engine.memory.transcripts.tools import use_tool
from cm_tui.engine.memory.transcripts.transcript import Item, Named, Resume, Skipped, Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.files import read_regular

DOCUMENT_BYTES = 100_000_000
"""Of a larger document only so much is read."""
_DECODER = json.JSONDecoder()
_MESSAGES_BEGIN = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,\0]*")
_SHOWN = 20_000
_CUT = "truncated or damaged: a message and everything after it"


def is_document(file: Path) -> bool:
    """Return whether a transcript is one document, by its name."""
    return file.name.removesuffix(".gz").endswith(".json")


def document_head(stream: BinaryIO, messages: int) -> Iterator[Mapping[str, Any]]:
    """Yield the fields before the messages, as one record, then the first messages.

    Raises OSError if it cannot be read.
    """
    yield from (line.record for line in islice(document_lines(stream), messages))


def document_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield the fields before the messages as one record, each message by its number, then the later fields.

    Reading ends where the document is cut off or damaged. Raises OSError if it cannot be read.
    """
    data = stream.read(DOCUMENT_BYTES)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    found = _MESSAGES_BEGIN.search(text)
    if found is None:
        record = _object(text)
        yield Line(0, 0, record, "" if record else "not a record", text[:_SHOWN].encode("utf-8", "replace"))
        return
    yield Line(0, 0, _object(text[: found.end()] + "]}"))
    at, number = _after_blanks(text, found.end()), 0
    while at < len(text) and text[at] != "]":
        try:
            record, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError, MemoryError):
            yield Line(number, number + 1, {}, _CUT, text[at : at + _SHOWN].encode("utf-8", "replace"))
            return
        yield Line(number, number + 1, as_record(record), "" if isinstance(record, dict) else "not a record")
        number, at = number + 1, _after_blanks(text, at)
    if at >= len(text):
        yield Line(number, number + 1, {}, _CUT)
    elif rest := _object("{" + text[at + 1 :].lstrip(" \r\n\t,")):
        yield Line(number, number, rest)


def _after_blanks(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _object(text: str) -> Mapping[str, Any]:
    try:
        return as_record(json.loads(text))
    except (ValueError, RecursionError, MemoryError):
        return {}


_WRITERS = frozenset({"write_file", "replace"})
_ENDED = frozenset({"success", "error", "cancelled"})
_EXIT = re.compile(r"^Exit Code: (-?\d{1,5})$", re.MULTILINE)


def text_of(content: object) -> str:
    """Return the text of a message: a text, a part, or a list of both; without thoughts."""
    parts = content if isinstance(content, list) else [content]
    texts = (part if isinstance(part, str) else as_record(part) for part in parts)
    return "".join(
        as_text(one) if isinstance(one, str) else "" if one.get("thought") is True else as_text(one.get("text"))
        for one in texts
    )


def tool_calls(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the calls of tools in a message."""
    yield from (as_record(call) for call in as_list(message.get("toolCalls")))


def work(turn: Turn, message: Mapping[str, Any]) -> None:
    """Add the steps in a message to a turn."""
    turn.at(parse_time(message.get("timestamp")))
    for found in as_list(message.get("thoughts")):
        thought = as_record(found)
        turn.think("\n".join(filter(None, (as_text(thought.get("subject")), as_text(thought.get("description"))))))
    turn.say(text_of(message.get("content")))
    for call in tool_calls(message):
        _use(turn, call)
    tokens = as_record(message.get("tokens"))
    if tokens:
        fresh = as_count(tokens.get("input")) - as_count(tokens.get("cached"))
        spent = as_count(tokens.get("output")) + as_count(tokens.get("thoughts"))
        turn.spend(as_text(message.get("id")), max(0, fresh) + spent)


def _use(turn: Turn, call: Mapping[str, Any]) -> None:
    tool, given, id_ = as_text(call.get("name")), as_record(call.get("args")), as_text(call.get("id"))
    status = as_text(call.get("status"))
    turn.at(parse_time(call.get("timestamp")))
    use_tool(turn, id_, tool, given, writes=tool in _WRITERS)
    if status in _ENDED:
        text = _result(call)
        code = _EXIT.search(text)
        diff = as_text(as_record(call.get("resultDisplay")).get("fileDiff"))
        failed = status != "success" or (code is not None and code[1] != "0")
        turn.get(id_, text, failed=failed, diff=lambda path: from_diff(path, diff))


def _result(call: Mapping[str, Any]) -> str:
    """Return a tool's output, as sent to the model, else as displayed."""
    result = call.get("result")
    parts = result if isinstance(result, list) else [result]
    answers = (as_record(as_record(as_record(part).get("functionResponse")).get("response")) for part in parts)
    texts = [as_text(one.get("output")) or as_text(one.get("error")) for one in answers]
    return "\n".join(filter(None, texts)) or text_of(result) or as_text(call.get("resultDisplay"))


DAYS = 30
"""Default retention of a session in days."""
_SETTINGS_BYTES = 10_000_000
_HEAD_LINES = 200
"""Records by whose paths the folder of a session is looked for."""
_PERIOD = re.compile(r"([1-9]\d{0,8})([hdwm])")
_UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NOT_TYPED = ("<session_context>", "<hook_context>", "<state_snapshot>")
_OF_PROGRAM = ("/", "?")
"""Beginnings of commands that the program runs itself."""
_MESSAGES = frozenset({"user", "gemini", "info", "error", "warning"})
_IDS = 50_000
"""Messages that are known again."""


class Gemini(FolderFormat):
    """The transcripts of Gemini CLI."""

    agent = "gemini"
    asides = frozenset({""})
    """A file may hold the record of its session alone, which has no type."""
    names = re.compile(r"session-[^/]*\.jsonl?(?:\.gz)?|[^/]+/[^/]+\.jsonl(?:\.gz)?")
    _leaf = "chats"

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self._home = self._folder_in("GEMINI_CLI_HOME", "") / ".gemini"
        self._base = self._home / "tmp"

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them, including sub-agents."""
        for found in super().transcripts():
            # A document is rewritten as it grows: it is read as a whole each time.
            is_whole = is_document(found.file) and not found.is_copy
            yield found._replace(session=found.file.stem) if is_whole else found

    def days_kept(self, place: Path) -> int | None:  # noqa: ARG002 - of the protocol
        """Return its retention in days, by the setting `general.sessionRetention`; None: forever."""
        settings = as_record(parse_json(read_regular(self._home / "settings.json", _SETTINGS_BYTES) or b"{}"))
        kept = as_record(as_record(settings.get("general")).get("sessionRetention"))
        if kept.get("enabled") is False:
            return None
        found = _PERIOD.fullmatch(as_text(kept.get("maxAge", f"{DAYS}d")))
        # A period that it cannot read turns its cleaning off.
        return int(int(found[1]) * _UNITS[found[2]]) if found else None

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts: the record of the session, and the folder of the project's name."""
        records = self._first_records(transcript)
        for record in records:
            session, digest = as_id(record.get("sessionId")), as_text(record.get("projectHash"))
            if session and digest:
                file = Path(transcript.name)
                folder = self._folder(file, digest, chain([record], records))
                parent = "" if file.parent.name == "chats" else as_id(file.parent.name)
                began = parse_time(record.get("startTime"))
                return SessionFacts(self.agent, session, folder, parent=parent, began=began)
        return None

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns from a place on."""
        if is_document(transcript.file):
            resume.from_beginning()
            yield from _Reading(facts, resume).document(transcript.file)
        else:
            yield from super().read(transcript, facts, resume)

    def _reading(self, facts: SessionFacts, resume: Resume) -> OneTurnReading:
        return _Reading(facts, resume)

    def _first_records(self, transcript: Transcript) -> Iterator[Mapping[str, Any]]:
        if is_document(transcript.file):
            with opened_text(transcript.file) as stream:
                yield from document_head(stream, _HEAD_LINES)
        else:
            yield from (line.record for line in self._head(transcript, _HEAD_LINES))

    def _folder(self, file: Path, digest: str, records: Iterator[Mapping[str, Any]]) -> str:
        """Return the folder of a session.

        `file`: place of the session, existing or not; `records`: the first ones of the session: paths in them may be in
        the folder.
        """
        project = next((one.parent for one in file.parents if one.name == "chats"), file.parent)
        root = (read_regular(project / ".project_root", 10_000) or b"").decode("utf-8", "replace").strip()
        if root:
            return root
        if not _SHA256.fullmatch(digest):
            return unknown_folder(project.name)
        registry = as_record(parse_json(read_regular(self._home / "projects.json", _SETTINGS_BYTES) or b"{}"))
        known = [text for text in as_record(registry.get("projects")) if os.path.isabs(text)]  # noqa: PTH117
        exact = next((one for one in (*self.folders, *known) if _digest(one) == digest), "")
        named = (path for record in records for path in _paths_in(record))
        return exact or folder_among(named, lambda path: _digest(path) == digest) or unknown_folder(digest)


def _digest(folder: str) -> str:
    return sha256(folder.encode("utf-8", "replace")).hexdigest()


def _paths_in(record: Mapping[str, Any]) -> Iterator[str]:
    yield from (as_text(path) for path in as_list(record.get("directories")))
    for call in tool_calls(record):
        yield from paths_in(call.get("args"))


class _Reading(OneTurnReading):
    """Reads turns from the records of one file.

    The last message is rewritten with each addition: it is complete when another one follows.
    """

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        super().__init__(facts, resume)
        self._open: tuple[Turn, Mapping[str, Any]] | None = None
        """The agent's last message, and its turn."""
        self._seen: dict[str, None] = {}
        """Ids of messages."""

    def document(self, file: Path) -> Iterator[Item]:
        """Yield the turns of a session in one JSON document.

        Raises OSError if it was removed, or cannot be read.
        """
        number = 0
        with opened_text(file) as stream:
            for line in document_lines(stream):
                self._resume.check()
                if line.problem:
                    yield Skipped(line.problem, line.start, is_broken=True)
                    if self._turn is not None:
                        # It may be complete the next time: a prompt alone is waiting for its answer then.
                        self._turn.verdict = self._turn.verdict or "a part of the turn could not be read"
                elif line.record:
                    yield from self._record(line)
                number = line.end
        yield from self._rest()
        self._resume.offset = number

    def _close(self) -> None:
        """Add the agent's last message to its turn."""
        if self._open is not None:
            turn, message = self._open
            self._open = None
            work(turn, message)

    def _record(self, line: Line) -> Iterator[Item]:
        record = line.record
        kind, changes = as_text(record.get("type")), record.get("$set")
        if kind in _MESSAGES:
            yield from self._message(line, kind)
        elif isinstance(changes, dict) and isinstance(changes.get("messages"), list):
            yield from self._whole_record(line, changes["messages"])
        elif isinstance(changes, dict) or (not kind and {"sessionId", "summary", "lastUpdated"} & record.keys()):
            title = as_text((changes if isinstance(changes, dict) else record).get("summary")).strip()
            if title:
                yield Named(title)
        elif "$rewindTo" in record:
            self._close()
            self._withdraw()
        else:
            kind, at = f"record {as_kind(kind, 'without a type')}", parse_time(record.get("timestamp"))
            yield Skipped(kind, line.start, record=record, time=at)

    def _whole_record(self, line: Line, messages: list[Any]) -> Iterator[Item]:
        """Read a record of all messages: those after the last known one have no record of their own."""
        records = [as_record(message) for message in messages]
        known = [number for number, one in enumerate(records) if as_text(one.get("id")) in self._seen]
        for one in records[known[-1] + 1 if known else 0 :]:
            if (kind := as_text(one.get("type"))) in _MESSAGES:
                yield from self._message(line._replace(record=one), kind)

    def _message(self, line: Line, kind: str) -> Iterator[Item]:
        record, at = line.record, parse_time(line.record.get("timestamp"))
        key = as_text(record.get("id")) or f"{self._facts.session} {as_text(record.get('timestamp'))} {line.start}"
        self._seen[key] = None
        if len(self._seen) > _IDS:
            self._seen.pop(next(iter(self._seen)))
        if kind == "gemini":
            if self._open is not None and self._open[1].get("id") == record.get("id"):
                self._open = self._open[0], record
                return
            self._close()
            turn = yield from self._step(line, key)
            self._open = (turn, record) if turn is not None else None
            return
        self._close()
        if kind == "user":
            content = record.get("content")
            text = text_of(record.get("displayContent")) or text_of(content)
            is_result = any("functionResponse" in as_record(part) for part in as_list(content))
            if not is_result and not text.lstrip().startswith(_NOT_TYPED):
                yield from self._ask(text, line, at, key, for_agent=not text.lstrip().startswith(_OF_PROGRAM))
        elif kind == "error" and self._turn is not None:
            self._turn.at(at)
            self._turn.stop("failed", text_of(record.get("content"))[:300])
