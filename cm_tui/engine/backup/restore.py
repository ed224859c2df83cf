"""Restoring a backup: looked at whole, then merged into what is there; nothing that is there is lost or repeated."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.backup import stream
from cm_tui.engine.entries.entry_backup import merge
from cm_tui.engine.journal import START, Journal
from cm_tui.engine.journal.event import ERASURE, MAX_BYTES, RESTORED, TRACES, without_secrets
from cm_tui.engine.journal.location import base
from cm_tui.engine.mainline import user_marks
from cm_tui.engine.redaction.values import redact_values
from cm_tui.errors import RefusedError, UsageError
from cm_tui.files import write_atomically
from cm_tui.model import RestoredProject, RestoreReport

_NAME = re.compile(r"[a-z0-9-]{1,60}")
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_KIND = re.compile(r"[a-z][a-z0-9._-]{0,60}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LATEST = 2.0**40
_BATCH = 500_000
"""Bytes that are written to the journal at once."""
_CHOICES_BYTES = 1_000_000


class Here(NamedTuple):
    """The project that a person restores in."""

    root: Path
    name: str
    """Of its journal."""
    identity: str
    """What it says it is."""


@dataclass(slots=True)
class Section:
    """A project of a backup."""

    name: str
    identity: str
    title: str
    here: bool = False
    """It goes into the project that the person is in."""
    events: int = 0
    new: int = 0
    marks: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    entries: list[Any] = field(default_factory=list)


def look_at(file: Path, here: Here | None = None, *, into_here: bool = False) -> RestoreReport:
    """Say what restoring a file would do; nothing is changed.

    Args:
        file: of `cm backup`.
        here: the project that the person is in.
        into_here: its one project goes into that, whatever it was made of.

    Raises:
        RefusedError: it is no backup, is damaged, or holds what no backup holds.
        UsageError: it has several projects, and one is wanted.
        CmError: it, or a journal, cannot be read.
    """
    known: dict[str, set[str]] = {}
    ids: set[str] = set()
    sections: list[Section] = []
    for section, event in _walk(file, here, into_here=into_here):
        if event is None:
            sections.append(section)
            journal = _journal(section, here)
            name = journal.folder.name
            ids = known[name] = known[name] if name in known else _known(journal)
            continue
        section.events += 1
        if event["id"] not in ids:
            ids.add(event["id"])
            section.new += 1
    if into_here and len(sections) != 1:
        raise UsageError(f"{file} has {len(sections)} projects.", hint="Restore it without --here.")
    return RestoreReport(str(file), tuple(_row(one, here) for one in sections), dry_run=True)


def restore(file: Path, here: Here | None = None, *, into_here: bool = False) -> RestoreReport:
    """Merge a backup into what is there: events that are there already, or were erased, are left as they are.

    Killed in the middle, it can be run again. The arguments and errors are those of `look_at`.
    """
    look_at(file, here, into_here=into_here)
    sections: list[Section] = []
    batch = _Batch()
    for section, event in _walk(file, here, into_here=into_here):
        if event is None:
            sections.append(section)
            batch.begin(_journal(section, here), section)
        else:
            section.events += 1
            batch.add(event)
    batch.flush()
    notes = tuple(note for one in sections for note in _restore_rest(one, here))
    return RestoreReport(str(file), tuple(_row(one, here) for one in sections), dry_run=False, notes=notes)


class _Batch:
    """Events on their way into a journal."""

    def __init__(self) -> None:
        self._journal: Journal | None = None
        self._section = Section("", "", "")
        self._known: set[str] = set()
        self._lines: list[bytes] = []
        self._bytes = 0

    def begin(self, journal: Journal, section: Section) -> None:
        """Go on with another project."""
        self.flush()
        self._journal, self._section, self._known = journal, section, _known(journal)

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event, unless it is there."""
        if event["id"] in self._known:
            return
        self._known.add(event["id"])
        # Once more: the file may come from where other rules hold, or none.
        data = without_secrets(event["data"])
        if event["kind"].startswith("hook."):
            data = {**data, RESTORED: True}
        line = json.dumps({**event, "data": data}, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        if len(line) > MAX_BYTES:
            raise RefusedError(f"The event {event['id']} is longer than any event.", hint="The backup was changed.")
        self._section.new += 1
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Have the disk have them."""
        if self._lines and self._journal is not None:
            self._journal.append_line(b"".join(self._lines))
        self._lines, self._bytes = [], 0


def _walk(file: Path, here: Here | None, *, into_here: bool) -> Iterator[tuple[Section, dict[str, Any] | None]]:
    """Yield each project of a file, without an event, then its events; its marks and choices are put into it."""
    section: Section | None = None
    for number, line in enumerate(stream.read(file), 2):
        if "project" in line:
            section = _section(file, line, here, into_here=into_here)
            yield section, None
            continue
        if section is None:
            raise _refused(file, number)
        if "event" in line:
            yield section, _event(file, line["event"], number)
        elif "entry" in line:
            section.entries.append(line["entry"])
        elif "marks" in line:
            section.marks = _marks(file, line["marks"], number)
        elif "choices" in line:
            section.choices = line["choices"] if isinstance(line["choices"], dict) else {}
        else:
            raise _refused(file, number)


def _section(file: Path, line: Mapping[str, Any], here: Here | None, *, into_here: bool) -> Section:
    name, identity, title = line.get("project"), line.get("identity"), line.get("title")
    if not (isinstance(name, str) and isinstance(identity, str) and isinstance(title, str) and _NAME.fullmatch(name)):
        raise RefusedError(f"{file} names a project as no backup does.", hint="Nothing of it was taken over.")
    section = Section(name, identity, title[:300])
    section.here = here is not None and (into_here or name == here.name or bool(identity and identity == here.identity))
    if identity and _digest(paths.store_dir(identity, "").name) != _digest(name):
        raise RefusedError(f"{file} says of a project that it is another one.", hint="Nothing of it was taken over.")
    return section


def _digest(folder: str) -> str:
    return folder.rsplit("-", 1)[-1]


def _event(file: Path, found: Any, number: int) -> dict[str, Any]:
    """Check an event: each field, as whoever reads the journal takes it to be."""
    if not isinstance(found, dict) or found.keys() != {"id", "time", "kind", "head", "data"}:
        raise _refused(file, number)
    at, head, kind = found["time"], found["head"], found["kind"]
    is_time = isinstance(at, (int, float)) and not isinstance(at, bool) and math.isfinite(at) and 0 <= at < _LATEST
    is_id = isinstance(found["id"], str) and _ID.fullmatch(found["id"])
    is_kind = isinstance(kind, str) and _KIND.fullmatch(kind) and kind not in TRACES
    is_head = head is None or (isinstance(head, str) and (not head or _SHA.fullmatch(head)))
    if not (is_time and is_id and is_kind and is_head and isinstance(found["data"], dict)):
        raise _refused(file, number)
    return found


def _marks(file: Path, found: Any, number: int) -> Mapping[str, str]:
    if not isinstance(found, dict) or not all(isinstance(sha, str) and _SHA.fullmatch(sha) for sha in found.values()):
        raise _refused(file, number)
    return found


def _refused(file: Path, number: int) -> RefusedError:
    return RefusedError(
        f"{file} is no backup: line {number:,} holds what no backup does.", hint="Nothing of it was taken over."
    )


def _journal(section: Section, here: Here | None) -> Journal:
    return Journal.of(here.root) if section.here and here is not None else Journal(base() / section.name)


def _known(journal: Journal) -> set[str]:
    """Return the ids that a journal has, or had before they were erased."""
    known: set[str] = set()
    for event in journal.read(START):
        known.add(event.id)
        ids = event.data.get("ids") if event.kind == ERASURE else None
        known.update(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else None
    return known


def _restore_rest(section: Section, here: Here | None) -> Iterator[str]:
    """Restore entries that are not there, and marks and choices where there are none; yields what has to be said."""
    if section.entries and section.here and here is not None:
        added, others = merge(here.root, section.entries)
        if added:
            yield f"{count(added, 'entry', 'entries')} came along"
        if others:
            yield f"{count(others, 'entry', 'entries')} of the backup {noun(others, 'is', 'are')} there as another text, which stays"
    elif section.entries:
        number = count(len(section.entries), "entry", "entries")
        yield f"{number} of {section.title} {noun(len(section.entries), 'waits', 'wait')} for a checkout: restore the file again in one"
    journal = _journal(section, here)
    store = paths.data_dir() / "projects" / journal.folder.name
    present = user_marks.read(store)
    for mark in ("last_seen", "vacuumed_to"):
        if mark in section.marks and mark not in present and store.is_dir():
            user_marks.set_mark(store, mark, section.marks[mark])
    if section.choices and section.here and here is not None:
        file = paths.choices_file(here.root)
        text = json.dumps(redact_values(section.choices))
        if file.exists() or len(text) > _CHOICES_BYTES:
            yield "what the application remembers here stays as it is"
            return
        paths.private_dir(file.parent)
        write_atomically(file, text)


def _row(section: Section, here: Here | None) -> RestoredProject:
    return RestoredProject(
        id=_journal(section, here).folder.name,
        name=section.title,
        identity=section.identity,
        here=section.here,
        events=section.events,
        new=section.new,
    )
