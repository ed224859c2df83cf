"""Reading a backup, project by project; each line is validated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.memory.backup import stream
from cm_tui.engine.memory.entries import entry_writing
from cm_tui.engine.memory.entries.entry_writing import CHANGED, REVERTED
from cm_tui.engine.memory.projection.visibility import PURGED
from cm_tui.engine.platform.journal.archive import ARCHIVED
from cm_tui.engine.platform.journal.event import MAX_BYTES, TRACES, is_time
from cm_tui.engine.platform.journal.removal import EPISODE
from cm_tui.errors import RefusedError
from cm_tui.model.progress import Tell, ignore_progress

# --- valid data of a backup's events: the types that later events and `cm undo` rely on, by known kind ---

_FAMILIES = ("entry.", "episode.", "change.", "memory.", "narrator.")
"""Prefixes of the checked kinds, whose data is acted upon."""


def is_sound(kind: str, data: Mapping[str, Any]) -> bool:
    """Return whether an event's data has the types that readers of the journal expect."""
    if not kind.startswith(_FAMILIES):
        return True
    if not all(fits(data[name]) for name, fits in _FIELDS.items() if data.get(name) is not None):
        return False
    return kind not in (CHANGED, REVERTED) or entry_writing.is_sound(data)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_FIELDS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(
        ("id", "scope", "change", "kind", "actor", "agent", "session", "proposal", "target"),
        lambda value: isinstance(value, str),
    ),
    **dict.fromkeys(("ids", "add_tags", "remove_tags", "claims", "stands_on"), _are_texts),
    "pinned": lambda value: isinstance(value, bool),
    "rating": lambda value: not isinstance(value, bool) and value in (-1, 0, 1),
}
"""Type of an optional field."""


# --- reading a backup, project by project ---

OF_ONE_ARCHIVE = frozenset({ARCHIVED, PURGED})
"""Kinds of events with places in an archive: they are not valid for another archive."""
MOST_OF_A_TURN = 20_000_000
"""Bytes of the events of one turn in the archive."""
_NAME = re.compile(r"[a-z0-9-]{1,60}")
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_KIND = re.compile(r"[a-z][a-z0-9._-]{0,60}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_OF_AN_EVENT = MAX_BYTES + 1_000
"""With its context."""
_MOST_ENTRIES = 40_000
_TITLE = 300
_TURN_EVENTS = 20_000


@dataclass(slots=True)
class Section:
    """A project of a backup."""

    name: str
    identity: str
    title: str
    here: bool = False
    """It is restored into the user's current project."""
    events: int = 0
    new: int = 0
    archived: int = 0
    """Episodes of the archive."""
    new_archived: int = 0
    new_entries: int = 0
    new_everywhere: int = 0
    """New entries for all projects."""
    too_long: int = 0
    """Events that would be longer than any."""
    left_out: int = 0
    """Events with unusable data."""
    marks: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    entries: list[Any] = field(default_factory=list)


class Record(NamedTuple):
    """An event of a backup."""

    fields: Mapping[str, Any]
    """Its id, time, kind, head and data, and the file's claim by which rules it was redacted."""
    turn: tuple[Mapping[str, Any], ...] | None
    """Events of the turn of an episode of the archive; None for an event of the journal."""


Belongs = Callable[[str, str], bool]
"""Whether a project, by name and identity, is the user's current one."""


def walk(file: Path, belongs: Belongs, tell: Tell = ignore_progress) -> Iterator[tuple[Section, Record | None]]:
    """Yield each project of a file, without an event, then its events; its marks and choices are added to it.

    `file`: of `cm backup`; `belongs`: recognises the user's current project; `tell`: called with the progress.
    Raises RefusedError if it is not a backup, or is damaged; CmError if it cannot be read.
    """
    section: Section | None = None
    turn, number = _Turn(), 0
    for number, line, length in stream.read(file, tell):
        if length > _MOST_OF_AN_EVENT and not line.keys() & {"choices", "entry"}:
            raise refused(file, number)
        if "project" in line and not turn.events:
            section = _section(file, line, belongs)
            yield section, None
        elif section is None or not turn.may_have(line):
            raise refused(file, number)
        elif "turn" in line:
            turn.add(file, _event(file, line["turn"], number), length, number)
        elif "archived" in line:
            yield section, Record(_archived(file, line["archived"], number), turn.drain())
        elif "event" in line:
            event = _event(file, line["event"], number)
            if not is_sound(event["kind"], event["data"]):
                section.left_out += 1
            elif event["kind"] not in OF_ONE_ARCHIVE:
                yield section, Record(event, None)
        else:
            _put(section, file, line, number)
    turn.end(file, number)


class _Turn:
    """Events of a turn, until their episode comes."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self._size = 0

    def may_have(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line may follow: only an episode ends a turn."""
        return not self.events or "turn" in line or "archived" in line

    def add(self, file: Path, event: Mapping[str, Any], length: int, number: int) -> None:
        """Add an event. Raises RefusedError if no turn is that long."""
        self.events.append(event)
        self._size += length
        if self._size > MOST_OF_A_TURN or len(self.events) > _TURN_EVENTS:
            raise refused(file, number)

    def end(self, file: Path, number: int) -> None:
        """Check that no episode is missing. Raises RefusedError if one is."""
        if self.events:
            raise refused(file, number)

    def drain(self) -> tuple[Mapping[str, Any], ...]:
        """Return the events, and clear them."""
        events, self.events, self._size = tuple(self.events), [], 0
        return events


def _put(section: Section, file: Path, line: Mapping[str, Any], number: int) -> None:
    if "entry" in line and len(section.entries) < _MOST_ENTRIES:
        section.entries.append(line["entry"])
    elif "marks" in line:
        section.marks = _marks(file, line["marks"], number)
    elif "choices" in line:
        section.choices = line["choices"] if isinstance(line["choices"], dict) else {}
    else:
        raise refused(file, number)


def _section(file: Path, line: Mapping[str, Any], belongs: Belongs) -> Section:
    name, identity, title = line.get("project"), line.get("identity"), line.get("title")
    if not (isinstance(name, str) and isinstance(identity, str) and isinstance(title, str) and _NAME.fullmatch(name)):
        raise RefusedError(f"{file} has an invalid project name.", hint="Nothing was restored.")
    if not (_is_text(identity) and _is_text(title)):
        raise RefusedError(f"{file} has a project whose name is not text.", hint="Nothing was restored.")
    if identity and _digest(paths.store_dir(identity, "").name) != _digest(name):
        raise RefusedError(
            f"{file} has a project whose name does not match its identity.", hint="Nothing was restored."
        )
    return Section(name, identity, title[:_TITLE], here=belongs(name, identity))


def _is_text(text: str) -> bool:
    """Return whether a text can be written as UTF-8: JSON can hold half a character."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _digest(folder: str) -> str:
    return folder.rsplit("-", 1)[-1]


def _event(file: Path, found: Any, number: int) -> dict[str, Any]:
    """Check the type of each field of an event."""
    if not isinstance(found, dict) or found.keys() - {"rules"} != {"id", "time", "kind", "head", "data"}:
        raise refused(file, number)
    event: dict[str, Any] = found
    head, kind = event["head"], event["kind"]
    is_id = isinstance(event["id"], str) and _ID.fullmatch(event["id"])
    is_kind = isinstance(kind, str) and _KIND.fullmatch(kind) and kind not in TRACES
    is_head = head is None or (isinstance(head, str) and (not head or _SHA.fullmatch(head)))
    if not (is_time(event["time"]) and is_id and is_kind and is_head and isinstance(event["data"], dict)):
        raise refused(file, number)
    return event


def _archived(file: Path, found: Any, number: int) -> dict[str, Any]:
    event = _event(file, found, number)
    if event["kind"] != EPISODE:
        raise refused(file, number)
    return event


def _marks(file: Path, found: Any, number: int) -> Mapping[str, str]:
    if not isinstance(found, dict) or not all(isinstance(sha, str) and _SHA.fullmatch(sha) for sha in found.values()):
        raise refused(file, number)
    return found


def refused(file: Path, number: int) -> RefusedError:
    """Return the error for an invalid line of a file."""
    return RefusedError(
        f"{file} is not a valid backup: line {number:,} has unexpected content.", hint="Nothing was restored."
    )
