"""Making a backup: journals, entries, marks and remembered choices of projects, without secrets, read back once it is written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.backup import stream
from cm_tui.engine.entries.entry_backup import entries_of
from cm_tui.engine.journal import Event, Journal
from cm_tui.engine.journal.event import TRACES, without_secrets
from cm_tui.engine.journal.location import base
from cm_tui.engine.mainline import user_marks
from cm_tui.engine.redaction.values import redact_values
from cm_tui.errors import StoreError
from cm_tui.files import read_regular
from cm_tui.model import BackupReport, ProjectBackup

_CHOICES_BYTES = 1_000_000

Events = Callable[[str], Iterable[Event]]
"""Gives the events of a project by the name of its journal."""


def _of_journal(name: str) -> Iterator[Event]:
    return Journal(base() / name).read()


EVENTS: tuple[Events, ...] = (_of_journal,)
"""Where events lie; all of them are restored into the journal."""


class Chosen(NamedTuple):
    """A project that is backed up."""

    name: str
    """Of its journal and its store."""
    identity: str
    title: str
    """For people."""
    root: str
    """A checkout of it, whose remembered choices go along; empty: none."""


def make(file: Path, projects: Iterable[Chosen], *, dry_run: bool = False) -> BackupReport:
    """Write what cannot be made again of projects into one private file, and read it back.

    Args:
        file: in a folder that is there; what was there before is replaced.
        projects: which of them.
        dry_run: only count.

    Raises:
        StoreError: something cannot be read or written, or what was written is not what is read back.
    """
    made = time.time()
    if dry_run:
        rows = tuple(_count(project) for project in projects)
        return BackupReport(str(file), made, rows, 0, dry_run=True)
    with stream.writing(file, made) as writer:
        rows = tuple(_write(writer, project) for project in projects)
    if sum(1 for one in stream.read(file) if "event" in one) != sum(row.events for row in rows):
        raise StoreError(f"{file} is not what was written.", hint="Check the disk, and make it again.")
    return BackupReport(str(file), made, rows, file.stat().st_size, dry_run=False)


def _count(project: Chosen) -> ProjectBackup:
    events = sum(1 for _ in _events(project.name))
    return ProjectBackup(project.name, project.title, project.identity, events)


def _write(writer: stream.Writer, project: Chosen) -> ProjectBackup:
    writer.write({"project": project.name, "identity": project.identity, "title": project.title})
    count = 0
    for event in _events(project.name):
        # By the rules of today: what was recorded by earlier ones does not travel.
        data = without_secrets(event.data)
        fields = {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head, "data": data}
        writer.write({"event": fields})
        count += 1
    if marks := user_marks.read(paths.data_dir() / "projects" / project.name):
        writer.write({"marks": marks})
    if choices := _choices(project.root):
        writer.write({"choices": choices})
    if project.root and Path(project.root).is_dir():
        for entry in entries_of(Path(project.root)):
            writer.write({"entry": entry})
    return ProjectBackup(project.name, project.title, project.identity, count)


def _events(name: str) -> Iterator[Event]:
    for events in EVENTS:
        for event in events(name):
            if event.kind not in TRACES:
                yield event


def _choices(root: str) -> Mapping[str, Any]:
    if not root:
        return {}
    try:
        found = json.loads(read_regular(paths.choices_file(Path(root)), _CHOICES_BYTES) or b"{}")
    except (ValueError, RecursionError):
        # What cannot be read is not remembered by the application either.
        return {}
    clean: Mapping[str, Any] = redact_values(found) if isinstance(found, dict) else {}
    return clean
