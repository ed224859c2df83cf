"""OpenCode's sessions: a database in newer versions, a file for each record in older ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.files import found_files
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.line_reading import ParentsFirst
from cm_tui.engine.memory.transcripts.lines import (
    LINE_BYTES,
    as_count,
    as_id,
    as_kind,
    as_list,
    as_number,
    as_record,
    as_text,
    parse_json,
)
from cm_tui.engine.memory.transcripts.patches import from_diff
from cm_tui.engine.memory.transcripts.tools import use_tool
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Resume, Skipped, Transcript, parse_time, texts_of
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.files import read_bounded

# --- OpenCode's storage of sessions: a database, or a folder with a file for each record, in two layouts ---

_MESSAGES = 100_000
_SESSIONS = """
SELECT id, time_updated, (SELECT max(time_created) FROM message WHERE session_id = session.id) FROM session
ORDER BY time_created, id
"""
_FAILURES = (sqlite3.Error, OSError)
_FIELDS = {"project_id": "projectID", "parent_id": "parentID", "directory": "directory", "title": "title"}


class Message(NamedTuple):
    """A message and its parts."""

    id: str
    info: Mapping[str, Any]
    parts: list[Mapping[str, Any]]
    broken: int = 0
    """Parts that cannot be read."""


def all_stores(environment: Mapping[str, str]) -> Iterator[Database | Folder]:
    """Yield the existing places. `environment`: locates them, if not in their usual place."""
    base = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "opencode"
    named = environment.get("OPENCODE_DB", "")
    databases = [base / named] if named and named != ":memory:" else sorted(base.glob("opencode*.db"))
    yield from (Database(file) for file in databases if file.is_file())
    folders = [base / "storage", *sorted(path / "storage" for path in (base / "project").glob("*"))]
    yield from (Folder(folder) for folder in folders if folder.is_dir())


def store_of(file: Path) -> Database | Folder:
    """Return the store that lies at a path."""
    return Folder(file) if file.is_dir() else Database(file)


def _transcript(store: Path, session: str, size: int, changed: float) -> Transcript:
    """Return a session; `size`: where that is known without reading it; `changed`: seconds since the epoch."""
    return Transcript(OpenCode.agent, f"{store}#{session}", store, size, changed, session)


class Database:
    """The database of newer versions, opened for reading alone."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def transcripts(self, format_: OpenCode) -> Iterator[Transcript]:
        """Yield the sessions; if they cannot be read, the format gets the reason."""
        try:
            with self._opened() as db:
                for name, *times in db.execute(_SESSIONS):
                    if isinstance(name, str):
                        changed = max(as_number(time) or 0.0 for time in times)
                        yield _transcript(self._file, as_text(name), 0, changed / 1_000)
        except _FAILURES as error:
            # Damage, another program's file, or one of a version to come.
            reason = f"it is damaged, or from an unknown version of OpenCode ({error.__cause__ or error})"
            format_.unread[self._file] = reason

    def session(self, name: str) -> Mapping[str, Any]:
        """Return the record of a session. Raises OSError if it cannot be read."""
        with self._opened() as db:
            found = db.execute("SELECT * FROM session WHERE id = ?", [name])
            row = found.fetchone()
            columns = dict(zip((one[0] for one in found.description), row or (), strict=False))
        fields = {field: columns[column] for column, field in _FIELDS.items() if column in columns}
        return {**fields, "time": {"created": columns.get("time_created")}, "revert": _record(columns.get("revert"))}

    def messages(self, name: str) -> Iterator[Message | Skipped]:
        """Yield its messages in order. Raises OSError if they cannot be read."""
        sql = "SELECT id, CASE WHEN length(data) <= ? THEN data END FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT ?"
        with self._opened() as db:
            for number, (id_, data) in enumerate(db.execute(sql, [LINE_BYTES, name, _MESSAGES])):
                info = _record(data)
                if info:
                    yield _message(as_text(id_), info, self._parts(db, id_))
                else:
                    yield Skipped("not a record", number, is_broken=True)

    def _parts(self, db: sqlite3.Connection, message: str) -> Iterator[Mapping[str, Any]]:
        sql = "SELECT CASE WHEN length(data) <= ? THEN data END FROM part WHERE message_id = ? ORDER BY id"
        for (data,) in db.execute(sql, [LINE_BYTES, message]):
            yield _record(data)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open it without creating any files. Raises OSError if it is not a database, or cannot be read."""
        address = self._file.absolute().as_uri()
        try:
            with closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=2.0)) as db:
                db.text_factory = lambda data: data.decode("utf-8", "replace")
                db.execute("PRAGMA query_only = 1")
                yield db
        except sqlite3.Error as error:
            raise OSError(f"{self._file} cannot be read: {error}") from error


class Folder:
    """The files of older versions, a folder for each kind of record: the folder `storage`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        # The oldest versions have all kinds below `session`, and a folder for each session above its parts.
        self._is_oldest = (file / "session" / "message").is_dir()

    def transcripts(self, format_: OpenCode) -> Iterator[Transcript]:
        """Yield the sessions; the format gets a folder that was not searched completely."""
        sessions = self._file / "session" / ("info" if self._is_oldest else "")
        for found in found_files(sessions, ".json", depth=2, left_out=format_.left_out):
            changed = max(found.changed, _changed(self._folder(found.path.stem)))
            yield _transcript(self._file, found.path.stem, found.size, changed)

    def session(self, name: str) -> Mapping[str, Any]:
        """Return the record of a session. Raises OSError if it cannot be read."""
        if self._is_oldest:
            return _json_file(self._file / "session" / "info" / f"{name}.json")
        for folder in (self._file / "session").iterdir():
            file = folder / f"{name}.json"
            if file.is_file():
                # Its path identifies the project: an update moves files and leaves their content.
                return {**_json_file(file), "projectID": folder.name}
        return {}

    def messages(self, name: str) -> Iterator[Message | Skipped]:
        """Yield its messages in order: their names are in order of time."""
        files = sorted(found_files(self._folder(name), ".json", depth=1), key=lambda found: found.path.name)
        for number, found in enumerate(files[:_MESSAGES]):
            info = _json_file(found.path)
            if info:
                yield _message(found.path.stem, info, self._parts(name, found.path.stem, info))
            else:
                yield Skipped("not a record", number, is_broken=True)

    def _folder(self, session: str) -> Path:
        return self._file.joinpath(*(("session", "message") if self._is_oldest else ("message",)), session)

    def _parts(self, session: str, message: str, info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if "parts" in info:
            return [as_record(part) for part in as_list(info.get("parts"))]
        folder = self._file.joinpath(*(("session", "part", session) if self._is_oldest else ("part",)), message)
        files = sorted(found_files(folder, ".json", depth=1), key=lambda found: found.path.name)
        return [_json_file(found.path) for found in files]


def _message(name: str, info: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> Message:
    found = list(parts)
    whole = [part for part in found if part]
    return Message(name, info, whole, len(found) - len(whole))


def _json_file(file: Path) -> Mapping[str, Any]:
    """Return the record in a file; empty if it is missing, too long or invalid."""
    try:
        return _record(read_bounded(file, LINE_BYTES))
    except OSError:
        return {}


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _record(data: object) -> Mapping[str, Any]:
    """Return a stored record; empty if invalid."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if not isinstance(data, bytes):
        return {}
    return as_record(parse_json(data))


# --- OpenCode's sessions: a database in newer versions, a file for each record in older ones ---

_WRITERS = frozenset({"edit", "write", "multiedit", "patch", "apply_patch"})
_PARTS = frozenset({"text", "reasoning", "tool", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry",
                    "compaction", "subtask"})  # fmt: skip


class OpenCode(Format):
    """The sessions of OpenCode."""

    agent = "opencode"

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them; one in both forms is yielded twice."""
        self.unread.clear()
        for store in all_stores(self._environment):
            yield from store.transcripts(self)

    def has_store(self) -> bool:
        """Return whether it has a database or a folder of sessions; neither is opened."""
        return next(all_stores(self._environment), None) is not None

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return whose it is, as the session's record has it."""
        info = store_of(transcript.file).session(transcript.session)
        folder = as_text(info.get("directory"))
        if not folder:
            return None
        project = as_text(info.get("projectID"))
        return SessionFacts(
            self.agent,
            as_id(transcript.session),
            folder,
            parent=as_id(info.get("parentID")),
            title=as_text(info.get("title")),
            began=parse_time(as_record(info.get("time")).get("created")),
            first_commit=project if len(project) == 40 else "",
        )

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns; records are rewritten as they grow, so all of them are read each time."""
        store = store_of(transcript.file)
        revert = as_text(as_record(store.session(transcript.session).get("revert")).get("messageID"))
        yield from _Reading(facts, resume, revert).items(store.messages(transcript.session))


class _Reading:
    """Reads turns from the messages of one session.

    `facts`: about the session. `resume`: receives the number of messages. `revert`: id of the first message that the
    user undid; empty: none.
    """

    def __init__(self, facts: SessionFacts, resume: Resume, revert: str) -> None:
        self._facts = facts
        self._revert = revert
        self._resume = resume
        self._turn: Turn | None = None
        self._before: Turn | None = None
        """The turn before, whose last messages may come after the next prompt."""
        self._order = ParentsFirst[tuple[Message, int]]()
        self._by_id: dict[str, Turn | None] = {}
        """Turns by their messages of the user."""
        self._is_broken = False
        """Whether a message since the last one of a turn is unreadable."""

    def items(self, messages: Iterator[Message | Skipped]) -> Iterator[Item]:
        """Yield turns, and skipped records."""
        number = 0
        for message in messages:
            self._resume.check()
            if isinstance(message, Skipped):
                self._damage()
                yield message
                continue
            for due in self._order.add((message, number), message.id, as_text(message.info.get("parentID"))):
                yield from self._take(*due)
            number += 1
        for due in self._order.rest():
            yield from self._take(*due)
        yield from self._close()
        if self._turn is not None:
            yield Read(self._turn, is_last=True)
        self._resume.offset = number

    def _damage(self) -> None:
        """Note that a message could not be read."""
        self._is_broken = True
        if self._turn is not None and not self._turn.is_over:
            self._turn.damage()

    def _take(self, message: Message, number: int) -> Iterator[Item]:
        for part in message.parts:
            if (kind := as_text(part.get("type"))) not in _PARTS:
                kind = f"part {as_kind(kind, 'without a type')}"
                yield Skipped(kind, number, record=part, time=_began(message))
        for _ in range(message.broken):
            yield Skipped("part that is not a record", number, is_broken=True)
        role = message.info.get("role")
        if role == "user":
            yield from self._ask(message, number)
        elif role == "assistant":
            yield from self._answer(message, number)
        else:
            self._damage()
            kind = f"message {as_kind(role, 'without a role')}"
            yield Skipped(kind, number, record=message.info, time=_began(message))

    def _ask(self, message: Message, number: int) -> Iterator[Item]:
        typed = [part for part in message.parts if part.get("type") == "text" and part.get("synthetic") is not True]
        text = texts_of([part for part in typed if part.get("ignored") is not True])
        tasks = [as_text(part.get("prompt")) for part in message.parts if part.get("type") == "subtask"]
        text = "\n".join(filter(None, (text, *tasks)))
        found = self._turn
        if text.strip() or message.broken:
            if found is None or message.id or not found.is_empty or message.broken:
                found = yield from self._begin(message, number)
            found.at(_began(message))
            # Ids are in order of time.
            found.ask(text, for_agent=not self._revert or message.id < self._revert)
            self._is_broken = False
        self._by_id[message.id] = found

    def _begin(self, message: Message, number: int) -> Generator[Item, None, Turn]:
        """Begin a turn; yield the one before the last one, which is complete now."""
        yield from self._close()
        folder = as_text(as_record(message.info.get("path")).get("cwd")) or self._facts.folder
        key = message.id or f"{self._facts.session} {number}"
        self._before, self._turn = self._turn, Turn(key, folder)
        return self._turn

    def _close(self) -> Iterator[Item]:
        """Yield the turn before the last one; if unanswered, its prompts join the last one."""
        before, last = self._before, self._turn
        if before is None or last is None:
            return
        if before.is_empty and before.prompts:
            last.precede(before)
        else:
            yield Read(before)

    def _turn_of(self, message: Message, number: int) -> Generator[Item, None, Turn]:
        """Return the turn of an agent's message: that of its parent, else the current one."""
        parent, found = as_text(message.info.get("parentID")), self._turn
        turn = self._by_id.get(parent)
        if turn is not None and (turn is self._turn or turn is self._before):
            return turn
        is_missing = parent and parent not in self._by_id
        if found is None or turn is not None or ((self._is_broken or is_missing) and found.is_complete):
            found = yield from self._begin(message, number)
        if is_missing:
            # All answers to one prompt name it, also where a copy of the session has other ids.
            self._by_id[parent] = found
        return found

    def _answer(self, message: Message, number: int) -> Iterator[Item]:
        info = message.info
        turn = yield from self._turn_of(message, number)
        self._is_broken = False
        if message.broken:
            turn.damage()
        turn.continue_turn()
        time = as_record(info.get("time"))
        turn.at(parse_time(time.get("created")))
        for part in message.parts:
            self._part(turn, part)
        turn.at(parse_time(time.get("completed")))
        tokens = as_record(info.get("tokens"))
        fresh = sum(as_count(tokens.get(name)) for name in ("input", "output", "reasoning"))
        turn.spend(message.id, fresh + as_count(as_record(tokens.get("cache")).get("write")))
        error = as_record(info.get("error"))
        if error:
            self._fail(turn, error)
        else:
            turn.is_over = time.get("completed") is not None and as_text(info.get("finish")) not in {
                "tool-calls",
                "tool_use",
            }

    def _fail(self, turn: Turn, error: Mapping[str, Any]) -> None:
        name = as_text(error.get("name"))
        if name == "MessageAbortedError":
            turn.stop("interrupted", "interrupted by the person")
        else:
            turn.stop("failed", f"{name}: {as_text(as_record(error.get('data')).get('message'))[:300]}")

    def _part(self, turn: Turn, part: Mapping[str, Any]) -> None:
        kind = as_text(part.get("type"))
        if kind == "text" and part.get("synthetic") is not True:
            turn.say(as_text(part.get("text")))
        elif kind == "reasoning":
            turn.think(as_text(part.get("text")))
        elif kind == "tool":
            self._tool(turn, part)
        elif kind == "patch":
            for file in as_list(part.get("files")):
                turn.write(as_text(file))

    def _tool(self, turn: Turn, part: Mapping[str, Any]) -> None:
        tool, state = as_text(part.get("tool")), as_record(part.get("state"))
        call, details = as_text(part.get("callID") or part.get("id")), as_record(state.get("metadata"))
        use_tool(turn, call, tool, as_record(state.get("input")), writes=tool in _WRITERS)
        status = as_text(state.get("status"))
        if status in {"completed", "error"}:
            failed = status == "error" or as_number(details.get("exit")) not in {None, 0}
            text, diff = as_text(state.get("output") or state.get("error")), as_text(details.get("diff"))
            turn.get(call, text, failed=failed, diff=lambda path: from_diff(path, diff))


def _began(message: Message) -> float | None:
    return parse_time(as_record(message.info.get("time")).get("created"))
