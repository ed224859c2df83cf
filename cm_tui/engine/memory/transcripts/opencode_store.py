"""OpenCode's storage of sessions: a database, or a folder with a file for each record, in two layouts."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.files import found_files
from cm_tui.engine.memory.transcripts.lines import LINE_BYTES, as_list, as_number, as_record, as_text, parse_json
from cm_tui.engine.memory.transcripts.transcript import Skipped
from cm_tui.files import read_bounded

_MESSAGES = 100_000
_SESSIONS = """
SELECT id, time_updated, (SELECT max(time_created) FROM message WHERE session_id = session.id) FROM session
ORDER BY time_created, id
"""
_FAILURES = (sqlite3.Error, OSError)
_FIELDS = {"project_id": "projectID", "parent_id": "parentID", "directory": "directory", "title": "title"}


class StoredSession(NamedTuple):
    """A session, as a list has it."""

    id: str
    size: int
    """How much there is of it, where that is known without reading it."""
    changed: float
    """Seconds since the epoch."""


class Message(NamedTuple):
    """A message and its parts."""

    id: str
    info: Mapping[str, Any]
    parts: list[Mapping[str, Any]]
    broken: int = 0
    """Parts that cannot be read."""


class Store(ABC):
    """One place that has sessions: a database, or a folder."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.left_out: list[Path] = []
        """Folders that were not searched completely."""
        self.problem = ""
        """Why its sessions cannot be read; empty: they can."""

    @abstractmethod
    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions; unreadable ones are skipped."""

    @abstractmethod
    def session(self, name: str) -> Mapping[str, Any]:
        """Return the record of a session. Raises OSError if it cannot be read."""

    @abstractmethod
    def messages(self, name: str) -> Iterator[Message | Skipped]:
        """Yield its messages in order. Raises OSError if they cannot be read."""


def all_stores(environment: Mapping[str, str]) -> Iterator[Store]:
    """Yield the existing places. `environment`: locates them, if not in their usual place."""
    base = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "opencode"
    named = environment.get("OPENCODE_DB", "")
    databases = [base / named] if named and named != ":memory:" else sorted(base.glob("opencode*.db"))
    yield from (Database(file) for file in databases if file.is_file())
    folders = [base / "storage", *sorted(path / "storage" for path in (base / "project").glob("*"))]
    yield from (Folder(folder) for folder in folders if folder.is_dir())


def store_of(file: Path) -> Store:
    """Return the store that lies at a path."""
    return Folder(file) if file.is_dir() else Database(file)


class Database(Store):
    """The database of newer versions, opened for reading alone."""

    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions."""
        try:
            with self._opened() as db:
                for name, *times in db.execute(_SESSIONS):
                    if isinstance(name, str):
                        changed = max(as_number(time) or 0.0 for time in times)
                        yield StoredSession(as_text(name), 0, changed / 1_000)
        except _FAILURES as error:
            # Damage, another program's file, or one of a version to come.
            self.problem = f"it is damaged, or of a version of OpenCode that is not known ({error.__cause__ or error})"

    def session(self, name: str) -> Mapping[str, Any]:
        """Return the record of a session."""
        with self._opened() as db:
            found = db.execute("SELECT * FROM session WHERE id = ?", [name])
            row = found.fetchone()
            columns = dict(zip((one[0] for one in found.description), row or (), strict=False))
        fields = {field: columns[column] for column, field in _FIELDS.items() if column in columns}
        return {**fields, "time": {"created": columns.get("time_created")}, "revert": _record(columns.get("revert"))}

    def messages(self, name: str) -> Iterator[Message | Skipped]:
        """Yield its messages in order."""
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
        address = self.file.absolute().as_uri()
        try:
            with closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=2.0)) as db:
                db.text_factory = lambda data: data.decode("utf-8", "replace")
                db.execute("PRAGMA query_only = 1")
                yield db
        except sqlite3.Error as error:
            raise OSError(f"{self.file} cannot be read: {error}") from error


class Folder(Store):
    """The files of older versions, a folder for each kind of record: the folder `storage`."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        # The oldest versions have all kinds below `session`, and a folder for each session above its parts.
        self._is_oldest = (file / "session" / "message").is_dir()

    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions."""
        sessions = self.file / "session"
        for found in found_files(
            sessions / "info" if self._is_oldest else sessions, ".json", depth=2, left_out=self.left_out
        ):
            changed = max(found.changed, _changed(self._folder(found.path.stem)))
            yield StoredSession(found.path.stem, found.size, changed)

    def session(self, name: str) -> Mapping[str, Any]:
        """Return the record of a session."""
        if self._is_oldest:
            return _json_file(self.file / "session" / "info" / f"{name}.json")
        for folder in (self.file / "session").iterdir():
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
        return self.file.joinpath(*(("session", "message") if self._is_oldest else ("message",)), session)

    def _parts(self, session: str, message: str, info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if "parts" in info:
            return [as_record(part) for part in as_list(info.get("parts"))]
        folder = self.file.joinpath(*(("session", "part", session) if self._is_oldest else ("part",)), message)
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
